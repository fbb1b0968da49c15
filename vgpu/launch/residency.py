"""How many blocks of a launch the modelled GPU holds at once: the limit of cooperative launches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from vgpu.base.errors import CompileError, LaunchError
from vgpu.compile import architecture
from vgpu.compile.resources import resources
from vgpu.hardware.device import current
from vgpu.hardware.occupancy import occupancy

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel


def most_resident(kernel: Kernel, block: tuple[int, int, int], shared_bytes: int) -> int:
    """Blocks of `kernel` that fit on the whole modelled GPU at once, with the registers of NVIDIA's assembler."""
    gpu = current()
    arch = architecture(gpu.compute_capability).replace("compute_", "sm_")
    try:
        registers = resources(kernel.ptx, "ptx", arch, kernel.entry).registers
    except CompileError:  # compiled for a newer GPU: only the registers are unknown
        registers = 0
    return gpu.sms * occupancy(registers, shared_bytes, math.prod(block), gpu).blocks_per_sm


def check_cooperative(
    kernel: Kernel, grid: tuple[int, int, int], block: tuple[int, int, int], shared_bytes: int
) -> int:
    """The most blocks a cooperative launch may have; `LaunchError` where the grid has more."""
    most, gpu = most_resident(kernel, block, shared_bytes), current()
    if math.prod(grid) > most:
        raise LaunchError(
            f"a cooperative launch of {math.prod(grid)} blocks is too large: all blocks must be resident at once so "
            f"that they can wait for one another, and the {gpu.name} holds {most} blocks of {math.prod(block)} threads "
            f"of {kernel.name} ({most // gpu.sms} on each of its {gpu.sms} multiprocessors). Launch at most {most} "
            "blocks, and let each thread do more in a loop."
        )
    return most

"""The compiler's numbers of a kernel, for every GPU of the table, without running it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vgpu.compile.machine_code import MachineInstruction
    from vgpu.compile.resources import Resources
    from vgpu.hardware.gpus import GPU
    from vgpu.launch.launch import Kernel
    from vgpu.tools.prepare import Dimensions, Grid

# CUDA 13 assembles for nothing older.
OLDEST = (7, 5)


def assembled_for(gpu: GPU, kernel: Kernel | None = None) -> str:
    """The architecture to assemble for on this GPU: its own, or the oldest that the assembler supports.

    With the letter of the kernel's target ("sm_120a"), if it was compiled for what only this GPU has.
    """
    arch = gpu.arch if gpu.compute_capability >= OLDEST else "sm_{}{}".format(*OLDEST)
    target = kernel.module.module.target if kernel else ""
    return target if target.rstrip("af") == arch else arch


def resources_on(kernel: Kernel, gpu: GPU) -> Resources:
    """Registers, shared memory and spills on `gpu` of a kernel, as the engine loads it."""
    from vgpu.compile import resources

    arch = assembled_for(gpu, kernel)
    return resources(kernel.ptx, "ptx", arch=arch, entry=kernel.entry, max_registers=kernel.max_registers)


def machine_code_on(kernel: Kernel, gpu: GPU) -> tuple[MachineInstruction, ...]:
    """The `MachineInstruction`s of a kernel, as the engine loads it, on `gpu`.

    Raises `Unsupported` where NVIDIA's assembler or disassembler isn't installed.
    """
    from vgpu.compile.machine_code import machine_code

    return machine_code(kernel.ptx, assembled_for(gpu, kernel), kernel.entry, kernel.max_registers)


@dataclass(frozen=True)
class Compiled:
    """A kernel compiled for its arguments."""

    kernel: Kernel

    def on(self, gpu: GPU) -> Resources:
        """Registers, shared memory and spills on `gpu`."""
        return resources_on(self.kernel, gpu)


def compiled(kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence, **meta: Any) -> Compiled:
    """Compile `kernel` for these arguments, without running it.

    kernel: a Numba or Triton kernel or a `RawKernel`; grid, block, args, meta as at its launch. Errors: as `profile`.
    """
    from vgpu.tools.prepare import prepare

    return Compiled(prepare("compiled", kernel, grid, block, args, meta)[1].kernel)

"""Launch configurations: what is written in the brackets, and which block size suits a kernel."""

from __future__ import annotations

import numbers

from helpers.hardware.occupancy import most_threads, registers_a_warp
from helpers.vgpu.base.errors import ArgumentError

WARP = 32


def dimensions(value, what: str, kernel: str) -> tuple[int, int, int]:
    """One, two or three whole numbers as (x, y, z); raises `ArgumentError` for anything else."""
    parts = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(parts) <= 3:
        raise ArgumentError(f"`{kernel}[…]`: {what} are one, two or three whole numbers, not {value!r}.")
    for part in parts:
        if not isinstance(part, numbers.Integral):
            raise ArgumentError(
                f"`{kernel}[…]`: {what} are whole numbers, not {part!r} (a {type(part).__name__}). "
                "A division gives a float: round up with `(n + threads - 1) // threads` or "
                "`math.ceil(n / threads)`."
            )
    return tuple(int(part) for part in (*parts, 1, 1)[:3])


def best_block(needs, gpu, dynamic_shared: int = 0) -> int:
    """The block size with the most resident threads on the GPU, the biggest of equals."""
    warp_registers = registers_a_warp(needs.registers, gpu)
    shared = needs.shared_bytes + dynamic_shared
    shared = -(-(shared + gpu.shared_reserved) // gpu.shared_granularity) * gpu.shared_granularity

    # Each partition of the multiprocessor has its share of the registers, and takes whole warps.
    fitting = gpu.partitions_per_sm * (gpu.registers_per_sm // gpu.partitions_per_sm // warp_registers)

    def resident(warps: int) -> int:
        whole = -(-warps // gpu.partitions_per_sm) * gpu.partitions_per_sm
        by_registers = fitting // whole
        by_shared = gpu.shared_per_sm // shared if shared else gpu.blocks_per_sm
        blocks = min(gpu.blocks_per_sm, gpu.warps_per_sm // warps, by_registers, by_shared)
        return blocks * warps

    limit = most_threads(needs.registers, gpu) // WARP
    return WARP * max(range(1, limit + 1), key=lambda warps: (resident(warps), warps))

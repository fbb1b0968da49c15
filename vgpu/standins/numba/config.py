"""Launch configurations: the values in the brackets, and the best block size for a kernel."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

from vgpu.base.errors import ArgumentError
from vgpu.hardware.occupancy import most_threads, occupancy

if TYPE_CHECKING:
    from vgpu.compile.resources import Resources
    from vgpu.hardware.gpus import GPU

WARP = 32


def dimensions(value: object, what: str, kernel: str) -> tuple[int, int, int]:
    """One, two or three whole numbers as (x, y, z); raises `ArgumentError` for anything else."""
    parts = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(parts) <= 3:
        raise ArgumentError(f"`{kernel}[…]`: {what} are one, two or three whole numbers, not {value!r}.")
    for part in parts:
        if part.__class__ is not int and not isinstance(part, numbers.Integral):
            raise ArgumentError(
                f"`{kernel}[…]`: {what} are whole numbers, not {part!r} (a {type(part).__name__}). "
                "A division gives a float: round up with `(n + threads - 1) // threads` or "
                "`math.ceil(n / threads)`."
            )
    x, y, z = (int(part) for part in (*parts, 1, 1)[:3])
    return x, y, z


def best_block(needs: Resources, gpu: GPU, dynamic_shared: int = 0) -> int:
    """The block size with the most resident threads on the GPU; of several the largest."""
    shared = needs.shared_bytes + dynamic_shared

    def fill(threads: int) -> tuple[int, int]:
        return occupancy(needs.registers, shared, threads, gpu).warps_per_sm, threads

    return max(range(WARP, most_threads(needs.registers, gpu) + 1, WARP), key=fill)

"""Which elements of its matrices a block touches: those of one thread, of its warp and of the whole block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vgpu.tools.launch import Launch
from vgpu.tools.prepare import Dimensions, prepare
from vgpu.tools.steps.trace import trace

BLOCK, WARP, THREAD = 1, 2, 3
"""Levels of an element: touched by the block, by the watched warp too, by the watched thread itself."""


@dataclass(frozen=True, eq=False)
class TouchedElements:
    """For each matrix that a block loads from or stores to in global memory, by its name, the level of each element.

    A vector counts as a matrix of one row. A matrix holds 0 where the block touches nothing, else `BLOCK`, `WARP` or
    `THREAD`, whichever is highest.
    """

    kernel: str
    levels: Mapping[str, np.ndarray]

    def count(self, name: str, level: int) -> int:
        """How many elements of a matrix have this level or a higher one."""
        return int((self.levels[name] >= level).sum())


def touched(launch: Launch, *, block_index: Dimensions = (0, 0, 0), warp: int = 0, lane: int = 0) -> TouchedElements:
    """Run one block of `launch` in the interpreter, on a copy of memory: which elements of 1-D and 2-D arrays it
    touches.

    Atomics count as stores. TypeError for anything but a `Launch`; else the errors of `trace`.
    """
    if not isinstance(launch, Launch):
        raise TypeError(f"this takes a Launch(kernel, grid, block, args), not a {type(launch).__name__}")
    _, prepared, _ = prepare("touched", launch.kernel, launch.grid, launch.block, launch.args, dict(launch.meta))
    matrices = {array.name: array for array in prepared.arrays if 1 <= len(array.shape) <= 2}
    levels = {name: np.zeros((1, *array.shape)[-2:], np.int8) for name, array in matrices.items()}
    found = trace(
        launch.kernel, launch.grid, launch.block, launch.args, block_index=block_index,
        shared_bytes=launch.shared_bytes, **launch.meta,
    )  # fmt: skip
    for access in found.accesses:
        if access.space != "global" or access.array is None or access.array not in matrices:
            continue
        array = matrices[access.array]
        itemsize = array.strides[-1]
        for at, (active, address) in enumerate(zip(access.lanes, access.addresses, strict=True)):
            if active:
                level = BLOCK if access.warp != warp else THREAD if at == lane else WARP
                row, column = divmod(address, array.strides[0]) if len(array.shape) == 2 else (0, address)
                first = column // itemsize
                span = levels[access.array][row, first : first + access.nbytes // itemsize]
                np.maximum(span, level, out=span)
    return TouchedElements(found.kernel, levels)

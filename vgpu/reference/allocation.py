"""`malloc` and `free` in the reference interpreter: it asks the same books as compiled code, one lane at a time."""

from __future__ import annotations

import numpy as np

from vgpu.base.errors import InvalidFree
from vgpu.storage import heap, heap_words


def _passed(frame, details, index: int, lane: int) -> int:
    start = frame.code.param_offsets[details.arguments[index]]
    return int(frame.parameters[lane, start : start + 8].view(np.uint64)[0])


def _caller(warp, lane: int) -> tuple:
    block = warp.block
    x, y, z = block.index
    number = x + block.grid[0] * (y + block.grid[1] * z)
    return block.launch, warp.line(lane), number, int(warp.linear[lane])


def allocate(warp, frame, details, mask) -> None:
    area = heap.ensure()
    for lane in np.flatnonzero(mask).tolist():
        asked = [_passed(frame, details, index, lane) for index in range(len(details.arguments))]
        address = area.allocate(asked[0], _caller(warp, lane), *asked[1:])
        if details.returns:
            start = frame.code.param_offsets[details.returns[0]]
            frame.parameters[lane, start : start + 8] = np.array([address], np.uint64).view(np.uint8)


def free(warp, frame, details, mask) -> None:
    area = heap.ensure()
    for lane in np.flatnonzero(mask).tolist():
        address = _passed(frame, details, 0, lane)
        if address and not area.free(address, _caller(warp, lane)):
            what, _ = heap_words.wrong_free(address, warp.block.launch.kernel)
            where = warp.where(details, lane, address)
            raise InvalidFree(f"A free of {what}, {warp.place(details, lane)}", **where)


BUILTINS = {"malloc": allocate, "free": free, "__cuda_syscall_aligned_malloc": allocate}

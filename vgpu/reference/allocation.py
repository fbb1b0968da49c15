"""`malloc` and `free` in the reference interpreter: the heap of compiled code, called one lane at a time."""

from __future__ import annotations

import numpy as np

from vgpu.base.errors import InvalidFree
from vgpu.ptx import Call
from vgpu.reference.warp import Frame, Warp
from vgpu.storage import heap, heap_words


def _argument(frame: Frame, details: Call, index: int, lane: int) -> int:
    start = frame.code.param_offsets[details.arguments[index]]
    return int(frame.parameters[lane, start : start + 8].view(np.uint64)[0])


def _caller(warp: Warp, lane: int) -> heap.Caller:
    block = warp.block
    x, y, z = block.index
    number = x + block.grid[0] * (y + block.grid[1] * z)
    return heap.Caller(block.launch, warp.line(lane), number, int(warp.linear[lane]))


def allocate(warp: Warp, frame: Frame, details: Call, mask: np.ndarray) -> None:
    area = heap.ensure()
    for lane in np.flatnonzero(mask).tolist():
        nbytes, *alignment = (_argument(frame, details, index, lane) for index in range(len(details.arguments)))
        address = area.allocate(nbytes, _caller(warp, lane), *alignment)
        if details.returns:
            start = frame.code.param_offsets[details.returns[0]]
            frame.parameters[lane, start : start + 8] = np.array([address], np.uint64).view(np.uint8)


def free(warp: Warp, frame: Frame, details: Call, mask: np.ndarray) -> None:
    area = heap.ensure()
    for lane in np.flatnonzero(mask).tolist():
        address = _argument(frame, details, 0, lane)
        if address and not area.free(address, _caller(warp, lane)):
            what, _ = heap_words.wrong_free(address, warp.block.launch.kernel)
            where = warp.where(details, lane, address)
            raise InvalidFree(f"A free of {what}, {warp.position(details, lane)}", **where)


BUILTINS = {"malloc": allocate, "free": free, "__cuda_syscall_aligned_malloc": allocate}

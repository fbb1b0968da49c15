"""Calls of the host by running kernels: `printf`, failed asserts, and memory from the heap."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING

import numpy as np

from vgpu.base import printf
from vgpu.base.context import ERROR_CODE, SLOT
from vgpu.lower.heap import FREE, MALLOC
from vgpu.lower.host import ASSERT, PRINTF
from vgpu.storage import heap

if TYPE_CHECKING:
    from ctypes import _CFunctionType

    from vgpu.launch.grid import Grid
    from vgpu.launch.worker import Worker

LIMIT = printf.LIMIT
_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32)


def callback(worker: Worker, run: Grid) -> _CFunctionType:
    """A function for compiled code to call; its output is kept by block in `run.printed`."""
    data = worker.host_data.view(np.int64).reshape(4, 32)
    room = [LIMIT]
    here = heap.LaunchRecord.of(run)
    for listener in heap.LAUNCHES:
        listener(here)

    def called(_: object, code: int, mask: int) -> int:
        try:
            lanes = [lane for lane in range(32) if mask >> lane & 1]
            if code & 255 == PRINTF:
                formats = [_string(worker, int(data[0, lane])) for lane in lanes]
                data[0, lanes] = [printf.argument_count(form) for form in formats]
                if room[0] <= 0:
                    return 0
                pairs = zip(formats, data[1, lanes].tolist(), strict=True)
                text = "".join(_printed(worker, form, buffer) for form, buffer in pairs)
                room[0] -= len(text)
                note = "" if room[0] > 0 else "\n… more output was dropped\n"
                run.printed.append((int(worker.slots[SLOT["block"]]), len(run.printed), text + note))
                return 0
            if code & 255 in (MALLOC, FREE):
                action = _allocate if code & 255 == MALLOC else _free
                first = 32 * int(worker.slots[SLOT["warp"]])
                block = int(worker.slots[SLOT["block"]])
                callers = [heap.Caller(here, code >> 8, block, first + lane) for lane in lanes]
                return action(run.heap or heap.ensure(), data, lanes, callers)
            if code & 255 == ASSERT:
                lane = lanes[0]
                run.assertion = tuple(_string(worker, int(data[row, lane])) for row in (0, 1))
                return ERROR_CODE["assert"]
        except Exception as error:  # an exception must not cross into compiled code
            run.host_error = error
        return ERROR_CODE["host"]

    return _SIGNATURE(called)


def _allocate(area: heap.Heap, data: np.ndarray, lanes: list[int], callers: list[heap.Caller]) -> int:
    requests = data[:2].view(np.uint64)[:, lanes].T.tolist()
    data[0, lanes] = [
        area.allocate(nbytes, caller, alignment) for (nbytes, alignment), caller in zip(requests, callers, strict=True)
    ]
    return 0


def _free(area: heap.Heap, data: np.ndarray, lanes: list[int], callers: list[heap.Caller]) -> int:
    """Free each lane's pointer; returns 0, or an error code with the lanes whose pointers can't be freed."""
    wrong = 0
    for lane, caller in zip(lanes, callers, strict=True):
        address = int(data[0, lane])
        if address and not area.free(address, caller):
            wrong |= 1 << lane
    return ERROR_CODE["free"] | wrong << 32 if wrong else 0


def _readable(worker: Worker, address: int) -> int:
    """How many bytes may be read at an address: 0 outside all memory that the kernel may access."""
    for area in (worker.local, worker.shared):
        start = area.ctypes.data
        if start <= address < start + len(area):
            return start + len(area) - address
    return heap.readable(address)


def _string(worker: Worker, address: int) -> bytes:
    room = min(_readable(worker, address), LIMIT)
    data = ctypes.string_at(address, room) if room else b"(no readable string)"
    return data.partition(b"\0")[0]


def _printed(worker: Worker, text: bytes, buffer: int) -> str:
    nbytes = min(printf.argument_bytes(text), _readable(worker, buffer))
    arguments = ctypes.string_at(buffer, nbytes) if nbytes else b""
    return printf.render(text, arguments, lambda address: _string(worker, address))


def flush(printed: list[tuple[int, int, str]]) -> None:
    """Write what the kernel printed, block by block."""
    if printed:
        sys.stdout.write("".join(text for _, _, text in sorted(printed)))
        sys.stdout.flush()

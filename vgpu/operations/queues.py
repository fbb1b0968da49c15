"""Streams as CUDA sees them: handles, priorities, the default ones, and what is not allowed of them."""

from __future__ import annotations

import itertools
import threading
import weakref
from dataclasses import dataclass, field

from vgpu.base.errors import VirtualGPUError

_handles = itertools.count(0x1000, 0x10)
_local = threading.local()


class CUDARuntimeError(VirtualGPUError):
    """A call of CUDA's runtime failed; the message begins with CUDA's name for the error."""


class CaptureError(CUDARuntimeError):
    """Something that a stream under capture does not allow."""


@dataclass(eq=False)
class Queue:
    """A stream as CUDA sees it: its handle, whether it synchronises with the legacy default stream, its priority."""

    handle: int
    blocking: bool = True
    priority: int = 0
    kind: str = "stream"  # or "legacy" or "per-thread": the two default streams
    number: int | None = None  # what a recording calls it
    capture: object = field(default=None, repr=False)
    lost: bool = False  # an error has ended a capture that began here, and nobody has called for its end yet


LEGACY = Queue(0, kind="legacy")
_queues: weakref.WeakValueDictionary[int, Queue] = weakref.WeakValueDictionary({0: LEGACY, 1: LEGACY})
PRIORITIES = (-5, 0)  # the most and the least urgent, as on Volta and later


def new_queue(blocking: bool = True, priority: int = 0) -> Queue:
    """A fresh stream; a priority out of range is moved to its end, as CUDA does."""
    queue = Queue(next(_handles), blocking, min(max(int(priority), PRIORITIES[0]), PRIORITIES[1]))
    _queues[queue.handle] = queue
    return queue


def find_queue(handle: int) -> Queue:
    """The stream with this handle: 0 or 1 the legacy default stream, 2 this thread's, others as they were made."""
    if handle == 2:
        if not hasattr(_local, "default"):
            _local.default = Queue(2, kind="per-thread")
        return _local.default
    return _queues.setdefault(handle, Queue(handle))

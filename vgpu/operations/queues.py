"""Streams as CUDA sees them: handles, priorities, the default streams, and the errors of captures."""

from __future__ import annotations

import itertools
import threading
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vgpu.base.errors import VirtualGPUError

if TYPE_CHECKING:
    from vgpu.operations.graphs import Capture

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
    number: int | None = None  # its number in a recording
    capture: Capture | None = field(default=None, repr=False)
    lost: bool = False  # an error has invalidated a capture that began here, and `end` wasn't called yet


LEGACY = Queue(0, kind="legacy")
_queues: weakref.WeakValueDictionary[int, Queue] = weakref.WeakValueDictionary({0: LEGACY, 1: LEGACY})
PRIORITIES = (-5, 0)  # the most and the least urgent, as on Volta and later


def new_queue(blocking: bool = True, priority: int = 0) -> Queue:
    """A new stream; the priority is clamped to the allowed range, as in CUDA."""
    queue = Queue(next(_handles), blocking, min(max(int(priority), PRIORITIES[0]), PRIORITIES[1]))
    _queues[queue.handle] = queue
    return queue


def find_queue(handle: int) -> Queue:
    """The stream with this handle: 0 or 1 is the legacy default stream, 2 this thread's default stream."""
    if handle == 2:
        if not hasattr(_local, "default"):
            _local.default = Queue(2, kind="per-thread")
        return _local.default
    return _queues.setdefault(handle, Queue(handle))

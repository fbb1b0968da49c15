"""Streams, events and graphs under CuPy's names.

Every launch and copy on the virtual GPU has ended when it returns, so a stream is always done, and events read the
host's clock. `vgpu.streams.record()` records which order CUDA guarantees, and models how long each operation takes;
there, polling `done` counts as waiting. A stream under capture runs nothing: its graph does, each time it is launched.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

import numpy as np

from vgpu import operations
from vgpu.base import own
from vgpu.operations import LEGACY, Operation, Queue, graphs

_current = threading.local()
_MODES = ("global", "thread_local", "relaxed")  # cudaStreamCaptureMode…, 0 to 2


class Event:
    """A point in a stream's work. `record` notes the time on the host's monotonic clock."""

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.ptr = id(self)
        self._timed = not disable_timing
        self._when: int | None = None  # nanoseconds of the host's clock
        self._captured: tuple[graphs.Capture, frozenset[int]] | None = None

    @property
    def done(self) -> bool:
        """True: the work before it has ended. In a recording the host has waited for it, as a polling loop would."""
        self.synchronize()
        return True

    def record(self, stream=None) -> None:
        """Record the event after the stream's work so far."""
        queue = queue_of(stream)
        self._captured = graphs.record(queue)
        if self._captured is None:
            self._when = time.perf_counter_ns()
            graphs.check(queue, Operation("record", queue, label="Event.record"))
            operations.note(Operation("record", queue, label="event", event=self))

    def synchronize(self) -> None:
        """Wait until the work before it has ended; that is now."""
        self._refuse_captured()
        operations.synchronise(event=self)

    def _refuse_captured(self) -> None:
        if self._captured is not None and self._captured[0].origin.capture is self._captured[0]:
            raise operations.CaptureError(
                "cudaErrorCapturedEvent: operation not permitted on an event last recorded in a capturing stream. "
                "Nothing runs during a capture, so there is nothing to wait for: launch the graph first."
            )

    def __repr__(self) -> str:
        return "<Event>" if self._when is None else "<Event, recorded>"


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two recorded events, of the host's clock: not a GPU's time.

    The modelled GPU's time between them is `timeline.elapsed(start, end)` of `vgpu.streams.record()`.
    """
    start, end = _time(start_event, "start"), _time(end_event, "end")
    return (end - start) / 1e6


def _time(event: Event, name: str) -> int:
    if not event._timed:
        raise ValueError(f"the {name} event was made with disable_timing=True: it has no time")
    if event._when is None:
        raise ValueError(f"the {name} event was never recorded: call event.record() first")
    return event._when


class Graph:
    """The operations of a capture: `launch` runs them all, with the same arguments, any number of times."""

    _kept: graphs.Graph

    def __init__(self, *args, **kwargs):
        raise TypeError("cannot create a Graph object; capture one: stream.begin_capture() … stream.end_capture()")

    @classmethod
    def _of(cls, kept: graphs.Graph) -> Graph:
        self = cls.__new__(cls)
        self._kept = kept
        return self

    def launch(self, stream=None) -> None:
        """Run the graph in a stream, else in the current one."""
        self._kept.run(queue_of(stream))

    def upload(self, stream=None) -> None:
        """Bring the graph to the device ahead of its first launch: nothing to do here."""

    def __repr__(self) -> str:
        return f"<Graph of {len(self._kept)} nodes>"


class Stream:
    """A queue of work. `with stream:` makes it the current one."""

    null: Stream
    ptds: Stream

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=0):
        self._queue: Queue | None  # None: each thread has its own
        self.device_id, self.priority = -1, 0
        if null or ptds:
            self._queue = LEGACY if null else None
        else:
            self._queue = operations.new_queue(not non_blocking, priority)
            self.device_id, self.priority = 0, self._queue.priority
        self.is_non_blocking = bool(non_blocking)

    @property
    def queue(self) -> Queue:
        """The virtual GPU's queue behind the stream."""
        return self._queue or operations.find_queue(2)

    @property
    def ptr(self) -> int:
        return self.queue.handle

    @property
    def done(self) -> bool:
        """True: all its work has ended. In a recording the host has waited for it, as a polling loop would."""
        self.synchronize()
        return True

    @property
    def is_capturing(self) -> bool:
        """Whether the stream is under capture."""
        return self.queue.capture is not None

    def synchronize(self) -> None:
        """Wait for its work; that has ended already."""
        operations.synchronise(self.queue)

    def record(self, event: Event | None = None) -> Event:
        """Record an event (a new one when none is given) and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let later work wait for an event; an event recorded under capture adds this stream to the capture."""
        graphs.wait(self.queue, event)

    def use(self) -> Stream:
        """Make it the current stream."""
        _current.stream = self
        return self

    def launch_host_func(self, callback, arg) -> None:
        """Call `callback(arg)` once the work so far has ended: at once, or whenever the captured graph runs."""
        call = Operation("host function", label=getattr(callback, "__name__", "a host function"), asynchronous=True)
        operations.submit(self.queue, call, lambda: callback(arg) and None)

    def add_callback(self, callback, arg) -> None:
        """Call `callback(stream, status, arg)` once the work so far has ended: at once."""
        if self.is_capturing:
            graphs.abandon(self.queue)
            raise operations.CaptureError(
                "cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing. add_callback "
                "cannot be captured; launch_host_func can."
            )
        call = Operation("host function", label=getattr(callback, "__name__", "a callback"), asynchronous=True)
        operations.submit(self.queue, call, lambda: callback(self, 0, arg) and None)

    def begin_capture(self, mode=None) -> None:
        """Record the stream's operations instead of running them. `mode` as in CUDA: 0 global, 1 thread, 2 relaxed."""
        graphs.begin(self.queue, _MODES[2 if mode is None else int(mode)])

    def end_capture(self) -> Graph:
        """The captured graph. Raises CUDARuntimeError where a forked stream wasn't joined."""
        return Graph._of(graphs.end(self.queue))

    def __enter__(self) -> Stream:
        if not hasattr(_current, "outer"):
            _current.outer = []
        _current.outer.append(get_current_stream())
        return self.use()

    def __exit__(self, *error) -> None:
        _current.outer.pop().use()

    def __eq__(self, other) -> bool:
        return isinstance(other, Stream) and other.ptr == self.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"

    def __cuda_stream__(self) -> tuple[int, int]:
        """CUDA's protocol for streams of other libraries: its version, 0, and the handle."""
        return 0, self.ptr

    @classmethod
    def from_external(cls, obj) -> Stream:
        """The stream of another library that has `__cuda_stream__`, such as Numba's; TypeError for anything else."""
        try:
            version, handle = obj.__cuda_stream__()
        except (AttributeError, TypeError, ValueError) as error:
            raise TypeError(
                f"{type(obj).__name__} is no stream by CUDA's protocol: it needs a method __cuda_stream__ that gives "
                "the pair (0, handle)"
            ) from error
        if version != 0:
            raise TypeError(f"__cuda_stream__() gave version {version}, and only version 0 is known")
        return ExternalStream(handle)


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


class ExternalStream(Stream):
    """A stream made elsewhere, known by its handle."""

    def __init__(self, ptr: int, device_id: int = -1):
        super().__init__(null=True)
        self._queue, self.device_id = operations.find_queue(int(ptr)), device_id
        self.is_non_blocking, self.priority = not self._queue.blocking, self._queue.priority


def get_current_stream(device_id: int = -1) -> Stream:
    """The current stream of this thread."""
    return getattr(_current, "stream", Stream.null)


def queue_of(stream=None) -> Queue:
    """The queue of a stream of CuPy or Numba, of a handle, or of the current stream when None is given."""
    if stream is None:
        return get_current_stream().queue
    found = getattr(stream, "queue", None)
    return found if isinstance(found, Queue) else operations.find_queue(int(getattr(stream, "ptr", stream)))


NumpyCall = tuple[str, tuple, dict]


class array_work:
    """Work that NumPy does here and a kernel would do on a GPU: noted for a recorder, refused under capture.

    `arrays` are NumPy arrays over device memory that are read, `writes` those that are written; `with … as written`
    gives a list to which the block may append more of these. `call`: the name, arguments and keyword arguments of the
    NumPy function that computes the result, if there is one; without it, the work can't be replayed.
    """

    __slots__ = ("arrays", "call", "what", "written")

    def __init__(
        self, what: str, *arrays: np.ndarray, writes: Iterable[np.ndarray] = (), call: NumpyCall | None = None
    ):
        self.what, self.arrays, self.written, self.call = what, arrays, list(writes), call

    def __enter__(self) -> list[np.ndarray]:
        with own.LAUNCHING:  # wait for tools that restore memory after a run
            pass
        if operations.capturing:
            operations.refuse_captured(get_current_stream().queue, self.what)
        return self.written

    def __exit__(self, error, *details) -> None:
        if error is None and operations.recording():
            touched = [piece for array in self.arrays for piece in operations.access(array, False)]
            touched += [piece for array in self.written for piece in operations.access(array, True)]
            nbytes = sum(array.nbytes for array in (*self.arrays, *self.written))
            queue = get_current_stream().queue
            does = None
            if self.call is not None:
                name, inputs, named = self.call
                does = operations.NumPyCall(name, tuple(inputs), tuple(self.written), named)
            work = Operation("array", queue, self.what, nbytes, asynchronous=True, accesses=tuple(touched), does=does)
            operations.note(work)

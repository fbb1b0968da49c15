"""Streams and events. Every launch on the virtual GPU has ended when it returns, so a stream is always done.

The order of the work is kept and the calls are real, but nothing overlaps; events read the host's clock.
"""

from __future__ import annotations

import threading
import time

from helpers.vgpu.cupy.missing import missing

_current = threading.local()


class Event:
    """A point in a stream's work. `record` notes the time on the host's monotonic clock."""

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.ptr = id(self)
        self._timed, self._when = not disable_timing, None

    @property
    def done(self) -> bool:
        """True: the work before it has ended."""
        return True

    def record(self, stream=None) -> None:
        """Note that the stream has come this far."""
        self._when = time.perf_counter_ns()

    def synchronize(self) -> None:
        """Wait until the work before it has ended; that is now."""

    def __repr__(self) -> str:
        return "<Event>" if self._when is None else "<Event, recorded>"


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two recorded events: the host's clock, so no time of a GPU."""
    for event, name in ((start_event, "start"), (end_event, "end")):
        if not event._timed:
            raise ValueError(f"the {name} event was made with disable_timing=True: it has no time")
        if event._when is None:
            raise ValueError(f"the {name} event was never recorded: call event.record() first")
    return (end_event._when - start_event._when) / 1e6


class Stream:
    """A queue of work. `with stream:` makes it the current one."""

    null: Stream
    ptds: Stream

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=0):
        self.ptr = 0 if null else 2 if ptds else id(self)
        self.device_id = -1 if null or ptds else 0
        self.is_non_blocking, self.priority = bool(non_blocking), priority
        self._outer: list[Stream] = []

    @property
    def done(self) -> bool:
        """True: all its work has ended."""
        return True

    @property
    def is_capturing(self) -> bool:
        return False

    def synchronize(self) -> None:
        """Wait for its work; that has ended already."""

    def record(self, event: Event | None = None) -> Event:
        """Record an event (a new one when none is given) and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let the work that follows wait for an event; it has happened already."""

    def use(self) -> Stream:
        """Make it the current stream."""
        _current.stream = self
        return self

    def launch_host_func(self, callback, arg) -> None:
        """Call `callback(arg)` once the work so far has ended: at once."""
        callback(arg)

    def add_callback(self, callback, arg) -> None:
        """Call `callback(stream, status, arg)` once the work so far has ended: at once."""
        callback(self, 0, arg)

    def begin_capture(self, mode=None):
        raise missing("cuda.Stream.begin_capture", "the same calls without capture: graphs need a GPU")

    def end_capture(self):
        raise missing("cuda.Stream.end_capture", "the same calls without capture: graphs need a GPU")

    def __enter__(self) -> Stream:
        self._outer.append(get_current_stream())
        return self.use()

    def __exit__(self, *error) -> None:
        self._outer.pop().use()

    def __eq__(self, other) -> bool:
        return isinstance(other, Stream) and other.ptr == self.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def __repr__(self) -> str:
        kind = {0: "the default stream", 2: "the thread's default stream"}.get(self.ptr)
        return f"<Stream, {kind}>" if kind else "<Stream>"


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


class ExternalStream(Stream):
    """A stream made elsewhere, known by its handle."""

    def __init__(self, ptr: int, device_id: int = -1):
        super().__init__()
        self.ptr, self.device_id = int(ptr), device_id


def get_current_stream(device_id: int = -1) -> Stream:
    """The current stream of this thread."""
    return getattr(_current, "stream", Stream.null)

"""Those who listen: while there is a recorder, every operation of its context is noted, and kernels are counted."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace

from vgpu.base import own
from vgpu.operations.accesses import Touch, of_launch
from vgpu.operations.operation import Operation
from vgpu.operations.queues import Queue
from vgpu.operations.sources import Sources

_RECORDERS = own.Listeners()
_local = threading.local()
capturing: list = []  # the captures under way


class _Recorder:
    """One recording: its operations, and the sources that it and those within it watch."""

    def __init__(self, outer: _Recorder | None, heard: list[Operation] | None):
        self.whole = heard is not None
        self.heard: list[Operation] = [] if heard is None else heard
        self.sources = Sources() if outer is None else outer.sources
        self.lock = threading.RLock() if outer is None else outer.lock
        self._streams: dict[Queue, Queue] = {}

    def keep(self, operation: Operation) -> None:
        """Keep an operation with streams of the recording's own: each recording numbers them in its order."""
        nodes = tuple((self._numbered(node), follows) for node, follows in operation.nodes)
        self.heard.append(replace(self._numbered(operation), nodes=nodes))

    def _numbered(self, operation: Operation) -> Operation:
        queue = operation.queue
        if not self.whole and operation.does is not None:
            operation = replace(operation, does=None)
        if queue is None or queue.kind != "stream":
            return operation
        if queue not in self._streams:
            self._streams[queue] = replace(queue, number=len(self._streams) + 1, capture=None)
        return replace(operation, queue=self._streams[queue])


def recording() -> bool:
    """Whether anybody listens."""
    return bool(_RECORDERS)


def unheard() -> bool:
    """Whether nobody records and nothing is captured: then work is done and nothing else."""
    return not capturing and not _RECORDERS


def note(operation: Operation) -> None:
    """Tell every recorder."""
    recorders = list(_RECORDERS)
    if recorders:
        with recorders[0].lock:
            _tell(recorders, (*recorders[0].sources.before(operation), operation))
            recorders[0].sources.after(operation)


def last() -> Operation | None:
    """What was noted last, as far as the newest recorder heard."""
    recorders = list(_RECORDERS)
    return recorders[-1].heard[-1] if recorders and recorders[-1].heard else None


@contextlib.contextmanager
def listening(heard: list[Operation] | None = None):
    """A list that fills with the operations of the with block; kernels are counted meanwhile.

    `heard`: the list to append to. It gets operations with what is needed to do them again, a list of our own doesn't.
    It hears this context and the threads that are started in it, and nobody else.
    """
    from vgpu.launch import launch

    outer = list(_RECORDERS)
    recorder = _Recorder(outer[0] if outer else None, heard)
    counted = contextlib.nullcontext() if outer else launch.FINISHED.hearing(_finished)
    with counted, _RECORDERS.hearing(recorder):
        try:
            yield recorder.heard
        finally:
            with recorder.lock:
                _tell([*outer, recorder], recorder.sources.changed())


def launched(run: Callable[[], None]) -> tuple[object, list[Touch]] | None:
    """Run something that launches; the counters of the launch and what it touched, where somebody listens."""
    _local.seen = None
    run()
    seen, _local.seen = _local.seen, None
    return seen


def _finished(run) -> None:
    _local.seen = run.counters(), of_launch(run)


def _tell(recorders: list[_Recorder], operations) -> None:
    for operation in operations:
        for recorder in recorders:
            recorder.keep(operation)

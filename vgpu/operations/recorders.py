"""Recorders: while there is one, it gets every operation of its context, and kernels are counted."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from vgpu.base import own
from vgpu.operations.accesses import Touch, of_launch
from vgpu.operations.operation import Operation
from vgpu.operations.queues import Queue
from vgpu.operations.sources import Sources

if TYPE_CHECKING:
    from vgpu.launch.counters import Counters
    from vgpu.launch.grid import Grid
    from vgpu.operations.graphs import Capture

REFUSED: own.Listeners[Callable[[Exception], object]] = own.Listeners()
"""Called with the error for each call of a CUDA C++ program that the runtime refuses, such as a wrong launch."""
_RECORDERS: own.Listeners[_OperationRecorder] = own.Listeners()
_local = threading.local()
capturing: list[Capture] = []  # the active captures


class _OperationRecorder:
    """One recording: its operations, and the copy sources that it and recorders within it watch."""

    def __init__(self, outer: _OperationRecorder | None, operations: list[Operation] | None):
        self.repeatable = operations is not None  # operations keep the data to run them again
        self.operations: list[Operation] = [] if operations is None else operations
        self.sources: Sources = Sources() if outer is None else outer.sources
        self.lock: threading.RLock = threading.RLock() if outer is None else outer.lock
        self._streams: dict[Queue, Queue] = {}

    def add(self, operation: Operation) -> None:
        """Add an operation; each recording numbers the streams in its order."""
        nodes = tuple((self._numbered(node), follows) for node, follows in operation.nodes)
        self.operations.append(replace(self._numbered(operation), nodes=nodes))

    def _numbered(self, operation: Operation) -> Operation:
        queue = operation.queue
        if not self.repeatable and operation.does is not None:
            operation = replace(operation, does=None)
        if queue is None or queue.kind != "stream":
            return operation
        if queue not in self._streams:
            self._streams[queue] = replace(queue, number=len(self._streams) + 1, capture=None)
        return replace(operation, queue=self._streams[queue])


def recording() -> bool:
    """Whether there is a recorder."""
    return bool(_RECORDERS)


def unobserved() -> bool:
    """Whether there is neither a recorder nor a capture: then operations only run."""
    return not capturing and not _RECORDERS


def note(operation: Operation) -> None:
    """Add an operation to every recorder."""
    recorders = list(_RECORDERS)
    if recorders:
        with recorders[0].lock:
            _add(recorders, (*recorders[0].sources.before(operation), operation))
            recorders[0].sources.after(operation)


def last() -> Operation | None:
    """The last operation of the innermost recorder."""
    recorders = list(_RECORDERS)
    return recorders[-1].operations[-1] if recorders and recorders[-1].operations else None


@contextlib.contextmanager
def listening(operations: list[Operation] | None = None) -> Iterator[list[Operation]]:
    """Record the operations of the `with` block in a list; kernels are counted meanwhile.

    `operations`: the list to append to; its operations keep the data to run them again, those of a new list don't.
    Records this context and the threads that are started in it, and no others.
    """
    from vgpu.launch import launch

    outer = list(_RECORDERS)
    recorder = _OperationRecorder(outer[0] if outer else None, operations)
    counted = contextlib.nullcontext() if outer else launch.FINISHED.hearing(_finished)
    with counted, _RECORDERS.hearing(recorder):
        try:
            yield recorder.operations
        finally:
            with recorder.lock:
                _add([*outer, recorder], recorder.sources.changed())


def launched(run: Callable[[], None]) -> tuple[Counters, list[Touch]] | None:
    """Call a function that launches; returns the launch's counters and touched memory where there is a recorder."""
    _local.seen = None
    run()
    seen, _local.seen = _local.seen, None
    return seen


def _finished(run: Grid) -> None:
    _local.seen = run.counters(), of_launch(run)


def _add(recorders: list[_OperationRecorder], operations: Iterable[Operation]) -> None:
    for operation in operations:
        for recorder in recorders:
            recorder.add(operation)

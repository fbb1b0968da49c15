"""Graphs: captured operations with their dependencies, which can be launched again and again."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from vgpu import operations
from vgpu.base import own
from vgpu.base.errors import Unsupported
from vgpu.operations import LEGACY, Operation, Queue

if TYPE_CHECKING:
    from vgpu.launch.launch import Prepared

_NOT_WHILE = "operation not permitted when stream is capturing"


class Event(Protocol):
    """An event, recorded inside a capture or not."""

    _captured: tuple[Capture, frozenset[int]] | None


@dataclass(frozen=True, eq=False)
class GraphNode:
    """One captured operation: how to run it, and the numbers of the nodes that it depends on."""

    operation: Operation
    run: Callable[[], Operation | None]
    follows: frozenset[int]
    prepared: Prepared | None = None  # of a kernel


class Graph:
    """Captured operations, `nodes`, ready to run."""

    def __init__(self, nodes: tuple[GraphNode, ...]):
        self.nodes = nodes

    @cached_property
    def _parts(self) -> list[Callable[[], object]]:
        """What to run one after another: each operation, and consecutive kernels together."""
        from vgpu.launch.replay import Replay

        parts: list[Callable[[], object]] = []
        for kernels, nodes in itertools.groupby(self.nodes, lambda node: node.prepared is not None):
            if kernels:
                parts.append(Replay([node.prepared for node in nodes if node.prepared is not None]).run)
            else:
                parts += [node.run for node in nodes]
        return parts

    def run(self, queue: Queue) -> None:
        """Run every node now, and note them as one operation of the queue."""
        if operations.unobserved():
            for part in self._parts:
                part()
            return
        submitted = Operation("graph", label=f"graph of {len(self.nodes)} nodes", asynchronous=True, graph=self)

        def run() -> Operation:
            ran = []
            for node in self.nodes:
                ran.append((node.run() or node.operation, tuple(sorted(node.follows))))
            return replace(submitted, queue=queue, nodes=tuple(ran))

        if queue.capture is not None:
            raise Unsupported("The virtual GPU does not capture the launch of a graph: capture its operations instead.")
        operations.submit(queue, submitted, run)

    def __len__(self) -> int:
        return len(self.nodes)


class Capture:
    """An active capture: the stream it began in, its nodes, and the last nodes of every stream that has joined it."""

    def __init__(self, origin: Queue, mode: str):
        self.origin, self.mode, self.thread = origin, mode, threading.get_ident()
        self.program = own.program()
        self.nodes: list[GraphNode] = []
        self.ends: dict[Queue, frozenset[int]] = {origin: frozenset()}
        self.joined: dict[Queue, bool] = {origin: True}  # whether the origin waits for all that the stream has done

    def add(
        self, queue: Queue, operation: Operation, run: Callable[[], Operation | None], prepared: Prepared | None = None
    ) -> None:
        """Add an operation instead of running it; `prepared` if it is a kernel."""
        self.nodes.append(GraphNode(operation, run, self.ends[queue], prepared))
        self.ends[queue] = frozenset({len(self.nodes) - 1})

    def wait(self, queue: Queue, ends: frozenset[int]) -> None:
        """Make later operations of a stream depend on these nodes; the stream joins the capture."""
        self.ends[queue] = self.ends.get(queue, frozenset()) | ends
        queue.capture = self

    def dependencies(self, ends: frozenset[int]) -> set[int]:
        """These nodes and all that they depend on."""
        seen, todo = set(), list(ends)
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += self.nodes[node].follows
        return seen


def begin(queue: Queue, mode: str = "relaxed") -> None:
    """Capture what is submitted to the queue from now on. Raises `CaptureError` for a default stream, or twice."""
    if queue.kind == "legacy":
        raise operations.CaptureError(
            f"cudaErrorStreamCaptureUnsupported: {_NOT_WHILE}. The legacy default stream cannot be captured: make a "
            "stream of your own (cp.cuda.Stream(non_blocking=True)) and capture that."
        )
    if queue.capture is not None:
        raise operations.CaptureError("cudaErrorIllegalState: this stream is being captured already: end_capture first")
    if queue.lost:
        raise operations.CaptureError(
            "cudaErrorIllegalState: an error has spoilt this stream's last capture, which is not ended yet: "
            "end_capture first"
        )
    capture = queue.capture = Capture(queue, mode)
    operations.capturing.append(capture)


def end(queue: Queue) -> Graph:
    """The graph of a capture. Raises `CaptureError` for a fork that was not joined, or without a capture."""
    capture = queue.capture
    if queue.lost:
        queue.lost = False
        raise operations.CaptureError(
            "cudaErrorStreamCaptureInvalidated: operation failed due to a previous error during capture. There is no "
            "graph: fix that error, and capture again."
        )
    if capture is None:
        raise operations.CaptureError("cudaErrorIllegalState: this stream is not being captured: begin_capture first")
    if capture.origin is not queue:
        raise operations.CaptureError(
            "cudaErrorStreamCaptureUnmatched: the capture was not begun in this stream: end it in the stream that "
            "begin_capture was called on"
        )
    _drop(capture)
    unjoined = set(range(len(capture.nodes))) - capture.dependencies(capture.ends[queue])
    if unjoined:
        labels = ", ".join(capture.nodes[node].operation.label for node in sorted(unjoined)[:3])
        raise operations.CaptureError(
            "cudaErrorStreamCaptureUnjoined: capturing stream has unjoined work: another stream was forked into the "
            f"capture ({labels}) and nothing in the first stream waits for it. Record an event there at its end, and "
            "let the first stream wait for that event, before end_capture."
        )
    return Graph(tuple(capture.nodes))


def _drop(capture: Capture) -> None:
    for queue in capture.ends:
        queue.capture = None
    operations.capturing.remove(capture)


def _invalidate(capture: Capture) -> None:
    _drop(capture)
    capture.origin.lost = True


def abandon(queue: Queue) -> None:
    """Invalidate a queue's capture after an error."""
    if queue.capture is not None:
        _invalidate(queue.capture)


def record(queue: Queue) -> tuple[Capture, frozenset[int]] | None:
    """The capture and the nodes that an event recorded in this queue stands for; None outside a capture."""
    capture = queue.capture
    return None if capture is None else (capture, capture.ends[queue])


def wait(queue: Queue, event: Event) -> None:
    """Make later operations of a queue wait for an event, in a capture or outside one."""
    captured = event._captured
    if captured is not None and captured[0].origin.capture is captured[0]:
        captured[0].wait(queue, captured[1])
    elif queue.capture is not None:
        abandon(queue)
        raise operations.CaptureError(
            "cudaErrorStreamCaptureIsolation: dependency created on uncaptured work in another stream. The event was "
            "recorded outside the capture: record it inside, in the stream that is being captured."
        )
    else:
        operations.note(Operation("wait", queue, label="wait for an event", event=event))


def check(queue: Queue | None, operation: Operation) -> None:
    """Raise `CaptureError` for what CUDA refuses while a stream is being captured; this invalidates the capture."""
    if not operations.capturing:
        return
    if queue is not None and queue.capture is not None:
        if operation.kind == "synchronise" or (operation.waits and not operation.asynchronous):
            what = "Waiting for a stream" if operation.kind == "synchronise" else "A copy that the host waits for"
            capture = queue.capture
            _invalidate(capture)
            raise operations.CaptureError(
                f"cudaErrorStreamCaptureUnsupported: {_NOT_WHILE}. {what} makes no sense while nothing runs: "
                "synchronise after graph.launch(), and copy without blocking, to and from pinned memory."
            )
        return
    for capture in [each for each in operations.capturing if each.program is own.program()]:
        strict = capture.mode == "global" or (
            capture.mode == "thread_local" and capture.thread == threading.get_ident()
        )
        if operation.kind == "synchronise" and queue is None and operation.event is None:
            _invalidate(capture)
            raise operations.CaptureError(
                f"cudaErrorStreamCaptureUnsupported: {_NOT_WHILE}. Waiting for the whole device would wait for the "
                "stream under capture too: synchronise after graph.launch()."
            )
        if queue is LEGACY and any(each.blocking for each in capture.ends):
            _invalidate(capture)
            raise operations.CaptureError(
                "cudaErrorStreamCaptureImplicit: operation would make the legacy stream depend on a capturing "
                f"blocking stream. {operation.label or 'It'} went to the default stream: give it the stream that is "
                "being captured, or make that one with non_blocking=True."
            )
        if strict and operation.waits and operation.kind != "synchronise":
            _invalidate(capture)
            raise operations.CaptureError(
                f"cudaErrorStreamCaptureUnsupported: {_NOT_WHILE}. {operation.label} may need memory or a wait that a "
                "capture in this mode forbids: do it before begin_capture."
            )


def uncapturable(what: str) -> Unsupported:
    """The error for work that NumPy does and a graph can't run again."""
    return Unsupported(
        f"{what} cannot be captured on the virtual GPU, where NumPy does it at once and no kernel could be run again. "
        "Use a RawKernel, an ElementwiseKernel or a copy inside the capture, and make arrays before it."
    )

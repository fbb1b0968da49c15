"""Graphs: operations of streams under capture, kept with what each follows, to be run later as often as wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from vgpu import operations
from vgpu.base import own
from vgpu.base.errors import Unsupported
from vgpu.operations import LEGACY, Operation, Queue

_NOT_WHILE = "operation not permitted when stream is capturing"


@dataclass(frozen=True, eq=False)
class Node:
    """One captured operation: how to run it, and the numbers of the nodes that it follows."""

    operation: Operation
    run: Callable
    follows: frozenset[int]


class Graph:
    """Captured operations, ready to run; `launch` runs them all in a stream."""

    def __init__(self, nodes: tuple[Node, ...]):
        self._nodes = nodes

    def run(self, queue: Queue) -> None:
        """Run every node now, and note them as one operation of the queue."""
        asked = Operation("graph", label=f"graph of {len(self._nodes)} nodes", asynchronous=True, graph=self)

        def run() -> Operation:
            ran = []
            for node in self._nodes:
                ran.append((node.run() or node.operation, tuple(sorted(node.follows))))
            return replace(asked, queue=queue, nodes=tuple(ran))

        if queue.capture is not None:
            raise Unsupported("The virtual GPU does not capture the launch of a graph: capture its operations instead.")
        operations.submit(queue, asked, run)

    def __len__(self) -> int:
        return len(self._nodes)


class Capture:
    """A capture under way: where it began, its nodes, and the last nodes of every stream that has joined it."""

    def __init__(self, origin: Queue, mode: str):
        self.origin, self.mode, self.thread = origin, mode, threading.get_ident()
        self.program = own.program()
        self.nodes: list[Node] = []
        self.ends: dict[Queue, frozenset[int]] = {origin: frozenset()}
        self.joined: dict[Queue, bool] = {origin: True}  # whether the origin waits for all that the stream has done

    def add(self, queue: Queue, operation: Operation, run: Callable) -> None:
        """Keep an operation instead of running it."""
        self.nodes.append(Node(operation, run, self.ends[queue]))
        self.ends[queue] = frozenset({len(self.nodes) - 1})

    def wait(self, queue: Queue, ends: frozenset[int]) -> None:
        """Let what follows in a stream wait for these nodes; the stream belongs to the capture from now on."""
        self.ends[queue] = self.ends.get(queue, frozenset()) | ends
        queue.capture = self

    def behind(self, ends: frozenset[int]) -> set[int]:
        """These nodes and all that they follow."""
        seen, todo = set(), list(ends)
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += self.nodes[node].follows
        return seen


def begin(queue: Queue, mode: str = "relaxed") -> None:
    """Capture what is given to the queue from now on. Raises `CaptureError` for a default stream, or twice."""
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
    queue.capture = Capture(queue, mode)
    operations.capturing.append(queue.capture)


def end(queue: Queue) -> Graph:
    """The graph of all that was captured. Raises `CaptureError` where a fork was not joined, or nothing was begun."""
    capture = queue.capture
    if queue.lost:
        queue.lost = False
        raise operations.CaptureError(
            "cudaErrorStreamCaptureInvalidated: operation failed due to a previous error during capture. There is no "
            "graph: mend that error, and capture again."
        )
    if capture is None:
        raise operations.CaptureError("cudaErrorIllegalState: this stream is not being captured: begin_capture first")
    if capture.origin is not queue:
        raise operations.CaptureError(
            "cudaErrorStreamCaptureUnmatched: the capture was not begun in this stream: end it in the stream that "
            "begin_capture was called on"
        )
    _drop(capture)
    loose = set(range(len(capture.nodes))) - capture.behind(capture.ends[queue])
    if loose:
        labels = ", ".join(capture.nodes[node].operation.label for node in sorted(loose)[:3])
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


def _lose(capture: Capture) -> None:
    _drop(capture)
    capture.origin.lost = True


def abandon(queue: Queue) -> None:
    """Give a capture up, after an error that makes it worthless."""
    if queue.capture is not None:
        _lose(queue.capture)


def record(queue: Queue) -> tuple[Capture, frozenset[int]] | None:
    """What an event recorded in this queue stands for, if the queue is under capture."""
    capture = queue.capture
    return None if capture is None else (capture, capture.ends[queue])


def wait(queue: Queue, event) -> None:
    """Let what follows in a queue wait for an event, under capture and outside it."""
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
    """Raise `CaptureError` for what CUDA refuses while a stream is being captured; the capture is lost then."""
    if not operations.capturing:
        return
    if queue is not None and queue.capture is not None:
        if operation.kind == "synchronise" or (operation.waits and not operation.asynchronous):
            what = "Waiting for a stream" if operation.kind == "synchronise" else "A copy that the host waits for"
            capture = queue.capture
            _lose(capture)
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
            _lose(capture)
            raise operations.CaptureError(
                f"cudaErrorStreamCaptureUnsupported: {_NOT_WHILE}. Waiting for the whole device would wait for the "
                "stream under capture too: synchronise after graph.launch()."
            )
        if queue is LEGACY and any(each.blocking for each in capture.ends):
            _lose(capture)
            raise operations.CaptureError(
                "cudaErrorStreamCaptureImplicit: operation would make the legacy stream depend on a capturing "
                f"blocking stream. {operation.label or 'It'} went to the default stream: give it the stream that is "
                "being captured, or make that one with non_blocking=True."
            )
        if strict and operation.waits and operation.kind != "synchronise":
            _lose(capture)
            raise operations.CaptureError(
                f"cudaErrorStreamCaptureUnsupported: {_NOT_WHILE}. {operation.label} may need memory or a wait that a "
                "capture in this mode forbids: do it before begin_capture."
            )


def uncapturable(what: str) -> Unsupported:
    """The error for work that NumPy does here and that could not be run again."""
    return Unsupported(
        f"{what} cannot be captured on the virtual GPU, where NumPy does it at once and no kernel could be run again. "
        "Use a RawKernel, an ElementwiseKernel or a copy inside the capture, and make arrays before it."
    )

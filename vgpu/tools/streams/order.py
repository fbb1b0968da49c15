"""What CUDA guarantees about the order of operations, and where a program relies on more than that.

Rules, from the CUDA C++ Programming Guide (Streams, Events, Default Stream, API Synchronization Behavior):
- operations of one stream follow one another;
- the legacy default stream waits for all blocking streams, and they for it; `non_blocking` streams do neither;
- a per-thread default stream is a blocking stream like any other;
- after `wait_event` a stream waits for the work before the event's record; an event never recorded causes no wait;
- what the host has waited for ends before anything that it issues or does later;
- a kernel launched with programmatic stream serialization may run beside the kernel in front of it, and follows it from
  `cudaGridDependencySynchronize` on. What it does before that is not looked at: one that calls it anywhere counts as
  following ("Programmatic Dependent Launch and Synchronization").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vgpu.operations import Operation, Queue, Touch


@dataclass(frozen=True)
class Ordered:
    """An operation with the numbers of the steps it follows directly.

    `host` says what the host does here: "issues" it, "waits" for what it follows, or "works" itself. `graph` is the
    number of the launch it came with, None outside graphs.
    """

    operation: Operation
    follows: tuple[int, ...]
    host: str = "issues"
    graph: int | None = None


@dataclass(frozen=True)
class Hazard:
    """Two operations that touch the same memory, one of them writing, in an order that nothing guarantees."""

    first: Operation
    second: Operation
    kind: str
    name: str
    nbytes: int
    advice: str
    numbers: tuple[int, int] = field(default=(0, 0), compare=False)

    def __str__(self) -> str:
        what = f" of `{self.name}`" if self.name else ""
        return (
            f"{self.kind}: {_where(self.second)} and {_where(self.first)} touch the same {self.nbytes:,} bytes{what}, "
            f"and nothing orders them. {self.advice}"
        )

    __repr__ = __str__


def _where(operation: Operation) -> str:
    return operation.label if operation.queue is None else f"{operation.label} in {stream_name(operation.queue)}"


def stream_name(queue: Queue | None) -> str:
    """A stream's name in output; recordings number ordinary streams in the order they appear."""
    if queue is None:
        return "the host"
    return {"legacy": "the default stream", "per-thread": "the thread's default stream"}.get(
        queue.kind, f"stream {getattr(queue, 'number', None) or hex(queue.handle)}"
    )


def steps(operations: Sequence[Operation]) -> list[Ordered]:
    """The operations of a recording, graphs split into nodes, each with the steps it has to follow."""
    found: list[Ordered] = []
    last: dict[Queue, set[int]] = {}  # queue -> the steps that its next operation follows
    events: dict = {}  # event -> step of its record
    known: set[int] = set()  # steps that the host knows have ended
    graphs = 0

    def add(operation: Operation, follows: set[int], host: str = "issues", graph: int | None = None) -> int:
        found.append(Ordered(operation, tuple(sorted(follows)), host, graph))
        return len(found) - 1

    def before(queue: Queue) -> set[int]:
        """The steps that the next operation of a queue follows."""
        earlier = set(last.get(queue, ()))
        for other, ends in last.items():
            if (queue.kind == "legacy" and other.blocking) or (queue.blocking and other.kind == "legacy"):
                earlier |= ends
        return earlier

    for operation in operations:
        queue, kind = operation.queue, operation.kind
        if kind in ("host read", "host write"):
            known = {add(operation, known, "works")}
        elif kind == "synchronise":
            if operation.event is not None:
                ends = {events[operation.event]} if operation.event in events else set()
            elif queue is not None:
                ends = before(queue)
            else:
                ends = set[int]().union(*last.values())
            known = {add(operation, ends | known, "waits")}
        elif queue is None:
            raise ValueError(f"the operation {kind!r} belongs to a stream, and has none")
        elif kind == "wait":
            if operation.event in events:
                last.setdefault(queue, set()).add(events[operation.event])
        elif kind == "graph":
            graphs += 1
            roots = before(queue) | known
            numbers: list[int] = []
            for node, follows in operation.nodes:
                earlier = {numbers[index] for index in follows} or roots
                numbers.append(add(node, earlier, graph=graphs))
            inner = {numbers[index] for _, follows in operation.nodes for index in follows}
            last[queue] = set(numbers) - inner or roots
        else:
            earlier = before(queue)
            beside = {at for at in earlier if operation.early and found[at].operation.kind == "kernel"}
            earlier = earlier - beside | set[int]().union(*(found[at].follows for at in beside))
            number = add(operation, earlier | known)
            last[queue] = {number} | beside
            if kind == "record":
                events[operation.event] = number
            if operation.waits:
                known = {number}
    return found


def order(found: Sequence[Ordered]) -> list[int]:
    """For each step all the steps that it follows, directly or not, as bits of one number."""
    earlier: list[int] = []
    for step in found:
        bits = 0
        for number in step.follows:
            bits |= earlier[number] | 1 << number
        earlier.append(bits)
    return earlier


def hazards(found: Sequence[Ordered]) -> list[Hazard]:
    """All pairs of steps that touch the same bytes, one of them writing, without an order between them."""
    follows, result = order(found), []
    touching = [(number, step.operation) for number, step in enumerate(found) if step.operation.accesses]
    for at, (number, operation) in enumerate(touching):
        for earlier, other in touching[:at]:
            if follows[number] >> earlier & 1:
                continue
            worst = _conflict(other, operation)
            if worst is not None:
                kind, name, nbytes = worst
                result.append(
                    Hazard(other, operation, kind, name, nbytes, _advice(other, operation), (earlier, number))
                )
    return result


def _conflict(first: Operation, second: Operation) -> tuple[str, str, int] | None:
    """The conflict of two operations with most bytes, as (kind, name, bytes); None where there is none."""
    worst: tuple[int, bool, str, str] | None = None
    for a in first.accesses:
        for b in second.accesses:
            if not (a.writes or b.writes):
                continue
            nbytes = overlap(a, b)
            if nbytes <= max(a.grain, b.grain) > 1 and _side_by_side(a, b):
                continue  # neighbours within one sector: a kernel's accesses are known by sectors only
            if nbytes and (worst is None or (nbytes, a.writes and b.writes) > worst[:2]):
                kind = "write after write" if a.writes and b.writes else "read after write" if a.writes else ""
                worst = nbytes, a.writes and b.writes, kind or "write after read", a.name or b.name
    return worst and (worst[2], worst[3], worst[0])


def _side_by_side(a: Touch, b: Touch) -> bool:
    """Whether one begins and ends before the other, rather than one lying within the other."""
    return (a.starts[0] < b.starts[0]) == (a.ends[-1] < b.ends[-1]) and a.starts[0] != b.starts[0]


def overlap(a: Touch, b: Touch) -> int:
    """Bytes that two accesses have in common; the ranges of each are sorted and don't overlap one another."""
    if a.starts[0] >= b.ends[-1] or b.starts[0] >= a.ends[-1]:
        return 0
    few, many = (a, b) if len(a.starts) <= len(b.starts) else (b, a)
    lengths = many.ends - many.starts
    sums = np.concatenate(([0], np.cumsum(lengths)))

    def below(addresses: np.ndarray) -> np.ndarray:
        """Bytes of `many` below each address."""
        at = np.searchsorted(many.starts, addresses, side="right")
        inside = np.where(at > 0, np.minimum(addresses, many.ends[at - 1]) - many.starts[at - 1], 0)
        return sums[np.maximum(at, 1) - 1] * (at > 0) + inside

    return int((below(few.ends) - below(few.starts)).sum())


def _advice(first: Operation, second: Operation) -> str:
    kinds = {first.kind, second.kind}
    if second.early and first.queue is second.queue:
        return (
            "The launch lets the second begin before the first has ended (programmatic stream serialization): call "
            "cudaGridDependencySynchronize() in it, before it touches what the first one does."
        )
    if "host read" in kinds:
        return (
            "An asynchronous copy has only been queued when the call returns: synchronise the stream (or an event "
            "recorded after the copy) before the host reads the buffer."
        )
    if "host write" in kinds:
        return (
            "The copy may still be reading the buffer: synchronise the stream, or an event recorded after the copy, "
            "before the host writes there again, or use two buffers in turn."
        )
    return (
        "Record an event after the first in its stream and let the other stream wait for it "
        "(stream.wait_event(event)), or put both in one stream."
    )


def _own(queue: Queue | None) -> bool:
    """Whether this is a stream that the program made, not a default stream."""
    return queue is not None and queue.kind == "stream"


def findings(operations: Sequence[Operation]) -> list[str]:
    """What costs time, or does nothing, without being wrong: one sentence each, kind by kind."""
    result: list[str] = []
    recorded: set = set()  # events
    streams: dict[Queue, list[int]] = {}  # numbers of operations
    pageable: dict[Queue | None, list[Operation]] = {}
    blocking: dict[Queue | None, list[Operation]] = {}
    for at, operation in enumerate(operations):
        queue = operation.queue
        if operation.kind == "record":
            recorded.add(operation.event)
        elif operation.kind == "wait" and operation.event not in recorded:
            result.append(
                f"{stream_name(queue)} waits for an event that was never recorded, which is no wait at all: "
                "call event.record(stream) first."
            )
        if operation.asynchronous and operation.waits:
            pageable.setdefault(queue, []).append(operation)
        others = [each.queue for each in operations[at + 1 :] if each.queue not in (None, queue)]
        if operation.waits and not operation.asynchronous and _own(queue) and any(map(_own, others)):
            blocking.setdefault(queue, []).append(operation)
        if queue is not None and operation.kind not in ("record", "wait", "synchronise"):
            streams.setdefault(queue, []).append(at)
    graphs = [operation.graph for operation in operations if operation.kind == "graph"]
    if len(graphs) > 1 and len(set(map(id, graphs))) == len(graphs):
        result.append(
            f"{len(graphs)} graphs were launched once each. To capture a graph and make it executable costs the host "
            "more than the launches that are in it: capture once, and launch that graph again and again."
        )
    for queue, copies in pageable.items():
        nbytes = sum(copy.nbytes for copy in copies)
        result.append(
            f"{len(copies)} of the copies in {stream_name(queue)} ({nbytes:,} bytes) were issued asynchronously, "
            "but their host memory is pageable: the host waits for each all the same. Use pinned memory "
            "(cp.cuda.alloc_pinned_memory, cuda.pinned_array, cudaMallocHost)."
        )
    for queue, copies in blocking.items():
        what = f"{copies[0].label} of {stream_name(queue)}"
        result.append(
            f"The host waits for {what} to end before it issues anything to other streams, so nothing runs beside it. "
            "Let the copy run by itself (x.get(out=…, blocking=False), from pinned memory) and synchronise at the end."
        )
    for legacy, numbers in streams.items():
        if legacy.kind != "legacy":
            continue
        for other, others_numbers in streams.items():
            between = others_numbers[0] < numbers[-1] and others_numbers[-1] > numbers[0]
            if other.blocking and other is not legacy and between:
                result.append(
                    f"Work in the default stream alternates with work in {stream_name(other)}: each waits for the "
                    "other, so they never overlap. Give that work a stream of its own, or make the stream with "
                    "non_blocking=True."
                )
    return result

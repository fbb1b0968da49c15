"""Stream work: what was asked for and cannot be captured, what nothing orders, and what costs time without being wrong.

A recording shows it, whatever the exercise. What is said of an order is said of the two operations that the message
names too: the first that were found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from helpers.checking.examine import Evidence
from helpers.checking.families.family import Family, Look, failing
from helpers.checking.stream_work import graphs, of, waits
from vgpu.base.words import plural
from vgpu.operations.queues import CaptureError, Queue
from vgpu.tools.streams.order import Hazard
from vgpu.tools.streams.recording import Timeline

WORK = ("kernel", "graph")
HOST = ("host read", "host write")


# --- captures ---------------------------------------------------------------------------------------------------------


def _captures_fail(word: str = "") -> Look:
    def look(evidence: Evidence) -> str | None:
        words = [str(o.error) for o in failing(evidence) if isinstance(o.error, CaptureError) or _told_so(o.error)]
        return "" if any(word in each for each in words) else None

    return look


def _empty_graph(evidence: Evidence) -> str | None:
    timelines = [o.timeline for o in failing(evidence) if o.timeline is not None]
    return "" if any(not each.nodes for timeline in timelines for each in of(timeline, "graph")) else None


def _told_so(error: Exception | None) -> bool:
    """Whether an error of another process was one of a capture."""
    return "Capture" in str(error).partition(":")[0]


def _made_by_the_host(evidence: Evidence) -> str | None:
    timelines = [o.timeline for o in failing(evidence) if o.timeline is not None]
    nbytes = max((sum(each.nbytes for each in of(timeline, "host write")) for timeline in timelines), default=0)
    return f"It writes {nbytes:,} bytes that it has not copied from an array of the host." if nbytes else None


# --- what nothing orders ----------------------------------------------------------------------------------------------


def _unordered(test: Callable[[Hazard, list[Queue | None]], bool]) -> Look:
    """A family of work without an order: `test(hazard, queues)` holds for the first hazard and the streams it is in."""

    def look(evidence: Evidence) -> str | None:
        timeline = _watched(evidence)
        if timeline is None or (first := next(iter(timeline.hazards()), None)) is None:
            return None
        if not test(first, _queues(first, timeline)):
            return None
        return EVENT if _has_events(timeline) else ""

    return look


def _watched(evidence: Evidence) -> Timeline | None:
    if not evidence.findings or evidence.exercise.language != "streams":
        return None
    return next((o.timeline for o in evidence.outcomes if o.case is evidence.watched), None)


def _has_events(timeline: Timeline) -> bool:
    return bool(of(timeline, "record")) and bool(of(timeline, "wait"))


def _vain_wait(evidence: Evidence) -> str | None:
    """Whether something lacks an order, and there is an event for which every wait came ahead of its record."""
    timeline = _watched(evidence)
    recorded, vain, heeded = set[int](), set[int](), set[int]()
    for each in timeline.operations if timeline is not None else ():
        if each.kind == "record":
            recorded.add(id(each.event))
        elif each.kind == "wait":
            (heeded if id(each.event) in recorded else vain).add(id(each.event))
    return "" if vain - heeded else None


def _queues(hazard: Hazard, timeline: Timeline) -> list[Queue | None]:
    """The streams of the two operations; for what is in a graph that in which the graph was launched."""
    steps, launches = timeline.steps(), of(timeline, "graph")
    found = [steps[number] for number in hazard.numbers]
    return [step.operation.queue if step.graph is None else launches[step.graph - 1].queue for step in found]


def _default(_: object, queues: list[Queue | None]) -> bool:
    return any(queue is not None and queue.kind == "legacy" for queue in queues)


def _kinds(hazard: Hazard) -> tuple[str, str]:
    return hazard.first.kind, hazard.second.kind


EVENT = (
    "An event is recorded, and a stream waits for an event, but that doesn't order these two operations. A wait covers "
    "what was issued to the event's stream before record(), and it delays what is issued to its own stream afterwards."
)


# --- right, at a price ------------------------------------------------------------------------------------------------


def _costly(test: Callable[[Timeline, Evidence], str | None]) -> Look:
    """A family of right work over a budget: `test(timeline, evidence)` of the last case gives None, or a fact."""

    def look(evidence: Evidence) -> str | None:
        issued = [(o.case, o.timeline) for o in evidence.outcomes if o.timeline is not None]
        if not issued or not evidence.right or all(each.ok for each in evidence.budgets):
            return None
        case, timeline = issued[-1]
        fact = test(timeline, evidence)
        return f"With {case.name}, {fact}." if fact else fact

    return look


def _by_nobody(timeline: Timeline, _: object) -> str | None:
    """Neither a kernel nor a copy from the device is there."""
    return None if any(of(timeline, kind) for kind in (*WORK, "D2H")) else "no kernel was launched"


def _pageable(timeline: Timeline, _: object) -> str | None:
    found = [each for each in timeline.operations if each.pinned is False and each.waits]
    return f"that is so for {len(found)} of the copies; the first is {found[0].label}" if found else None


def _waits(timeline: Timeline, evidence: Evidence) -> str | None:
    """Whether the budget of the host's waits is spent, or there are waits, and no budget of them."""
    limits = {each.label for each in evidence.exercise.budgets if each.measure is waits}
    spent = any(each.over for each in evidence.budgets if not limits or each.label in limits)
    if not spent or not waits(timeline):
        return None
    kinds = Counter(each.kind for each in timeline.operations if each.waits)
    return f"the host waits {_times(waits(timeline))}: " + ", ".join(f"{n} × {kind}" for kind, n in kinds.items())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _beside_default(timeline: Timeline, _: object) -> str | None:
    queues = [each.queue.kind for each in timeline.operations if each.queue is not None]
    if "legacy" not in queues or set(queues) == {"legacy"}:
        return None
    count = queues.count("legacy")
    return f"{count} of {len(queues)} operations {'is' if count == 1 else 'are'} in it"


def _one_stream(timeline: Timeline, _: object) -> str | None:
    """Whether copies stand in the one stream that all kernels are in: else there is nothing that could overlap."""
    found = [step for each in timeline.operations for step in (each, *(node for node, _ in each.nodes))]
    queues = [each.queue for each in found if each.queue is not None]
    copies = any(each.kind in ("H2D", "D2H") for each in found)
    return f"all {len(queues)} operations are in one" if copies and len(set(queues)) == 1 else None


def _many_graphs(timeline: Timeline, _: object) -> str | None:
    return f"there are {graphs(timeline)} graphs" if graphs(timeline) > 1 else None


def _asked(timeline: Timeline, _: object) -> str | None:
    queues = {each.queue for each in timeline.operations if each.queue is not None}
    kinds = Counter(each.kind for each in timeline.operations if each.kind not in HOST)
    told = ", ".join(f"{n} × {kind}" for kind, n in sorted(kinds.items()))
    return f"the host issues {told}, in {plural(len(queues), 'stream')}"


FAMILIES = (
    Family(
        "captured streams do not join",
        _captures_fail("Unjoined"),
        "A stream joined the capture, and the stream that began the capture doesn't wait for it. Record an event after "
        "its last operation, and let the first stream wait for that event before end_capture.",
    ),
    Family(
        "a stream outside the capture",
        _captures_fail("Isolation"),
        "Only work that depends on the first stream is captured. Record an event in the first stream within the "
        "capture, and let the other stream wait for it. From then on that stream is captured, too.",
    ),
    Family(
        "an operation that cannot be captured",
        _captures_fail(),
        "Between begin_capture and end_capture nothing runs, so you can't wait for anything, and you can't use the "
        "default stream.",
    ),
    Family(
        "an empty graph",
        _empty_graph,
        "The graph that was launched is empty: nothing was issued to the captured stream between begin_capture and "
        "end_capture. Pass this stream to the launches and copies.",
    ),
    Family(
        "the host calculates",
        _made_by_the_host,
        "What the host computes itself isn't part of the stream work, which is replayed with other values. Let a "
        "kernel compute it; the host may copy from one array to another.",
    ),
    Family(
        "waits for an event that was never recorded",
        _vain_wait,
        "Waiting for an event that hasn't been recorded has no effect: record it first, in the stream to wait for.",
    ),
    Family(
        "work in the default stream",
        _unordered(_default),
        "An operation was issued without a stream, so it is in the default stream, and streams made with "
        "non_blocking=True aren't ordered with that. Pass the stream to copies, launches and records. Operations on "
        "whole arrays are in the default stream, too.",
    ),
    Family(
        "the host fills a buffer that is still being sent",
        _unordered(lambda h, _: _kinds(h) == ("H2D", "host write")),
        "When set() returns, the copy has only been issued, and may still be reading. If a stream waits, the host "
        "doesn't: it has to wait for the copy, by an event recorded after it, before it writes there again.",
    ),
    Family(
        "the host reads what is still being copied",
        _unordered(lambda h, _: "host read" in _kinds(h)),
        "When get() returns, the copy has only been issued: the host has to wait for it before it reads.",
    ),
    Family(
        "copied back before the kernel is done",
        _unordered(lambda h, _: h.kind == "read after write" and h.second.kind == "D2H"),
        "The copy back has to come after the kernel that computes the data: put both into one stream, or order them.",
    ),
    Family(
        "copies come back to the same place",
        _unordered(lambda h, _: _kinds(h) == ("D2H", "D2H")),
        "Two copies back write the same part of the host's array, and nothing orders them.",
    ),
    Family(
        "a buffer is filled while it is still in use",
        _unordered(lambda h, _: h.second.kind == "H2D"),
        "A copy to the device overwrites what an earlier operation may still be using, in another stream.",
    ),
    Family(
        "no event orders the two operations",
        lambda e: _unordered(lambda h, _: True)(e) or None,
        "Both operations use the same memory, and either may run first.",
    ),
    Family(
        "a copy and its kernel in two streams",
        _unordered(lambda h, queues: h.first.kind == "H2D" and h.second.kind in WORK and len(set(queues)) == 2),
        "Data is copied in one stream, and the kernel that processes it, or its graph, is launched in another: "
        "nothing orders the two.",
    ),
    Family(
        "the host has done the work",
        _costly(_by_nobody),
        "The result is right, but no kernel computed it. Copy in, launch the kernel, copy out.",
    ),
    Family(
        "pageable memory in between",
        _costly(_pageable),
        "A copy goes from or to an ordinary NumPy array, so the host waits for it, and it is much slower. Slices of "
        "pinned arrays are pinned; arrays that you make with NumPy aren't.",
    ),
    Family(
        "the host waits",
        _costly(_waits),
        "While the host waits it issues nothing, so nothing new overlaps. get() blocks without blocking=False, a Numba "
        "copy blocks without a stream, and every synchronize() blocks. With an event only a stream waits.",
    ),
    Family(
        "an operation without its stream",
        _costly(_beside_default),
        "An operation was issued without a stream, so it is in the default stream. Ordinary streams wait for it, and "
        "it waits for them.",
    ),
    Family(
        "captured more than once",
        _costly(_many_graphs),
        "Capturing costs the host as much as launching, and making the graph executable costs more. Capture once, and "
        "launch that graph as often as needed.",
    ),
    Family(
        "one stream only",
        _costly(_one_stream),
        "Everything in one stream runs in order, so nothing overlaps.",
    ),
    Family(
        "right, but over budget",
        _costly(_asked),
        "The result is right, but it takes too long. Everything in one stream runs in order, each launch or copy takes "
        "the host some time, and each engine does one operation at a time, in the order of the calls.",
    ),
)  # fmt: skip

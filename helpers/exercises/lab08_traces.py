"""By which traces the mistakes of lab 08 are known: predicates over the evidence, and over a recording."""

from __future__ import annotations

import math

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.stream_work import of, some, timelines, waits
from helpers.exercises import lab08_cases as cases


def hazard(*kinds: str, named: str = ""):
    """Two operations without an order, one of them of such a kind, in memory of that name."""

    def when(timeline) -> bool:
        return any(
            (not kinds or {h.first.kind, h.second.kind} & set(kinds)) and named in h.name for h in timeline.hazards()
        )

    return some(when)


vain_wait = some(lambda timeline: any("never recorded" in line for line in timeline.findings()))
pageable = some(lambda timeline: any(each.pinned is False for each in timeline.operations))
nothing_asked = some(lambda timeline: not (of(timeline, "kernel") or of(timeline, "graph")))
sends_nothing = some(lambda timeline: not of(timeline, "H2D"))
waits_at_all = some(lambda timeline: waits(timeline) > 0)


def one_stream(evidence) -> bool:
    return all(
        len({each.queue for each in timeline.operations if each.kind == "kernel"}) == 1
        for timeline in timelines(evidence)
    )


def waits_for_all(timeline) -> bool:
    """Whether the host waits for a stream or the device, not for an event."""
    return any(each.kind == "synchronise" and each.event is None for each in timeline.operations)


def two_waits_before_the_sum(timeline) -> bool:
    """Whether a stream waits for two events ahead of the first sum."""
    kinds = [each.kind for each in timeline.operations]
    sums = [at for at, each in enumerate(timeline.operations) if each.kind == "kernel" and "add" in each.label]
    return bool(sums) and kinds[: sums[0]].count("wait") > 1


def in_default_stream(evidence) -> bool:
    """Operations lack an order, and some were given to the default stream beside others that were not."""
    return bool(evidence.findings) and some(uses_default_stream)(evidence)


def uses_default_stream(timeline) -> bool:
    queues = {each.queue.kind for each in timeline.operations if each.queue is not None}
    return "legacy" in queues and len(queues) > 1


def only_streams(fewer_than: int):
    """Whether all copies and kernels are in so few streams, in the case that asks for most."""

    def when(evidence) -> bool:
        largest = max(timelines(evidence), key=lambda timeline: len(timeline.operations))
        return len({each.queue for each in largest.operations if each.kind in ("H2D", "kernel")}) < fewer_than

    return when


def kernels_without_threads(evidence) -> bool:
    """In a wrong case a launch has fewer threads than there are series."""
    return any(
        math.prod(each.counters.grid) * math.prod(each.counters.block) < outcome.case.out.expected.shape[-1]
        for outcome in evidence.outcomes
        if outcome.timeline is not None and not outcome.ok
        for each in of(outcome.timeline, "kernel")
        if each.counters is not None
    )


def comes_back_unwritten(evidence) -> bool:
    """A copy brings back NaN, which is what memory holds before anything is written there."""
    return any(o.error is None and bool((np.isnan(o.got) & ~o.untouched).any()) for o in evidence.outcomes)


def ends_with_a_wait(timeline) -> bool:
    asked = [each for each in timeline.operations if each.kind not in ("host read", "host write")]
    return bool(asked) and asked[-1].kind == "synchronise"


def copies_in_graph(timeline) -> bool:
    return any(node.kind in ("H2D", "D2H") for each in of(timeline, "graph") for node, _ in each.nodes)


def back_before_launch(timeline) -> bool:
    """Whether a copy back is asked for ahead of the first graph."""
    kinds = [each.kind for each in timeline.operations]
    return "graph" in kinds and "D2H" in kinds[: kinds.index("graph")]


def recorded_behind_more(timeline) -> bool:
    """Whether an event that the host waits for was recorded directly behind a kernel or a copy back."""
    waited = {id(each.event) for each in timeline.operations if each.kind == "synchronise"}
    last: dict = {}
    for each in timeline.operations:
        if each.kind == "record" and id(each.event) in waited and last.get(each.queue) in ("kernel", "D2H"):
            return True
        last[each.queue] = each.kind
    return False


def shares_a_place(timeline) -> bool:
    """Whether two copies to the device fill the same place there."""
    places = [int(a.starts[0]) for each in of(timeline, "H2D") for a in each.accesses if a.writes]
    return len(set(places)) < len(places)


def launched_before_data(timeline) -> bool:
    """Whether a graph is launched ahead of the first copy to the device."""
    kinds = [each.kind for each in timeline.operations]
    return "H2D" in kinds and "graph" in kinds[: kinds.index("H2D")]


def partly_added(evidence) -> bool:
    """Each element is f, b or their sum, and in some case not all are sums."""
    return known.is_wrong(evidence) and all(
        outcome.error is None and (cases.nearest_part(outcome) < 1e-4).all() for outcome in evidence.outcomes
    )


def launches(more_than: int):
    return lambda timeline: len(of(timeline, "kernel")) > more_than


def captures_fail(word: str = ""):
    return lambda evidence: any(
        "Capture" in str(outcome.error) and word in str(outcome.error) for outcome in evidence.outcomes
    )


def kernels_outside(timeline) -> bool:
    return bool(of(timeline, "graph")) and bool(of(timeline, "kernel"))

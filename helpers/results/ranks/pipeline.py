"""Schedules of a pipeline: in which order each stage works, and when, if every stage takes the same time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from helpers.results.ranks.spans import RankSpan

FORWARD, BACKWARD = "forward", "backward"
Work = tuple[str, int]
"""("forward" or "backward", number of the micro-batch)."""
StageWork = tuple[str, int, int]
"""The same, and the stage."""


def gpipe_order(stage: int, stages: int, micro_batches: int) -> list[Work]:
    """All forward passes, then all backward passes, the last first (Huang and others, 2019)."""
    ahead = [(FORWARD, part) for part in range(micro_batches)]
    return ahead + [(BACKWARD, part) for part in reversed(range(micro_batches))]


def one_by_one_order(stage: int, stages: int, micro_batches: int) -> list[Work]:
    """1F1B: as many forward passes as there are stages below, then one forward and one backward in turn."""
    ahead = min(stages - 1 - stage, micro_batches)
    order = [(FORWARD, part) for part in range(ahead)]
    for part in range(micro_batches):
        if ahead + part < micro_batches:
            order.append((FORWARD, ahead + part))
        order.append((BACKWARD, part))
    return order


ORDERS: Mapping[str, Callable[[int, int, int], list[Work]]] = {"GPipe": gpipe_order, "1F1B": one_by_one_order}


def pipeline_spans(
    stages: int,
    micro_batches: int,
    order: str | Callable[[int, int, int], Sequence[Work]] = "GPipe",
    *,
    forward: float = 1.0,
    backward: float = 2.0,
) -> list[RankSpan]:
    """Spans of all stages, one a rank, each piece of work as early as its order and its neighbours allow.

    `order`: a name of `ORDERS`, or a function of (stage, stages, micro_batches) that gives a stage's work in order.
    `forward`, `backward`: seconds that one micro-batch takes on one stage. ValueError for orders that never end.
    """
    make = ORDERS[order] if isinstance(order, str) else order
    works = [[(*piece, stage) for piece in make(stage, stages, micro_batches)] for stage in range(stages)]
    walked = _walked(dict(enumerate(works)), stages, {FORWARD: forward, BACKWARD: backward})
    return [RankSpan(rank, kind, start, end, part) for rank, (kind, part, _), start, end in walked]


def planned_spans(plan: Mapping[int, Sequence[str]], *, forward: float = 1.0, backward: float = 2.0) -> list[RankSpan]:
    """Spans of a plan as PyTorch's schedules print it, such as {0: ["0F0", "2F0", "2B0"]}: stage, pass, micro-batch.

    plan: the work of each rank in order, which may have several stages; what is neither F nor B is left out.
    `forward`, `backward`: seconds of one micro-batch on one stage. Where a rank
    has several stages the labels number them, such as "forward 2". ValueError for a plan that never ends.
    """
    found = {rank: [match for each in work if (match := re.fullmatch(r"(\d+)([FB])(\d+)", str(each)))]
             for rank, work in plan.items()}  # fmt: skip
    works = {rank: [(FORWARD if m[2] == "F" else BACKWARD, int(m[3]), int(m[1])) for m in work]
             for rank, work in found.items()}  # fmt: skip
    stages = 1 + max(stage for work in works.values() for _, _, stage in work)
    own = {rank: sorted({stage for _, _, stage in work}) for rank, work in works.items()}
    spans = []
    for rank, (kind, part, stage), start, end in _walked(works, stages, {FORWARD: forward, BACKWARD: backward}):
        label = kind if len(own[rank]) == 1 else f"{kind} {own[rank].index(stage) + 1}"
        spans.append(RankSpan(rank, label, start, end, part))
    return spans


def _walked(
    works: Mapping[int, Sequence[StageWork]], stages: int, cost: Mapping[str, float]
) -> Iterator[tuple[int, StageWork, float, float]]:
    """(rank, piece, start, end) of the work of all ranks, each piece as early as its rank and its needs allow."""
    done = dict[StageWork, float]()
    now, at = dict.fromkeys(works, 0.0), dict.fromkeys(works, 0)
    while any(at[rank] < len(works[rank]) for rank in works):
        moved = False
        for rank, work in works.items():
            while at[rank] < len(work):
                piece = work[at[rank]]
                needs = _needs(*piece, stages)
                if any(need not in done for need in needs):
                    break
                start = max([now[rank], *(done[need] for need in needs)])
                now[rank] = done[piece] = start + cost[piece[0]]
                yield rank, piece, start, now[rank]
                at[rank] += 1
                moved = True
        if not moved:
            stuck = {rank: work[at[rank]][:2] for rank, work in works.items() if at[rank] < len(work)}
            raise ValueError(f"these stages wait for one another for ever, each for its next piece: {stuck}")


def _needs(kind: str, part: int, stage: int, stages: int) -> list[StageWork]:
    """What has to be done before: the same pass of the neighbour, and for the last stage its own forward pass."""
    if kind == FORWARD:
        return [(FORWARD, part, stage - 1)] if stage else []
    if stage == stages - 1:
        return [(FORWARD, part, stage)]
    return [(BACKWARD, part, stage + 1), (FORWARD, part, stage)]


def bubble(spans: Sequence[RankSpan]) -> float:
    """The share of all stages' time, from the first start to the last end, in which they have nothing to do."""
    stages = 1 + max(each.rank for each in spans)
    whole = max(each.end for each in spans) - min(each.start for each in spans)
    return 1 - sum(each.end - each.start for each in spans) / (stages * whole)


def most_kept(spans: Sequence[RankSpan]) -> list[int]:
    """For each stage, the most micro-batches whose activations it keeps at once: forward done, backward not."""
    kept = []
    for stage in range(1 + max(each.rank for each in spans)):
        count = most = 0
        for each in sorted((each for each in spans if each.rank == stage), key=lambda each: each.start):
            count += 1 if each.label == FORWARD else -1
            most = max(most, count)
        kept.append(most)
    return kept

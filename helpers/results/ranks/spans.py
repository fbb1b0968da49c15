"""What ranks are busy with, from when to when: recorded by real ones, or made by a model of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

WAITING = "waits"


@dataclass(frozen=True)
class RankSpan:
    """One rank is busy with `label` from `start` to `end`, in seconds; `part`: of which micro-batch or step."""

    rank: int
    label: str
    start: float
    end: float
    part: int | None = None

    def earlier(self, seconds: float) -> RankSpan:
        """The same span on a clock that begins so many seconds later."""
        return replace(self, start=self.start - seconds, end=self.end - seconds)


def waiting(spans: Sequence[RankSpan], *, counted: Sequence[str] = (WAITING, "all-reduce")) -> list[float]:
    """For each rank, the share of the time from the first start to the last end that it is idle.

    Spans whose labels are in `counted` are no work.
    """
    ranks = range(1 + max(each.rank for each in spans))
    whole = max(each.end for each in spans) - min(each.start for each in spans)
    work = [sum(each.end - each.start for each in spans if each.rank == n and each.label not in counted) for n in ranks]
    return [1 - each / whole for each in work]


def training_spans(work: Sequence[Sequence[float]], communication: float) -> list[RankSpan]:
    """Data-parallel steps of ranks whose work differs: `work[step][rank]` seconds, and an all-reduce after each.

    An all-reduce begins when the last rank has come, so that the others wait. It then takes `communication` seconds.
    """
    spans, now = [], 0.0
    for step, seconds in enumerate(work):
        last = now + max(seconds)
        for rank, each in enumerate(seconds):
            spans.append(RankSpan(rank, "computes", now, now + each, step))
            if now + each < last:
                spans.append(RankSpan(rank, WAITING, now + each, last, step))
            if communication:
                spans.append(RankSpan(rank, "all-reduce", last, last + communication, step))
        now = last + communication
    return spans

"""Right answers that cost too much."""

from __future__ import annotations

from helpers.checking.examine import Evidence
from helpers.checking.families.family import Family


def _alone(evidence: Evidence) -> str | None:
    found = [spent.alone for spent in evidence.budgets if spent.alone]
    return f"In this launch that is {found[0]}." if found else None


def _over(evidence: Evidence) -> str | None:
    return "" if any(spent.over for spent in evidence.budgets) else None


FAMILIES = (
    Family(
        "one block or warp does most of the work",
        _alone,
        "Right, but one block or warp makes more than half of all requests to memory, while the others have little to "
        "do. A launch takes as long as its busiest part. Give each thread of the grid its share, by blockIdx and "
        "threadIdx.",
    ),
    Family("right, but over budget", _over, "The result is right; its cost is not."),
)

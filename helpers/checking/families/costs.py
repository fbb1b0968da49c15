"""Right answers that cost too much."""

from __future__ import annotations

from helpers.checking.examine import Evidence
from helpers.checking.families.family import Family, number


def _alone(evidence: Evidence) -> str | None:
    found = [spent.alone for spent in evidence.budgets if spent.alone]
    return f"Here it is {found[0]}." if found else None


def _over(evidence: Evidence) -> str | None:
    found = [spent for spent in evidence.budgets if spent.over]
    if not found:
        return None
    if found[0].lacking or found[0].value == float("inf"):
        return ""
    times = [
        f"{each.label} {number(each.value / each.at_most)} times the limit" for each in found
        if each.at_most and each.value > 1.05 * each.at_most and each.value != float("inf")
    ]  # fmt: skip
    return f"Over it: {', '.join(times)}." if times else ""


FAMILIES = (
    Family(
        "few do the work of all",
        _alone,
        "Right, but one block or warp makes more than half of all requests to memory, while the others have little to "
        "do. A launch takes as long as its busiest part. Give each thread of the grid its share, by blockIdx and "
        "threadIdx.",
    ),
    Family("right, but over budget", _over, "The result is right; its cost is not."),
)

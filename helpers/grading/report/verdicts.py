"""What a student is told of one graded cell: a sign, a verdict, and what to try next."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.grading.report.lab import Part
from helpers.grading.results import Mark

RESULTS = "results"
VERDICTS = {
    "right": ("✓", "right"),
    "wrong": ("✗", "not yet"),
    "error": ("✗", "stopped with an error"),
    "missing": ("–", "no answer"),
    "timeout": ("✗", "took too long"),
    "crash": ("✗", "ended the kernel"),
    "memory": ("✗", "used too much memory"),
    "output": ("✗", "wrote too much"),
    "unjudged": ("?", "not judged yet"),
    "overridden": ("✎", "set by your instructor"),
}
"""A sign and words for each outcome; never a colour alone."""

NEXT = {
    "wrong": "Start with what is said above, and with the smallest case that fails.",
    "error": "Run the cell in your notebook: it raises the same error and shows the line.",
    "missing": "Write an answer into the cell, even one that isn't right yet: the feedback says what is wrong with it.",
    "timeout": "Check that every loop and every wait ends, for one element and for an odd number of elements.",
    "crash": "Restart the kernel and run all cells. Then comment out lines until it no longer crashes.",
    "memory": "Check what the size of each array depends on: an answer needs a few megabytes at most.",
    "output": "Remove prints from loops.",
}
"""What to do about an outcome, before the exercise's own hints."""
OVER_BUDGET = "The results are right, but the cost is over the limit. What costs most, and is all of it needed?"


def verdict(mark: Mark) -> tuple[str, str]:
    """Sign and words, with what was earned where that is a part of the points."""
    sign, words = VERDICTS.get(mark.outcome, ("?", mark.outcome))
    return (
        (sign, f"{words}, in part right")
        if 0 < mark.points < mark.out_of and mark.outcome not in ("right", "overridden")
        else (sign, words)
    )


def next_steps(exercise: str, marks: Sequence[Mark]) -> list[tuple[str, str]]:
    """What to try for an exercise, as (words, code); nothing where all of it is right."""
    left = [mark for mark in marks if mark.outcome not in ("right", "unjudged", "overridden")]
    if not left:
        return []
    only_cost = any(mark.part == RESULTS and mark.outcome == "right" for mark in marks) and left[0].outcome == "wrong"
    first = OVER_BUDGET if only_cost else NEXT.get(left[0].outcome, "")
    steps = [(first, "")] if first else []
    steps.append(("What fails, and what it costs:", f'check(your_answer, "{exercise}")'))
    steps.append(("Stuck? The first of three hints:", f'check.hint("{exercise}", 1)'))
    return steps


def what_for(part: Part) -> str:
    """A part in words."""
    return RESULTS if part.part == RESULTS else f"budget: {part.part}"

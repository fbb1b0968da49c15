"""feedback/STUDENT.html and .md: what a student sees of the own submission.

Points, verdicts, the misconception and its words, what to try next. Notes for the instructor, the grader's own
troubles and whatever a mark does not hold, such as hidden inputs, are not in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from helpers.grading.report.lab import LabInfo, Part
from helpers.grading.report.material import Entry, Made, Material
from helpers.grading.report.pages import pages
from helpers.grading.report.words import one_line
from helpers.grading.results import REJECTED, STUDENT_FAULT, Mark

UNGRADED_WORDS = (
    "Not graded yet, because the grader failed. It isn't your fault, and it isn't a zero. "
    "Your submission will be graded again: you needn't do anything."
)
FRAME = re.compile(r"^ *\d+ \| ", re.MULTILINE)
"""A line of code with its number, as compilers show it: a caret in the next line points into it."""
HINT = "Stuck? check.hint("
CODE = ("error", "crash")
"""Outcomes whose explanation is mostly a traceback."""


@dataclass(frozen=True)
class ToldPart:
    """A part with its mark, and the words that are shown."""

    part: Part
    mark: Mark
    why: str

    @property
    def is_code(self) -> bool:
        return self.mark.outcome in CODE or bool(FRAME.search(self.mark.why))


def feedback(material: Material) -> Made:
    """Two files for each submission."""
    files: dict[str, bytes] = {}
    standings = {standing.student: standing for standing in material.standings()}
    for entry in material.entries:
        files |= pages(
            "feedback.j2",
            f"feedback/{entry.stem}",
            entry=entry,
            lab=material.lab,
            said=state_words(entry),
            standing=standings[entry.result.student],
            all_right=all(mark.outcome == "right" for mark in entry.result.marks),
            exercises=_exercises(entry, material.lab) if entry.ran else [],
        )
    return Made(files)


def state_words(entry: Entry) -> str:
    """What became of the submission, where that is more than its points; "" where it is not."""
    reason = one_line(entry.result.reason).rstrip(".")
    if entry.unsettled:
        return UNGRADED_WORDS
    if entry.state == REJECTED:
        return f"This file wasn't graded: {reason}. Nothing in it was run, so it has no points."
    if entry.state == STUDENT_FAULT:
        return f"Part of your notebook was stopped: {reason}. You keep the points of all other parts."
    return ""


def _exercises(entry: Entry, lab: LabInfo) -> list[tuple[str, str, list[ToldPart]]]:
    """(key, title, parts) in the lab's order."""
    marks = entry.marks
    return [
        (key, lab.title_of(key), _once([(part, marks[part.cell]) for part in parts]))
        for key, parts in lab.exercises().items()
    ]


def _once(pairs: list[tuple[Part, Mark]]) -> list[ToldPart]:
    """Parts whose words are told: those that several share at the first of them only, hints below the exercise."""
    said: set[str] = set()
    found = []
    for part, mark in pairs:
        why = "\n".join(line for line in mark.why.split("\n") if not line.strip().startswith(HINT))
        found.append(ToldPart(part, mark, "" if why in said or not why.strip() else why))
        said.add(why)
    return found

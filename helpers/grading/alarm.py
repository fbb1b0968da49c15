"""When many submissions run out of time in one cell, look at the lab and the machine before the students.

The run stops where `FEWEST` submissions or more, and more than half of those that it has graded, ran out of time in one
cell. Fewer than half are a warning, from `WORTH_A_WORD` of them on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from helpers.grading.results import GRADED, STUDENT_FAULT, UNGRADED, Result

FEWEST = 3
HALF, WORTH_A_WORD = 1 / 2, 1 / 5


class Alarm:
    """Counts the results of one run."""

    def __init__(self) -> None:
        self._run = 0
        self._late: Counter[str] = Counter()

    def heard(self, result: Result) -> str:
        """Take note of a result; the cell for whose sake the run has to stop, "" where none is."""
        if result.state in (GRADED, STUDENT_FAULT):
            self._run += 1
            self._late.update(set(result.late))
        cell, count = self._worst()
        return cell if count >= FEWEST and count > HALF * self._run else ""

    def warning(self) -> str:
        """Words for the instructor, where it is close; "" where not."""
        cell, count = self._worst()
        if count < FEWEST or count < WORTH_A_WORD * self._run:
            return ""
        return (
            f"{count} of {self._run} submissions ran out of time in {cell}: look at one of them. If it is right, give "
            "cells more time with --timeout"
        )

    def words(self, cell: str) -> str:
        """What an instructor is told when the run stops because of a cell."""
        return (
            f"STOPPED: {self._late[cell]} of the {self._run} submissions that were graded ran out of time in {cell}. "
            "They are not graded; everything else is kept. Look at one of them. If it is right, call the same again "
            "with a larger --timeout. If their code does not end, call it again with --keep-going, and it counts"
        )

    def _worst(self) -> tuple[str, int]:
        return max(self._late.items(), key=lambda item: (item[1], item[0]), default=("", 0))


def withdrawn(results: Iterable[Result], cell: str) -> list[Result]:
    """Those of the results that ran out of time in a cell, as ungraded: they are graded again by the next call."""
    why = f"many submissions ran out of time in {cell}, so the run was stopped"
    return [replace(result, state=UNGRADED, reason=why) for result in results if cell in result.late]

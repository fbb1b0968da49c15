"""What lab 03 and lab 04 share with chapter 05 while their mistakes are predicates."""

from __future__ import annotations

from helpers.checking import mistakes as known
from helpers.checking.exercise import Mistake, plural

UNWRITTEN = known.found("uninitialised", space="shared")


def area(rows: int, columns: int) -> str:
    return f"{plural(rows, 'row')} × {plural(columns, 'column')}"


DIVERGENT = Mistake(
    "a barrier that not every thread reaches",
    known.never_come,
    "Every thread of the block must come to the barrier, also those without an element: guard the load and the store, "
    "never the barrier.",
)
LEFT_EARLY = Mistake(
    "threads left before they had helped to fill the tile",
    known.both(UNWRITTEN, known.hinted("barrier_ended")),
    "A thread without an element of its own returns at once, and its part of the tile stays empty. Let it load, come "
    "to the barriers, and skip only the store at the end.",
)
UNFILLED = Mistake(
    "a part of the tile is never filled",
    UNWRITTEN,
    "Threads read elements of the tile that no thread has written. What lies outside the data counts as 0: "
    "write that 0 into the tile.",
)

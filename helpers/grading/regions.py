"""The marked regions of a cell, solutions and hidden tests: which lines they are, and the cell without them.

A marker counts wherever its words stand in a line, and the whole line with it: so does nbgrader read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

STUB = '"YOUR CODE HERE";'
"""What stands where a solution stood: one statement, in Python and in C."""


class Unbalanced(ValueError):
    """A region is opened twice, not closed, or closed without being open; `line` counts from 1."""

    def __init__(self, line: int, message: str):
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Mark:
    """A kind of region: the words that open and close it."""

    begin: str
    end: str


SOLUTION = Mark("BEGIN SOLUTION", "END SOLUTION")
HIDDEN = Mark("BEGIN HIDDEN TESTS", "END HIDDEN TESTS")


@dataclass(frozen=True)
class Region:
    """A region from the line of its opening marker to that of its closing one, counted from 0."""

    first: int
    last: int


def regions(source: str, mark: Mark) -> tuple[Region, ...]:
    """The regions of one kind in `source`, in order; raises Unbalanced."""
    found, first = [], None
    for number, line in enumerate(source.split("\n")):
        if mark.begin in line:
            if first is not None:
                raise Unbalanced(number + 1, f"{mark.begin} inside the region that line {first + 1} opens")
            first = number
        elif mark.end in line:
            if first is None:
                raise Unbalanced(number + 1, f"{mark.end} without {mark.begin} before it")
            found.append(Region(first, number))
            first = None
    if first is not None:
        raise Unbalanced(first + 1, f"{mark.begin} without {mark.end} after it")
    return tuple(found)


def replaced(source: str, mark: Mark, by: Sequence[str] = ()) -> str:
    """`source` with the lines `by` for each region, as far indented as its opening marker."""
    lines = source.split("\n")
    for region in reversed(regions(source, mark)):
        first = lines[region.first]
        indent = first.removesuffix(first.lstrip())
        lines[region.first : region.last + 1] = [indent + line for line in by]
    return "\n".join(lines)


def unmarked(source: str, mark: Mark) -> str:
    """`source` with what the regions hold, but without the lines of their markers."""
    markers = {number for region in regions(source, mark) for number in (region.first, region.last)}
    return "\n".join(line for number, line in enumerate(source.split("\n")) if number not in markers)

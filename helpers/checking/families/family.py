"""A family, and what its rows are written with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from helpers.checking.examine import Evidence, Outcome
from helpers.checking.exercise import comparable

Look = Callable[[Evidence], str | None]
UNRECOGNISED = "This isn't a mistake we recognise."
"""What is said of an answer that no family and no mistake of the exercise has words for."""


class Fact(str):
    """What was verified, in words, and the sanitizer's finding that it is about."""

    def __new__(cls, words: str, finding: object) -> Fact:
        fact = super().__new__(cls, words)
        fact.finding = finding
        return fact

    finding: object


@dataclass(frozen=True)
class Family:
    """A mistake that any exercise may meet: `look` gives None, or what it has verified, in words ("" for nothing more).

    `teach` is of no answer in particular: it may be told where nothing else may.
    """

    name: str
    look: Look
    teach: str


def failing(evidence: Evidence) -> list[Outcome]:
    """The cases that are wrong."""
    return [outcome for outcome in evidence.outcomes if not outcome.ok]


def with_arrays(evidence: Evidence) -> list[Outcome]:
    """The wrong cases, if each came to its end with an array to compare; else none."""
    found = failing(evidence)
    return found if all(o.error is None and _is_array(o) for o in found) else []


def _is_array(o: Outcome) -> bool:
    return comparable(o.got, o.case.out.expected)


def left(o: Outcome) -> np.ndarray:
    """Which elements are as they were before the kernel ran: never written, as far as one can see, and wrong for it."""
    initial = o.case.out.initial
    return o.untouched if initial is None else o.wrong & np.isclose(o.got, initial, equal_nan=True)


def asked(o: Outcome) -> np.ndarray:
    """Which elements the kernel is to change, as far as their values tell."""
    initial = o.case.out.initial
    if initial is None:
        return np.ones(o.wrong.shape, bool)
    return ~np.isclose(o.case.out.expected, initial, equal_nan=True)


def as_matrices(cases: list[Outcome]) -> Iterator[tuple[str, list[tuple[int, ...]]]]:
    """Ways to see the results as matrices, in words and by their shapes: as they are, or by a size among the arguments
    that divides a flat result into rows."""
    if all(o.wrong.ndim == 2 for o in cases):
        yield "", [o.wrong.shape for o in cases]
    if any(o.wrong.ndim != 1 for o in cases):
        return
    for at in range(len(cases[0].case.arguments)):
        sizes = [(o.wrong.size, o.case.arguments[at]) for o in cases]
        if not all(isinstance(w, int | np.integer) and w > 0 and n % w == 0 for n, w in sizes):
            continue
        if any(1 < w < n for n, w in sizes):
            yield f", where argument {at + 1} is the length of a row", [(n // int(w), int(w)) for n, w in sizes]


def only_left(cases: list[Outcome]) -> bool:
    """Whether all that was written is right."""
    return bool(cases) and all(not (o.wrong & ~left(o)).any() for o in cases)


def close(got: ArrayLike, wanted: ArrayLike) -> np.ndarray:
    """Element by element, to what rounding in float32 makes of it."""
    with np.errstate(all="ignore"):
        return np.isclose(got, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)


def element(index: np.ndarray | tuple[int, ...]) -> str:
    """An element's index as one reads it: 5, or (2, 3)."""
    index = tuple(int(i) for i in np.atleast_1d(index))
    return str(index[0]) if len(index) == 1 else str(index)


def numbers(noun: str, at: np.ndarray) -> str:
    """The first few of some rows or columns: "row 3", or "rows 1, 3, 5, 7, …"."""
    return f"{noun}{'s' * (at.size > 1)} {', '.join(map(str, at[:4]))}{', …' * (at.size > 4)}"


def number(value: float | np.integer | np.floating) -> str:
    """A number with up to six digits."""
    value = float(value)  # a half has no 1e6 to be compared with
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:.6g}"


def threads(o: Outcome) -> int:
    """The threads of the launch."""
    return int(np.prod(o.case.grid) * np.prod(o.case.block))

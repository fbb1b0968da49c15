"""Results of which all that was written is right, and something was not written: which part is it?

`formulas` finds the index that was used, where it is made of blockIdx, threadIdx, blockDim and gridDim.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers.checking.examine import Evidence, Outcome
from helpers.checking.families import formulas
from helpers.checking.families.family import (
    Family,
    Look,
    as_matrices,
    asked,
    element,
    left,
    numbers,
    only_left,
    threads,
    with_arrays,
)


def _partly(evidence: Evidence) -> list[Outcome]:
    """The wrong cases, if in each all that was written is right, and something was written in some case."""
    cases = with_arrays(evidence)
    return cases if only_left(cases) and not _nothing(cases) else []


def _nothing(cases: list[Outcome]) -> bool:
    return bool(cases) and all(left(o)[o.wrong].all() and (left(o) | ~o.wrong).all() and _all_left(o) for o in cases)


def _all_left(o: Outcome) -> bool:
    initial = o.case.out.initial
    return bool(left(o).all()) if initial is None else bool(np.isclose(o.got, initial, equal_nan=True).all())


def _unchanged(evidence: Evidence) -> str | None:
    """Something was stored, and yet an array that held something before is as it was."""
    return _nothing_written(evidence, stored=True)


def _stores(o: Outcome) -> bool:
    counted = None if o.seen is None or o.case.out.initial is None else o.seen.counters
    return counted is not None and counted.footprint.written_bytes > 0


def _nothing_written(evidence: Evidence, stored: bool = False) -> str | None:
    cases = with_arrays(evidence)
    if any(_stores(o) for o in cases) is not stored:
        return None
    if not _nothing(cases) or any(o.error is not None for o in evidence.outcomes):
        return None
    return "" if len(cases) == len(evidence.outcomes) else f"It happens with {cases[0].case.name}."


def _each(test: Callable[[np.ndarray, Outcome], bool], words: Callable[[Outcome], str]) -> Look:
    """A family of flat results: `test(mask, case)` holds for what was left in every wrong case."""

    def look(evidence: Evidence) -> str | None:
        cases = _partly(evidence)
        if not cases or not all(test(left(o), o) for o in cases):
            return None
        return words(cases[0])

    return look


def _run_at_end(mask: np.ndarray, _: object) -> bool:
    flat = mask.ravel()
    return bool(flat[-1]) and not (np.diff(flat.astype(int)) < 0).any()


def _by_formula(evidence: Evidence) -> str | None:
    cases = _partly(evidence)
    found = formulas.of_written(evidence, cases) if cases else None
    return None if found is None else f"The elements that are written are those of the index {found}."


def _rounds(evidence: Evidence) -> str | None:
    """Written are the first elements, the same number for each thread of the launch, in every case that needs more."""
    cases = _partly(evidence) if evidence.exercise.asks_for_a_kernel else []
    firsts = [int(left(o).argmax()) for o in cases]
    shares = {divmod(n, threads(o)) for n, o in zip(firsts, cases, strict=True)}
    if len(cases) < 2 or len(shares) > 1 or not all(_run_at_end(left(o), o) for o in cases):
        return None
    ((each, rest),) = shares
    small = [o for o in evidence.outcomes if o.error is not None or o.wrong.size <= each * threads(o)]
    if rest or not each or not all(o.ok for o in small):
        return None
    o, n = cases[0], firsts[0]
    return f"With {o.case.name}, the first {n:,} elements are written, {each} for each of {threads(o):,} threads."


def _end_words(o: Outcome) -> str:
    flat = left(o).ravel()
    return f"With {o.case.name}, the last {int(flat.sum()):,} of {flat.size:,} elements are left out."


def _last_words(o: Outcome) -> str:
    return f"With {o.case.name}, element {element(np.argwhere(left(o))[-1])} is left out."


def _lines(axis: int, at: int) -> Callable[[np.ndarray, Outcome], bool]:
    """Only the first or last row (axis 0) or column (axis 1) of a matrix is left out."""

    def test(mask: np.ndarray, _: object) -> bool:
        return mask.ndim == 2 and bool(np.take(mask, at, axis).all()) and mask.sum() == np.take(mask, at, axis).size

    return test


def _edge(mask: np.ndarray, _: object) -> bool:
    return mask.ndim == 2 and min(mask.shape) > 2 and not mask[1:-1, 1:-1].any() and bool(mask[0, 0])


def _whole(what: str, axis: int) -> Look:
    """Rows (axis 1) or columns (axis 0) are either written wholly or not at all."""

    def look(evidence: Evidence) -> str | None:
        cases = _partly(evidence)
        for told, shapes in as_matrices(cases) if cases else ():
            masks = [(left(o) & asked(o)).reshape(shape) for o, shape in zip(cases, shapes, strict=True)]
            wholes = [
                (m | ~asked(o).reshape(m.shape)).all(axis, keepdims=True) for o, m in zip(cases, masks, strict=True)
            ]
            if all(
                (m == whole & asked(o).reshape(m.shape)).all() for o, m, whole in zip(cases, masks, wholes, strict=True)
            ):
                lines = np.flatnonzero(masks[0].any(axis))
                verb = "are" if lines.size > 1 else "is"
                return f"With {cases[0].case.name}, {numbers(what, lines)} {verb} left out{told}."
        return None

    return look


def _stride(evidence: Evidence) -> str | None:
    """Which remainder by k all elements have that were written, the same in all cases."""
    cases = _partly(evidence)
    for k in (2, 3, 4, 8, 16, 32, 64):
        remainders = [set((np.flatnonzero(~left(o).ravel()) % k).tolist()) for o in cases]
        if cases and len({frozenset(r) for r in remainders}) == 1 and 0 < len(remainders[0]) < min(k, 3):
            wholly = all(
                (~left(o).ravel() == np.isin(np.arange(left(o).size) % k, list(remainders[0]))).all() for o in cases
            )
            if wholly:
                found = " and ".join(map(str, sorted(remainders[0])))
                return f"Only the elements whose index is {found} modulo {k} are written."
    return None


def _by_sign(evidence: Evidence) -> str | None:
    cases = _partly(evidence)
    signs = set()
    for o in cases:
        given = next((a for a in o.case.arguments if isinstance(a, np.ndarray) and a.shape == o.wrong.shape), None)
        if given is None or given.dtype.kind not in "fi":
            return None
        signs |= set(np.sign(given[left(o)]).tolist())
        if not signs or (np.isin(np.sign(given), list(signs)) != left(o)).any():
            return None
    names = {-1: "negative", 0: "zero", 1: "positive"}
    found = " or ".join(names[s] for s in sorted(signs)) if signs <= names.keys() and len(signs) < 3 else ""
    return f"An element is left out exactly where the input is {found}." if found else None


def _some(evidence: Evidence) -> str | None:
    cases = _partly(evidence)
    if not cases:
        return None
    o = cases[0]
    return (
        f"With {o.case.name}, {int(left(o).sum()):,} of {left(o).size:,} elements are left out; the first is "
        f"{element(np.argwhere(left(o))[0])}."
    )


STOPS = "What is written is right. Does a guard, a loop or a store stop short of the rest?"
FAMILIES = (
    Family("nothing is written yet", _nothing_written, "Every element of the output still has its initial value."),
    Family(
        "the result is as it was before",
        _unchanged,
        "Something is stored, but every element of the output still has its initial value. Is the old value stored "
        "again, or is the new one stored somewhere else?",
    ),
    Family(
        "every block does the work of block 0",
        lambda e: formulas.first_block(e, _partly(e)),
        "threadIdx starts again at 0 in every block. A thread's index in the whole grid is blockIdx.x * blockDim.x + "
        "threadIdx.x (in Numba: cuda.grid(1)).",
    ),
    Family(
        "a fixed number of elements per thread",
        _rounds,
        "What is written is right, but the launch has fewer threads than there are elements. Use a loop in which each "
        "thread goes on by the number of threads in the whole grid, until the end.",
    ),
    Family(
        "the last element is left out",
        _each(lambda mask, _: mask.sum() == 1 and bool(mask.ravel()[-1]), _last_words),
        "Elements are counted from 0 to size - 1. Does a guard, a loop or a division that rounds down stop one element "
        "early?",
    ),
    Family(
        "the first element is left out",
        _each(lambda mask, _: mask.sum() == 1 and bool(mask.ravel()[0]), _last_words),
        "Elements are counted from 0. Does a guard exclude the first one, or does a loop begin after it?",
    ),
    Family("the last row is left out", _each(_lines(0, -1), _last_words), STOPS),
    Family("the last column is left out", _each(_lines(1, -1), _last_words), STOPS),
    Family("the first row is left out", _each(_lines(0, 0), _last_words), STOPS),
    Family("the first column is left out", _each(_lines(1, 0), _last_words), STOPS),
    Family("the edge is left out", _each(_edge, _last_words), STOPS),
    Family(
        "elements are written with gaps",
        _stride,
        "What is written is right, but there are gaps between the elements. Some thread has to fill them.",
    ),
    Family(
        "elements are left out by their sign",
        _by_sign,
        "What is written is right. Whether an element is written depends on the sign of the input.",
    ),
    Family(
        "not all elements are reached",
        _by_formula,
        "What is written is right, but it isn't everything. Is the index too small, is a guard too strict, or is a "
        "loop missing? A thread's index in the grid is blockIdx.x * blockDim.x + threadIdx.x (in Numba: cuda.grid(1)).",
    ),
    Family(
        "whole rows are never written",
        _whole("row", 1),
        "What is written is right, but some rows are never written. Which index, guard or loop stops before them?",
    ),
    Family(
        "whole columns are never written",
        _whole("column", 0),
        "What is written is right, but some columns are never written. Which index, guard or loop stops before them?",
    ),
    Family(
        "the end is not written",
        _each(_run_at_end, _end_words),
        "What is written is right, but the last elements are left out. Does the loop or the guard stop too early, or "
        "is the launch too small?",
    ),
    Family(
        "some elements are never written",
        _some,
        "What is written is right. Which threads should have written the others?",
    ),
)

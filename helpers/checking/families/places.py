"""Wrong results that are no known change of the right one: where they are wrong, or in which cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.checking.examine import Evidence, Outcome
from helpers.checking.families.family import (
    UNRECOGNISED,
    Family,
    Look,
    as_matrices,
    element,
    failing,
    left,
    number,
    numbers,
    threads,
    with_arrays,
)
from vgpu.base.words import plural

Mask = Callable[[Outcome], np.ndarray | None]


def _where(test: Mask, words: str | Callable[[Outcome], str]) -> Look:
    """`test(case)` gives the elements to which what is wrong is confined; they are fewer than all in some case."""

    def look(evidence: Evidence) -> str | None:
        cases = with_arrays(evidence)
        masks = [mask for o in cases if (mask := test(o)) is not None]
        if not cases or len(masks) < len(cases):
            return None
        if any((o.wrong & ~mask).any() for o, mask in zip(cases, masks, strict=True)):
            return None
        if not any((~mask).any() and not o.wrong.all() for o, mask in zip(cases, masks, strict=True)):
            return None
        return words if isinstance(words, str) else words(cases[0])

    return look


def _at(*places: int) -> Mask:
    def mask(o: Outcome) -> np.ndarray:
        found = np.zeros(o.wrong.size, bool)
        found[[p for p in places if -o.wrong.size <= p < o.wrong.size]] = True
        return found.reshape(o.wrong.shape)

    return mask


def _border(o: Outcome) -> np.ndarray | None:
    if o.wrong.ndim != 2 or min(o.wrong.shape) < 3:
        return None if o.wrong.ndim != 2 else np.ones(o.wrong.shape, bool)
    found = np.ones(o.wrong.shape, bool)
    found[1:-1, 1:-1] = False
    return found


def _one_a_thread(o: Outcome) -> bool:
    """Whether the launch is in one direction and has a thread for each element, so that elements belong to blocks."""
    return len(o.case.block) == 1 and threads(o) >= o.wrong.size


def _beyond_first_block(o: Outcome) -> np.ndarray | None:
    if not _one_a_thread(o):
        return None
    return (np.arange(o.wrong.size) >= o.case.block[0]).reshape(o.wrong.shape)


def _ends_of_blocks(o: Outcome) -> np.ndarray | None:
    if not _one_a_thread(o) or o.wrong.ndim > 1:
        return None
    place = np.arange(o.wrong.size) % o.case.block[0]
    return (place == 0) | (place == o.case.block[0] - 1)


def _last_block(o: Outcome) -> np.ndarray | None:
    if not _one_a_thread(o) or o.wrong.ndim > 1:
        return None
    return np.arange(o.wrong.size) >= (o.wrong.size - 1) // o.case.block[0] * o.case.block[0]


def _alike(o: Outcome) -> int:
    """The first argument, counted from 0, that is an array of the result's shape; -1 where there is none."""
    found = (n for n, a in enumerate(o.case.arguments) if isinstance(a, np.ndarray) and a.shape == o.wrong.shape)
    return next(found, -1)


def _by_input(test: Callable[[np.ndarray], np.ndarray], share: float = 0.75) -> Look:
    """`share`: of the elements with such an input so many are wrong; else there is more to it."""

    def mask(o: Outcome) -> np.ndarray | None:
        at = _alike(o)
        if at < 0 or o.case.arguments[at].dtype.kind not in "if":
            return None
        found = test(o.case.arguments[at])
        return found if not found.any() or o.wrong[found].mean() >= share else None

    return _where(mask, lambda o: f"The input is argument {_alike(o) + 1}. This holds in every case.")


def _lines(axis: int, what: str) -> Look:
    """Rows (axis 0) or columns (axis 1) are right to the last element, or wrong for the most part."""

    def look(evidence: Evidence) -> str | None:
        cases = with_arrays(evidence)
        for told, shapes in as_matrices(cases) if cases else ():
            masks = [np.moveaxis(o.wrong.reshape(shape), axis, 0) for o, shape in zip(cases, shapes, strict=True)]
            some = [n for n, mask in enumerate(masks) if min(mask.shape) > 1 and not mask.any(1).all()]
            if some and all(mask[mask.any(1)].mean(1).min() >= 0.5 for mask in masks):
                at = max(some, key=lambda n: masks[n].any(1).sum())
                wrong, right = np.flatnonzero(masks[at].any(1)), np.flatnonzero(~masks[at].any(1))
                few = right.size < wrong.size
                told_of, lines = ("only these are right", right) if few else ("these are wrong", wrong)
                return f"With {cases[at].case.name}, {told_of}: {numbers(what, lines)}{told}."
        return None

    return look


def _remainder(evidence: Evidence) -> str | None:
    """Wrong are elements whose index has one remainder alone, the same in all cases, and most of these."""
    cases = with_arrays(evidence)
    for k in (2, 3, 4, 8, 32) if cases and all(o.wrong.ndim == 1 for o in cases) else ():
        found = {int(n) for o in cases for n in np.flatnonzero(o.wrong) % k}
        (r, *others) = found
        if not others and all(o.wrong[r::k].mean() >= 0.5 for o in cases) and sum(o.wrong.size > k for o in cases) > 1:
            return f"Only elements whose index is {r} modulo {k} are wrong."
    return None


def _up_to(evidence: Evidence) -> str | None:
    """Right is every small case, two at least, and wrong every larger one, two at least."""
    cases = [o for o in evidence.outcomes if o.error is None]
    if not with_arrays(evidence) or len(cases) < len(evidence.outcomes) or not evidence.exercise.asks_for_a_kernel:
        return None
    right, wrong = (sorted((o for o in cases if o.ok is which), key=_size) for which in (True, False))
    if len(right) < 2 or len(wrong) < 2 or _size(right[-1]) >= _size(wrong[0]):
        return None
    o = wrong[0].case
    launch = f"{plural(int(np.prod(o.grid)), 'block')} of {plural(int(np.prod(o.block)), 'thread')}"
    return f"The largest that is right: {right[-1].case.name}. The smallest that is wrong: {o.name}, in {launch}."


def _size(o: Outcome) -> int:
    given = [a.size for a in o.case.arguments if isinstance(a, np.ndarray)]
    return max([o.wrong.size, *given])


def _only_in(which: Callable[[Outcome], bool | np.bool_], words: str) -> Look:
    """Wrong are just the cases for which `which` holds, and others are right, two of either at least."""

    def look(evidence: Evidence) -> str | None:
        if not failing(evidence) or not evidence.exercise.asks_for_a_kernel:
            return None
        just = all(which(o) != o.ok for o in evidence.outcomes)
        seldom = min(sum(o.ok is which for o in evidence.outcomes) for which in (True, False))
        return words + " " + _first(evidence) if just and seldom > 1 else None

    return look


def _first(evidence: Evidence) -> str:
    """The first wrong element, and what it should be."""
    cases = with_arrays(evidence)
    if not cases:
        return ""
    o = cases[0]
    index = tuple(np.argwhere(o.wrong)[0])
    was = "still has its old value" if left(o)[index] and o.case.out.initial is None else f"is {_shown(o.got[index])}"
    return f"With {o.case.name}, element {element(index)} {was} and should be {_shown(o.case.out.expected[index])}."


def _shown(value: Any) -> str:
    return number(value) if np.isrealobj(value) else str(value)


def _too(which: Callable[[np.ndarray, np.ndarray], np.ndarray], words: str) -> Look:
    """In every wrong element the result lies on the same side of the right one."""

    def look(evidence: Evidence) -> str | None:
        cases = with_arrays(evidence)
        if not cases or any(o.got.dtype.kind not in "iuf" or left(o).any() for o in cases):
            return None
        if sum(int(o.wrong.sum()) for o in cases) < 3:  # one or two are so by chance
            return None
        if not all(which(o.got[o.wrong].astype(float), o.case.out.expected[o.wrong]).all() for o in cases):
            return None
        return f"{words} {_first(evidence)}"

    return look


WHERE = "All other elements are right, so the mistake concerns only these."
FAMILIES = (
    Family("only the first element is wrong", _where(_at(0), "This holds in every case."), WHERE),
    Family("only the last element is wrong", _where(_at(-1), "This holds in every case."), WHERE),
    Family("only the ends are wrong", _where(_at(0, -1), "Wrong are the first and the last element."), WHERE),
    Family(
        "whole rows are wrong", _lines(0, "row"), "The other rows are right. What do the wrong ones have in common?"
    ),
    Family(
        "whole columns are wrong",
        _lines(1, "column"),
        "The other columns are right. What do the wrong ones have in common?",
    ),
    Family("wrong at regular intervals", _remainder, "The others are right. What is special about these?"),
    Family("only the edge is wrong", _where(_border, "Wrong are elements of the outermost rows and columns."), WHERE),
    Family(
        "wrong where blocks meet",
        _where(_ends_of_blocks, "Wrong are first or last elements of blocks."),
        "A block's threads have the elements of their block. The elements next to them belong to other blocks.",
    ),
    Family("only the last block is wrong", _where(_last_block, "Wrong are elements of the last block."), WHERE),
    Family(
        "only the first block is right",
        _where(_beyond_first_block, "The first block's elements are right in every case."),
        "Only elements after those of the first block are wrong. Does each index use blockIdx, and does every block "
        "have what it needs?",
    ),
    Family("wrong where the input is negative", _by_input(lambda a: a < 0), WHERE),
    Family("wrong where the input is zero", _by_input(lambda a: a == 0), WHERE),
    Family(
        "wrong where the input has a fraction",
        _by_input(lambda a: a != np.trunc(a), 0.4),
        "Whole numbers come out right. Is a float stored in an integer on the way?",
    ),
    Family("wrong where the input is positive", _by_input(lambda a: a > 0), WHERE),
    Family(
        "wrong with several blocks",
        _only_in(lambda o: np.prod(o.case.grid) > 1, "Right is every launch of one block, wrong every other."),
        "Does something rely on the work of other blocks, or on there being a single block?",
    ),
    Family(
        "wrong where blocks are not full",
        _only_in(
            lambda o: threads(o) != o.case.out.expected.size,
            "Right is every launch with just as many threads as elements, wrong every other.",
        ),
        "There are threads without an element, or with several. What do these do?",
    ),
    Family(
        "right up to a size",
        _up_to,
        "What does a larger case need that a smaller one doesn't: a second iteration, warp or block?",
    ),
    Family(
        "too small wherever it is wrong",
        _too(np.less, "Every wrong element is too small."),
        "Is a part left out, is a step missing, or is a bound wrong?",
    ),
    Family(
        "too large wherever it is wrong",
        _too(np.greater, "Every wrong element is too large."),
        "Is a part added twice, is the initial value wrong, or is a bound?",
    ),
    Family(
        "the result is wrong",
        lambda e: _first(e) if with_arrays(e) else None,
        UNRECOGNISED,
    ),
)

"""Wrong results that are no known change of the right one: where they are wrong, or in which cases."""

from __future__ import annotations

import numpy as np

from helpers.checking.examine import Evidence, Outcome
from helpers.checking.families.family import Family, element, failing, left, number, threads, with_arrays


def _where(test, words):
    """`test(case)` gives the elements to which what is wrong is confined; they are fewer than all in some case."""

    def look(evidence: Evidence) -> str | None:
        cases = with_arrays(evidence)
        masks = [test(o) for o in cases]
        if not cases or any(mask is None for mask in masks):
            return None
        if any((o.wrong & ~mask).any() for o, mask in zip(cases, masks, strict=True)):
            return None
        if not any((~mask).any() and not o.wrong.all() for o, mask in zip(cases, masks, strict=True)):
            return None
        return words if isinstance(words, str) else words(cases[0])

    return look


def _at(*places: int):
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


def _alike(o: Outcome) -> int | None:
    """The first argument, counted from 0, that is an array of the result's shape."""
    found = (n for n, a in enumerate(o.case.arguments) if isinstance(a, np.ndarray) and a.shape == o.wrong.shape)
    return next(found, None)


def _by_input(test):
    def mask(o: Outcome) -> np.ndarray | None:
        at = _alike(o)
        return None if at is None or o.case.arguments[at].dtype.kind not in "if" else test(o.case.arguments[at])

    return _where(mask, lambda o: f"The input is argument {_alike(o) + 1}; it is so in every case.")


def _only_in(which, words: str):
    """Wrong are just the cases for which `which` holds, and others, not by chance a single one, are right."""

    def look(evidence: Evidence) -> str | None:
        if not failing(evidence) or not hasattr(evidence.outcomes[0].case, "out"):
            return None
        try:
            just = all(which(o) != o.ok for o in evidence.outcomes)
        except StopIteration:  # no output to compare with
            return None
        return words + " " + _first(evidence) if just and sum(o.ok for o in evidence.outcomes) > 1 else None

    return look


def _first(evidence: Evidence) -> str:
    """The first wrong element, and what it should be."""
    cases = with_arrays(evidence)
    if not cases:
        return ""
    o = cases[0]
    index = tuple(np.argwhere(o.wrong)[0])
    was = "is as it was before" if left(o)[index] and o.case.out.initial is None else f"is {_shown(o.got[index])}"
    return f"With {o.case.name} element {element(index)} {was}, and should be {_shown(o.case.out.expected[index])}."


def _shown(value) -> str:
    return number(value) if np.isrealobj(value) else str(value)


def _too(which, words: str):
    """In every wrong element the result lies on the same side of the right one."""

    def look(evidence: Evidence) -> str | None:
        cases = with_arrays(evidence)
        if not cases or any(o.got.dtype.kind not in "iuf" or left(o).any() for o in cases):
            return None
        if not all(which(o.got[o.wrong].astype(float), o.case.out.expected[o.wrong]).all() for o in cases):
            return None
        o = max(cases, key=lambda o: o.wrong.sum())
        got, wanted = float(o.got.sum(dtype=float)), float(o.case.out.expected.sum(dtype=float))
        return f"{words} With {o.case.name} all elements together are {number(got)}, and should be {number(wanted)}."

    return look


WHERE = "What stands elsewhere is right: so the mistake concerns these elements only."
FAMILIES = (
    Family("only the first element is wrong", _where(_at(0), "It is so in every case."), WHERE),
    Family("only the last element is wrong", _where(_at(-1), "It is so in every case."), WHERE),
    Family("only the ends are wrong", _where(_at(0, -1), "Wrong are the first and the last element."), WHERE),
    Family("only the edge is wrong", _where(_border, "Wrong are elements of the outermost rows and columns."), WHERE),
    Family(
        "wrong where blocks meet",
        _where(_ends_of_blocks, "Wrong are first or last elements of blocks."),
        "A block's threads know the elements of their block; those next to it belong to another one.",
    ),
    Family("only the last block is wrong", _where(_last_block, "Wrong are elements of the last block."), WHERE),
    Family(
        "only the first block is right",
        _where(_beyond_first_block, "The first block's elements are right in every case."),
        "What depends on the block is wrong: does the index count blockIdx, and is what all blocks need made by all?",
    ),
    Family("wrong where the input is negative", _by_input(lambda a: a < 0), WHERE),
    Family("wrong where the input is zero", _by_input(lambda a: a == 0), WHERE),
    Family("wrong where the input is positive", _by_input(lambda a: a > 0), WHERE),
    Family(
        "wrong with several blocks",
        _only_in(lambda o: np.prod(o.case.grid) > 1, "Right is every launch of one block, wrong every other."),
        "Blocks do not see each other's work: what they make has to be put together.",
    ),
    Family(
        "wrong where blocks are not full",
        _only_in(
            lambda o: threads(o) != o.case.out.expected.size,
            "Right is every launch with just as many threads as elements, wrong every other.",
        ),
        "The last block may have threads without an element, which count as little as they write.",
    ),
    Family(
        "too small wherever it is wrong",
        _too(np.less, "Every wrong element is too small."),
        "Perhaps a part is missing there: left out, or lost because two threads stored at once.",
    ),
    Family(
        "too great wherever it is wrong",
        _too(np.greater, "Every wrong element is too great."),
        "Perhaps something is there that does not belong there: a part that came twice, or something to begin with.",
    ),
    Family(
        "the result is wrong",
        lambda e: _first(e) if with_arrays(e) else None,
        "It is none of the common mistakes; this is what was seen.",
    ),
)

"""What tells some mistakes of lab 03 apart: which elements were written, and what numbers came out."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.exercises import lab03_cases as cases


def all_there(evidence) -> bool:
    """Each result has the elements that it should have, in other places."""
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(
        o.got is not None and np.array_equal(np.sort(o.got, axis=None), np.sort(o.case.out.expected, axis=None))
        for o in seen
    )


def window_off(evidence) -> bool:
    """Most of what is inside is what belongs to one neighbour, always the same."""
    steps = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
    large = [o for o in evidence.outcomes if not o.ok and o.got is not None and min(o.got.shape) > 8]
    return bool(large) and any(all(moved(o.got, o.case.out.expected, step) > 0.8 for o in large) for step in steps)


def moved(got: np.ndarray, expected: np.ndarray, step: tuple[int, int]) -> float:
    """The part of the elements inside that are what should be one step away."""
    return float(np.mean(got[1:-1, 1:-1] == np.roll(expected, (-step[0], -step[1]), (0, 1))[1:-1, 1:-1]))


def edge_wrong(evidence) -> bool:
    """What is wrong lies in the first and last two rows and columns only, and some of it is less than it should be."""
    seen = [o for o in evidence.outcomes if not o.ok]
    return bool(seen) and all(
        o.got is not None and not o.wrong[2:-2, 2:-2].any() and (o.got < o.case.out.expected).any() for o in seen
    )


def too_few_neighbours(evidence) -> bool:
    """Nowhere less than the element itself, nowhere more than the greatest of nine."""
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(
        o.got is not None and ((o.case.arguments[0] <= o.got) & (o.got <= o.case.out.expected)).all() for o in seen
    )


def only_part_tiles_wrong(evidence) -> bool:
    """Wrong wherever the columns leave a part of a tile behind whole ones, right where they leave none."""
    seen = [(outcome, outcome.case.arguments[0].shape[1]) for outcome in evidence.outcomes]
    whole = [outcome.ok for outcome, columns in seen if columns % 16 == 0]
    parts = [outcome for outcome, columns in seen if columns % 16 and columns > 16]
    return all(whole) and bool(parts) and all(outcome.got is not None and not outcome.ok for outcome in parts)


def filled_twice(evidence) -> bool:
    """Two threads write one element of shared memory in one and the same line."""
    return any(
        finding.kind == "race_write_write" and finding.space == "shared" and finding.other_line in (None, finding.line)
        for finding in evidence.findings
    )


def number_outside(evidence) -> bool:
    """What lies outside counts as some number, always the same one."""
    large = [o.got[o.wrong] for o in evidence.outcomes if not o.ok and o.got is not None]
    if not large or not np.isfinite(large[0]).all():
        return False
    return known.gives(lambda case: cases.pooled(case.arguments[0], float(large[0][0])))(evidence)


def whole_numbers(evidence) -> bool:
    """All that comes out are whole numbers, near what should be, which has fractions."""
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(
        o.got is not None and not o.untouched.any() and (np.trunc(o.got) == o.got).all() for o in seen
    )


def rows_left_out(evidence) -> bool:
    """Some rows were not written at all, and the others wholly; all that is written is right."""
    seen = [o.untouched for o in evidence.outcomes if o.untouched is not None]
    return known.partly_written(evidence) and all((each.all(axis=1) | ~each.any(axis=1)).all() for each in seen)


def over_the_first(evidence) -> bool:
    """Of rows longer than a tile only the first tile's columns were written."""
    long = [o.untouched for o in evidence.outcomes if o.untouched is not None and o.untouched.shape[1] > cases.TILE]
    short = [o for o in evidence.outcomes if o.case.out.expected.shape[1] <= cases.TILE]
    wrong = [o for o in evidence.outcomes if not o.ok and not o.only_untouched]
    return (
        bool(long)
        and bool(wrong)
        and all(o.ok for o in short)
        and all(each[:, cases.TILE :].all() and not each[:, : cases.TILE].any() for each in long)
    )

"""What tells some mistakes of lab 01 apart: which elements were written, and what numbers came out."""

from __future__ import annotations

import re

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case
from helpers.exercises.lab01_cases import MOST_BLOCKS, WARP, blocks_of, each_with, of_two

# -- steps ------------------------------------------------------------------------------------------------------------


def first_only(evidence) -> bool:
    """Of several elements the first one alone was written."""
    seen = [o.untouched for o in evidence.outcomes if o.untouched is not None]
    only = known.untouched_somewhere(evidence) and all(not each[0] and each[1:].all() for each in seen)
    return only and not evidence.findings


def counted_otherwise(evidence) -> bool:
    """Written is what one of some wrong formulas for the place in the grid reaches, and that is right."""

    def left(case: Case, place) -> np.ndarray:
        block, thread = np.arange(case.grid[0])[:, None], np.arange(case.block[0])
        return ~np.isin(np.arange(case.out.expected.size), place(block, thread, case.block[0]))

    places = (
        lambda block, thread, size: thread * size + block,
        lambda block, thread, size: block + thread,
        lambda block, thread, size: block * thread,
        lambda block, thread, size: block + 0 * thread,
    )
    return known.untouched_somewhere(evidence) and any(
        all((left(o.case, place) == o.untouched).all() for o in evidence.outcomes) for place in places
    )


def _before(x: np.ndarray, by: int = 1) -> np.ndarray:
    """The elements so many places before, and 0 where there is none."""
    return np.concatenate((np.zeros(by, x.dtype), x))[: x.size]


def _by_one_of(result, *formulas):
    """In every case the result is `result(case, formula)` for one and the same of these formulas."""
    return lambda evidence: any(
        known.gives(lambda case, formula=formula: result(case, formula))(evidence) for formula in formulas
    )


of_two_steps = _by_one_of(
    lambda case, formula: formula(case.arguments[0]),
    lambda x: x - _before(x, 2),
    lambda x: np.append(x, np.float32(0))[1:] - _before(x),
)
steps_in_whole_numbers = _by_one_of(
    lambda case, formula: formula(case.arguments[0]),
    lambda x: np.trunc(x - _before(x)),
    lambda x: x - np.trunc(_before(x)),
    lambda x: np.trunc(x) - np.trunc(_before(x)),
)

# -- mirror -----------------------------------------------------------------------------------------------------------


def stored_in_x(evidence) -> bool:
    """Nothing is written, and what the sanitizer has found is a store to x."""
    lines = [line or "" for f in evidence.findings for line in (f.source, f.other_source)]
    return known.nothing_written(evidence) and any(re.match(r"\s*x\s*\[.*\]\s*=[^=]", line) for line in lines)


def one_half(evidence) -> bool:
    """Columns of one half, or the one in the middle, were left out; all that is written is right."""

    def parts(columns: int) -> tuple:
        place, half = np.arange(columns), columns // 2
        middle = (place == half) & (columns % 2 == 1)
        return place >= half, place < columns - half, (place >= half) & ~middle, (place < half), middle

    seen = [(o.untouched, parts(o.untouched.shape[1])) for o in evidence.outcomes if o.untouched is not None]
    return known.untouched_somewhere(evidence) and any(
        all((untouched == left[way]).all() for untouched, left in seen) for way in range(5)
    )


def placed_otherwise(evidence) -> bool:
    """Written is what one of some wrong formulas for the place in the grid reaches, and that is right."""

    def reached(size: int, grid: int, step: int, threads: int) -> np.ndarray:
        places = np.arange(grid)[:, None] * step + np.arange(threads)
        return np.isin(np.arange(size), places)

    def left(case: Case, way) -> np.ndarray:
        (rows, columns), (across, down), (wide, tall) = case.out.expected.shape, case.grid, case.block
        along, below = way(across, down, wide, tall)
        return ~(reached(rows, *below)[:, None] & reached(columns, *along))

    ways = (  # blocks, how far they are apart, and threads; along the columns, and down the rows
        lambda across, down, wide, tall: ((across, wide, tall), (down, tall, wide)),
        lambda across, down, wide, tall: ((across, tall, wide), (down, wide, tall)),
        lambda across, down, wide, tall: ((across, wide, wide), (down, 1, 1)),
        lambda across, down, wide, tall: ((across, wide, wide), (1, 1, tall)),
        lambda across, down, wide, tall: ((1, 1, wide), (down, tall, tall)),
        lambda across, down, wide, tall: ((across, 1, 1), (down, tall, tall)),
        lambda across, down, wide, tall: ((across, 1, wide), (down, 1, tall)),
    )

    def in_a_row(case: Case) -> np.ndarray:  # as many of all elements as the grid has threads in x
        return (np.arange(case.out.expected.size) >= case.grid[0] * case.block[0]).reshape(case.out.expected.shape)

    return known.untouched_somewhere(evidence) and (
        any(all((left(o.case, way) == o.untouched).all() for o in evidence.outcomes) for way in ways)
        or all((in_a_row(o.case) == o.untouched).all() for o in evidence.outcomes)
    )


# -- configure --------------------------------------------------------------------------------------------------------


def too_wide(evidence) -> bool:
    return any(x > WARP for (x, _), _ in blocks_of(evidence))


def one_block(evidence) -> bool:
    """Every image has the same block."""
    return len({pair for pair, _ in blocks_of(evidence)}) == 1


def grid_of_another_block(evidence, fewest: int = 1) -> bool:
    """The blocks are right, and the grids are whole numbers, of `fewest` or more, some of them others."""
    seen = blocks_of(evidence)
    grids = [o.got[0] for o in evidence.outcomes if of_two(o.got)]
    return (
        len(seen) == len(evidence.outcomes)
        and all(pair == case.expected[1] for pair, case in seen)
        and all(of_two(grid) and all(type(n) is int and n >= fewest for n in grid) for grid in grids)
    )


def limited_otherwise(evidence) -> bool:
    """The same, and grids are others for images of very many rows only; a remainder may be 0."""
    wrong = [o for o in evidence.outcomes if not o.ok]
    return grid_of_another_block(evidence, fewest=0) and all(o.case.arguments[0] > MOST_BLOCKS for o in wrong)


# -- normalise --------------------------------------------------------------------------------------------------------


of_another_formula = _by_one_of(
    each_with,
    lambda x, mean, scale: x - mean,
    lambda x, mean, scale: x * scale,
    lambda x, mean, scale: (mean - x) * scale,
    lambda x, mean, scale: (x + mean) * scale,
    lambda x, mean, scale: (x - mean) / scale,
    lambda x, mean, scale: x * scale - mean,
    lambda x, mean, scale: x * scale + mean,
)
in_whole_numbers = _by_one_of(
    each_with,
    lambda x, mean, scale: np.trunc((x - mean) * scale),
    lambda x, mean, scale: np.trunc(x - mean) * scale,
    lambda x, mean, scale: (np.trunc(x) - mean) * scale,
    lambda x, mean, scale: (x - np.trunc(mean)) * scale,
    lambda x, mean, scale: (x - mean) * np.trunc(scale),
    lambda x, mean, scale: (x - np.trunc(mean)) * np.trunc(scale),
)


def steps_too_far(evidence) -> bool:
    """Every thread has its first element, and rounds are left out; all that is written is right."""
    seen = [(o.untouched, o.case.grid[0] * o.case.block[0]) for o in evidence.outcomes if o.untouched is not None]
    return (
        known.untouched_somewhere(evidence)
        and not any(untouched[:threads].any() for untouched, threads in seen)
        and any(untouched[: untouched.size // threads * threads].any() for untouched, threads in seen)
    )


def first_plane_or_image(evidence) -> bool:
    """Written is the first plane, or the first image, and that is right."""

    def left(o, pixels: int) -> np.ndarray:
        return np.arange(o.untouched.size) >= pixels

    return known.untouched_somewhere(evidence) and (
        all((left(o, o.case.arguments[5]) == o.untouched).all() for o in evidence.outcomes)
        or all((left(o, o.case.arguments[4] * o.case.arguments[5]) == o.untouched).all() for o in evidence.outcomes)
    )

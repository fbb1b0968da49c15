"""Launches of lab 06, drawn or chosen, and what comes out of each when something is mixed up."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.vgpu.base.errors import OutOfBounds

BLOCK, TILE = 128, 1024
ROUNDS = 24


def seeds(dice: np.random.Generator, count: int) -> list[int]:
    return [int(seed) for seed in dice.integers(1, 10**6, count)]


def _outside(words: str):
    """Some thread reached past an array, and the message has these words."""
    return lambda e: any(isinstance(o.error, OutOfBounds) and words in str(o.error) for o in e.outcomes)


read_outside, wrote_outside = _outside(" read "), _outside(" wrote ")
before_the_start = _outside("before its start")


def outside_where_all_threads_have_work(evidence) -> bool:
    """Some thread reached past an array in a case of whole blocks, where a guard makes no difference."""
    return any(isinstance(o.error, OutOfBounds) and o.case.arguments[0].size % BLOCK == 0 for o in evidence.outcomes)


# -- which bucket


def buckets_case(n: int, edges: int, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    limits = np.sort(numbers(edges, seed=edges + (seed or n)))
    wanted = Out(np.searchsorted(limits, x, side="right").astype(np.int32))
    name = f"{plural(n, 'element')}, {plural(edges, 'edge')}"
    return Case(name, (x, limits, wanted, np.int32(n), np.int32(edges)), (cover(n, BLOCK),), (BLOCK,))


def buckets_drawn(dice: np.random.Generator) -> list[Case]:
    shapes = [dice.integers(2, 40, 2), dice.integers(40, 90, 2), (dice.integers(130, 400), 2)]
    shapes += [(dice.integers(1500, 2500), dice.integers(24, 40))]
    return [buckets_case(*map(int, shape), seed) for shape, seed in zip(shapes, seeds(dice, 4), strict=True)]


def edges_below(case: Case) -> np.ndarray:
    x, limits = case.arguments[:2]
    return np.searchsorted(limits, x, side="left")


def buckets_of_whole_numbers(case: Case) -> np.ndarray:
    x, limits = case.arguments[:2]
    return np.searchsorted(limits, np.trunc(x), side="right")


# -- two results of each element


def roles_case(n: int, rounds: int = 8, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    arguments = (x, Out(both_roles(x, rounds)), np.int32(rounds))
    # As many blocks for each role, so that a role may as well have whole blocks.
    return Case(f"{plural(n, 'element')}, {plural(rounds, 'round')}", arguments, (2 * cover(n, BLOCK),), (BLOCK,))


def both_roles(x: np.ndarray, rounds: int) -> np.ndarray:
    slow, fast = x.astype(np.float64), x.astype(np.float64)
    for _ in range(3 * rounds):
        slow = 0.75 * slow + 1
    for _ in range(rounds):
        fast = 0.5 * fast - x
    return np.stack([slow, fast]).astype(np.float32)


def roles_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [*dice.integers(2, 300, 3), dice.integers(1400, 2100)]
    return [
        roles_case(int(n), int(dice.integers(3, 9)) if n < 1000 else ROUNDS, seed)
        for n, seed in zip(sizes, seeds(dice, 4), strict=True)
    ]


def roles_swapped(case: Case) -> np.ndarray:
    return case.out.expected[::-1]


OTHER_LENGTHS = (
    *((lambda rounds, k=k: k * rounds, lambda rounds: rounds) for k in (1, 2, 4)),
    *((lambda rounds, k=k: 3 * rounds + k, lambda rounds: rounds) for k in (-1, 1)),
    *((lambda rounds: 3 * rounds, lambda rounds, k=k: k * rounds) for k in (2, 3)),
    *((lambda rounds: 3 * rounds, lambda rounds, k=k: rounds + k) for k in (-1, 1)),
    (lambda rounds: 3 + rounds, lambda rounds: rounds),
    (lambda rounds: rounds, lambda rounds: 3 * rounds),
)
"""Rounds of the long series and of the short one, as they come of a slip; the last: each has the other's."""


def roles_of_lengths(long, short, of_long: float = 0.75, of_short: float = 0.5):
    """What comes out with other numbers of rounds, or with other factors."""

    def wrong(case: Case) -> np.ndarray:
        x, rounds = case.arguments[0].astype(np.float64), int(case.arguments[2])
        slow, fast = x, x
        for _ in range(long(rounds)):
            slow = of_long * slow + 1
        for _ in range(short(rounds)):
            fast = of_short * fast - x
        return np.stack([slow, fast])

    return wrong


def short_series_without_x(case: Case) -> np.ndarray:
    """The short series subtracts v from its half."""
    x, rounds = case.arguments[0], int(case.arguments[2])
    return np.stack([case.out.expected[0], x * (-0.5) ** rounds])


def roles_added(case: Case) -> np.ndarray:
    """x is added in the short series, so that it comes out with the other sign, but for what is left of the start."""
    x, rounds = case.arguments[0].astype(np.float64), int(case.arguments[2])
    fast = x.copy()
    for _ in range(rounds):
        fast = 0.5 * fast + x
    return np.stack([case.out.expected[0], fast])


def _on_from_the_long_series(case: Case) -> np.ndarray:
    x, rounds = case.arguments[0].astype(np.float64), int(case.arguments[2])
    fast = case.out.expected[0].astype(np.float64)
    for _ in range(rounds):
        fast = 0.5 * fast - x
    return fast


def long_series_goes_on(case: Case) -> np.ndarray:
    return np.stack([_on_from_the_long_series(case), case.out.expected[1]])


def short_series_begins_late(case: Case) -> np.ndarray:
    return np.stack([case.out.expected[0], _on_from_the_long_series(case)])


def one_role_only(evidence) -> bool:
    """One of the two results was never written."""
    seen = [o.untouched for o in evidence.outcomes if o.untouched is not None]
    return bool(seen) and all((u[0].all() != u[1].all()) for u in seen)


# -- a costly path for few


def refine_case(n: int, limit: float = 6.5, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    arguments = (x, Out(refined(x, x > limit)), np.int32(n), np.float32(limit))
    name = f"{plural(n, 'element')}, {(x > limit).sum():,} of them above {limit:g}"
    return Case(name, arguments, (cover(n, TILE),), (BLOCK,))


def refined(x: np.ndarray, which: np.ndarray) -> np.ndarray:
    v = x.astype(np.float64)
    for _ in range(32):
        v = 0.9 * v + 0.25
    return np.where(which, v, x).astype(np.float32)


def refines_drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [(dice.integers(2, 100), 0), (dice.integers(300, 1000), -9), (dice.integers(1100, 2100), 7.75)]
    drawn += [(dice.integers(3500, 6000), dice.choice([6.25, 6.5, 6.75]))]
    return [refine_case(int(n), float(limit), seed) for (n, limit), seed in zip(drawn, seeds(dice, 4), strict=True)]


def all_refined(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return refined(x, np.ones(x.size, bool))


def none_refined(case: Case) -> np.ndarray:
    return case.arguments[0]


def below_refined(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return refined(x, x < case.arguments[3])


def up_to_limit_refined(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return refined(x, x <= case.arguments[3])


def refined_whole_numbers(case: Case) -> np.ndarray:
    """Each element is cut to a whole number before it is looked at; what is costly may be loaded anew."""
    x = case.arguments[0]
    return np.where(np.trunc(x) > case.arguments[3], refined(x, np.ones(x.size, bool)), np.trunc(x))


def index_refined(case: Case) -> np.ndarray:
    """Above the limit, what costly makes of the index."""
    x = case.arguments[0]
    refined_indices = refined(np.arange(x.size, dtype=np.float32), np.ones(x.size, bool))
    return np.where(x > case.arguments[3], refined_indices, x)


def stored_by_place(evidence) -> bool:
    """In every case each tile begins with the results of its list, in any order."""
    seen = [(o.case.arguments[0], o.case.arguments[3], o.case.out.expected, o.got) for o in evidence.outcomes]
    if any(o.error is not None for o in evidence.outcomes) or all(o.ok for o in evidence.outcomes):
        return False
    return all(
        np.allclose(np.sort(wanted[above]), np.sort(got[: above.sum()]), rtol=1e-4)
        for x, limit, out, found in seen
        for first in range(0, x.size, TILE)
        for above, wanted, got in [(x[first:][:TILE] > limit, out[first:][:TILE], found[first:][:TILE])]
    )


def no_costly_written(evidence) -> bool:
    """Exactly what is above the limit was never written."""
    seen = [(o.untouched, o.case.arguments[0] > o.case.arguments[3]) for o in evidence.outcomes]
    return any(not o.ok for o in evidence.outcomes) and all(u is not None and (u == above).all() for u, above in seen)


def only_cheap_written(evidence) -> bool:
    """What was never written is, of each tile, some of what is above the limit."""
    seen = [(o.untouched, o.case.arguments[0] > o.case.arguments[3]) for o in evidence.outcomes if not o.ok]
    return bool(seen) and all(u is not None and u.any() and not (u & ~above).any() for u, above in seen)


def only_costly_written(evidence) -> bool:
    seen = [(o.untouched, o.case.arguments[0] > o.case.arguments[3]) for o in evidence.outcomes if not o.ok]
    return bool(seen) and all(u is not None and (u == ~above).all() for u, above in seen)


# -- each value as often as its count says


def repeat_case(rows: int, seed: int = 0, longest: int = 60) -> Case:
    dice = np.random.default_rng(seed or rows)
    counts = np.minimum(dice.geometric(0.12, rows) - 1, longest)
    counts[rows // 3] = longest  # one that all others wait for
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    value = (np.arange(rows) % 97 - 31 + dice.integers(0, 5, rows) / 8).astype(np.float32)
    wanted = np.repeat(value, counts)
    grid = (cover(max(rows, wanted.size), BLOCK),)
    name = f"{plural(rows, 'row')}, {plural(wanted.size, 'result')}"
    return Case(name, (value, first, Out(wanted)), grid, (BLOCK,))


def repeats_drawn(dice: np.random.Generator) -> list[Case]:
    rows = [2, *dice.integers(3, 120, 2), dice.integers(300, 500)]
    longest = (*dice.integers(5, 300, 3), dice.integers(100, 140))
    return [repeat_case(int(n), seed, int(k)) for n, seed, k in zip(rows, seeds(dice, 4), longest, strict=True)]


def row_before(case: Case) -> np.ndarray:
    """The first result of each row taken for the row before."""
    value, first, out = case.arguments
    row = np.maximum(np.searchsorted(first, np.arange(out.expected.size), side="left") - 1, 0)
    return value[row]


def row_before_or_last(case: Case) -> np.ndarray:
    """The same, and before the first row index -1 leads to the last one."""
    value, first, out = case.arguments
    return value[np.searchsorted(first, np.arange(out.expected.size), side="left") - 1]


def last_row_missed(case: Case) -> np.ndarray:
    """The search goes on among all rows but the last one."""
    value, first, out = case.arguments
    row = np.searchsorted(first[:-2], np.arange(out.expected.size), side="right") - 1
    return value[np.maximum(row, 0)]


def empty_rows_too(case: Case) -> np.ndarray:
    """Of several rows that begin at one place the first one, which is empty."""
    value, first, out = case.arguments
    place = np.arange(out.expected.size)
    row = np.searchsorted(first, place, side="right") - 1
    return value[np.searchsorted(first, first[row], side="left")]


def _rows(case: Case) -> np.ndarray:
    """The row of each result."""
    return np.searchsorted(case.arguments[1], np.arange(case.out.expected.size), side="right") - 1


def rows_behind(evidence) -> bool:
    """Every result has the value of its row or of the one behind, and some have that of the one behind."""
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(
        o.error is None
        and not o.untouched.any()
        and (
            (o.got == (value := o.case.arguments[0])[row := _rows(o.case)])
            | (o.got == value[np.minimum(row + 1, value.size - 1)])
        ).all()
        for o in seen
    )


def value_of_result(evidence) -> bool:
    """The first results are the values of all rows, one of each."""
    seen = [(o.got, o.case.arguments[0]) for o in evidence.outcomes if o.error is None]
    return (
        len(seen) == len(evidence.outcomes)
        and any(not o.ok for o in evidence.outcomes)
        and all((got[: value.size] == value[: got.size]).all() for got, value in seen)
    )


def only_firsts_written(evidence) -> bool:
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(
        o.error is None and (np.flatnonzero(~o.untouched) == np.unique(o.case.arguments[1][_rows(o.case)])).all()
        if o.untouched is not None and (~o.untouched).sum() == np.unique(_rows(o.case)).size
        else False
        for o in seen
    )

"""Launches of lab 05, drawn or chosen, and what comes out of each when a step is left out."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.vgpu.base.errors import OutOfBounds

WARP, ROWS, BLOCK = 32, 4, 256
NOT_WRITTEN = -9

# -- the sum of an array, whatever the launch


def total_case(n: int, blocks: int, threads: int, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    name = f"{plural(n, 'element')}, {plural(blocks, 'block')} of {threads}"
    wanted = Out(np.array([x.sum()], np.float32), initial=np.zeros(1, np.float32))
    return Case(name, (x, wanted, np.int32(n)), (blocks,), (threads,))


def totals_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (1, 2),
        *((int(n), int(b)) for n, b in zip(dice.integers(2, 3000, 2), dice.integers(1, 6, 2), strict=True)),
    ]
    cases = [total_case(n, b, WARP * int(dice.integers(1, 33)), int(dice.integers(1, 10**6))) for n, b in sizes]
    # Counted with whole warps for each block, so that a block may as well have elements that lie side by side: else its
    # warps would begin within a sector.
    blocks, warps, rounds = (int(dice.integers(*band)) for band in ((6, 11), (3, 6), (24, 36)))
    counted = total_case(blocks * WARP * rounds, blocks, WARP * warps, int(dice.integers(1, 10**6)))
    return [*cases, counted]


def sum_of(which):
    """What comes out when only elements for whose thread `which(thread, threads)` holds are added."""

    def wrong(case: Case) -> np.ndarray:
        x, threads = case.arguments[0], case.block[0]
        return np.array([x[which(np.arange(x.size), threads, case.grid[0])].sum()])

    return wrong


def times_threads(case: Case) -> np.ndarray:
    """Every thread of a block adds what the block has found."""
    return case.out.expected * case.block[0]


def lane_0_by_32(case: Case) -> np.ndarray:
    """Lane 0 is its own left neighbour, so that it adds itself at each of five steps."""
    return WARP * sum_of(lambda i, threads, blocks: i % WARP == 0)(case)


def first_warp_twice(case: Case) -> np.ndarray:
    return case.out.expected + sum_of(lambda i, threads, blocks: i % threads < WARP)(case)


def blocks_overlap(case: Case) -> np.ndarray:
    """Each block goes on by its own threads, and so meets what other blocks have."""
    x, threads, blocks = case.arguments[0], case.block[0], case.grid[0]
    return np.array([(x * np.minimum(np.arange(x.size) // threads + 1, blocks)).sum()])


def in_whole_numbers(case: Case) -> np.ndarray:
    """Each thread's sum is cut to a whole number whenever something is added."""
    x, threads = case.arguments[0], case.block[0] * case.grid[0]
    sums = np.zeros(threads)
    for first in range(0, x.size, threads):
        part = x[first : first + threads]
        sums[: part.size] = np.trunc(sums[: part.size] + part)
    return np.array([sums.sum()])


def outside(name: str):
    """Some thread reached past the array that the kernel calls by this name."""
    return lambda e: any(isinstance(o.error, OutOfBounds) and f"`{name}" in str(o.error) for o in e.outcomes)


# -- log of a sum of exponentials, a warp for each row


def rows_case(rows: int, n: int, seed: int = 0) -> Case:
    x = numbers((rows, n), seed=seed or n) + np.float32(200) * (np.arange(rows) % 3 - 1).astype(np.float32)[:, None]
    x[1::4, n // 2] += 150  # so far above the rest that nothing else may be taken out
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}"
    return Case(name, (x, Out(log_sum_exp(x))), (cover(rows, ROWS),), (ROWS * WARP,))


def log_sum_exp(x: np.ndarray) -> np.ndarray:
    most = x.max(axis=1).astype(np.float64)
    return (most + np.log(np.exp(x - most[:, None]).sum(axis=1))).astype(np.float32)


def without_maximum(case: Case) -> np.ndarray:
    return case.out.expected - case.arguments[0].max(axis=1)


def maximum_from_zero(case: Case) -> np.ndarray:
    """Each lane's greatest begins at 0, which is more than all elements of some rows."""
    x = case.arguments[0]
    most = np.maximum(x.max(axis=1), 0)
    with np.errstate(divide="ignore", under="ignore"):
        return most + np.log(np.exp(x - most[:, None], dtype=np.float32).sum(axis=1))


def sum_from_one(case: Case) -> np.ndarray:
    """Each lane begins with the row's first element, and counts it."""
    x = case.arguments[0]
    return log_sum_exp(np.hstack([x, np.repeat(x[:, :1], WARP, axis=1)]))


def quarter_rows(case: Case) -> np.ndarray:
    """A warp walks its row with the stride of the block, from its own place in the block."""
    x = case.arguments[0]
    found = np.full(len(x), -np.inf)
    for row in range(len(x)):
        columns = np.arange(x.shape[1]) // WARP % ROWS == row % ROWS
        if columns.any():
            found[row] = log_sum_exp(x[row : row + 1, columns])[0]
    return found


def lanes_join(step):
    """One pass from the row's first element on, where `step(m, d, v)` takes an element in; then the lanes join."""

    def wrong(case: Case) -> np.ndarray:
        x = case.arguments[0]
        m, d = np.repeat(x[:, :1], WARP, axis=1), np.zeros((len(x), WARP), np.float32)
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):  # as in floats of a GPU
            for first in range(0, x.shape[1], WARP):
                v = x[:, first : first + WARP]
                lanes = np.s_[:, : v.shape[1]]
                m[lanes], d[lanes] = step(m[lanes], d[lanes], v)
            most = m.max(axis=1)
            return most + np.log((d * np.exp(m - most[:, None])).sum(axis=1))

    return wrong


def never_scaled(m, d, v):
    big = np.maximum(m, v)
    return big, d + np.exp(v - big)


def scaled_backwards(m, d, v):
    big = np.maximum(m, v)
    return big, d * np.exp(big - m) + np.exp(v - big)


def maximum_not_kept(m, d, v):
    big = np.maximum(m, v)
    return m, d * np.exp(m - big) + np.exp(v - big)


def rows_drawn(dice: np.random.Generator) -> list[Case]:
    seeds = dice.integers(1, 10**6, 4)
    sizes = [(1, int(dice.integers(2, 32))), (int(dice.integers(5, 12)), int(dice.integers(33, 200))), (3, 32)]
    cases = [rows_case(*size, seed=int(seed)) for size, seed in zip(sizes, seeds, strict=False)]
    # Whole rounds of a warp in the case that is counted: where lanes end in different rounds, a compiler that unrolls
    # their loop shifts some of them, and sectors are loaded again for it.
    return [*cases, rows_case(int(dice.integers(5, 9)), WARP * int(dice.integers(20, 30)), int(seeds[-1]))]


def not_scaled(first: bool):
    """Each lane's sum belongs to the lane's own greatest, found from the row's `first` element on or from its own; here
    the sums are added as they are."""

    def wrong(case: Case) -> np.ndarray:
        x = case.arguments[0].astype(np.float64)
        most = x.max(axis=1)
        sums = np.zeros(len(x))
        for lane in range(min(WARP, x.shape[1])):
            own = x[:, lane::WARP]
            seen = np.hstack([x[:, :1], own]) if first else own
            sums += np.exp(own - seen.max(axis=1, keepdims=True)).sum(axis=1)
        return most + np.log(sums)

    return wrong


# -- the last reading, carried forward


def fill_case(rows: int, n: int, seed: int = 0, readings: float = 0.2) -> Case:
    dice = np.random.default_rng(seed or n)
    x = np.where(dice.random((rows, n)) < readings, dice.integers(0, 40, (rows, n)), -1).astype(np.int32)
    x[0] = np.where(np.arange(n) == n // 9, 7, -1)  # one reading, then none any more
    if rows > 1:
        x[1, 0], x[1, n // 2] = 5, 0
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}"
    # Bytes 0xFF would be -1, which is also what an element without a reading before it must hold.
    wanted = Out(filled(x), initial=np.full(x.shape, NOT_WRITTEN, np.int32))
    return Case(name, (x, wanted, np.int32(n)), (rows,), (BLOCK,))


def filled(x: np.ndarray, none=-1) -> np.ndarray:
    """Each gap (below zero) takes the last reading before it in its row."""
    last = np.maximum.accumulate(np.where(x >= 0, np.arange(x.shape[1]), -1), axis=1)
    return np.where(last >= 0, np.take_along_axis(x, np.maximum(last, 0), axis=1), none).astype(np.int32)


def fills_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (2, int(dice.integers(2, 32))),
        (3, int(dice.integers(33, 128))),
        (4, int(dice.integers(129, 256))),
        (int(dice.integers(5, 12)), 8 * int(dice.integers(28, 1 + BLOCK // 8))),  # rows that begin at a sector
    ]
    return [fill_case(*size, int(dice.integers(1, 10**6)), dice.uniform(0.02, 0.3)) for size in sizes]


def each_warp_filled(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return np.hstack([filled(x[:, first : first + WARP]) for first in range(0, x.shape[1], WARP)])


def neighbour_filled(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return np.where(x >= 0, x, np.hstack([x[:, :1], x[:, :-1]]))


def first_reading(case: Case) -> np.ndarray:
    """What comes out when of two readings the earlier one is kept."""
    x = case.arguments[0]
    first = np.where((x >= 0).any(axis=1), np.argmax(x >= 0, axis=1), x.shape[1])
    return np.where(np.arange(x.shape[1]) >= first[:, None], x[np.arange(len(x)), first % x.shape[1]][:, None], -1)


def first_of_warps(case: Case) -> np.ndarray:
    """Of the warps before, the one furthest back that has a reading is asked first."""
    x = case.arguments[0]
    found = each_warp_filled(case)
    ends = found[:, WARP - 1 :: WARP]
    for warp in range(1, cover(x.shape[1], WARP)):
        before = ends[:, :warp]
        first = before[np.arange(len(x)), np.argmax(before >= 0, axis=1)]
        part = found[:, warp * WARP : (warp + 1) * WARP]
        part[...] = np.where(part >= 0, part, first[:, None])
    return found


def nearest_warp_only(case: Case) -> np.ndarray:
    """A gap asks the warp just before its own, and nobody else."""
    found = each_warp_filled(case)
    wanted = found.copy()
    for first in range(WARP, found.shape[1], WARP):
        part, left = wanted[:, first : first + WARP], found[:, first - 1 : first]
        part[...] = np.where(part >= 0, part, left)
    return wanted


def gaps_not_written(case: Case) -> np.ndarray:
    """Only readings are stored."""
    x = case.arguments[0]
    return np.where(x >= 0, x, NOT_WRITTEN)


def open_gaps_not_written(case: Case) -> np.ndarray:
    """Gaps are filled, and those that no reading precedes are not stored."""
    return np.where(case.out.expected >= 0, case.out.expected, NOT_WRITTEN)


def half_a_scan(case: Case) -> np.ndarray:
    """The last of the five steps within a warp is missing."""
    x = case.arguments[0]
    found = np.hstack([reached_back(x[:, first : first + WARP], WARP // 2) for first in range(0, x.shape[1], WARP)])
    ends = found[:, WARP - 1 :: WARP]
    for warp in range(1, cover(x.shape[1], WARP)):
        left = filled(ends[:, :warp])[:, -1:]
        part = found[:, warp * WARP : (warp + 1) * WARP]
        part[...] = np.where(part >= 0, part, left)
    return found


def reached_back(x: np.ndarray, most: int) -> np.ndarray:
    """Each gap takes the last of the `most` elements up to it that is a reading."""
    found = x.copy()
    for back in range(1, most):
        behind = np.hstack([np.full((len(x), min(back, x.shape[1])), -1, x.dtype), x[:, :-back]])
        found = np.where(found >= 0, found, behind[:, : x.shape[1]])
    return found


def zero_is_a_gap(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return filled(np.where(x > 0, x, -1))


# -- keep what is positive, in order


def compact_case(n: int, seed: int = 0, share: float = 0.5) -> Case:
    dice = np.random.default_rng(seed or n)
    x = np.where(dice.random(n) < share, 1, -1) * np.abs(numbers(n, seed=seed or n))
    x = x.astype(np.float32)
    x[3::11] = 0
    return Case(plural(n, "element"), (x, Out(kept(x), initial=np.zeros(n, np.float32))), (1,), (BLOCK,))


def kept(x: np.ndarray) -> np.ndarray:
    found = np.zeros_like(x)
    found[: (x > 0).sum()] = x[x > 0]
    return found


def compacts_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        int(dice.integers(2, 32)),
        int(dice.integers(33, 256)),
        int(dice.integers(257, 600)),
        int(dice.integers(2000, 4000)),
    ]
    return [compact_case(n, int(dice.integers(1, 10**6)), dice.uniform(0.4, 0.7)) for n in sizes]


def chunks_overwrite(case: Case) -> np.ndarray:
    x = case.arguments[0]
    found = np.zeros_like(x)
    for first in range(0, x.size, BLOCK):
        part = x[first : first + BLOCK]
        found[: (part > 0).sum()] = part[part > 0]
    return found


def one_place_on(case: Case) -> np.ndarray:
    """Each place counts the element itself, so that out[0] stays empty; the last place may lie past the end."""
    found = np.zeros_like(case.arguments[0])
    found[1:] = case.out.expected[:-1]
    return found


def whole_rounds_only(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return np.pad(kept(whole := x[: x.size // BLOCK * BLOCK]), (0, x.size - whole.size))


def zeros_kept(case: Case) -> np.ndarray:
    x = case.arguments[0]
    found = np.zeros_like(x)
    found[: (x >= 0).sum()] = x[x >= 0]
    return found

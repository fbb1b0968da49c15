"""Launches of lab 05, drawn or chosen, and what comes out of each when a step is left out."""

from __future__ import annotations

import numpy as np

from helpers.exercises import Case, Out, cover, numbers, plural

WARP, ROWS, BLOCK = 32, 4, 256

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
    return [*cases, total_case(int(dice.integers(6000, 9000)), 4, 256, int(dice.integers(1, 10**6)))]


def sum_of(which):
    """What comes out when only elements for whose thread `which(thread, threads)` holds are added."""

    def wrong(case: Case) -> np.ndarray:
        x, threads = case.arguments[0], case.block[0]
        return np.array([x[which(np.arange(x.size), threads, case.grid[0])].sum()])

    return wrong


# -- log of a sum of exponentials, a warp for each row


def rows_case(rows: int, n: int, seed: int = 0) -> Case:
    x = numbers((rows, n), seed=seed or n) + np.float32(200) * (np.arange(rows) % 3 - 1).astype(np.float32)[:, None]
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}"
    return Case(name, (x, Out(log_sum_exp(x))), (cover(rows, ROWS),), (ROWS * WARP,))


def log_sum_exp(x: np.ndarray) -> np.ndarray:
    most = x.max(axis=1).astype(np.float64)
    return (most + np.log(np.exp(x - most[:, None]).sum(axis=1))).astype(np.float32)


def rows_drawn(dice: np.random.Generator) -> list[Case]:
    seeds = dice.integers(1, 10**6, 4)
    sizes = [(1, int(dice.integers(2, 32))), (int(dice.integers(5, 12)), int(dice.integers(33, 200))), (3, 32)]
    cases = [rows_case(*size, seed=int(seed)) for size, seed in zip(sizes, seeds, strict=False)]
    return [*cases, rows_case(int(dice.integers(5, 9)), 8 * int(dice.integers(80, 120)), int(seeds[-1]))]


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
    return Case(name, (x, Out(filled(x)), np.int32(n)), (rows,), (BLOCK,))


def filled(x: np.ndarray, none=-1) -> np.ndarray:
    """Each gap (below zero) takes the last reading before it in its row."""
    last = np.maximum.accumulate(np.where(x >= 0, np.arange(x.shape[1]), -1), axis=1)
    return np.where(last >= 0, np.take_along_axis(x, np.maximum(last, 0), axis=1), none).astype(np.int32)


def fills_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (2, int(dice.integers(2, 32))),
        (3, int(dice.integers(33, 128))),
        (4, int(dice.integers(129, 256))),
        (6, BLOCK),
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


def zeros_kept(case: Case) -> np.ndarray:
    x = case.arguments[0]
    found = np.zeros_like(x)
    found[: (x >= 0).sum()] = x[x >= 0]
    return found

"""Launches of lab 04, drawn or chosen, and what comes out of each when a step is left out."""

from __future__ import annotations

import numpy as np

from helpers.exercises import Case, Out, plural

BLOCK, BLOCKS, WARP, BINS = 128, 4, 32, 64
ROWS_A_BLOCK = 4  # of the case that is counted


# -- each row above its least


def lower_case(rows: int, n: int, blocks: int = 2, seed: int = 0, lift: int = 0) -> Case:
    x = np.random.default_rng(seed or n).integers(-99, 100, (rows, n), np.int32)
    x += (lift + 300 * (np.arange(rows) % 3 - 1)).astype(np.int32)[:, None]
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}, {plural(blocks, 'block')}"
    return Case(name, (x, Out(x - x.min(axis=1, keepdims=True))), (blocks,), (BLOCK,))


def lowers_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(1, int(dice.integers(2, 128)), 1), (int(dice.integers(3, 9)), int(dice.integers(129, 400)), 2)]
    blocks = int(dice.integers(2, 4))
    sizes.append((ROWS_A_BLOCK * blocks, 8 * int(dice.integers(60, 90)), blocks))
    return [lower_case(*size, int(dice.integers(1, 10**6)), int(dice.integers(-500, 500))) for size in sizes]


def from_zero(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return x - np.minimum(x.min(axis=1, keepdims=True), 0)


def never_set_again(case: Case) -> np.ndarray:
    """A block's least is the least of all rows that it has had."""
    x, blocks = case.arguments[0], case.grid[0]
    least = x.min(axis=1, keepdims=True)
    for block in range(blocks):
        least[block::blocks] = np.minimum.accumulate(least[block::blocks])
    return x - least


# -- each block's share of the whole


def shares_case(n: int, blocks: int, seed: int = 0) -> Case:
    x = np.random.default_rng(seed or n).integers(1, 10, n, np.int32)
    wanted = (_parts(x, blocks) / x.sum()).astype(np.float32)
    arguments = (x, np.zeros(blocks, np.int32), np.zeros(1, np.int32), Out(wanted), np.int32(n))
    return Case(f"{plural(n, 'element')}, {plural(blocks, 'block')}", arguments, (blocks,), (BLOCK,))


def shares_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(int(dice.integers(2, 128)), 1), (int(dice.integers(300, 900)), int(dice.integers(2, 4)))]
    sizes.append((int(dice.integers(7000, 9000)), int(dice.integers(4, 9))))
    return [shares_case(*size, int(dice.integers(1, 10**6))) for size in sizes]


def _parts(x: np.ndarray, blocks: int) -> np.ndarray:
    owner = np.arange(x.size) // BLOCK % blocks
    return np.bincount(owner, weights=x, minlength=blocks)


# -- how often each byte occurs


def bytes_case(n: int, seed: int = 0, hot: float = 0.0) -> Case:
    """`n` words of four bytes, of which a fraction `hot` is one value."""
    dice = np.random.default_rng(seed or n)
    values = np.where(dice.random(4 * n) < hot, dice.integers(0, 256), dice.integers(0, 256, 4 * n)).astype(np.uint8)
    wanted = Out(np.bincount(values, minlength=256).astype(np.int32), initial=np.zeros(256, np.int32))
    name = f"{plural(n, 'word')}" + (f", {100 * hot:.0f} % of one value" if hot else "")
    return Case(name, (values.view(np.uint32), wanted, np.int32(n)), (BLOCKS,), (BLOCK,))


def bytes_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (int(dice.integers(2, 64)), 0.0),
        (int(dice.integers(513, 900)), 0.5),
        (int(dice.integers(2000, 3000)), 0.9),
    ]
    return [bytes_case(n, int(dice.integers(1, 10**6)), hot) for n, hot in sizes]


def counted(values: np.ndarray) -> np.ndarray:
    return np.bincount(values, minlength=256)


# -- the most frequent value


def mode_case(n: int, seed: int = 0, hot: float = 0.0) -> Case:
    dice = np.random.default_rng(seed or n)
    values = np.where(dice.random(n) < hot, dice.integers(0, BINS), dice.integers(0, BINS, n)).astype(np.int32)
    if not hot and n > 1:  # two values are the most frequent ones
        first, second = np.sort(dice.choice(BINS, 2, replace=False))
        extra = [np.full(often(values).max() + 1 - often(values)[value], value, np.int32) for value in (second, first)]
        values = np.concatenate([values, *extra])
    name = plural(values.size, "value") + (", one of them in most places" if hot else "")
    arguments = (
        values,
        np.zeros((BLOCKS, BINS), np.int32),
        np.zeros(1, np.int32),
        Out(np.array([often(values).argmax()], np.int32)),
    )
    return Case(name, arguments, (BLOCKS,), (BLOCK,))


def modes_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (1, 0.0),
        (int(dice.integers(2, 97)), 0.0),
        (int(dice.integers(600, 999)), 0.0),
        (int(dice.integers(4000, 6000)), 0.6),
    ]
    return [mode_case(n, int(dice.integers(1, 10**6)), hot) for n, hot in sizes]


def often(values: np.ndarray) -> np.ndarray:
    return np.bincount(values, minlength=BINS)

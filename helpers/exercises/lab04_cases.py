"""Launches of lab 04, drawn or chosen, and what comes out of each when a step is left out."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case, Out, plural

BLOCK, BLOCKS, WARP, BINS, BYTES = 128, 4, 32, 64, 256
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


def each_its_own(case: Case) -> np.ndarray:
    """What comes out when each thread subtracts the least of its own elements."""
    x, found = case.arguments[0], np.empty_like(case.arguments[0])
    for thread in range(min(BLOCK, x.shape[1])):
        mine = x[:, thread::BLOCK]
        found[:, thread::BLOCK] = mine - mine.min(axis=1, keepdims=True)
    return found


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
    sizes = [(int(dice.integers(2, 128)), 1), (int(dice.integers(2, 128)), int(dice.integers(2, 5)))]
    sizes.append((int(dice.integers(300, 900)), int(dice.integers(2, 4))))
    sizes.append((int(dice.integers(7000, 9000)), int(dice.integers(4, 9))))
    return [shares_case(*size, int(dice.integers(1, 10**6))) for size in sizes]


def _parts(x: np.ndarray, blocks: int) -> np.ndarray:
    owner = np.arange(x.size) // BLOCK % blocks
    return np.bincount(owner, weights=x, minlength=blocks)


def other_quotient(evidence) -> bool:
    """The parts are right, and the shares are another quotient of them than that by the total."""

    def parts(case: Case) -> tuple[np.ndarray, int, int]:
        x, blocks = case.arguments[0], case.grid[0]
        return _parts(x, blocks), x.sum(), x.size

    quotients = (
        lambda part, total, n: part,
        lambda part, total, n: 100 * part / total,
        lambda part, total, n: part / n,
        lambda part, total, n: total / part,
        lambda part, total, n: part / (total - part[-1]),
        lambda part, total, n: part / part.max(),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return any(
            known.gives(lambda case, quotient=quotient: quotient(*parts(case)))(evidence) for quotient in quotients
        )


def parts_of_thread_0(case: Case) -> np.ndarray:
    """The shares when a block's part is the sum of its first thread."""
    x, blocks = case.arguments[0], case.grid[0]
    alone = _parts(np.where(np.arange(x.size) % BLOCK == 0, x, 0), blocks)
    return alone / alone.sum()


def block_by_block(case: Case) -> np.ndarray:
    """The shares when each block has elements in a row."""
    x, blocks = case.arguments[0], case.grid[0]
    each = -(-x.size // blocks)
    return np.array([x[b * each : (b + 1) * each].sum() for b in range(blocks)]) / x.sum()


def steps_of_a_block(case: Case) -> np.ndarray:
    """The shares when blocks begin at their own elements and go on in steps of one block."""
    tails = np.array([case.arguments[0][b * BLOCK :].sum() for b in range(case.grid[0])])
    return tails / max(1, tails.sum())


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


def mode_case(n: int, seed: int = 0, hot: float = 0.0, best: int | None = None, with_last: bool = False) -> Case:
    """About `n` values: one occurs once more than another, `best`, or two equally often, of which one may be the last.

    `hot` of all are these two.
    """
    dice = np.random.default_rng(seed or n)
    values, name = dice.integers(0, BINS, n).astype(np.int32), ""
    if n > 1:
        first, second = np.sort(dice.choice(BINS, 2, replace=False)) if best is None else (best, (best + 32) % BINS)
        if with_last:
            first, second = min(first, BINS - 2), BINS - 1
        values = np.where(dice.random(n) < hot, np.where(dice.random(n) < 0.5, first, second), values).astype(np.int32)
        most = often(values).max() + 1
        wanted = ((second, most), (first, most if best is None else most + 1))
        extra = [np.full(count - often(values)[value], value, np.int32) for value, count in wanted]
        values, name = np.concatenate([values, *extra]), ", two of them in most places" if hot else ""
    arguments = (
        values,
        np.zeros((BLOCKS, BINS), np.int32),
        np.zeros(1, np.int32),
        Out(np.array([often(values).argmax()], np.int32)),
    )
    return Case(plural(values.size, "value") + name, arguments, (BLOCKS,), (BLOCK,))


def modes_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (1, 0.0, None),
        (int(dice.integers(2, 97)), 0.0, None),
        (int(dice.integers(2, 97)), 0.0, BINS - 1),
        (int(dice.integers(600, 999)), 0.0, 0),
        (int(dice.integers(1500, 2500)), 0.6, None),
        (int(dice.integers(4000, 6000)), 0.6, int(dice.integers(0, BINS))),
    ]
    drawn = [mode_case(n, int(dice.integers(1, 10**6)), hot, best) for n, hot, best in sizes]
    return [mode_case(int(dice.integers(98, 400)), int(dice.integers(1, 10**6)), with_last=True), *drawn]


def often(values: np.ndarray) -> np.ndarray:
    return np.bincount(values, minlength=BINS)


def last_block_twice(case: Case) -> list[int]:
    """What comes out when the last block adds all parts to its own counts."""
    values = case.arguments[0]
    own = values[np.arange(values.size) // BLOCK % BLOCKS == BLOCKS - 1]
    return [int((often(values) + often(own)).argmax())]


def mode_among(bins: slice):
    """What comes out when only these bins are looked at."""

    def wrong(case: Case) -> list[int]:
        counts = np.full(BINS, -1)
        counts[bins] = often(case.arguments[0])[bins]
        return [int(counts.argmax())]

    return wrong

"""Launches of lab 02, drawn or chosen, and what comes out of each when something is mixed up."""

from __future__ import annotations

import re

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.vgpu.base.errors import OutOfBounds

BLOCK, WARP = 128, 32
TILE = (32, 8)
UNTOUCHED = np.float32(-7)
VOCABULARY = 120


def seeds(dice: np.random.Generator, count: int) -> list[int]:
    return [int(seed) for seed in dice.integers(1, 10**6, count)]


# -- records of four floats, taken apart into planes


def planes_case(n: int, seed: int = 0) -> Case:
    records = numbers((n, 4), seed=seed or n)
    arguments = (records.ravel(), Out(records.T.ravel().copy()), np.int32(n))
    return Case(plural(n, "record"), arguments, (cover(n, BLOCK),), (BLOCK,))


def planes_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [*dice.integers(2, 400, 3), 8 * dice.integers(120, 200)]
    return [planes_case(int(n), seed) for n, seed in zip(sizes, seeds(dice, 4), strict=True)]


def only_beyond_the_end(evidence) -> bool:
    """Some thread left its array, never where every thread has a record, and all else is right."""
    whole = [o for o in evidence.outcomes if int(o.case.arguments[2]) % BLOCK == 0]
    left = [o for o in evidence.outcomes if isinstance(o.error, OutOfBounds)]
    return bool(left) and not set(left) & set(whole) and all(o.ok for o in evidence.outcomes if o not in left)


def of_block_0_in_planes(evidence) -> bool:
    """Written in each plane is what block 0 looks after, and that is right."""
    return known.untouched_somewhere(evidence) and all(
        ((np.arange(o.untouched.size) % (o.untouched.size // 4) >= BLOCK) == o.untouched).all()
        for o in evidence.outcomes
    )


# -- heads first instead of tokens first


def heads_case(tokens: int, heads: int, size: int, seed: int = 0) -> Case:
    x = numbers((tokens, heads, size), seed=seed or tokens)
    name = f"{plural(tokens, 'token')} × {plural(heads, 'head')} × {size}"
    return Case(name, (x, Out(x.swapaxes(0, 1).copy())), (cover(x.size, BLOCK),), (BLOCK,))


def heads_drawn(dice: np.random.Generator) -> list[Case]:
    shapes = [dice.integers(2, 9, 3), dice.integers(3, 14, 3), (dice.integers(33, 60), 1, 5)]
    shapes += [(dice.integers(20, 36), dice.integers(3, 7), 8 * dice.integers(5, 9))]
    return [heads_case(*map(int, shape), seed) for shape, seed in zip(shapes, seeds(dice, 4), strict=True)]


def as_it_lies(case: Case) -> np.ndarray:
    """The elements in the order of the input."""
    return case.arguments[0].reshape(case.out.expected.shape)


# -- rows with a pitch, halved


def shrink_case(rows: int, columns: int, seed: int = 0) -> Case:
    pitch, out_pitch = 8 * cover(columns, 8) + 8, 8 * cover(columns // 2, 8)
    x = np.full((rows, pitch), np.nan, np.float32)  # what lies behind a row is not of the image
    x[:, :columns] = numbers((rows, columns), seed=seed or rows)
    initial = np.full((rows, out_pitch), UNTOUCHED)
    half = columns // 2
    wanted = initial.copy()
    wanted[:, :half] = (x[:, 0 : 2 * half : 2] + x[:, 1 : 2 * half : 2]) / 2
    sizes = map(np.int32, (rows, columns, pitch, out_pitch))
    longest = max(rows, half)  # so that both ways of using x and y reach every element
    grid = (cover(longest, TILE[0]), cover(longest, TILE[1]))
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}, pitch {pitch}"
    return Case(name, (x.ravel(), Out(wanted.ravel(), initial.ravel()), *sizes), grid, TILE)


def shrinks_drawn(dice: np.random.Generator) -> list[Case]:
    shapes = [(1, dice.integers(3, 60)), (dice.integers(3, 9), dice.integers(60, 100)), (dice.integers(40, 70), 5)]
    shapes += [(dice.integers(24, 40), dice.integers(130, 250))]
    return [shrink_case(*map(int, shape), seed) for shape, seed in zip(shapes, seeds(dice, 4), strict=True)]


def no_pitch(case: Case) -> np.ndarray:
    """The image read as if its rows lay side by side without padding, and stored where it belongs."""
    x, _, rows, columns, _, out_pitch = case.arguments
    tight = x[: rows * columns].reshape(rows, columns)
    wrong = case.out.initial.reshape(rows, out_pitch).copy()
    half = columns // 2
    wrong[:, :half] = (tight[:, 0 : 2 * half : 2] + tight[:, 1 : 2 * half : 2]) / 2
    return wrong.ravel()


def times(factor: float):
    """The sum of each pair, so many times half of it."""

    def wrong(case: Case) -> np.ndarray:
        out = case.out.expected.copy()
        padding_of(case, out)[...] = np.nan
        scaled = np.where(np.isnan(out), case.out.initial, out * factor)
        return scaled.astype(np.float32)

    return wrong


def overlapping(case: Case) -> np.ndarray:
    """Each element and the one behind it, for a pair."""
    x, _, rows, columns, pitch, out_pitch = case.arguments
    image, half = x.reshape(rows, pitch), columns // 2
    wrong = case.out.initial.reshape(rows, out_pitch).copy()
    wrong[:, :half] = (image[:, :half] + image[:, 1 : half + 1]) / 2
    return wrong.ravel()


def left_a_row(evidence) -> bool:
    """Some thread left an image of one row and one pair, or a thread of another row one that has one row."""
    left = [(o.case.arguments, str(o.error)) for o in evidence.outcomes if isinstance(o.error, OutOfBounds)]
    return any(
        int(rows) == 1 and (int(columns) == 2 or re.search(r"thread \(\d+, [1-9]\d*\)", words))
        for (_, _, rows, columns, *_), words in left
    )


def some_as_before(evidence) -> bool:
    """What is wrong is as it was before the kernel ran, and not all of it."""
    wrong = [o for o in evidence.outcomes if not o.ok]
    return bool(wrong) and all(o.error is None and (o.got == o.case.out.initial)[o.wrong].all() for o in wrong)


def padding_of(case: Case, got: np.ndarray) -> np.ndarray:
    """What stands behind the rows of the result."""
    rows, columns, out_pitch = (int(case.arguments[at]) for at in (2, 3, 5))
    return got.reshape(rows, out_pitch)[:, columns // 2 :]


def padding_written(evidence) -> bool:
    """The image is right, and something was stored behind its rows."""
    wrong = [o for o in evidence.outcomes if not o.ok and isinstance(o.got, np.ndarray)]
    return bool(wrong) and all(o.wrong.sum() == padding_of(o.case, o.wrong).sum() for o in wrong)


def first_row_right(evidence) -> bool:
    """Images of several rows are wrong, and their first row is right."""
    wrong = [
        (o.wrong, o.case.arguments[3] // 2, o.case.arguments[5])
        for o in evidence.outcomes
        if not o.ok and o.wrong is not None
    ]
    return bool(wrong) and all(each.size > pitch and not each[:half].any() for each, half, pitch in wrong)


# -- rows of a table, by tokens


def embed_case(tokens: int, width: int, blocks: int, threads: int, seed: int = 0) -> Case:
    dice = np.random.default_rng(seed or tokens)
    token = dice.integers(0, VOCABULARY, tokens).astype(np.int32)
    token[tokens // 2 :: 7] = -1
    table = numbers((VOCABULARY, width), seed=seed or width)
    wanted = Out(looked_up(token, table).ravel())
    name = f"{plural(tokens, 'token')} × {width}, {plural(blocks, 'block')} of {threads}"
    return Case(name, (token, table.ravel(), wanted, np.int32(tokens), np.int32(width)), (blocks,), (threads,))


def looked_up(token: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Rows of the table, and zeros where there is no token."""
    return np.where(token[:, None] < 0, np.float32(0), table[token])


def embeds_drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [(int(dice.integers(70, 120)), 4 * int(dice.integers(2, 6)))]
    drawn += [(int(dice.integers(2, 20)), 4 * int(dice.integers(2, 20))) for _ in range(2)]
    drawn += [(int(dice.integers(40, 70)), 256)]
    launches = [(1, WARP * int(dice.integers(1, 3)))]
    launches += [(int(dice.integers(1, 5)), WARP * int(dice.integers(1, 6))) for _ in range(2)]
    launches += [(int(dice.integers(10, 15)), 64)]
    return [
        embed_case(*each, *launch, seed) for each, launch, seed in zip(drawn, launches, seeds(dice, 4), strict=True)
    ]


def row_of_place(case: Case) -> np.ndarray:
    """The rows of the table in their order, whatever the tokens; zeros where there is none."""
    token, table, _, tokens, width = case.arguments
    rows = table.reshape(-1, width)[np.arange(tokens) % VOCABULARY]
    return np.where(token[:, None] < 0, np.float32(0), rows).ravel()


def first_row_for_none(case: Case) -> np.ndarray:
    token, table, _, _, width = case.arguments
    return looked_up(np.maximum(token, 0), table.reshape(-1, width)).ravel()


def none_for_the_first(case: Case) -> np.ndarray:
    token, table, _, _, width = case.arguments
    return looked_up(np.where(token == 0, -1, token), table.reshape(-1, width)).ravel()


def row_by_floats(case: Case) -> np.ndarray:
    """The token of piece i is number i / width."""
    token, table, _, tokens, width = case.arguments
    each = int(width) // 4
    piece = np.arange(tokens * each)
    row = token[piece // width]
    return np.where(row[:, None] < 0, np.float32(0), table.reshape(-1, each, 4)[row, piece % each]).ravel()


def of_block_0_in_rounds(evidence) -> bool:
    """Written is what block 0 looks after in the grid's loop over pieces of 16 bytes, and that is right."""
    seen = [(o.untouched, o.case.block[0], o.case.grid[0]) for o in evidence.outcomes if o.untouched is not None]
    return known.untouched_somewhere(evidence) and all(
        ((np.arange(untouched.size) // 4 % (threads * blocks) >= threads) == untouched).all()
        for untouched, threads, blocks in seen
    )


FAR = re.compile(r"`table\[-|\[\d{9,}")


def negative_read(evidence) -> bool:
    """Some thread read before the table's first row, or as far behind it as -1 is without a sign."""
    return any(isinstance(o.error, OutOfBounds) and FAR.search(str(o.error)) for o in evidence.outcomes)


def none_left_alone(evidence) -> bool:
    """What was never written is what belongs to negative tokens."""
    seen = [(o.untouched, np.repeat(o.case.arguments[0] < 0, o.case.arguments[4])) for o in evidence.outcomes]
    return known.untouched_somewhere(evidence) and all((untouched == none).all() for untouched, none in seen)

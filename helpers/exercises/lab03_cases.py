"""Launches of lab 03, drawn or chosen, and what comes out of each when a step is left out."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.exercises.ch05_cases import area

TILE, THIN, WARP, SIDE = 32, (32, 8), 32, 16
SHAPES = ((1, 1), (1, 70), (70, 1), (13, 37), (64, 32), (33, 95))


def _shapes_drawn(dice: np.random.Generator) -> list[tuple[int, int]]:
    """A row, a column, an odd shape, and one whose rows begin at a sector, which is counted."""
    odd = [(1, int(dice.integers(2, 100))), (int(dice.integers(2, 100)), 1), tuple(map(int, dice.integers(5, 80, 2)))]
    return [*odd, (8 * int(dice.integers(8, 13)), 8 * int(dice.integers(13, 20)))]


# -- a picture, a quarter turn


def rotate_case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows)
    arguments = (x, Out(np.rot90(x, -1).copy()), np.int32(rows), np.int32(columns))
    return Case(area(rows, columns), arguments, (cover(columns, TILE), cover(rows, TILE)), THIN)


def rotates_drawn(dice: np.random.Generator) -> list[Case]:
    return [rotate_case(*shape, int(dice.integers(1, 10**6))) for shape in _shapes_drawn(dice)]


def tiles_not_turned(case: Case) -> np.ndarray:
    """What comes out of whole tiles when each goes to its place and only its columns are turned round."""
    x = case.arguments[0]
    tiles = x.reshape(x.shape[0] // TILE, TILE, x.shape[1] // TILE, TILE)
    return tiles[::-1, :, :, ::-1].transpose(2, 1, 0, 3).reshape(x.shape[::-1])


# -- the greatest of nine neighbours


def pool_case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows)
    x = x - np.float32(9) if (rows + columns) % 2 else x  # then all of them are below zero
    grid = (cover(columns, THIN[0]), cover(rows, THIN[1]))
    return Case(area(rows, columns), (x, Out(pooled(x))), grid, THIN)


def pools_drawn(dice: np.random.Generator) -> list[Case]:
    return [pool_case(*shape, int(dice.integers(1, 10**6))) for shape in _shapes_drawn(dice)]


def pooled(x: np.ndarray, outside: float = -np.inf, corners: bool = True) -> np.ndarray:
    rows, columns = x.shape
    return _greatest(np.pad(x, 1, constant_values=outside), rows, columns, corners)


def pooled_round(case: Case) -> np.ndarray:
    """What comes out when row -1 and column -1 are the last ones."""
    x = case.arguments[0]
    return _greatest(np.pad(np.pad(x, ((1, 0), (1, 0)), "wrap"), ((0, 1), (0, 1)), "edge"), *x.shape)


def _greatest(padded: np.ndarray, rows: int, columns: int, corners: bool = True) -> np.ndarray:
    steps = [(r, c) for r in range(3) for c in range(3) if corners or 1 in (r, c)]
    return np.max([padded[r : r + rows, c : c + columns] for r, c in steps], axis=0).astype(np.float32)


def pooled_in_blocks(case: Case) -> np.ndarray:
    """What comes out when a block sees its own elements only."""
    x = case.arguments[0]
    found = np.empty_like(x)
    for top in range(0, x.shape[0], THIN[1]):
        for left in range(0, x.shape[1], THIN[0]):
            part = np.s_[top : top + THIN[1], left : left + THIN[0]]
            found[part] = pooled(x[part])
    return found


# -- an average that follows its row


def follow_case(rows: int, n: int, seed: int = 0, weight: float | None = None) -> Case:
    x = numbers((rows, n), seed=seed or n)
    weight = np.float32(weight or (0.5 if n % 2 else 0.25))
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}"
    return Case(name, (x, Out(followed(x, weight)), np.int32(rows), np.int32(n), weight), (cover(rows, WARP),), (WARP,))


def follows_drawn(dice: np.random.Generator) -> list[Case]:
    return [
        follow_case(*shape, int(dice.integers(1, 10**6)), int(dice.choice([1, 3, 5, 7])) / 8)
        for shape in _shapes_drawn(dice)
    ]


def series(case: Case) -> tuple[np.ndarray, float]:
    """What is averaged, and with which weight."""
    return case.arguments[0], float(case.arguments[4])


def followed(x: np.ndarray, weight: float, from_zero: bool = False) -> np.ndarray:
    found, now = np.empty(x.shape), np.zeros(len(x)) if from_zero else x[:, 0].astype(float)
    for column in range(x.shape[1]):
        now = now + float(weight) * (x[:, column] - now)
        found[:, column] = now
    return found.astype(np.float32)


def first_tile_again(case: Case) -> np.ndarray:
    """What comes out when every tile is loaded from the row's first columns."""
    x, weight = series(case)
    return followed(x[:, np.arange(x.shape[1]) % TILE], weight)


def follows_anew(from_zero: bool):
    """What comes out when each tile of 32 columns begins anew."""

    def wrong(case: Case) -> np.ndarray:
        x, weight = series(case)
        return np.hstack([followed(x[:, k : k + TILE], weight, from_zero) for k in range(0, x.shape[1], TILE)])

    return wrong


def follows_skipping(place: str):
    """What comes out when the "first" or "last" column of each tile stays as it was."""

    def wrong(case: Case) -> np.ndarray:
        (x, weight), n = series(case), case.arguments[0].shape[1]
        firsts = range(0, n, TILE)
        skipped = set(firsts) if place == "first" else {min(first + TILE, n) - 1 for first in firsts}
        kept = [column for column in range(n) if column not in skipped]
        found = x.copy()
        if kept:
            begun = np.hstack([x[:, :1], x[:, kept]])  # the average begins at the first element, skipped or not
            found[:, kept] = followed(begun, weight)[:, 1:]
        return found

    return wrong


# -- every row times every row


def gram_case(n: int, k: int, seed: int = 0) -> Case:
    a = numbers((n, k), seed=seed or n + k)
    blocks = cover(n, TILE)
    return Case(f"{plural(n, 'row')} of {plural(k, 'element')}", (a, Out(a @ a.T)), (blocks, blocks), (SIDE, SIDE))


def grams_drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 40))), (int(dice.integers(2, 60)), 1), tuple(map(int, dice.integers(17, 50, 2)))]
    shapes = [*odd, (TILE * int(dice.integers(2, 4)), TILE * int(dice.integers(1, 4)))]
    return [gram_case(*shape, int(dice.integers(1, 10**6))) for shape in shapes]


def last_tile_dropped(step: int):
    """What comes out when only whole tiles of `step` columns are added up."""

    def wrong(case: Case) -> np.ndarray:
        a = case.arguments[0]
        whole = a[:, : a.shape[1] // step * step]
        return whole @ whole.T

    return wrong


def last_column_dropped(step: int):
    """What comes out when a column that has a tile of `step` columns to itself is dropped."""

    def wrong(case: Case) -> np.ndarray:
        a = case.arguments[0]
        kept = a[:, : cover(a.shape[1] - 1, step) * step]
        return kept @ kept.T

    return wrong


def one_side_for_both(side: int):
    """What comes out when each block multiplies the rows of its own row, or column, of blocks with themselves."""

    def wrong(case: Case) -> np.ndarray:
        a = case.arguments[0]
        place = np.indices((len(a), len(a)))
        rows, columns = (place[side] // TILE * TILE + place[axis] % TILE for axis in (0, 1))
        padded = np.pad(a, ((0, TILE), (0, 0)))
        return (padded @ padded.T)[rows, columns]

    return wrong


def blocks_exchanged(case: Case) -> np.ndarray:
    """What comes out when each block stores what belongs to its mirror image, as it stands."""
    a = case.arguments[0]
    place = np.indices((len(a), len(a)))
    rows, columns = (place[1 - axis] // TILE * TILE + place[axis] % TILE for axis in (0, 1))
    padded = np.pad(a, ((0, TILE), (0, 0)))
    return (padded @ padded.T)[rows, columns]


def last_tile_only(step: int):
    """What comes out when only the last `step` columns, or what is left of them, are added up."""

    def wrong(case: Case) -> np.ndarray:
        a = case.arguments[0]
        last = a[:, (a.shape[1] - 1) // step * step :]
        return last @ last.T

    return wrong


def quarters_swapped(case: Case) -> np.ndarray:
    """What comes out when each block of 32 × 32 has its upper right quarter in place of its lower left one."""
    a = case.arguments[0]
    rows = np.arange(cover(len(a), TILE) * TILE)
    r, c = np.meshgrid(rows, rows, indexing="ij")
    swapped = (r // SIDE + c // SIDE) % 2 == 1
    there, across = np.where(swapped, r ^ SIDE, r), np.where(swapped, c ^ SIDE, c)
    padded = np.zeros((rows.size, a.shape[1]), a.dtype)
    padded[: len(a)] = a
    return (padded @ padded.T)[there, across][: len(a), : len(a)]

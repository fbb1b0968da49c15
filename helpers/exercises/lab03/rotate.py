"""A picture, a quarter turn to the right: the turn happens in a tile, between rows that are read and rows written."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, seeds
from helpers.exercises.lab03.budgets import COALESCED, NO_CONFLICTS, STORES
from helpers.exercises.lab03.cases import SHAPES, shapes_drawn

TILE, BLOCK = 32, (32, 8)
PLACE = "(left + y) * rows + rows - 1 - (top + t)"
TO_LOAD = "top + y < rows && left + t < columns"
TO_STORE = "left + y < columns && top + t < rows"


def _case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows)
    arguments = (x, Out(np.rot90(x, -1).copy()), np.int32(rows), np.int32(columns))
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}"
    return Case(name, arguments, (cover(columns, TILE), cover(rows, TILE)), BLOCK)


def _drawn(dice: np.random.Generator) -> list[Case]:
    shapes = shapes_drawn(dice)
    return [_case(*shape, seed) for shape, seed in zip(shapes, seeds(dice, len(shapes)), strict=True)]


EXERCISE = Exercise(
    key="lab03.rotate",
    title="a picture turned clockwise, in CUDA C",
    language="cuda",
    name="rotate",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(96, 160),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(COALESCED, STORES, NO_CONFLICTS),
    hints=(
        "A tile of x, rows top to top + 31 and columns left to left + 31, becomes a tile of out. Which are its "
        "rows and columns there?",
        "Let lanes run along a row of out: row left + y of out, for y = threadIdx.y, + 8, …, and column rows - 1 "
        "- (top + threadIdx.x).",
        "if (left + y < columns && top + t < rows) out[(left + y) * rows + rows - 1 - (top + t)] = tile[t][y]; "
        "with t = threadIdx.x, from a tile of 32 × 33.",
    ),
    why="Loads run along rows of x, stores along rows of out, and the turn happens in between, on chip. That the "
    "columns of out come in falling order costs nothing: a request is served by sectors, whichever lane wants "
    "which part. Reading a column of the tile is free once its rows are 33 floats apart, because 33 is odd. "
    "With 8 rows of threads, indices are worked out once for four pixels.",
    stretch="turn a picture of three bytes a pixel. What is a good tile then, and which lanes share a word?",
    equivalent=((("tile[32]", "tile[33]"), "a row more than is used"),),
    mistakes=(
        Mistake(
            "the tiles moved, and none was turned",
            "Each tile is in its new place, but inside it rows are still rows: swap the two indices of the tile when "
            "you read it.",
            (("tile[t][y]", "tile[y][t]"),),
        ),
        Mistake(
            "turned the other way",
            "This is a quarter turn to the left. To the right, the lower left corner comes to the upper left: "
            "out[column][rows - 1 - row] = x[row][column].",
            ((PLACE, "(columns - 1 - left - y) * rows + top + t"),),
        ),
        Mistake(
            "transposed, not turned",
            "Rows became columns, but the first row has to be the last column: rows - 1 - row.",
            ((PLACE, "(left + y) * rows + top + t"),),
        ),
        Mistake(
            "mirrored, too",
            "Rows and columns both run backwards. Only one may: the first row becomes the last column, and the first "
            "column the first row.",
            ((PLACE, "(columns - 1 - left - y) * rows + rows - 1 - (top + t)"),),
        ),
        Mistake(
            "every pixel in another place",
            "All pixels are there, at places of others: out[column][rows - 1 - row] = x[row][column]. Which row and "
            "column of x has the pixel of the tile that a thread stores?",
            (
                ((TO_STORE, TO_LOAD), (PLACE, "rows * columns - 1 - (top + y) * columns - (left + t)"),
                 ("tile[t][y]", "tile[y][t]")),
            ),
        ),
        Mistake(
            "some of a tile is left out",
            "A block has 8 rows of threads, and a tile 32 rows, so each thread moves four pixels. Those that a "
            "thread stores are not those that it has loaded, and need a guard of their own. So no thread may return "
            "early: it has pixels of others to store.",
            (
                (TO_STORE, f"{TO_STORE} && {TO_LOAD}"),
                ("    __shared__", "    if (left + t >= columns) return;\n    __shared__"),
            ),
        ),
        Mistake(
            "lanes that stride over memory",
            "Right, but in a global access the lanes of a warp are a whole row apart, or one does the work of all. "
            "Load a tile along its rows, store it along its rows, and change direction in shared memory.",
            (f"for (int y = threadIdx.y; y < 32; y += 8)\nif ({TO_LOAD})\n"
             "out[(left + t) * rows + rows - 1 - (top + y)] = x[(top + y) * columns + left + t];",),
        ),
        Mistake(
            "lanes that meet in a bank",
            "Right, but lanes queue at a bank: some use different words that are a multiple of 32 floats apart. In a "
            "column of a tile all 32 do if its rows have 32 floats, and some do whenever that number is even. One "
            "unused float a row moves each row on by one bank.",
            (("[32][33]", "[32][32]"), ("[32][33]", "[32][34]")),
        ),
    ),
)  # fmt: skip

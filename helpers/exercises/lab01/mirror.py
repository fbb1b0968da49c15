"""An image as a mirror shows it: x runs along the rows, and every thread has one pixel."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.checking.measures import load_requests_for_needed, sectors_per_request

TILE = (32, 8)
SHAPES = ((1, 1), (1, 70), (70, 1), (13, 37), (37, 13), (64, 64))
PLACE, GUARD = "column, row = cuda.grid(2)", "row < rows and column < columns"
OUT, MIRRORED = "out[row, column]", "x[row, columns - 1 - column]"


def _case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows)
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}"
    longest = max(rows, columns)  # so that both ways of reading cuda.grid(2) reach every element
    return Case(name, (x, Out(np.fliplr(x).copy())), (cover(longest, TILE[0]), cover(longest, TILE[1])), TILE)


def _drawn(dice: np.random.Generator) -> list[Case]:
    small, large = (int(n) for n in (*dice.integers(2, 31, 1), *dice.integers(33, 90, 1)))
    shapes = [(small, large), (large, small), (1, large), (int(dice.integers(40, 70)), int(dice.integers(160, 250)))]
    return [_case(*shape, int(dice.integers(1, 10**6))) for shape in shapes]


EXERCISE = Exercise(
    key="lab01.mirror",
    title="mirror an image, in Numba",
    language="numba",
    name="mirror",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(40, 200),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(
        Budget(
            "sectors per load request",
            sectors_per_request("read", most=2),
            6,
            "The lanes of a warp should read neighbours.",
        ),
        Budget(
            "sectors per store request",
            sectors_per_request("write", most=2),
            6,
            "The lanes of a warp should write neighbours.",
            "global_store_sectors",
        ),
        Budget(
            "load requests per 32 pixels",
            load_requests_for_needed,
            1.5,
            "A request is made for 32 lanes, and each pixel is needed once.",
            "global_load_requests",
        ),
    ),
    hints=(
        "Which of the two numbers that cuda.grid(2) gives changes from lane to lane?",
        "column, row = cuda.grid(2). Both need a guard; x.shape is (rows, columns).",
        "out[row, column] = x[row, x.shape[1] - 1 - column], if row < x.shape[0] and column < x.shape[1].",
    ),
    why="x runs along the columns because neighbours in a row are neighbours in memory. The lanes read their row "
    "backwards, and still ask for the same few sectors: a request collects addresses, and their order does not "
    "matter. Rows that do not begin at a multiple of 8 floats cost a fifth sector now and then. The idle lanes are "
    "those behind the right edge of the last block.",
    stretch="mirror the image in place, in x itself, with half of the threads. Which of a pair does the swap?",
    mistakes=(
        Mistake("x and out are mixed up",
            "x is what is read, and other threads read it still; out is what is written, and holds nothing to begin "
            "with. Read x, and store to out with =, once.",
            ((OUT, "x[row, column]"), (f"{OUT} = {MIRRORED}", f"{MIRRORED} = {OUT}"), ("] =", "] +="))),
        Mistake("row and column have changed places",
            "What lies in a column of x goes to a row of out, and out of the array where the image is no square. Both "
            "take the row first, as in out[row, column] and x[row, ...].",
            ((MIRRORED, "x[columns - 1 - column, row]"), (OUT, "out[column, row]"))),
        Mistake("each block mirrors its own part",
            "threadIdx.x and 32 know of one block only. A mirror turns the whole row: the last column is columns - 1.",
            (("columns - 1 - column", "cuda.blockIdx.x * 32 + 31 - cuda.threadIdx.x"),)),
        Mistake("the guard swaps rows and columns",
            "x.shape is (rows, columns), and len(x) is the rows. Squares cannot tell the two apart, so 64 × 64 passes.",
            (
                (GUARD, "row < columns and column < rows"), ("rows, columns =", "columns, rows ="),
                (GUARD, "row < min(rows, columns) and column < min(rows, columns)"),
                ("columns - 1 - column", "len(x) - 1 - column"),
            )),
        Mistake("a column beside the right one",
            "It is not the guard but the index: some thread that has a pixel reads beside its row, where index -1 is "
            "the last column and no error. The last column is columns - 1, so column c comes from columns - 1 - c.",
            (
                ("columns - 1 - column", "columns - column"), ("columns - 1 - column", "-column"),
                ("columns - 1 -", "columns - 2 -"), ("columns - 1 -", "cuda.gridsize(2)[0] - 1 -"),
            )),
        Mistake("the image is upside down",
            "The rows have changed places. A mirror on the wall changes left and right: the column is another one, and "
            "the row stays as it is.",
            ((MIRRORED, "x[rows - 1 - row, column]"), ("x[row,", "x[rows - 1 - row,"))),
        Mistake("another place in the grid",
            "Some pixels have several threads, and others none. column, row = cuda.grid(2) counts the blocks in both "
            "directions: the column is blockIdx.x * blockDim.x + threadIdx.x, and the row the same with y.",
            (
                (PLACE, "column = cuda.blockIdx.x * 32 + cuda.threadIdx.y\n"
                 "    row = cuda.blockIdx.y * 8 + cuda.threadIdx.x"),
                (PLACE, "column = cuda.blockIdx.x * 8 + cuda.threadIdx.x\n"
                 "    row = cuda.blockIdx.y * 32 + cuda.threadIdx.y"),
                (PLACE, "row, column = divmod(cuda.grid(1), columns)"),
            )),
        Mistake("x is the row",
            "The result is right. But the lanes of a warp differ in x, the first number of cuda.grid(2), and x chooses "
            "the row: 32 lanes meet 32 rows. Let x choose the column.",
            (("column, row =", "row, column ="),)),
    ),
)  # fmt: skip

"""A kernel with two ailments, in Numba: lanes a row apart, and warps of which half waits."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover

COLUMNS, ROUNDS, BLOCK, LARGE = 16, 40, 256, 1024


def _settled(x: np.ndarray) -> np.ndarray:
    """`x` with the continued fraction of `ROUNDS` steps in every other row."""
    out, value = x.copy(), x[::2]
    r = value.copy()
    for _ in range(ROUNDS):
        r = value / (value + r)
    out[::2] = r
    return out


def _case(rows: int) -> Case:
    x = np.random.default_rng(rows).uniform(0.5, 4, (rows, COLUMNS)).astype(np.float32)
    grid = cover(rows * COLUMNS, BLOCK)
    return Case(f"{rows:,} rows", (x, Out(_settled(x))), (grid,), (BLOCK,))


MINE, EVEN = "4 * (warp // 2) + warp % 2 + 2 * (lane // 16)", "if row % 2 == 0:"
SPLIT = (MINE, "i // 16")

EXERCISE = Exercise(
    key="ch12.settle",
    title="mend a kernel with two ailments, in Numba",
    language="numba",
    name="settle",
    cases=lambda: [_case(rows) for rows in (1, 2, 3, 7, 16, 61, 128)],
    measured=lambda: _case(LARGE),
    budgets=(
        Budget(
            "sectors loaded and stored for 16,384 floats",
            lambda p: p["global_load_sectors"] + p["global_store_sectors"],
            4300,
            "16,384 floats are 2,048 sectors, once in and once out.",
        ),
        Budget(
            "idle lanes per instruction",
            lambda p: 32 - p["lanes_per_instruction"],
            2,
            "Lanes of one warp take different ways.",
            "instructions",
        ),
        Budget(
            "warp instructions",
            lambda p: p["instructions"],
            75_000,
            "More is calculated than is asked for.",
            "instructions",
        ),
    ),
    hints=(
        "Mend one ailment, profile, then look for the next: diagnose(profile(…)) names it.",
        "With i = cuda.grid(1), lane = i % 32 and warp = i // 32: lanes 0 to 15 take one row, lanes 16 to 31 "
        "another row of the same kind.",
        "Two warps share four rows: row = 4 * (warp // 2) + warp % 2 + 2 * (lane // 16).",
    ),
    solution="""
@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    warp, lane = i // 32, i % 32
    row = 4 * (warp // 2) + warp % 2 + 2 * (lane // 16)
    column = lane % 16
    if row < x.shape[0]:
        value = x[row, column]
        r = value
        if row % 2 == 0:
            for _ in range(40):
                r = value / (value + r)
        out[row, column] = r
""",
    why="16 lanes side by side read 64 bytes, two whole sectors, so a warp still moves four sectors though its two "
    "rows are not neighbours. Rows 0 and 2 go to one warp, 1 and 3 to the next: no warp has to take both ways.",
    stretch="with rows of 32 columns one of the two ailments would go by itself. Which, and why?",
    equivalent=(
        (("range(40)", "range(41)"), "it has converged by then"),
        (("range(40)", "range(39)"), "it has converged by then"),
    ),
    mistakes=(
        Mistake(
            "only settled rows are written",
            "Rows 1, 3, 5, … have no thread. They are copied as they are, and that is somebody's work, too.",
            ((MINE, "2 * (i // 16)"),),
        ),
        Mistake(
            "all rows are settled",
            "Rows 1, 3, 5, … are to be copied as they are: they want no rounds.",
            ((EVEN, "if True:"),),
        ),
        Mistake(
            "columns for rows",
            "It is every other column that is settled here. Rows 0, 2, 4, … are to be.",
            ((EVEN, "if column % 2 == 0:"),),
        ),
        Mistake(
            "one round instead of 40",
            "Each round goes on from the last: r = value / (value + r), forty times, with r = value at first.",
            (("range(40)", "range(1)"), ("(value + r)", "(value + value)")),
        ),
        Mistake("the wrong rows are settled", "Rows 0, 2, 4, … are to be settled, and no others.", (("== 0", "== 1"),)),
        Mistake(
            "no row is settled",
            "Everything is copied. The rows 0, 2, 4, … want their 40 rounds.",
            (("r = value / (value + r)", "r = value"),),
        ),
        Mistake(
            "neighbouring lanes are a row apart",
            "Lanes that are a row apart touch a sector each. Give 16 neighbouring lanes the 16 columns of a row.",
            (
                """    row = cuda.grid(1)
    if row < x.shape[0]:
        for column in range(16):
            value = x[row, column]
            r = value
            if row % 2 == 0:
                for _ in range(40):
                    r = value / (value + r)
            out[row, column] = r
""",
            ),
        ),
        Mistake(
            "half of each warp waits",
            "Coalesced, and the second ailment shows: a warp holds a settled row and a copied one. Give it two "
            "rows of one kind, such as 0 and 2.",
            (SPLIT,),
        ),
        Mistake(
            "every lane calculates, half for nothing",
            "No lane is idle because all do the 40 rounds, and half throw them away. Full lanes are no efficiency.",
            ((SPLIT, (EVEN, "if True:"), ("= r\n", "= r if row % 2 == 0 else value\n")),
             ((EVEN, "if True:"), ("= r\n", "= r if row % 2 == 0 else value\n"))),
        ),
    ),
)  # fmt: skip

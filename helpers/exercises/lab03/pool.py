"""The greatest of nine neighbours: a block loads its elements once, with a halo on every side."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, seeds
from helpers.checking.measures import loaded_for_needed
from helpers.exercises.lab03.budgets import LOADED, ODD
from helpers.exercises.lab03.cases import SHAPES, shapes_drawn

BLOCK = (32, 8)
INSIDE = "0 <= top + y < x.shape[0] and 0 <= left + k < x.shape[1]"


def _case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows)
    x = x - np.float32(9) if (rows + columns) % 2 else x  # then all of them are below zero
    padded = np.pad(x, 1, constant_values=-np.inf)
    wanted = np.max([padded[r : r + rows, c : c + columns] for r in range(3) for c in range(3)], axis=0)
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}"
    return Case(name, (x, Out(wanted)), (cover(columns, BLOCK[0]), cover(rows, BLOCK[1])), BLOCK)


def _drawn(dice: np.random.Generator) -> list[Case]:
    shapes = shapes_drawn(dice)
    return [_case(*shape, seed) for shape, seed in zip(shapes, seeds(dice, len(shapes)), strict=True)]


EXERCISE = Exercise(
    key="lab03.pool",
    title="the greatest of nine neighbours, in Numba",
    language="numba",
    name="pool",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(64, 160),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(
        Budget(
            LOADED,
            loaded_for_needed,
            2.3,
            "A block of 8 × 32 needs 10 × 34 elements: 10 rows of 7 sectors in two requests, where its own are 8 "
            "rows of 4.",
        ),
        no_conflicts(0.05, most=8, more=ODD),
    ),
    hints=(
        "340 elements and 256 threads: go over the tile in steps of the block, along each row and from row to row.",
        "tile[y, x] holds x[top + y - 1, left + x - 1]. Outside, clamp the index to the nearest row and column: "
        "that element is among the neighbours anyway, so it can not win wrongly.",
        "for y in range(cuda.threadIdx.y, 10, 8): for x in range(cuda.threadIdx.x, 34, 32): … Then the barrier, "
        "then the greatest of tile[ty : ty + 3, tx : tx + 3], then a guard for the store.",
    ),
    why="Nine threads want each element, so loading it once for the block saves most of the traffic. The halo is "
    "what remains: 340 elements for 256, and rows of 34 floats that begin one float before a sector touch 6 "
    "sectors where 4 would do. A taller tile has less halo for its area. Clamped indices make the edge a "
    "matter of the load alone: every thread comes to the barrier, and no neighbour has to be asked for.",
    stretch="a maximum of nine is one of three maxima of three. Take rows first, then columns: how many shared loads "
    "are left?",
    equivalent=((("10, 8)", "10, 7)"), "two threads fill some elements, with the same"),),
    mistakes=(
        Mistake(
            "outside counts as a number",
            "What lies outside of x counts as a number, 0 perhaps, and wins where all neighbours are less. It must "
            "never win: -inf, or an element that is a neighbour anyway.",
            (("x[r, c]", f"x[r, c] if {INSIDE} else 0"), ("x[r, c]", f"x[r, c] if {INSIDE} else np.float32(-1)")),
        ),
        Mistake(
            "the search begins at 0",
            "Where all nine are below zero, the 0 that the search begins with wins. Begin with one of the nine, or "
            "with -inf.",
            (("best = tile[ty, tx]", "best = np.float32(0)"),),
        ),
        Mistake(
            "an index below 0 counts from the end",
            "As in Python, index -1 is the last row or column in Numba, and no error. Look for indices below 0, too.",
            (
                (("max(top + y, 0)", "top + y"), ("max(left + k, 0)", "left + k")),
                ("max(top + y, 0)", "top + y"),
                ("max(left + k, 0)", "left + k"),
            ),
        ),
        Mistake(
            "the tile has no halo",
            "Elements at the border of a block need neighbours that belong to other blocks: load one more row and "
            "column on every side.",
            (
                (("max(top + y, 0), x.shape[0] - 1", "max(top + y, row - ty), min(row - ty + 7, x.shape[0] - 1)"),
                 ("max(left + k, 0), x.shape[1] - 1", "max(left + k, column - tx), min(left + 32, x.shape[1] - 1)")),
            ),
        ),
        Mistake(
            "the nine are those of a neighbour",
            "Most results belong one row or column further. With a halo, x[row, column] is tile[ty + 1, tx + 1], and "
            "its nine begin at tile[ty, tx].",
            (
                ("row - ty - 1, column - tx - 1", "row - ty, column - tx"),
                ("tile[ty + y, tx + k]", "tile[ty + y - 1, tx + k - 1]"),
            ),
        ),
        Mistake(
            "some neighbours never count",
            "Some results are less than the greatest of nine. All three rows and all three columns count, and those at "
            "the corners, too.",
            (
                ("for y in range(3)", "for y in range(2)"),
                ("for k in range(3)", "for k in range(2)"),
                (("best = tile[ty, tx]", "best = tile[ty + 1, tx + 1]"),
                 ("best = max", "if y == 1 or k == 1:\n                    best = max")),
            ),
        ),
        Mistake(
            "the edge of x is taken for outside",
            "Only results near the edge are wrong, and too small: some elements there were taken for ones outside of "
            "x. Rows and columns go from 0 to shape - 1, both included.",
            (
                ("x[r, c]", f"x[r, c] if {INSIDE.replace('0 <=', '0 <')} else -np.inf"),
                (("x.shape[0] - 1", "x.shape[0] - 2"), ("x.shape[1] - 1", "x.shape[1] - 2")),
            ),
        ),
        Mistake(
            "more is loaded than a tile and its halo",
            "Right, but elements come from global memory more than once: again for every neighbour, or because lanes "
            "that run along columns fetch a sector for each element. Load the 10 × 34 of the block once, along rows.",
            (
                """    if row < x.shape[0] and column < x.shape[1]:
        best = x[row, column]
        for r in range(max(row - 1, 0), min(row + 2, x.shape[0])):
            for c in range(max(column - 1, 0), min(column + 2, x.shape[1])):
                best = max(best, x[r, c])
        out[row, column] = best""",
                (("range(ty, 10, 8)", "range(10)"), ("range(tx, 34, 32)", "range(34)")),
                (("range(ty, 10, 8)", "range(tx, 10, 32)"), ("range(tx, 34, 32)", "range(ty, 34, 8)")),
            ),
        ),
    ),
)  # fmt: skip

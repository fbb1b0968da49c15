"""Matrices of any shape multiplied in tiles: zeros stand where a matrix has ended."""

from __future__ import annotations

from dataclasses import replace

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers
from helpers.exercises.ch05.budgets import SHARED_LOADS, SHARED_STORES

TILE = 16
SHAPES = ((1, 1, 1), (1, 13, 1), (16, 32, 16), (13, 13, 37), (37, 17, 13), (5, 40, 33))
MINE = "mine[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0"
YOURS = "yours[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0"
KEPT = (
    (MINE, "if row < a.shape[0] and k + x < a.shape[1]:\n            mine[y, x] = a[row, k + x]"),
    (YOURS, "if k + y < b.shape[0] and column < b.shape[1]:\n            yours[y, x] = b[k + y, column]"),
)


def _case(rows: int, inner: int, columns: int) -> Case:
    a, b = numbers((rows, inner), seed=rows), numbers((inner, columns), seed=columns + 50)
    grid = (cover(columns, TILE), cover(rows, TILE))
    name = f"({rows} × {inner}) by ({inner} × {columns})"
    return Case(name, (a, b, Out(a @ b)), grid, (TILE, TILE))


EXERCISE = Exercise(
    key="ch05.matmul",
    title="multiply matrices of any shape in tiles, in Numba",
    language="numba",
    name="matmul",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(48, 64, 80),
    sanitize=True,
    tolerance=1e-4,
    budgets=(
        Budget(
            "sectors loaded for (48 × 64) by (64 × 80)",
            lambda profile: profile["global_read_sectors"],
            4000,
            "15 blocks load 4 pairs of tiles of 256 floats each, 32 sectors a tile: 15 · 4 · 2 · 32 = 3,840.",
        ),
        SHARED_LOADS,
        replace(SHARED_STORES, at_most=2),  # tiles of 16 × 17 are often taught, and cost no more than this
    ),
    hints=(
        "The loop goes over tiles of the inner dimension, rounded up: (a.shape[1] + 15) // 16.",
        "In each round every thread loads one element of a and one of b, or 0. How many barriers does a round need?",
        "Load both, barrier, sixteen products, barrier. Guard only the loads and the last store.",
    ),
    solution="""
import numpy as np

@cuda.jit
def matmul(a, b, c):
    mine, yours = cuda.shared.array((16, 16), "float32"), cuda.shared.array((16, 16), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for k in range(0, a.shape[1], 16):
        mine[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        yours[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(16):
            total += mine[y, j] * yours[j, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
""",
    why="A zero adds nothing to a sum, so zeros in the tile do the work of a guard in the inner loop. The loop "
    "runs equally long for every thread, so all come to both barriers. Each element is loaded once for 16 rows or "
    "columns. The sum begins as np.float32(0), since a Python number would make it a float64.",
    stretch="let each thread compute two rows of c: the tile of b then serves twice as many products.",
    equivalent=tuple(
        ((f"{before}cuda.shared.array((16, 16)", f"{before}cuda.shared.array({size}"), "more room than is used")
        for before in ("mine, yours = ", '"float32"), ') for size in ("(17, 16)", "(16, 17)")
    ),
    mistakes=(
        Mistake(
            "no guard",
            "Tiles at the edge reach past a matrix: guard each load with the shape of its own matrix, and the store "
            "with that of c.",
            (
                ("row < a.shape[0] and ", ""), (" and k + x < a.shape[1]", ""), ("k + y < b.shape[0] and ", ""),
                (" and column < b.shape[1]", ""), ("row < c.shape[0] and column < c.shape[1]", "True"),
                (MINE, "mine[y, x] = a[row, k + x]"), (YOURS, "yours[y, x] = b[k + y, column]"),
            ),
        ),
        Mistake(
            "the last tile is dropped",
            "a.shape[1] // 16 counts whole tiles. A last, narrower one has to be added up too: round up.",
            (("a.shape[1], 16)", "a.shape[1] // 16 * 16, 16)"),),
        ),
        Mistake(
            "only the last round counts",
            "The sum begins again in every round. Set it to 0 once, before the loop over tiles.",
            ((("16):\n        mine", "16):\n        total = np.float32(0)\n        mine"),),),
        ),
        Mistake(
            "only the last product counts",
            "Each product takes the place of the one before: the sum grows by +=.",
            (("total +=", "total ="),),
        ),
        Mistake(
            "what lies outside is not 0",
            "In the last tile some elements lie outside. Left alone, also by threads that have left the loop, they "
            "hold what the tile before brought. In every round each thread writes its place of both tiles: the "
            "element of a, or of b, if that one exists, and else 0.",
            ((*KEPT, ("    for k in", "    mine[y, x] = 0.0\n    yours[y, x] = 0.0\n    for k in")),),
        ),
        Mistake(
            "tiles that do not meet",
            "Even whole tiles come out wrong. In the round that begins at k, thread (x, y) loads a[row, k + x] and "
            "b[k + y, column], and sums mine[y, j] * yours[j, x]. The next round begins 16 further on.",
            (
                ("a.shape[1], 16)", "a.shape[1])"), (("b[k + y", "b[k + x"), ("k + y <", "k + x <")),
                (("a[row, k + x]", "a[row, k + y]"), ("k + x <", "k + y <")), ("mine[y, j]", "mine[x, j]"),
                ("mine[y, j]", "mine[j, y]"), ("yours[j, x]", "yours[x, j]"), ("yours[j, x]", "yours[j, y]"),
                ("mine[y, j] * yours[j, x]", "mine[y, x] * yours[y, x]"),
            ),
        ),
        Mistake(
            "straight from global memory",
            "Right, but each element is loaded again for every row or column that needs it.",
            ("    column, row = cuda.grid(2)\n    if row < c.shape[0] and column < c.shape[1]:\n"
             "        total = np.float32(0)\n        for k in range(a.shape[1]):\n"
             "            total += a[row, k] * b[k, column]\n        c[row, column] = total",),
        ),
        Mistake(
            "the tiles hold doubles",
            "Elements of 8 bytes take two banks each, so every request takes two wavefronts. The data is float32: "
            "declare the tiles so.",
            (('"float32"', '"float64"'),),
        ),
        Mistake(
            "a tile is filled or read down its columns",
            "Right, but neighbouring lanes meet in one bank. Let x, which changes from lane to lane, be the last "
            "index of both tiles when you fill them.",
            (
                (("mine[y, x]", "mine[x, y]"), ("mine[y, j]", "mine[j, y]")),
                (("yours[y, x]", "yours[x, y]"), ("yours[j, x]", "yours[x, j]")),
            ),
        ),
    ),
)  # fmt: skip

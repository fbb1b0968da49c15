"""Every row times every row: tiles spare global memory, and four products a thread spare shared memory."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.exercises.lab03.budgets import LOADS_A_PRODUCT, ODD, ROWS_LOADED

TILE, SIDE = 32, 16
SHAPES = ((1, 1), (1, 13), (13, 1), (31, 17), (32, 16), (37, 33))
COLUMNS = "range(0, a.shape[1], 16)"
PLACES = "top + y + k // 2 * 16, side + x + k % 2 * 16"
IN_LEFT = "top + r < a.shape[0] and k < a.shape[1]"
IN_RIGHT = "side + r < a.shape[0] and k < a.shape[1]"
LOAD_LEFT = f"left[r, x] = a[top + r, k] if {IN_LEFT} else 0"
LOAD_RIGHT = f"right[r, x] = a[side + r, k] if {IN_RIGHT} else 0"
EMPTIED = "    for r in range(y, 32, 16):\n        left[r, x] = right[r, x] = 0\n"


def _case(n: int, k: int, seed: int = 0) -> Case:
    a = numbers((n, k), seed=seed or n + k)
    blocks = cover(n, TILE)
    return Case(f"{plural(n, 'row')} of {plural(k, 'element')}", (a, Out(a @ a.T)), (blocks, blocks), (SIDE, SIDE))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 40))), (int(dice.integers(2, 60)), 1), tuple(map(int, dice.integers(17, 50, 2)))]
    shapes = [*odd, (TILE * int(dice.integers(2, 4)), TILE * int(dice.integers(1, 4)))]
    return [_case(*shape, int(dice.integers(1, 10**6))) for shape in shapes]


EXERCISE = Exercise(
    key="lab03.gram",
    title="every row times every row, four products a thread, in Numba",
    language="numba",
    name="gram",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(96, 64),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    tolerance=1e-4,
    budgets=(ROWS_LOADED, no_conflicts(0.25, most=48, more=ODD), LOADS_A_PRODUCT),
    hints=(
        "Two tiles of 32 rows, some columns wide: rows 32 * blockIdx.y on, and rows 32 * blockIdx.x on. Four sums "
        "in registers.",
        "Pieces of 16 columns: thread (x, y) loads rows y and y + 16 of both tiles, column x. Then for each of "
        "the 16 columns: two elements of each tile, four products.",
        "left and right = shared arrays of (32, 17). In round j: a0, a1 = left[y, j], left[y + 16, j]; b0, b1 = "
        "right[x, j], right[x + 16, j]; four sums grow by a0 * b0, a0 * b1, a1 * b0, a1 * b1.",
    ),
    why="Tiles spare global memory, registers spare shared memory: the same idea, one level up. A block of 16 × "
    "16 threads with 32 × 32 results loads each element half as often as one with 16 × 16, and four products "
    "for four loads halve the requests to shared memory. Both factors are read along rows of a, so nothing "
    "has to be transposed; only the padding differs from a plain product. More results a thread go on in the "
    "same way, until registers run out.",
    stretch="out is symmetric. Let blocks below the diagonal return at once, and the others store both halves, "
    "coalesced.",
    equivalent=(
        (("right = cuda.shared.array((32", "right = cuda.shared.array((33"), "a row more than is used"),
        (("right = cuda.shared.array((32, 17", "right = cuda.shared.array((32, 18"), "no two lanes' rows share a bank"),
        (("right = cuda.shared.array((32, 17", "right = cuda.shared.array((32, 16"), "no two lanes' rows share a bank"),
        (('"), cuda.shared.array((32', '"), cuda.shared.array((33'), "a row more than is used"),
        (('"), cuda.shared.array((32, 17', '"), cuda.shared.array((32, 18'), "no two lanes' rows share a bank"),
        (("left[y + 16", "left[y - 16"), "16 rows before the first are 16 behind it, counted from the end"),
        (("right[x + 16", "right[x - 16"), "16 rows before the first are 16 behind it, counted from the end"),
        ((f"{IN_LEFT} else 0", f"{IN_LEFT} else 1"), "the other side is 0 there"),
        ((f"{IN_RIGHT} else 0", f"{IN_RIGHT} else 1"), "the other side is 0 there"),
        (("range(4)", "range(5)"), "there is no fifth sum, and a thread that asks for it ends"),
        (("r < out.shape[0]", "r < out.shape[1]"), "out has as many columns as rows"),
        (("c < out.shape[1]", "c < out.shape[0]"), "out has as many rows as columns"),
    ),
    mistakes=(
        Mistake("the last tile is dropped",
            "The number of columns need not be a multiple of the tile's: round up, and let zeros stand for what "
            "is outside.",
            ((COLUMNS, "range(0, a.shape[1] // 16 * 16, 16)"), (COLUMNS, "range(0, a.shape[1] - 1, 16)"))),
        Mistake("each tile begins anew",
            "Only the last tile's columns count. Sums go on from tile to tile: set them to 0 before the loop over "
            "tiles.",
            (("        k = first + x", "        s00 = s01 = s10 = s11 = np.float32(0)\n        k = first + x"),)),
        Mistake("what lies outside is not 0",
            "In the last tile some columns lie outside, and their products count, too. Left alone they hold what the "
            "tile before brought: put a 0 there.",
            (
                ((LOAD_LEFT, f"if {IN_LEFT}:\n                left[r, x] = a[top + r, k]"),
                 (LOAD_RIGHT, f"if {IN_RIGHT}:\n                right[r, x] = a[side + r, k]"),
                 ("    for first", f"{EMPTIED}    for first")),
                (" else 0", " else 1"),
            )),
        Mistake("one side stands for both",
            "Blocks on the diagonal are right, and others multiply 32 rows with themselves. One side has rows from 32 "
            "* blockIdx.y on, the other rows from 32 * blockIdx.x on.",
            (
                ("right[x, j], right[x + 16, j]", "left[x, j], left[x + 16, j]"),
                (("a[top + r, k]", "a[side + r, k]"), (IN_LEFT, IN_RIGHT)),
            )),
        Mistake("products in each other's places",
            "The products are there, at places of others: rows of out go with the side that is counted by blockIdx.y, "
            "and row y of one side with row x + 16 of the other belongs 16 columns further, and not 16 rows.",
            (
                (PLACES, "side + y + k // 2 * 16, top + x + k % 2 * 16"),
                ("(s00, s01, s10, s11)", "(s00, s10, s01, s11)"),
            )),
        Mistake("some products are never stored",
            "A block of 16 × 16 threads has 32 × 32 elements of out: four for each, 16 apart in both directions. "
            "Blocks begin at multiples of 32, and no part of out is left to be mirrored by somebody else.",
            (
                ("range(4)", "range(1)"),
                ("32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x", "16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x"),
                ("    s00 =", "    if side < top:\n        return\n    s00 ="),
            )),
        Mistake("loaded more than once",
            "Right, but a block loads elements again, or lanes that run along columns fetch sectors again. Load 32 "
            "rows for each side, a piece of their columns at a time and along rows, and make all products of the two "
            "pieces before the next.",
            (
                """    top, side = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for r in range(top + cuda.threadIdx.y, min(out.shape[0], top + 32), 16):
        for c in range(side + cuda.threadIdx.x, min(out.shape[0], side + 32), 16):
            total = np.float32(0)
            for k in range(a.shape[1]):
                total += a[r, k] * a[c, k]
            out[r, c] = total""",
                (("k = first + x", "k = first + y"), ("range(y, 32, 16)", "range(x, 32, 16)"),
                 ("[r, x]", "[r, y]")),
            )),
        Mistake("lanes that meet in a bank",
            "Right, but lanes queue at a bank: some use different words that are a multiple of 32 floats apart. In a "
            "column of a tile of 16 floats a row every other lane does. One unused float a row moves each row on by "
            "one bank.",
            (("(32, 17)", "(32, 16)"),)),
    ),
)  # fmt: skip

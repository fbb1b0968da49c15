"""The gradient of a linear layer's weight: a product whose left side is read down its columns."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers
from helpers.exercises.lab09.budgets import LOADED, STORES

TILE = 16
SHAPES = ((1, 1, 1), (1, 5, 13), (40, 1, 7), (16, 16, 32), (13, 37, 18), (33, 17, 50))
LEFT = "dy[b, top + x] if b < dy.shape[0] and top + x < dy.shape[1] else 0"
RIGHT = "a[b, side + x] if b < a.shape[0] and side + x < a.shape[1] else 0"


def _case(samples: int, outputs: int, inputs: int, seed: int = 0) -> Case:
    dy = numbers((samples, outputs), seed=seed or samples + outputs)
    a = numbers((samples, inputs), seed=(seed or samples + inputs) + 1)
    name = f"{samples} × {outputs} gradients, {samples} × {inputs} inputs"
    return Case(name, (dy, a, Out(dy.T @ a)), (cover(inputs, TILE), cover(outputs, TILE)), (TILE, TILE))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [
        (1, 9, int(dice.integers(2, 40))),
        (int(dice.integers(2, 60)), 1, 3),
        tuple(map(int, dice.integers(17, 50, 3))),
    ]
    whole = tuple(TILE * int(each) for each in dice.integers(3, 6, 3))
    return [_case(*shape, int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


EXERCISE = Exercise(
    key="lab09.weight_grad",
    title="the gradient of a linear layer's weight in tiles, in Numba",
    language="numba",
    name="weight_grad",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(64, 48, 80),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    tolerance=1e-4,
    budgets=(LOADED, STORES, no_conflicts(0.1, most=48)),
    hints=(
        "Let threadIdx.x run along what lies side by side in memory: columns of a, of dy, and of dw.",
        "A block has 16 rows of dw, which are 16 columns of dy, and 16 columns of a. Go through the samples 16 at a "
        "time, and load a tile of either side along its rows.",
        "left[y, x] = dy[b, top + x] and right[y, x] = a[b, side + x] for sample b = first + y, or 0 outside. After a "
        "barrier the thread adds left[j, y] * right[j, x] for 16 samples j; then a second barrier.",
    ),
    why="Both sides are stored sample by sample, and the sum goes over samples. So both tiles are loaded along rows, "
    "without a transposition anywhere: only the reading of the tile differs from a plain product, left[j, y] in place "
    "of left[y, j]. In a warp that is one word for sixteen lanes, which is a broadcast. Which index of a tile is which "
    "costs nothing, and which index of memory follows threadIdx.x costs a lot. cuBLAS has such kernels for each "
    "combination of transposed operands.",
    stretch="the sum over samples can be split among blocks that add to dw by atomics. When would that help a GPU?",
    equivalent=(
        *(((f"{before}cuda.shared.array((16, 16)", f"{before}cuda.shared.array({size}"), "more room than is used")
          for before in ("left, right = ", '"float32"), ') for size in ("(17, 16)", "(16, 17)")),
        ((LEFT, LEFT[:-1] + "1"), "the other side is 0 there, or nothing is stored"),
        ((RIGHT, RIGHT[:-1] + "1"), "the other side is 0 there, or nothing is stored"),
    ),
    mistakes=(
        Mistake("the last samples are dropped",
            "The number of samples need not be a multiple of 16: go on until all are done, and let zeros stand for "
            "those that do not exist.",
            (("range(0, a.shape[0], 16)", "range(0, a.shape[0] // 16 * 16, 16)"),
             ("range(0, a.shape[0], 16)", "range(0, a.shape[0] - 1, 16)"))),
        Mistake("each tile begins anew",
            "Only the last samples count. The sum goes on from tile to tile: set it to 0 before the loop.",
            (("        b = first + y", "        total = np.float32(0)\n        b = first + y"),)),
        Mistake("what lies outside is not 0",
            "In the last tile some samples do not exist, and their products count, too. Left alone, their places hold "
            "what the tile before brought: put a 0 there.",
            ((("        left[y, x] = " + LEFT, "        if b < dy.shape[0] and top + x < dy.shape[1]:\n"
               "            left[y, x] = dy[b, top + x]"),
              ("        right[y, x] = " + RIGHT, "        if b < a.shape[0] and side + x < a.shape[1]:\n"
               "            right[y, x] = a[b, side + x]"),
              ("    total = ", "    left[y, x] = right[y, x] = 0\n    total = ")),)),
        Mistake("rows of the tile for columns",
            "The sum goes over samples, which are the rows of both tiles: left[j, y] * right[j, x]. In a plain product "
            "the left one is read along its row, left[y, j], and here it is not.",
            (("left[j, y]", "left[y, j]"), ("right[j, x]", "right[x, j]"),
             (("left[j, y]", "left[j, x]"), ("right[j, x]", "right[j, y]")))),
        Mistake("blocks in each other's places",
            "blockIdx.y counts tiles of rows of dw, which are outputs, and blockIdx.x tiles of its columns, which are "
            "inputs. The launch has as many blocks in x as inputs need.",
            (("16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x", "16 * cuda.blockIdx.x, 16 * cuda.blockIdx.y"),)),
        Mistake("straight from global memory",
            "Right, but each element is loaded again for every row or column of the block. Load a tile of 16 samples "
            "of either side into shared memory, and let all threads of the block use it.",
            ("""    column, row = cuda.grid(2)
    if row < dw.shape[0] and column < dw.shape[1]:
        total = np.float32(0)
        for b in range(a.shape[0]):
            total += dy[b, row] * a[b, column]
        dw[row, column] = total""",
             """    row = 16 * cuda.blockIdx.y + cuda.threadIdx.x
    column = 16 * cuda.blockIdx.x + cuda.threadIdx.y
    if row < dw.shape[0] and column < dw.shape[1]:
        total = np.float32(0)
        for b in range(a.shape[0]):
            total += dy[b, row] * a[b, column]
        dw[row, column] = total""")),
        Mistake("lanes that load or store down a column",
            "Right, but in some access to global memory neighbouring lanes are a row apart, and each brings a sector "
            "of its own. Let threadIdx.x be what runs along the row, wherever you load and wherever you store.",
            ((("b = first + y", "b = first + x"), ("left[y, x]", "left[x, y]"), ("right[y, x]", "right[x, y]"),
              ("top + x", "top + y"), ("side + x", "side + y"),
              ("if top + y < dw.shape[0] and side + y < dw.shape[1]:\n        dw[top + y, side + y]",
               "if top + y < dw.shape[0] and side + x < dw.shape[1]:\n        dw[top + y, side + x]")),
             (("left[j, y]", "left[j, x]"), ("right[j, x]", "right[j, y]"),
              ("if top + y < dw.shape[0] and side + x < dw.shape[1]:\n        dw[top + y, side + x]",
               "if top + x < dw.shape[0] and side + y < dw.shape[1]:\n        dw[top + x, side + y]")))),
        Mistake("a tile that is turned over",
            "Right, but a tile is stored down its columns, where 16 lanes meet in two banks. Nothing has to be turned "
            "over: keep in row y of the tile what you load from row y, and read it as [j, y].",
            ((("left[y, x] =", "left[x, y] ="), ("left[j, y]", "left[y, j]")),
             (("right[y, x] =", "right[x, y] ="), ("right[j, x]", "right[x, j]")))),
    ),
)  # fmt: skip

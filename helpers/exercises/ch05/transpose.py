"""A matrix turned through a tile: rows are read, rows are written, and the turn happens in shared memory."""

from __future__ import annotations

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.checking.measures import sectors_per_request
from helpers.exercises.ch05.budgets import SHARED_LOADS, SHARED_STORES

TILE = 32
SHAPES = ((1, 1), (1, 70), (70, 1), (13, 37), (37, 13), (64, 64), (33, 95))
TURNED = "row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx"
OUT = "row < out.shape[0] and column < out.shape[1]"


def _case(rows: int, columns: int) -> Case:
    x = numbers((rows, columns), seed=rows)
    grid = (cover(columns, TILE), cover(rows, TILE))
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}"
    return Case(name, (x, Out(x.T.copy())), grid, (TILE, TILE))


EXERCISE = Exercise(
    key="ch05.transpose",
    title="transpose through a tile, in Numba",
    language="numba",
    name="transpose",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(96, 160),
    sanitize=True,
    budgets=(
        Budget(
            "sectors per load request",
            sectors_per_request("read"),
            4.2,
            "The lanes of a warp should read neighbours in a row of x.",
        ),
        Budget(
            "sectors per store request",
            sectors_per_request("write"),
            4.2,
            "The lanes of a warp should write neighbours in a row of out.",
            "global_store_sectors",
        ),
        SHARED_LOADS,
        SHARED_STORES,
    ),
    hints=(
        "Load tile[y, x] along a row of x, let all threads meet, then store along a row of out. Which element of "
        "the tile is it then?",
        "The second half has indices of its own: row = 32 * blockIdx.x + threadIdx.y, column = 32 * blockIdx.y + "
        "threadIdx.x, with a guard by out.shape.",
        "out[row, column] = tile[threadIdx.x, threadIdx.y], from a tile of 32 × 33.",
    ),
    solution="""
@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 33), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]
""",
    why="Both global accesses run along rows, 4 sectors a request. The turn happens in shared memory, where a "
    "column costs no more than a row once rows are 33 floats apart: 33 is odd, so the 32 words of a column "
    "lie in 32 banks. The barrier stands between the guards, where every thread comes by.",
    stretch="drop the padding and store into tile[ty, tx ^ ty] instead: no word is wasted.",
    equivalent=((("(32, 33)", "(33, 33)"), "a row more than is used"),),
    mistakes=(
        Mistake(
            "copied, and not turned",
            "The matrix arrives as it was. out[row, column] is x[column, row].",
            ("    column, row = cuda.grid(2)\n    if row < out.shape[0] and column < out.shape[1]:\n"
             "        out[row, column] = x[row, column]",),
        ),
        Mistake(
            "the tiles moved, and none was turned",
            "Each tile is in its new place, but inside it rows are still rows: swap the two indices of the tile when "
            "you read it.",
            (("tile[tx, ty]", "tile[ty, tx]"), ("tile[ty, tx] =", "tile[tx, ty] =")),
        ),
        Mistake(
            "each tile was turned where it stood",
            "Inside the tiles all is well; the tile itself must move as well: its column of blocks, blockIdx.x, "
            "becomes its row.",
            ((TURNED, "row, column = 32 * cuda.blockIdx.y + ty, 32 * cuda.blockIdx.x + tx"),),
        ),
        Mistake(
            "no guard",
            "Tiles at the edge reach past the matrix: guard the load with the shape of x, and the store with that of "
            "out.",
            ((OUT, "True"), ("row < x.shape[0] and column < x.shape[1]", "True")),
        ),
        Mistake(
            "one guard for the load and the store",
            "A thread loads one element and stores another. Whether the first exists says nothing of the second: the "
            "store needs a guard of its own.",
            ((("cuda.grid(2)\n", "cuda.grid(2)\n    inside = row < x.shape[0] and column < x.shape[1]\n"),
              (OUT, f"inside and {OUT}")),),
        ),
        Mistake(
            "lanes that stride over memory",
            "The result is right, but in one of the two global accesses the lanes of a warp are a whole row apart. "
            "Load a tile along rows, store it along rows, and turn it in between.",
            (
                "    column, row = cuda.grid(2)\n    if row < x.shape[0] and column < x.shape[1]:\n"
                "        out[column, row] = x[row, column]",
                "    column, row = cuda.grid(2)\n    if column < x.shape[0] and row < x.shape[1]:\n"
                "        out[row, column] = x[column, row]",
                ((TURNED, "row, column = 32 * cuda.blockIdx.x + tx, 32 * cuda.blockIdx.y + ty"),
                 ("tile[tx, ty]", "tile[ty, tx]")),
            ),
        ),
        Mistake(
            "the tile holds doubles",
            "Elements of 8 bytes take two banks each, so every request takes two wavefronts. The data is float32: "
            "declare the tile so.",
            (('"float32"', '"float64"'),),
        ),
        Mistake(
            "a column of the tile lies in one bank",
            "Rows of 32 floats put a whole column into one bank. One unused float a row moves each row on by one "
            "bank.",
            (
                ("(32, 33)", "(32, 32)"), ("(32, 33)", "(33, 32)"),
                (("(32, 33)", "(32, 32)"), ("tile[ty, tx]", "tile[.]"), ("tile[tx, ty]", "tile[ty, tx]"),
                 ("tile[.]", "tile[tx, ty]")),
                (("(32, 33)", "(32, 34)"), ("tile[ty, tx]", "tile[.]"), ("tile[tx, ty]", "tile[ty, tx]"),
                 ("tile[.]", "tile[tx, ty]")),
            ),
        ),
    ),
)  # fmt: skip

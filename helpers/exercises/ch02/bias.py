"""A bias for each column of a matrix: two directions, two indices."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d

TILE = (16, 8)
SHAPES = ((1, 1), (1, 17), (17, 1), (8, 16), (13, 37), (37, 13), (32, 32))
SUM = "in[y * columns + x] + bias[x]"


def _case(rows: int, columns: int) -> Case:
    x, bias = numbers((rows, columns), seed=rows), numbers(columns, seed=99)
    grid = (cover(columns, TILE[0]), cover(rows, TILE[1]))
    arguments = (x, bias, Out(x + bias), np.int32(rows), np.int32(columns))
    return Case(f"{plural(rows, 'row')} × {plural(columns, 'column')}", arguments, grid, TILE)


EXERCISE = Exercise(
    key="ch02.bias",
    title="add a bias to every row, in CUDA C",
    language="cuda",
    name="add_bias",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    thread_of=thread_1d,
    hints=(
        "Two indices: x from the .x members, y from the .y members.",
        "x < columns and y < rows guard; the element is y * columns + x.",
        "out[y * columns + x] = in[y * columns + x] + bias[x];",
    ),
    solution="""
extern "C" __global__
void add_bias(const float* in, const float* bias, float* out, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows)
        out[y * columns + x] = in[y * columns + x] + bias[x];
}
""",
    why="x is the fast direction, along a row, in CUDA and in the layout of a C array alike. Keep the two together and "
    "the index is y * columns + x; the guard has one condition for each direction.",
    stretch="add a third direction: a batch of matrices, with blockIdx.z choosing the matrix.",
    mistakes=(
        Mistake(
            "the bias of the row",
            "A linear layer has one bias for each output, which is a column: bias[x], not bias[y].",
            (("bias[x]", "bias[y]"),),
        ),
        Mistake(
            "the bias is left out",
            "The matrix arrives as it was. Add bias[x] to the element of column x.",
            ((" + bias[x]", ""),),
        ),
        Mistake(
            "a row is taken to be as long as there are rows",
            "To go one row down you step over a whole row, and a row has `columns` elements: y * columns + x.",
            (("y * columns", "y * rows"), ("in[y * columns", "in[y * rows"), ("out[y * columns", "out[y * rows")),
        ),
        Mistake(
            "x is taken for the row",
            "x runs along a row, so it counts columns; y counts rows. The launch gave x the columns to cover. "
            "Squares cannot tell the two apart, which is why 32 × 32 passes.",
            (
                (("x < columns && y < rows", "x < rows && y < columns"), ("y * columns + x", "x * columns + y"),
                 ("bias[x]", "bias[y]")),
                ("x < columns && y < rows", "x < rows && y < columns"),
            ),
        ),
        Mistake(
            "stored as the transposed matrix",
            "The element is loaded from y * columns + x and stored to x * rows + y. Here it keeps its place.",
            (("out[y * columns + x]", "out[x * rows + y]"),),
        ),
        Mistake(
            "the matrix is left out",
            "Every row holds the bias alone. Add it to in[y * columns + x].",
            ((SUM, "bias[x]"),),
        ),
        Mistake(
            "multiplied by the bias",
            "A bias is added to what the matrix holds, and does not scale it.",
            (("] + bias", "] * bias"),),
        ),
        Mistake(
            "the bias of another column",
            "Column x of the matrix has bias[x], with x counted in the matrix, and not in a block.",
            (("bias[x]", "bias[0]"), ("bias[x]", "bias[threadIdx.x]")),
        ),
        Mistake(
            "the elements are counted down the columns",
            "x * rows + y walks down a column. In a C array a row lies in one piece: y * columns + x.",
            (("y * columns + x", "x * rows + y"), ("in[y * columns + x]", "in[x * rows + y]")),
        ),
        Mistake(
            "an edge lets threads through",
            "Blocks are 16 × 8. Past the right edge and past the bottom edge there are threads without an element. The "
            "guard needs both x < columns and y < rows, joined by &&. With <= one thread too many gets through.",
            (("x < columns && y < rows", "x < columns"), ("x < columns && y < rows", "y < rows"), ("&&", "||"),
             ("x < columns && y < rows", "x <= columns && y <= rows"), ("x < columns", "x <= columns"),
             ("y < rows", "y <= rows")),
        ),
    ),
)  # fmt: skip

"""A bias added to eight rows by each thread: what is the same in each round is done once."""

from __future__ import annotations

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers
from helpers.checking.measures import total
from helpers.exercises.ch08.budgets import at_most_instructions

BLOCK, EACH = 128, 8
ROLLED = ("#pragma unroll\n", "#pragma unroll 1\n")
LOADED = (("    float b = bias[column];\n", ""), ("+ b;", "+ bias[column];"))
ASKED = """int column = blockIdx.x * blockDim.x + threadIdx.x;
    int first = 8 * blockIdx.y;
    for (int row = first; row < first + 8; ++row)
        if (column < columns && row < rows)
            out[row * columns + column] = x[row * columns + column] + bias[column];"""


def _case(rows: int, columns: int) -> Case:
    x, bias = numbers((rows, columns), seed=rows), numbers(columns, seed=columns + 1)
    grid = (cover(columns, BLOCK), cover(rows, EACH))
    return Case(f"{rows} × {columns}", (x, bias, Out(x + bias), rows, columns), grid, (BLOCK,))


EXERCISE = Exercise(
    key="ch08.bias",
    title="a bias for eight rows a thread, in CUDA C",
    language="cuda",
    name="add_bias",
    cases=lambda: [_case(*shape) for shape in ((1, 1), (8, 128), (9, 33), (16, 100), (7, 257), (23, 31))],
    measured=lambda: _case(64, 256),
    budgets=(
        Budget(
            "load requests for 64 × 256 floats",
            total("global_load_requests"),
            580,
            "The bias of a column is the same for all rows of a thread: load it once.",
            "global_load_requests",
        ),
        at_most_instructions("64 × 256 floats", 8_000, "What does not change from row to row is done once, outside."),
    ),
    sanitize=True,
    hints=(
        "Which parts of the loop's body give the same result in all eight rounds?",
        "The guard of the column and the load of bias[column] can stand before the loop. The compiler may not move the "
        "load itself, because out could be the same array as bias.",
        "Let the loop run over k from 0 to 7 with row = first + k, so that its length is known to the compiler.",
    ),
    solution="""
extern "C" __global__
void add_bias(const float* x, const float* bias, float* out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    int first = 8 * blockIdx.y;
    float b = bias[column];
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        int row = first + k;
        if (row < rows)
            out[row * columns + column] = x[row * columns + column] + b;
    }
}
""",
    why="One load of the bias serves eight rows, and so do the guard of the column and the work on indices. The loop "
    "has a known length, so unrolled whole it needs no counter, no test and no second loop.",
    stretch="promise with __restrict__ that out is no other array. What does the compiler then do by itself?",
    mistakes=(
        Mistake(
            "rows beyond the end",
            "The number of rows need not be a multiple of 8. The last threads have fewer than eight rows.",
            (("if (row < rows)", "if (true)"), ("row < rows", "row <= rows")),
        ),
        Mistake(
            "columns beyond the end",
            "The last block has threads for which there is no column. They have nothing to load and nothing to store.",
            (("    if (column >= columns) return;\n", ""), ("column >= columns", "column > columns")),
        ),
        Mistake(
            "the rows at the end are left out",
            "Where fewer than eight rows are left, those are to be done nevertheless.",
            (("if (column >= columns) return;", "if (column >= columns || 8 * blockIdx.y + 8 > rows) return;"),),
        ),
        Mistake(
            "one row a thread",
            "There are threads for every eighth row only. Each of them has eight rows to do.",
            (("k < 8", "k < 1"), ("k < 8", "k < 7"), ("int k = 0", "int k = 1")),
        ),
        Mistake(
            "blocks overlap",
            "Block y begins at row 8 * y, where the block before it ends.",
            (("8 * blockIdx.y", "blockIdx.y"), ("8 * blockIdx.y", "4 * blockIdx.y")),
        ),
        Mistake(
            "the bias of a row",
            "There is a bias for each column: bias[column].",
            (("bias[column]", "bias[first]"), ("column] + b", "column] + bias[row]")),
        ),
        Mistake(
            "the bias is loaded for every row",
            "The result is right. The bias is the same in all rows of a thread, and it is loaded in each of them. Keep "
            "it in a variable before the loop.",
            (ASKED, LOADED, (*LOADED, ROLLED)),
        ),
        Mistake(
            "the loop is not unrolled",
            "The result is right, and the bias is loaded once. What is left is the counter and the test of each round: "
            "let the loop have a length that the compiler knows, and unroll it.",
            (ROLLED,),
        ),
    ),
)

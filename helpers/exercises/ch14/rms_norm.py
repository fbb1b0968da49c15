"""RMS norm in one launch: a block holds its row, reads it once, and reduces it on the way."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, numbers, plural

BLOCK, COUNTED = 128, (8, 1024)
STORES = "if (threadIdx.x % 32 == 0)"
OTHER_LANES = ("y % 32 == 0", "x % 33 == 0", "x % 32 == 1", "x % 31 == 0")
EPS = np.float32(0.5)  # large, so that its place shows


def _case(rows: int, columns: int) -> Case:
    x, weight = numbers((rows, columns), seed=rows + columns), numbers(columns, seed=columns)
    exact = x.astype(np.float64)
    wanted = exact / np.sqrt((exact**2).mean(axis=1, keepdims=True) + EPS) * weight
    arguments = (x, weight, Out(wanted.astype(np.float32)), np.int32(columns), EPS)
    return Case(f"{plural(rows, 'row')} of {plural(columns, 'column')}", arguments, (rows,), (BLOCK,))


EXERCISE = Exercise(
    key="ch14.rms_norm",
    title="RMS norm in one launch, in CUDA C",
    language="cuda",
    name="rms_norm",
    cases=lambda: [_case(*shape) for shape in ((1, 1), (1, 5), (3, 128), (2, 129), (4, 1000))],
    measured=lambda: _case(*COUNTED),
    budgets=(
        Budget(
            "sectors loaded for each row of 1,024",
            lambda profile: profile["global_read_sectors"] / COUNTED[0],
            256,
            "128 sectors of x and 128 of the weight. Keep the row where the block finds it again: in shared memory.",
        ),
    ),
    tolerance=1e-4,
    sanitize=True,
    hints=(
        "Each element is needed twice: for the sum of squares, and for the result. Where can it wait in between?",
        "Go through the row with all 128 threads, keep it in row[], and add up squares. block_sum gives the sum to "
        "all.",
        "float scale = rsqrtf(block_sum(squares) / columns + eps); then a second loop stores row[i] * scale * "
        "weight[i].",
    ),
    solution="""
__device__ float block_sum(float value) {                     // of 128 threads, and all of them get it
    __shared__ float partial[4];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    return partial[0] + partial[1] + partial[2] + partial[3];
}

extern "C" __global__
void rms_norm(const float* x, const float* weight, float* out, int columns, float eps) {
    __shared__ float row[1024];
    int first = blockIdx.x * columns;
    float squares = 0;
    for (int i = threadIdx.x; i < columns; i += 128) {
        row[i] = x[first + i];
        squares += row[i] * row[i];
    }
    float scale = rsqrtf(block_sum(squares) / columns + eps);
    for (int i = threadIdx.x; i < columns; i += 128)
        out[first + i] = row[i] * scale * weight[i];
}
""",
    why="The reduction in the middle does not prevent fusion, because a row fits into one block: the row waits in "
    "shared "
    "memory while the threads agree on its sum. Each thread reads back only what it wrote itself, so the row could "
    "wait "
    "in registers too. Squares cannot cancel, so the trap of the variance does not exist here.",
    stretch="let a whole warp take a row, with float4 loads and the row in registers. Which barrier is left?",
    equivalent=(
        *(((STORES, f"if (threadIdx.{lane})"), "any lane may store the sum of its warp") for lane in OTHER_LANES),
        (("threadIdx.x / 32] = value", "threadIdx.x / 31] = value"), "0, 32, 64 and 96 divided by 31 are 0 to 3 too"),
        (("int step = 16", "int step = 17"), "17, 8, 4, 2 and 1 reach all lanes as well"),
        (("float partial[4]", "float partial[5]"), "more room than is used"),
        (("float row[1024]", "float row[1025]"), "more room than is used"),
    ),
    mistakes=(
        Mistake(
            "the sum in place of the mean",
            "RMS is the root of the *mean* of squares: divide the sum by the number of columns.",
            (("block_sum(squares) / columns + eps", "block_sum(squares) + eps"),),
        ),
        Mistake(
            "multiplied by the root",
            "The row is divided by its root mean square: rsqrtf gives 1 / root.",
            (("rsqrtf(", "sqrtf("),),
        ),
        Mistake(
            "eps is not under the root",
            "eps is added to the mean under the root, so that a row of zeros divides by no zero.",
            (("rsqrtf(block_sum(squares) / columns + eps)", "1 / (sqrtf(block_sum(squares) / columns) + eps)"),
             ("/ columns + eps)", "/ columns)")),
        ),
        Mistake(
            "nothing is divided",
            "The row has to be divided by the root of the mean of its squares, plus eps.",
            (("row[i] * scale * weight[i]", "row[i] * weight[i]"),),
        ),
        Mistake(
            "no weight",
            "Each column has a weight, and the result is multiplied by it.",
            ((" * weight[i]", ""),),
        ),
        Mistake(
            "each thread goes by its own squares",
            "A thread knows only the squares of its own elements. block_sum adds up those of the block.",
            (("block_sum(squares)", "squares"),),
        ),
        Mistake(
            "the row is loaded a second time",
            "Right, but the second loop reads x once more. The row is still in row[].",
            (("row[i] * scale", "x[first + i] * scale"),),
        ),
        Mistake(
            "128 columns only",
            "A row may be longer than the block: each thread has to take every 128th element.",
            (("    for (int i = threadIdx.x; i < columns; i += 128)\n        out",
              "    int i = threadIdx.x;\n    if (i < columns)\n        out"),),
        ),
        Mistake(
            "the mean is subtracted",
            "That is layer norm. RMS norm divides by the root mean square and leaves the mean where it is.",
            (("    float scale = rsqrtf(block_sum(squares) / columns + eps);",
              "    float mine = 0;\n    for (int i = threadIdx.x; i < columns; i += 128) mine += row[i];\n"
              "    float scale = rsqrtf(block_sum(squares) / columns + eps);\n    __syncthreads();\n"
              "    float mean = block_sum(mine) / columns;\n"
              "    for (int i = threadIdx.x; i < columns; i += 128) row[i] -= mean;"),),
        ),
    ),
)  # fmt: skip

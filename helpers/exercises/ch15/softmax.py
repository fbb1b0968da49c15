"""A softmax of halves that neither overflows nor loses its sum, a thread for each row."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, plural

BLOCK = 64
LARGEST = "float largest = __half2float(x[row]);"
FIND = "for (int k = 1; k < columns; ++k) largest = fmaxf(largest, __half2float(x[k * rows + row]));"
ADD = "for (int k = 0; k < columns; ++k) sum += expf(__half2float(x[k * rows + row]) - largest);"
POWER = "expf(__half2float(x[k * rows + row]) - largest)"


SHAPES = (
    *((1, 1, 0), (5, 3, -2), (64, 10, 0), (65, 7, 30), (100, 10, -400), (9, 9, 0, 300), (40, 2, 0, 300)),
    (33, 2000, -8, 0.25, True),
)


def _case(rows: int, columns: int, centre: float, spread: float = 6, peak: bool = False) -> Case:
    """Logits around a centre; with a `peak` the first of each row is 0, so that the others add up beside it."""
    dice = np.random.default_rng(rows + columns)
    x = (centre + spread * dice.integers(-24, 25, (columns, rows)) / 24).astype(np.float16)
    if peak:
        x[0] = 0
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(axis=0))
    wanted = (powers / powers.sum(axis=0)).astype(np.float16)
    name = f"{plural(rows, 'row')} of {plural(columns, 'logit')} from {centre - spread:g} to {centre + spread:g}"
    name += ", and a 0" * peak
    return Case(name, (x, Out(wanted), np.int32(rows), np.int32(columns)), (cover(rows, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch15.softmax",
    title="a softmax of halves that holds, in CUDA C",
    language="cuda",
    name="softmax",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(64, 32, 0),
    tolerance=2e-3,
    budgets=(
        Budget(
            "sectors per load request",
            lambda p: p["sectors_per_load_request"],
            2.1,
            "Neighbouring threads are neighbouring rows, which lie side by side: 32 halves fill two sectors.",
        ),
    ),
    hints=(
        "Go through the row three times: find the largest logit, add up the powers, divide.",
        "Keep largest and sum as float, and convert each logit with __half2float.",
        "expf(__half2float(x[k * rows + row]) - largest), added to a float; at the end __float2half(power / sum).",
    ),
    solution="""
#include <cuda_fp16.h>
extern "C" __global__ void softmax(const half* x, half* out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float largest = __half2float(x[row]);
    for (int k = 1; k < columns; ++k) largest = fmaxf(largest, __half2float(x[k * rows + row]));
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += expf(__half2float(x[k * rows + row]) - largest);
    for (int k = 0; k < columns; ++k)
        out[k * rows + row] = __float2half(expf(__half2float(x[k * rows + row]) - largest) / sum);
}
""",
    why="With the largest logit taken away every power lies between 0 and 1, and at least one of them is 1, so the sum "
    "is neither infinite nor zero. The sum is a float, because 400 powers in a half would lose the small ones. Halves "
    "are what is loaded and stored, so the kernel moves half the bytes of one in FP32: narrow in memory, wide in "
    "registers is the rule for everything that is not a matrix product.",
    stretch="two passes in place of three: chapter 17 finds the largest and the sum together, while it reads.",
    equivalent=(
        ((FIND, FIND.replace("k = 1", "k = 0")), "the first logit compared with itself"),
        ((LARGEST, LARGEST.replace("float largest", "int largest")), "any shift within 1 of the largest does as well"),
    ),
    mistakes=(
        Mistake(
            "the largest is not taken away",
            "Powers of logits above 11 do not fit into a half, and above 88 not even into a float. Find the row's "
            "largest logit first, and take it from each.",
            ((" - largest", ""),),
        ),
        Mistake(
            "taken away in one place only",
            "Numerator and sum have to be shifted alike: the same largest logit is taken away in both.",
            ((POWER + " / sum", "expf(__half2float(x[k * rows + row])) / sum"),
             (ADD, ADD.replace(" - largest", ""))),
        ),
        Mistake(
            "the sum is a half",
            "With hundreds of terms a sum in FP16 stops growing. Convert each power, and add it to a float.",
            ((("float sum = 0;", "half sum = __float2half(0.0f);"),
              ("sum += " + POWER, f"sum = __hadd(sum, __float2half({POWER}))"), ("/ sum)", "/ __half2float(sum))")),),
        ),
        Mistake(
            "the largest begins at zero",
            "Where all logits are negative, zero is larger than each: begin with the row's first logit, or with "
            "-INFINITY.",
            ((LARGEST, "float largest = 0;"),),
        ),
        Mistake(
            "the first logit is no maximum",
            "Any logit is not enough: one that is much smaller than another still lets that one's power overflow.",
            ((FIND, ""),),
        ),
        Mistake(
            "rows and columns swapped",
            "The logits of a row lie `rows` apart: logit k of this row is x[k * rows + row].",
            (("x[k * rows + row]", "x[row * columns + k]"),),
        ),
        Mistake(
            "not divided",
            "These are powers. Divided by their sum they are probabilities, and add up to 1.",
            ((" / sum", ""),),
        ),
        Mistake(
            "the smallest taken away",
            "The largest logit has to become 0, so that no power is above 1: fmaxf, not fminf.",
            (("fmaxf", "fminf"),),
        ),
        Mistake(
            "a power of two",
            "exp2f is 2 to the power; a softmax takes powers of e: expf.",
            (("expf", "exp2f"),),
        ),
    ),
)  # fmt: skip

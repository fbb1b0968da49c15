"""The variance of 64 values a thread, in few registers: what has to be known of the values that have passed?"""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.checking.measures import total
from helpers.exercises.ch09.budgets import FEW_REGISTERS

BLOCK, ROWS = 128, 64
ONE_PASS = """        total, squares = 0.0, 0.0
        for k in range(64):
            v = x[k, i]
            total += v
            squares += v * v
        mean = total / 64
"""
RESULT = "squares / 64 - mean * mean"
HELD = """    if i < out.size:
        values = cuda.local.array(64, "float32")
        total = 0.0
        for k in range({0}):
            values[k] = x[k, i]
            total += values[k]
        squares = 0.0
        for k in range({0}):
            squares += (values[k] - total / 64) ** 2
        out[i] = squares / 64
"""
HELD_BY = f"@cuda.jit({{}})\ndef spread(x, out):\n    i = cuda.grid(1)\n{HELD.format(64)}"
TWO_PASSES = HELD.replace("            values[k] = x[k, i]\n", "").replace("values[k]", "x[k, i]")
RUN = ONE_PASS.replace("\n        ", "\n            ").replace("        total, ", "            total, ", 1).rstrip(" ")


def _case(n: int) -> Case:
    x = numbers((ROWS, n), seed=n)
    wide = x.astype(np.float64)
    out = ((wide * wide).mean(axis=0) - wide.mean(axis=0) ** 2).astype(np.float32)
    return Case(plural(n, "column"), (x, Out(out)), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch09.spread",
    title="the variance of 64 values a thread, in few registers, in Numba",
    language="numba",
    name="spread",
    cases=lambda: [_case(n) for n in (1, 3, 127, 128, 131, 300)],
    measured=lambda: _case(256),
    tolerance=1e-3,
    budgets=(
        *FEW_REGISTERS,
        Budget(
            "sectors loaded for 64 × 256 floats",
            total("global_read_sectors"),
            2100,
            "Each value is needed once: 64 · 256 · 4 / 32 = 2,048 sectors.",
        ),
    ),
    hints=(
        "Which of the 64 values must still be known when the next one is loaded? Two sums are enough.",
        "The variance is the mean of the squares less the square of the mean.",
        "total += v; squares += v * v in one loop; then mean = total / 64 and squares / 64 - mean * mean.",
    ),
    solution=f"""
@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
{ONE_PASS}        out[i] = {RESULT}
""",
    why="Two sums take the place of 64 values. (0.0 makes them float64 in Numba, which does no harm to the result: the "
    "two terms may be close, and float32 would lose digits.) The compiler may still load several values ahead, for it "
    "knows that they do not depend on one another.",
    stretch="use Welford's update instead, which keeps its digits even in float32, and look at registers again.",
    mistakes=(
        Mistake(
            "an index has gone astray",
            "The thread that stopped has a column of its own, so it is no guard that is missing. Value k of column i "
            "is x[k, i], rows first, and k goes from 0 to 63.",
            (("x[k, i]", "x[i, k]"), ("range(64)", "range(65)"), ("range(64)", "range(1, 65)")),
        ),
        Mistake(
            "the mean is no variance",
            "That is the mean. The variance is the mean of the squares less the square of the mean.",
            ((RESULT, "mean"),),
        ),
        Mistake(
            "a root too many",
            "That is the standard deviation, the root of the variance.",
            ((RESULT, f"({RESULT}) ** 0.5"),),
        ),
        Mistake(
            "the mean is not squared",
            "The mean of the squares is less by the square of the mean, not by the mean.",
            (("mean * mean", "mean"),),
        ),
        Mistake(
            "the mean is not taken off",
            "That is the mean of the squares. The variance is less by the square of the mean.",
            ((" - mean * mean", ""),),
        ),
        Mistake(
            "divided by 63",
            "These 64 values are all there are: divide by 64, as np.var does.",
            ((RESULT, f"({RESULT}) * 64 / 63"),),
        ),
        Mistake(
            "an array in local memory",
            "The loop's length is not known to the compiler, so the array has to be memory. Keep no array at all.",
            (f"    i = cuda.grid(1)\n{HELD.format('x.shape[0]')}",),
        ),
        Mistake(
            "the registers were taken away, the values were not",
            "The compiler was told to use fewer registers, and now moves the values to local memory and back. Let the "
            "kernel need fewer.",
            (HELD_BY.format("max_registers=32"), HELD_BY.format("max_registers=40")),
        ),
        Mistake(
            "all 64 values are held at once",
            "The compiler has many of the 64 values in registers at one time. A second pass wants them again: can one "
            "pass do? And a loop of 64 may be unrolled, with all loads ahead of the sums: one over x.shape[0], which "
            "the compiler does not know, is not.",
            (HELD_BY.format(""),),
        ),
        Mistake(
            "a lane alone asks for values",
            "Right, with a sector for every value. Neighbouring lanes take neighbouring columns: thread i has column "
            "i, and no other.",
            (f"    if cuda.grid(1) == 0:\n        for i in range(out.size):\n{RUN}            out[i] = {RESULT}",),
        ),
        Mistake(
            "every value is loaded twice",
            "Few registers, but twice the traffic. Collect all that you need while a value passes by.",
            (f"    i = cuda.grid(1)\n{TWO_PASSES.format('x.shape[0]')}",),
        ),
    ),
)

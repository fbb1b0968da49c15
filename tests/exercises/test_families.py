"""What is told of answers that make no mistake of an exercise's own: a family, with facts that are true of them."""

from __future__ import annotations

import pytest

from helpers.checking.check import check
from helpers.checking.exercise import exercise
from helpers.checking.solutions import built, patched

HALF = "row < x.shape[0] and column < x.shape[1]"
# exercise, patch of its solution or another body, family, a part of what is told
ROWS = [
    ("ch04.grey", ("n + i] +", "n + i] +;"), "it does not compile", "stopped before any thread ran"),
    ("ch04.grey", ("if (i < n)", "for (;;) if (i < n)"), "it does not end", "loop's condition"),
    ("ch04.grey", ("if (i < n)", "if (i % 2) __syncthreads(); else __syncthreads();\n    if (i < n)"),
     "threads wait at different barriers", "out of the branch"),
    ("ch04.grey", ("if (i < n)", "if (i <= n)"), "no guard", "128 threads for 1 elements"),
    ("ch04.grey", ("planes[n + i]", "planes[n * i + 1]"), "the index leads out of the array",
     "thread 3 of block 0, which has"),
    ("ch04.grey", ("planes[i]", "planes[i - 1]"), "an index below 0", "planes[-1], with 1 pixel"),
    ("ch04.grey", ("2 * n + i", "3 * n - 1 - i + (i == n - 1) * n"), "one past the end", "no thread too many"),
    ("ch02.bias", ("bias[x]", "bias[y * columns + x]"), "the index leads out of the array", "It used bias[1]"),
    ("ch04.float4", ("(in)[i]", "(in + 1)[i]"), "a wide access begins between two", "multiple of its own size"),
    ("ch04.grey", ("if (i < n)", "extern __shared__ float s[]; s[threadIdx.x] = 1;\n    if (i < n)"),
     "shared memory that the launch does not give", "declare an array with a size"),
    ("ch04.grey", "", "nothing is written yet", "Every output element"),
    ("ch04.grey", ("blockIdx.x * blockDim.x + ", ""), "every block does the work of block 0", "the first 128 elements"),
    ("ch04.grey", ("blockIdx.x * blockDim.x", "blockIdx.x"), "the threads' indices do not reach all elements",
     "blockIdx.x + threadIdx.x"),
    ("ch04.halve", ("column, row = cuda.grid(2)",
     "column = cuda.grid(2)[0]\n    row = cuda.threadIdx.y"), "the threads' indices do not reach all elements",
     "in row threadIdx.y and column blockIdx.x * blockDim.x + threadIdx.x"),
    ("ch04.grey", ("i < n", "i < n - 1"), "the last element is left out", "With 1 pixel element 0"),
    ("ch04.grey", ("i < n", "i < n && i > 0"), "the first element is left out", ""),
    ("ch04.halve", (HALF, "row < x.shape[0] - 1 and column < x.shape[1]"), "the last row is left out", ""),
    ("ch04.halve", (HALF, "row < x.shape[0] and column < x.shape[1] - 1"), "the last column is left out", ""),
    ("ch04.halve", (HALF, "row < x.shape[0] and 0 < column < x.shape[1]"), "the first column is left out", ""),
    ("ch04.halve", (HALF, "row < x.shape[0] // 2 and column < x.shape[1]"), "whole rows are never written", "rows 0"),
    ("ch04.halve", (HALF, f"{HALF} and x[row, column] > 0"), "left out by its sign", "the input is negative"),
    ("ch04.grey", ("i < n", "i < n && i % 2 == 0"), "only some of every few elements are written", "remainder 0 by 2"),
    ("ch04.grey", ("i < n", "i < n - n / 4"), "the end is not written", ""),
    ("ch04.grey", ("i < n", "i < n && i % 5 % 3"), "some elements are never written", ""),
    ("ch04.grey", ("= 0.25f", "= -0.25f"), "the result is wrong", "With 1 pixel element 0"),
    ("ch04.grey", ((" = 0.25f", " = -(0.25f"), ("n + i];", "n + i]);")), "the sign is turned", ""),
    ("ch04.grey", ((" = 0.25f", " = 0 * (0.25f"), ("n + i];", "n + i]);")), "zero everywhere", "1 / 2 is 0"),
    ("ch04.halve", ("x[row, column] / 2", "x[row, column]"), "an input as it lies", "argument 1"),
    ("ch04.halve", ("/ 2", "/ 8"), "a multiple of the right result", "0.25 times"),
    ("ch04.halve", ("/ 2", "/ 2 + 3"), "the same amount too much or too little", "is 3."),
    ("ch04.grey", (" = 0.25f", " = (int)(0.25f"), "it does not compile", ""),
    ("ch04.grey", ((" = 0.25f", " = (int)(0.25f"), ("n + i];", "n + i]);")), "fractions are lost", ""),
    ("ch04.halve", ("x[row, column] / 2", "abs(x[row, column] / 2)"), "without its sign", ""),
    ("ch04.halve", ("x[row, column] / 2", "min(x[row, column] / 2, 1)"), "cut off at a bound", "greater than 1"),
    ("ch04.halve", ("x[row, column] / 2", "x[x.shape[0] - 1 - row, column] / 2"), "upside down", ""),
    ("ch04.halve", ("x[row, column] / 2", "x[row, x.shape[1] - 1 - column] / 2"), "back to front in each row", ""),
    ("ch04.halve", ("x[row, column] / 2", "x[row, (column + 1) % x.shape[1]] / 2"), "shifted", "axis 1"),
    ("ch04.halve", ("x[row, column] / 2", "max(x[row, column], x[row, column] / 2)"),
     "wrong where the input is positive", "argument 1"),
    ("ch04.halve", ("x[row, column] / 2", "x[row, column] / 0.0 * 0.0"), "no numbers", ""),
    ("ch04.halve", ("x[row, column] / 2", "x[row, column] / 2.001"), "off by a little", ""),
    ("ch04.halve", ("out[row, column] =", "out[row, column] +="), "memory is read that nobody wrote", "`out` on line"),
    ("ch04.grey", ("out[i] =", "out[i / 2] ="), "lanes of one store want different values in one element", "`out`"),
    ("lab02.shrink", ("] =", "] +="), "added to what was there", ""),
    ("lab02.planes", ("i < n", "blockIdx.x == 0) for (; i < n; i += blockDim.x"), "few do the work of all", "block 0"),
    ("ch04.float4", ("4 * i + 3 < n", "n > 5 && 4 * i + 3 < n && i % 2"), "right, but over budget", ""),
    ("lab01.normalise", ("i / pixels % channels", "i / pixels + channels - 2"), "a thread left its array",
     "it was mean[3]"),
    ("lab01.configure", ("// height)))", "// height) + 7))"), "one piece is wrong", "number 1 of number 0"),
    ("lab03.follow", ("float tile", "int tile"), "fractions are lost", "where most should have fractions"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "way", "family", "words"), ROWS, ids=[f"{row[0]}: {row[2]}" for row in ROWS])
def test_a_family_is_told_with_its_facts(key, way, family, words):
    task = exercise(key)
    report = check(built(task, patched(task, way)), key)
    assert report.mistake == family, repr(report)
    assert words in report.message

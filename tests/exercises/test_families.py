"""What is told of answers that make no mistake of an exercise's own: a family, with facts that are true of them."""

from __future__ import annotations

import pytest

from helpers.checking.check import check
from helpers.checking.exercise import exercise
from helpers.checking.solutions import built, patched

TEN = "        halve((blocks,), (128,), (x, np.int32(x.size)))\n"
EMPTY_GRAPH = f"""    stream, blocks = cp.cuda.Stream(non_blocking=True), -(-x.size // 128)
    stream.begin_capture()
    for _ in range(10):
{TEN}    graph = stream.end_capture()
    for _ in range(times):
        graph.launch(stream)"""
IN_SHARED = """    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float A[8] = {2, 3, .5f, 1.5f, 4, .25f, 5, 6}, B[8] = {1, -2, 4, -1, 3, 0, -3, 2};
    __shared__ float a[8], b[8];
    if (threadIdx.x < 8) { a[threadIdx.x] = A[threadIdx.x]; b[threadIdx.x] = B[threadIdx.x]; }
    if (i < n) out[i] = a[kind[i]] * x[i] + b[kind[i]];"""
TWO_ROUNDS = """    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    if (i < n) out[i] = 1.5f * x[i];
    if (i + all < n) out[i + all] = 1.5f * x[i + all];"""
ONE_BEYOND = """    held = fitting(registers, kib)
    if not held:
        return 0, 0
    r, k = registers, kib
    while r < 255 and fitting(r, kib) == held:
        r += 1
    while k < 228 and fitting(registers, k) == held:
        k += 1
    return r, k
"""
INTO_THE_PADDING = """    int c = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const float* row = x + y * pitch;
    if (y < rows && c < out_pitch) out[y * out_pitch + c] = c < columns / 2 ? 0.5f * (row[2 * c] + row[2 * c + 1]) : 0;
"""
INT_VALUE = """    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { int v = x[i]; out[i] = v > 0 ? v : slope * v; }"""
SIX_OF_EIGHT = """    if i < x.shape[1]:
        best = cuda.local.array(8, np.float32)
        for j in range(8):
            best[j] = -np.inf
        for k in range(x.shape[0]):
            v, j = x[k, i], 7
            while j > 0 and best[j - 1] < v:
                best[j] = best[j - 1]
                j -= 1
            best[j] = max(best[j], v)
        for j in range(8):
            out[j, i] = best[j] if j < 6 else -np.inf
"""
COUNTED_UP = """    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int i = first + threadIdx.x; i < end; i += blockDim.x) if (x[i] > limit) list[count++] = i; else out[i] = x[i];
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += blockDim.x) out[list[k]] = costly(x[list[k]]);
"""
HALF = "row < x.shape[0] and column < x.shape[1]"
# exercise, patch of its solution or another body, family, a part of what is told
ROWS = [
    ("ch04.grey", ("n + i] +", "n + i] +;"), "it does not compile", "stopped before any thread ran"),
    ("ch04.grey", ("if (i < n)", "for (;;) if (i < n)"), "it does not end", "loop's condition"),
    ("ch04.grey", ("if (i < n)", "if (i % 2) __syncthreads(); else __syncthreads();\n    if (i < n)"),
     "threads wait at different barriers", "out of the branch"),
    ("ch04.grey", ("if (i < n)", "if (i <= n)"), "a thread without an element goes on", "128 threads for 1 element"),
    ("ch04.grey", ("planes[n + i]", "planes[n * i + 1]"), "the index is outside the array",
     "thread 3 of block 0, which has an element of its own"),
    ("ch04.grey", ("planes[i]", "planes[i - 1]"), "an index below 0", "planes[-1], with 1 pixel"),
    ("ch04.grey", ("2 * n + i", "3 * n - 1 - i + (i == n - 1) * n"), "one past the end",
     "exactly one thread per element"),
    ("ch02.bias", ("bias[x]", "bias[y * columns + x]"), "the index is outside the array", "It used bias[1]"),
    ("ch04.float4", ("(in)[i]", "(in + 1)[i]"), "a wide access that is not aligned", "multiple of its own size"),
    ("ch04.grey", ("if (i < n)", "extern __shared__ float s[]; s[threadIdx.x] = 1;\n    if (i < n)"),
     "shared memory without a size", "declare an array with a size"),
    ("ch04.grey", "", "nothing is written yet", "Every element of the output"),
    ("ch06.histogram", "", "nothing is written yet", "Every element of the output"),
    ("ch06.histogram", "    atomicAdd(counts, 0);", "the result is as it was before", "Something is stored"),
    ("ch04.grey", ("blockIdx.x * blockDim.x + ", ""), "every block does the work of block 0", "the first 128 elements"),
    ("ch04.grey", ("blockIdx.x * blockDim.x", "blockIdx.x"), "not all elements are reached",
     "blockIdx.x + threadIdx.x"),
    ("ch04.halve", ("column, row = cuda.grid(2)",
     "column = cuda.grid(2)[0]\n    row = cuda.threadIdx.y"), "not all elements are reached",
     "in row threadIdx.y and column blockIdx.x * blockDim.x + threadIdx.x"),
    ("ch04.grey", ("i < n", "i < n - 1"), "the last element is left out",
     "stop one element early? With 1 pixel, element 0"),
    ("ch04.grey", ("i < n", "i < n && i > 0"), "the first element is left out", ""),
    ("ch04.halve", (HALF, "row < x.shape[0] - 1 and column < x.shape[1]"), "the last row is left out",
     "guard, a loop or a store"),
    ("ch04.halve", (HALF, "row < x.shape[0] and column < x.shape[1] - 1"), "the last column is left out", ""),
    ("ch04.halve", (HALF, "row < x.shape[0] and 0 < column < x.shape[1]"), "the first column is left out", ""),
    ("ch04.halve", (HALF, "row < x.shape[0] // 2 and column < x.shape[1]"), "whole rows are never written",
     "row 0 is left out"),
    ("ch04.halve", (HALF, f"{HALF} and x[row, column] > 0"), "elements are left out by their sign",
     "the input is negative"),
    ("ch04.grey", ("i < n", "i < n && i % 2 == 0"), "elements are written with gaps", "index is 0 modulo 2"),
    ("ch04.grey", ("i < n", "i < n - n / 4"), "the end is not written", ""),
    ("ch04.grey", ("i < n", "i < n && i % 5 % 3"), "some elements are never written", ""),
    ("ch04.grey", ("i < n", "i < gridDim.x"), "not all elements are reached", "is a guard too strict"),
    ("ch04.scale", TWO_ROUNDS, "a fixed number of elements per thread", "2 for each of 32 threads"),
    ("lab02.shrink", INTO_THE_PADDING, "what should stay is changed", "that is 7 elements; the first is 1"),
    ("ch04.halve", ("x[row, column] / 2", "int(x[row, column]) / 2"), "wrong where the input has a fraction", ""),
    ("ch04.halve", ("/ 2", "/ (2 + row % 2)"), "whole rows are wrong", "these are wrong: rows 1, 3, 5, 7, …"),
    ("ch04.halve", ("/ 2", "/ (2 + column % 2)"), "whole columns are wrong", "these are wrong: columns 1, 3, 5, 7, …"),
    ("ch04.halve", ("/ 2", "/ (2 + (column > 0))"), "whole columns are wrong", "only these are right: column 0."),
    ("ch04.grey", ("= 0.25f", "= i % 4 == 3 ? 99.f : 0.25f"), "wrong at regular intervals", "3 modulo 4"),
    ("ch08.table", ("kind[i]", "kind[threadIdx.x]"), "only the first block is right", "each index use blockIdx"),
    ("ch02.blocks", "    return -(-n // threads) - (n == 1024)", "a single case is wrong", "It is: blocks(1,024"),
    ("ch04.grey", ("= 0.25f", "= (n > 50 && i == 40) + 0.25f"), "right up to a size",
     "right: 32 pixels. The smallest that is wrong: 97 pixels, in 1 block"),
    ("lab07.top", SIX_OF_EIGHT, "whole rows are wrong", "these are wrong: rows 6, 7."),
    ("ch12.bandwidth", (("round(", "int("), (", 1)", ")")), "rounded down", "The wrong values"),
    ("ch12.bottleneck", (('"none"', '"None"'), ('"divergence"', '"Divergence"')), "spelled differently",
     "should be 'none'"),
    ("ch07.exclusive", "    __shared__ int q[8];\n    q[threadIdx.x * 9] = 1;\n    out[threadIdx.x] = q[threadIdx.x];",
     "an index outside shared memory", "Is the index too large"),
    ("ch00.leaky", INT_VALUE, "wrong where the input has a fraction", "Is a float stored in an integer"),
    ("ch00.leaky", ("x[i] > 0", "x[i] >= 1"), "the result is wrong", ""),
    ("lab07.room", ONE_BEYOND, "off by one: too large", "The wrong values are too large by 1"),
    ("ch11.replay", EMPTY_GRAPH, "an empty graph", "Pass this stream to the launches"),
    ("lab06.refine", COUNTED_UP, "read and written on the same line", "The array is `count`"),
    ("ch04.grey", ("= 0.25f", "= -0.25f"), "the result is wrong", "With 1 pixel, element 0"),
    ("ch04.grey", ((" = 0.25f", " = -(0.25f"), ("n + i];", "n + i]);")), "the sign is wrong", ""),
    ("ch04.grey", ((" = 0.25f", " = 0 * (0.25f"), ("n + i];", "n + i]);")), "zero everywhere",
     "Every wrong element is 0"),
    ("ch04.halve", ("x[row, column] / 2", "x[row, column]"), "an unchanged input", "argument 1"),
    ("ch04.halve", ("/ 2", "/ 8"), "a multiple of the right result", "0.25 times"),
    ("ch04.halve", ("/ 2", "/ 2 + 3"), "the same amount too much or too little", "is 3."),
    ("ch04.grey", (" = 0.25f", " = (int)(0.25f"), "it does not compile", ""),
    ("ch04.grey", ((" = 0.25f", " = (int)(0.25f"), ("n + i];", "n + i]);")), "fractions are lost", ""),
    ("ch04.halve", ("x[row, column] / 2", "abs(x[row, column] / 2)"), "without its sign", ""),
    ("ch04.halve", ("x[row, column] / 2", "min(x[row, column] / 2, 1)"), "cut off at a bound", "greater than 1"),
    ("ch04.halve", ("x[row, column] / 2", "x[x.shape[0] - 1 - row, column] / 2"), "in reverse order", ""),
    ("ch04.halve", ("x[row, column] / 2", "x[row, x.shape[1] - 1 - column] / 2"), "back to front in each row", ""),
    ("ch04.halve", ("x[row, column] / 2", "x[row, (column + 1) % x.shape[1]] / 2"), "shifted", "axis 1"),
    ("ch04.halve", ("x[row, column] / 2", "max(x[row, column], x[row, column] / 2)"),
     "wrong where the input is positive", "argument 1"),
    ("ch04.halve", ("x[row, column] / 2", "x[row, column] / 0.0 * 0.0"), "NaN or infinity", ""),
    ("ch04.halve", ("x[row, column] / 2", "x[row, column] / 2.001"), "off by a little", ""),
    ("ch04.halve", ("out[row, column] =", "out[row, column] +="), "uninitialised memory is read",
     "The array is `out`, on line"),
    ("ch04.grey", ("out[i] =", "out[i] +="), "uninitialised memory is read", "is still as it was, should be"),
    ("ch04.grey", ("out[i] =", "out[i / 2] ="), "different values are stored to one element", "`out`"),
    ("lab02.shrink", ("] =", "] +="), "added to what was there", ""),
    ("lab02.planes", ("i < n", "blockIdx.x == 0) for (; i < n; i += blockDim.x"),
     "one block or warp does most of the work", "block 0"),
    ("ch04.float4", ("4 * i + 3 < n", "n > 5 && 4 * i + 3 < n && i % 2"), "right, but over budget", ""),
    ("lab01.normalise", ("i / pixels % channels", "i / pixels + channels - 2"), "a thread left its array",
     "it was mean[3]"),
    ("lab01.configure", ("65_535, down", "65_535, down + 7"), "one value is wrong", "The wrong one is result[0][1]."),
    ("lab04.shares", ("last && t <", "t <"), "several threads store to one element",
     "thread (0) of block (1) writes `out[0]`"),
    ("lab03.rotate", ("__shared__ float tile", "if (top + threadIdx.y >= rows) return;\n    __shared__ float tile"),
     "threads end before a barrier", "guard the work"),
    ("lab03.pool", ("    cuda.syncthreads()\n    if row < x.shape[0] and column < x.shape[1]:",
     "    if row < x.shape[0] and column < x.shape[1]:\n        cuda.syncthreads()"),
     "threads end before a barrier", ""),
    ("lab15.fooling", "    return None", "a value is None", "haven't written yet"),
    ("lab16.buckets", "    pass", "nothing is returned", "1 layer: returned None\n"),
    ("lab02.embed", ("i / each", "i % each"), "a thread left its array", "line 8: int row = token[i % each];"),
    ("lab03.follow", ("float tile", "int tile"), "fractions are lost", "but most should have fractions"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "way", "family", "words"), ROWS, ids=[f"{row[0]}: {row[2]}" for row in ROWS])
def test_a_family_is_told_with_its_facts(key, way, family, words):
    task = exercise(key)
    report = check(built(task, patched(task, way)), key)
    assert report.mistake == family, repr(report)
    assert words in repr(report)


@pytest.mark.parametrize(
    ("key", "way", "fix"),
    [
        ("ch04.grey", ("planes[n + i]", "planes[n + 1 + i]"), "guard the access"),  # it has one
        ("ch08.table", IN_SHARED, "syncwarp"),  # seen in one warp only, as one element is the first case
    ],
)
def test_no_cure_is_told_that_would_not_mend_it(key, way, fix):
    task = exercise(key)
    report = check(built(task, patched(task, way)), key)
    assert report.mistake and fix not in repr(report)

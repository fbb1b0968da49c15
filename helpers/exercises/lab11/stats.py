"""Mean and 1 / standard deviation of rows of halves: float sums, wide loads, and a shift against cancellation."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import COALESCED, NO_SHARED
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, plural
from helpers.exercises.lab11.budgets import WIDE_LOADS

WARPS, EPS = 4, 1e-5
IN_HALF = """    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    half s = 0, s2 = 0;
    for (int i = lane; i < n; i += 32) {
        s += x[row * n + i];
        s2 += x[row * n + i] * x[row * n + i];
    }
    for (int d = 16; d > 0; d /= 2) {
        s += __shfl_xor_sync(0xffffffff, s, d);
        s2 += __shfl_xor_sync(0xffffffff, s2, d);
    }
    if (lane == 0) {
        float mean = __half2float(s) / n;
        out[2 * row] = mean;
        out[2 * row + 1] = rsqrtf(__half2float(s2) / n - mean * mean + 1e-5f);
    }"""
LOOP = "for (int i = lane; i < n / 8; i += 32) {"


def _case(rows: int, n: int, seed: int = 0, around: float = 200) -> Case:
    """Halves of whole numbers near `around`, whose sum is beyond a half and whose spread is small."""
    dice = np.random.default_rng(seed or rows + n)
    middle = around * (1 + np.arange(rows)[:, None] % 3)
    spread = dice.integers(-8, 9, (rows, n)) / 2
    spread[3::4] = 0  # equal elements: only the small number is left under the root
    x = (middle + spread).astype(np.float16)
    exact = x.astype(np.float64)
    expected = np.stack([exact.mean(axis=1), 1 / np.sqrt(exact.var(axis=1) + EPS)], axis=1).astype(np.float32)
    name = f"{plural(rows, 'row')} of {n} halves"
    return Case(name, (x, Out(expected), np.int32(rows), np.int32(n)), (cover(rows, WARPS),), (32 * WARPS,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(int(dice.integers(2, 12)), 8 * int(dice.integers(2, 100))) for _ in range(2)]
    sizes.append((WARPS * int(dice.integers(2, 4)), 256 * int(dice.integers(4, 7))))
    return [_case(*size, int(dice.integers(1, 10**6)), float(dice.integers(100, 300))) for size in sizes]


EXERCISE = Exercise(
    key="lab11.stats",
    title="mean and deviation of rows of halves, in CUDA C",
    language="cuda",
    name="stats",
    cases=lambda: [_case(*size) for size in ((1, 16), (2, 40), (5, 264), (9, 1000))],
    measured=lambda: _case(8, 1024),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    tolerance=1e-4,
    budgets=(COALESCED, WIDE_LOADS, NO_SHARED),
    hints=(
        "Halves are for keeping, floats for adding up. And with values near 200 that spread by 2, the mean of squares "
        "and the square of the mean share their first five digits.",
        "Subtract something near the mean from every element before you square it, and add it again in the end. The "
        "first element of the row is near enough, and every lane can load it.",
        "float v = __half2float(h[j]) - base; s += v; s2 += v * v. After five shuffles of each: m = s / n, mean = base "
        "+ m, variance = s2 / n - m * m. A uint4 is eight halves: const half* h = (const half*)&eight.",
    ),
    why="A half has eleven bits, so a sum of a thousand of them neither fits its range nor its precision. A float is "
    "wide enough for the sum. But the variance as a difference of two large numbers loses digits in any format, so the "
    "cure is not a wider type: it is a shift. The variance does not change when the same number is taken from all, "
    "and near 0 there is nothing to cancel. Layer norm in PyTorch keeps its statistics in float32 for half inputs, "
    "and updates them by Welford's rule, which shifts by the mean found so far.",
    stretch="Welford's rule joins two triples of count, mean and sum of squares. Write it, and compare instructions.",
    equivalent=(
        (("d = 16", "d = 17"), "by 17, 8, 4, 2 and 1 each lane reaches every other, too"),
        (("lane == 0", "lane == 1"), "after exchanges all lanes know the sums"),
        (("float base", "int base"), "any number near the mean will do"),
    ),
    mistakes=(
        Mistake("added up in half",
            "A half ends at 65,504 and has eleven bits. Keep the elements as they are, and add them up in float.",
            ((("s += v;", "s = __half2float(__float2half(s + v));"), (" - base;", ";"), ("base + m", "m")), IN_HALF)),
        Mistake("two large numbers are subtracted",
            "The mean is right, and 1 / deviation is not. The mean of squares less the square of the mean leaves "
            "little of two large numbers, and that little is rounding. Take a number near the mean from all elements "
            "first.",
            (((" - base;", ";"), ("base + m", "m")),)),
        Mistake("divided by n - 1",
            "Layer norm divides the sum of squares by n, and not by n - 1.",
            (("s2 / n", "s2 / (n - 1)"),)),
        Mistake("the shift is not added again",
            "The mean of what is left is not the mean: add what was taken away.",
            (("base + m", "m"),)),
        Mistake("without the small number",
            "Under the root belongs the variance plus 1e-5, as layer norm has it.",
            ((" + 1e-5f", ""), (" + 1e-5f", " + 1e-3f"))),
        Mistake("the deviation, or its square",
            "The second number is 1 / sqrt(variance + 1e-5), with which a row is multiplied.",
            (("rsqrtf(", "sqrtf("), ("rsqrtf(", "("))),
        Mistake("some eights are left out",
            "A row has n / 8 pieces of eight halves, and lane l takes pieces l, l + 32 and so on, to the last.",
            (("i < n / 8; i += 32", "i < min(32, n / 8); i += 32"), ("j < 8", "j < 4"), ("j < 8", "j < 7"))),
        Mistake("lanes know only themselves",
            "Every lane has sums of its own. Five shuffles of each bring them together, by 16, 8, 4, 2 and 1.",
            (("d = 16; d > 0", "d = 16; d > 1"), ("d = 16; d > 0", "d = 8; d > 0"),
             (("s += __shfl_xor_sync(0xffffffff, s, d);", ""),))),
        Mistake("read once for the mean and once more for the rest",
            "Right, but every row is loaded twice. One pass is enough if each element is taken relative to something "
            "near the mean.",
            ((LOOP, "float mean = 0;\n    for (int i = lane; i < n / 8; i += 32) {\n        uint4 eight = wide[i];\n"
              "        for (int j = 0; j < 8; ++j) mean += __half2float(((const half*)&eight)[j]);\n    }\n"
              "    for (int d = 16; d > 0; d /= 2) mean += __shfl_xor_sync(0xffffffff, mean, d);\n"
              "    base = mean / n;\n    " + LOOP),)),
        Mistake("narrow loads",
            "Right, but a lane loads two or four bytes at a time, so that a warp has to ask more often. A uint4 brings "
            "eight halves.",
            ("""    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += row * n;
    float base = __half2float(x[0]), s = 0, s2 = 0;
    for (int i = lane; i < n; i += 32) {
        float v = __half2float(x[i]) - base;
        s += v;
        s2 += v * v;
    }
    for (int d = 16; d > 0; d /= 2) {
        s += __shfl_xor_sync(0xffffffff, s, d);
        s2 += __shfl_xor_sync(0xffffffff, s2, d);
    }
    if (lane == 0) {
        float m = s / n;
        out[2 * row] = base + m;
        out[2 * row + 1] = rsqrtf(s2 / n - m * m + 1e-5f);
    }""",)),
    ),
)  # fmt: skip

"""Softmax of each row in one launch, the row in registers."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.exercises.lab10.budgets import IN_REGISTERS, ONCE, ONE_EXPONENTIAL, WARP

WARPS = 4
MAXIMUM = "m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));"
SUM = "sum += __shfl_xor_sync(0xffffffff, sum, d);"
LOADS = "k < ", "; ++k) {\n        int i = lane + 32 * k;\n        v[k]"
STORES = "k < ", "; ++k) {\n        int i = lane + 32 * k;\n        if"
AGAIN = """if (row >= rows) return;
    float m = LOWEST, sum = 0;
    for (int i = lane; i < n; i += 32) m = fmaxf(m, scale * x[row * n + i]);
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
    for (int i = lane; i < n; i += 32) sum += expf(scale * x[row * n + i] - m);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    for (int i = lane; i < n; i += 32) out[row * n + i] = expf(scale * x[row * n + i] - m) / sum;"""


def _case(rows: int, n: int, scale: float, seed: int = 0) -> Case:
    x = numbers((rows, n), seed=seed or n)
    x += np.float32(400) * (np.arange(rows) % 3 - 1).astype(np.float32)[:, None]  # beyond exp, on either side
    scaled = x.astype(np.float64) * np.float32(scale)
    power = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    wanted = (power / power.sum(axis=1, keepdims=True)).astype(np.float32)
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}, times {scale:g}"
    arguments = (x, Out(wanted), np.int32(rows), np.int32(n), np.float32(scale))
    return Case(name, arguments, (cover(rows, WARPS),), (WARPS * WARP,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 32)), 1.0), (int(dice.integers(5, 12)), int(dice.integers(33, 1000)), 0.5)]
    whole = (int(dice.integers(5, 9)), WARP * int(dice.integers(26, 33)), 0.125)
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


EXERCISE = Exercise(
    key="lab10.softmax",
    title="softmax of each row in one launch, in CUDA C",
    language="cuda", name="softmax",
    cases=lambda: [_case(*shape) for shape in ((1, 1, 1), (2, 31, 0.5), (5, 97, 1), (3, 1024, 0.25), (6, 501, 0.125))],
    measured=lambda: _case(6, 1024, 0.125), drawn=_drawn,
    sanitize=True, shared_out=True, tolerance=1e-4,
    budgets=(ONCE, ONE_EXPONENTIAL, IN_REGISTERS),
    hints=(
        "Three things are done with every element: it takes part in the greatest, in the sum, and in the result. Where "
        "does it stay in between, if memory is asked for it once only?",
        "Each lane keeps float v[32], its elements lane, lane + 32, … of the row. All three loops run over k from 0 to "
        "31 under #pragma unroll, and an element beyond the row is left out by an if, or is LOWEST.",
        "v[k] = scale * x[row * n + i] and m = fmaxf(m, v[k]); five __shfl_xor_sync for m; v[k] = expf(v[k] - m) and "
        "sum += v[k]; five for sum; out[row * n + i] = v[k] * (1 / sum). LOWEST gives exp = 0, which adds nothing.",
    ),
    why="Written with array operations, softmax is six kernels: a product with scale, a maximum, a difference, an "
    "exponential, a sum, a division. Between them the whole matrix goes to memory and comes back, though no row ever "
    "needs another one. One launch loads each element once and stores each result once, which is the least there can "
    "be. What is in between lies in registers, so the length of a row is limited by them: beyond some thousands of "
    "elements a whole block takes a row, or the row is read twice, with the maximum and the sum found in one pass.",
    stretch="rows of any length, with x loaded twice: the pair (m, sum) of lab 05 in one pass, the result in another. "
    "How long must a row be before that is the better kernel?",
    equivalent=(
        ((f"{LOADS[0]}32{LOADS[1]}", f"{LOADS[0]}33{LOADS[1]}"), "behind the last element of the longest row"),
        ((f"{LOADS[0]}32{LOADS[1]}", f"{LOADS[0][:-1]}= 32{LOADS[1]}"), "behind the last element of the longest row"),
        ((f"{STORES[0]}32{STORES[1]}", f"{STORES[0]}33{STORES[1]}"), "behind the last element of the longest row"),
        ((f"{STORES[0]}32{STORES[1]}", f"{STORES[0][:-1]}= 32{STORES[1]}"), "behind the last element of any row"),
        (("v[32]", "v[33]"), "more room than is used"),
        *(((old, old.replace("16", "17", 1)), "17, 8, 4, 2 and 1 lead from each lane to every other, once")
          for old in (f"int d = 16; d > 0; d /= 2) {MAXIMUM}", f"int d = 16; d > 0; d /= 2) {SUM}")),
    ),
    mistakes=(
        Mistake(
            "the exponential overflows",
            "expf of anything above 88 is infinite, and infinity by infinity is not a number; far below 0 everything "
            "is 0, and 0 / 0 is none either. Take the greatest scaled element of the row out first.",
            (("expf(v[k] - m)", "expf(v[k])"), ("m = LOWEST", "m = 0")),
        ),
        Mistake(
            "each lane has its own maximum",
            "Lanes took out different numbers, so that their sums are relative to different things. All 32 need the "
            "greatest of the row: five `__shfl_xor_sync` with `fmaxf`, before the first `expf`.",
            ((MAXIMUM, ";"), ("d = 16; d > 0; d /= 2) m", "d = 8; d > 0; d /= 2) m")),
        ),
        Mistake(
            "each lane has its own sum",
            "A lane divided by what it has added up itself. All 32 lanes need the sum of the row: five "
            "`__shfl_xor_sync`, by 16, 8, 4, 2 and 1.",
            ((SUM, ";"), ("d = 16; d > 0; d /= 2) sum", "d = 8; d > 0; d /= 2) sum")),
        ),
        Mistake(
            "lane 0 alone knows the result of the shuffles",
            "`__shfl_down_sync` brings the total to lane 0 only. Each lane stores elements here, so each needs it: "
            "`__shfl_xor_sync` leaves it in all of them.",
            ((SUM, SUM.replace("xor", "down")), (MAXIMUM, MAXIMUM.replace("xor", "down")),
             ((SUM, SUM.replace("xor", "down")), (MAXIMUM, MAXIMUM.replace("xor", "down")))),
        ),
        Mistake(
            "never divided by the sum",
            "A row of the result adds up to 1: every element is divided by the sum of all.",
            (("v[k] * share", "v[k]"),),
        ),
        Mistake(
            "the scale is not the one asked for",
            "Each element is multiplied by scale once, before the exponential: softmax(scale · x) is neither "
            "softmax(x) nor scale · softmax(x).",
            (("scale * x[", "x["), ("v[k] * share", "scale * v[k] * share"),
             ("expf(v[k] - m)", "expf(scale * (v[k] - m))")),
        ),
        Mistake(
            "places beyond the row take part",
            "A lane without an element added something to the sum. What is beyond the row has to be LOWEST before "
            "the exponential, whose exp is 0, or it is left out by an if.",
            ((": LOWEST;", ": 0;"), (": LOWEST;", ": m;")),
        ),
        Mistake(
            "only the first elements of a row",
            "A row has up to 1,024 elements, 32 for each lane: element k of a lane is lane + 32 * k.",
            (("k < 32", "k < 16"), ("lane + 32 * k", "lane + 16 * k")),
        ),
        Mistake(
            "a stride of another length",
            "Rows lie behind one another, n elements each: row r begins at r * n.",
            (("x[row * n", "x[row * 32"), ("out[row * n", "out[row * 32"), ("row * n", "row * blockDim.x")),
        ),
        Mistake(
            "the row is loaded again for every pass",
            "Right, and memory was asked three times for the same row. Keep what a lane has loaded in an array of 32.",
            (AGAIN,),
        ),
    ),
)  # fmt: skip

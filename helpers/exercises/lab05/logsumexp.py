"""The logarithm of a sum of exponentials, a warp for each row: a reduction of pairs."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import COALESCED, NO_SHARED
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.exercises.lab05.budgets import ENDED

WARP = 32
SCALED = "d * math.exp(m - big) + math.exp(v - big)"
JOINED = "d * math.exp(m - big) + d2 * math.exp(m2 - big)"
FROM_0 = ("m, d = x[row, 0]", "m, d = np.float32(0)")
KEPT_AS_IT_IS = (("max(m, v)", "m"), ("max(m, m2)", "m"))
TWICE = """    if row < x.shape[0]:
        m, d = x[row, 0], np.float32(0)
        for i in range(lane, x.shape[1], 32): m = max(m, x[row, i])
        for k in (16, 8, 4, 2, 1): m = max(m, cuda.shfl_xor_sync(0xFFFFFFFF, m, k))
        for i in range(lane, x.shape[1], 32): d += math.exp(x[row, i] - m)
        for k in (16, 8, 4, 2, 1): d += cuda.shfl_xor_sync(0xFFFFFFFF, d, k)
        if lane == 0: out[row] = m + math.log(d)"""


def _case(rows: int, n: int, seed: int = 0) -> Case:
    x = numbers((rows, n), seed=seed or n) + np.float32(200) * (np.arange(rows) % 3 - 1).astype(np.float32)[:, None]
    x[1::4, n // 2] += 150  # so far above the rest that nothing else may be taken out
    most = x.max(axis=1).astype(np.float64)
    wanted = (most + np.log(np.exp(x - most[:, None]).sum(axis=1))).astype(np.float32)
    return Case(f"{plural(rows, 'row')} of {plural(n, 'element')}", (x, Out(wanted)), (cover(rows, 4),), (4 * WARP,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    seeds = dice.integers(1, 10**6, 4)
    sizes = [(1, int(dice.integers(2, 32))), (int(dice.integers(5, 12)), int(dice.integers(33, 200))), (3, 32)]
    cases = [_case(*size, seed=int(seed)) for size, seed in zip(sizes, seeds, strict=False)]
    # Whole rounds of a warp in the case that is counted: where lanes end in different rounds, a compiler that unrolls
    # their loop shifts some of them, and sectors are loaded again for it.
    return [*cases, _case(int(dice.integers(5, 9)), WARP * int(dice.integers(20, 30)), int(seeds[-1]))]


EXERCISE = Exercise(
    key="lab05.logsumexp",
    title="log-sum-exp of each row, in Numba",
    language="numba", name="logsumexp", sanitize=True, also_wrong=ENDED, shared_out=True,
    cases=lambda: [_case(*shape) for shape in ((1, 1), (2, 31), (5, 97), (4, 32), (7, 501))],
    measured=lambda: _case(6, 1024), drawn=_drawn, budgets=(COALESCED, NO_SHARED),
    hints=(
        "Each lane keeps two numbers: m, the greatest so far, and d, the sum of exp(x - m) so far. What happens to d "
        "when m grows?",
        "Two such pairs join to m = max(m1, m2) and d = d1 · exp(m1 - m) + d2 · exp(m2 - m). An element x is the pair "
        "(x, 1), and (anything finite, 0) changes nothing.",
        "Per element: big = max(m, v); d = d * math.exp(m - big) + math.exp(v - big); m = big. Then the same with the "
        "pair that shfl_xor_sync brings from 16, 8, 4, 2 and 1 lanes away.",
    ),
    why="A reduction needs an associative operator, not a sum: here it joins pairs of a maximum and a sum that is "
    "relative to it. That turns two passes over a row into one, and is the core of the softmax in FlashAttention, "
    "which never holds a whole row. The neutral pair has sum 0; its maximum may be anything finite, where -inf would "
    "give -inf - (-inf). A warp a row wants no barrier and no shared memory: what its lanes share is in registers.",
    stretch="write softmax itself: one pass for the pair, one that stores exp(x - m) / d. Is a third load of x needed?",
    equivalent=(
        (("lane == 0", "lane == 1"), "after shuffles by xor every lane has the pair of the row"),
        *(((old, new), "the distances still lead from each lane to every other, once") for old, new in
          (("(16,", "(17,"), (" 8,", " 9,"), (" 4,", " 5,"), (" 2, 1)", " 3, 1)"))),
    ),
    mistakes=(
        Mistake(
            "warps that share a row",
            "Rows are left out, or several warps store to one element of out. Count warps of the whole grid: warp "
            "cuda.grid(1) // 32 has row and out[row] of that number, and a block has four warps.",
            (("grid(1) // 32", "blockIdx.x"), ("grid(1)", "threadIdx.x"), ("out[row]", "out[lane]")),
        ),
        Mistake(
            "a row or column that is not there",
            "Some thread left its array. It is x[row, column] and out[row], one element for a warp. The last block may "
            "have warps without a row: x.shape says how many rows and columns there are.",
            (("row < x.shape[0]", "row >= 0"), ("x[row, i]", "x[i, row]"),
             ("if lane == 0:\n            out[row]", "out[cuda.grid(1)]")),
        ),
        Mistake(
            "a warp has only part of its row",
            "The 32 lanes of a warp share a row: they begin at their lane and go on by 32, whatever warp of the block "
            "they are of.",
            (("range(lane, x.shape[1], 32)", "range(cuda.threadIdx.x, x.shape[1], 128)"),
             ("x.shape[1], 32", "min(x.shape[1], 32), 32"), ("x.shape[1], 32", "x.shape[1], 128")),
        ),
        Mistake(
            "some lanes never reach lane 0",
            "Lane 0 stored without some of the lanes, or took some twice. Five shuffles it takes, by 16, 8, 4, 2 and "
            "1, all of them; one by 32 leads out of the warp, and so brings a lane its own pair again.",
            ((", 1):", "):"), ("(16, ", "("), ("(16,", "(32, 16,"), ("(16, 8, 4, 2, 1)", "range(0)")),
        ),
        Mistake(
            "the greatest begins at 0",
            "Where all elements are below 0, that is greater than any of them: exp(-200) is 0, and its logarithm -inf. "
            "Begin with an element of the row.",
            (FROM_0,),
        ),
        Mistake(
            "minus infinity minus itself",
            "A lane without an element begins at -inf, and -inf - (-inf) is not a number. Begin with something finite: "
            "the row's first element, with a sum of 0, changes nothing.",
            (("m, d = x[row, 0]", "m, d = np.float32(-math.inf)"),),
        ),
        Mistake(
            "the exponential overflows",
            "exp(200) is beyond a float, and exp(-200) is 0, whose logarithm is -inf. Take out the greatest m of the "
            "row, and nothing that may be far from it: log-sum-exp = m + log Σ exp(x - m).",
            (KEPT_AS_IT_IS, ("max(", "min("), (FROM_0, *KEPT_AS_IT_IS)),
        ),
        Mistake(
            "the last step is another one",
            "The greatest m of the row and the sum d are right, and what is stored is not m + math.log(d): the m that "
            "was taken out comes back, and the logarithm has base e, as exp has.",
            (("m + math.log", "math.log"), (" + math.log(d)", ""), ("math.log(d)", "d"), (".log(", ".log2(")),
        ),
        Mistake(
            "the sum begins at 1",
            "Each lane counts an element that it has not met. A sum of 0 changes nothing, whatever the greatest.",
            (("np.float32(0)", "np.float32(1)"),),
        ),
        Mistake(
            "the sum is not scaled when a greater element comes",
            "The sum so far is relative to the old greatest. When a greater one comes, multiply it by exp(old - new), "
            "which is below 1, and keep the new one.",
            ((SCALED, "d + math.exp(v - big)"), (SCALED, SCALED.replace("m - big", "big - m")),
             (" one\n            m = big", " one")),
        ),
        Mistake(
            "sums that belong to different maxima",
            "A lane's sum is one of exp(x - m) with the lane's own m. Before two are added, each is multiplied by "
            "exp(its own m - greater m), and the greater one is kept. (After __shfl_xor_sync all lanes have the "
            "greatest of the row, after shfl_down_sync lane 0 alone.)",
            ((JOINED, "d + d2"), ("(m2 -", "(m -"), ("big\n        if lane", "m\n        if lane"),
             (("m2, d2 = cuda", "m2 = cuda"), ("k), cuda", "k)\n            m = max(m, m2)\n            d2 = cuda")),
             TWICE.replace("xor", "down")),
        ),
        Mistake(
            "every element is loaded twice",
            "Right, in two passes: one for the greatest, one for the sum. One will do, if the sum is scaled anew "
            "whenever a greater element comes.",
            (TWICE,),
        ),
    ),
)  # fmt: skip

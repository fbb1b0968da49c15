"""The last reading, carried forward into gaps: a scan whose operator does not commute."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import COALESCED
from helpers.checking.exercise import Case, Exercise, Mistake, Out, plural
from helpers.exercises.lab05.budgets import BARRIERS_A_WARP, BLOCK, ENDED, SHARED_A_ROW

NOT_WRITTEN = -9
WARPS = "for (int w = warp - 1; w >= 0 && v < 0; --w)"
LOAD = "int v = t < n ? x[blockIdx.x * n + t] : -1;"
WALK = f"{LOAD} __shared__ int a[256]; if (t < n) a[t] = v; __syncthreads(); if (t >= n) return;"
STORE = "out[blockIdx.x * n + t] = v;"


def _case(rows: int, n: int, seed: int = 0, readings: float = 0.2) -> Case:
    dice = np.random.default_rng(seed or n)
    x = np.where(dice.random((rows, n)) < readings, dice.integers(0, 40, (rows, n)), -1).astype(np.int32)
    x[0] = np.where(np.arange(n) == n // 9, 7, -1)  # one reading, then none any more
    if rows > 1:
        x[1, 0], x[1, n // 2] = 5, 0
    # Each gap (below zero) takes the last reading before it in its row.
    last = np.maximum.accumulate(np.where(x >= 0, np.arange(n), -1), axis=1)
    filled = np.where(last >= 0, np.take_along_axis(x, np.maximum(last, 0), axis=1), -1).astype(np.int32)
    # Bytes 0xFF would be -1, which is also what an element without a reading before it must hold.
    wanted = Out(filled, initial=np.full(x.shape, NOT_WRITTEN, np.int32))
    return Case(f"{plural(rows, 'row')} of {plural(n, 'element')}", (x, wanted, np.int32(n)), (rows,), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(rows, int(dice.integers(*band))) for rows, band in ((2, (2, 32)), (3, (33, 128)), (4, (129, 256)))]
    sizes.append((int(dice.integers(5, 12)), 8 * int(dice.integers(28, 1 + BLOCK // 8))))  # rows begin at a sector
    return [_case(*size, int(dice.integers(1, 10**6)), dice.uniform(0.02, 0.3)) for size in sizes]


EXERCISE = Exercise(
    key="lab05.fill",
    title="fill gaps with the last reading, in CUDA C",
    language="cuda", name="fill",
    cases=lambda: [_case(*shape) for shape in ((1, 1), (2, 31), (3, 97), (4, 128), (5, 251), (6, 256))],
    measured=lambda: _case(8, BLOCK, seed=8), drawn=_drawn,
    sanitize=True, also_wrong=ENDED, shared_out=True,
    budgets=(COALESCED, BARRIERS_A_WARP, SHARED_A_ROW),
    hints=(
        "This is an inclusive scan. Its operator takes the right operand if that is a reading, else the left one.",
        "Within a warp: left = __shfl_up_sync(0xffffffff, v, d) for d = 1, 2, 4, 8, 16, and if lane >= d and v < 0, v "
        "= left. Threads beyond n come along with -1.",
        "Lane 31 stores v to s[t / 32]; __syncthreads(); whoever still has v < 0 goes through the warps before its "
        "own, from the nearest one back, until a reading is found.",
    ),
    why="“The right one if it is a reading, else the left one” is associative, and that is all a scan asks; it does "
    "not commute, so the order of the operands has to be right at every level. Five shuffles settle a warp, eight "
    "numbers and one barrier the block, however long a gap is. A walk back is as quick where readings are dense and "
    "takes n steps where they are rare.",
    stretch="__ballot_sync gives all readings of a warp as bits. Find the last one at or below your lane with __clz, "
    "and fetch it with one shuffle instead of five.",
    equivalent=(
        *((("d < 32", new), "no lane has one 32 below it, and the last distance is 16") for new in
          ("d <= 32", "d < 33", "d < 31")),
        *(((": -1", new), "nobody looks at what comes behind the row") for new in (": -2", ": -0")),
    ),
    mistakes=(
        Mistake(
            "a thread beyond its row",
            "Row r is x[r * n] to x[r * n + n - 1]: rows are n apart, not 256, and threads from n on neither load nor "
            "store.",
            ((LOAD, "int v = x[blockIdx.x * n + t];"), ("x[blockIdx.x * n", "x[blockIdx.x * 256"),
             ("t < n", "t <= n"), ("if (t < n) out", "out"), ("out[blockIdx.x * n", "out[blockIdx.x * 256")),
        ),
        Mistake(
            "gaps are not written",
            f"Where out holds {NOT_WRITTEN}, nobody has written. Each element of the row is stored, also the -1 of a "
            "gap that no reading precedes.",
            (("(t < n)", "(t < n && x[blockIdx.x * n + t] >= 0)"), ("(t < n)", "(t < n && v >= 0)")),
        ),
        Mistake(
            "every row gets the first one",
            "Every block has worked on row 0. Its own row begins at x[blockIdx.x * n].",
            (("x[blockIdx.x * n + t]", "x[t]"),),
        ),
        Mistake(
            "the warps before are not asked in turn",
            "Shuffles stay within a warp. A gap that no reading of its own warp precedes takes what the nearest warp "
            "before its own found last; if that found none, the one before that, and so on to the first.",
            ((f"{WARPS} v = s[w];", ""), (WARPS, "int w = warp - 1; if (w >= 0 && v < 0)"), ("warp - 1", "warp"),
             (WARPS, "for (int w = 0; w < warp && v < 0; ++w)"), ("w >= 0", "w > 0"), ("warp - 1", "warp - 2")),
        ),
        Mistake(
            "what is handed on is not the warp's last",
            "What a warp hands on is what it found last. That is in lane 31, behind the scan: what a lane has loaded "
            "may be a gap, and lane 0 knows the first element alone.",
            (("lane == 31", "lane == 0"), ("lane == 31", "lane == 30"),
             (("s[warp] = v;", ";"), ("for (int d = 1", "if (lane == 31) s[warp] = v; for (int d = 1"))),
        ),
        Mistake(
            "the scan stops early",
            "A reading did not come far enough within its warp. One step reaches one element back, and the distance "
            "doubles: it takes five steps, by 1, 2, 4, 8 and 16.",
            (("d < 32", "d < 16"), ("d < 32", "d < 2"), ("d *= 2", "d *= 4"), ("int d = 1;", "int d = 2;"),
             f"{LOAD} if (t > 0 && t < n && v < 0) v = x[blockIdx.x * n + t - 1]; if (t < n) {STORE}"),
        ),
        Mistake(
            "another operator",
            "Of two readings neither the greater nor the earlier one counts, but the later one: only a gap, v < 0, "
            "takes the left operand. The order of the two matters here, as it does not in a sum.",
            (("lane >= d && v < 0", "lane >= d"), ("lane >= d && v < 0", "lane >= d && left >= 0"),
             (("if (lane >= d && v < 0) v = left", "if (lane >= d) v = max(v, left)"), (" && v < 0; --w", "; --w"),
              ("v = s[w]", "v = max(v, s[w])")),
             (("lane >= d && v < 0", "lane >= d && left >= 0"), (" && v < 0; --w", "; --w"),
              ("v = s[w]", "v = s[w] < 0 ? v : s[w]"))),
        ),
        Mistake(
            "zero and gaps are mixed up",
            "0 is a reading, and gaps are below zero: a 0 stays and is carried on, and a gap that no reading precedes "
            "stays -1.",
            ((("for (int d = 1", "if (v <= 0) v = -1; for (int d = 1"), ("v < 0", "v <= 0")),
             (("] = v;\n    // ###", "] = max(v, 0);\n    // ###"),)),
        ),
        Mistake(
            "filled from the right",
            "Each gap took the reading that comes after it. __shfl_up_sync brings what lies before.",
            (f"{WALK} for (int k = t + 1; k < n && v < 0; ++k) v = a[k]; {STORE}",
             (("shfl_up", "shfl_down"), ("lane >= d", "lane + d < 32")), ("shfl_up", "shfl_down")),
        ),
        Mistake(
            "walks back through global memory",
            "Right, but elements are loaded again by every gap behind them. Load each once; what threads need of one "
            "another goes through shuffles.",
            (f"{LOAD} if (t < n) {{ for (int k = t - 1; k >= 0 && v < 0; --k) v = x[blockIdx.x * n + k]; {STORE} }}",),
        ),
        Mistake(
            "walks back through shared memory",
            "Right, but a gap of 200 elements is walked 200 times. A scan takes log₂ steps, whatever the gap.",
            (f"{WALK} int k = t; while (k > 0 && a[k] < 0) --k; out[blockIdx.x * n + t] = a[k];",
             f"{WALK} for (int k = t - 1; k >= 0 && v < 0; --k) v = a[k]; {STORE}"),
        ),
    ),
)  # fmt: skip

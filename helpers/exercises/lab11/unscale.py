"""What a GradScaler does to gradients: take the scale out, and say once whether any of them overflowed."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import COALESCED
from helpers.checking.exercise import Case, Exercise, Mistake, Out, plural
from helpers.exercises.lab11.budgets import HALF_WIDE_LOADS, STORED, WIDE_STORES
from helpers.exercises.lab11.codes import place_of

BAD = {"": (), "inf": (np.inf,), "-inf": (-np.inf,), "nan": (np.nan,), "many": (np.nan, np.inf)}
FINITE = "!isfinite(a.x) || !isfinite(a.y) || !isfinite(b.x) || !isfinite(b.y)"
FLAG = "if (__syncthreads_or(bad) && threadIdx.x == 0) atomicExch(&out[n], 1.0f);"


def _case(n: int, scale: float, blocks: int, threads: int = 128, bad: str = "", seed: int = 0, of_four=None) -> Case:
    dice = np.random.default_rng(seed or n)
    g = (dice.standard_normal(n) * 2.0 ** dice.integers(-12, 4, n)).astype(np.float16)
    for value in BAD[bad]:
        place = place_of(value, n, dice)
        place = place if of_four is None else place // 4 * 4 + of_four
        g[dice.random(n) < 0.2 if bad == "many" else place] = value
    expected = np.zeros(n + 1, np.float32)
    expected[:n] = g.astype(np.float32) / np.float32(scale)
    expected[n] = not np.isfinite(g).all()
    what = f"{plural(n, 'gradient')}, scale {scale:g}" + (f", {bad}" if bad else "")
    arguments = (g, Out(expected, np.zeros(n + 1, np.float32)), np.int32(n), np.float32(scale))
    return Case(f"{what}, {plural(blocks, 'block')} of {threads}", arguments, (blocks,), (threads,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    kinds = [str(each) for each in dice.permutation(["", "inf", "-inf", "nan"])]
    cases = [
        _case(4 * int(dice.integers(2, 300)), 2.0 ** int(dice.integers(3, 17)), int(dice.integers(1, 6)),
              32 * int(dice.integers(1, 9)), kind, int(dice.integers(1, 10**6)))
        for kind in kinds
    ]  # fmt: skip
    scale, seed = 2.0 ** int(dice.integers(3, 17)), int(dice.integers(1, 10**6))
    last = _case(2048 * int(dice.integers(4, 7)), scale, 4, 256, "many", seed)
    return [*cases, last]


EXERCISE = Exercise(
    key="lab11.unscale",
    title="take the scale out of gradients, and flag an overflow, in CUDA C",
    language="cuda", name="unscale",
    cases=lambda: [
        _case(4, 8, 1, 32), _case(100, 65536, 1, 64, "nan", of_four=0), _case(516, 1024, 3, 96, "inf", of_four=1),
        _case(1000, 65536, 2, 64, "-inf", of_four=2), _case(52, 16, 1, 32, "nan", of_four=3),
        _case(2048, 65536, 4, 128), _case(2044, 4, 3, 256, "many"),
    ],
    measured=lambda: _case(8192, 1024, 4, 256, "many"),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    tolerance=1e-12,  # scales are powers of two, so nothing is rounded
    budgets=(COALESCED, HALF_WIDE_LOADS, STORED, WIDE_STORES),
    hints=(
        "A half becomes a float of twice the size. If lanes load 16 bytes each, how far apart are the 16 bytes that "
        "they store at a time?",
        "Four halves in, one float4 out: then both sides are side by side. Each thread remembers whether it met "
        "something that is not finite, and asks the others of its block once, behind the loop.",
        "uint2 four = ((const uint2*)g)[i]; float2 a = __half22float2(*(half2*)&four.x), b = …; ((float4*)out)[i] = "
        "make_float4(a.x * inverse, …). In the end: " + FLAG,
    ),
    why="Small gradients vanish in half, so the loss is multiplied by a scale before the backward pass, and the "
    "gradients are divided by it in float, where nothing vanishes. If the scale was too large some gradient became "
    "inf or NaN, and the whole step must be skipped, so one flag is all that anybody needs to know. Each block votes "
    "first, and then says it once. It may do so by a plain store, because whoever stores stores the same: PyTorch's "
    "kernel does. That is no harm until somebody stores a 0, too. The widest "
    "load is not best here: a lane that reads eight halves writes 32 bytes, in two stores that leave gaps.",
    stretch="no thread has to wait for the others: what becomes of the counters with a vote of each warp?",
    equivalent=((("threadIdx.x == 0)", "threadIdx.x == 1)"), "any one thread of the block may say it"),),
    mistakes=(
        Mistake("only infinities are found",
            "Where inf meets inf, or 0, there comes NaN, which is not infinite: ask for !isfinite.",
            ((FINITE, "isinf(a.x) || isinf(a.y) || isinf(b.x) || isinf(b.y)"),)),
        Mistake("only NaN is found",
            "An overflow is inf first: ask for !isfinite, which is true for inf and for NaN.",
            ((FINITE, "isnan(a.x) || isnan(a.y) || isnan(b.x) || isnan(b.y)"),)),
        Mistake("some gradients are not looked at",
            "All four gradients of a lane count, in each round of the loop.",
            ((FINITE, "!isfinite(a.x) || !isfinite(b.x)"), (FINITE, "!isfinite(a.x)"), ("bad = bad || ", "bad = "))),
        Mistake("multiplied by the scale",
            "The loss was multiplied by the scale, so the gradients are divided by it.",
            (("1 / scale", "scale"),)),
        Mistake("divided in half",
            "Small gradients vanish again: in half the quotient is 0 or has lost bits. Make floats of them first.",
            ((("a.x * inverse", "__half2float(__float2half(a.x * inverse))"),
              ("a.y * inverse", "__half2float(__float2half(a.y * inverse))"),
              ("b.x * inverse", "__half2float(__float2half(b.x * inverse))"),
              ("b.y * inverse", "__half2float(__float2half(b.y * inverse))")),)),
        Mistake("the scale is another one",
            "The scale is an argument: it changes in training, and so between the cases.",
            (("1 / scale", "1 / 65536.0f"), ("1 / scale", "1 / 1024.0f"))),
        Mistake("the last word wins",
            "Every block stores its own finding, and who comes last wins, although another had found an overflow. "
            "Only who has found one stores.",
            ((FLAG, "bool any = __syncthreads_or(bad);\n    if (threadIdx.x == 0) atomicExch(&out[n], any);"),)),
        Mistake("one block speaks for all",
            "Every block has gradients of its own, so every block that has found an overflow says so.",
            (("threadIdx.x == 0)", "threadIdx.x == 0 && blockIdx.x == 0)"),)),
        Mistake("one thread speaks for the block",
            "Thread 0 knows only what it has met itself. __syncthreads_or asks the whole block.",
            (("__syncthreads_or(bad)", "bad"),)),
        Mistake("the flag is counted",
            "The flag is 0 or 1. An atomicAdd counts blocks: an exchange, or a maximum, does not.",
            (("atomicExch(", "atomicAdd("),)),
        Mistake("gradients beyond the launch",
            "There may be more gradients than threads: each thread goes on by all threads of the grid.",
            (("i += gridDim.x * blockDim.x", "i += n"),)),
        Mistake("every thread says so",
            "Right, but threads or warps tell one by one what their block could tell once: __syncthreads_or, and then "
            "one thread.",
            ((FLAG, "if (bad) atomicExch(&out[n], 1.0f);"), (FLAG, "if (bad) out[n] = 1.0f;"),
             (("bad = bad || " + FINITE + ";", "if (" + FINITE + ") atomicExch(&out[n], 1.0f);"), (FLAG, ""),
              ("    bool bad = false;\n", "")))),
        Mistake("one gradient at a time",
            "Right, but a lane loads two bytes at a time, and a warp asks eight times for 512. Load four halves as a "
            "uint2.",
            ("""    bool bad = false;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = __half2float(g[i]);
        bad = bad || !isfinite(v);
        out[i] = v / scale;
    }
    if (__syncthreads_or(bad) && threadIdx.x == 0) atomicExch(&out[n], 1.0f);""",)),
        Mistake("loads so wide that stores have gaps",
            "Right, but a lane that loads eight halves stores 32 bytes, in two stores of 16 that are 32 apart from "
            "lane to lane: each fills half of every sector. Load four halves, and store one float4.",
            ("""    float inverse = 1 / scale;
    bool bad = false;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 2 * t; i < n / 4; i += 2 * gridDim.x * blockDim.x) {
        for (int k = i; k < min(i + 2, n / 4); ++k) {
            uint2 four = ((const uint2*)g)[k];
            float2 a = __half22float2(*(half2*)&four.x), b = __half22float2(*(half2*)&four.y);
            bad = bad || !isfinite(a.x) || !isfinite(a.y) || !isfinite(b.x) || !isfinite(b.y);
            ((float4*)out)[k] = make_float4(a.x * inverse, a.y * inverse, b.x * inverse, b.y * inverse);
        }
    }
    if (__syncthreads_or(bad) && threadIdx.x == 0) atomicExch(&out[n], 1.0f);""",)),
    ),
)  # fmt: skip

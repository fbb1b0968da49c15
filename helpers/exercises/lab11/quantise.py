"""FP8 with one scale for each 32 numbers, a power of two, as block-scaled formats have it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.checking.budgets import COALESCED
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, plural
from helpers.exercises.lab11.budgets import FEW_STORES, WIDE_LOADS
from helpers.exercises.lab11.codes import rounded

GROUP, THREADS = 32, 128


def quantised(x: np.ndarray) -> np.ndarray:
    """The codes of all numbers, then the exponents of all groups, each 127 too large."""
    groups = x.reshape(-1, GROUP).astype(np.float64)
    exponent = np.maximum(np.frexp(np.abs(groups).max(axis=1))[1] - 1 - 8, -127)
    exponent[~groups.any(axis=1)] = -127
    codes = rounded(np.ldexp(groups, -exponent[:, None]))
    return np.concatenate([codes.ravel(), (exponent + 127).astype(np.uint8)])


def _case(groups: int, seed: int = 0) -> Case:
    """Groups of very different size; one of zeros, and one whose largest is just below a power of two."""
    dice = np.random.default_rng(seed or groups)
    x = dice.standard_normal((groups, GROUP)) * 10.0 ** dice.integers(-6, 5, (groups, 1))
    x = x.astype(np.float32)
    x[1::5] = 0
    if groups > 3:
        x[2, :] = np.linspace(-1, 1, GROUP) * 2.0**-121  # a byte knows no exponent so small
        x[3, :] = np.linspace(-1, 1, GROUP)
        x[3, dice.integers(GROUP)] = np.nextafter(np.float32(8), np.float32(0))
    n = x.size
    blocks = cover(n, 4 * THREADS)
    return Case(f"{plural(groups, 'group')} of 32", (x.ravel(), Out(quantised(x)), np.int32(n)), (blocks,), (THREADS,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    groups = [int(dice.integers(2, 16)), int(dice.integers(17, 50)), 16 * int(dice.integers(3, 7))]
    return [_case(each, int(dice.integers(1, 10**6))) for each in groups]


EXERCISE = Exercise(
    key="lab11.quantise",
    title="FP8 with a scale for each 32 numbers, in CUDA C",
    language="cuda",
    name="quantise",
    cases=lambda: [_case(groups) for groups in (1, 4, 13, 21)],
    measured=lambda: _case(64),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(COALESCED, replace(WIDE_LOADS, at_most=1.1), FEW_STORES),
    hints=(
        "If a lane holds four numbers, eight lanes hold a group. How many shuffles find the largest of a group?",
        "A float4 for each lane, the largest of its four sizes, three shuffles by 4, 2 and 1. All eight lanes then "
        "know the scale, multiply, convert, and store four codes as one word.",
        "int e = m == 0 ? -127 : max(ilogbf(m) - 8, -127); float s = ldexpf(1, -e); code: "
        "__nv_cvt_float_to_fp8(v.x * s, __NV_SATFINITE, __NV_E4M3); store a uchar4.",
    ),
    why="FP8 with four bits of exponent goes from 2^-9 to 448, which is little. A scale for a whole tensor must serve "
    "its largest number, and its small ones vanish. A scale for 32 numbers adapts to each neighbourhood, and costs one "
    "byte for 32. It is a power of two, so that multiplying by it rounds nothing. The whole pass is one load, three "
    "shuffles and one store of four codes for each lane: because the group stays within a warp, nobody has to read a "
    "number twice. The MX formats of the Open Compute Project, and Blackwell's tensor cores, have such scales.",
    stretch="FP4 has the values 0, 0.5, 1, 1.5, 2, 3, 4, 6 and a sign. Pack two codes a byte: what is the error of "
    "normal numbers now, and what was it?",
    equivalent=(
        *((("make_float4(0, 0, 0, 0)", f"make_float4({numbers})"), "groups end with the array, so no other lane asks")
          for numbers in ("1, 0, 0, 0", "0, 1, 0, 0", "0, 0, 1, 0", "0, 0, 0, 1")),
        (("i % 8 == 0", "i % 8 == 1"), "all lanes of a group know its exponent"),
        (("i % 8 == 0", "i % 7 == 0"), "every group has a lane whose number is a multiple of 7"),
        (("d = 4;", "d = 5;"), "by 5, 2 and 1 each lane reaches its seven neighbours, too"),
    ),
    mistakes=(
        Mistake("signs are forgotten when the largest is sought",
            "The largest by size counts, whatever its sign: fabsf before fmaxf.",
            ((("fabsf(v.x)", "v.x"), ("fabsf(v.y)", "v.y"), ("fabsf(v.z)", "v.z"), ("fabsf(v.w)", "v.w")),)),
        Mistake("a scale for each lane",
            "A group has 32 numbers, and a lane knows four of them. Three shuffles bring the largest to all eight "
            "lanes, by 4, 2 and 1.",
            (("d = 4; d > 0", "d = 4; d > 4"), ("d = 4; d > 0", "d = 2; d > 0"), ("d = 4; d > 0", "d = 4; d > 1"))),
        Mistake("a scale for the whole warp",
            "A warp of 32 lanes with four numbers each has four groups. The largest must not travel further than "
            "eight lanes: by 4, 2 and 1.",
            (("d = 4; d", "d = 16; d"), ("d = 4; d", "d = 8; d"))),
        Mistake("one scale for everything",
            "Small numbers vanish, and large ones all become 448. Each group of 32 gets the scale that suits its "
            "largest number.",
            (("m == 0 ? -127 : max(ilogbf(m) - 8, -127)", "0"),
             """    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < min(first + 4, n); ++i) {
        out[i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E4M3);
        if (i % 32 == 0) out[n + i / 32] = 127;
    }""")),
        Mistake("a logarithm that rounds",
            "log2f of a number just below a power of two is a whole number, and floorf of it one too many. ilogbf "
            "reads the exponent itself.",
            (("ilogbf(m)", "(int)floorf(log2f(m))"),)),
        Mistake("the scale the wrong way round",
            "What is stored is the exponent e that brings codes back: number = code × 2^e. On the way in a number is "
            "multiplied by 2^-e.",
            (("ldexpf(1, -e)", "ldexpf(1, e)"), ("e + 127;", "127 - e;"))),
        Mistake("the largest is not brought to 2^8",
            "448 lies between 2^8 and 2^9. So the exponent of the scale is that of the largest number, less 8.",
            (("ilogbf(m) - 8", "ilogbf(m)"), ("ilogbf(m) - 8", "ilogbf(m) - 7"), ("ilogbf(m) - 8", "ilogbf(m) - 9"))),
        Mistake("the exponent without its 127",
            "A byte has no sign, so the exponent is stored 127 too large.",
            (("e + 127;", "e;"), ("e + 127;", "e + 128;"))),
        Mistake("a group of zeros, or nearly so",
            "The exponent of 0 is no number that helps. A group of zeros gets the exponent -127, and so the byte 0. "
            "No exponent is less.",
            (("m == 0 ? -127 : ", ""), ("m == 0 ? -127", "m == 0 ? 0"), ("max(ilogbf(m) - 8, -127)", "ilogbf(m) - 8"))),
        Mistake("the other FP8",
            "E5M2 has five bits of exponent and two of mantissa. Asked for is E4M3.",
            (("__NV_E4M3", "__NV_E5M2"),)),
        Mistake("beyond the largest comes NaN",
            "What lies between 448 and 512 becomes 448: __NV_SATFINITE. Without it there is NaN.",
            (("__NV_SATFINITE", "__NV_NOSAT"),)),
        Mistake("a lane for each number",
            "Right, but a lane that loads one number and stores one code moves four bytes and one. Give it four "
            "neighbours: a float4 in, and four codes out as one word.",
            ("""    for (int part = 0; part < 4; ++part) {
        int i = 4 * blockIdx.x * blockDim.x + part * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float v = x[i], m = fabsf(v);
        for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
        int e = m == 0 ? -127 : max(ilogbf(m) - 8, -127);
        out[i] = __nv_cvt_float_to_fp8(v * ldexpf(1, -e), __NV_SATFINITE, __NV_E4M3);
        if (i % 32 == 0) out[n + i / 32] = e + 127;
    }""",)),
        Mistake("four stores of a byte",
            "Right, but the four codes of a lane are stored one by one, each as a request of its own. A uchar4 holds "
            "four.",
            ((("    ((uchar4*)out)[i] = make_uchar4(code(v.x * s), code(v.y * s), code(v.z * s), code(v.w * s));",
               "    out[4 * i] = code(v.x * s);\n    __threadfence_block();\n    out[4 * i + 1] = code(v.y * s);\n"
               "    __threadfence_block();\n    out[4 * i + 2] = code(v.z * s);\n    __threadfence_block();\n"
               "    out[4 * i + 3] = code(v.w * s);"),),)),
    ),
)  # fmt: skip

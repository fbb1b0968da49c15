"""One query of each head in one pass over its keys and values, a warp for each head, nothing stored in between."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, plural
from helpers.exercises.lab12.budgets import IN_REGISTERS, ONCE, ONE_A_TILE, WARP
from helpers.exercises.lab12.shared import ANEW, DISTANCES, HEAD, LANES_SUM, SCALED, attended, given

WARPS = 4
TOP = "top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, apart))"
TOTAL = "l += cuda.shfl_xor_sync(0xFFFFFFFF, l, apart)"
SUMS = "            l = l * shrink + p\n            o *= shrink\n"
LAST = "        for apart in (16, 8, 4, 2, 1):\n            l += cuda.shfl_xor_sync(0xFFFFFFFF, l, apart)\n"
VALUES = "o += cuda.shfl_sync(0xFFFFFFFF, p, j) * v[head, start + j, lane]\n"
DIVIDED = """            o *= l * shrink
            for apart in (16, 8, 4, 2, 1):
                p_all = cuda.shfl_xor_sync(0xFFFFFFFF, total, apart)
                total += p_all
            l = l * shrink + total
"""
ONE_KEY = """            s = query * k[head, j, lane]
            for apart in (16, 8, 4, 2, 1):
                s += cuda.shfl_xor_sync(0xFFFFFFFF, s, apart)
"""
BEFORE = """    if head < q.shape[0]:
        query = scale * q[head, lane]
        m, l, o = lowest, np.float32(0), np.float32(0)
        for j in range(k.shape[1]):
"""
EACH_KEY = f"""{BEFORE}{ONE_KEY}            top = max(m, s)
            shrink, p = math.exp(m - top), math.exp(s - top)
            m, l, o = top, l * shrink + p, o * shrink + p * v[head, j, lane]
        out[head, lane] = o / l"""
TWICE = f"""{BEFORE}{ONE_KEY}            m = max(m, s)
        for j in range(k.shape[1]):
{ONE_KEY}            p = math.exp(s - m)
            l, o = l + p, o + p * v[head, j, lane]
        out[head, lane] = o / l"""


def _case(heads: int, n: int, scale: float, seed: int = 1) -> Case:
    q, k, v = given((heads, 1, HEAD), (heads, n, HEAD), seed)
    expected = attended(q, k, v, scale)[:, 0]
    name = f"{plural(heads, 'head')} of {plural(n, 'key')}, times {scale:g}"
    return Case(name, (q[:, 0], k, v, Out(expected), np.float32(scale)), (cover(heads, WARPS),), (WARPS * WARP,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 32)), 0.25), (int(dice.integers(5, 9)), int(dice.integers(33, 150)), 0.125)]
    whole = (int(dice.integers(5, 9)), WARP * int(dice.integers(6, 9)), 0.25)
    return [_case(*size, int(dice.integers(1, 10**6))) for size in (*odd, whole)]


EXERCISE = Exercise(
    key="lab12.step",
    title="one query of each head in one pass, in Numba",
    language="numba", name="step",
    cases=lambda: [_case(*size) for size in ((1, 1, 0.25), (2, 31, 0.125), (3, 97, 0.25), (5, 64, 0.125))],
    measured=lambda: _case(6, 256, 0.25), drawn=_drawn,
    sanitize=True, shared_out=True, tolerance=1e-3,
    budgets=(ONCE, ONE_A_TILE, IN_REGISTERS),
    hints=(
        "A score is a sum over the 32 numbers of a key, and the result is a sum over keys for each of the 32 numbers "
        "of a value. Which of them is the lane in the first sum, and which in the second?",
        "Lane d multiplies number d of query and key; five shuffles make the score, which lane j keeps if it is key j "
        "of the tile. After 32 keys each lane has a score: find the greatest by shuffles, take one exponential for p "
        "and one for the factor of the old sums, then send each p to all lanes with shfl_sync.",
        "top = max(m, s), then five shuffles with max; shrink = math.exp(m - top); p = math.exp(s - top); "
        "l = l * shrink + p; o *= shrink; for each key j of the tile o += shfl_sync(…, p, j) * v[head, start + j, "
        "lane]. Lanes without a key have s = -inf. At the end add up l over the lanes, and divide once.",
    ),
    why="Key and value of a position pass by once, and what stays of them is three numbers in each lane: m, l and one "
    "number of the output. For each tile one exponential measures the old sums anew; key by key it would be one for "
    "every key, in all 32 lanes. This is what a language model does for each token that it writes, with the keys and "
    "values of all tokens before it. Each of them is used for two multiplications a number and never again, so the "
    "time goes by the bytes of this cache: that is why it is kept in fewer bytes, or shared by several heads.",
    stretch="one warp for each head leaves most of a GPU idle if heads are few and keys are many. Let eight warps have "
    "an eighth of the keys each, and join their (m, l, o) as in chapter 17.",
    equivalent=(
        *(((f"(16, 8, 4, 2, 1):\n{after}", f"({other}):\n{after}"), "from each lane to every other, once")
          for after in (" " * 20 + "product", " " * 16 + "top", " " * 12 + "l") for other in DISTANCES),
        *((("lowest, np.float32(0), np.float32(0)", f"lowest, np.float32({one}), np.float32({two})"), "shrink is 0")
          for one, two in ((0, 1), (1, 0))),
    ),
    mistakes=(
        Mistake("the sum of values is not measured anew",
            ANEW,
            (("            o *= shrink\n", ""), ("l * shrink + p", "l + p"),
             (SUMS, "            l += p\n"))),
        Mistake("the exponential overflows",
            "exp of anything above 88 is infinite in FP32, and far below 0 it is 0: every exponent is a difference to "
            "the greatest score so far, which begins at -inf, and none is above 0: `exp(s - top)` and `exp(m - top)`.",
            ((("math.exp(s - top)", "math.exp(s)"), ("math.exp(m - top)", "np.float32(1)")),
             ("m, l, o = lowest", "m, l, o = np.float32(0)"), ("math.exp(m - top)", "math.exp(top - m)"))),
        Mistake("each lane has its own maximum",
            "Every lane holds the score of another key, so each took out another number. All lanes need the greatest "
            "of the tile: five shfl_xor_sync with max.",
            ((TOP, "pass"),)),
        Mistake("each lane has its own sum",
            LANES_SUM,
            ((TOTAL, "pass"),)),
        Mistake("lanes without a key count",
            "In the last tile some lanes have no key. Their score is -inf, whose weight is 0; a score of 0 has a "
            "weight.",
            (("            s = lowest", "            s = np.float32(0)"),)),
        Mistake("the scale is not the one asked for",
            SCALED,
            (("scale * q", "q"), ("query * k", "scale * query * k"), ("= o / l", "= scale * o / l"))),
        Mistake("never divided by the sum of the weights",
            "The weights add up to l, and have to add up to 1.",
            (("= o / l", "= o"),)),
        Mistake("the keys of another head",
            "Each head has its own query, keys and values: head is the first index of all of them.",
            (("k[head,", "k[0,"), ("v[head,", "v[0,"), ("q[head,", "q[0,"))),
        Mistake("divided in every tile",
            "Right, but the output was divided after each tile, and multiplied back in the next. What is summed up "
            "need not be divided before the end.",
            (((SUMS, DIVIDED.replace("            for", "            total = p\n            for", 1)),
              (VALUES, VALUES + "            o /= l\n"), (LAST, ""), ("= o / l", "= o")),)),
        Mistake("key by key",
            "Right, but every lane takes two exponentials for every key. Take in 32 keys at a time: then a lane has a "
            "key of its own.",
            (EACH_KEY,)),
        Mistake("the keys are loaded twice",
            "Right, but each key was loaded for the maximum, and once more for the weights. In one pass, what was "
            "summed up before is measured anew whenever the maximum grows.",
            (TWICE,)),
    ),
)  # fmt: skip

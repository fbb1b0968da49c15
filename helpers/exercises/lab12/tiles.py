"""Attention of 32 queries a block: tiles of keys and values in shared memory, four queries a warp."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, plural
from helpers.exercises.lab12.budgets import NO_CONFLICTS, READS, ROWS, TILES
from helpers.exercises.lab12.shared import ANEW, BANKS, BARRIERS, HEAD, IN_TILES, LANES_SUM, SCALED, attended, given

THREADS = 256
FIRST = "        __syncthreads();  // nobody reads the old tiles any more\n"
SECOND = "        __syncthreads();  // the new tiles are full\n"
BEYOND = "            if (start + lane >= n) s[i] = LOWEST;\n"
LAST = "        for (int apart"
MAXIMUM = "top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, apart));"
TOTAL = "l[i] += __shfl_xor_sync(0xffffffff, l[i], apart);"
SCORES = """        for (int d = 0; d < 32; ++d) {
            float number = tile_k[lane][d];  // read once for four queries
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                s[i] += tile_q[mine + i][d] * number;
        }
"""
BY_ROW = """        #pragma unroll
        for (int i = 0; i < 4; ++i)
            #pragma unroll 1
            for (int d = 0; d < 32; ++d)
                s[i] += tile_q[mine + i][d] * tile_k[lane][d];
"""


def _case(rows: int, n: int, scale: float, seed: int = 1) -> Case:
    q, k, v = given((rows, HEAD), (n, HEAD), seed)
    arguments = (q, k, v, Out(attended(q, k, v, scale)), np.int32(rows), np.int32(n), np.float32(scale))
    queries = "1 query" if rows == 1 else f"{rows} queries"
    return Case(f"{queries}, {plural(n, 'key')}, times {scale:g}", arguments, (cover(rows, ROWS),), (THREADS,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(33, 64)), 0.25), (int(dice.integers(33, 64)), int(dice.integers(2, 90)), 0.125)]
    whole = (ROWS * int(dice.integers(4, 6)), ROWS * int(dice.integers(2, 5)), 0.25)
    return [_case(*size, int(dice.integers(1, 10**6))) for size in (*odd, whole)]


EXERCISE = Exercise(
    key="lab12.tiles",
    title="attention in tiles, 32 queries a block, in CUDA C",
    language="cuda", name="tiles",
    cases=lambda: [_case(*size) for size in ((1, 1, 0.25), (3, 40, 0.125), (32, 32, 0.25), (33, 75, 0.25))],
    measured=lambda: _case(128, 96, 0.25), drawn=_drawn,
    sanitize=True, shared_out=True, tolerance=1e-3,
    budgets=(TILES, NO_CONFLICTS, READS),
    hints=(
        "All 32 queries of a block want the same keys and values. The eight warps load 32 of each side by side, and "
        "then every warp goes on as in exercise 1, with four queries in place of one.",
        "For a score the lane is the key: lane j adds up tile_q[row][d] * tile_k[j][d], and needs no shuffles. For the "
        "output the lane is the number of the value, so tile_v is read along its row. Which of the tiles is read down "
        "a column, and what does that ask of its width?",
        "float m[4], l[4], o[4], s[4] stay in registers, as all loops over i are unrolled. For each d: one number of "
        "tile_k, four products. For each key j: one number of tile_v, four products with __shfl_sync(…, s[i], j). One "
        "barrier before the tiles are filled, one after.",
    ),
    why="Each block loads every key and value once, for 32 queries: so a head's keys are asked for as often as there "
    "are blocks, and larger tiles of queries ask for less. In shared memory the same idea works a second time: a "
    "number that a lane has read is multiplied with four queries, so reads are a quarter. One tile is used in two "
    "directions. Scores want the lanes to be keys, so tile_k is read down a column, and one unused float a row keeps "
    "the lanes in different banks. The output wants the lanes to be numbers of a value, which lie side by side.",
    stretch="read q as float4, four numbers at a time, or keep it in registers and send it by shuffles. How do "
    "wavefronts and instructions change?",
    equivalent=(
        *IN_TILES,
        *(((f"i < 4; ++i) {{\n{LAST}", f"i {more}; ++i) {{\n{LAST}"), "a fifth query is nowhere, and goes nowhere")
          for more in ("<= 4", "< 5")),
        (("* 32 + lane] : 0;\n    }", "* 32 + lane] : 1;\n    }"), "is not stored"),
    ),
    mistakes=(
        Mistake("the sum of values is not measured anew",
            ANEW,
            (("            o[i] *= shrink;\n", ""), ("l[i] * shrink + s[i]", "l[i] + s[i]"))),
        Mistake("keys beyond the end count",
            "The last tile is filled up with zeros, whose score is 0, and exp of that is no 0. A score without a key "
            "is `LOWEST`, before the maximum is taken.",
            ((BEYOND, ""), ("s[i] = LOWEST", "s[i] = 0"), ("start + lane >= n", "start + lane > n"))),
        Mistake("a tile is filled while others still read",
            BARRIERS,
            ((FIRST, ""), (SECOND, ""))),
        Mistake("each lane has its own maximum",
            "The lanes hold scores of different keys of one query. All of them need the greatest one.",
            ((MAXIMUM, ";"),)),
        Mistake("each lane has its own sum",
            LANES_SUM,
            ((TOTAL, ";"),)),
        Mistake("the scale is not the one asked for",
            SCALED,
            (("scale * q[", "q["), ("s[i] - top", "scale * (s[i] - top)"), ("o[i] / l[i]", "scale * o[i] / l[i]"))),
        Mistake("rows and columns in each other's places",
            "A key is a row of 32 numbers: number d of key j is `k[j * 32 + d]`.",
            (("k[key * 32 + lane]", "k[lane * n + key]"), ("tile_k[lane][d]", "tile_k[d][lane]"),
             ("= tile_v[j][lane]", "= tile_v[lane][j]"))),
        Mistake("queries that do not exist",
            "The last block may have fewer than 32 queries: what is beyond is neither loaded nor stored.",
            (("        if (first + mine + i < rows) out", "        out"),
             ("first + mine + i < rows ? scale * q[(first + mine + i) * 32 + lane] : 0",
              "scale * q[(first + mine + i) * 32 + lane]"))),
        Mistake("each warp loads keys for itself",
            "Right, but each of the eight warps loads the same keys again. They are in `tile_k`, for all of them.",
            (("tile_k[lane][d]", "(start + lane < n ? k[(start + lane) * 32 + d] : 0)"),)),
        Mistake("lanes that meet in a bank",
            BANKS,
            (("tile_k[32][33]", "tile_k[32][32]"),)),
        Mistake("a key is read again for each query",
            "Right, but each number of a key was read from shared memory for one query alone. Let the loop over the "
            "warp's four queries be the inner one, so that the number stays in a register.",
            ((SCORES, BY_ROW), ("s[i], j) * number", "s[i], j) * tile_v[j][lane]"))),
    ),
)  # fmt: skip

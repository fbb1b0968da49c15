"""Rows of a table, chosen by tokens: a gather whose requests are coalesced, by any launch."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, numbers, plural, seeds
from helpers.exercises.lab02.budgets import COALESCED_STORES, LOADED_FOR_STORED, WIDE_REQUESTS

WARP, VOCABULARY = 32, 120
CASES = ((1, 4, 1, 32), (5, 8, 1, 64), (97, 12, 2, 32), (13, 36, 3, 96), (37, 64, 2, 128), (31, 20, 40, 128))
LOOP = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < tokens * each; i += gridDim.x * blockDim.x)"
START = "int s = blockIdx.x * blockDim.x + threadIdx.x"
ROW = "for (int k = 0; k < width; ++k) out[t * width + k] = token[t] < 0 ? 0 : table[token[t] * width + k];"


def _case(tokens: int, width: int, blocks: int, threads: int, seed: int = 0) -> Case:
    dice = np.random.default_rng(seed or tokens)
    token = dice.integers(0, VOCABULARY, tokens).astype(np.int32)
    token[tokens // 2 :: 7] = -1
    table = numbers((VOCABULARY, width), seed=seed or width)
    wanted = Out(np.where(token[:, None] < 0, np.float32(0), table[token]).ravel())
    name = f"{plural(tokens, 'token')} × {width}, {plural(blocks, 'block')} of {threads}"
    return Case(name, (token, table.ravel(), wanted, np.int32(tokens), np.int32(width)), (blocks,), (threads,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [(int(dice.integers(70, 120)), 4 * int(dice.integers(2, 6)))]
    drawn += [(int(dice.integers(2, 20)), 4 * int(dice.integers(2, 20))) for _ in range(2)]
    drawn += [(int(dice.integers(40, 70)), 256)]
    launches = [(1, WARP * int(dice.integers(1, 3)))]
    launches += [(int(dice.integers(1, 5)), WARP * int(dice.integers(1, 6))) for _ in range(2)]
    launches += [(int(dice.integers(10, 15)), 64)]
    return [_case(*each, *launch, seed) for each, launch, seed in zip(drawn, launches, seeds(dice, 4), strict=True)]


EXERCISE = Exercise(
    key="lab02.embed",
    title="rows of a table by any launch, in CUDA C",
    language="cuda",
    name="embed",
    cases=lambda: [_case(*each) for each in (*CASES, (9, 260, 2, 64))],
    measured=lambda: _case(50, 256, 12, 64),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(WIDE_REQUESTS, LOADED_FOR_STORED, COALESCED_STORES),
    hints=(
        "Think of the result as tokens * width / 4 pieces of 16 bytes. Which piece does a thread take, and which next?",
        "Piece i belongs to token i / (width / 4), and is number i % (width / 4) in its row. The threads of the grid "
        "take piece after piece, side by side.",
        "For piece k of token t: out4[i] = token[t] < 0 ? make_float4(0, 0, 0, 0) : table4[token[t] * (width / 4) + "
        "k]; i steps by gridDim.x * blockDim.x.",
    ),
    why="The rows lie anywhere in the table, and the copy is coalesced all the same: what counts is that the lanes of "
    "one request share a row. A gather of long rows costs no more than a copy; a gather of single floats would cost a "
    "sector each. float4 cuts the requests to a quarter, at the price of an alignment that the width has to keep. "
    "Neighbouring lanes read the same token, which is one sector for all of them.",
    stretch="add a second table, by position, as a transformer does. What do the loads of one launch save over two?",
    mistakes=(
        Mistake(
            "no row for a negative token",
            "A token of -1 stands for none: nothing is read for it, and its row is 0.",
            (("row < 0 ? make_float4(0, 0, 0, 0) : ", ""),),
        ),
        Mistake(
            "a negative token's row is not 0",
            "A token of -1 stands for none, and all `width` floats of its row are 0: neither another row of the table, "
            "nor what was there before.",
            (
                ("row < 0 ? make_float4(0, 0, 0, 0) : rows[row", "rows[max(row, 0)"), ("0, 0, 0, 0", "-1, -1, -1, -1"),
                ("result[i] = row < 0 ? make_float4(0, 0, 0, 0) :", "if (row >= 0) result[i] ="),
                ("result[i] = row < 0 ? make_float4(0, 0, 0, 0) :", "if (row < 0) result[i].x = 0; else result[i] ="),
                ("row < 0 ? make_float4(0, 0, 0, 0) : rows[row", "rows[(row < 0 ? 119 : row)"),
            ),
        ),
        Mistake(
            "token 0 is taken for none",
            "Token 0 stands for the first row of the table. Only -1 stands for none.",
            (("row < 0", "row <= 0"),),
        ),
        Mistake(
            "a thread ends at a negative token",
            "A thread that meets a token of -1 leaves the loop, and what comes after is not written. It has to go on.",
            (("result[i] =", "if (row < 0) return; result[i] ="), ("% each];\n", "% each]; if (row < 0) break;\n")),
        ),
        Mistake(
            "floats are counted for pieces",
            "A row has `width` floats, and width / 4 pieces of 16 bytes: piece i belongs to token i / (width / 4), and "
            "row r of the table begins at its piece r * (width / 4).",
            (("i / each", "i / width"), ("width / 4", "width")),
        ),
        Mistake(
            "the row of its place, not of its token",
            "Row t of the result is row token[t] of the table.",
            (("rows[row * each", "rows[i / each * each"), ("rows[row * each + i % each]", "rows[i]")),
        ),
        Mistake(
            "the token of the first piece for all",
            "The token was looked up before the loop. A thread that comes round again may be in another row: look it "
            "up in each round.",
            ((("int row = token[i / each];", ""), (LOOP, f"{START}, row = token[s / each % tokens];\n{LOOP}")),),
        ),
        Mistake(
            "too few threads, and no loop",
            "Where a launch, or a warp, has fewer threads than there is work, each has to come round again: up to "
            "tokens * (width / 4) pieces, and from the thread's number in the whole grid.",
            (
                (LOOP, "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < tokens * each)"),
                (LOOP, f"{START}, step = gridDim.x * blockDim.x; for"
                 " (int t = s / 32, i; t < tokens; t += step / 32) if (i = t * each + s % 32, s % 32 < each)"),
                ("i < tokens * each", "i < tokens"),
                ("int i = blockIdx.x * blockDim.x + threadIdx.x", "int i = threadIdx.x"),
            ),
        ),
        Mistake(
            "sectors are stored to again and again",
            "The result is right. But what lanes store at once does not lie side by side, or something is stored "
            "twice, by two blocks or in two loops. Let neighbouring lanes take neighbouring pieces, store each as wide "
            "as it was loaded, and step by the whole grid.",
            (
                f"{START}; for (int t = s; t < tokens; t += gridDim.x * blockDim.x) {ROW}",
                f"{START}; if (s == 0) for (int t = 0; t < tokens; ++t) {ROW}",
                (LOOP, "for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < tokens; t += gridDim.x * blockDim.x)"
                 "for (int i = t * each; i < t * each + each; ++i)"),
                ("i += gridDim.x * blockDim.x", "i += blockDim.x"),
                ((LOOP, f"{LOOP} result[i] = make_float4(0, 0, 0, 0);\n    {LOOP}"),
                 ("result[i] = row", "if (row >= 0) result[i] = row")),
            ),
        ),
        Mistake(
            "less than 16 bytes a lane",
            "The result is right, with more requests than it takes. A lane may load 16 bytes, and every row begins at "
            "a multiple of 16.",
            (
                (("float4", "float2"), ("width / 4", "width / 2"), ("0, 0, 0, 0", "0, 0")),
                (("float4", "float"), ("width / 4", "width"), ("make_float(0, 0, 0, 0)", "0")),
            ),
        ),
    ),
)  # fmt: skip

"""Attention in which a query sees itself and the keys shortly before it: tiles that nobody sees are left out."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, plural
from helpers.exercises.lab12.budgets import COMPUTED, FEWER_ROWS, IN_WINDOW, NO_CONFLICTS, WARP, WIDTH
from helpers.exercises.lab12.shared import ANEW, BANKS, BARRIERS, DISTANCES, HEAD, attended, given

BEGIN, END = "begin = max(0, first - width + 1) // 32 * 32", "end = min(first + 16, n)"
MASK = "        if key > row or key <= row - width:\n            s = lowest\n"
FIRST = "        cuda.syncthreads()  # nobody reads the old tiles any more\n"
SECOND = "        cuda.syncthreads()  # the new tiles are full\n"
SEEN = "        if top > lowest:"


def _case(heads: int, n: int, width: int, scale: float, seed: int = 1) -> Case:
    q, k, v = given((heads, n, HEAD), (heads, n, HEAD), seed)
    k[:, 9::29, 0] *= -1  # here and there a key that is far better, or far worse: hidden ones must not be looked at
    apart = np.arange(n)[:, None] - np.arange(n)
    expected = attended(q, k, v, scale, (apart >= 0) & (apart < width))
    name = f"{plural(heads, 'head')} of {plural(n, 'position')}, a window of {width}"
    arguments = (q, k, v, Out(expected), np.float32(scale), np.int32(width))
    return Case(name, arguments, (cover(n, FEWER_ROWS), heads), (WARP, FEWER_ROWS))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 40)), int(dice.integers(1, 9)), 0.25),
           (int(dice.integers(2, 4)), int(dice.integers(50, 90)), int(dice.integers(17, 40)), 0.125)]  # fmt: skip
    whole = (int(dice.integers(2, 4)), FEWER_ROWS * int(dice.integers(10, 13)), WIDTH, 0.25)
    return [_case(*size, int(dice.integers(1, 10**6))) for size in (*odd, whole)]


SIZES = ((1, 1, 1, 0.25), (2, 33, 33, 0.125), (1, 70, 2, 0.25), (1, 64, 20, 0.125), (2, 90, 17, 0.25))

EXERCISE = Exercise(
    key="lab12.window",
    title="attention in a sliding window, in Numba",
    language="numba", name="window",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(2, 160, WIDTH, 0.25), drawn=_drawn,
    sanitize=True, shared_out=True, tolerance=1e-3,
    budgets=(IN_WINDOW, COMPUTED, NO_CONFLICTS),
    hints=(
        "Take the queries 32 to 47 and a window of 20. Which is the first key that any of them sees, and which the "
        "last? And what does query 47 see of the first tile of keys?",
        "The block begins with the first key that its first query sees, and ends with its last query. Barriers want "
        "all threads, so begin and end go by the block, and single keys are masked by -inf. A query that sees "
        "nothing of a tile has the maximum -inf, and -inf - -inf is not a number: leave its sums as they are.",
        "begin = max(0, first - width + 1) // 32 * 32; end = min(first + 16, n); then range(begin, end, 32). Masked is "
        "key > row or key <= row - width. After the shuffles: if top > lowest: shrink, p, m, l and o as before.",
    ),
    why="With a mask over finished scores, all of them are computed and most are thrown away. A block knows before it "
    "begins which keys its queries can see at all: from the window's edge of its first query to its last query. So "
    "the work of a query no longer grows with the sequence, but with the window. What is left over at both edges is "
    "masked key by key. There a query may see nothing of its first tile, so its maximum is still -inf: the branch is "
    "the same for all lanes of a warp, so the shuffles around it are complete. Models with such windows reach "
    "farther back by their layers, since a key's value has seen a window of its own.",
    stretch="tiles in the middle are seen whole by all queries of the block, and need no comparison. How many of the "
    "tiles are that, for a window of 512?",
    equivalent=(
        *(((f"(16, 8, 4, 2, 1):\n{after}", f"({other}):\n{after}"), "from each lane to every other, once")
          for after in (" " * 12 + "top", " " * 8 + "l") for other in DISTANCES),
        *((("lowest, np.float32(0), np.float32(0)", f"lowest, np.float32({one}), np.float32({two})"), "shrink is 0")
          for one, two in ((0, 1), (1, 0))),
        *(((f"tile_{tile} = cuda.shared.array({size}", f"tile_{tile} = cuda.shared.array({more}"),
           "more room than is used")
          for tile, size, mores in (("q", "(16, 32)", ("(17, 32)", "(16, 33)")), ("k", "(32, 33)", ("(33, 33)",)),
                                    ("v", "(32, 32)", ("(33, 32)", "(32, 33)"))) for more in mores),
        *((("lane] if inside else 0\n            tile_v", "lane] if inside else 1\n            tile_v"), "is masked"),),
        (("v[head, start + j, lane] if inside else 0", "v[head, start + j, lane] if inside else 1"), "its weight is 0"),
        ((BEGIN, BEGIN.replace("max(0", "max(1")), "0 all the same"),
        *(((BEGIN, BEGIN.replace(old, new)), "begins farther in front, where all is masked")
          for old, new in (("+ 1", "+ 0"), ("+ 1", "- 1"), ("// 32", "// 33"))),
        (("if row < n else 0", "if row < n else 1"), "is not stored"),
        (("s, key = np.float32(0)", "s, key = np.float32(1)"), "the same added to all scores"),
    ),
    mistakes=(
        Mistake("minus infinity less minus infinity",
            "A query that has seen nothing yet has the maximum -inf, and -inf - -inf is not a number. Where the "
            "maximum is still -inf, nothing is to be added, and the sums stay as they are.",
            ((SEEN, "        if True:"),)),
        Mistake("the maximum is taken before the mask",
            "A hidden key may have a far greater score than all that are seen, and then the weights of those are 0. "
            "Set hidden scores to -inf first, and find the maximum then.",
            (((MASK, ""), (SEEN, MASK + SEEN)),)),
        Mistake("the future is seen",
            "A query sees itself and keys before it: what comes behind, `key > row`, is hidden.",
            (("key > row or ", ""), ("key > row or", "key > row + 1 or"))),
        Mistake("a query does not see itself",
            "The window ends with the query's own position, `key == row`.",
            (("key > row or", "key >= row or"),)),
        Mistake("a window of another length",
            "`width` keys in all, the query's own among them: `row - width + 1` is the first that is seen.",
            (("key <= row - width", "key < row - width"), (" or key <= row - width", ""),
             ("key <= row - width", "key <= row - width + 1"))),
        Mistake("the first query of the block sees too little",
            "The block begins with the first key that any of its queries sees. The first query sees farthest back.",
            ((BEGIN, "begin = max(0, first + 16 - width) // 32 * 32"),
             (BEGIN, "begin = (max(0, first - width + 1) + 31) // 32 * 32"),
             (BEGIN, "begin = first"))),
        Mistake("the last queries of the block see too little",
            "The block goes on until its last query, which sees farthest on.",
            ((END, "end = first"), (END, "end = min(first + 1, n)"))),
        Mistake("the sum of values is not measured anew",
            ANEW,
            (("            o *= shrink\n", ""), ("l * shrink + p", "l + p"))),
        Mistake("a tile is filled while others still read",
            BARRIERS,
            ((FIRST, ""), (SECOND, ""))),
        Mistake("the tiles before the window are taken in",
            "Right, but keys before the window of the block's first query were loaded and multiplied, and then masked.",
            ((BEGIN, "begin = 0"),)),
        Mistake("the tiles behind the block are taken in",
            "Right, but keys behind the block's last query were loaded and multiplied, and then masked.",
            ((END, "end = n"),)),
        Mistake("lanes that meet in a bank",
            BANKS,
            (("(32, 33)", "(32, 32)"),)),
    ),
)  # fmt: skip

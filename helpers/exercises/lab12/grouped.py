"""Query heads that share keys, over a batch, with keys of the past: one launch, and each key loaded once a group."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover
from helpers.exercises.lab12.budgets import GROUP, GROUP_READS, GROUPS, ROWS
from helpers.exercises.lab12.shared import ANEW, BARRIERS, HEAD, IN_TILES, attended, given

THREADS = 256
FIRST = "        __syncthreads();  // nobody reads the old tiles any more\n"
SECOND = "        __syncthreads();  // the new tiles are full\n"
OWN = "(batch * queries * heads + kv * group)"
ROW = "((first + mine + i) / group * heads + (first + mine + i) % group)"
KEYS = "(batch * n * kvs + kv)"
POSITION = "n - queries + (first + mine + i) / group"
END = "int end = min(n, n - queries + (first + 31) / group + 1);"


def _case(batch: int, queries: int, past: int, kv: int, group: int, scale: float, seed: int = 1) -> Case:
    n = past + queries
    q, k, v = given((batch, queries, kv * group, HEAD), (batch, n, kv, HEAD), seed)
    # each head of queries with the keys of its group, heads before positions
    wide = [np.repeat(each, group, axis=2).transpose(0, 2, 1, 3) for each in (k, v)]
    seen = np.arange(n) <= past + np.arange(queries)[:, None]
    expected = attended(q.transpose(0, 2, 1, 3), *wide, scale, seen).transpose(0, 2, 1, 3).copy()
    sizes = tuple(map(np.int32, (queries, n, group)))
    name = f"batch {batch}, queries: {queries}, keys: {n}, heads: {kv * group} on {kv}"
    grid = (cover(queries * group, ROWS), kv, batch)
    return Case(name, (q, k, v, Out(expected), *sizes, np.float32(scale)), grid, (THREADS,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(2, 1, int(dice.integers(33, 70)), 2, int(dice.integers(3, 8)), 0.25),
           (2, int(dice.integers(9, 30)), int(dice.integers(3, 30)), 2, 3, 0.125)]  # fmt: skip
    whole = (int(dice.integers(1, 4)), 64, 24 + 8 * int(dice.integers(0, 3)), 1, GROUP, 0.25)
    return [_case(*size, int(dice.integers(1, 10**6))) for size in (*odd, whole)]


SIZES = ((1, 1, 0, 1, 1, 0.25), (2, 1, 40, 2, 4, 0.25), (2, 13, 0, 1, 3, 0.125), (1, 33, 7, 2, 2, 0.25))

EXERCISE = Exercise(
    key="lab12.grouped",
    title="query heads that share keys, in one launch, in CUDA C",
    language="cuda", name="grouped",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(2, 64, 24, 1, GROUP, 0.25), drawn=_drawn,
    sanitize=True, shared_out=True, tolerance=1e-3,
    budgets=(GROUPS, GROUP_READS),
    hints=(
        "What a block of exercise 2 needs of its 32 rows is that they all want the same keys. Do they have to be "
        "queries of one head?",
        "Number the rows of a group: row r is query r / group of head r % group. Rows of one query lie side by side, "
        "so the position, and with it the causal mask, goes by r / group. Keys and values need nothing new but "
        "their place in memory.",
        "Let q point to head kv * group of the batch's first query: then row r begins at (r / group * heads + r % "
        "group) * 32. Let k point to head kv of the batch's first key: then key j begins at j * kvs * 32. Query i "
        "is at position n - queries + i, and the block ends behind the position of row first + 31.",
    ),
    why="Heads that share keys need not share a block: right results come from one head a block as well, but then "
    "each of them loads the same keys. Rows of several heads in one block use each key that is loaded as many times "
    "more. That matters most when a model writes: then a head has one query, and without its group a tile of 32 rows "
    "would hold one. The keys' heads are fewer by the same factor, and so is the cache that has to be kept and read. "
    "Position and head of a row are two numbers made of one, and every mistake here is an address.",
    stretch="32 rows of one query each, and thousands of keys: few blocks have all the work. Split the keys over "
    "blocks, and join their (m, l, o) in a second launch, as at the end of chapter 17.",
    equivalent=(
        *IN_TILES,
        *((("i < 4; ++i) {\n        int to", f"i {more}; ++i) {{\n        int to"),
           "a fifth row is nowhere, and goes nowhere")
          for more in ("<= 4", "< 5")),
        (("q[from] : 0", "q[from] : 1"), "is not stored"),
        (("j += 8)", "j += 7)"), "four keys of a tile are loaded twice, to the same place, within the budget"),
    ),
    mistakes=(
        Mistake("heads are dealt out in turn",
            "Neighbouring heads share keys: the keys' head `kv` belongs to the heads `kv * group` to "
            "`kv * group + group - 1`, as with `enable_gqa` in PyTorch.",
            ((("kv * group)", "kv)"), ("% group)", "% group * kvs)")),)),
        Mistake("every head has the first keys",
            "`blockIdx.y` says which head of the keys a block has. A number that begins at key j of head kv is at "
            "`((batch * n + j) * kvs + kv) * 32`.",
            ((KEYS, "(batch * n * kvs)"),)),
        Mistake("heads before positions",
            "The arrays are (batch, position, head, number): the next key of the same head is kvs * 32 numbers on.",
            (((KEYS, "(batch * n * kvs + kv * n)"), ("key * kvs", "key")),
             ("/ group * heads +", "/ group +"))),
        Mistake("one sequence for the whole batch",
            "blockIdx.z says which sequence a block has: each has its own queries, keys and values.",
            ((KEYS, "kv"), (OWN, "(kv * group)"))),
        Mistake("queries stand at the beginning of the keys",
            "The queries are the last positions: query i is at position n - queries + i, and sees all keys up to it.",
            ((POSITION, "(first + mine + i) / group"),
             ((POSITION, "(first + mine + i) / group"), (END, END.replace("n - queries + ", ""))))),
        Mistake("the mask goes by the row",
            "group rows have the same position, since they are one query of several heads: `row / group`.",
            ((POSITION, "n - queries + first + mine + i"),)),
        Mistake("a query does not see itself",
            "A key is hidden where its number is above the query's position. The query's own key is seen.",
            (("start + lane > n - queries", "start + lane >= n - queries"),)),
        Mistake("the future is seen",
            "Keys behind a query's position are hidden from it, also where other queries of the block see them.",
            ((f"start + lane > {POSITION}", "start + lane >= n"),
             (f"start + lane > {POSITION}", "start + lane >= end"))),
        Mistake("the sum of values is not measured anew",
            ANEW,
            (("            o[i] *= shrink;\n", ""), ("l[i] * shrink + s[i]", "l[i] + s[i]"))),
        Mistake("a tile is filled while others still read",
            BARRIERS,
            ((FIRST, ""), (SECOND, ""))),
        Mistake("keys are taken in that nobody sees",
            "Right, but keys behind the block's last query were loaded and multiplied, and then masked.",
            ((END, "int end = n;"),)),
        Mistake("each row loads keys for itself",
            "Right, but the keys were loaded again by every warp. The rows of a block share them, whichever head they "
            "belong to.",
            (("tile_k[lane][d]", "(start + lane < n ? k[(start + lane) * kvs * 32 + d] : 0)"),)),
    ),
)  # fmt: skip

"""Each value as often as its row is long: a thread a result, which looks for its row."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, plural, seeds
from helpers.checking.measures import stored_for_needed
from helpers.exercises.lab06.budgets import idle, instructions

BLOCK = 128
BOUNDS = "lo, hi = 0, value.size"
HEAD = "    k = cuda.grid(1)\n"
SEARCH = f"""{HEAD}    if k < out.size:
        {{}}
        out[k] = value[lo]"""
ROW = f"""{HEAD}    if k < value.size:
        for i in range(first[k], first[k + 1]{{}}):
            out[i] = value[k]"""


def _case(rows: int, seed: int = 0, longest: int = 60) -> Case:
    dice = np.random.default_rng(seed or rows)
    counts = np.minimum(dice.geometric(0.12, rows) - 1, longest)
    counts[rows // 3] = longest  # one that all others wait for
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    value = (np.arange(rows) % 97 - 31 + dice.integers(0, 5, rows) / 8).astype(np.float32)
    wanted = np.repeat(value, counts)
    grid = (cover(max(rows, wanted.size), BLOCK),)
    name = f"{plural(rows, 'row')}, {plural(wanted.size, 'result')}"
    return Case(name, (value, first, Out(wanted)), grid, (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    rows = [2, *dice.integers(3, 120, 2), dice.integers(300, 500)]
    longest = (*dice.integers(5, 300, 3), dice.integers(100, 140))
    return [_case(int(n), seed, int(k)) for n, seed, k in zip(rows, seeds(dice, 4), longest, strict=True)]


EXERCISE = Exercise(
    key="lab06.repeat",
    title="each value as often as its row is long, in Numba",
    language="numba",
    name="repeat",
    cases=lambda: [_case(rows) for rows in (1, 2, 31, 97, 128, 300)],
    measured=lambda: _case(400, longest=120),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(
        idle(3, most=256),
        instructions(400, "The row of a result is found in some ten halvings."),
        Budget(
            "bytes stored per byte needed",
            stored_for_needed,
            1.1,
            "Neighbouring lanes should store neighbouring results, whatever row they are of.",
            "global_store_sectors",
        ),
    ),
    hints=(
        "All results cost the same, unlike the rows. So what should a thread have?",
        "The thread of result k looks for its row: the last one with first[row] <= k. `first` is sorted.",
        "lo, hi = 0, value.size; while hi - lo > 1: mid = (lo + hi) // 2; lo = mid if first[mid] <= k else lo, and "
        "so for hi; then out[k] = value[lo].",
    ),
    why="Rows are of any length, results are all alike, so a thread a result is balanced from the start. What it "
    "costs is the question which row a result belongs to, and a sorted list answers that in log2(rows) halvings, "
    "the same number for all lanes or one less. That is more instructions in all than a thread a row takes. It buys "
    "stores that are coalesced, an eighth of the sectors, and no warp that runs on alone when all others are done. "
    "The trick is known as load-balancing search, and works for whatever has pieces of uneven size: sparse "
    "matrices, graphs, batches of sentences.",
    stretch="each thread takes four results in a row, searches once, and walks on. When does that divert lanes again?",
    mistakes=(
        Mistake("a row that does not exist",
            "Rows are value[0] to value[value.size - 1]; first has one element more. Which row does the search end "
            "with?",
            (("lo = mid\n", "lo = mid + 1\n"),)),
        Mistake("a result past the end",
            "Results are out[0] to out[out.size - 1]: row r has those up to first[r + 1] - 1, and threads from "
            "out.size on have none.",
            (("k < out.size", "True"), ROW.format(" + 1"))),
        Mistake("the first of a row is taken for the row before",
            "Row r has results first[r] to first[r + 1] - 1. The one at first[r] is of row r: look for the last row "
            "with first[row] <= k.",
            (("<= k", "< k"), (("<= k", "< k"), (BOUNDS, "lo, hi = -1, value.size")))),
        Mistake("an empty row is taken for the one behind it",
            "Where rows are empty, several begin at one place. The last of them has the results.",
            (("        out[k]",
              "        while lo and first[lo - 1] == first[lo]:\n            lo -= 1\n        out[k]"),)),
        Mistake("the last row is never found",
            "The last results have the value of a row before theirs. Rows are 0 to value.size - 1, and the search "
            "has to reach the last one.",
            ((BOUNDS, f"{BOUNDS} - 1"),)),
        Mistake("the row behind",
            "Some results have the value of the row behind theirs. When lo and hi meet, lo is the row, whichever of "
            "the two mid was.",
            (("value[lo]", "value[min(hi, value.size - 1)]"),
             ((BOUNDS, f"mid = 0; {BOUNDS}"), ("value[lo]", "value[mid]")))),
        Mistake("the row instead of its value",
            "The number of the row came out: its value is value[row].",
            (("value[lo]", "lo"),)),
        Mistake("value[k] for result k",
            "Value k belongs to row k, not to result k. Which row is result k of?",
            (f"{HEAD}    if k < value.size and k < out.size:\n        out[k] = value[k]",)),
        Mistake("only the first result of each row",
            "Row r has all results from first[r] to first[r + 1] - 1, or none where the two are equal.",
            (f"{HEAD}    if k < value.size and first[k] < first[k + 1]:\n        out[first[k]] = value[k]",)),
        Mistake("a row for each thread",
            "The result is right, but a warp runs as long as its longest row, and its lanes store far apart. Give "
            "each thread one result, and let it find its row.",
            (ROW.format(""),
             ROW.format("").replace("if k < value.size", "for k in range(value.size if k == 0 else 0)"))),
        Mistake("neighbouring results in one thread",
            "The result is right, but a thread has several results side by side, so that the lanes of a warp store "
            "that far apart. Let a thread's results be a warp or a grid apart, or give it one.",
            ((("k < out.size", "4 * k < out.size"), ("<= k", "<= 4 * k"), ("        out[k] = value[lo]", """\
        for j in range(4 * k, min(4 * k + 4, out.size)):
            while first[lo + 1] <= j:
                lo += 1
            out[j] = value[lo]""")),)),
        Mistake("lanes for which the row is too short",
            "The result is right, but many lanes wait while others of their warp go on: for a row that is shorter "
            "than a warp, or for a search of a few threads. Give each thread one result, and let it find its row.",
            (f"""{HEAD}    for row in range(k // 32, value.size, cuda.gridsize(1) // 32):
        for i in range(first[row] + k % 32, first[row + 1], 32):
            out[i] = value[row]""",)),
        Mistake("more looking than it takes",
            "The result is right, and every lane is at work, but looking takes far more than some ten halvings of a "
            "sorted list for each result.",
            (SEARCH.format("lo = 0\n        while first[lo + 1] <= k:\n            lo += 1"),
             SEARCH.format("lo = -1\n        for row in range(value.size):\n            lo += first[row] <= k"))),
    ),
)  # fmt: skip

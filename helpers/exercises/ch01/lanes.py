"""How many lanes of a warp are at work while each goes through a word of its own."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake

WARP = 32


def _words(count: int, seed: int) -> list[int]:
    # Multiples of 4, and a few long words: sums and quotients are then exact in any order.
    return [int(length) for length in 4 * np.random.default_rng(seed).geometric(0.4, count)]


WORDS = (
    ("32 words, all alike", [7] * 32),
    ("one long word among short ones", [1] * 31 + [33]),
    ("two warps, one of long words", [2] * 32 + [10] * 32),
    ("two warps of mixed words", [1, 15] * 16 + [4] * 32),
    ("40 words: the second warp has 8", [6] * 40),
    ("a single word", [9]),
    ("128 words", _words(128, 1)),
    ("100 words", _words(100, 2)),
)
LONGEST = "max(lengths[first : first + 32])"


def _case(name: str, lengths: list[int]) -> Case:
    turns = sum(max(lengths[first : first + WARP]) for first in range(0, len(lengths), WARP))
    return Case(name, (lengths,), expected=sum(lengths) / turns)


EXERCISE = Exercise(
    key="ch01.lanes",
    title="lanes at work",
    language="python",
    name="lanes_at_work",
    cases=lambda: [_case(*row) for row in WORDS],
    hints=(
        "In one turn of the loop a lane at work reads one letter. How many letters are there, and how many turns?",
        "A warp takes as many turns as its longest word has letters. Add up the turns of all warps.",
        "sum(lengths) divided by the sum of max(lengths[first : first + 32]) for first in range(0, len(lengths), 32)",
    ),
    solution="""
def lanes_at_work(lengths):
    turns = 0
    for first in range(0, len(lengths), 32):
        turns = turns + max(lengths[first : first + 32])
    return sum(lengths) / turns
""",
    why="Each letter is read by one lane in one turn, so the letters are the work that was done. The turns are what "
    "was issued. Their quotient is the average over all turns, in which a warp with long words counts more than one "
    "with short ones, because it takes longer.",
    stretch="sort the words by length before you deal them out. What does the average become, and why?",
    mistakes=(
        Mistake(
            "as if no lane waited",
            "A warp's loop goes on until its longest word has ended. Lanes with shorter words wait for that.",
            (("sum(lengths) / turns", "32"), (LONGEST, "sum(lengths[first : first + 32]) / 32")),
        ),
        Mistake(
            "all words wait for the longest of all",
            "A warp waits for the longest of its own 32 words. It knows nothing of the words of other warps.",
            ((LONGEST, "max(lengths)"),),
        ),
        Mistake(
            "the mean of the warps' means",
            "A warp with long words takes more turns than others, so it counts more. Divide all letters by all turns.",
            ((
                "    turns = 0\n    for first in range(0, len(lengths), 32):\n"
                "        turns = turns + max(lengths[first : first + 32])\n    return sum(lengths) / turns",
                "    means = []\n    for first in range(0, len(lengths), 32):\n"
                "        words = lengths[first : first + 32]\n        means.append(sum(words) / max(words))\n"
                "    return sum(means) / len(means)",
            ),),
        ),
        Mistake(
            "the mean length of a word",
            "That counts letters for each word. Asked are letters for each turn of a warp.",
            (("sum(lengths) / turns", "sum(lengths) / len(lengths)"),),
        ),
        Mistake(
            "the last warp is left out",
            "The last warp has fewer than 32 words if they do not divide evenly, and takes its turns all the same.",
            (("range(0, len(lengths), 32)", "range(0, len(lengths) - 31, 32)"),),
        ),
        Mistake(
            "a share, and no number of lanes",
            "That is the share of the lanes which are at work. Multiply it by the 32 lanes of a warp.",
            (("sum(lengths) / turns", "sum(lengths) / (32 * turns)"),),
        ),
        Mistake(
            "the shortest word decides",
            "A warp is done when the last of its lanes is: the longest of its words decides.",
            ((LONGEST, "min(lengths[first : first + 32])"),),
        ),
        Mistake(
            "turns for each lane",
            "That is upside down: asked are the letters (lanes at work) for each turn.",
            (("sum(lengths) / turns", "turns / sum(lengths)"),),
        ),
        Mistake(
            "a whole number",
            "An average need not be whole: divide with /, without rounding.",
            (
                ("sum(lengths) / turns", "sum(lengths) // turns"),
                ("sum(lengths) / turns", "round(sum(lengths) / turns)"),
            ),
        ),
    ),
)  # fmt: skip

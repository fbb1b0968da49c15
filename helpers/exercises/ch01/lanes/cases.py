from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case

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


def _case(name: str, lengths: list[int]) -> Case:
    turns = sum(max(lengths[first : first + WARP]) for first in range(0, len(lengths), WARP))
    return Case(name, (lengths,), expected=sum(lengths) / turns)


def cases() -> list[Case]:
    return [_case(*row) for row in WORDS]

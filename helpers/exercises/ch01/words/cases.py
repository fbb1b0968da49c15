from __future__ import annotations

from itertools import pairwise

import numpy as np

from helpers.checking.exercise import Case, Out, cover, plural

BLOCK, WARP = 64, 32
MEASURED = 2048


def _hash(word: np.ndarray) -> int:
    value = 0
    for letter in word.tolist():
        value = (31 * value + letter) % 2**32
    return value


def _case(count: int, seed: int) -> Case:
    dice = np.random.default_rng(seed)
    lengths = dice.geometric(0.2, count).clip(1, 30)
    starts = np.cumsum([0, *lengths]).astype(np.int32)
    text = dice.integers(97, 123, starts[-1], dtype=np.uint8)
    hashes = np.array([_hash(text[first:last]) for first, last in pairwise(starts)], np.uint32)
    order = np.argsort(lengths, kind="stable").astype(np.int32)
    return Case(plural(count, "word"), (text, starts, order, Out(hashes)), (cover(count, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(count, seed=count) for count in (1, 31, 64, 97, 500)]


def measured() -> Case:
    return _case(MEASURED, seed=0)


MEASURES = {"idle lanes in each instruction": lambda profile: WARP - profile["lanes_per_instruction"]}

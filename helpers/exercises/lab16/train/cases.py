from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from helpers.checking.examine import Outcome
from helpers.checking.exercise import Case, plural, seeds
from helpers.results.ranks.training import Task, one_process, trained

ROWS = ((1, 4, 4, 4, 1, 1), (2, 9, 6, 2, 1, 2), (3, 10, 5, 1, 2, 3), (4, 13, 5, 1, 2, 4), (4, 32, 16, 2, 2, 5))
"""ranks, samples, batch, samples that fit at once, epochs, seed"""
WIDTH, HIDDEN = 3, 4


def _batches(samples: int, batch: int, epochs: int) -> list[np.ndarray]:
    orders = [np.random.default_rng(epoch).permutation(samples) for epoch in range(epochs)]
    return [order[first : first + batch] for order in orders for first in range(0, samples, batch)]


def _case(size: int, samples: int, batch: int, fits: int, epochs: int, seed: int) -> Case:
    dice = np.random.default_rng(seed)
    weights = dice.normal(0, 0.5, (size, WIDTH * HIDDEN + HIDDEN))
    task = Task(weights, dice.normal(size=(samples, WIDTH)), dice.normal(size=samples), fits)
    batches = _batches(samples, batch, epochs)
    fair = sum(-(-len(each) // size) for each in batches)

    def plays(recording: object) -> tuple[np.ndarray, dict[str, float]]:
        done = trained(recording, task)
        # Without any, nobody trains together: each rank takes every sample.
        reduces = done.all_reduces if done.all_reduces or size == 1 else math.inf
        return done.weights, {"all_reduces": reduces / len(batches), "broadcasts": done.broadcasts,
                              "busiest": done.busiest / fair}  # fmt: skip

    name = (f"{plural(size, 'rank')}, {samples} samples in batches of {batch}, {fits} at once, "
            f"{epochs} epoch{'s' * (epochs > 1)}")  # fmt: skip
    expected = np.tile(one_process(task, batches), (size, 1))
    return Case(name, (size, samples, batch, fits, epochs), expected=expected, plays=plays)


def drawn(dice: np.random.Generator) -> list[Case]:
    rows = ((2, int(dice.integers(5, 12)), 4, 3, 1), (int(dice.integers(3, 6)), int(dice.integers(13, 20)), 7, 1, 2),
            (int(dice.integers(3, 6)), int(dice.integers(41, 60)), 20, 3, 2))  # fmt: skip
    return [_case(*row, seed) for row, seed in zip(rows, seeds(dice, 3), strict=True)]


def _count(name: str) -> Callable[[Outcome], float]:
    return lambda outcome: outcome.played[name]


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]


MEASURES = {
    "all-reduces per update": _count("all_reduces"),
    "busiest rank over a fair share": _count("busiest"),
    "broadcasts": _count("broadcasts"),
}

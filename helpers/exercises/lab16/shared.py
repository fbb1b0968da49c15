"""What the exercises of lab 16 share: plans carried out on arrays that their authors have not seen, and their costs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers.checking.examine import Outcome
from helpers.checking.exercise import Case, numbers, plural
from helpers.results.ranks.dry_run import Messages, messages


def summed(size: int, elements: int, seed: int, halves: int, result: Callable[[np.ndarray], np.ndarray]) -> Case:
    """Ranks that add up a tensor in `halves` of a ring all-reduce. result: of what each rank holds, what is compared.

    Shares are quarters, so that sums are exact in any order.
    """
    shares = numbers((size, elements), seed).astype("float64")

    def plays(recording: object) -> tuple[np.ndarray, Sums]:
        done = messages(recording, shares)
        return result(done.held), Sums(done, size, elements, halves)

    name = f"{plural(size, 'rank')}, {plural(elements, 'element')}"
    return Case(name, (size, elements), expected=result(shares.sum(0, keepdims=True).repeat(size, 0)), plays=plays)


class Sums:
    """What a sum over ranks cost, as a multiple of the least that there can be: with one rank that is nothing."""

    def __init__(self, done: Messages, size: int, elements: int, halves: int):
        self.steps = done.steps / (halves * (size - 1) or 1)
        self.sent = done.longest / (halves * elements * (size - 1) / size or 1)


def steps(outcome: Outcome) -> float:
    """Steps, over n - 1 in each half."""
    return outcome.played.steps


def sent(outcome: Outcome) -> float:
    """The longest message of each step, summed, over (n - 1) / n of the tensor in each half."""
    return outcome.played.sent

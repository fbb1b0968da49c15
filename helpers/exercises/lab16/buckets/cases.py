from __future__ import annotations

import operator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from helpers.checking.exercise import Case, plural, seeds
from helpers.results.ranks.buckets import bucket_ends, least_end
from helpers.results.ranks.dry_run import NotCarriedOut

ROWS = ((1, 1, False), (2, 2, False), (5, 3, False), (12, 4, True), (60, 5, True))  # layers, seed, a shared weight
START, RATE = 100.0, 10_000.0  # microseconds, bytes a microsecond


class Sent(NamedTuple):
    """What buckets cost: all-reduces of 100 gradients, and the time after the backward pass over the least."""

    messages: float
    after: float


def _network(layers: int, seed: int, shared: bool) -> tuple[list[int], list[float]]:
    """Bytes of the gradients, a weight and a bias a layer, and when the backward pass has found them.

    The last layer has no bias, as in a language model, where its weight may be the first layer's too.
    """
    dice = np.random.default_rng(seed)
    widths = dice.integers(64, 1024, layers + 1)
    nbytes = [4 * int(n) for a, b in pairwise(widths) for n in (a * b, b)][:-1]
    times = np.round(dice.uniform(60, 240, layers))[::-1].cumsum()[::-1]  # the last layer's gradients come first
    found = [float(each) for each in times.repeat(2)][:-1]
    if shared:
        found[-1] = found[0]  # it is whole at the very end
    return nbytes, found


def _case(layers: int, seed: int, shared: bool) -> Case:
    nbytes, found = _network(layers, seed, shared)

    def plays(buckets: object) -> tuple[np.ndarray, Sent | None]:
        if not isinstance(buckets, list) or not all(isinstance(each, list) and each for each in buckets):
            raise NotCarriedOut("buckets are a list of lists, none of them empty, of numbers of gradients")
        made = [[operator.index(gradient) for gradient in bucket] for bucket in buckets]
        if any(not 0 <= gradient < len(nbytes) for bucket in made for gradient in bucket):
            raise NotCarriedOut(f"there are gradients 0 to {len(nbytes) - 1}")
        counts = np.bincount([gradient for bucket in made for gradient in bucket], minlength=len(nbytes))
        if (counts != 1).any():
            return counts, None
        end, least = bucket_ends(made, nbytes, found, START, RATE)[-1], least_end(nbytes, found, START, RATE)
        after = (end - max(found)) / (least - max(found))
        return counts, Sent(100 * len(made) / len(nbytes), after)

    name = plural(layers, "layer") + (", whose first and last share a weight" if shared else "")
    return Case(name, (nbytes, found, START, RATE), expected=np.ones(len(nbytes), int), plays=plays)


def drawn(dice: np.random.Generator) -> list[Case]:
    layers = (int(dice.integers(3, 9)), int(dice.integers(10, 20)), int(dice.integers(50, 70)))
    return [_case(*each) for each in zip(layers, seeds(dice, 3), (False, True, True), strict=True)]


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]


MEASURES = {
    "time after the backward pass over the least": lambda outcome: outcome.played.after,
    "all-reduces of 100 gradients": lambda outcome: outcome.played.messages,
}

"""Which gradients are summed together, and in which order, while the backward pass goes on."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, plural, seeds
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

    def plays(buckets) -> tuple[np.ndarray, Sent | None]:
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


def _drawn(dice: np.random.Generator) -> list[Case]:
    layers = (int(dice.integers(3, 9)), int(dice.integers(10, 20)), int(dice.integers(50, 70)))
    return [_case(*each) for each in zip(layers, seeds(dice, 3), (False, True, True), strict=True)]


FULL = """    order = sorted(range(len(nbytes)), key=lambda gradient: found[gradient])
    made, held = [], []
    for gradient in order:
        held.append(gradient)
        if sum(nbytes[each] for each in held) >= 25 * 2**20:
            made.append(held)
            held = []
    return [*made, held] if held else made"""

EXERCISE = Exercise(
    key="lab16.buckets",
    title="buckets of gradients",
    language="python",
    name="buckets",
    cases=lambda: [_case(*row) for row in ROWS],
    drawn=_drawn,
    budgets=(
        Budget("time after the backward pass over the least", lambda outcome: outcome.played.after, 1.75,
               "What is sent while the backward pass goes on costs no time. Let the link never wait for what is found "
               "already, and leave little for the end."),
        Budget("all-reduces of 100 gradients", lambda outcome: outcome.played.messages, 48,
               "Each all-reduce has a start of its own. Put gradients together."),
    ),
    hints=(
        "In which order do the gradients come? And what can be done with those that are found while the link is busy?",
        "Sort by found. When the link is free, send all that has been found by then in one bucket. Where nothing has, "
        "wait for the next gradient.",
        "begins = max(free, found[order[0]]); the bucket has every gradient that is found by then; and the link is "
        "free again at begins + start + its bytes / rate.",
    ),
    why="A bucket that takes all that was found while the link was busy is as large as it has to be: on a slow link "
    "much gathers, and on a fast one little. So few starts are paid and the link never waits. DDP cannot do quite "
    "that, as all ranks have to make the same buckets, and no two are equally fast. It fixes them beforehand, of 25 "
    "MiB unless you say otherwise, in the reverse order of the parameters. After the first step it makes them anew, "
    "in the order in which gradients really came.",
    stretch="what goes wrong if each rank decides by its own clock which gradients are in a bucket?",
    mistakes=(
        Mistake("an all-reduce for each gradient",
                "Small gradients cost a start each, and there are as many of them as of large ones.",
                ("    order = sorted(range(len(nbytes)), key=lambda gradient: found[gradient])\n"
                 "    return [[gradient] for gradient in order]",)),
        Mistake("all in one bucket",
                "A single bucket begins when the backward pass is over: nothing is hidden behind it.",
                ("    return [list(range(len(nbytes)))]",)),
        Mistake("the first layers first",
                "The backward pass finds the gradients of the last layers first. A bucket with one of the first layers "
                "waits for the very end, and all others wait behind it.",
                ("    each = list(range(len(nbytes)))\n"
                 "    return [each[first : first + 4] for first in range(0, len(each), 4)]",)),
        Mistake("not in the order in which gradients are found",
                "The backward pass finds those of the last layers first. So mostly it is the order of layers turned "
                "round, but a weight that two layers share is found when the first of them is done. Whatever stands "
                "behind a gradient that is not found yet has to wait. Go by `found`.",
                ("    return [[each] for each in reversed(range(len(nbytes)))]",
                 "    return [[each] for each in range(len(nbytes))]")),
        Mistake("one limit for all networks",
                "25 MiB are a lot for this network: nearly everything waits until the end. Choose by the link.",
                (FULL,)),
        Mistake("the link is taken for free",
                "While one bucket is sent the next has to wait. So the link is free when the all-reduce is done, "
                "and not when it begins.",
                (("free = begins + start + sum(nbytes[each] for each in bucket) / rate", "free = begins"),)),
        Mistake("what is left at the end is forgotten",
                "Every gradient has to be sent, those that are found last too.",
                (("while order:", "while len(order) > 2:"),)),
        Mistake("a gradient is in two buckets",
                "What has been sent must not be sent again: a gradient that is summed twice is too large.",
                (("order = order[len(bucket) :]", "order = order[max(1, len(bucket) - 1) :]"),)),
    ),
)  # fmt: skip

"""Data-parallel training: unequal parts, micro-batches, and the weights of one process in the end."""

from __future__ import annotations

import math

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, plural, seeds
from helpers.results.ranks.training import Task, one_process, trained

ROWS = ((1, 4, 4, 4, 1, 1), (2, 9, 6, 2, 1, 2), (3, 10, 5, 1, 2, 3), (4, 13, 5, 1, 2, 4), (4, 32, 16, 2, 2, 5))
"""ranks, samples, batch, samples that fit at once, epochs, seed"""
WIDTH, HIDDEN = 3, 4
WEIGHT = "rank.size * len(few) / len(whole)"
REDUCE = "            rank.all_reduce()\n"
BACK = "                rank.backward(few, weight=" + WEIGHT + ")\n"
FOUND = """    for epoch in range(epochs):
        order = np.random.default_rng(epoch).permutation(samples)
        for first in range(0, samples, batch):
            rank.clear()
            rank.backward(order[first : first + batch][:fits], weight=1.0)
            rank.all_reduce()
            rank.update()"""
INNER = "            for at in range(0, len(mine), fits):\n"


def _batches(samples: int, batch: int, epochs: int) -> list[np.ndarray]:
    orders = [np.random.default_rng(epoch).permutation(samples) for epoch in range(epochs)]
    return [order[first : first + batch] for order in orders for first in range(0, samples, batch)]


def _case(size: int, samples: int, batch: int, fits: int, epochs: int, seed: int) -> Case:
    dice = np.random.default_rng(seed)
    weights = dice.normal(0, 0.5, (size, WIDTH * HIDDEN + HIDDEN))
    task = Task(weights, dice.normal(size=(samples, WIDTH)), dice.normal(size=samples), fits)
    batches = _batches(samples, batch, epochs)
    fair = sum(-(-len(each) // size) for each in batches)

    def plays(recording):
        done = trained(recording, task)
        # Without any, nobody trains together: each rank takes every sample.
        reduces = done.all_reduces if done.all_reduces or size == 1 else math.inf
        return done.weights, {"all_reduces": reduces / len(batches), "broadcasts": done.broadcasts,
                              "busiest": done.busiest / fair}  # fmt: skip

    name = (f"{plural(size, 'rank')}, {samples} samples in batches of {batch}, {fits} at once, "
            f"{epochs} epoch{'s' * (epochs > 1)}")  # fmt: skip
    expected = np.tile(one_process(task, batches), (size, 1))
    return Case(name, (size, samples, batch, fits, epochs), expected=expected, plays=plays)


def _drawn(dice: np.random.Generator) -> list[Case]:
    rows = ((2, int(dice.integers(5, 12)), 4, 3, 1), (int(dice.integers(3, 6)), int(dice.integers(13, 20)), 7, 1, 2),
            (int(dice.integers(3, 6)), int(dice.integers(41, 60)), 20, 3, 2))  # fmt: skip
    return [_case(*row, seed) for row, seed in zip(rows, seeds(dice, 3), strict=True)]


def _count(name: str):
    return lambda outcome: outcome.played[name]


EXERCISE = Exercise(
    key="lab16.train",
    title="data-parallel training",
    language="python",
    name="asked_to_train",
    tolerance=1e-6,
    cases=lambda: [_case(*row) for row in ROWS],
    drawn=_drawn,
    budgets=(
        Budget("all-reduces per update", _count("all_reduces"), 1,
               "Gradients of micro-batches are added on each rank first. One all-reduce before the update is enough."),
        Budget("busiest rank over a fair share", _count("busiest"), 1,
               "All ranks wait for the one with the most samples. Parts of a batch may differ by one sample."),
        Budget("broadcasts", _count("broadcasts"), 1,
               "Equal weights and equal gradients stay equal: it takes one broadcast, before the first step."),
    ),
    hints=(
        "What has to be the same on all ranks, and what has to differ? Weights, order of the samples, part of the "
        "batch, number of all-reduces.",
        "all_reduce leaves the mean over ranks, but what you want is the mean over samples of the whole batch. By what "
        "has the loss of a micro-batch to be multiplied, so that one follows from the other?",
        f"The weight is {WEIGHT}. Broadcast once; then for each batch: clear, backward for each micro-batch of one's "
        "own part (np.array_split), all_reduce, update, on a rank without samples too.",
    ),
    why="The gradient of the whole batch is a sum of (samples of the micro-batch) / (samples of the batch) times its "
    "mean gradient, over all micro-batches of all ranks. all_reduce divides by the number of ranks, as DDP does, so "
    "the weight has to have that factor. With it parts may be of any size, even empty. The updates on all "
    "ranks are then the same, to the last bit, and weights never have to be sent again.",
    stretch="with DDP, model.no_sync() keeps the backward passes of all micro-batches but the last from reducing. "
    "Write this training with it. What do you do on a rank that has fewer micro-batches?",
    mistakes=(
        Mistake("a sum in place of a mean",
                "Each micro-batch counts as if it were the whole batch, so the steps are too large.",
                ((WEIGHT, "1.0"), (WEIGHT, "len(few)"))),
        Mistake("a mean of means of unequal parts",
                "Every rank counts the same, however few samples it has. Divide by the samples of the whole batch.",
                ((WEIGHT, "len(few) / len(mine)"),)),
        Mistake("averaged twice",
                "all_reduce leaves the mean over ranks, so it divides once more. The weight has to make up for that.",
                ((WEIGHT, "len(few) / len(whole)"), (WEIGHT, "len(few) / len(mine) / rank.size"))),
        Mistake("all ranks take the same few samples",
                "Each batch is cut to what fits at once, in the same way on every rank, so most are never used. "
                "Give each rank a part of the batch, and go through it in micro-batches.",
                (FOUND, "    rank.broadcast(0)\n" + FOUND)),
        Mistake("other weights at the start",
                "Each rank draws its own first weights. Equal gradients then keep them apart for ever: broadcast once.",
                (("    rank.broadcast(0)\n", ""),)),
        Mistake("another order on each rank",
                "Parts of different orders overlap, and leave samples out. All ranks have to draw with one seed.",
                (("default_rng(epoch)", "default_rng([epoch, rank.number])"),)),
        Mistake("the same order in every epoch",
                "The order is drawn anew for each epoch, from the epoch's number (as sampler.set_epoch does).",
                (("default_rng(epoch)", "default_rng(0)"),)),
        Mistake("an all-reduce in every micro-batch",
                "Where ranks have other numbers of micro-batches, one waits for ever. Add up first, then reduce once.",
                (((REDUCE, ""), (BACK, BACK + "                rank.all_reduce()\n")),
                 ((REDUCE, ""), (INNER, INNER.replace("len(mine)", "(len(whole) + rank.size - 1) // rank.size")),
                  (BACK, "                if len(few):\n    " + BACK + "                rank.all_reduce()\n")))),
        Mistake("old gradients stay",
                "backward adds to the gradient that is there. Clear it before each batch.",
                (("            rank.clear()\n", ""),)),
        Mistake("the last batch is left out",
                "The last batch of an epoch may be smaller, and its samples count as well.",
                (("range(0, samples, batch)", "range(0, samples - batch + 1, batch)"),)),
        Mistake("a rank without samples leaves",
                "A collective needs all ranks. One that has no samples in this batch still calls all_reduce.",
                ((REDUCE, "            if len(mine):\n                rank.all_reduce()\n"),)),
        Mistake("the part is not cut into micro-batches",
                "Only so many samples fit at once. Go through one's own part in pieces of at most `fits`.",
                (((INNER, "            for at in range(1):\n"), ("mine[at : at + fits]", "mine")),)),
    ),
)  # fmt: skip

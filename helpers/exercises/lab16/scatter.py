"""Reduce-scatter as a ring: rank r ends with the whole sum of chunk r."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, seeds
from helpers.exercises.lab16 import shared

EXCHANGE = "rank.exchange(to=after, send=part(sent, length), source=before, receive=part(added, length), add=True)"
APART = "rank.send(after, part(sent, length))\n        rank.receive(before, part(added, length), add=True)"
SENT, ADDED = "(rank.number - 1 - step)", "(rank.number - 2 - step)"


def _own_chunks(held: np.ndarray) -> np.ndarray:
    """Chunk r as rank r holds it, for all r."""
    size, elements = held.shape
    return held.reshape(size, size, elements // size)[range(size), range(size)].ravel()


def _case(size: int, length: int, seed: int) -> Case:
    return shared.summed(size, size * length, seed, 1, _own_chunks)


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = ((int(dice.integers(2, 5)), 1), (int(dice.integers(5, 8)), 3), (int(dice.integers(8, 12)), 20))
    return [_case(*each, seed) for each, seed in zip(sizes, seeds(dice, 3), strict=True)]


EXERCISE = Exercise(
    key="lab16.scatter",
    title="half a ring: reduce-scatter",
    language="python",
    name="asked_to_scatter",
    cases=lambda: [_case(*row) for row in ((1, 3, 1), (2, 2, 2), (3, 2, 3), (4, 3, 4), (5, 4, 5), (8, 8, 6))],
    drawn=_drawn,
    budgets=(
        Budget("steps over the least", shared.steps, 1,
               "A chunk visits n - 1 other ranks, so n - 1 steps are enough, if all ranks send in each of them."),
        Budget("bytes over the least", shared.sent, 1.05,
               "A rank need send every chunk but one, once. So no step sends more than one chunk."),
    ),
    hints=(
        "Look from the end: at the last step rank r adds to chunk r. Which chunk did it send at that step?",
        "Chunk r is passed from rank to rank, and ends at rank r after n - 1 steps. So it begins at rank r + 1: at "
        "step 0 a rank sends the chunk before its own.",
        f"sent = {SENT} % rank.size and added = {ADDED} % rank.size; one rank.exchange in each step, with add=True.",
    ),
    why="Chapter 22 begins at a rank's own chunk, and its sums end one rank further on. Here all is moved by one, and "
    "that is how dist.reduce_scatter_tensor leaves it: rank r has chunk r. FSDP counts on it, since rank r keeps the "
    "weights of chunk r. At each step every rank sends one chunk and receives another, so all links are busy.",
    stretch="send the chunks the other way round the ring, to rank - 1. Links work in both directions: what would two "
    "half rings at once save?",
    mistakes=(
        Mistake("what came is not added",
                "A partial sum that comes has to be added to one's own share. In its place it loses that share.",
                ((", add=True", ""),)),
        Mistake("chunk r has not come back yet",
                "Of chunk r, rank r has its own share alone. Either nothing is sent yet, or a step is missing, as it "
                "takes n - 1, or the sums end one rank too far, at chunk r + 1 as in chapter 22: then begin one chunk "
                "earlier.",
                (((SENT, "(rank.number - step)"), (ADDED, "(rank.number - 1 - step)")),
                 ("(rank.size - 1)", "(rank.size - 2)"))),
        Mistake("the first step is left out",
                "A chunk has to visit all ranks. From the first to the last it takes n - 1 steps, counted from 0.",
                (("(rank.size - 1)", "(1, rank.size - 1)"),)),
        Mistake("one step too many",
                "After n - 1 steps every sum is whole. One step more adds a whole sum to a share that is in it.",
                (("range(rank.size - 1)", "range(rank.size)"),)),
        Mistake("the same chunk at every step",
                "What a rank has added to at one step is what it has to send at the next.",
                (((SENT, "(rank.number - 1)"), (ADDED, "(rank.number - 2)")),)),
        Mistake("it receives into what it sends",
                "What comes is another chunk than what goes: the one that the rank before sends at this step.",
                ((ADDED, SENT), (SENT, ADDED))),
        Mistake("all send, and none receives",
                "`send` waits until the message is taken. If every rank first sends, then none comes to receive: use "
                "`exchange`, which does both at once.",
                ((EXCHANGE, APART),)),
        Mistake("the chunks run the wrong way",
                "A chunk goes up by one rank at each step, so at a given rank the numbers go down.",
                (((SENT, "(rank.number - 1 + step)"), (ADDED, "(rank.number - 2 + step)")),)),
        Mistake("the ring is turned round",
                "Here messages go to the rank after, and come from the rank before.",
                ((("to=after", "to=before"), ("source=before", "source=after")),)),
        Mistake("everything through rank 0",
                "The result is right, but all others send the whole tensor to rank 0, one after the other, and wait.",
                ("    if rank.number > 0:\n        rank.send(0, slice(0, elements))\n"
                 "        rank.receive(0, part(rank.number, length))\n"
                 "    for other in range(1, rank.size):\n        if rank.number == 0:\n"
                 "            rank.receive(other, slice(0, elements), add=True)\n"
                 "            if other == rank.size - 1:\n                for each in range(1, rank.size):\n"
                 "                    rank.send(each, part(each, length))",)),
    ),
)  # fmt: skip

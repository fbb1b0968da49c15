"""The whole ring all-reduce, for any number of ranks and any length."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, seeds
from helpers.exercises.lab16 import shared

ROWS = ((1, 5, 1), (2, 3, 2), (3, 7, 3), (4, 4, 4), (5, 3, 5), (4, 18, 6), (7, 181, 7))  # ranks, elements, seed
LOOP = "    for step in range(rank.size - 1):\n"
FIRST = "        sent, added = (rank.number - step) % rank.size, (rank.number - step - 1) % rank.size\n"
SECOND = "        sent, kept = (rank.number - step + 1) % rank.size, (rank.number - step) % rank.size\n"
APART = "        rank.send(after, parts[sent])\n        rank.receive(before, parts[added], add=True)\n"
ADDS = "        rank.exchange(to=after, send=parts[sent], source=before, receive=parts[added], add=True)\n"
KEEPS = "        rank.exchange(to=after, send=parts[sent], source=before, receive=parts[kept])\n"
SHORT = "    for step in range(rank.size - 2):\n"


def _case(size: int, elements: int, seed: int) -> Case:
    return shared.summed(size, elements, seed, 2, lambda held: held)


def _drawn(dice: np.random.Generator) -> list[Case]:
    many = int(dice.integers(5, 12))  # one element is missing to the next multiple
    sizes = ((int(dice.integers(2, 6)), int(dice.integers(1, 30))), (many + 1, int(dice.integers(1, many))),
             (many, many * int(dice.integers(21, 40)) - 1))  # fmt: skip
    return [_case(*each, seed) for each, seed in zip(sizes, seeds(dice, 3), strict=True)]


EXERCISE = Exercise(
    key="lab16.ring",
    title="the whole ring all-reduce",
    language="python",
    name="asked_to_all_reduce",
    cases=lambda: [_case(*row) for row in ROWS],
    drawn=_drawn,
    budgets=(
        Budget("steps over the least", shared.steps, 1,
               "2 (n - 1) steps are enough: n - 1 that add, and n - 1 that hand on, with all ranks at work in each."),
        Budget("bytes over the least", shared.sent, 1.05,
               "A step takes as long as its longest message. Together they are 2 (n - 1) / n of the tensor, if in each "
               "step no message is longer than a chunk, and chunks are as equal as can be."),
    ),
    hints=(
        "Where does chunk number i begin, if the length is no multiple of n? The chunks together have to have every "
        "element once, and none may be much longer than another.",
        "elements * i // n is where chunk i begins and chunk i - 1 ends. The first half is that of chapter 22 or of "
        "task 1; in the second the finished sums go round, and nothing is added.",
        "If the first half begins with sent = rank.number, then rank r has the whole sum of chunk r + 1. So the second "
        "begins with sent = rank.number + 1, and keeps what the rank before sends.",
    ),
    why="Every rank sends 2 (n - 1) chunks, which is less than twice the tensor however many ranks there are. A cut by "
    "elements * i // n makes chunks that differ by one element at most, and works for fewer elements than ranks too: "
    "then some chunks are empty. Nothing here depends on values, so the same steps work for any tensor, and that "
    "is why they could be recorded without one.",
    stretch="2 (n - 1) messages have a start each. For short tensors a tree of log2 n levels is faster: from which "
    "length on is the ring?",
    equivalent=((("range(rank.size + 1)", "range(rank.size + 2)"), "one part more, which nobody sends"),),
    mistakes=(
        Mistake("no message is sent",
                "Each rank asks for nothing, so it keeps its own share. Begin with one `rank.exchange` in each step.",
                ("    pass",)),
        Mistake("the elements that are left over",
                "With elements // n for each chunk, the last elements belong to none, so nobody sums them.",
                (("elements * index // rank.size", "elements // rank.size * index"),)),
        Mistake("one step too few",
                "A chunk needs n - 1 steps to come round, in each half.",
                ((LOOP + FIRST, SHORT + FIRST), (LOOP + SECOND, SHORT + SECOND), (LOOP, SHORT))),
        Mistake("each sum has the share of one rank only",
                "Either what comes in the first half is not added, or the second half begins with a chunk that is not "
                "whole. After the first half rank r has one whole sum, that of chunk r + 1: it has to send this first.",
                ((", add=True", ""), (SECOND, FIRST.replace("added", "kept")))),
        Mistake("the second half adds too",
                "In the second half sums are whole. Add one to what is there, and shares are counted twice.",
                (("receive=parts[kept])", "receive=parts[kept], add=True)"),)),
        Mistake("handed on before the sum is whole",
                "All n - 1 steps that add come first. What is handed on between them is only part of a sum.",
                ((LOOP + SECOND, SECOND),)),
        Mistake("the sums are not handed on",
                "After n - 1 steps each rank has one whole sum, and still needs those of the others.",
                ((LOOP + SECOND + KEEPS, ""),)),
        Mistake("it receives into what it sends",
                "While a chunk is being sent it may not change. What comes belongs into another chunk.",
                (("receive=parts[added]", "receive=parts[sent]"), ("receive=parts[kept]", "receive=parts[sent]"))),
        Mistake("all send, and none receives",
                "`send` waits until the message is taken. If every rank first sends, then none comes to receive: use "
                "`exchange`, which does both at once.",
                ((ADDS, APART),)),
        Mistake("everything through rank 0",
                "The sums are right, but rank 0 sends the whole tensor to every other, while the others' links rest.",
                ("    whole = slice(0, elements)\n    if rank.number > 0:\n        rank.send(0, whole)\n"
                 "        rank.receive(0, whole)\n        return\n    for other in range(1, rank.size):\n"
                 "        rank.receive(other, whole, add=True)\n    for other in range(1, rank.size):\n"
                 "        rank.send(other, whole)",)),
        Mistake("the rest is one long chunk",
                "The sums are right, but the last chunk has all elements that are left over, and each step takes as "
                "long as its longest message. Spread them over the chunks.",
                (("[elements * index // rank.size for index in range(rank.size + 1)]",
                  "[elements // rank.size * index for index in range(rank.size)] + [elements]"),)),
    ),
)  # fmt: skip

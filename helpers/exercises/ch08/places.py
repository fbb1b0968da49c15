"""A place for each element that is kept, within its warp: a vote of the lanes for a loop over them."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import total
from helpers.exercises.ch08.budgets import at_most_idle, at_most_instructions

BLOCK = 128
READ = """    i = cuda.grid(1)
    if i < x.size:
        count = 0
        for k in range(i // 32 * 32, i):
            if x[k] > 0:
                count += 1
        place[i] = count if x[i] > 0 else -1"""


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    x[n // 2 :: 7] = 0  # nothing is neither kept nor below 0
    kept = x > 0
    place = np.full(n, -1, np.int32)
    for first in range(0, n, 32):
        mine = kept[first : first + 32]
        place[first : first + 32][mine] = np.arange(mine.sum())
    return Case(plural(n, "element"), (x, Out(place)), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch08.places",
    title="a place for each kept element, in Numba",
    language="numba",
    name="places",
    cases=lambda: [_case(n) for n in (1, 2, 31, 33, 64, 97, 128, 1021)],
    measured=lambda: _case(2048),
    budgets=(
        at_most_idle(6),
        at_most_instructions("2,048 elements", 4_000, "One vote tells every lane about the 31 others."),
        Budget(
            "load requests for 2,048 elements",
            total("global_load_requests"),
            130,
            "A vote moves 32 bits between registers. No element has to be loaded for it again.",
            "global_load_requests",
        ),
    ),
    thread_of=thread_1d,
    sanitize=True,
    hints=(
        "Each lane knows whether its own element is kept. cuda.ballot_sync(0xFFFFFFFF, mine) tells it to all.",
        "Bit k of the vote is lane k. Keep the bits below your own lane, and count them with cuda.popc.",
        "mine = i < x.size and x[i] > 0, then who = cuda.ballot_sync(0xFFFFFFFF, mine);"
        " and the place is cuda.popc(who & ((1 << cuda.laneid) - 1)).",
    ),
    solution="""
@cuda.jit
def places(x, place):
    i = cuda.grid(1)
    mine = i < x.size and x[i] > 0
    who = cuda.ballot_sync(0xFFFFFFFF, mine)
    before = who & ((1 << cuda.laneid) - 1)
    if i < x.size:
        place[i] = cuda.popc(before) if mine else -1
""",
    why="The loop over the lanes before has gone, and with it a different number of rounds for each lane. A vote is "
    "one instruction, and counting bits is another.",
    stretch="write the kept elements themselves side by side, for the whole array: one atomic a warp reserves places.",
    mistakes=(
        Mistake(
            "no guard",
            "The last block has threads for which there is no element. They take part in the vote, with no, and store "
            "nothing.",
            (("    if i < x.size:\n        place[i]", "    if True:\n        place[i]"), ("i < x.size and ", "")),
        ),
        Mistake(
            "the lane counts itself",
            "A place counts the lanes *before* this one, so the first one that is kept has place 0.",
            (("(1 << cuda.laneid) - 1", "(2 << cuda.laneid) - 1"),),
        ),
        Mistake(
            "all lanes of the warp are counted",
            "Of the vote only the bits below the own lane count: who & ((1 << cuda.laneid) - 1).",
            (("cuda.popc(before)", "cuda.popc(who)"), ("cuda.popc(before)", "cuda.popc(who) - 1")),
        ),
        Mistake(
            "the lanes behind are counted",
            "Lane 0 is the lowest bit. Those before a lane are the bits below its own.",
            (("who & ((1 << cuda.laneid) - 1)", "who >> (cuda.laneid + 1)"),),
        ),
        Mistake(
            "elements that are not kept have a place",
            "An element that is not above 0 gets no place: store -1 for it.",
            (("cuda.popc(before) if mine else -1", "cuda.popc(before)"), ("else -1", "else 0")),
        ),
        Mistake(
            "zero is kept",
            "An element is kept if it is above 0, and 0 itself is not.",
            (("x[i] > 0", "x[i] >= 0"),),
        ),
        Mistake(
            "the thread is taken for the lane",
            "The vote has 32 bits, one for each lane of the own warp: cuda.laneid is from 0 to 31.",
            (("cuda.laneid", "cuda.threadIdx.x"),),
        ),
        Mistake(
            "every lane reads those before it",
            "The result is right, but lane 31 makes 31 rounds and lane 0 none, so the warp diverges. Each lane already "
            "knows the answer for its own element: let the lanes vote.",
            (READ,),
        ),
    ),
)

"""The first half of the ring: which chunk a rank sends at a step, and which one it adds to."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

ROWS = ((2, 0, 0), (2, 1, 0), (4, 0, 0), (4, 1, 2), (4, 3, 1), (5, 0, 3), (7, 6, 5), (8, 2, 6))  # ranks, rank, step
SENT, ADDED = "(rank - step) % ranks", "(rank - step - 1) % ranks"


def _case(ranks: int, rank: int, step: int) -> Case:
    expected = ((rank - step) % ranks, (rank - step - 1) % ranks)
    return Case(f"{plural(ranks, 'rank')}, rank {rank}, step {step}", (rank, step, ranks), expected=expected)


EXERCISE = Exercise(
    key="ch22.chunk",
    title="which chunk travels in a reduce-scatter",
    language="python",
    name="chunks",
    cases=lambda: [_case(*row) for row in ROWS],
    hints=(
        "At step 0 every rank sends the chunk of its own number. What has just arrived at a rank, and where does it go "
        "next?",
        "The chunk that a rank adds to at one step is the one that it sends at the next. And what it adds to is what "
        "the rank before it sends at the same step.",
        f"sent = {SENT}; the rank before is rank - 1, so added = {ADDED}.",
    ),
    solution=f"""
def chunks(rank, step, ranks):
    sent = {SENT}
    added = {ADDED}
    return sent, added
""",
    why="The number of the chunk goes down by one at each step, because the chunk itself goes up by one rank. After "
    "the "
    "last step, which is number n - 2, a rank has added to chunk (rank + 1) % n, and that chunk holds the sum of all. "
    "In Python the remainder of a negative number is not negative, so no other case is needed; in C you would add n.",
    stretch="what changes where the ring is to end with chunk number `rank` on each rank, as dist.reduce_scatter "
    "leaves "
    "it?",
    mistakes=(
        Mistake(
            "the same chunk at every step",
            "At step 0 a rank sends its own chunk. At the next step it has to pass on what it has just added to.",
            ((SENT, "rank"), ((SENT, "rank"), (ADDED, "(rank - 1) % ranks")), ((SENT, "rank"), (ADDED, "rank - 1"))),
        ),
        Mistake(
            "the chunks run the wrong way",
            "A chunk goes up by one rank at each step. So at a given rank the numbers go down: rank - step.",
            (((SENT, "(rank + step) % ranks"), (ADDED, "(rank + step - 1) % ranks")),
             ((SENT, "(rank + step) % ranks"), (ADDED, "(rank + step + 1) % ranks"))),
        ),
        Mistake(
            "it adds to what it sends",
            "What arrives is what the rank before sends at this step, and that is another chunk than one's own.",
            ((ADDED, SENT),),
        ),
        Mistake(
            "from the rank behind",
            "Messages come from rank - 1 and go to rank + 1.",
            ((ADDED, "(rank - step + 1) % ranks"),),
        ),
        Mistake(
            "the numbers leave the ring",
            "There are chunks 0 to n - 1. Below 0 they begin again at the end: % ranks.",
            (((SENT, "rank - step"), (ADDED, "rank - step - 1")),
             ((SENT, "abs(rank - step)"), (ADDED, "abs(rank - step - 1)")),
             (SENT, "max(0, rank - step)")),
        ),
        Mistake(
            "one step ahead",
            "Steps are counted from 0: at step 0 each rank sends the chunk of its own number.",
            (((ADDED, "(rank - step - 2) % ranks"), (SENT, "(rank - step - 1) % ranks")),
             ((ADDED, "(rank - step) % ranks"), (SENT, "(rank - step + 1) % ranks"))),
        ),
    ),
)  # fmt: skip

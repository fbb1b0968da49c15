"""The largest batch that fits, found in few trials: double, then halve the gap."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = ((1, 64), (2, 64), (3, 64), (6, 64), (8, 64), (21, 64), (64, 64), (100, 1000), (0, 8), (37, 37))  # most, limit


def _trials(most: int, limit: int) -> list[int]:
    tried, good, bad, batch = [], 0, limit + 1, 1
    while batch <= limit:
        tried.append(batch)
        if batch > most:
            bad = batch
            break
        good, batch = batch, 2 * batch
    while bad - good > 1:
        middle = (good + bad) // 2
        tried.append(middle)
        good, bad = (middle, bad) if middle <= most else (good, middle)
    return tried


def _case(most: int, limit: int) -> Case:
    return Case(f"up to {most} fit, at most {limit} are wanted", (most, limit), expected=_trials(most, limit))


EXERCISE = Exercise(
    key="ch18.trials",
    title="the largest batch in few trials",
    language="python",
    name="trials",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "Keep two numbers: the largest batch that is known to fit, and the smallest that is known not to.",
        "First double from 1 on until one fails or the next would be above the limit. Nothing above the limit is "
        "wanted, so limit + 1 counts as failed from the start.",
        "Then, while bad - good is above 1, try (good + bad) // 2, and let it become good or bad.",
    ),
    solution="""
def trials(most, limit):
    tried = []
    good, bad = 0, limit + 1
    batch = 1
    while batch < bad:
        tried.append(batch)
        if batch <= most:
            good = batch
            batch = 2 * batch
        else:
            bad = batch
    while bad - good > 1:
        middle = (good + bad) // 2
        tried.append(middle)
        if middle <= most:
            good = middle
        else:
            bad = middle
    return tried
""",
    why="Doubling takes one trial for each power of two below the answer, and halving the gap as many again, so a "
    "batch of 100 is found in 14 trials instead of 101. No batch is tried twice. On a GPU a trial is a whole training "
    "step, and one that fails has to free what it holds before the next begins.",
    stretch="two trials at small batches give the line from which the answer can be extrapolated. How many trials does "
    "it take to confirm it?",
    equivalent=((("good, bad = 0", "good, bad = 1"), "a batch of 1 is tried first, and settles it"),),
    mistakes=(
        Mistake(
            "one after the other",
            "That works and takes as many trials as the answer is large. Double instead.",
            (("batch = 2 * batch", "batch = batch + 1"),),
        ),
        Mistake(
            "powers of two only",
            "Doubling finds the answer within a factor of two. Go on between the last that fits and the first that "
            "does not.",
            (("while bad - good > 1", "while False"),),
        ),
        Mistake(
            "beyond the limit",
            "Batches above the limit are not wanted: do not try them.",
            (("good, bad = 0, limit + 1", "good, bad = 0, 10**6"),),
        ),
        Mistake(
            "the limit itself is left out",
            "The limit may be tried: only limit + 1 counts as failed.",
            (("good, bad = 0, limit + 1", "good, bad = 0, limit"),),
        ),
        Mistake(
            "a trial too many at the end",
            "When good and bad are neighbours nothing is left to try.",
            (("while bad - good > 1", "while bad - good > 1 or (tried[-1] != good and good)"),
             ("    return tried", "    tried.append(good)\n    return tried")),
        ),
        Mistake(
            "only the result",
            "Return the list of all batches that were tried, in order.",
            (("    return tried", "    return good"),),
        ),
        Mistake(
            "the gap is halved from the top",
            "Start from 1 and double: a trial far above the answer fails, and a failure is what we want few of.",
            (("batch = 1\n", "batch = limit + 1\n"),),
        ),
        Mistake(
            "middle rounded up",
            "Round the middle down: (good + bad) // 2.",
            (("(good + bad) // 2", "(good + bad + 1) // 2"),),
        ),
    ),
)  # fmt: skip

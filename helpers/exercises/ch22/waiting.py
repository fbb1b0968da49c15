"""How long ranks wait for one another, where they meet after every few steps."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, plural

STEPS = (
    (((3.0,),), 1),
    (((2.0, 5.0), (4.0, 1.0)), 1),
    (((2.0, 5.0), (4.0, 1.0)), 2),
    (((1.0, 1.0, 3.0), (1.0, 1.0, 3.0), (1.0, 1.0, 3.0), (1.0, 1.0, 3.0)), 2),
)
DRAWN = ((5, 4, 2), (6, 3, 3), (7, 2, 10), (8, 5, 4))  # steps, ranks, every
GROUP = "group = np.sum(work[start : start + every], axis=0)"


def _waits(work: np.ndarray, every: int) -> np.ndarray:
    total = np.zeros(work.shape[1])
    for start in range(0, len(work), every):
        group = work[start : start + every].sum(axis=0)
        total += group.max() - group
    return total


def _case(work, every: int) -> Case:
    work = np.array(work)
    steps, ranks = work.shape
    name = f"{plural(steps, 'step')} of {plural(ranks, 'rank')}, together after every {every}"
    return Case(name, (work, every), expected=_waits(work, every))


def _cases() -> list[Case]:
    dice = np.random.default_rng(22)
    drawn = [(dice.integers(2, 12, (steps, ranks)) / 4, every) for steps, ranks, every in DRAWN]
    return [_case(*each) for each in (*STEPS, *drawn)]


EXERCISE = Exercise(
    key="ch22.waiting",
    title="who waits how long",
    language="python",
    name="waits",
    cases=_cases,
    hints=(
        "Take every = 1 first. When does an all-reduce begin, and how long has each rank waited by then?",
        "Between two all-reduces a rank works for the sum of its steps. So take `every` steps, work[start : start + "
        "every], and add them up for each rank.",
        "group = work[start:start + every].sum(axis=0); each rank waits group.max() - group. Add this up over all "
        "groups. The last group may be shorter.",
    ),
    solution=f"""
import numpy as np

def waits(work, every):
    total = np.zeros(work.shape[1])
    for start in range(0, len(work), every):
        {GROUP}
        total += group.max() - group
    return total
""",
    why="Ranks wait for the largest sum between two meetings, and sums over several steps differ less than single "
    "steps do, as chance evens out. So fewer meetings mean less waiting where the work is uneven by chance. A rank "
    "that is always slower is always the last, however seldom they meet.",
    stretch="let the all-reduce itself take a fixed time. From which `every` on does meeting less often save next to "
    "nothing?",
    mistakes=(
        Mistake(
            "they meet after every step",
            "With every = 2 the gradients of two steps are added up first, and the ranks meet after the second.",
            ((("range(0, len(work), every)", "range(len(work))"), ("start + every", "start + 1")),),
        ),
        Mistake(
            "they meet only at the end",
            "Ranks meet after each `every` steps, so each group of steps has a slowest rank of its own.",
            ("    total = np.sum(work, axis=0)\n    return total.max() - total",),
        ),
        Mistake(
            "the last group is lost",
            "Where the steps do not divide evenly the last group is shorter. Its ranks meet, too.",
            (("range(0, len(work), every)", "range(0, len(work) - every + 1, every)"),),
        ),
        Mistake(
            "steps and ranks are exchanged",
            "work[step, rank]: between two meetings the steps of a rank are added up, along axis 0.",
            ("    sums = np.sum(work, axis=1)\n    return sums.max() - sums",),
        ),
        Mistake(
            "they meet at the mean",
            "An all-reduce begins when the slowest rank has come: subtract from the maximum.",
            (("group.max() - group", "abs(group.mean() - group)"), ("group.max() - group", "group.mean() - group")),
        ),
        Mistake(
            "they wait for the fastest",
            "The fastest rank comes first and waits longest: what a rank waits is the maximum less its own work.",
            (("group.max() - group", "group - group.min()"),),
        ),
        Mistake(
            "one number for all ranks",
            "Each rank has its own waiting: return an array with one number a rank.",
            (("return total", "return np.array([total.sum()])"), ("return total", "return total.sum()")),
        ),
        Mistake(
            "the largest step stands for the group",
            "Between two meetings a rank works on all of its steps: add them up.",
            (("np.sum(work[start : start + every], axis=0)", "np.max(work[start : start + every], axis=0)"),),
        ),
    ),
)  # fmt: skip

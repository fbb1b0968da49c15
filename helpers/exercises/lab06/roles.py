"""Two series of each element, one long and one short: a role for each warp."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, seeds
from helpers.checking.measures import stored_for_needed
from helpers.exercises.lab06.budgets import idle, instructions

BLOCK, ROUNDS = 128, 24
WHO = "role, i = t // 32 % 2, t // 64 * 32 + t % 32"
LONG, SHORT = "v = np.float32(0.75) * v + np.float32(1)", "v = np.float32(0.5) * v - x[i]"
ELSE = "        else:\n            for _ in range(rounds):\n                v"
BOTH = f"""    {{0}}
            v = w = x[i]
            for _ in range(3 * rounds):
                {LONG}
            {{1}}
            for _ in range(rounds):
                w = np.float32(0.5) * w - x[i]
            {{2}}"""


def _case(n: int, rounds: int = 8, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    slow, fast = x.astype(np.float64), x.astype(np.float64)
    for _ in range(3 * rounds):
        slow = 0.75 * slow + 1
    for _ in range(rounds):
        fast = 0.5 * fast - x
    arguments = (x, Out(np.stack([slow, fast]).astype(np.float32)), np.int32(rounds))
    # As many blocks for each role, so that a role may as well have whole blocks.
    return Case(f"{plural(n, 'element')}, {plural(rounds, 'round')}", arguments, (2 * cover(n, BLOCK),), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [*dice.integers(2, 300, 3), dice.integers(1400, 2100)]
    return [
        _case(int(n), int(dice.integers(3, 9)) if n < 1000 else ROUNDS, seed)
        for n, seed in zip(sizes, seeds(dice, 4), strict=True)
    ]


EXERCISE = Exercise(
    key="lab06.roles",
    title="two results of each element, in Numba",
    language="numba",
    name="roles",
    cases=lambda: [_case(n) for n in (1, 31, 32, 97, 128, 500)],
    measured=lambda: _case(1600, ROUNDS),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(
        idle(3, most=400),
        instructions(
            400, "The rounds of one role are enough for a thread; a warp of both roles runs the rounds of both."
        ),
        Budget(
            "bytes stored per byte needed",
            stored_for_needed,
            1.3,
            "The lanes of a warp should store to neighbours in one row of out.",
            "global_store_sectors",
        ),
    ),
    hints=(
        "Which threads share a warp? Give those one role, and neighbouring elements.",
        "With t // 32 as the number of the warp: even warps one role, odd warps the other. Each pair of warps has "
        "32 elements.",
        "role = t // 32 % 2 and i = t // 64 * 32 + t % 32. Or, simpler: one thread computes both results of its "
        "element.",
    ),
    why="The branch is as it was; what changed is who meets in a warp. Mixed, a warp runs 3k + k rounds with half "
    "of its lanes; sorted out, one warp runs 3k and its neighbour k. A thread that does both roles for one element "
    "is as good: it has no branch at all, and half of the threads go home. Roles for whole warps pay when they need "
    "different data or registers, as where one warp loads and another computes.",
    stretch="warps of the short role are done first. Give them more elements, so that all warps end together.",
    mistakes=(
        Mistake("rows and columns of out swapped",
            "out has two rows and a column for each element: out[role, i], and i is below x.size.",
            (("out[role, i]", "out[i, role]"),)),
        Mistake("the rows are swapped",
            "out[0] is the long series, with 0.75, and out[1] the short one.",
            (("out[role, i]", "out[1 - role, i]"),)),
        Mistake("a series has another number of rounds",
            "The series of out[0] has 3 · rounds rounds, that of out[1] has rounds of them.",
            (("3 * rounds", "rounds"), ("3 * rounds", "2 * rounds"), ("3 * rounds", "4 * rounds"),
             ("3 * rounds", "3 + rounds"), ("(rounds)", "(3 * rounds)"), ("(rounds)", "(2 * rounds)"))),
        Mistake("the two factors exchanged",
            "The long series has the factor 0.75, the short one 0.5.",
            ((("0.75", "?"), ("0.5", "0.75"), ("?", "0.5")),)),
        Mistake("x[i] is to be subtracted",
            "In the short series x[i] is subtracted in every round, as it was before the first one: v = 0.5 v - x[i].",
            (("v - x[i]", "v + x[i]"), ("v - x[i]", "v - v"))),
        Mistake("both loops in one role",
            "In out[0] the short series went on where the long one ended. A role runs one loop.",
            ((ELSE, "        for _ in range(rounds):\n            v"),)),
        Mistake("the short series begins where the long one ends",
            "Both series begin with v = x[i], so the second one needs a variable of its own.",
            (BOTH.format("if t < x.size:\n            i = t", "out[0, i] = w = v", "out[1, i] = w"),)),
        Mistake("some elements have no thread",
            "What was written is right. Count: 2n threads, a role and an element for each pair of numbers; and both "
            "roles need threads.",
            ((WHO, "role, i = t // 32 % 2, t"), (WHO, "role, i = 0, t"), (WHO, "role, i = 1, t"))),
        Mistake("both roles in one warp",
            "The result is right, but in a warp some lanes wait while others work: threads 0 to 31 are one warp, 32 "
            "to 63 the next. A role for each warp.",
            ((WHO, "role, i = t % 2, t // 2"), (WHO, "role, i = t // 16 % 2, t // 32 * 16 + t % 16"),
             BOTH.format("if t == 0:\n        for i in range(x.size):", "", "out[0, i], out[1, i] = v, w"))),
        Mistake("stored in every round",
            "The result is right, but every element is stored again and again. Keep v in a variable, which is a "
            "register, and store it once.",
            (("    v = np.float32", "    v = out[role, i] = np.float32"),)),
        Mistake("stores that stride",
            "The result is right and nobody waits, but the elements of a warp do not lie side by side.",
            (((WHO, "role, first = t // 32 % 2, 4 * (t // 64 * 32 + t % 32)"),
              ("if i < x.size:", "for i in range(first, min(x.size, first + 4)):")),)),
        Mistake("every thread does both and keeps one",
            "The result is right, but warps execute far more than the rounds of one role for each result: both "
            "roles, say, of which one is thrown away.",
            (BOTH.format(f"{WHO}\n    if i < x.size:", "", "out[role, i] = w if role else v"),)),
    ),
)  # fmt: skip

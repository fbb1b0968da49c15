"""One round of the scan that replaces the chain of a linear recurrence."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096
STATE = "factor[i] * state[i - distance] + state[i]"
FACTOR = "factor[i] * factor[i - distance]"


def _case(n: int, distance: int) -> Case:
    factor, state = numbers(n, seed=n) / 8, numbers(n, seed=n + 1)
    new_factor, new_state = factor.copy(), state.copy()
    new_state[distance:] = factor[distance:] * state[: n - distance] + state[distance:]
    new_factor[distance:] = factor[distance:] * factor[: n - distance]
    arguments = (factor, state, np.int32(distance), Out(new_factor), Out(new_state))
    return Case(f"{plural(n, 'step')}, distance {distance}", arguments, (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch20.scan_round",
    title="a round of the scan over time, in Numba",
    language="numba",
    name="scan_round",
    cases=lambda: [_case(*each) for each in ((1, 1), (31, 1), (64, 32), (131, 4), (300, 256), (1000, 16))],
    measured=lambda: _case(COUNTED, 64),
    budgets=(
        Budget(
            "FP64 operations",
            lambda profile: profile["flops_fp64"],
            0,
            "All numbers here are float32. A Python number such as 1.0 makes Numba calculate in float64.",
            "flops_fp64",
        ),
    ),
    tolerance=1e-4,
    hints=(
        "Position i stands for a run of steps that ends at i. Which run ends just before it begins?",
        "The earlier step is (factor[i - distance], state[i - distance]), the later one (factor[i], state[i]).",
        "new_state[i] = factor[i] * state[i - distance] + state[i]; the first `distance` positions are copied.",
    ),
    solution="""
@cuda.jit
def scan_round(factor, state, distance, new_factor, new_state):
    i = cuda.grid(1)
    if i < state.size:
        if i >= distance:
            new_state[i] = factor[i] * state[i - distance] + state[i]
            new_factor[i] = factor[i] * factor[i - distance]
        else:
            new_state[i] = state[i]
            new_factor[i] = factor[i]
""",
    why="The later step scales what the earlier one left and adds its own part, and its factor applies to everything "
    "before. After a round each position stands for twice as many steps. The results go into new arrays, because "
    "another thread may still have to read the old ones.",
    stretch="call it for the distances 1, 2, 4, … and compare the last state with the loop. How many launches are that?",
    mistakes=(
        Mistake(
            "the two steps are swapped",
            "The order matters: the later step, at i, scales the state that the earlier one left.",
            ((STATE, "factor[i - distance] * state[i] + state[i - distance]"),),
        ),
        Mistake(
            "the earlier state is not scaled",
            "What the earlier step left is multiplied by the factor of the later one: factor[i] * state[i - distance].",
            ((STATE, "state[i - distance] + state[i]"),),
        ),
        Mistake(
            "the later step's own part is lost",
            "The later step scales the earlier state and then adds its own part, state[i].",
            ((STATE, "factor[i] * state[i - distance]"),),
        ),
        Mistake(
            "the factors stay as they were",
            "Two steps together scale by the product of both factors: factor[i] * factor[i - distance].",
            ((FACTOR, "factor[i]"), (FACTOR, "factor[i - distance]")),
        ),
        Mistake(
            "the factors are added",
            "Scaling twice is scaling by the product: factor[i] * factor[i - distance].",
            ((FACTOR, "factor[i] + factor[i - distance]"),),
        ),
        Mistake(
            "only the neighbour is taken in",
            "In a round, position i takes in the one that stands `distance` before it.",
            (("[i - distance]", "[i - 1]"),),
        ),
        Mistake(
            "the first positions are left out",
            "Those with nobody `distance` before them keep what they have: copy both values.",
            (("            new_state[i] = state[i]\n            new_factor[i] = factor[i]\n", "            pass\n"),
             ("            new_factor[i] = factor[i]\n", ""), ("            new_state[i] = state[i]\n", "")),
        ),
    ),
)  # fmt: skip

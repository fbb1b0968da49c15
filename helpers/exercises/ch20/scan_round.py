"""One round of the scan that replaces the chain of a linear recurrence."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096
EARLIER, LATER = "steps[1, i - distance]", "steps[1, i]"
STATE = f"steps[0, i] * {EARLIER} + {LATER}"
FACTOR = "steps[0, i] * steps[0, i - distance]"


def _case(n: int, distance: int) -> Case:
    steps = numbers((2, n), seed=n)
    steps[0] /= 8
    out = steps.copy()
    out[1, distance:] = steps[0, distance:] * steps[1, : n - distance] + steps[1, distance:]
    out[0, distance:] = steps[0, distance:] * steps[0, : n - distance]
    arguments = (steps, np.int32(distance), Out(out))
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
        "The earlier run is in column i - distance, the later in column i. Row 0 has the factors, row 1 the states.",
        "out[1, i] = steps[0, i] * steps[1, i - distance] + steps[1, i]; the first `distance` columns are copied.",
    ),
    solution="""
@cuda.jit
def scan_round(steps, distance, out):
    i = cuda.grid(1)
    if i < steps.shape[1]:
        if i >= distance:
            out[0, i] = steps[0, i] * steps[0, i - distance]
            out[1, i] = steps[0, i] * steps[1, i - distance] + steps[1, i]
        else:
            out[0, i] = steps[0, i]
            out[1, i] = steps[1, i]
""",
    why="The later step scales what the earlier one left and adds its own part, and its factor applies to everything "
    "before. After a round each position stands for twice as many steps. The results go into new arrays, because "
    "another thread may still have to read the old ones.",
    stretch="call it for the distances 1, 2, 4, … and compare the last state with the loop. How many launches?",
    mistakes=(
        Mistake(
            "the two steps are swapped",
            "The order matters: the later step, at i, scales the state that the earlier one left.",
            ((STATE, f"steps[0, i - distance] * {LATER} + {EARLIER}"),),
        ),
        Mistake(
            "the earlier state is not scaled",
            "What the earlier step left is multiplied by the factor of the later one.",
            ((STATE, f"{EARLIER} + {LATER}"),),
        ),
        Mistake(
            "the later step's own part is lost",
            "The later step scales the earlier state and then adds its own part, steps[1, i].",
            ((STATE, f"steps[0, i] * {EARLIER}"),),
        ),
        Mistake(
            "the factors stay as they were",
            "Two steps together scale by the product of both factors.",
            ((FACTOR, "steps[0, i]"), (FACTOR, "steps[0, i - distance]")),
        ),
        Mistake(
            "the factors are added",
            "Scaling twice is scaling by the product of both factors.",
            ((FACTOR, FACTOR.replace("*", "+")),),
        ),
        Mistake(
            "only the neighbour is taken in",
            "In a round, position i takes in the one that stands `distance` before it.",
            (((FACTOR, FACTOR.replace("distance", "1")), (STATE, STATE.replace("distance", "1"))),),
        ),
        Mistake(
            "nothing is joined",
            "All positions are copied. From `distance` on, each takes in the one that stands `distance` before it.",
            (("if i >= distance:", "if i < 0:"),),
        ),
        Mistake(
            "the first positions are left out",
            "Those with nobody `distance` before them keep what they have: copy both values.",
            (("            out[0, i] = steps[0, i]\n            out[1, i] = steps[1, i]\n", "            pass\n"),
             ("            out[0, i] = steps[0, i]\n", ""), ("            out[1, i] = steps[1, i]\n", "")),
        ),
    ),
)  # fmt: skip

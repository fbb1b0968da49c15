"""Many rounds over one array, with every value kept in a register until its last round."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, numbers, plural

GRID, BLOCK = 2, 64
FACTOR, SHIFT = np.float32(0.5), np.float32(3)
BODY = """for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        value = x[i]
        for r in range(rounds):
            value = factor * value + shift
        out[i] = value"""


def _case(n: int, rounds: int) -> Case:
    x = numbers(n, seed=n)
    right = x.copy()
    for _ in range(rounds):
        right = FACTOR * right + SHIFT
    name = f"{plural(n, 'element')}, {plural(rounds, 'round')}"
    return Case(name, (x, Out(right), FACTOR, SHIFT, np.int32(rounds)), (GRID,), (BLOCK,))


EXERCISE = Exercise(
    key="ch03.relax",
    title="many rounds, each value in a register",
    language="numba",
    name="relax",
    cases=lambda: [_case(*each) for each in ((1, 1), (63, 3), (128, 0), (129, 2), (257, 4), (1000, 5))],
    measured=lambda: _case(4096, 6),
    budgets=(
        Budget(
            "global load requests for 4,096 floats",
            lambda profile: profile["global_read_requests"],
            132,
            "32 lanes load together, so each float once is 128 requests. Whatever is loaded again was in a register "
            "before.",
            "global_load_requests",
        ),
        Budget(
            "global store requests",
            lambda profile: profile["global_write_requests"],
            132,
            "Only the last value of each element is asked for: 128 requests.",
            "global_store_requests",
        ),
        Budget(
            "local requests",
            lambda profile: profile["local_requests"],
            0,
            "One value at a time is enough, and a variable holds it: no array is needed.",
            "local_store_requests",
        ),
    ),
    hints=(
        "What does a thread need for all rounds of one element? Nothing but that element.",
        "Let the loop over elements be the outer one, and the loop over rounds the inner one.",
        "value = x[i] before the inner loop, value = factor * value + shift in it, out[i] = value after it.",
    ),
    solution=f"""
@cuda.jit
def relax(x, out, factor, shift, rounds):
    {BODY}
""",
    why="The rounds of one element do not need any other element, so the loops may change places. Then the working set "
    "of a thread is one value, which fits a register, whatever the size of the array.",
    stretch="let each round take the mean of two neighbours instead. Why can the loops no longer change places?",
    mistakes=(
        Mistake(
            "every round goes through memory",
            "The result is right, but a value is stored at the end of a round and loaded in the next one, with "
            "the whole array gone through in between. Finish one element before you begin the next.",
            (
                (BODY, """for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i]
    for r in range(rounds):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            out[i] = factor * out[i] + shift"""),
            ),
        ),
        Mistake(
            "each round begins anew",
            "Each round has to go on with what the one before has made. Here it begins with x[i] again.",
            (("value = factor * value", "value = factor * x[i]"),),
        ),
        Mistake(
            "one element a thread",
            "There are 128 threads, however many elements there are, so each has to go on to the next.",
            (("for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):", "i = cuda.grid(1)\n    if i < x.size:"),),
        ),
        Mistake(
            "one round too few or too many",
            "range(rounds) is as many rounds as are asked for. With 0 rounds the result is x itself.",
            (("range(rounds)", "range(rounds - 1)"), ("range(rounds)", "range(rounds + 1)"),
             ("range(rounds)", "range(1, rounds)")),
        ),
        Mistake(
            "a value of the element before",
            "`value` still holds the last element's result. Load x[i] for each element, inside the loop over elements.",
            ((("    for i in", "    value = x[cuda.grid(1)] if cuda.grid(1) < x.size else factor\n    for i in"),
              ("        value = x[i]\n", "")),),
        ),
        Mistake(
            "another formula",
            "A round makes factor * value + shift of a value.",
            (("factor * value + shift", "factor * (value + shift)"),
             ("factor * value + shift", "value + shift"),
             ("factor * value + shift", "factor * value")),
        ),
    ),
)  # fmt: skip

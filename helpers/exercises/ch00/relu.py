"""ReLU: a first kernel, of one thread for each element."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d

BLOCK = 64


def _case(name: str, x: np.ndarray) -> Case:
    return Case(name, (x, Out(np.maximum(x, 0))), (cover(x.size, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch00.relu",
    title="ReLU in Numba",
    language="numba",
    name="relu",
    cases=lambda: [
        *(_case(plural(n, "element"), numbers(n, seed=n)) for n in (1, 31, 64, 97, 128, 1000)),
        _case("97 elements, all negative", -np.abs(numbers(97))),
        _case("97 elements, all alike", np.full(97, 2.5, np.float32)),
        _case("97 elements, all zero", np.zeros(97, np.float32)),
    ],
    thread_of=thread_1d,
    hints=(
        "Which one element belongs to this thread? Ask cuda.grid(1).",
        "One thread, one element: guard with `if i < x.size:`, then assign to out[i].",
        "Inside the guard: out[i] = max(x[i], 0.0).",
    ),
    solution="""
@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(x[i], 0.0)
""",
    why="cuda.grid(1) is blockIdx.x * blockDim.x + threadIdx.x. The guard keeps the threads of the last block that "
    "have no element away from memory. max writes every element, so nothing is left of the 0xFF bytes.",
    stretch="make it clip at 6 as well (ReLU6) without a second if.",
    mistakes=(
        Mistake(
            "no guard",
            "There are more threads than elements, as a launch has whole blocks: those without an element have to be "
            "kept away, by `if i < x.size:`. And negative numbers come through as they are.",
            ("    i = cuda.grid(1)\n    out[i] = x[i]",),
        ),
        Mistake(
            "that is the absolute value",
            "Negative numbers should become 0; yours come back positive.",
            (("max(x[i], 0.0)", "abs(x[i])"),),
        ),
        Mistake(
            "min for max",
            "What is above 0 became 0, and what is below came through. Take the larger of x[i] and 0.",
            (("max", "min"),),
        ),
        Mistake(
            "negative numbers come through",
            "The copy works; now replace what is below 0 by 0.",
            (("max(x[i], 0.0)", "x[i]"),),
        ),
        Mistake(
            "negative numbers leave their element unwritten",
            "The guard must not depend on the value: an element that should be 0 has to be written too.",
            ((("x.size", "x.size and x[i] > 0"), ("max(x[i], 0.0)", "x[i]")),),
        ),
        Mistake(
            "positive numbers leave their element unwritten",
            "What is below 0 became 0; what is above it has to be written too, as it is.",
            (("x.size", "x.size and x[i] < 0"),),
        ),
        Mistake(
            "that is the slope of ReLU",
            "1 above 0 and 0 below is how steep ReLU is. Asked is its value: x[i] itself above 0.",
            (("max(x[i], 0.0)", "1.0 if x[i] > 0 else 0.0"),),
        ),
        Mistake(
            "clipped at 6 as well",
            "That is ReLU6, the way further. Plain ReLU leaves what is above 0 as it is.",
            (("max(x[i], 0.0)", "min(max(x[i], 0.0), 6.0)"),),
        ),
    ),
)

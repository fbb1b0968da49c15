"""Leaky ReLU: a first kernel in CUDA C, where a pointer does not know its length."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d

BLOCK = 64
CHOICE = "x[i] > 0 ? x[i] : slope * x[i]"


def _case(name: str, x: np.ndarray, slope: float) -> Case:
    wanted = np.where(x > 0, x, np.float32(slope) * x).astype(np.float32)
    arguments = (x, Out(wanted), np.float32(slope), np.int32(x.size))
    return Case(name, arguments, (cover(x.size, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch00.leaky",
    title="leaky ReLU in CUDA C",
    language="cuda",
    name="leaky_relu",
    cases=lambda: [
        *(_case(f"{plural(n, 'element')}, slope 0.25", numbers(n, seed=n), 0.25) for n in (1, 31, 64, 97, 128, 1000)),
        _case("97 elements, slope 0", numbers(97), 0.0),
        _case("97 elements, slope 2", numbers(97), 2.0),
        _case("97 elements, slope -0.5", numbers(97), -0.5),
    ],
    thread_of=thread_1d,
    hints=(
        "The index is blockIdx.x * blockDim.x + threadIdx.x; the size comes as the last argument.",
        "Guard with `if (i < n)`. Inside, choose between x[i] and slope * x[i] with ?:.",
        "out[i] = x[i] > 0 ? x[i] : slope * x[i];",
    ),
    solution="""
extern "C" __global__
void leaky_relu(const float* x, float* out, float slope, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] > 0 ? x[i] : slope * x[i];
}
""",
    why="A C pointer does not know its length, so n travels as an argument and the guard uses it. The ?: compares with "
    "0, which is right for every slope.",
    stretch="give each channel a slope of its own (PReLU): slopes[i % channels].",
    equivalent=((("x[i] > 0", "x[i] >= 0"), "slope * 0 is 0, too"),),
    mistakes=(
        Mistake(
            "that is max(x, slope * x)",
            "max(x, slope * x) is leaky ReLU only while slope is at most 1. Compare x with 0 instead.",
            ((CHOICE, "fmaxf(x[i], slope * x[i])"),),
        ),
        Mistake(
            "the slope is not used",
            "That is plain ReLU: below 0 the answer is slope * x.",
            ((CHOICE, "fmaxf(x[i], 0)"),),
        ),
        Mistake(
            "the slope in place of a product",
            "Below 0 you write the slope itself. The answer there is slope * x[i].",
            (("slope * x[i]", "slope"),),
        ),
        Mistake(
            "everything is scaled",
            "Positive numbers stay as they are: choose with x[i] > 0 ? … : ….",
            ((CHOICE, "slope * x[i]"),),
        ),
        Mistake(
            "the slope is on the wrong side",
            "You scale the positive numbers; the negative ones should be scaled.",
            (("x[i] > 0", "x[i] < 0"),),
        ),
        Mistake(
            "slope * x is added on both sides",
            "Above 0 that counts x[i] a second time, slope-fold. Only min(x[i], 0) is to be scaled.",
            ((CHOICE, "fmaxf(x[i], 0) + slope * x[i]"),),
        ),
        Mistake(
            "negative numbers come through",
            "The copy works; below 0 the answer is slope * x[i].",
            ((CHOICE, "x[i]"),),
        ),
        Mistake(
            "a slope of your own",
            "Below 0 you scale by the same number in every case. The slope comes as an argument, and changes.",
            tuple((": slope", f": {number}f") for number in ("0.01", "0.1", "0.2", "0.25", "0.3", "0.5")),
        ),
        Mistake(
            "some numbers leave their element unwritten",
            "Only one side of 0 is written. Whatever its sign, each x[i] has an out[i].",
            (("i < n", "i < n && x[i] > 0"), ("i < n", "i < n && x[i] < 0")),
        ),
    ),
)

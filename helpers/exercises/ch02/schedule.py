"""A learning rate for each step, every element from its own index: no thread waits for its neighbour."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, plural, thread_1d

BLOCK = 64
CASES = ((1, 1, 0.5), (7, 10, 0.5), (64, 8, 0.5), (65, 1, 0.5), (130, 32, 0.25), (200, 64, 0.75), (1000, 300, 0.5))
BASE, LINE = 0.5, "lr[i] = base * powf(gamma, i / every);"


def _case(n: int, every: int, gamma: float) -> Case:
    wanted = (BASE * np.float64(gamma) ** (np.arange(n) // every)).astype(np.float32)
    arguments = (Out(wanted), np.float32(BASE), np.float32(gamma), np.int32(every), np.int32(n))
    return Case(f"{plural(n, 'step')}, × {gamma} every {every}", arguments, (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch02.schedule",
    title="a learning rate for each step, in CUDA C",
    language="cuda",
    name="schedule",
    cases=lambda: [_case(*each) for each in CASES],
    thread_of=thread_1d,
    hints=(
        "No element may wait for another. What do you know in thread i, without looking into lr?",
        "Up to step i the rate was lowered i / every times, in whole numbers.",
        "lr[i] = base * powf(gamma, i / every); and a guard around it.",
    ),
    solution="""
extern "C" __global__
void schedule(float* lr, float base, float gamma, int every, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        lr[i] = base * powf(gamma, i / every);
}
""",
    why="The rate of step i follows from i alone: it was lowered i / every times. So each thread works out its own, "
    "and blocks may run in any order. A loop that multiplies i / every times is right as well, and takes longer for "
    "larger i.",
    stretch="let the rate rise evenly to base over the first `warm` steps, and fall after that.",
    mistakes=(
        Mistake(
            "what another thread should have written",
            "lr[i - 1] belongs to another thread, which may not have come that far. It may even be in a block that has "
            "not begun. Work the rate out from i alone.",
            (
                ("        " + LINE, "        lr[i] = i == 0 ? base : lr[i - 1] * (i % every == 0 ? gamma : 1.0f);"),
                ("        " + LINE, "        lr[i] = i < every ? base : lr[i - every] * gamma;"),
            ),
        ),
        Mistake(
            "lowered at every step",
            "The rate stays as it is for `every` steps: it was lowered i / every times, in whole numbers.",
            (("i / every", "i"),),
        ),
        Mistake(
            "lowered a little at every step",
            "i / (float)every keeps the fraction, so the rate falls at every step. In whole numbers it falls once in "
            "`every` steps.",
            (("i / every", "i / (float)every"), ("i / every", "(float)i / every")),
        ),
        Mistake(
            "the remainder for the quotient",
            "i % every begins at 0 again and again. How often the rate was lowered is the quotient, i / every.",
            (("i / every", "i % every"),),
        ),
        Mistake(
            "lowered once too often",
            "The first `every` steps have the rate `base` itself.",
            (("i / every", "i / every + 1"), ("i / every", "(i + every) / every"), ("i / every", "(i + 1) / every")),
        ),
        Mistake(
            "the first rate is left out",
            "gamma only says what the rate is multiplied with. It begins at `base`.",
            (("base * powf", "powf"),),
        ),
        Mistake(
            "multiplied where a power is asked",
            "To lower a rate three times is to multiply it with gamma three times, which is a power of gamma.",
            (("powf(gamma, i / every)", "gamma * (i / every)"),),
        ),
        Mistake(
            "counted within a block",
            "Step i is the thread's number in the whole grid. threadIdx.x begins at 0 in every block.",
            (("i / every", "(int)threadIdx.x / every"),),
        ),
    ),
)  # fmt: skip

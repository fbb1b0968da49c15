"""A transposed convolution in one dimension, where each output gathers what the inputs would have spread."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d

BLOCK = 64


def _case(n: int, width: int, stride: int) -> Case:
    x, w = numbers(n, seed=n), numbers(width, seed=100 + width)
    wanted = np.zeros((n - 1) * stride + width, np.float32)
    for i in range(n):
        wanted[i * stride : i * stride + width] += x[i] * w
    name = f"{plural(n, 'input')}, a kernel of {width}, stride {stride}"
    return Case(name, (x, w, Out(wanted), np.int32(stride)), (cover(len(wanted), BLOCK),), (BLOCK,))


GATHER = """    for k in range(w.size):
        place = o - k
        if place >= 0 and place % stride == 0 and place // stride < x.size:
            total += x[place // stride] * w[k]
"""
EXERCISE = Exercise(
    key="ch21.spread",
    title="a transposed convolution, gathered, in Numba",
    language="numba",
    name="spread",
    cases=lambda: [_case(*row) for row in ((1, 4, 2), (2, 3, 2), (5, 4, 2), (9, 5, 3), (40, 3, 1), (33, 2, 4))],
    thread_of=thread_1d,
    sanitize=True,
    hints=(
        "One thread for each output. Which inputs put something there?",
        "Input i adds x[i] * w[k] to output i * stride + k. For which k is (o - k) a multiple of stride?",
        "for k in range(w.size): place = o - k; where place >= 0, place % stride == 0 and place // stride < x.size, "
        "add x[place // stride] * w[k].",
    ),
    solution="""
@cuda.jit
def spread(x, w, out, stride):
    o = cuda.grid(1)
    if o >= out.size:
        return
    total = 0.0
    for k in range(w.size):
        place = o - k
        if place >= 0 and place % stride == 0 and place // stride < x.size:
            total += x[place // stride] * w[k]
    out[o] = total
""",
    why="Told from the inputs, a transposed convolution scatters: threads add to the same output, and need atomics. "
    "Told from the outputs it gathers: each thread owns its output and only reads. The same turn makes the backward "
    "pass of a convolution free of races, because it is the same computation.",
    stretch="lanes of a warp take the `if` at different k. For stride 2 half of the tests fail: let the loop over k "
    "begin at o % stride and go on by stride, and look at the lanes at work.",
    equivalent=(
        (("o >= out.size", "o > out.size - 1"), "the same guard"),
    ),
    mistakes=(
        Mistake(
            "spread by the inputs, without atomics",
            "Where kernels overlap several inputs add to the same output, and one sum is lost. Let each output "
            "gather what belongs to it.",
            (
                """    i = cuda.grid(1)
    if i < x.size:
        for k in range(w.size):
            out[i * stride + k] = x[i] * w[k]
""",
            ),
        ),
        Mistake(
            "added to what was in the output",
            "The output holds whatever was in memory before. Sum up in a variable that begins at 0, and store once.",
            (("out[o] = total", "out[o] += total"),),
        ),
        Mistake(
            "that is a convolution",
            "A convolution reads x[o * stride + k] and shrinks. Here output o is made of inputs (o - k) / stride.",
            (
                (GATHER, """    for k in range(w.size):
        if o * stride + k < x.size:
            total += x[o * stride + k] * w[k]
"""),
                (GATHER, """    for k in range(w.size):
        if o + k < x.size:
            total += x[o + k] * w[k]
"""),
            ),
        ),
        Mistake(
            "places between the inputs are not empty here",
            "(o - k) has to be a multiple of the stride: between two inputs there is nothing that could be read.",
            ((" and place % stride == 0", ""),),
        ),
        Mistake(
            "the kernel is turned round",
            "Input i meets w[0] at output i * stride. The kernel lies as it is: w[k], not w[w.size - 1 - k].",
            (("* w[k]", "* w[w.size - 1 - k]"),),
        ),
        Mistake(
            "the last input is left out",
            "The last input is x[x.size - 1], so place // stride may be x.size - 1: it is less than x.size.",
            (("place // stride < x.size", "place // stride < x.size - 1"),),
        ),
        Mistake(
            "the first input is left out",
            "place may be 0: then it is the first input that meets w[k].",
            (("place >= 0", "place > 0"),),
        ),
    ),
)  # fmt: skip

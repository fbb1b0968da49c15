"""The gradient with respect to the input of a convolution along one line, with a stride: gathered, not scattered."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK = 32


def _case(n: int, taps: int, stride: int) -> Case:
    outputs = (n - taps) // stride + 1
    slope, weight = numbers(outputs, seed=n), numbers(taps, seed=taps)
    wanted = np.zeros(n, np.float32)
    for q in range(outputs):
        wanted[q * stride : q * stride + taps] += slope[q] * weight
    sizes = tuple(map(np.int32, (n, outputs, taps, stride)))
    return Case(
        f"{plural(n, 'input')}, {plural(taps, 'tap')}, stride {stride}",
        (slope, weight, Out(wanted), *sizes), (cover(n, BLOCK),), (BLOCK,),
    )  # fmt: skip


SHAPES = ((1, 1, 1), (7, 3, 1), (9, 3, 2), (40, 5, 2), (33, 2, 3), (100, 4, 1), (70, 7, 3))
BACK = "int back = i - s;"
FITS = "back >= 0 && back % stride == 0 && back / stride < outputs"

EXERCISE = Exercise(
    key="ch19.slope",
    title="the gradient of a convolution with stride, in CUDA C",
    language="cuda",
    name="slope_of_input",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    hints=(
        "Input i was read by output q through tap s where q * stride + s == i. Which q is that, for a given s?",
        "back = i - s must be a multiple of the stride, not negative, and q = back / stride must be an output.",
        "if (back >= 0 && back % stride == 0 && back / stride < outputs) sum += slope[back / stride] * weight[s];",
    ),
    solution="""
extern "C" __global__
void slope_of_input(const float* slope, const float* weight, float* out, int n, int outputs, int taps, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int s = 0; s < taps; ++s) {
        int back = i - s;
        if (back >= 0 && back % stride == 0 && back / stride < outputs)
            sum += slope[back / stride] * weight[s];
    }
    out[i] = sum;
}
""",
    why="Forward, an output gathers from several inputs. Backward, each input asks which outputs had read it, and "
    "gathers their gradients. So every thread has a sum of its own, no atomics are needed, and the order "
    "of the sum is fixed.",
    stretch="inputs that no window reached get 0. Which are they, for 8 inputs, 3 taps and stride 3?",
    mistakes=(
        Mistake(
            "forward once more",
            "This reads the gradients after i. The outputs that read input i begin at or before it: "
            "q * stride = i - s.",
            ((BACK, "int back = i + s;"),),
        ),
        Mistake(
            "the stride is forgotten",
            "Output q reads from q * stride on. So back = i - s is q only where the stride is 1.",
            ((("back % stride == 0 && back / stride < outputs", "back < outputs"),
              ("slope[back / stride]", "slope[back]")),),
        ),
        Mistake(
            "outputs that did not read it",
            "back / stride rounds down. Where back is no multiple of the stride, no output has its tap s on input i.",
            (("back % stride == 0 && ", ""),),
        ),
        Mistake(
            "every output is taken for the first",
            "slope[0] belongs to output 0 alone. Which output is it that begins at input `back`, when they begin "
            "`stride` apart? It has to exist, too.",
            (((FITS, "back >= 0"), ("slope[back / stride]", "slope[0]")), ("slope[back / stride]", "slope[0]")),
        ),
        Mistake(
            "the taps are turned round twice",
            "Tap s of the weights goes with output (i - s) / stride. Turning the weights round as well undoes it.",
            (("weight[s]", "weight[taps - 1 - s]"),),
        ),
        Mistake(
            "scattered by outputs",
            "Each thread adds to several elements of out, several threads to the same one, and out begins without "
            "zeros. Let thread i gather all that belongs to input i.",
            ("""    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    for (int s = 0; s < taps; ++s) atomicAdd(&out[i * stride + s], slope[i] * weight[s]);""",),
        ),
        Mistake(
            "inputs without an output keep what was there",
            "Where no output read the input, the gradient is 0, and that has to be stored: out is not cleared before.",
            (("    out[i] = sum;", "    if (sum != 0) out[i] = sum;"),),
        ),
    ),
)  # fmt: skip

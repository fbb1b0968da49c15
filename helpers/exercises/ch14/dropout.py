"""Dropout with a mask that is given, scaled, and added to the residual: three operations in one kernel."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096
SUM = "residual[i] + (mask[i] ? x[i] * scale : 0)"


def _case(size: int, keep: float) -> Case:
    x, residual = numbers(size, seed=size), numbers(size, seed=size + 1)
    mask = (np.random.default_rng(size).random(size) < keep).astype(np.uint8)
    scale = np.float32(1 / keep)
    wanted = (residual + np.where(mask, x * scale, 0)).astype(np.float32)
    arguments = (x, mask, residual, Out(wanted), np.int32(size), scale)
    return Case(f"{plural(size, 'element')}, {keep:.0%} kept", arguments, (cover(size, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch14.dropout",
    title="residual and dropout as one kernel, in CUDA C",
    language="cuda",
    name="residual_dropout",
    cases=lambda: [_case(*each) for each in ((1, 1.0), (33, 0.5), (128, 0.8), (131, 0.25), (1000, 0.5))],
    measured=lambda: _case(COUNTED, 0.5),
    budgets=(
        Budget(
            "bytes stored for each element",
            lambda profile: profile["global_write_bytes"] / COUNTED,
            4,
            "One float is the result; what comes before it stays in a register.",
            "global_store_sectors",
        ),
        Budget(
            "sectors loaded for 4,096 elements",
            lambda profile: profile["global_read_sectors"],
            1152,
            "Two arrays of floats are 512 sectors each, and the mask is 128: 9 bytes an element.",
        ),
    ),
    tolerance=1e-5,
    hints=(
        "As separate kernels this would be: x times the mask, times the scale, plus the residual. Which of these "
        "results "
        "does nobody need afterwards?",
        "An element whose mask is 0 becomes 0, and its residual stays as it is. Where do you add the residual?",
        "out[i] = residual[i] + (mask[i] ? x[i] * scale : 0.0f);",
    ),
    solution=f"""
extern "C" __global__
void residual_dropout(const float* x, const unsigned char* mask, const float* residual, float* out, int n,
                      float scale) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = {SUM};
}}
""",
    why="Three separate kernels would move 9, 8 and 12 bytes for each element; this one moves 13. PyTorch's own "
    "dropout "
    "draws the mask in the kernel that uses it, from a counter and a seed, so that the backward pass can draw the same "
    "one again in place of loading it.",
    stretch="store the mask as one bit an element. How many bytes does the kernel move then, and what does a lane "
    "load?",
    mistakes=(
        Mistake(
            "the mask is turned round",
            "A mask of 1 keeps the element, and a mask of 0 drops it.",
            (("mask[i] ? x[i] * scale : 0", "mask[i] ? 0 : x[i] * scale"),),
        ),
        Mistake(
            "the residual is dropped too",
            "Dropout acts on x alone. Where an element is dropped, its residual stays.",
            ((SUM, "mask[i] ? residual[i] + x[i] * scale : 0"),),
        ),
        Mistake(
            "the residual is scaled",
            "Only x is scaled: the residual is added as it is.",
            ((SUM, "scale * (residual[i] + (mask[i] ? x[i] : 0))"),
             (SUM, "scale * residual[i] + (mask[i] ? x[i] * scale : 0)")),
        ),
        Mistake(
            "nothing is scaled",
            "The elements that are kept have to be multiplied by `scale`, so that the sum stays the same on average.",
            (("x[i] * scale", "x[i]"),),
        ),
        Mistake(
            "divided by the scale",
            "`scale` is 1 / (1 - p) already: multiply by it.",
            (("x[i] * scale", "x[i] / scale"),),
        ),
        Mistake(
            "nothing is dropped",
            "The mask is not used: elements whose mask is 0 must become 0 before the residual is added.",
            ((SUM, "residual[i] + x[i] * scale"),),
        ),
        Mistake(
            "no residual",
            "The residual has to be added, whether the element is kept or dropped.",
            ((SUM, "mask[i] ? x[i] * scale : 0"), (SUM, "x[i] * scale")),
        ),
        Mistake(
            "the sum goes through memory",
            "Right, but out is stored more than once. Keep what comes before in a variable: it costs no bytes there.",
            ((f"out[i] = {SUM};", "{ out[i] = mask[i] ? x[i] * scale : 0; out[i] += residual[i]; }"),),
        ),
    ),
)  # fmt: skip

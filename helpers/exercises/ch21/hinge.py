"""The hinge loss of a discriminator and its gradient, from one kernel."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK = 128


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    sign = np.where(np.random.default_rng(n + 7).random(n) < 0.5, -1, 1).astype(np.float32)
    if n > 4:
        x[1:3], sign[1:3] = (1.0, -1.0), (1.0, -1.0)  # exactly at the corner
    gap = 1 - sign * x
    loss = np.maximum(gap, 0).astype(np.float32)
    gradient = (np.where(gap > 0, -sign, 0) / np.float32(n)).astype(np.float32)
    return Case(
        plural(n, "logit"), (x, sign, Out(np.concatenate([loss, gradient])), np.int32(n)), (cover(n, BLOCK),), (BLOCK,)
    )


EXERCISE = Exercise(
    key="ch21.hinge",
    title="a hinge loss and its gradient, in CUDA C",
    language="cuda",
    name="hinge",
    cases=lambda: [_case(n) for n in (1, 31, 128, 129, 1000)],
    measured=lambda: _case(4096),
    budgets=(
        Budget(
            "sectors loaded for 4,096 logits and signs",
            lambda profile: profile["global_read_sectors"],
            2 * 4096 * 4 // 32 + 8,
            "Loss and gradient come from the same two numbers: load each once, and keep them in variables.",
        ),
    ),
    hints=(
        "How far is the logit on the right side? Compute 1 - sign * x once, and make both results of it.",
        "The loss is what is left above 0. Its slope is -sign where something is left, and 0 elsewhere.",
        "float gap = 1 - sign[i] * x[i]; loss[i] = fmaxf(gap, 0); out[n + i] = gap > 0 ? -sign[i] / n : 0;",
    ),
    solution="""
extern "C" __global__
void hinge(const float* x, const float* sign, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float side = sign[i];
        float gap = 1.0f - side * x[i];
        out[i] = fmaxf(gap, 0.0f);
        out[n + i] = gap > 0.0f ? -side / n : 0.0f;
    }
}
""",
    why="The forward pass has everything that the backward pass needs, so one kernel makes both and the logits are "
    "loaded once. Where a logit is on its right side by more than 1, loss and gradient are 0: the discriminator stops "
    "working on what it already tells apart.",
    stretch="make `autograd.Function` of it: forward keeps the gradient, backward multiplies it by what comes in.",
    mistakes=(
        Mistake(
            "the gradient goes uphill",
            "Where the gap is above 0, a larger sign * x makes the loss smaller. So the gradient is -sign, and the "
            "optimiser goes against it.",
            (("-side / n", "side / n"),),
        ),
        Mistake(
            "the gradient of the sum, and not of the mean",
            "The loss of a batch is the mean of its losses, so each logit has one n-th of the slope.",
            (("-side / n", "-side"),),
        ),
        Mistake(
            "the loss is divided, too",
            "out[i] is the loss of one logit. The mean is taken later; only the gradient has the 1 / n in it.",
            (("fmaxf(gap, 0.0f)", "fmaxf(gap, 0.0f) / n"),),
        ),
        Mistake(
            "no hinge: the loss goes below 0",
            "A logit that is far on its right side costs nothing, but it earns nothing either: fmaxf(gap, 0).",
            (("fmaxf(gap, 0.0f)", "gap"),),
        ),
        Mistake(
            "a gradient where there is no loss",
            "Where the gap is 0 or less the loss is flat, so its gradient is 0.",
            (("gap > 0.0f ? -side / n : 0.0f", "-side / n"),),
        ),
        Mistake(
            "the hinge is at 0",
            "It opens at 1: a logit that is right by less than 1 has to be paid for, too.",
            (("1.0f - side * x[i]", "-side * x[i]"), ("gap > 0.0f", "gap > 1.0f")),
        ),
        Mistake(
            "real and generated are treated alike",
            "sign is 1 for a real image and -1 for a generated one. It turns the logit before it is compared.",
            (("1.0f - side * x[i]", "1.0f - x[i]"), ("-side / n", "-1.0f / n"), ("float side = sign[i]",
             "float side = 1.0f")),
        ),
        Mistake(
            "the corner has a slope of its own",
            "At a gap of exactly 0 nothing is left to pay, and the gradient is 0.",
            (("gap > 0.0f", "gap >= 0.0f"),),
        ),
        Mistake(
            "loaded more than once",
            "Right, but after a store the compiler cannot know that x and sign are as they were, so it loads them "
            "again. Keep both in variables.",
            ((("float gap = 1.0f - side * x[i]", "float gap = 1.0f - sign[i] * x[i]"),
              ("gap > 0.0f ?", "1.0f - sign[i] * x[i] > 0.0f ?")),),
        ),
    ),
)  # fmt: skip

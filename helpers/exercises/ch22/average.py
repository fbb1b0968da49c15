"""The gradient of a whole batch from those of shards of unequal size."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, plural

ROWS = ((1,), (4, 4), (3, 1), (5, 0, 2), (8, 8, 8, 6), (1, 2, 3, 4, 5))
WEIGHTED = "sum(size * gradient for size, gradient in zip(sizes, gradients))"


def _case(sizes: tuple[int, ...]) -> Case:
    dice = np.random.default_rng(sum(sizes) + len(sizes))
    gradients = [dice.normal(size=(2, 3)) if size else np.zeros((2, 3)) for size in sizes]
    expected = sum(size * each for size, each in zip(sizes, gradients, strict=True)) / sum(sizes)
    return Case(f"{plural(len(sizes), 'rank')} with {', '.join(map(str, sizes))} samples", (gradients, list(sizes)),
                expected=expected)  # fmt: skip


EXERCISE = Exercise(
    key="ch22.average",
    title="one gradient from unequal shards",
    language="python",
    name="whole_gradient",
    cases=lambda: [_case(row) for row in ROWS],
    hints=(
        "Each gradient is that of a mean over the samples of one rank. How do you get from a mean back to a sum?",
        "A mean times its number of samples is a sum. Sums of shards may be added; the whole batch has sum(sizes) "
        "samples.",
        f"{WEIGHTED} / sum(sizes)",
    ),
    solution=f"""
def whole_gradient(gradients, sizes):
    total = {WEIGHTED}
    return total / sum(sizes)
""",
    why="The gradient of a mean is the mean of the gradients, over samples. A plain mean over ranks gives every "
    "rank the "
    "same weight, so a sample on a small shard counts for more than one on a large shard. With equal shards the two "
    "are "
    "the same, which is what DDP assumes: it divides by the number of ranks and knows nothing of samples.",
    stretch="DDP divides by the number of ranks whatever you do. By what would you multiply each rank's loss to get "
    "the "
    "right gradient out of it?",
    mistakes=(
        Mistake(
            "the plain mean over ranks",
            "A rank with 3 samples has to weigh three times as much as one with a single sample.",
            ("    return sum(gradients) / len(gradients)",
             "    return sum(gradients) / sum(size > 0 for size in sizes)"),
        ),
        Mistake(
            "a sum and not a mean",
            "The weighted gradients are added; divide by the number of samples of the whole batch.",
            ((" / sum(sizes)", ""),),
        ),
        Mistake(
            "divided by the ranks",
            "Weights and divisor have to fit: the sum of all samples, not the number of ranks.",
            ((" / sum(sizes)", " / len(sizes)"),),
        ),
        Mistake(
            "added without weights",
            "Each gradient is a mean over its shard: multiply it by the number of its samples first.",
            ((WEIGHTED, "sum(gradients)"), "    return sum(gradients)"),
        ),
        Mistake(
            "weights the wrong way round",
            "The more samples a rank has, the more its gradient counts: multiply by the size.",
            ("    weights = [1 / size if size else 0 for size in sizes]\n"
             "    return sum(weight * gradient for weight, gradient in zip(weights, gradients)) / sum(weights)",),
        ),
        Mistake(
            "one rank's gradient",
            "Every rank has seen other samples, so each gradient is needed.",
            ("    return gradients[0]",
             "    return max(zip(sizes, range(len(sizes)), gradients))[2]"),
        ),
    ),
)  # fmt: skip

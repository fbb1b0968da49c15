from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, plural

ROWS = ((1,), (4, 4), (3, 1), (5, 0, 2), (8, 8, 8, 6), (1, 2, 3, 4, 5))


def _case(sizes: tuple[int, ...]) -> Case:
    dice = np.random.default_rng(sum(sizes) + len(sizes))
    gradients = [dice.normal(size=(2, 3)) if size else np.zeros((2, 3)) for size in sizes]
    expected = sum(size * each for size, each in zip(sizes, gradients, strict=True)) / sum(sizes)
    return Case(f"{plural(len(sizes), 'rank')} with {', '.join(map(str, sizes))} samples", (gradients, list(sizes)),
                expected=expected)  # fmt: skip


def cases() -> list[Case]:
    return [_case(row) for row in ROWS]

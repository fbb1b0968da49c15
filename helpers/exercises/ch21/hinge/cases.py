from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

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


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 128, 129, 1000)]


def measured() -> Case:
    return _case(4096)


MEASURES = {
    "sectors loaded for 4,096 logits and signs": lambda profile: profile["global_read_sectors"],
}

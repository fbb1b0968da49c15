from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers
from helpers.checking.measures import sectors_per_request

BLOCK = 64


def _case(heads: int, parts: int, width: int) -> Case:
    dice = np.random.default_rng(heads + parts)
    m = (16 * numbers((heads, parts), seed=heads + parts)).astype(np.float32)
    l = dice.integers(4, 64, (heads, parts)).astype(np.float32) / 4  # noqa: E741 - its name in the chapter
    o = numbers((heads, parts, width), seed=parts)
    wide = m.astype(np.float64)
    weight = np.exp(wide - wide.max(axis=1, keepdims=True))
    out = (weight[:, :, None] * o).sum(axis=1) / (weight * l).sum(axis=1)[:, None]
    name = f"heads: {heads}, parts: {parts}, width {width}"
    return Case(name, (m, l, o, Out(out.astype(np.float32))), (heads,), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 1, 1), (1, 2, 33), (3, 5, 7), (2, 8, 64), (7, 3, 32))]


def measured() -> Case:
    return _case(8, 16, 64)


MEASURES = {
    "sectors per load request": sectors_per_request("read"),
    "FP64 operations": lambda profile: profile["flops_fp64"],
}

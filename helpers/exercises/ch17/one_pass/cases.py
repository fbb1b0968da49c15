from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, COUNTED = 64, (48, 256)


def _case(length: int, queries: int) -> Case:
    scores = (8 * numbers((length, queries), seed=length + queries)).astype(np.float32)  # beyond what exp can take
    wide = scores.astype(np.float64)
    m = wide.max(axis=0)
    total = np.exp(wide - m).sum(axis=0)
    arguments = (scores, Out(np.stack([m, total]).astype(np.float32)))
    return Case(f"{plural(length, 'key')}, {queries} queries", arguments, (cover(queries, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 1), (2, 33), (7, 64), (40, 5), (33, 131))]


def measured() -> Case:
    return _case(*COUNTED)


MEASURES = {
    "times that each score is loaded": lambda profile: (
        32 * profile["global_read_sectors"] / (4 * COUNTED[0] * COUNTED[1])
    ),
    "FP64 operations": lambda profile: profile["flops_fp64"],
}

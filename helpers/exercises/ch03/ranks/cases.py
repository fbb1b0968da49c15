from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d

BLOCK = 128
FOUR = 4


def _case(n: int) -> Case:
    x, k = numbers(FOUR * n, seed=n), np.random.default_rng(n + 1).integers(0, FOUR, n).astype(np.int32)
    right = np.sort(x.reshape(-1, FOUR), axis=1)[np.arange(n), k]
    return Case(plural(n, "four"), (x, k, Out(right), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 3, 127, 128, 129, 500, 1021)]


def measured() -> Case:
    return _case(4096)


thread_of = thread_1d


MEASURES = {
    "local requests": lambda profile: profile["local_requests"],
    "bytes of shared memory a block": lambda profile: profile.resources.shared_bytes,
    "global load requests for 4,096 fours": lambda profile: profile["global_read_requests"],
}

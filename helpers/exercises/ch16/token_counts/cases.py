from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, plural


def _case(n: int, clusters: int, most: int = 4096) -> Case:
    tokens = np.random.default_rng(n).integers(0, most, n).astype(np.int32)
    tokens[-1] = most - 1
    counts = np.bincount(tokens, minlength=4096).astype(np.int32)
    out = Out(counts, np.zeros(4096, np.int32))
    return Case(plural(n, "token"), (tokens, out, np.int32(n)), (4 * clusters,), (256,))


def cases() -> list[Case]:
    return [_case(1, 1), _case(1000, 1), _case(3001, 2), _case(2048, 1, most=1500)]


def measured() -> Case:
    return _case(16384, 2)


MEASURES = {"global atomic requests for 16,384 tokens": lambda profile: profile["global_atomic_requests"]}

"""When gradients are summed while the backward pass goes on: buckets over one link, one after the other.

An all-reduce of b bytes takes `start` + b / `rate`. It begins when the last gradient of its bucket is found and the
all-reduce before it is done. This is the model of alpha and beta (Thakur and others, 2005), as `cost` uses it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def bucket_ends(
    buckets: Sequence[Sequence[int]], nbytes: Sequence[float], found: Sequence[float], start: float, rate: float
) -> list[float]:
    """When each bucket's all-reduce is done, in the unit of `found`, `start` and bytes by `rate`.

    buckets: numbers of gradients, in the order in which they are sent. found: when the backward pass has each gradient.
    """
    ends, free = [], 0.0
    for bucket in buckets:
        ready = max(found[gradient] for gradient in bucket)
        free = max(ready, free) + start + sum(nbytes[gradient] for gradient in bucket) / rate
        ends.append(free)
    return ends


def least_end(nbytes: Sequence[float], found: Sequence[float], start: float, rate: float) -> float:
    """When the last all-reduce can be done, with the best buckets of gradients in the order in which they are found."""
    order = np.argsort(found, kind="stable")
    ready = np.asarray(found, float)[order]
    before = np.concatenate([[0.0], np.cumsum(np.asarray(nbytes, float)[order])])
    best = [0.0]
    for last in range(len(ready)):
        costs = [max(best[first], ready[last]) + start + (before[last + 1] - before[first]) / rate
                 for first in range(last + 1)]  # fmt: skip
        best.append(min(costs))
    return float(best[-1])

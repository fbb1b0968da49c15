from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case


def _left(order: list[int]) -> int:
    counter, seen = 0, dict[int, int]()
    for thread in order:
        if thread in seen:
            counter = seen[thread] + 1
        else:
            seen[thread] = counter
    return counter


def _random(threads: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).permutation([*range(threads), *range(threads)]).tolist()


WARPS = [lane for first in range(0, 128, 32) for lane in [*range(first, first + 32)] * 2]
ORDERS = {
    "one after the other": [0, 0, 1, 1],
    "both read first": [0, 1, 0, 1],
    "one within the other": [0, 1, 1, 0],
    "nobody": [],
    "one thread": [5, 5],
    "a late write": [0, 1, 1, 2, 2, 3, 3, 0],
    "a late write, then one more": [0, 1, 1, 2, 2, 0, 3, 3],
    "four warps, one after the other": WARPS,
    "9 threads in random order": _random(9, 1),
    "20 threads in random order": _random(20, 6),
}


def cases() -> list[Case]:
    return [Case(name, (list(order),), expected=_left(order)) for name, order in ORDERS.items()]

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, plural
from helpers.checking.measures import outside_registers


def _case(products: int) -> Case:
    dice = np.random.default_rng(products)
    q, k = (dice.integers(-3, 4, (products, 16, 16)).astype(np.float16) for _ in range(2))
    v = dice.integers(-8, 9, (products, 16, 8)).astype(np.float16)
    out = q.astype(np.float32) @ k.astype(np.float32).swapaxes(1, 2) @ v.astype(np.float32)
    return Case(plural(products, "head"), (q, k, v, Out(out)), (products,), (32,))


def cases() -> list[Case]:
    return [_case(products) for products in (1, 3, 8)]


def measured() -> Case:
    return _case(4)


MEASURES = {"shared and local requests": outside_registers("shared_requests", "local_requests")}

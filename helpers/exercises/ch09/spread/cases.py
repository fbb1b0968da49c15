from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import total
from helpers.exercises.ch09.budgets import worst

BLOCK, ROWS = 128, 64


def _case(n: int) -> Case:
    x = numbers((ROWS, n), seed=n)
    wide = x.astype(np.float64)
    out = ((wide * wide).mean(axis=0) - wide.mean(axis=0) ** 2).astype(np.float32)
    return Case(plural(n, "column"), (x, Out(out)), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 3, 127, 128, 131, 300)]


def measured() -> Case:
    return _case(256)


MEASURES = {
    "registers a thread, at worst of T4, A100 and H100": worst("registers"),
    "bytes of spills a thread": worst("spill_store_bytes", "spill_load_bytes"),
    "requests to local memory": total("local_requests"),
    "sectors loaded for 64 × 256 floats": total("global_read_sectors"),
}

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d

BLOCK = 128
ENTRIES = 256


def _case(n: int) -> Case:
    generator = np.random.default_rng(n)
    which, table = generator.integers(0, ENTRIES, n).astype(np.int32), numbers(ENTRIES, seed=n + 7)
    return Case(plural(n, "look-up"), (which, table, Out(table[which])), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 3, 127, 128, 129, 500, 1021)]


def measured() -> Case:
    return _case(8192)


thread_of = thread_1d


MEASURES = {
    "local requests": lambda profile: profile["local_requests"],
    "shared store requests": lambda profile: profile["shared_write_requests"],
    "sectors loaded for 8,192 look-ups": lambda profile: profile["global_read_sectors"],
}

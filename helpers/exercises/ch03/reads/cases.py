from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from helpers.checking.exercise import Case, plural

WARP = 32


def _case(name: str, which: Iterable[int] | np.ndarray) -> Case:
    which = [int(each) for each in which]
    warps = [which[start : start + WARP] for start in range(0, len(which), WARP)]
    return Case(f"{name} ({plural(len(which), 'thread')})", (which,), expected=sum(len(set(warp)) for warp in warps))


def _drawn(n: int, entries: int) -> np.ndarray:
    return np.random.default_rng(n).integers(0, entries, n)


def cases() -> list[Case]:
    return [
        _case("one thread", [5]),
        _case("all lanes want entry 3", [3] * 32),
        _case("each lane its own", range(32)),
        _case("two warps, the same for both", [7] * 64),
        _case("two warps, one entry each", [1] * 32 + [2] * 32),
        _case("two entries in turn", [0, 1] * 16),
        _case("a warp that is not full", _drawn(45, 8)),
        _case("random entries of 256", _drawn(160, 256)),
    ]

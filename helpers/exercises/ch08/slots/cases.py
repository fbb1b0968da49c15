from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from helpers.checking.exercise import Case, plural


def _case(said: str, takes: Iterable[object] | np.ndarray, then: int, otherwise: int) -> Case:
    takes = [bool(each) for each in takes]
    warps = [takes[first : first + 32] for first in range(0, len(takes), 32)]
    issued = sum(then * any(warp) + otherwise * (not all(warp)) for warp in warps)
    words = f"{plural(len(takes), 'thread')}, {said}; arms of {then} and {otherwise}"
    return Case(words, (takes, then, otherwise), expected=issued)


def cases() -> list[Case]:
    some = np.random.default_rng(8).random(500) < 0.03
    return [
        _case("true for all", np.ones(32), 20, 7),
        _case("true for none", np.zeros(32), 20, 7),
        _case("true for every second", np.arange(64) % 2 == 0, 20, 7),
        _case("true for every second warp", np.arange(128) // 32 % 2 == 0, 20, 7),
        _case("true for the last", np.arange(96) == 95, 100, 1),
        _case("true", [True], 9, 4),
        _case("true for the first 33", np.arange(40) < 33, 11, 5),
        _case("true for 3 % of them", some, 64, 2),
        _case("true for the first", np.arange(70) == 0, 3, 40),
    ]

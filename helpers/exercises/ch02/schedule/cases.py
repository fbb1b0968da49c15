from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, plural, thread_1d

BLOCK = 64
CASES = ((1, 1, 0.5), (7, 10, 0.5), (64, 8, 0.5), (65, 1, 0.5), (130, 32, 0.25), (200, 64, 0.75), (1000, 300, 0.5))
BASE = 0.5


def _case(n: int, every: int, gamma: float) -> Case:
    wanted = (BASE * np.float64(gamma) ** (np.arange(n) // every)).astype(np.float32)
    arguments = (Out(wanted), np.float32(BASE), np.float32(gamma), np.int32(every), np.int32(n))
    return Case(f"{plural(n, 'step')}, × {gamma} every {every}", arguments, (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*each) for each in CASES]


thread_of = thread_1d

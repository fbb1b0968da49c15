from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d

BLOCK, COUNTED = 256, 4096


def _case(n: int, gain: float = 1.5, shift: float = -0.25) -> Case:
    x, skip = numbers(n, seed=n), numbers(n, seed=n + 1)
    wanted = (np.maximum(np.float32(gain) * x + np.float32(shift), 0) + skip).astype(np.float32)
    arguments = (x, skip, Out(wanted), np.float32(gain), np.float32(shift))
    return Case(f"{plural(n, 'element')}, gain {gain}, shift {shift}", arguments, (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(1), _case(31, 0.5, 0.75), _case(256), _case(300, -2.0, 0.5), _case(1000)]


def measured() -> Case:
    return _case(COUNTED)


MEASURES = {
    "bytes loaded for each element": lambda profile: profile["global_load_bytes"] / COUNTED,
    "bytes stored for each element": lambda profile: profile["global_store_bytes"] / COUNTED,
}

thread_of = thread_1d

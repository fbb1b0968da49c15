from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d

BLOCK = 64


def _case(name: str, x: np.ndarray, slope: float) -> Case:
    wanted = np.where(x > 0, x, np.float32(slope) * x).astype(np.float32)
    arguments = (x, Out(wanted), np.float32(slope), np.int32(x.size))
    return Case(name, arguments, (cover(x.size, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [
        *(_case(f"{plural(n, 'element')}, slope 0.25", numbers(n, seed=n), 0.25) for n in (1, 31, 64, 97, 128, 1000)),
        _case("97 elements, slope 0", numbers(97), 0.0),
        _case("97 elements, slope 2", numbers(97), 2.0),
        _case("97 elements, slope -0.5", numbers(97), -0.5),
    ]


thread_of = thread_1d

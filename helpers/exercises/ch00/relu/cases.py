from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d

BLOCK = 64


def _case(name: str, x: np.ndarray) -> Case:
    return Case(name, (x, Out(np.maximum(x, 0))), (cover(x.size, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [
        *(_case(plural(n, "element"), numbers(n, seed=n)) for n in (1, 31, 64, 97, 128, 1000)),
        _case("97 elements, all negative", -np.abs(numbers(97))),
        _case("97 elements, all alike", np.full(97, 2.5, np.float32)),
        _case("97 elements, all zero", np.zeros(97, np.float32)),
    ]


thread_of = thread_1d

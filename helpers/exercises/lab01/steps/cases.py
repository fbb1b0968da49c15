from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import per_warp
from helpers.exercises.lab01.budgets import of_the_warp

BLOCK = 64


def _case(n: int, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    wanted = Out(np.diff(x, prepend=np.float32(0)))
    return Case(plural(n, "element"), (x, wanted, np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [*dice.integers(2, 600, 3), dice.integers(2500, 4000)]
    return [_case(int(n), int(dice.integers(1, 10**6))) for n in sizes]


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 64, 97, 128, 1021)]


def measured() -> Case:
    return _case(3001)


thread_of = thread_1d


MEASURES = {
    "loads of the first warp": of_the_warp("load"),
    "store requests per warp": per_warp("global_write_requests"),
}

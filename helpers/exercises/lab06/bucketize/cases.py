from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import SupportsInt

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, seeds, thread_1d
from helpers.checking.measures import idle_lanes, instructions_for_written, per_warp

BLOCK = 128


def _case(n: int, edges: int, *, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    limits = np.sort(numbers(edges, seed=edges + (seed or n)))
    wanted = Out(np.searchsorted(limits, x, side="right").astype(np.int32))
    name = f"{plural(n, 'element')}, {plural(edges, 'edge')}"
    return Case(name, (x, limits, wanted, np.int32(n), np.int32(edges)), (cover(n, BLOCK),), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    shapes: list[Iterable[SupportsInt]] = [
        dice.integers(2, 40, 2),
        dice.integers(40, 90, 2),
        (dice.integers(130, 400), 2),
    ]
    shapes += [(dice.integers(1500, 2500), dice.integers(24, 40))]
    return [_case(*map(int, shape), seed=seed) for shape, seed in zip(shapes, seeds(dice, 4), strict=True)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (31, 5), (97, 16), (128, 1), (257, 33))]


def measured() -> Case:
    return _case(2000, 32)


thread_of = thread_1d


MEASURES = {
    "idle lanes per instruction": partial(idle_lanes, most=300),
    "divergent branches per warp": per_warp("divergent_branches"),
    "instructions per 32 results": instructions_for_written,
}

from __future__ import annotations

from functools import partial

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, seeds
from helpers.checking.measures import idle_lanes, instructions_for_written, stored_for_needed

BLOCK, ROUNDS = 128, 24


def _case(n: int, rounds: int = 8, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    slow, fast = x.astype(np.float64), x.astype(np.float64)
    for _ in range(3 * rounds):
        slow = 0.75 * slow + 1
    for _ in range(rounds):
        fast = 0.5 * fast - x
    arguments = (x, Out(np.stack([slow, fast]).astype(np.float32)), np.int32(rounds))
    # As many blocks for each role, so that a role may as well have whole blocks.
    return Case(f"{plural(n, 'element')}, {plural(rounds, 'round')}", arguments, (2 * cover(n, BLOCK),), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [*dice.integers(2, 300, 3), dice.integers(1400, 2100)]
    return [
        _case(int(n), int(dice.integers(3, 9)) if n < 1000 else ROUNDS, seed)
        for n, seed in zip(sizes, seeds(dice, 4), strict=True)
    ]


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 32, 97, 128, 500)]


def measured() -> Case:
    return _case(1600, ROUNDS)


MEASURES = {
    "idle lanes per instruction": partial(idle_lanes, most=400),
    "instructions per 32 results": instructions_for_written,
    "bytes stored per byte needed": stored_for_needed,
}

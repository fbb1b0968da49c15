from __future__ import annotations

from functools import partial

import numpy as np

from helpers.checking.exercise import Case, Out, cover, plural, seeds
from helpers.checking.measures import idle_lanes, instructions_for_written, stored_for_needed

BLOCK = 128


def _case(rows: int, seed: int = 0, longest: int = 60) -> Case:
    dice = np.random.default_rng(seed or rows)
    counts = np.minimum(dice.geometric(0.12, rows) - 1, longest)
    counts[rows // 3] = longest  # one that all others wait for
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    value = (np.arange(rows) % 97 - 31 + dice.integers(0, 5, rows) / 8).astype(np.float32)
    wanted = np.repeat(value, counts)
    grid = (cover(max(rows, wanted.size), BLOCK),)
    name = f"{plural(rows, 'row')}, {plural(wanted.size, 'result')}"
    return Case(name, (value, first, Out(wanted)), grid, (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    rows = [2, *dice.integers(3, 120, 2), dice.integers(300, 500)]
    longest = (*dice.integers(5, 300, 3), dice.integers(100, 140))
    return [_case(int(n), seed, int(k)) for n, seed, k in zip(rows, seeds(dice, 4), longest, strict=True)]


def cases() -> list[Case]:
    return [_case(rows) for rows in (1, 2, 31, 97, 128, 300)]


def measured() -> Case:
    return _case(400, longest=120)


MEASURES = {
    "idle lanes per instruction": partial(idle_lanes, most=256),
    "instructions per 32 results": instructions_for_written,
    "bytes stored per byte needed": stored_for_needed,
}

from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover, plural
from helpers.checking.measures import multiplied
from helpers.exercises.lab12.budgets import FEWER_ROWS, FLOAT, WARP, WIDTH, loaded
from helpers.exercises.lab12.shared import HEAD, attended, given


def _case(heads: int, n: int, width: int, scale: float, seed: int = 1) -> Case:
    q, k, v = given((heads, n, HEAD), (heads, n, HEAD), seed)
    k[:, 9::29, 0] *= -1  # here and there a key that is far better, or far worse: hidden ones must not be looked at
    apart = np.arange(n)[:, None] - np.arange(n)
    expected = attended(q, k, v, scale, (apart >= 0) & (apart < width))
    name = f"{plural(heads, 'head')} of {plural(n, 'position')}, a window of {width}"
    arguments = (q, k, v, Out(expected), np.float32(scale), np.int32(width))
    return Case(name, arguments, (cover(n, FEWER_ROWS), heads), (WARP, FEWER_ROWS))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 40)), int(dice.integers(1, 9)), 0.25),
           (int(dice.integers(2, 4)), int(dice.integers(50, 90)), int(dice.integers(17, 40)), 0.125)]  # fmt: skip
    whole = (int(dice.integers(2, 4)), FEWER_ROWS * int(dice.integers(10, 13)), WIDTH, 0.25)
    return [_case(*size, int(dice.integers(1, 10**6))) for size in (*odd, whole)]


SIZES = ((1, 1, 1, 0.25), (2, 33, 33, 0.125), (1, 70, 2, 0.25), (1, 64, 20, 0.125), (2, 90, 17, 0.25))


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(2, 160, WIDTH, 0.25)


def _loaded_in_window(profile: Cost) -> float:
    """Vectors loaded for each that blocks of 16 queries need under the window."""
    return loaded(profile) / _vectors_in_window(profile)


def _vectors_in_window(profile: Cost) -> float:
    """The vectors that blocks of 16 queries need: their queries, and the keys and values that these see."""
    across, heads = profile.counters.grid[:2]
    keys = sum(FEWER_ROWS * (b + 1) - max(0, FEWER_ROWS * b - WIDTH + 1) for b in range(across))
    return heads * (FEWER_ROWS * across + 2 * keys)


def _computed_in_window(profile: Cost) -> float:
    """Multiplications for each of the products that the window leaves."""
    across, heads = profile.counters.grid[:2]
    seen = sum(min(row + 1, WIDTH) for row in range(FEWER_ROWS * across))
    elements = HEAD * _vectors_in_window(profile) + profile.needed.written_bytes / FLOAT
    return multiplied(profile, 2 * HEAD * heads * seen, elements)


MEASURES = {
    "bytes loaded per byte of tiles": _loaded_in_window,
    "multiplications per one needed": _computed_in_window,
}

from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import stored_for_needed, total
from helpers.exercises.lab05.budgets import BLOCK

SIZES = (1, 31, 97, 256, 257, 1021)


def _case(n: int, seed: int = 0, share: float = 0.5) -> Case:
    dice = np.random.default_rng(seed or n)
    x = np.where(dice.random(n) < share, 1, -1) * np.abs(numbers(n, seed=seed or n))
    x = x.astype(np.float32)
    x[3::11] = 0
    kept = np.zeros_like(x)
    kept[: (x > 0).sum()] = x[x > 0]
    return Case(plural(n, "element"), (x, Out(kept, initial=np.zeros(n, np.float32))), (1,), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [int(dice.integers(*band)) for band in ((2, 32), (33, 256), (257, 600), (2000, 4000))]
    return [_case(n, int(dice.integers(1, 10**6)), dice.uniform(0.4, 0.7)) for n in sizes]


def cases() -> list[Case]:
    return [_case(n) for n in SIZES]


def measured() -> Case:
    return _case(3001)


def _barriers_a_round(profile: Cost) -> float:
    """Barriers of a warp for each 256 elements; from what was read, how many they are is known to a sector."""
    rounds = cover(profile.needed.read_bytes, 4 * BLOCK)
    return profile["synchronisations"] / profile.counters.warps / max(1, rounds)


MEASURES = {
    "bytes stored per byte needed": stored_for_needed,
    "atomics": total("global_update_requests", "shared_atomic_requests"),
    "barriers per round of 256": _barriers_a_round,
}

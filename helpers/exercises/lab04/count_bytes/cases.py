from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, plural
from helpers.checking.measures import loaded_for_needed, per_block
from helpers.exercises.lab04.budgets import BLOCK, BLOCKS


def _case(n: int, seed: int = 0, hot: float = 0.0) -> Case:
    """`n` words of four bytes, of which a fraction `hot` is one value."""
    dice = np.random.default_rng(seed or n)
    values = np.where(dice.random(4 * n) < hot, dice.integers(0, 256), dice.integers(0, 256, 4 * n)).astype(np.uint8)
    wanted = Out(np.bincount(values, minlength=256).astype(np.int32), initial=np.zeros(256, np.int32))
    name = f"{plural(n, 'word')}" + (f", {100 * hot:.0f} % of one value" if hot else "")
    return Case(name, (values.view(np.uint32), wanted, np.int32(n)), (BLOCKS,), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(int(dice.integers(*band)), hot) for band, hot in (((2, 64), 0.0), ((513, 900), 0.5), ((2000, 3000), 0.9))]
    return [_case(n, int(dice.integers(1, 10**6)), hot) for n, hot in sizes]


def cases() -> list[Case]:
    return [*(_case(n) for n in (1, 31, 97, 512)), _case(1021, hot=0.5), _case(600, hot=1.0)]


def measured() -> Case:
    return _case(2500, hot=0.9)


MEASURES = {
    "global atomics per block": per_block("global_update_requests"),
    "shared atomic wavefronts per 32 bytes": lambda profile: (
        32 * profile["shared_atomic_wavefronts"] / profile.needed.read_bytes
    ),
    "bytes loaded per byte needed": loaded_for_needed,
}

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers
from helpers.checking.measures import total
from helpers.exercises.lab14 import shared

SIZES = ((1, 1), (1, 33), (3, 5), (7, 64), (37, 20), (9, 100))
MEASURED = (96, 128)
ACROSS, DOWN = 32, 8


def _case(batch: int, hidden: int, seed: int = 1) -> Case:
    z, c_old = shared.sums(batch, 4 * hidden, seed), numbers((batch, hidden), seed + 1) / 4
    d_out, d_next, d_c = (numbers((batch, hidden), seed + k) / 4 for k in (2, 3, 4))
    i, f, g, o, c, h = shared.stepped(z, c_old)
    kept = np.concatenate([i, f, g, o, c, h], axis=1).astype(np.float32)
    dh, t = d_out + d_next, np.tanh(c)
    dc = d_c + dh * o * (1 - t * t)
    each = (dc * g * i * (1 - i), dc * c_old * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o), dc * f)
    left = np.concatenate(each, axis=1)
    left = np.concatenate([left, left.sum(axis=0, keepdims=True)]).astype(np.float32)
    arrays = (kept, c_old, d_out, d_next, d_c, Out(left, initial=np.zeros_like(left)))
    grid, block = (cover(hidden, ACROSS),), (ACROSS, DOWN)
    arguments = (*arrays, np.int32(batch), np.int32(hidden))
    return Case(shared.name(batch, hidden), arguments, grid, block, reads=9 * c_old.nbytes)  # h isn't needed


def drawn(dice: np.random.Generator) -> list[Case]:
    return [*(_case(*size) for size in shared.sizes(dice)), _case(*MEASURED, int(dice.integers(1, 10**6)))]


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(*MEASURED)


MEASURES = {
    "atomics": total("global_update_requests", "shared_atomic_requests"),
}

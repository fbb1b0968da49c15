from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, numbers, plural
from helpers.checking.stream_work import OnDevice, OutOnDevice, waits
from helpers.exercises.lab14 import shared
from helpers.exercises.lab14.kernels import PROJECT, STEP, kernel

SIZES = ((1, 1, 1, 1), (3, 2, 4, 5), (5, 7, 3, 20), (2, 20, 6, 33), (9, 3, 2, 16))
MEASURED = (20, 12, 8, 32)


def _case(steps: int, batch: int, inputs: int, hidden: int, seed: int = 1) -> Case:
    dice = np.random.default_rng(seed)
    x, start = numbers((steps, batch, inputs), seed) / 4, numbers((batch, 2 * hidden), seed + 1) / 8
    W, U = numbers((4 * hidden, inputs), seed + 2) / 16, numbers((4 * hidden, hidden), seed + 3) / 32
    b_ih, b_hh = (numbers(4 * hidden, seed + k) / 8 for k in (4, 5))
    lengths = dice.integers(1, steps + 1, batch).astype(np.int32)
    lengths[0] = steps
    state, out = start.astype(np.float64), np.empty((steps, batch, 2 * hidden))
    for t in range(steps):
        z = x[t].astype(np.float64) @ W.T + b_ih + b_hh + state[:, :hidden] @ U.T
        state = out[t] = shared.masked(z, state, t < lengths)
    given: tuple[np.ndarray, ...] = (x, W, U, b_ih, b_hh, start, lengths)
    arguments = (*map(OnDevice, given), OutOnDevice(out.astype(np.float32)))
    name = f"{plural(steps, 'step')}, {shared.name(batch, hidden)}"
    return Case(name, (*arguments, kernel(PROJECT, "project"), kernel(STEP, "step")), block=(shared.SIDE, shared.SIDE))


def drawn(dice: np.random.Generator) -> list[Case]:
    few = (int(dice.integers(2, 6)), int(dice.integers(17, 30)), int(dice.integers(1, 6)), int(dice.integers(2, 16)))
    many = (int(dice.integers(10, 15)), int(dice.integers(2, 6)), 3, int(dice.integers(17, 30)))
    return [_case(*size, int(dice.integers(1, 10**6))) for size in (few, many, MEASURED)]


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(*MEASURED)


MEASURES = {
    "requests per step": lambda timeline: shared.requests(timeline) / MEASURED[0],
    "waits of the host": waits,
}

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case
from helpers.checking.stream_work import OnDevice, Out, Pageable, waits
from helpers.exercises.lab08 import budgets as shared
from helpers.exercises.lab08.budgets import SERIES, STEPS, mebibytes_of_copies_in, smoothed
from helpers.exercises.lab08.kernels import SMOOTH, kernel


def _case(batches: int, steps: int, series: int, seed: int = 1) -> Case:
    x = shared.values(batches, steps, series, seed=seed)
    room, there = shared.blank(2, steps, series), OnDevice(shared.blank(*x.shape))
    arguments = Pageable(x), room, there, Out(smoothed(x)), kernel(SMOOTH, "smooth")
    return Case(f"{shared.batches(batches)} of {steps} × {series}", arguments, block=shared.BLOCK)


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(2, 1, int(dice.integers(2, 9))), (int(dice.integers(5, 8)), int(dice.integers(2, 40)), 129)]
    return [_case(*size, shared.seed_of(dice)) for size in (*sizes, (8, STEPS, SERIES))]


def cases() -> list[Case]:
    return [_case(*size) for size in ((1, 1, 1), (2, 7, 31), (3, 16, 97), (5, 10, 256), (8, 3, 300))]


def measured() -> Case:
    return _case(8, STEPS, SERIES)


MEASURES = {
    "waits of the host": waits,
    "MiB that batches are sent from": lambda timeline: mebibytes_of_copies_in(timeline, writes=False),
    "modelled us": shared.modelled_time,
}

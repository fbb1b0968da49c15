from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case
from helpers.checking.stream_work import OnDevice, Out
from helpers.exercises.lab08 import budgets as shared
from helpers.exercises.lab08.budgets import SERIES, STEPS, mebibytes_of_copies_in, smoothed
from helpers.exercises.lab08.kernels import CARRY, kernel


def _case(length: int, steps: int, series: int, seed: int = 1) -> Case:
    x, level = shared.values(length, series, seed=seed), shared.values(series, seed=seed + 1)
    room = OnDevice(shared.blank(2, steps, series))
    arguments = x, room, OnDevice(level), Out(smoothed(x, level)), kernel(CARRY, "smooth")
    return Case(f"{length:,} × {series} in pieces of {steps}", arguments, block=shared.BLOCK)


def drawn(dice: np.random.Generator) -> list[Case]:
    short = int(dice.integers(2, 9))
    sizes = [
        (short, short, 33),
        (int(dice.integers(20, 60)), int(dice.integers(3, 7)), 1),
        (int(dice.integers(100, 140)), int(dice.integers(20, 30)), 130),
    ]
    counted = 1800 + int(dice.integers(0, 200)), STEPS, SERIES
    return [_case(*size, shared.seed_of(dice)) for size in (*sizes, counted)]


def cases() -> list[Case]:
    return [_case(*size) for size in ((1, 1, 1), (8, 8, 31), (13, 5, 97), (64, 16, 128), (97, 10, 200))]


def measured() -> Case:
    return _case(1900, STEPS, SERIES)


MEASURES = {
    "MiB filled on the device": lambda timeline: mebibytes_of_copies_in(timeline, writes=True),
    "modelled us": shared.modelled_time,
}

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, plural
from helpers.checking.stream_work import OnDevice, Out
from helpers.exercises.lab08 import budgets as shared
from helpers.exercises.lab08.budgets import requests, smoothed
from helpers.exercises.lab08.kernels import ADD, LAYER, kernel


def _case(batches: int, steps: int, series: int, depth: int, seed: int = 1) -> Case:
    x = shared.values(batches, steps, series, seed=seed)
    blank = OnDevice(shared.blank(steps, series))
    wanted = smoothed(x, times=depth) + smoothed(x[:, ::-1], times=depth)[:, ::-1]
    arguments = (x, blank, blank, blank, Out(wanted), kernel(LAYER, "layer"), kernel(ADD, "add"), depth)
    name = f"{shared.batches(batches)} of {steps} × {series}, {plural(depth, 'layer')}"
    return Case(name, arguments, block=shared.BLOCK)


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (2, 1, int(dice.integers(2, 9)), 1),
        (int(dice.integers(4, 7)), int(dice.integers(3, 20)), 37, 2),
        (3, int(dice.integers(20, 40)), 130, 4),
    ]
    return [_case(*size, shared.seed_of(dice)) for size in (*sizes, (8, 64, 128, 3))]


def cases() -> list[Case]:
    return [_case(*size) for size in ((1, 1, 1, 1), (2, 7, 31, 2), (5, 16, 97, 3), (3, 33, 128, 1))]


def measured() -> Case:
    return _case(8, 64, 128, 3)


MEASURES = {
    "requests of the host": requests,
    "modelled us": shared.modelled_time,
}

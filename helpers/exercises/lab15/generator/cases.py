from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case
from helpers.exercises.lab15.drawn import drawing, measure

MANY = 600


def drawn(dice: np.random.Generator) -> list[Case]:
    return [drawing(int(dice.integers(MANY, MANY + 100)), int(dice.integers(10**6, 10**9)))]


def cases() -> list[Case]:
    return [drawing(MANY, 3)]


MEASURES = {
    "digits missing of ten": measure("missing"),
    "distance to real digits in per cent": measure("distance"),
    "unreadable images of 100": measure("unreadable"),
    "copies and repeats of 100": measure("copies"),
    "digits that hardly vary": measure("alike"),
}

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case
from helpers.exercises.lab15.drawn import MANY, drawing, measure


def drawn(dice: np.random.Generator) -> list[Case]:
    return [drawing(int(dice.integers(10**6, 10**9)), f"{MANY} other latents for each digit")]


def cases() -> list[Case]:
    return [drawing(3, f"{MANY} latents for each digit")]


MEASURES = {
    "unlike images of 100": measure("unlike"),
    "uncovered real images of 100": measure("uncovered"),
    "digits that hardly vary": measure("hardly"),
}

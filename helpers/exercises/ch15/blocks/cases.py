from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case
from helpers.models.number_formats import FORMATS

FP4 = FORMATS["E2M1"]
BLOCKS = (
    ("one value", (1.0,)),
    ("every size of FP4", (0.0, 0.5, -1.0, 1.5, -2.0, 3.0, 4.0, 6.0)),
    ("ties", (4.0, 0.25, 0.75, 1.25, 1.75, 2.5, -3.5, 5.0, -0.25)),
    ("beyond the largest size", (7.9, -7.5, 0.1, 2.2)),
    ("small weights", (0.031, -0.0072, 0.0004, 0.0165, -0.0299)),
    ("an outlier", (300.0, 1.0, -20.0, 40.0)),
    ("all zero", (0.0, 0.0, 0.0)),
)


def _case(name: str, values: tuple[float, ...]) -> Case:
    largest = max(map(abs, values))
    exponent = int(np.frexp(largest)[1]) - 1 - 2 if largest else -127
    scale = 2.0**exponent
    back = [float(scale * np.clip(FP4.nearest(value / scale), -6, 6)) + 0.0 for value in values]
    return Case(name, (list(values),), expected=(exponent, back))


def cases() -> list[Case]:
    return [_case(*each) for each in BLOCKS]

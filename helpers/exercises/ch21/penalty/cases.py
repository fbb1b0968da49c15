from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case

ROWS = (
    ("two weights, longer than 1", (3.0, 4.0), 1.0),
    ("the paper's strength", (3.0, 4.0), 10.0),
    ("just the right length", (0.6, 0.8), 10.0),
    ("one weight, shorter than 1", (0.25,), 2.0),
    ("a negative weight", (-2.0,), 0.5),
    ("no weight at all", (0.0, 0.0, 0.0), 10.0),
    ("four weights, shorter than 1", (0.25, -0.25, 0.5, 0.125), 4.0),
)


def _case(name: str, w: tuple[float, ...], strength: float) -> Case:
    weights = np.array(w)
    norm = float(np.sqrt(np.square(weights).sum()))
    away = 2 * strength * (1 - 1 / norm) if norm else 0.0
    return Case(name, (weights, strength), expected=np.array([strength * (norm - 1) ** 2, *(away * weights)]))


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]

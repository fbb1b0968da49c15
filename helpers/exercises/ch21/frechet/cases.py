from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case

FLAT = np.array([[1.0, 0.0], [0.0, 0.0]])
LEANING = np.array([[2.0, 1.0], [1.0, 2.0]])
ROWS = (
    ("the same covariance, means close together", [1.0, -2.0], LEANING, [1.25, -2.0], LEANING),
    ("only the means differ", [0.0, 0.0], LEANING, [3.0, -4.0], LEANING),
    ("one number each", [1.0], [[4.0]], [3.0], [[9.0]]),
    ("diagonal covariances", [0.0, 1.0], np.diag([1.0, 4.0]), [0.0, 1.0], np.diag([9.0, 1.0])),
    ("one leans to the left, the other to the right", [0.0, 0.0], LEANING, [0.0, 0.0], LEANING * [[1, -1], [-1, 1]]),
    ("one is flat", [0.0, 0.5], FLAT, [0.0, 0.0], LEANING),
    ("one template: no variance at all", [1.0, 1.0], np.zeros((2, 2)), [0.0, 0.0], LEANING),
    ("three features", [0.5, 0.0, -1.0], np.diag([1.0, 2.0, 3.0]), [0.0, 0.0, 0.0], np.eye(3) + 0.5),
)


def _case(name: str, *given: object) -> Case:
    mean_a, a, mean_b, b = (np.array(each, float) for each in given)
    values, vectors = np.linalg.eigh(a)
    root = vectors * np.sqrt(values.clip(0)) @ vectors.T
    shared = np.sqrt(np.linalg.eigvalsh(root @ b @ root).clip(0)).sum()
    wanted = np.square(mean_a - mean_b).sum() + np.trace(a) + np.trace(b) - 2 * shared
    return Case(name, (mean_a, a, mean_b, b), expected=float(wanted))


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 64


def _case(name: str, points: np.ndarray, reference: np.ndarray, squared: np.ndarray) -> Case:
    """The points lie column after column, the reference row after row."""
    distance = np.square(points.T[:, None] - reference[None]).sum(axis=2)
    found = (distance <= squared).any(axis=1).astype(np.int32)
    arguments = (points, reference, squared, Out(found))
    return Case(name, arguments, (cover(found.size, BLOCK),), (BLOCK,))


def _drawn(count: int, centres: int, features: int) -> Case:
    """In quarters, so that all squares are exact, and some points lie on an edge."""
    points, reference = numbers((features, count), seed=count), numbers((centres, features), seed=centres)
    near = np.sort(np.square(reference[:, None] - reference[None]).sum(axis=2), axis=1)
    squared = near[:, min(1, centres - 1)] + np.float32(features)
    name = f"{plural(count, 'point')}, {plural(centres, 'ball')}, {plural(features, 'feature')}"
    return _case(name, points, reference, squared)


def cases() -> list[Case]:
    line = np.array([[0], [1], [10]], np.float32)
    on_a_line = np.array([[-1, 1.5, 3, 19, 19.25, 5.5, 5.25, 0.25]], np.float32)
    return [
        _drawn(1, 1, 1),
        _case("8 points, 3 balls on a line", on_a_line, line, np.array([1, 1, 81], np.float32)),
        *(_drawn(*sizes) for sizes in ((31, 8, 2), (97, 5, 3), (200, 37, 8))),
    ]


def measured() -> Case:
    return _drawn(512, 32, 16)


MEASURES = {"FP64 operations": lambda profile: profile["flops_fp64"]}

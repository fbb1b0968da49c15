from __future__ import annotations

import math

import numpy as np

from helpers.checking.exercise import Case

LINE = [[0.0], [1.0], [2.0], [3.0], [10.0]]
GROUPS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [8.0, 8.0], [8.0, 9.0], [9.0, 8.0]]
ROWS = (
    ("all on reference points", LINE, LINE, 1),
    ("far from all", [[-50.0], [70.0]], LINE, 2),
    ("a lonely reference point has a large ball", [[14.0], [16.5], [18.5]], LINE, 1),
    ("close together, the balls are small", [[-1.5], [-0.5], [4.5], [3.0]], LINE, 1),
    ("the second neighbour counts", [[-1.5], [-2.5], [4.75]], LINE, 2),
    ("exactly on the edge", [[-1.0], [17.0]], LINE, 1),
    ("one template, ten times", [[0.25, 0.25]] * 10, GROUPS, 1),
    ("between two groups", [[4.5, 4.5], [1.0, 1.0], [7.5, 8.0], [0.25, 0.5]], GROUPS, 2),
    ("more points than references", [[0.25 * n, 0.5] for n in range(12)], GROUPS, 1),
)


def _case(name: str, points: list[list[float]], reference: list[list[float]], k: int) -> Case:
    radius = [sorted(math.dist(one, other) for other in reference)[k] for one in reference]
    found = [any(math.dist(p, r) <= reach for r, reach in zip(reference, radius, strict=True)) for p in points]
    return Case(name, (np.array(points), np.array(reference), k), expected=sum(found) / len(found))


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]

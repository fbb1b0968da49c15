from __future__ import annotations

import math
from collections.abc import Sequence

from helpers.checking.exercise import Case

SQUARE = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
PAIR = ((0.0, 0.0), (2.0, 0.0))
AROUND = ((1.0, 1.25), (1.25, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -0.75), (-1.25, -1.0))
ROWS = (
    ("one point on one mode", [(1.0, 1.0)], SQUARE, 0.5, 1),
    ("no point near any", [(0.0, 0.0), (3.0, 3.0), (0.0, 1.0)], SQUARE, 0.5, 1),
    ("all modes, twice at most", list(AROUND), SQUARE, 0.5, 1),
    ("at least two points a mode", list(AROUND), SQUARE, 0.5, 2),
    ("everything on one mode", [(1.0, -1.0)] * 7, SQUARE, 0.25, 3),
    ("a corner of the square is far", [(1.375, 1.375), (-1.0, -1.0)], SQUARE, 0.5, 1),
    ("negative differences are distances too", [(-3.0, -3.0), (0.0, 0.25), (2.0, 0.5)], PAIR, 1.0, 1),
    ("midway between two, out of reach", [(1.0, 0.0), (0.5, 0.0)], PAIR, 0.75, 1),
    ("within reach of both modes", [(1.0, 0.0), (1.25, 0.0), (9.0, 9.0), (0.0, 9.0)], PAIR, 1.5, 2),
    ("exactly as far as the reach", [(0.0, 1.0), (2.0, 0.5), (0.0, -1.0)], PAIR, 1.0, 1),
    ("beyond one, and nearer to the other", [(1.25, 0.0), (1.5, 0.0), (-0.5, 0.0)], PAIR, 1.0, 2),
)


def _case(
    name: str, points: Sequence[tuple[float, float]], modes: Sequence[tuple[float, float]], reach: float, least: int
) -> Case:
    counts = [sum(math.dist(point, mode) < reach for point in points) for mode in modes]
    good = sum(any(math.dist(point, mode) < reach for mode in modes) for point in points)
    wanted = (sum(count >= least for count in counts), good / len(points))
    return Case(name, ([tuple(p) for p in points], list(modes), reach, least), expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]

from __future__ import annotations

from helpers.checking.exercise import Case

ROWS = (
    ("one four", (1.0, 2.0, 3.0, 4.0)),
    ("signs do not matter", (-4.0, 1.0, 0.5, -3.0)),
    ("two fours of different size", (0.1, 0.2, -0.3, 0.05, 10.0, -20.0, 30.0, 5.0)),
    ("equal sizes", (1.0, -1.0, 1.0, 1.0, 2.0, 3.0, -2.0, 2.0)),
    ("zeros", (0.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0, 0.0)),
    ("the larger comes last", (0.0, 1.0, 0.0, 9.0, 5.0, 0.0, 8.0, 0.0)),
)


def _packed(row: tuple[float, ...]) -> tuple[list[float], list[int]]:
    values, places = [], []
    for start in range(0, len(row), 4):
        for place in sorted(sorted(range(4), key=lambda place: -abs(row[start + place]))[:2]):
            values.append(row[start + place])
            places.append(place)
    return values, places


def cases() -> list[Case]:
    return [Case(name, (list(row),), expected=_packed(row)) for name, row in ROWS]

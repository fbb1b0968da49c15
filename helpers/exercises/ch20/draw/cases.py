from __future__ import annotations

import math

from helpers.checking.exercise import Case

GIVEN = (  # scores, temperature, a number from 0 to 1
    ([0.0], 1.0, 0.5), ([0.0, 0.0], 1.0, 0.25), ([0.0, 0.0], 1.0, 0.5), ([0.0, 0.0], 1.0, 0.75),
    ([2.0, 1.0, 0.5], 1.0, 0.0), ([2.0, 1.0, 0.5], 1.0, 0.8), ([2.0, 1.0, 0.5], 1.0, 0.99),
    ([2.0, 1.0, 0.5], 0.5, 0.8), ([2.0, 1.0, 0.5], 0.01, 0.99), ([2.0, 1.0, 0.5], 3.0, 0.5),
    ([-1.0, -3.0, -2.0, -1.5], 1.0, 0.6), ([900.0, 901.0, 899.0], 1.0, 0.3), ([900.0, 901.0, 899.0], 1.0, 0.95),
    ([-900.0, -901.0], 0.5, 0.9), ([0.0, 900.0], 1.0, 0.5), ([1.0, 3.0, 2.0], 1.0, 0.05),
)  # fmt: skip


def _drawn(scores: list[float], temperature: float, number: float) -> int:
    parts = [math.exp((score - max(scores)) / temperature) for score in scores]
    reached = 0.0
    for index, part in enumerate(parts):
        reached += part / sum(parts)
        if number < reached:
            return index
    return len(scores) - 1


def _case(scores: list[float], temperature: float, number: float) -> Case:
    name = f"scores {', '.join(f'{score:g}' for score in scores)}, temperature {temperature:g}, number {number:g}"
    return Case(name, (scores, temperature, number), expected=_drawn(scores, temperature, number))


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]

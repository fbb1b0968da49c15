from __future__ import annotations

import math

from helpers.checking.exercise import Case

GIVEN = ((1, 0.5), (1, 0.9), (2, 0.25), (10, 0.5), (60, 0.5), (60, 0.1), (60, 0.99), (1000, 0.5), (3, 0.01))


def _case(steps: int, share: float) -> Case:
    gate = share ** (1 / steps)
    name = f"{share:g} of the state after {steps:,} step{'s' * (steps > 1)}"
    return Case(name, (steps, share), expected=math.log(gate / (1 - gate)))


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]

from __future__ import annotations

import math

from helpers.checking.exercise import Case

# name, taps of a filter, variance of a weight, layers
STACKS = (
    ("no layer at all", 72, 1 / 216, 0),
    ("one layer as PyTorch draws it", 72, 1 / 216, 1),
    ("24 layers as PyTorch draws them", 72, 1 / 216, 24),
    ("24 layers of He's weights", 72, 2 / 72, 24),
    ("weights that are too large", 8, 1.0, 6),
    ("three layers of 9 taps", 9, 0.125, 3),
    ("many taps, small weights", 576, 1 / 2304, 2),
)


def _surviving(taps: int, variance: float, layers: int) -> float:
    return math.sqrt(taps * variance / 2) ** layers


def cases() -> list[Case]:
    return [
        Case(name, (taps, variance, layers), expected=_surviving(taps, variance, layers))
        for name, taps, variance, layers in STACKS
    ]

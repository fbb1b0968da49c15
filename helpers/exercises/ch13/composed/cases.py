from __future__ import annotations

from math import prod

from helpers.checking.exercise import Case
from helpers.models.layouts import place

PAIRS = (
    ((6, 2), (8, 2), (4, 3), (3, 1)),
    ((20,), (2,), (5, 4), (4, 1)),
    ((10, 2), (16, 4), (5, 4), (1, 5)),
    ((4, 8), (8, 1), (32,), (1,)),
    ((4, 2, 3), (2, 1, 8), (4,), (2,)),
    ((5,), (3,), (1,), (0,)),
    ((3, 4), (4, 1), (2, 2), (5, 1)),
)


def _case(
    outer_shape: tuple[int, ...],
    outer_stride: tuple[int, ...],
    inner_shape: tuple[int, ...],
    inner_stride: tuple[int, ...],
) -> Case:
    count = prod(inner_shape)
    wanted = [place(place(i, inner_shape, inner_stride), outer_shape, outer_stride) for i in range(count)]
    name = f"{outer_shape}:{outer_stride} after {inner_shape}:{inner_stride}"
    return Case(name, (outer_shape, outer_stride, inner_shape, inner_stride), expected=wanted)


def cases() -> list[Case]:
    return [_case(*pair) for pair in PAIRS]

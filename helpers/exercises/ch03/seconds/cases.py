from __future__ import annotations

import math

from helpers.checking.exercise import Case, plural

READ = (  # shape, bytes an element, bytes a second
    ((7,), 4, 1e9), ((64, 3, 224, 224), 4, 32e9), ((64, 3, 224, 224), 1, 32e9), ((4096, 4096), 2, 2039e9),
    ((32, 128, 56, 56), 2, 900e9), ((3, 5), 8, 2e9), ((), 4, 1e9),
)  # fmt: skip


def _case(shape: tuple[int, ...], itemsize: int, bandwidth: float) -> Case:
    name = f"shape {shape}, {plural(itemsize, 'byte')} an element, {bandwidth / 1e9:,.4g} GB/s"
    return Case(name, (shape, itemsize, bandwidth), expected=math.prod(shape) * itemsize / bandwidth)


def cases() -> list[Case]:
    return [_case(*row) for row in READ]

from __future__ import annotations

import math

from helpers.checking.exercise import Case, plural

PRODUCTS = (  # shape of a, shape of b, bytes of a number
    ((1, 1), (1, 1), 4),
    ((13, 37), (37, 5), 8),
    ((512, 512), (512, 512), 2),
    ((1, 4096), (4096, 4096), 2),
    ((32, 16, 768), (768, 3072), 2),
    ((32, 16, 64), (32, 64, 512), 2),
    ((16, 1, 128), (16, 128, 1024), 2),
)


def _intensity(a: tuple[int, ...], b: tuple[int, ...], itemsize: int) -> float:
    results = math.prod(a[:-1]) * b[-1]
    return 2 * results * a[-1] / (itemsize * (math.prod(a) + math.prod(b) + results))


def _case(a: tuple[int, ...], b: tuple[int, ...], itemsize: int) -> Case:
    return Case(f"{a} @ {b}, {plural(itemsize, 'byte')} each", (a, b, itemsize), expected=_intensity(a, b, itemsize))


def cases() -> list[Case]:
    return [_case(*product) for product in PRODUCTS]

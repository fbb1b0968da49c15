from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case
from helpers.models.number_formats import Format

NUMBERS = (
    (1.0, 5, 10),
    (0.3952, 4, 3),
    (1.3, 5, 2),
    (1.9999, 5, 2),  # the mantissa is rounded up to the next power of two
    (0.0020, 4, 3),  # subnormal
    (3.2e-5, 5, 2),
    (1.125, 5, 2),  # a tie, down to even
    (1.375, 5, 2),  # a tie, up to even
    (0.0155, 4, 3),  # the largest subnormal number is rounded up to the smallest normal one
    (3.14159, 8, 7),
    (48.0, 4, 3),
    (5.1e-8, 5, 10),
)


def _code(x: float, exponent: int, mantissa: int) -> int:
    form = Format("asked", exponent, mantissa)
    value = float(form.nearest(x))
    power = max(int(np.frexp(value)[1]) - 1, form.lowest)
    return (power + form.bias - 1 << mantissa) + round(value / 2.0 ** (power - mantissa))


def _case(x: float, exponent: int, mantissa: int) -> Case:
    name = f"{x:g}, {exponent} bits of exponent and {mantissa} of mantissa"
    return Case(name, (x, exponent, mantissa), expected=_code(x, exponent, mantissa))


def cases() -> list[Case]:
    return [_case(*each) for each in NUMBERS]

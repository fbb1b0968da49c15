"""The code of the nearest float of any format: what `decode` reads, written."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake
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


BIAS = "bias = 2 ** (exponent_bits - 1) - 1"
POWER = "max(math.frexp(x)[1] - 1, 1 - bias)"
CODE = "(power + bias - 1) * 2**mantissa_bits + round(x / step)"

EXERCISE = Exercise(
    key="ch15.encode",
    title="the code of a float, for any format",
    language="python",
    name="encode",
    cases=lambda: [_case(*each) for each in NUMBERS],
    hints=(
        "The power of two of x is math.frexp(x)[1] - 1, but not below that of subnormal numbers, 1 - bias. The step is "
        "2 ** (power - mantissa_bits), and Python's round takes ties to even.",
        "round(x / step) is a normal number's mantissa with its leading 1, so from 2**mantissa_bits on; of a subnormal "
        "number it is less, and the exponent field is 0.",
        "(power + bias - 1) * 2**mantissa_bits + round(x / step): the leading 1 adds itself to the exponent field, and "
        "so does a mantissa that is rounded up beyond its last value.",
    ),
    solution="""
import math


def encode(x, exponent_bits, mantissa_bits):
    bias = 2 ** (exponent_bits - 1) - 1
    power = max(math.frexp(x)[1] - 1, 1 - bias)
    step = 2.0 ** (power - mantissa_bits)
    return (power + bias - 1) * 2**mantissa_bits + round(x / step)
""",
    why="Codes of positive floats are in the order of their values, so the next value is the next code, across powers "
    "of two and from subnormal to normal numbers. A carry out of the mantissa goes up the exponent, as it should. "
    "Hardware rounds that way, and sorting floats as integers works for the same reason.",
    stretch="negative numbers, and what becomes of x beyond the largest value: the same sum gives infinity's code.",
    mistakes=(
        Mistake(
            "the mantissa is missing",
            "That is the code of the power of two alone. Add the steps that x lies above it: round(x / step).",
            ((CODE, "(power + bias) * 2**mantissa_bits"),),
        ),
        Mistake(
            "cut off, not rounded",
            "int() and // cut off. The nearest value is wanted, and round() takes a tie to the even neighbour.",
            (("round(x / step)", "int(x / step)"), ("round(x / step)", "math.floor(x / step)")),
        ),
        Mistake(
            "always up from the middle",
            "A tie goes to the even neighbour, not always up: round() does that, floor(… + 0.5) does not.",
            (("round(x / step)", "math.floor(x / step + 0.5)"), ("round(x / step)", "int(x / step + 0.5)")),
        ),
        Mistake(
            "subnormal numbers have no smaller power",
            "Below 2 ** (1 - bias) the steps go on evenly: the power of two stays 1 - bias there.",
            ((POWER, "math.frexp(x)[1] - 1"),),
        ),
        Mistake(
            "the leading 1 is stored as well",
            "round(x / step) of a normal number has the leading 1 in it, which is not stored. It adds one to the "
            "exponent field: take one away there.",
            (("(power + bias - 1)", "(power + bias)"),),
        ),
        Mistake(
            "the exponent without its bias",
            "The field holds the power of two plus the bias, so that it is never negative.",
            (("(power + bias - 1)", "(power - 1)"), ("(power + bias - 1)", "power")),
        ),
        Mistake(
            "twice too large a power",
            "frexp gives a fraction from 0.5 to 1, so its exponent is one more than the power of two: take one away.",
            ((POWER, "max(math.frexp(x)[1], 1 - bias)"),),
        ),
        Mistake(
            "the carry is lost",
            "A mantissa that is rounded up to 2 ** mantissa_bits belongs to the next power of two. Cut to its bits, "
            "it becomes 0 and the exponent stays.",
            (
                (CODE, "(power + bias) * 2**mantissa_bits + round(x / step) % 2**mantissa_bits"),
                (CODE, "(power + bias << mantissa_bits) | (round(x / step) & 2**mantissa_bits - 1)"),
            ),
        ),
        Mistake(
            "a value, not its code",
            "That is the rounded number itself. Asked for is the integer whose bits decode() reads.",
            ((CODE, "round(x / step) * step"),),
        ),
        Mistake(
            "the bias of FP32",
            "127 is the bias of 8 bits of exponent. In general it is 2 ** (exponent_bits - 1) - 1.",
            ((BIAS, "bias = 127"), (BIAS, "bias = 15")),
        ),
    ),
)  # fmt: skip

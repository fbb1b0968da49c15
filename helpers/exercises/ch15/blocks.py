"""One block as MXFP4 stores it: a power of two for 32 values of four bits."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake
from helpers.models.number_formats import FORMATS

FP4 = FORMATS["E2M1"]
BLOCKS = (
    ("one value", (1.0,)),
    ("every size of FP4", (0.0, 0.5, -1.0, 1.5, -2.0, 3.0, 4.0, 6.0)),
    ("ties", (4.0, 0.25, 0.75, 1.25, 1.75, 2.5, -3.5, 5.0, -0.25)),
    ("beyond the largest size", (7.9, -7.5, 0.1, 2.2)),
    ("small weights", (0.031, -0.0072, 0.0004, 0.0165, -0.0299)),
    ("an outlier", (300.0, 1.0, -20.0, 40.0)),
    ("all zero", (0.0, 0.0, 0.0)),
)
EXPONENT = "math.frexp(largest)[1] - 1 - 2"
NEAREST = "min(range(8), key=lambda code: (abs(SIZES[code] - size), code % 2))"


def _case(name: str, values: tuple[float, ...]) -> Case:
    largest = max(map(abs, values))
    exponent = int(np.frexp(largest)[1]) - 1 - 2 if largest else -127
    scale = 2.0**exponent
    back = [float(scale * np.clip(FP4.nearest(value / scale), -6, 6)) + 0.0 for value in values]
    return Case(name, (list(values),), expected=(exponent, back))


EXERCISE = Exercise(
    key="ch15.blocks",
    title="a block of FP4 with a power of two",
    language="python",
    name="mx_block",
    cases=lambda: [_case(*each) for each in BLOCKS],
    hints=(
        "frexp gives a fraction from 0.5 to 1: the power of two of x is math.frexp(x)[1] - 1, and FP4's own largest "
        "power of two is 2.",
        "Round the size, abs(value) / scale, and give it its sign afterwards. Of two sizes equally near, the one with "
        "the even place in SIZES is meant.",
        "min(range(8), key=lambda code: (abs(SIZES[code] - size), code % 2)); look for a block of zeros first.",
    ),
    solution="""
import math


def mx_block(values):
    SIZES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    largest = max(abs(value) for value in values)
    if largest == 0:
        return -127, [0.0 for value in values]
    exponent = math.frexp(largest)[1] - 1 - 2
    scale = 2.0**exponent
    back = []
    for value in values:
        size = abs(value) / scale
        code = min(range(8), key=lambda code: (abs(SIZES[code] - size), code % 2))
        back.append(math.copysign(scale * SIZES[code], value))
    return exponent, back
""",
    why="The scale moves the block's largest value to between 4 and 8, so that it uses FP4's upper powers of two. What "
    "lies between 6 and 8 is cut to 6, which is the price of a scale that is a power of two: multiplying by it is "
    "exact and needs no multiplier. A block with an outlier keeps the outlier, and its other values become zero.",
    stretch="choose the next larger power of two where that makes the error of the whole block smaller.",
    mistakes=(
        Mistake(
            "the largest power is forgotten",
            "The scale is the power of two of the largest value, less 2: FP4 itself reaches up to 4, which is 2 to "
            "the 2, and a half. Without the 2 only the sizes up to 2 are used.",
            (
                (EXPONENT, "math.frexp(largest)[1] - 1"),
                "    SIZES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]\n"
                "    exponent = math.frexp(max(abs(value) for value in values))[1] - 1\n"
                "    scale = 2.0**exponent\n"
                "    nearest = lambda value: min(SIZES, key=lambda size: abs(size - value / scale))\n"
                "    return exponent, [scale * nearest(value) for value in values]",
            ),
        ),
        Mistake(
            "frexp's exponent is one more",
            "frexp gives a fraction from 0.5 to 1, so its exponent is one above the power of two.",
            ((EXPONENT, "math.frexp(largest)[1] - 2"),),
        ),
        Mistake(
            "ties go to the lower size",
            "Of two sizes equally near, the one with the even place in SIZES is taken: min() alone takes the first.",
            ((NEAREST, "min(range(8), key=lambda code: abs(SIZES[code] - size))"),),
        ),
        Mistake(
            "ties go up",
            "Of two sizes equally near, the one with the even place in SIZES is taken, which is not always the larger.",
            ((NEAREST, "min(range(8), key=lambda code: (abs(SIZES[code] - size), -code))"),),
        ),
        Mistake(
            "the sign is lost",
            "SIZES are sizes. Give the rounded size the sign of its value: math.copysign.",
            (("math.copysign(scale * SIZES[code], value)", "scale * SIZES[code]"),),
        ),
        Mistake(
            "the sign is not taken off",
            "A negative value is nearest to 0 of these sizes. Round abs(value) / scale, and set the sign afterwards.",
            (("abs(value) / scale", "value / scale"),),
        ),
        Mistake(
            "the scale is no power of two",
            "largest / 6 fits better, and is what NVFP4 rounds to E4M3. An MX block has a power of two.",
            ((("scale = 2.0**exponent", "scale = largest / 6"),),),
        ),
        Mistake(
            "the scale is left out",
            "What comes back is the size times the scale.",
            (("math.copysign(scale * SIZES[code], value)", "math.copysign(SIZES[code], value)"),),
        ),
        Mistake(
            "a block of zeros",
            "Zero has no power of two. A block of zeros is stored with the exponent -127.",
            (("    if largest == 0:\n        return -127, [0.0 for value in values]\n", ""),
             ("return -127,", "return 0,")),
        ),
        Mistake(
            "by the mean, not by the largest",
            "With a scale from the mean the largest values are all cut to 6. The largest absolute value decides.",
            (("largest = max(abs(value) for value in values)",
              "largest = sum(abs(value) for value in values) / len(values)"),),
        ),
    ),
)  # fmt: skip

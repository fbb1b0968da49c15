"""The largest loss scale that gradients bear, and what it still loses."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake

LARGEST, HALF = 65504, 2.0**-25
SIZES = (
    ("one gradient of 1", (1.0,)),
    ("exactly at the end", (65504.0, 1e-3)),
    ("just beyond the end", (65504.5, 1.0)),
    ("a power of two at the end", (2.0**-10, 2.0**-30, 0.0)),
    ("sizes over many powers of two", (3e-3, 2e-9, 4e-17, 0.0, 7e-15, 1e-16)),
    ("near half of the smallest value", (1.0, 1.5 * 2.0**-40, 2.0**-40, 0.9 * 2.0**-40)),
    ("all are tiny", (1e-9, 3e-12, 2e-10)),
    ("some are too large already", (2e5, 1e-2, 1e-6, 1e-8)),
    ("zeros are not lost", (0.5, 0.0, 0.0)),
)
LOST = "sum(0 < size * scale <= 2.0**-25 for size in sizes)"
SCALE = "2.0 ** math.floor(math.log2(65504 / max(sizes)))"


def _case(name: str, sizes: tuple[float, ...]) -> Case:
    scale = 2.0 ** math.floor(math.log2(LARGEST / max(sizes)))
    return Case(name, (list(sizes),), expected=(scale, sum(0 < size * scale <= HALF for size in sizes)))


EXERCISE = Exercise(
    key="ch15.scale",
    title="the largest loss scale that gradients bear",
    language="python",
    name="best_scale",
    cases=lambda: [_case(*each) for each in SIZES],
    hints=(
        "Only the largest gradient says how far the scale may go.",
        "math.log2(65504 / max(sizes)) is the power of two, not yet whole: round it down.",
        "scale = 2.0 ** math.floor(…); lost are those with 0 < size * scale <= 2.0 ** -25.",
    ),
    solution="""
import math


def best_scale(sizes):
    scale = 2.0 ** math.floor(math.log2(65504 / max(sizes)))
    lost = sum(0 < size * scale <= 2.0**-25 for size in sizes)
    return scale, lost
""",
    why="The largest gradient sets the scale, and the format's range decides what is lost at the other end: FP16 spans "
    "40 powers of two from 2^-24 to 2^15, subnormal numbers included. Gradients that spread over more than that cannot "
    "all be kept by one scale. In practice one stays some powers of two below this scale, as the next batch may have a "
    "larger gradient; dynamic scaling finds that distance by itself.",
    stretch="how many would E5M2 lose, whose smallest value is 2^-16, and how many E4M3 (largest 448, smallest 2^-9)?",
    mistakes=(
        Mistake(
            "no power of two",
            "Any other factor rounds each mantissa anew. Take the next lower power of two.",
            ((SCALE, "65504 / max(sizes)"), "    return 65504 / max(sizes), 0"),
        ),
        Mistake(
            "rounded up",
            "The next higher power of two takes the largest gradient beyond 65,504. Round the exponent down.",
            (("math.floor", "math.ceil"), ("math.floor", "round")),
        ),
        Mistake(
            "cut towards zero",
            "int() cuts towards zero, so that a negative exponent goes up. math.floor goes down for both.",
            (("math.floor", "int"), (SCALE, "max(1.0, " + SCALE + ")")),
        ),
        Mistake(
            "by the smallest gradient",
            "The smallest one would bear a huge scale, and all others would overflow. The largest one decides.",
            (("max(sizes)", "min(size for size in sizes if size > 0)"),),
        ),
        Mistake(
            "the sum decides nothing",
            "Each gradient is stored by itself. The largest one decides, not their sum or mean.",
            (("max(sizes)", "sum(sizes)"), ("max(sizes)", "(sum(sizes) / len(sizes))")),
        ),
        Mistake(
            "zeros are counted as lost",
            "What was zero before has lost nothing: count sizes above zero only.",
            (("0 < size * scale", "size * scale"),),
        ),
        Mistake(
            "subnormal numbers are taken for lost",
            "FP16 goes on below its smallest normal number, 2^-14, with fewer digits down to 2^-24. Lost is what is "
            "below half of that, 2^-25.",
            (("2.0**-25", "2.0**-14"), ("2.0**-25", "2.0**-15")),
        ),
        Mistake(
            "half of the smallest is rounded up",
            "2^-24 is the smallest value. What is above half of it, 2^-25, is rounded up to it and not lost.",
            (("2.0**-25", "2.0**-24"),),
        ),
        Mistake(
            "counted before the scale",
            "What counts is what is stored: the gradient times the scale.",
            (("size * scale <=", "size <="),),
        ),
    ),
)  # fmt: skip

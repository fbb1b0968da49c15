"""A tile so wide that a matrix product reaches the ridge of the roofline."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake
from vgpu.hardware import gpus
from vgpu.tools.roofline import peak_flops

IMAGINARY = (
    ("an imaginary GPU with more bandwidth than arithmetic", 1e12, 1e13, 4),
    ("an imaginary GPU with its ridge at 16 FLOP/byte", 16e12, 1e12, 4),
    ("an imaginary GPU with its ridge at 16.5 FLOP/byte", 16.5e12, 1e12, 4),
)
UNITS = (("T4", "fp32", 4), ("A100", "fp32", 4), ("A100", "fp16_tensor", 2), ("H100", "fp16_tensor", 2))
LEAST = "itemsize * peak / bandwidth"


def _cases() -> list[Case]:
    rows = [(gpus.find(name), unit, itemsize) for name, unit, itemsize in UNITS]
    real = [(f"{row.name}, {unit}", peak_flops(row, unit), row.memory_bandwidth, size) for row, unit, size in rows]
    return [_case(*given) for given in (*IMAGINARY, *real)]


def _case(name: str, peak: float, bandwidth: float, itemsize: int) -> Case:
    width = 2 ** max(0, math.ceil(math.log2(itemsize * peak / bandwidth)))
    return Case(name, (peak, bandwidth, itemsize), expected=width)


EXERCISE = Exercise(
    key="ch10.tile",
    title="a tile that reaches the ridge",
    language="python",
    name="tile",
    cases=_cases,
    hints=(
        "Think of one step of the inner loop: T elements of each factor, T × T multiply-adds.",
        "So its intensity is 2 · T² / (2 · T · itemsize). Set that against peak / bandwidth.",
        "Start with T = 1 and double it while T / itemsize < peak / bandwidth.",
    ),
    solution="""
def tile(peak, bandwidth, itemsize):
    width = 1
    while width / itemsize < peak / bandwidth:
        width *= 2
    return width
""",
    why="A step loads 2 · T elements and does 2 · T² operations, so T / itemsize FLOP per byte: intensity grows with "
    "the width of the tile. Tensor cores want tiles of many hundreds, more than one block can hold; caches that "
    "several blocks share make up the rest.",
    stretch="how many KiB of accumulators is that tile? Compare with the registers of an SM in the GPU's row.",
    mistakes=(
        Mistake(
            "one more than enough",
            "A tile that lands exactly on the ridge has reached it: go on while it is less, not while it is equal.",
            (("<", "<="), f"    import math\n    return 2 * 2 ** max(0, math.floor(math.log2({LEAST})))"),
        ),
        Mistake(
            "no fraction is left",
            "`//` rounds down, so that a ridge of 16.5 is taken for 16: `/`.",
            (("/", "//"), ("peak / bandwidth", "peak // bandwidth")),
        ),
        Mistake(
            "the ridge is upside down",
            "The ridge is peak over bandwidth: FLOP for each byte.",
            (("peak / bandwidth", "bandwidth / peak"),),
        ),
        Mistake(
            "the result stays where it is",
            "A step loads T elements of each of the two factors. The tile of the result stays on the chip, so there "
            "are two, not three.",
            (("width / itemsize", "2 * width / (3 * itemsize)"),),
        ),
        Mistake(
            "the intensity grows with T, not with T²",
            "T² multiply-adds are done, and 2 · T elements loaded for them: the ratio grows with T.",
            (("width / itemsize", "width * width / itemsize"),),
        ),
        Mistake(
            "that is the intensity",
            "It is the intensity of the right tile. Its width is asked for.",
            (("return width", "return width / itemsize"),),
        ),
        Mistake(
            "narrower than one",
            "The smallest tile has a width of 1, where the ridge is lower, too.",
            (f"    import math\n    return 2.0 ** math.ceil(math.log2({LEAST}))",),
        ),
        Mistake(
            "it starts too large",
            "With plenty of bandwidth a tile of 1 is enough: start with T = 1.",
            (("width = 1", "width = 2"), ("width = 1", "width = 8"), ("width = 1", "width = 16")),
        ),
        Mistake(
            "a fused multiply-add is two operations",
            "A step of the inner loop is 2 · T² operations on a tile of T × T, not T².",
            (("width / itemsize", "width / (2 * itemsize)"),),
        ),
        Mistake(
            "both factors are loaded",
            "A step needs T elements of the one factor and T of the other.",
            (("width / itemsize", "2 * width / itemsize"),),
        ),
        Mistake(
            "elements are not bytes",
            "The ridge is in FLOP per byte, and an element is `itemsize` bytes.",
            (("width / itemsize", "width"),),
        ),
        Mistake(
            "rounded down",
            "The largest power of two below falls short of the ridge. Take the next one up.",
            (("width / itemsize <", "2 * width / itemsize <="),),
        ),
        Mistake(
            "no power of two",
            "Wide enough, and awkward: round up to a power of two.",
            tuple((("width = 1", f"width = {n}"), ("*= 2", f"+= {n}")) for n in (1, 8, 16, 32)),
        ),
    ),
)

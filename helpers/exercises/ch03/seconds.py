"""The least time that a tensor takes through a memory of a given bandwidth."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake, plural

READ = (  # shape, bytes an element, bytes a second
    ((7,), 4, 1e9), ((64, 3, 224, 224), 4, 32e9), ((64, 3, 224, 224), 1, 32e9), ((4096, 4096), 2, 2039e9),
    ((32, 128, 56, 56), 2, 900e9), ((3, 5), 8, 2e9), ((), 4, 1e9),
)  # fmt: skip


def _case(shape: tuple[int, ...], itemsize: int, bandwidth: float) -> Case:
    name = f"shape {shape}, {plural(itemsize, 'byte')} an element, {bandwidth / 1e9:,.4g} GB/s"
    return Case(name, (shape, itemsize, bandwidth), expected=math.prod(shape) * itemsize / bandwidth)


EXERCISE = Exercise(
    key="ch03.seconds",
    title="the least time that a tensor takes",
    language="python",
    name="least_seconds",
    cases=lambda: [_case(*row) for row in READ],
    hints=(
        "How many elements has a tensor of shape (64, 3, 224, 224)? And how many bytes are they?",
        "math.prod(shape) multiplies the numbers of the shape. It gives 1 for the empty shape, which has one element.",
        "math.prod(shape) * itemsize bytes, divided by bytes a second, are seconds.",
    ),
    solution="""
import math


def least_seconds(shape, itemsize, bandwidth):
    elements = math.prod(shape)
    return elements * itemsize / bandwidth
""",
    why="Bytes over bytes a second. It is the least time, because no link carries more than its bandwidth, and it is a "
    "good estimate for large tensors. For small ones the latency and the launch take longer than the bytes.",
    stretch="a batch of 64 images in bytes takes a quarter of the time of one in floats: where would you convert it?",
    mistakes=(
        Mistake(
            "elements are not bytes",
            "That is the time of as many bytes as there are elements. Each element has `itemsize` bytes.",
            (("elements * itemsize", "elements"),),
        ),
        Mistake(
            "bytes are not bits",
            "Both numbers are in bytes, the size of an element and the bandwidth: there is nothing to convert.",
            (("/ bandwidth", "* 8 / bandwidth"), ("/ bandwidth", "/ 8 / bandwidth")),
        ),
        Mistake(
            "the sizes of a shape are multiplied",
            "A tensor of shape (3, 5) has 15 elements: multiply the numbers of the shape.",
            (("math.prod(shape)", "sum(shape)"),),
        ),
        Mistake(
            "one number of the shape is not all",
            "That is the time of one row or of one part of the tensor. Multiply all numbers of the shape.",
            (
                ("math.prod(shape)", "(shape[0] if shape else 1)"), ("math.prod(shape)", "(shape[-1] if shape else 1)"),
                ("math.prod(shape)", "len(shape)"), ("math.prod(shape)", "math.prod(shape[1:])"),
                ("math.prod(shape)", "math.prod(shape[:-1])"),
            ),
        ),
        Mistake(
            "the ratio is upside down",
            "More bytes take longer, and more bandwidth is faster: bytes divided by bytes a second.",
            (("elements * itemsize / bandwidth", "bandwidth / (elements * itemsize)"),
             ("itemsize / bandwidth", "itemsize * bandwidth")),
        ),
        Mistake(
            "another unit than seconds",
            "The bandwidth is in bytes a second, so the result is in seconds as it is.",
            (("/ bandwidth", "/ bandwidth * 1e3"), ("/ bandwidth", "/ bandwidth * 1e6"),
             ("/ bandwidth", "/ (bandwidth * 1e9)"), ("/ bandwidth", "/ bandwidth * 1e9"), ("/ bandwidth", "")),
        ),
    ),
)  # fmt: skip

"""A convolution whose window is one pixel: a matrix product, with the pixels across the lanes."""

from __future__ import annotations

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.checking.measures import sectors_per_request

BLOCK = (32, 4)
SUM = "total += weight[k, c] * image[c, pixel]"


def _case(channels: int, filters: int, pixels: int) -> Case:
    image, weight = numbers((channels, pixels), seed=pixels), numbers((filters, channels), seed=filters)
    longest = max(filters, pixels)
    return Case(
        f"{plural(channels, 'channel')}, {plural(filters, 'filter')}, {plural(pixels, 'pixel')}",
        (image, weight, Out(weight @ image)),
        (cover(longest, BLOCK[0]), cover(longest, BLOCK[1])),
        BLOCK,
    )


SHAPES = ((1, 1, 1), (3, 2, 49), (5, 37, 4), (16, 8, 33), (7, 3, 100))

EXERCISE = Exercise(
    key="ch19.pointwise",
    title="a 1 × 1 convolution, in Numba",
    language="numba",
    name="pointwise",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(8, 64, 64),
    budgets=(
        Budget(
            "sectors per load request",
            sectors_per_request("read"),
            3,
            "Lanes of neighbouring pixels load 4 sectors of the image, and one sector of the weights for all of them.",
        ),
        Budget(
            "sectors per store request",
            sectors_per_request("write"),
            4.2,
            "Lanes of neighbouring pixels store 4 sectors.",
            "global_store_sectors",
        ),
    ),
    hints=(
        "Which index of `image` and of `out` has neighbours that touch in memory?",
        "The first number of cuda.grid(2) differs from lane to lane, so it should be the pixel.",
        "pixel, k = cuda.grid(2)",
    ),
    solution="""
import numpy as np


@cuda.jit
def pointwise(image, weight, out):
    pixel, k = cuda.grid(2)
    if k < out.shape[0] and pixel < out.shape[1]:
        total = np.float32(0)
        for c in range(image.shape[0]):
            total += weight[k, c] * image[c, pixel]
        out[k, pixel] = total
""",
    why="A 1 × 1 window has one tap, so the im2col matrix is the image itself: nothing is copied, and out = weight × "
    "image. With pixels across the lanes a warp loads 32 neighbours of one channel, and one weight for all its lanes.",
    stretch="a tile of weights in shared memory serves all pixels of a block. How many loads does it save?",
    mistakes=(
        Mistake(
            "the filter differs from lane to lane",
            "The result is right, but the lanes of a warp store to 32 rows of out, and load weights 32 rows apart. Let "
            "the first number of cuda.grid(2) choose the pixel.",
            (("pixel, k = ", "k, pixel = "),),
        ),
        Mistake(
            "only the last channel counts",
            "An output is the sum over all channels: add to the total.",
            ((SUM, SUM.replace("+=", "=")),),
        ),
        Mistake(
            "one channel is left out",
            "The sum takes in every channel, from 0 to image.shape[0] - 1.",
            (("range(image.shape[0])", "range(image.shape[0] - 1)"),
             ("range(image.shape[0])", "range(1, image.shape[0])")),
        ),
        Mistake(
            "the guard swaps filters and pixels",
            "out.shape is (filters, pixels): k is compared with shape[0], the pixel with shape[1].",
            (("k < out.shape[0] and pixel < out.shape[1]", "pixel < out.shape[0] and k < out.shape[1]"),
             ("k < out.shape[0] and pixel < out.shape[1]", "max(k, pixel) < min(out.shape[0], out.shape[1])")),
        ),
        Mistake(
            "weights are added, not multiplied",
            "Each pixel is weighed: weight times value, summed over the channels.",
            (("weight[k, c] * image", "weight[k, c] + image"),),
        ),
    ),
)  # fmt: skip

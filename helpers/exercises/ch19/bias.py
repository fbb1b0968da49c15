"""The gradient of a bias: a sum over all images and all pixels of one filter, by one warp."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, numbers
from helpers.checking.measures import sectors_per_request

WARP = 32
COUNTED = (4, 6, 320)


def _case(images: int, filters: int, pixels: int) -> Case:
    slope = numbers((images, filters, pixels), seed=pixels)
    wanted = slope.sum(axis=(0, 2), dtype=np.float64).astype(np.float32)
    return Case(f"{images} × {filters} × {pixels}", (slope, Out(wanted)), (filters,), (WARP,))


SHAPES = ((1, 1, 1), (2, 3, 5), (1, 2, 32), (3, 5, 67), (40, 1, 3), (5, 7, 64))
LOOP = "for i in range(lane, images * pixels, 32):"
TERM = "total += slope[i // pixels, k, i % pixels]"
SHUFFLES = "    for d in (16, 8, 4, 2, 1):\n        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)\n"

EXERCISE = Exercise(
    key="ch19.bias",
    title="the gradient of a bias, in Numba",
    language="numba",
    name="bias_slope",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(*COUNTED),
    budgets=(
        Budget(
            "sectors per load request",
            sectors_per_request("read"),
            5.2,
            "Neighbouring lanes should load neighbouring pixels: lane 0 takes the positions 0, 32, 64 and so on.",
        ),
    ),
    sanitize=True,
    hints=(
        "The bias of filter k was added to every output of filter k. So which slopes add up to its gradient?",
        "Number the positions of all images from 0 to images * pixels. Position i is pixel i % pixels of image "
        "i // pixels. Lane 0 takes 0, 32, 64 and so on.",
        "for i in range(lane, images * pixels, 32): total += slope[i // pixels, k, i % pixels]; then five shuffles by "
        "16, 8, 4, 2 and 1, and lane 0 stores.",
    ),
    solution="""
import numpy as np


@cuda.jit
def bias_slope(slope, out):
    k, lane = cuda.blockIdx.x, cuda.threadIdx.x
    images, filters, pixels = slope.shape
    total = np.float32(0)
    for i in range(lane, images * pixels, 32):
        total += slope[i // pixels, k, i % pixels]
    for d in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
    if lane == 0:
        out[k] = total
""",
    why="Each output of a filter is a sum to which the bias was added once. So the gradient of the bias is the sum of "
    "the slopes of all these outputs. Nothing is multiplied, and every slope is read once, so this kernel is bound "
    "by memory on every GPU. The order of the sum is fixed, so two runs agree to the last bit.",
    stretch="OwnConv2d leaves the bias to PyTorch. Let Convolution take it as a fourth argument, and return this "
    "kernel's result for it.",
    mistakes=(
        Mistake(
            "one image only",
            "The bias is added in every image of the batch. So its gradient is a sum over all images, too.",
            ((LOOP, "for i in range(lane, pixels, 32):"), ("slope[i // pixels, k", "slope[0, k")),
        ),
        Mistake(
            "a mean in place of a sum",
            "A gradient adds up over all outputs that a number went into. If the loss is a mean, its own gradient has "
            "the division in it already.",
            (("out[k] = total", "out[k] = total / np.float32(images * pixels)"),
             ("out[k] = total", "out[k] = total / np.float32(images)"),
             ("out[k] = total", "out[k] = total / np.float32(pixels)")),
        ),
        Mistake(
            "each lane takes one position",
            "There are more positions than lanes. Let lane 0 take the positions 0, 32, 64 and so on.",
            ((f"    {LOOP}\n        {TERM}", f"    i = lane\n    if i < images * pixels:\n        {TERM}"),
             (f"    {LOOP}\n        {TERM}", "    if lane < pixels:\n        total += slope[0, k, lane]")),
        ),
        Mistake(
            "lane 0 knows only its own part",
            "Each lane has a part of the sum. Five shuffles, by 16, 8, 4, 2 and 1, bring them all to lane 0.",
            ((SHUFFLES, ""), ("(16, 8, 4, 2, 1)", "(16, 8, 4, 2)"), ("(16, 8, 4, 2, 1)", "(8, 4, 2, 1)")),
        ),
        Mistake(
            "all filters in one sum",
            "Each filter has a bias of its own. Block k adds up the slopes of filter k alone.",
            ((TERM, "for f in range(filters):\n            total += slope[i // pixels, f, i % pixels]"),),
        ),
        Mistake(
            "another filter's slopes",
            "slope[image, k, pixel]: the filter is the number of the block, cuda.blockIdx.x.",
            ((TERM, "total += slope[i // pixels, 0, i % pixels]"),
             (TERM, "total += slope[i // pixels, filters - 1 - k, i % pixels]")),
        ),
        Mistake(
            "each lane has positions of its own side by side",
            "The sum is right, but the lanes of a warp load pixels that lie far apart. Begin at lane, and go on by 32.",
            ((LOOP, "share = (images * pixels + 31) // 32\n"
                    "    for i in range(share * lane, min(share * (lane + 1), images * pixels)):"),),
        ),
    ),
)  # fmt: skip

"""Convolution of images with filters: a block for each image, which it loads once."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, numbers
from helpers.checking.measures import busiest_for_needed, loaded_for_needed, sectors_per_request
from helpers.exercises.lab13 import shared

SIZES = ((1, 1, 1, 1, 1, 1), (1, 1, 3, 3, 1, 3), (2, 3, 5, 7, 4, 3), (3, 2, 8, 9, 5, 5), (1, 4, 9, 6, 3, 2),
         (2, 1, 4, 11, 2, 1))  # fmt: skip
FILL = "for (int i = t; i < c * h * w; i += blockDim.x) image[i] = x[blockIdx.x * c * h * w + i];"
FILTERS = "for (int i = t; i < k * c * r * r; i += blockDim.x) filters[i] = f[i];"
SEEN = "image[(ch * h + p + a) * w + q + b]"
TAKEN = "filters[((o / (oh * ow) * c + ch) * r + a) * r + b]"


def _case(n: int, c: int, h: int, w: int, k: int, r: int, seed: int = 1) -> Case:
    x, f = numbers((n, c, h, w), seed), numbers((k, c, r, r), seed + 1)
    sizes = tuple(map(np.int32, (c, h, w, k, r)))
    return Case(shared.name(n, c, h, w, k, r), (x, f, Out(shared.convolved(x, f)), *sizes), (n,), (128,))


def _busiest_warp(profile) -> float:
    """What the busiest warp does; the average counts up to 24 instructions for each product of a filter's weights."""
    _, f, y, *_ = profile.case.arguments
    products = y.expected.size * f[0].size / (32 * profile.counters.warps)
    return busiest_for_needed(profile, math.inf, 24 * products)


EXERCISE = Exercise(
    key="lab13.forward",
    title="convolution, a block for each image, in CUDA C",
    language="cuda",
    name="forward",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(6, *shared.MEASURED),
    drawn=lambda dice: [_case(*size) for size in shared.sizes(dice, (5, 9))],
    sanitize=True,
    also_wrong=shared.ENDED,
    shared_out=True,
    budgets=(
        Budget(
            "bytes loaded per byte needed",
            loaded_for_needed,
            4,
            "Each pixel is seen by many filters from many places. A block should fetch its image once and all filters "
            "once, into shared memory, and calculate from there.",
            "global_load_sectors",
        ),
        Budget(
            "sectors per store request",
            sectors_per_request("write", most=2),
            4.5,
            "Neighbouring threads should calculate neighbouring elements of the result: then 32 floats are 4 sectors.",
            "global_store_sectors",
        ),
        replace(SHARED_OUT, measure=_busiest_warp, of="launch"),
    ),
    hints=(
        "Three steps: fill shared memory, wait for all threads, calculate. Each step is a loop that starts at t and "
        "goes on by blockDim.x.",
        "The result of one image has k * oh * ow elements. Of element o the column is o % ow, the row o / ow % oh, "
        "and the filter o / (oh * ow).",
        "Add image[(ch * h + row + a) * w + column + b] * filters[((filter * c + ch) * r + a) * r + b] over ch, a "
        "and b, then store the sum to y[blockIdx.x * k * oh * ow + o].",
    ),
    why="Every pixel is used k · r · r times, so where it is read from decides what a convolution costs. Shared "
    "memory lets a block pay for a pixel once. The filters are fetched again by each block, which is the ratio that "
    "is left: a block that takes several images would share them out.",
    stretch="let a block take two images, so that filters are fetched half as often. What does it cost in occupancy?",
    mistakes=(
        Mistake(
            "the filter is turned round",
            "What deep learning calls convolution does not turn the filter round: row a of the filter meets row "
            "p + a of the image. With r - 1 - a it is the convolution of signal processing.",
            ((TAKEN, TAKEN.replace("r + a) * r + b", "r + r - 1 - a) * r + r - 1 - b")),),
        ),
        Mistake(
            "only the first channel",
            "A filter has a slice for each channel, and the sum goes over all of them.",
            (("ch < c;", "ch < 1;"), (SEEN, "image[(p + a) * w + q + b]")),
        ),
        Mistake(
            "the first image for all",
            "Block number blockIdx.x has image number blockIdx.x, which starts at blockIdx.x * c * h * w.",
            (("x[blockIdx.x * c * h * w + i]", "x[i]"),),
        ),
        Mistake(
            "height and width are swapped",
            "A row has w pixels, and the result's rows have ow: to go down by one row adds w, not h.",
            ((SEEN, "image[(ch * w + p + a) * h + q + b]"), (("o % ow", "o % oh"), ("o / ow % oh", "o / oh % ow"))),
        ),
        Mistake(
            "nobody waits for shared memory",
            "A thread reads pixels that others have loaded. Between the two stands __syncthreads().",
            (("__syncthreads();", ""),),
        ),
        Mistake(
            "part of the image is missing",
            "An image may have more floats than the block has threads: each thread loads one after the other, "
            "blockDim.x apart. The same holds for the filters.",
            ((FILL, FILL.replace("for (int i = t; i < c * h * w; i += blockDim.x)", "int i = t; if (i < c * h * w)")),
             (FILTERS, "if (t < k * c * r * r) filters[t] = f[t];")),
        ),
        Mistake(
            "only as many results as threads",
            "A block has k * oh * ow results, which may be more than its threads: go on by blockDim.x.",
            (("o += blockDim.x", "o += 1 << 30"),),
        ),
        Mistake(
            "the filters come from global memory",
            "The image is fetched once, but every result fetches the weights of its filter again. They fit into "
            "shared memory, too.",
            ((TAKEN, TAKEN.replace("filters", "f")),),
        ),
        Mistake(
            "the image comes from global memory",
            "The filters are fetched once, but every result fetches its window of the image again.",
            ((SEEN, "x[blockIdx.x * c * h * w + (ch * h + p + a) * w + q + b]"),),
        ),
    ),
)  # fmt: skip

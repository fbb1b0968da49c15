"""The gradient of a convolution by its filters: a block adds up each weight, in an order that never changes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Case, Exercise, Mistake, Out, numbers
from helpers.checking.measures import busiest_for_needed
from helpers.exercises.lab13 import shared

SIZES = ((1, 1, 1, 1, 1, 1), (1, 1, 3, 3, 1, 3), (2, 3, 5, 7, 4, 3), (3, 2, 8, 9, 5, 5), (9, 2, 7, 6, 3, 2))
PIXEL = "x[((n * c + ch) * h + p + a) * w + q + b]"
MINE = "g[(n * k + f) * oh * ow + i % (oh * ow)]"
SHUFFLES = "for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);"


def _case(n: int, c: int, h: int, w: int, k: int, r: int, seed: int = 1) -> Case:
    x, g = numbers((n, c, h, w), seed), numbers((n, k, h - r + 1, w - r + 1), seed + 1)
    sizes = tuple(map(np.int32, (n, c, h, w, k, r)))
    wanted = Out(shared.by_weights(x, g, r).astype(np.float32), initial=np.zeros((k, c, r, r), np.float32))
    return Case(shared.name(n, c, h, w, k, r), (x, g, wanted, *sizes), (k * c * r * r,), (128,))


def _busiest_warp(profile) -> float:
    """What the busiest warp does; it needs two requests for a term of each of its lanes."""
    _, g, *_ = profile.case.arguments
    return busiest_for_needed(profile, 2 * g.size / g.shape[1] / math.prod(profile.counters.block))


EXERCISE = Exercise(
    key="lab13.by_weights",
    title="the gradient with respect to the filters, a block for each weight, in CUDA C",
    language="cuda",
    name="by_weights",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(16, *shared.MEASURED),
    drawn=lambda dice: [_case(*size) for size in shared.sizes(dice, (16, 25))],
    sanitize=True,
    also_wrong=shared.ENDED,
    shared_out=True,
    budgets=(shared.NO_ATOMICS, shared.SHARED_A_WARP, replace(SHARED_OUT, measure=_busiest_warp, of="launch")),
    hints=(
        "A weight's gradient is one long sum over all images and all places. How does a block add up one long sum?",
        "Threads add every 128th term to a register, five shuffles join a warp, shared memory joins the four warps, "
        "and thread 0 stores.",
        "Term i belongs to image i / (oh * ow), row i / ow % oh and column i % ow. It is the gradient there times the "
        "pixel which is a rows below and b columns to the right.",
    ),
    why="Floats do not add up to the same in every order, and atomics add in the order in which threads come: a "
    "training run could not be repeated to the last bit. A tree has one order, whoever is first. It is the reduction "
    "of lab 05, in a place where the number of terms, images times places, is what grows with the batch.",
    stretch="here each pixel is read again for every weight. Let a block own a whole filter's channel, r · r weights: "
    "how many bytes does it load?",
    equivalent=(
        (("dw[blockIdx.x] = sum", "dw[blockIdx.x] += sum"), "dw holds zeros before"),
        (("s[t / 32]", "s[t / 31]"), "32, 64 and 96 give 1, 2 and 3 either way"),
    ),
    mistakes=(
        Mistake(
            "lane 0 knows only itself",
            "Each warp's first lane stored its own sum. Before that, the other 31 have to reach it by shuffles.",
            ((SHUFFLES, ""),),
        ),
        Mistake(
            "only the first warp counts",
            "A shuffle stays within its warp. The sums of the other three warps go through shared memory.",
            (("sum += s[v]", "sum += 0"),),
        ),
        Mistake(
            "the first warp counts twice",
            "Thread 0 has the sum of its own warp in a register already. Begin at s[1].",
            (("int v = 1", "int v = 0"),),
        ),
        Mistake(
            "nobody waits for shared memory",
            "Thread 0 reads what other warps have stored. Between the two stands __syncthreads().",
            (("__syncthreads();", ""),),
        ),
        Mistake(
            "only the first image",
            "A batch's gradient is the sum over its images. Term i belongs to image i / (oh * ow).",
            (("i < images * oh * ow", "i < oh * ow"), ("n = i / (oh * ow)", "n = 0")),
        ),
        Mistake(
            "the pixel does not move with the weight",
            "Weight (a, b) met the pixel that is a rows below the result's element, and b columns to the right.",
            ((PIXEL, "x[((n * c + ch) * h + p) * w + q]"),),
        ),
        Mistake(
            "rows are as long as the result's",
            "A row of the image has w pixels, one of the result ow elements: r - 1 fewer.",
            ((PIXEL, PIXEL.replace("* w + q", "* ow + q")),),
        ),
        Mistake(
            "every lane adds to shared memory",
            "It is right, and all 128 sums go through shared memory. Within a warp lanes reach one another's "
            "registers.",
            (((SHUFFLES, "__shared__ float all[128]; all[t] = sum; __syncthreads();"),
              ("if (t % 32 == 0) s[t / 32] = sum;\n    __syncthreads();", ""),
              ("v < 4; ++v) sum += s[v]", "v < 128; ++v) sum += all[v]")),),
        ),
        Mistake(
            "added by atomics",
            "It is right here. Floats that are added in another order each time differ in their last bits, though, "
            "and no run can be repeated.",
            (((SHUFFLES, "atomicAdd(&dw[blockIdx.x], sum); sum = 0;"), ("dw[blockIdx.x] = sum", "sum += 0")),),
        ),
    ),
)  # fmt: skip

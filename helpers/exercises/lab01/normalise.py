"""The channels of images made normal, by any launch: a loop that steps by the whole grid."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, numbers, plural
from helpers.checking.measures import loaded_for_needed, stored_again
from helpers.exercises.lab01.budgets import IDLE_LANES, of_the_warp

# Images, channels, pixels, blocks, threads.
IMAGES = ((1, 1, 1, 1, 32), (1, 3, 31, 1, 1), (2, 3, 97, 3, 96), (3, 4, 101, 2, 64), (2, 5, 128, 40, 128))
STEP = "gridDim.x * blockDim.x"
LOOP = f"for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += {STEP})"
ONCE = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)"
CHANNEL, FORMULA = "i / pixels % channels", "(x[i] - mean[c]) * scale[c]"


def _case(images: int, channels: int, pixels: int, blocks: int, threads: int, seed: int = 0) -> Case:
    x = numbers((images, channels, pixels), seed=seed or pixels)
    mean, scale = numbers(channels, seed=channels), np.abs(numbers(channels, seed=channels + 50))
    wanted = Out(((x - mean[:, None]) * scale[:, None]).ravel())
    name = f"{plural(images, 'image')} of {plural(channels, 'channel')} × {plural(pixels, 'pixel')}"
    name += f", {plural(blocks, 'block')} of {threads}"
    sizes = (np.int32(channels), np.int32(pixels), np.int32(x.size))
    return Case(name, (x.ravel(), mean, scale, wanted, *sizes), (blocks,), (threads,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [(2, 3, 40, 1, 160), (3, 2, 100, 5, 32), (2, 4, 200, 2, 96)]
    found = [
        _case(images, channels, int(pixels + dice.integers(0, 60)), blocks, threads, int(dice.integers(1, 10**6)))
        for images, channels, pixels, blocks, threads in drawn
    ]
    blocks = int(dice.choice([2, 3, 4, 6]))  # and as many threads in all, which share the stores
    counted = _case(2, 3, int(dice.integers(900, 1100)), blocks, 384 // blocks, int(dice.integers(1, 10**6)))
    return [*found, counted]


EXERCISE = Exercise(
    key="lab01.normalise",
    title="normalise the channels of images by any launch, in CUDA C",
    language="cuda",
    name="normalise",
    cases=lambda: [_case(*each) for each in IMAGES],
    measured=lambda: _case(2, 3, 1009, 3, 128),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(
        Budget(
            "bytes loaded per byte needed",
            loaded_for_needed,
            2,
            "In one round of the loop the lanes of a warp should read neighbours, and nobody reads them again. Mean "
            "and scale are a sector each.",
        ),
        IDLE_LANES,
        Budget(
            "stores per element",
            stored_again,
            1.01,
            "Each element has one owner in the whole grid, who writes it once.",
            "global_store_requests",
        ),
        Budget(
            "stores of the first warp",
            of_the_warp("store"),
            20,
            "The elements are for all warps of the grid: a block that works alone leaves most of the GPU idle.",
            "global_store_requests",
            of="warp",
        ),
    ),
    hints=(
        "Where does a thread start, and by how much does it step, so that no two ever meet?",
        "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x). Then: which channel "
        "does element i belong to?",
        "int c = i / pixels % channels; out[i] = (x[i] - mean[c]) * scale[c];",
    ),
    why="The loop steps by the whole grid, so each element has one owner whatever the launch, and the lanes of a warp "
    "stay neighbours in every round. Planes lie one behind the other, image after image: i / pixels is the plane's "
    "number, and its remainder by the channels is the channel. A launch can now be chosen for the GPU: one thread to "
    "hunt a mistake, or as many as fill it.",
    stretch="a division of whole numbers is some twenty instructions. Give each plane to blocks of its own, by "
    "blockIdx.y: how many divisions are left, and what is the price for small planes?",
    mistakes=(
        Mistake("no channel of that number",
            "mean and scale have one number a channel, and some thread asks for another. Element i lies in plane "
            "i / pixels, counted through all images; its channel is the remainder by `channels`.",
            (
                (CHANNEL, "i / pixels"), ((LOOP, ONCE), (CHANNEL, "i / pixels")),
                (CHANNEL, "i / channels % pixels"), (CHANNEL, "i / (pixels % channels)"),
            )),
        Mistake("channels are taken to lie side by side",
            "i % channels is right where the three colours of a pixel are neighbours. Here each channel is a plane of "
            "`pixels` floats.",
            ((CHANNEL, "i % channels"),)),
        Mistake("the channel of something else",
            "Element i has the channel i / pixels % channels, which is worked out anew in each round: a block has "
            "elements of many planes, and so has a thread that comes round again.",
            (
                (CHANNEL, "0"), (CHANNEL, "blockIdx.x % channels"),
                (CHANNEL, "(blockIdx.x * blockDim.x + threadIdx.x) / pixels % channels"),
            )),
        Mistake("another formula",
            "The channels are right, and the formula is not: (x - mean) * scale. The mean is taken off first, in "
            "brackets, and what is left is multiplied by the scale.",
            (
                (FORMULA, "x[i] - mean[c] * scale[c]"), (FORMULA, "(x[i] - scale[c]) * mean[c]"),
                (FORMULA, "x[i] - mean[c]"), ("* scale[", "/ scale["), ("x[i] - mean", "x[i] + mean"),
                (FORMULA, "x[i] * scale[c] - mean[c]"), (FORMULA, "x[i] * scale[c] + mean[c]"),
            )),
        Mistake("fractions are lost",
            "Somewhere a float is kept in a variable of type int, and only its whole part remains.",
            ((FORMULA, f"(int)({FORMULA})"), ("- mean[c]", "- (int)mean[c]"), ("* scale[c]", "* (int)scale[c]"))),
        Mistake("one element a thread",
            "Where a launch has fewer threads than elements, each thread has to come round again: a loop that goes on "
            "until n.",
            ((LOOP, ONCE), ("* scale[c];", "* scale[c]; return;"))),
        Mistake("a loop that leaves elements out",
            "A thread starts at its number in the whole grid, comes round again by as many as the launch has threads, "
            "gridDim.x * blockDim.x, whatever that is, and goes on until n: through all planes of all images.",
            (
                ("i = blockIdx.x * blockDim.x + threadIdx.x", "i = threadIdx.x"), (STEP, "384"),
                (STEP, "blockDim.x * blockDim.x"), ("i < n", "i < pixels"), ("i < n", "i < channels * pixels"),
                ("i < n", "i < n / (gridDim.x * blockDim.x) * (gridDim.x * blockDim.x)"),
            )),
        Mistake("written more than once",
            "The result is right, but some elements are stored more than once. Either the step is not that of the "
            "whole grid, gridDim.x * blockDim.x, and blocks repeat what others did; or a thread stores what "
            "is not yet the result.",
            (
                (STEP, "blockDim.x"), (STEP, "gridDim.x"), ("out[i] =", "out[i] = x[i]; __threadfence(); out[i] ="),
                (f"out[i] = {FORMULA};", "out[i] = x[i] - mean[c]; out[i] *= scale[c];"),
            )),
    ),
)  # fmt: skip

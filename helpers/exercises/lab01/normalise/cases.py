from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural
from helpers.checking.measures import loaded_for_needed, stored_again
from helpers.exercises.lab01.budgets import of_the_warp

# Images, channels, pixels, blocks, threads.
IMAGES = ((1, 1, 1, 1, 32), (1, 3, 31, 1, 1), (2, 3, 97, 3, 96), (3, 4, 101, 2, 64), (2, 5, 128, 40, 128))


def _case(images: int, channels: int, pixels: int, blocks: int, threads: int, seed: int = 0) -> Case:
    x = numbers((images, channels, pixels), seed=seed or pixels)
    mean, scale = numbers(channels, seed=channels), np.abs(numbers(channels, seed=channels + 50))
    wanted = Out(((x - mean[:, None]) * scale[:, None]).ravel())
    name = f"{plural(images, 'image')} of {plural(channels, 'channel')} × {plural(pixels, 'pixel')}"
    name += f", {plural(blocks, 'block')} of {threads}"
    sizes = (np.int32(channels), np.int32(pixels), np.int32(x.size))
    return Case(name, (x.ravel(), mean, scale, wanted, *sizes), (blocks,), (threads,))


def drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [(2, 3, 40, 1, 160), (3, 2, 100, 5, 32), (2, 4, 200, 2, 96)]
    found = [
        _case(images, channels, int(pixels + dice.integers(0, 60)), blocks, threads, int(dice.integers(1, 10**6)))
        for images, channels, pixels, blocks, threads in drawn
    ]
    blocks = int(dice.choice([2, 3, 4, 6]))  # and as many threads in all, which share the stores
    counted = _case(2, 3, int(dice.integers(900, 1100)), blocks, 384 // blocks, int(dice.integers(1, 10**6)))
    return [*found, counted]


def cases() -> list[Case]:
    return [_case(*each) for each in IMAGES]


def measured() -> Case:
    return _case(2, 3, 1009, 3, 128)


MEASURES = {
    "bytes loaded per byte needed": loaded_for_needed,
    "stores per element": stored_again,
    "stores of the first warp": of_the_warp("store"),
}

"""Launches of lab 01, drawn or chosen, and what comes out of each when something is left out."""

from __future__ import annotations

import numpy as np

from helpers.exercises import Case, Out, cover, numbers, plural
from helpers.exercises import mistakes as known
from helpers.vgpu.errors import OutOfBounds

BLOCK = 64
TILE = (32, 8)
THREADS, MOST_BLOCKS = 256, 65_535
SHAPES = ((1, 1), (1, 70), (70, 1), (13, 37), (37, 13), (64, 64))
IMAGES = (  # images, channels, pixels, blocks, threads
    (1, 1, 1, 1, 32),
    (1, 3, 31, 1, 1),
    (2, 3, 97, 3, 96),
    (3, 4, 101, 2, 64),
    (2, 5, 128, 40, 128),
)

# -- cases ------------------------------------------------------------------------------------------------------------


def steps_case(n: int, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    wanted = Out(np.diff(x, prepend=np.float32(0)))
    return Case(plural(n, "element"), (x, wanted, np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def steps_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [*dice.integers(2, 600, 3), dice.integers(2500, 4000)]
    return [steps_case(int(n), int(dice.integers(1, 10**6))) for n in sizes]


def mirror_case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows)
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}"
    longest = max(rows, columns)  # so that both ways of reading cuda.grid(2) reach every element
    return Case(name, (x, Out(np.fliplr(x).copy())), (cover(longest, TILE[0]), cover(longest, TILE[1])), TILE)


def mirrors_drawn(dice: np.random.Generator) -> list[Case]:
    small, large = (int(n) for n in (*dice.integers(2, 31, 1), *dice.integers(33, 90, 1)))
    shapes = [(small, large), (large, small), (1, large), (int(dice.integers(40, 70)), int(dice.integers(160, 250)))]
    return [mirror_case(*shape, int(dice.integers(1, 10**6))) for shape in shapes]


def launch_case(rows: int, columns: int) -> Case:
    name = f"configure({rows:,}, {columns:,})"
    return Case(name, (rows, columns), expected=configured(rows, columns))


def configured(rows: int, columns: int, most: int = MOST_BLOCKS, up=cover) -> tuple:
    width = 32
    while width // 2 >= columns:
        width //= 2
    height = THREADS // width
    return (up(columns, width), min(most, up(rows, height))), (width, height)


def launches_drawn(dice: np.random.Generator) -> list[Case]:
    high, low = dice.integers(600_000, 9_000_000, 2), dice.integers(1, 5000, 6)
    widths = (*dice.integers(1, 32, 4), *dice.integers(33, 4000, 4))
    return [launch_case(int(rows), int(columns)) for rows, columns in zip((*high, *low), widths, strict=True)]


def image_case(images: int, channels: int, pixels: int, blocks: int, threads: int, seed: int = 0) -> Case:
    x = numbers((images, channels, pixels), seed=seed or pixels)
    mean, scale = numbers(channels, seed=channels), np.abs(numbers(channels, seed=channels + 50))
    wanted = Out(((x - mean[:, None]) * scale[:, None]).ravel())
    name = f"{plural(images, 'image')} of {plural(channels, 'channel')} × {plural(pixels, 'pixel')}"
    name += f", {plural(blocks, 'block')} of {threads}"
    sizes = (np.int32(channels), np.int32(pixels), np.int32(x.size))
    return Case(name, (x.ravel(), mean, scale, wanted, *sizes), (blocks,), (threads,))


def images_drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [(2, 3, 40, 1, 160), (3, 2, 100, 5, 32), (2, 4, 200, 2, 96)]
    found = [
        image_case(images, channels, int(pixels + dice.integers(0, 60)), blocks, threads, int(dice.integers(1, 10**6)))
        for images, channels, pixels, blocks, threads in drawn
    ]
    return [*found, image_case(2, 3, int(dice.integers(900, 1100)), 3, 128, int(dice.integers(1, 10**6)))]


# -- what comes out when something is left out ------------------------------------------------------------------------


def channel_of(which):
    """The result when element i of an image batch has the channel `which(i, channels, pixels)`."""

    def wrong(case: Case) -> np.ndarray:
        x, mean, scale, _, channels, pixels, n = case.arguments
        channel = which(np.arange(n), int(channels), int(pixels))
        return (x - mean[channel]) * scale[channel]

    return wrong


def ends_alike(case: Case) -> np.ndarray:
    """The first difference left out: out[0] is 0."""
    wrong = case.out.expected.copy()
    wrong[0] = 0
    return wrong


def first_left_out(evidence) -> bool:
    return known.untouched_somewhere(evidence) and all(
        o.untouched.ravel()[0] and not o.untouched.ravel()[1:].any() for o in evidence.outcomes
    )


def reached_back(evidence) -> bool:
    """Stopped in a case that has no thread too many: it must have been before the beginning."""
    return any(isinstance(o.error, OutOfBounds) and o.case.out.expected.size % BLOCK == 0 for o in evidence.outcomes)


def only_where_threads_suffice(evidence) -> bool:
    return known.untouched_somewhere(evidence) and all(
        o.ok == (o.case.out.expected.size <= o.case.grid[0] * o.case.block[0]) for o in evidence.outcomes
    )


def in_later_images_only(evidence) -> bool:
    """Some thread left its array, and none did where there is one image."""
    images = [
        o.case.arguments[6] // (o.case.arguments[4] * o.case.arguments[5])
        for o in evidence.outcomes
        if isinstance(o.error, OutOfBounds)
    ]
    return bool(images) and min(images) > 1


def nothing_returned(evidence) -> bool:
    return all(o.got is None and o.error is None for o in evidence.outcomes)


def narrow_only(evidence) -> bool:
    """Wrong launches are those for images of which half a block's width holds a row."""
    return all(o.ok or (o.error is None and o.case.arguments[1] <= 16) for o in evidence.outcomes)


def of_block_0(evidence) -> bool:
    """Written is what block 0 looks after in the grid's loop, and that is right."""
    threads = [(o, o.case.block[0], o.case.grid[0]) for o in evidence.outcomes]
    return known.untouched_somewhere(evidence) and all(
        ((np.arange(o.untouched.size) % (size * blocks) >= size) == o.untouched).all() for o, size, blocks in threads
    )


def not_square(evidence) -> bool:
    shapes = [o.case.out.expected.shape for o in evidence.outcomes if not o.ok]
    return known.untouched_somewhere(evidence) and all(rows != columns for rows, columns in shapes)


def beside_the_right_edge(evidence) -> bool:
    """Stopped in an image of whole blocks, where no guard is at fault."""
    shapes = [o.case.out.expected.shape for o in evidence.outcomes if isinstance(o.error, OutOfBounds)]
    return any(rows == columns and columns % TILE[0] == 0 for rows, columns in shapes)

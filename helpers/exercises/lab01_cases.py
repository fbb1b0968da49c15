"""Launches of lab 01, drawn or chosen, and what comes out of each when something is left out."""

from __future__ import annotations

import math
import re

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.vgpu.base.errors import OutOfBounds

BLOCK, WARP = 64, 32
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


def configured(rows: int, columns: int, most: int = MOST_BLOCKS, up=cover, decides: int | None = None) -> tuple:
    """The launch for an image; a block is as narrow as `decides` allows, by default the columns."""
    width = 32
    while width // 2 >= (decides or columns):
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
    blocks = int(dice.choice([2, 3, 4, 6]))  # and as many threads in all, which share the stores
    counted = image_case(2, 3, int(dice.integers(900, 1100)), blocks, 384 // blocks, int(dice.integers(1, 10**6)))
    return [*found, counted]


# -- what comes out when something is left out ------------------------------------------------------------------------


def channel_of(which):
    """The result when element i of an image batch has the channel `which(i, channels, pixels)`."""

    def wrong(case: Case) -> np.ndarray:
        x, mean, scale, _, channels, pixels, n = case.arguments
        channel = which(np.arange(n), int(channels), int(pixels))
        return (x - mean[channel]) * scale[channel]

    return wrong


def second_as_first(case: Case) -> np.ndarray:
    """The second element without the one before it."""
    wrong = case.out.expected.copy()
    wrong[1:2] = case.arguments[0][1:2]
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


def last_left_out(evidence) -> bool:
    return known.untouched_somewhere(evidence) and all(
        o.untouched.ravel()[-1] and not o.untouched.ravel()[:-1].any() for o in evidence.outcomes
    )


def counted_in_blocks(evidence) -> bool:
    """Written are the elements blockIdx * gridDim + threadIdx, and those are right."""

    def reached(o) -> np.ndarray:
        places = np.arange(o.case.grid[0])[:, None] * o.case.grid[0] + np.arange(o.case.block[0])
        return np.isin(np.arange(o.untouched.size), places)

    return known.untouched_somewhere(evidence) and all((reached(o) != o.untouched).all() for o in evidence.outcomes)


def reached_back(evidence) -> bool:
    """Some thread read before the first element."""
    return any(isinstance(o.error, OutOfBounds) and "[-" in str(o.error) for o in evidence.outcomes)


def to_the_next(evidence) -> bool:
    """Each element but the last is the step that belongs to the one behind it."""
    seen = [(o.got, o.case.out.expected) for o in evidence.outcomes if o.got is not None]
    long = [(got, wanted) for got, wanted in seen if wanted.size > 1]
    return bool(long) and all(np.allclose(got[:-1], wanted[1:]) for got, wanted in long)


def first_of_each(evidence) -> bool:
    """Wrong are elements after the first that a block, or a warp, begins with."""
    wrong = [np.flatnonzero(o.wrong) for o in evidence.outcomes if not o.ok and o.wrong is not None]
    return bool(wrong) and all((each % WARP == 0).all() and each[0] > 0 for each in wrong)


def reads_the_output(evidence) -> bool:
    return any(f.kind.startswith("uninit") or f.array == "out" for f in evidence.findings)


def loads_of_it(warp) -> float:
    """Loads of a warp; a warp that has none leaves its share to others."""
    return sum(link.op in ("load", "atomic") and link.space == "global" for link in warp.links) or math.inf


def stores_of_it(warp) -> float:
    """Stores of a warp; a warp that has none leaves its share to others."""
    return sum(link.op in ("store", "atomic") and link.space == "global" for link in warp.links) or math.inf


def only_where_threads_suffice(evidence) -> bool:
    return known.untouched_somewhere(evidence) and all(
        (o.untouched == (np.arange(o.untouched.size) >= o.case.grid[0] * o.case.block[0])).all()
        for o in evidence.outcomes
    )


def _plane(case: Case) -> tuple[int, int, int]:
    """Channels, pixels and elements."""
    return tuple(int(each) for each in case.arguments[4:7])


def in_later_images_only(evidence) -> bool:
    """Some thread left its array, and none did where there is one image; all that was written is right."""
    stopped = [o.case for o in evidence.outcomes if isinstance(o.error, OutOfBounds)]
    others = [o for o in evidence.outcomes if not isinstance(o.error, OutOfBounds)]
    return bool(stopped) and (
        all(n > channels * pixels for channels, pixels, n in map(_plane, stopped))
        and all(o.ok or o.only_untouched for o in others)
    )


def channel_left_its_array(evidence) -> bool:
    errors = [str(o.error) for o in evidence.outcomes if isinstance(o.error, OutOfBounds)]
    return any(f"`{name}[" in each for each in errors for name in ("mean", "scale"))


def channel_of_first(case: Case) -> np.ndarray:
    """The result when a thread keeps the channel of its first element."""
    threads = case.grid[0] * case.block[0]
    return channel_of(lambda i, channels, pixels: i % threads // pixels % channels)(case)


def channel_of_block(case: Case) -> np.ndarray:
    """The result when every element of a block has the channel of the block's number."""
    blocks, threads = case.grid[0], case.block[0]
    return channel_of(lambda i, channels, pixels: i // threads % blocks % channels)(case)


def each_with(case: Case, formula) -> np.ndarray:
    """What `formula(x, mean, scale)` makes of each element and the numbers of its channel."""
    x, mean, scale, _, channels, pixels, n = case.arguments
    channel = np.arange(n) // pixels % channels
    return formula(x, mean[channel], scale[channel])


def mean_unscaled(case: Case) -> np.ndarray:
    return each_with(case, lambda x, mean, scale: x - mean * scale)


def nothing_returned(evidence) -> bool:
    return all(o.got is None and o.error is None for o in evidence.outcomes)


def of_two(value) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def blocks_of(evidence) -> list[tuple[tuple[int, int], Case]]:
    """The blocks that were returned, as far as they are two whole numbers, and the case of each."""
    pairs = [(o.got[1], o.case) for o in evidence.outcomes if of_two(o.got) and of_two(o.got[1])]
    return [(pair, case) for pair, case in pairs if all(type(each) is int for each in pair)]


def other_than_256(evidence) -> bool:
    return any(x * y != THREADS for (x, y), _ in blocks_of(evidence))


def of_another_shape(evidence) -> bool:
    """No launch is two tuples of two."""
    return all(
        o.error is None and not (of_two(o.got) and of_two(o.got[0]) and of_two(o.got[1])) for o in evidence.outcomes
    )


def of_pixels(case: Case) -> tuple:
    """The launch with a block for each pixel."""
    rows, columns = case.arguments
    return (columns, min(MOST_BLOCKS, rows)), case.expected[1]


def x_covers_rows(evidence) -> bool:
    """Rows and columns were taken for each other, in what was given or in what is returned."""

    def returned_as(order):
        return known.gives(lambda case: order(*configured(*case.arguments)))

    return (
        known.gives(lambda case: configured(*case.arguments[::-1]))(evidence)
        or returned_as(lambda grid, block: (grid[::-1], block))(evidence)
        or returned_as(lambda grid, block: (grid, block[::-1]))(evidence)
        or known.gives(lambda case: configured(*case.arguments, decides=case.arguments[0]))(evidence)
        or returned_as(lambda grid, block: (grid[::-1], block[::-1]))(evidence)
    )


def not_rounded_up(evidence) -> bool:
    return any(
        known.gives(lambda case, how=how: configured(*case.arguments, up=how))(evidence)
        for how in (lambda n, each: n // each, lambda n, each: round(n / each), lambda n, each: n / each)
    )


def too_tall(evidence) -> bool:
    """Some grid is taller than allowed, and all is as it should be but for that."""
    return any(
        known.gives(lambda case, most=most: configured(*case.arguments, most=most))(evidence)
        for most in (10**9, MOST_BLOCKS + 1)
    )


def too_narrow(evidence) -> bool:
    """Some block is narrower than it should be, and none is wider."""
    seen = [(x, case.expected[1][0]) for (x, _), case in blocks_of(evidence)]
    return any(x < wanted for x, wanted in seen) and all(x <= wanted for x, wanted in seen)


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
    """Square images are right, and others are not: some thread left its array, or some pixels had no thread."""
    wrong = [o for o in evidence.outcomes if not o.ok]
    left = known.out_of_bounds(evidence) or known.untouched_somewhere(evidence)
    return bool(wrong) and left and all(len(set(o.case.out.expected.shape)) > 1 for o in wrong)


def in_a_square(wrong):
    """In the image of 64 × 64 the result is one of those that `wrong(x)` gives."""
    name = "64 rows × 64 columns"
    return lambda evidence: any(
        known.gives_for(name, lambda case, at=at: wrong(case.arguments[0])[at])(evidence)
        for at in range(len(wrong(np.zeros(TILE, np.float32))))
    )


turned = in_a_square(lambda x: (x.T, np.fliplr(x).T, np.flipud(x).T))
mirrored_in_blocks = in_a_square(lambda x: (np.hstack([np.fliplr(x[:, at : at + 32]) for at in (0, 32)]),))


def of_tile_0(evidence) -> bool:
    """Written is what block (0, 0) looks after, and that is right."""
    return known.untouched_somewhere(evidence) and all(
        o.untouched[TILE[1] :].all() and o.untouched[:, TILE[0] :].all() and not o.untouched[: TILE[1], : TILE[0]].any()
        for o in evidence.outcomes
    )


def beside_the_right_edge(evidence) -> bool:
    """A thread that has a pixel left its array, or all columns are one place off, round the edge."""
    left = [o for o in evidence.outcomes if isinstance(o.error, OutOfBounds)]
    shapes = [o.case.out.expected.shape for o in left]
    return (
        any(rows == columns and columns % TILE[0] == 0 for rows, columns in shapes)
        or any(re.search(r"thread \(0, 0\) of block \(0(, 0)?\) read", str(o.error)) for o in left)
        or any(known.gives(lambda case, by=by: np.roll(case.out.expected, by, 1))(evidence) for by in (1, -1))
    )

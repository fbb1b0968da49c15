"""Pictures of chapter 5: the halo of a stencil, tiles of a transpose and of a product, and where they are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Polygon, Rectangle

from helpers.pictures.figures import PALETTE, Picture, new, styled, subplots
from helpers.pictures.plots.common import check_count, lanes_on_end, one_patch, shade
from helpers.pictures.plots.products import LEVELS, MOST_PRODUCTS, legend_of_levels
from vgpu.base.words import plural
from vgpu.tools.steps.touched import BLOCK, THREAD, WARP, TouchedElements
from vgpu.tools.steps.trace import Access, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TILES = 16


@styled
def halo_strip(found: TouchedElements, radius: int, x: str = "x", out: str = "out") -> Picture:
    """The elements that a block of a stencil loads: those of its own results, and the halo at both ends.

    `found`: what a block touches of `x`, which begins `radius` elements before `out`; thread 0's window is drawn, too.
    ValueError where the block stores nothing.
    """
    loaded, stored = found.levels[x][0] >= BLOCK, found.levels[out][0] >= BLOCK
    if not stored.any():
        raise ValueError(f"the block stores nothing to {out}")
    under = np.zeros(len(loaded), bool)
    under[radius : radius + len(stored)] = stored
    figure, axes = new(place=(0.01, 0.02, 0.98, 0.82))
    figure.set_size_inches(7.0, 2.2)
    axes.set(xlim=(-3, len(loaded)), ylim=(5.6, 0))
    axes.axis("off")
    looks = {"halo": PALETTE["orange"], "own": PALETTE["sky"], "none": "#ffffff"}
    for k in range(len(loaded)):
        kind = "none" if not loaded[k] else "own" if under[k] else "halo"
        axes.add_patch(Rectangle((k, 0.4), 1, 1.2, fc=looks[kind], ec=PALETTE["grey"], lw=0.6))
    for k in range(len(stored)):
        kind = "own" if stored[k] else "none"
        axes.add_patch(Rectangle((k + radius, 3.9), 1, 1.2, fc=looks[kind], ec=PALETTE["grey"], lw=0.6))
    mine = int(np.flatnonzero(found.levels[out][0] == THREAD)[0])
    window = [(mine, 1.6), (mine + 2 * radius + 1, 1.6), (mine + radius + 1, 3.9), (mine + radius, 3.9)]
    axes.add_patch(Polygon(window, fc=PALETTE["vermilion"], alpha=0.25, ec="none"))
    axes.add_patch(Rectangle((mine, 0.4), 2 * radius + 1, 1.2, fill=False, ec=PALETTE["vermilion"], lw=2))
    for row, name in ((1.0, x), (4.5, out)):
        axes.text(-0.5, row, name, ha="right", va="center", fontsize=9)
    left = 0.02
    for colour, words in ((looks["own"], "the block's own elements"), (looks["halo"], "its halo"),
                          (PALETTE["vermilion"], "thread 0's window")):  # fmt: skip
        figure.text(left, 0.9, "■", color=colour, fontsize=11)
        figure.text(left + 0.025, 0.905, words, fontsize=8.5)
        left += 0.05 + 0.0105 * len(words)
    halo = int((loaded & ~under).sum())
    return Picture(
        figure,
        f"A block loads {int(loaded.sum())} elements for {int(stored.sum())} results, so {halo} of them are its halo; "
        f"each thread adds up {2 * radius + 1}.",
    )


@styled
def moves(found: Sequence[TouchedElements], source: str = "x", target: str = "out") -> Picture:
    """What a block, one of its warps and one thread load from a matrix, and where they store it, for each kernel.

    ValueError for no kernel, or more than three.
    """
    check_count(found, MOST_PRODUCTS, "kernels")
    figure, axes = subplots(2, len(found), left=0.01, right=0.99, top=0.9, bottom=0.02, hspace=0.12, wspace=0.05)
    figure.set_size_inches(7.0, 5.0)
    told = []
    for column, each in zip(axes.T, found, strict=True):
        for place, name, what in zip(column, (source, target), ("loads from", "stores to"), strict=True):
            levels = each.levels[name]
            place.imshow(levels, cmap=ListedColormap(LEVELS), vmin=0, vmax=3, interpolation="none")
            mine = np.argwhere(levels == THREAD)
            place.plot(mine[:, 1], mine[:, 0], "s", ms=3.5, mew=0, color=LEVELS[THREAD], clip_on=False)
            place.set(xticks=[], yticks=[])
            place.set_title(f"{each.kernel} {what} {name}", fontsize=8.5)
            place.spines[:].set(visible=True, color="#777777", linewidth=0.7)
        ways = _run(each.levels[source], "loads"), _run(each.levels[target], "stores")
        told.append(f"{each.kernel}: a warp {' and '.join(ways)}")
    legend_of_levels(figure, 0.955, ("a block", "one warp of it", "one thread"))
    return Picture(figure, "; ".join(told) + ".")


def _run(levels: np.ndarray, verb: str) -> str:
    """Along what a warp loads or stores, in words."""
    rows, columns = np.nonzero(levels >= WARP)
    if len(set(rows.tolist())) == 1:
        return f"{verb} along a row"
    return f"{verb} down a column" if len(set(columns.tolist())) == 1 else f"{verb} from {len(set(rows.tolist()))} rows"


def _band(found: TouchedElements, name: str) -> tuple[slice, slice]:
    """Rows and columns of what the block touches of a matrix. ValueError where that is no rectangle."""
    rows, columns = np.nonzero(found.levels[name] >= BLOCK)
    if not len(rows):
        raise ValueError(f"the block touches nothing of {name}")
    box = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    if len(rows) != found.levels[name][box].size:
        raise ValueError(f"what the block touches of {name} is no rectangle, so it is not cut into tiles")
    return box


def _long(part: slice) -> int:
    return int(part.stop - part.start)


@styled
def tile_walk(
    found: TouchedElements, *, step: int = 16, left: str = "a", right: str = "b", result: str = "c"
) -> Picture:
    """The tiles of both factors that a block of a matrix product loads, pair by pair, and what one lane holds.

    found: what `touched` gives for a launch; `step`: how deep a tile is along the common side. Tiles of one number are
    multiplied with each other, and all products are added into the one tile of `result`, which is drawn large: orange
    are the elements that lane 0 stores. ValueError where the block's part is no band of such tiles, or of over 16.
    """
    bands = {name: _band(found, name) for name in (left, right, result)}
    tall, wide = (_long(part) for part in bands[result])
    depth = _long(bands[left][1])
    if _long(bands[right][0]) != depth or depth % step or not 1 <= depth // step <= MOST_TILES:
        raise ValueError(f"bands of {depth} and {_long(bands[right][0])} are not 1 to {MOST_TILES} tiles of {step}")
    tiles = depth // step
    figure, axes = new(place=(0, 0, 1, 1))
    axes.set(xlim=(0, 700), ylim=(350, 0))
    axes.axis("off")
    rows, inner = found.levels[left].shape
    columns = found.levels[right].shape[1]
    scale = min(310 / (inner + columns), 270 / (inner + rows))
    corner = (22 + scale * inner + 14, 34 + scale * inner + 14)
    origins = {left: (22, corner[1]), right: (corner[0], 34), result: corner}
    looks = {left: "sky", right: "orange", result: "green"}
    for name, (x, y) in origins.items():
        high, across = (scale * side for side in found.levels[name].shape)
        axes.add_patch(Rectangle((x, y), across, high, fc="#ffffff", ec=PALETTE["grey"], lw=0.8))
        place = (x + across / 2, y + high - 10) if name != right else (x + across - 12, y + high / 2)
        axes.text(*place, name, ha="center", va="center", fontsize=10, fontweight="bold", fontstyle="italic")
    for number in range(tiles):
        down, along = bands[left][0].start, bands[left][1].start + number * step
        _tile(axes, origins[left], scale, (down, along, tall, step), looks[left], number)
        down, along = bands[right][0].start + number * step, bands[right][1].start
        _tile(axes, origins[right], scale, (down, along, step, wide), looks[right], number)
    down, along = bands[result][0].start, bands[result][1].start
    _tile(axes, origins[result], scale, (down, along, tall, wide), looks[result], None)
    mine = found.levels[result][bands[result]] == THREAD
    held = _enlarged(axes, mine, shade(PALETTE["green"], 0.85))
    who, parts, part = ("block", "threads", "thread 0") if (found.levels[result] == BLOCK).any() else (
        "warp", "lanes", "lane 0")  # fmt: skip
    axes.text(22, 18, f"one {who}: tile 1 of {left} times tile 1 of {right}, tile 2 times tile 2, …", fontsize=9)
    axes.text(410, 18, f"its tile of {result}, {tall} × {wide}", fontsize=9)
    axes.text(410, 338, f"orange: {plural(held, 'sum')} in the registers of {part}", fontsize=9)
    return Picture(
        figure,
        f"One {who} of the kernel {found.kernel} steps through {plural(tiles, 'tile')} of {left} and of {right}. "
        f"The {tall * wide} sums for its tile of {result} are in the registers of its {parts}: {part} holds "
        f"{held} of them.",
    )


def _tile(
    axes: Axes,
    origin: tuple[float, float],
    scale: float,
    box: tuple[int, int, int, int],
    colour: str,
    number: int | None,
) -> None:
    """One tile of a matrix, at (row, column, height, width); the first of a walk is darker."""
    down, along, tall, wide = (scale * side for side in box)
    x, y = origin[0] + along, origin[1] + down
    fill = shade(PALETTE[colour], 0.6 if not number else 0.85)
    axes.add_patch(Rectangle((x, y), wide, tall, fc=fill, ec=PALETTE["ink"], lw=1.4 if not number else 0.6))
    if number is not None:
        axes.text(x + wide / 2, y + tall / 2, str(number + 1), ha="center", va="center_baseline", fontsize=7.5)


def _enlarged(axes: Axes, mine: np.ndarray, fill: tuple[float, float, float]) -> int:
    """The tile of the result, element by element, and how many elements are lane 0's."""
    side = min(275 / mine.shape[1], 290 / mine.shape[0])
    x, y = 410, 30
    axes.add_patch(Rectangle((x, y), side * mine.shape[1], side * mine.shape[0], fc=fill, ec=PALETTE["ink"], lw=1.4))
    for at in range(1, mine.shape[1]):
        axes.plot([x + side * at] * 2, [y, y + side * mine.shape[0]], color="#ffffff", lw=0.7)
    for at in range(1, mine.shape[0]):
        axes.plot([x, x + side * mine.shape[1]], [y + side * at] * 2, color="#ffffff", lw=0.7)
    for row, column in np.argwhere(mine):
        corner = (x + side * column, y + side * row)
        axes.add_patch(Rectangle(corner, side, side, fc=PALETTE["vermilion"], ec="#ffffff", lw=0.7))
    return int(mine.sum())


BANKS, WORD = 32, 4
MOST_TILES_IN_BANKS = 3
_STORED, _EDGE = "#e4e4e4", "#bdbdbd"


@styled
def tile_in_banks(found: Sequence[Trace], warps: Sequence[int]) -> Picture:
    """Where a tile is in shared memory, one row for each 32 words and a column for each bank, in up to three kernels.

    found: what `trace` gives of all warps of a block; warps: whose first load of the tile is coloured, one for each
    kernel. Grey words are those that the block stores; red ones share a bank with another word of the same request.
    ValueError for another number of warps, and for a warp that loads nothing from shared memory.
    """
    check_count(found, MOST_TILES_IN_BANKS, "kernels")
    figure, panels = subplots(1, len(found), left=0.06, right=0.99, top=0.8, bottom=0.02, wspace=0.1)
    figure.set_size_inches(7.0, 7.0 / len(found) + 0.55)
    told = []
    for axes, each, warp in zip(panels[0], found, warps, strict=True):
        stored = {word for access in _shared(each, "store") for word in _words(access)}
        loaded = next((_words(access) for access in _shared(each, "load") if access.warp == warp), None)
        if loaded is None:
            raise ValueError(f"warp {warp} of {each.kernel} loads nothing from shared memory")
        banks = [word % BANKS for word in set(loaded)]
        rows = max(stored) // BANKS + 1
        axes.add_patch(one_patch(_stretches(stored), fc=_STORED, ec="none"))
        axes.vlines(range(BANKS), 0, rows, color="white", lw=0.5)
        axes.hlines(range(rows), 0, BANKS, color="white", lw=0.5)
        for busy, colour in ((False, PALETTE["blue"]), (True, PALETTE["vermilion"])):
            words = [word for word in set(loaded) if (banks.count(word % BANKS) > 1) == busy]
            axes.add_patch(one_patch(map(_cell, words), fc=colour, ec="none"))
        axes.set(xlim=(0, BANKS), ylim=(rows, 0), xticks=[bank + 0.5 for bank in (*range(0, BANKS, 8), BANKS - 1)])
        axes.set_xticklabels(["bank 0", *map(str, (*range(8, BANKS, 8), BANKS - 1))], fontsize=8.5)
        axes.set_yticks([row + 0.5 for row in range(0, rows, 8)], [str(row) for row in range(0, rows, 8)], fontsize=8.5)
        axes.tick_params(length=0, pad=2)
        axes.xaxis.tick_top()
        axes.set_aspect("equal", anchor="N")
        axes.spines[:].set(visible=True, color=_EDGE, linewidth=0.6)
        said = f"warp {warp} loads from {plural(len(set(banks)), 'bank')}"
        axes.set_title(f"{each.kernel}: {said}", fontsize=9.5, pad=6)
        told.append(f"{each.kernel}: the {len(set(loaded))} words that {said.replace('from', 'are in')}")
    panels[0, 0].set_ylabel("rows of 32 words in shared memory", fontsize=8.5)
    left = 0.06
    for colour, label in ((_STORED, "stored by the block"), (PALETTE["blue"], "loaded, alone in its bank"),
                          (PALETTE["vermilion"], "loaded, with others in its bank")):  # fmt: skip
        figure.text(left, 0.955, "■", color=colour, fontsize=11)
        figure.text(left + 0.025, 0.957, label, fontsize=9)
        left += 0.06 + 0.0112 * len(label)
    return Picture(figure, f"{'; '.join(told)}.")


def _shared(found: Trace, op: str) -> list[Access]:
    return [access for access in found.accesses if access.space == "shared" and access.op == op]


def _words(access: Access) -> list[int]:
    """The word of shared memory that each active lane requests first."""
    return [address // WORD for address, on in zip(access.addresses, access.lanes, strict=True) if on]


def _cell(word: int, last: int | None = None) -> tuple[float, float, float, float]:
    """The box of a word, or of the words up to `last` in its row of as many words as there are banks."""
    row, bank = divmod(word, BANKS)
    return bank, row, (word if last is None else last) % BANKS + 1, row + 1


def _stretches(words: set[int]) -> Iterator[tuple[float, float, float, float]]:
    """Boxes of words without a gap: one patch for each word would take too many bytes."""
    for row in range(max(words) // BANKS + 1):
        for first, past in lanes_on_end([BANKS * row + bank in words for bank in range(BANKS)]):
            yield _cell(BANKS * row + first, BANKS * row + past - 1)


@styled
def tile_reuse(
    found: Trace, thread: tuple[int, int], width: int, names: tuple[str, str] = ("a_tile", "b_tile")
) -> Picture:
    """Two tiles of a product in shared memory: what one thread loads into them and reads, and who reads what it loaded.

    found: what `trace` gives of all warps of a block of `width` × `width` threads, whose two tiles of as many floats
    are one after the other; thread: its x and y. ValueError where the thread stores nothing into a tile.
    """
    size = width * width
    own = thread[0] + width * thread[1]
    readers: dict[int, set[int]] = {}
    writers: dict[int, set[int]] = {}
    for op, table in (("load", readers), ("store", writers)):
        for access in _shared(found, op):
            for lane, (address, on) in enumerate(zip(access.addresses, access.lanes, strict=True)):
                for word in range(address // WORD, (address + access.nbytes) // WORD) if on else ():
                    table.setdefault(word, set()).add(BANKS * access.warp + lane)
    mine = sorted(word for word, threads in writers.items() if own in threads)
    if [word // size for word in mine] != [0, 1]:
        raise ValueError(f"thread {thread} of {found.kernel} does not store one element into each of two tiles")
    read = [word for word, threads in readers.items() if own in threads]
    figure, panels = subplots(1, 4, left=0.01, right=0.99, top=0.76, bottom=0.02, wspace=0.08)
    figure.set_size_inches(7.0, 2.35)
    x, y = thread
    shown = [
        (
            f"thread ({x}, {y}) reads {name}",
            [word - at * size for word in read if word // size == at],
            mine[at] - at * size,
        )
        for at, name in enumerate(names)
    ]
    rows = [(word - at * size) // width for at, word in enumerate(mine)]
    columns = [(word - at * size) % width for at, word in enumerate(mine)]
    shown += [
        (f"who reads {name}[{rows[at]}][{columns[at]}]", sorted(readers[mine[at]]), own)
        for at, name in enumerate(names)
    ]
    for number, (axes, (title, marked, dark)) in enumerate(zip(panels[0], shown, strict=True)):
        colour = PALETTE["sky"] if number < 2 else PALETTE["green"]
        axes.add_patch(one_patch((_square(at, width) for at in range(size)), fc=_STORED, ec="none"))
        axes.add_patch(one_patch((_square(at, width) for at in marked), fc=colour, ec="none"))
        axes.add_patch(one_patch([_square(dark, width)], fc=PALETTE["vermilion"], ec="none"))
        axes.set(xlim=(0, width), ylim=(width, 0), xticks=[], yticks=[])
        axes.set_aspect("equal", anchor="N")
        axes.spines[:].set(visible=True, color=_EDGE, linewidth=0.6)
        axes.set_title(title, fontsize=8, fontweight="normal", pad=4)
    left = 0.01
    for colour, words in ((PALETTE["sky"], "elements it reads"),
                          (PALETTE["vermilion"], "the element it loads; the thread itself"),
                          (PALETTE["green"], "threads that read that element")):  # fmt: skip
        figure.text(left, 0.92, "■", color=colour, fontsize=11)
        figure.text(left + 0.022, 0.925, words, fontsize=8.5)
        left += 0.05 + 0.0098 * len(words)
    served = [len(readers[word]) for word in mine]
    return Picture(
        figure,
        f"For each pair of tiles, thread ({x}, {y}) of the kernel {found.kernel} loads {len(mine)} elements and reads "
        f"{len(read)}; {served[0]} threads read the element that it loads into {names[0]}, and {served[1]} the one in "
        f"{names[1]}.",
    )


def _square(at: int, width: int) -> tuple[float, float, float, float]:
    row, column = divmod(at, width)
    return column + 0.08, row + 0.08, column + 0.92, row + 0.92

"""What all pictures share: sizes of the hardware, shades, and numbers with their nouns."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.patches import PathPatch

SECTOR = 32
"""Bytes in a sector, the least that moves between L1, L2 and DRAM on every architecture since Maxwell."""
LINE = 128
"""Bytes in a cache line: four sectors."""
WARP = 32


def shade(colour: str, lightness: float) -> tuple[float, float, float]:
    """A colour of the palette at another lightness, from 0 (black) to 1 (white)."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
    return colorsys.hls_to_rgb(hue, lightness, saturation)


def one_patch(boxes: Iterable[tuple[float, float, float, float]], **look: Any) -> PathPatch:
    """Boxes of one look, each (left, bottom, right, top), as one patch: it takes a fraction of the bytes of many."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners = ([(low, down), (low, up), (high, up), (high, down), (low, down)] for low, down, high, up in boxes)
    return PathPatch(Path.make_compound_path(*(Path(each, closed=True) for each in corners)), **look)


def check_count(given: Sized, most: int, what: str) -> None:
    """ValueError if there is nothing to draw, or more than fits."""
    if not 1 <= len(given) <= most:
        raise ValueError(f"this draws 1 to {most} {what}, not {len(given)}")


def stretches(steps: Sequence, key: Callable) -> list[tuple]:
    """Runs of consecutive steps with the same key, as (first, past the last, the first step)."""
    starts = [at for at, step in enumerate(steps) if at == 0 or key(step) != key(steps[at - 1])]
    return [(first, last, steps[first]) for first, last in zip(starts, [*starts[1:], len(steps)], strict=True)]


def lanes_on_end(mask: Sequence) -> Iterator[tuple[int, int]]:
    """The lanes of a mask that take part, in runs without a gap, as (first, past the last)."""
    edges = np.flatnonzero(np.diff([0, *map(int, mask), 0])).tolist()
    return zip(edges[::2], edges[1::2], strict=True)


def bytes_text(count: float | None, unit: str = "B") -> str:
    """`1,020 B`, `164 KiB`, `27 MiB`; `unit`: how single bytes are written."""
    if count is None:
        return "unknown"
    for prefix, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:,.3g} {prefix}" if count < 1000 * size else f"{count / size:,.0f} {prefix}"
    return f"{count:,.0f} {unit}"


def speed_text(rate: float | None) -> str:
    """Bytes a second as `936 GB/s` or `19.5 TB/s`."""
    if rate is None:
        return "unknown"
    return f"{rate / 1e12:.3g} TB/s" if rate >= 1e12 else f"{rate / 1e9:.3g} GB/s"

"""Images of letters and digits, drawn from fonts and scanned digits: `images(count, seed)` gives pixels and labels.

The shapes come from matplotlib's own fonts, and from the digits that scikit-learn ships, which 13 people wrote by
hand. Each shape is kept as a signed distance: how far a point is from the outline, positive inside. An image is one
such shape: shifted, rotated, scaled, sheared, and drawn with a stroke of some weight. Parts of other symbols show at
the edges, the light falls unevenly, and each pixel gets noise. A single pixel therefore says little about the symbol,
which is what makes the task hard for linear models and for nearest neighbours.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage

EDGE = 28
DIGITS = "0123456789"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SOURCES = ("fonts", "scans", "both")
BATCH = 1024
"""Images drawn at a time, which bounds the memory that drawing takes."""

_FINE = 64
"""Pixels along a side of a kept shape."""
_REACH = 0.72
"""Half the side of a kept shape, in heights of the glyph: there is room for strokes that are drawn heavier."""
_FACES = (
    *(
        f"DejaVu{face}"
        for face in ("Sans", "Sans-Bold", "Sans-Oblique", "Sans-BoldOblique", "SansMono", "SansMono-Bold")
    ),
    *(f"DejaVu{face}" for face in ("SansMono-Oblique", "Serif", "Serif-Bold", "Serif-Italic", "Serif-BoldItalic")),
    *("STIXGeneral", "STIXGeneralBol", "STIXGeneralItalic", "cmr10", "cmss10", "cmtt10", "cmb10"),
)
_APART = 5
"""One shape in so many is held out: it is drawn with `held_out=True` only."""


@dataclass(frozen=True)
class Look:
    """How much images differ. Lengths are in pixels of an image of 28 × 28, and grow with the image.

    shift: the most that a symbol's centre is from the image's. rotation: the most that it is turned, in degrees.
    size: the smallest and the largest height. shear: the most that it leans. clutter: parts of neighbours at the edges.
    light: how much brighter the background may be in one place than in another, where strokes are at most 1.
    noise: standard deviation of what is added to each pixel. negative: whether half of the images are dark on bright.
    """

    shift: float = 3.0
    rotation: float = 20.0
    size: tuple[float, float] = (14.0, 20.0)
    shear: float = 0.2
    clutter: int = 2
    light: float = 0.3
    noise: float = 0.1
    negative: bool = False


PLAIN = Look(shift=0, rotation=0, size=(19, 20), shear=0, clutter=0, light=0, noise=0)
"""No disturbance: the symbol upright, in the middle, bright on dark."""


def images(
    count: int,
    seed: int,
    *,
    edge: int = EDGE,
    symbols: str = DIGITS,
    source: str = "fonts",
    held_out: bool = False,
    look: Look = Look(),
    labels: np.ndarray | None = None,
    **changes: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw `count` images: pixels (count, edge, edge) in float32, about 0 to 1, and labels (count,) in int64.

    The same arguments give the same images. A label is an index into `symbols`; with `labels` you choose them. source:
    "fonts", "scans" (handwritten, digits only) or "both". held_out: draw the fifth of the shapes that is kept for
    testing, so that no test image has a shape that was trained on. look, or single fields of `Look` by name: how much
    the images differ, as in `images(100, 0, noise=0.2)`.

    Raises ValueError for symbols that a source doesn't have, and for labels outside the symbols.
    """
    look = replace(look, **changes) if changes else look
    dice = np.random.default_rng(seed)
    drawn = dice.integers(0, len(symbols), count)
    chosen = drawn if labels is None else np.asarray(labels, np.int64)
    if chosen.shape != (count,) or (count and not 0 <= chosen.min() <= chosen.max() < len(symbols)):
        raise ValueError(f"labels must be {count} whole numbers from 0 to {len(symbols) - 1}, one for each image")
    shapes = _shapes(symbols, source, held_out)
    parts = [_drawn(chosen[at : at + BATCH], dice, edge, look, shapes) for at in range(0, count, BATCH)]
    return np.concatenate(parts or [np.empty((0, edge, edge), np.float32)]), chosen


class _Shapes(NamedTuple):
    """Signed distances (shapes, 64, 64), in heights; and for each symbol its first shape and how many it has."""

    distances: np.ndarray
    first: np.ndarray
    number: np.ndarray


def _drawn(labels: np.ndarray, dice: np.random.Generator, edge: int, look: Look, shapes: _Shapes) -> np.ndarray:
    n, unit = len(labels), edge / EDGE
    centre = dice.uniform(-look.shift, look.shift, (n, 2)) * unit
    pixels = _strokes(labels, centre, dice, edge, look, shapes)
    for _ in range(look.clutter):
        # A neighbour whose centre is outside the image, or nearly so: parts of it are seen at an edge.
        direction = dice.uniform(0, 2 * np.pi, n)
        beside = np.stack([np.sin(direction), np.cos(direction)], -1) * dice.uniform(0.56, 0.72, (n, 1)) * edge
        other = _strokes(dice.integers(0, len(shapes.first), n), beside, dice, edge, look, shapes)
        pixels = np.maximum(pixels, other)
    if look.light:
        pixels = pixels * (1 - look.light) + look.light * _lighting(dice, n, edge)
    if look.negative:
        turned = dice.random(n) < 0.5
        pixels[turned] = 1 - pixels[turned]
    if look.noise:
        pixels = pixels + dice.normal(0, look.noise, pixels.shape)
    return pixels.astype(np.float32)


def _strokes(
    labels: np.ndarray, centre: np.ndarray, dice: np.random.Generator, edge: int, look: Look, shapes: _Shapes
) -> np.ndarray:
    """One symbol in each image (n, edge, edge), 0 to 1, with a stroke and a brightness of its own."""
    n, unit = len(labels), edge / EDGE
    shape = shapes.first[labels] + dice.integers(0, shapes.number[labels])
    angle = np.deg2rad(dice.uniform(-look.rotation, look.rotation, n))
    height = dice.uniform(*look.size, n) * unit
    width = height * dice.uniform(0.85, 1.15, n)
    shear = dice.uniform(-look.shear, look.shear, n)
    weight = dice.uniform(-0.25, 0.35, n) * unit
    bright = dice.uniform(0.65, 1.0, n) if look.noise or look.light else np.ones(n)
    at = np.arange(edge, dtype=np.float32) - (edge - 1) / 2
    y = at[None, :, None] - centre[:, 0, None, None].astype(np.float32)
    x = at[None, None, :] - centre[:, 1, None, None].astype(np.float32)
    cos, sin = (f(angle).astype(np.float32)[:, None, None] for f in (np.cos, np.sin))
    across, down = cos * x + sin * y, cos * y - sin * x
    across = across - shear.astype(np.float32)[:, None, None] * down
    fine = np.float32(_FINE / (2 * _REACH))
    rows = down * (fine / height.astype(np.float32))[:, None, None] + (_FINE - 1) / 2
    columns = across * (fine / width.astype(np.float32))[:, None, None] + (_FINE - 1) / 2
    planes = np.broadcast_to(shape[:, None, None], rows.shape)
    distance = ndimage.map_coordinates(shapes.distances, [planes, rows, columns], order=1, mode="nearest")
    inside = distance * height.astype(np.float32)[:, None, None] + weight.astype(np.float32)[:, None, None]
    return np.clip(inside + 0.5, 0, 1) * bright.astype(np.float32)[:, None, None]


def _lighting(dice: np.random.Generator, n: int, edge: int) -> np.ndarray:
    """Background brightness (n, edge, edge), 0 to 1: a wave longer than the image, in any direction."""
    direction, phase = dice.uniform(0, 2 * np.pi, (2, n, 1, 1))
    turns = 2 * np.pi / (edge * dice.uniform(1.2, 3.0, (n, 1, 1)))
    at = np.arange(edge)
    along = np.cos(direction) * at[None, None, :] + np.sin(direction) * at[None, :, None]
    return 0.5 + 0.5 * np.sin(turns * along + phase)


@functools.cache
def _shapes(symbols: str, source: str, held_out: bool) -> _Shapes:
    if source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, and is {source!r}")
    found = []
    for symbol in symbols:
        here: list[np.ndarray] = []
        if source != "scans":
            here += [_of_font(symbol, face) for at, face in enumerate(_FACES) if (at % _APART == 2) == held_out]
        if source != "fonts":
            scans = _of_scans(symbol)
            here += [shape for at, shape in enumerate(scans) if (at % _APART == 2) == held_out]
        found.append(here)
    number = np.array([len(here) for here in found])
    return _Shapes(np.stack([shape for here in found for shape in here]), np.cumsum(number) - number, number)


def _of_font(symbol: str, face: str) -> np.ndarray:
    from matplotlib import get_data_path
    from matplotlib.ft2font import FT2Font

    font = FT2Font(str(Path(get_data_path(), "fonts", "ttf", f"{face}.ttf")))
    if not font.get_char_index(ord(symbol)):
        raise ValueError(f"the fonts have no symbol {symbol!r}")
    font.set_size(256, 72)
    font.set_text(symbol)
    font.draw_glyphs_to_bitmap(antialiased=True)
    return _distance(np.asarray(font.get_image()) > 127)


@functools.cache
def _of_scans(symbol: str) -> tuple[np.ndarray, ...]:
    from sklearn.datasets import load_digits

    if symbol not in DIGITS:
        raise ValueError(f"the scans have digits only, and no {symbol!r}; take source='fonts'")
    digits = load_digits()
    chosen = digits.images[digits.target == int(symbol)]
    fine = ndimage.zoom(np.pad(chosen, ((0, 0), (1, 1), (1, 1))), (1, 4, 4), order=3)
    return tuple(_distance(image > 6.5) for image in fine)


def _distance(ink: np.ndarray) -> np.ndarray:
    """The signed distance from the outline, in heights of the shape, at 64 × 64 points around its middle."""
    rows, columns = (np.flatnonzero(ink.any(axis)) for axis in (1, 0))
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    height = len(ink)
    margin = int(0.3 * height) + 1
    wide = np.pad(ink, ((margin, margin), (margin + height, margin + height)))
    signed = (ndimage.distance_transform_edt(wide) - ndimage.distance_transform_edt(~wide)) / height
    at = ((np.arange(_FINE) + 0.5) / _FINE * 2 - 1) * _REACH * height
    y, x = np.meshgrid(at + (wide.shape[0] - 1) / 2, at + (wide.shape[1] - 1) / 2, indexing="ij")
    return ndimage.map_coordinates(signed, [y, x], order=1, mode="nearest").astype(np.float32)

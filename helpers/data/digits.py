"""Images of digits, drawn by a rule: `images(count, seed)` gives pixels and labels.

Each image is one of ten glyphs, made of straight strokes whose ends are moved a little. The glyph is then scaled,
sheared, rotated and put anywhere in the image, and drawn with a pen of some width and brightness. Strokes that belong
to no digit and noise are added. The same digit therefore rarely covers the same pixels twice, which is what makes the
task hard for nearest neighbours and for linear models on pixels.
"""

from __future__ import annotations

import numpy as np

EDGE = 14
CLASSES = 10
BATCH = 512
"""Images drawn at a time, which bounds the memory that drawing takes."""

GLYPHS = (
    ((-0.6, -0.5), (-0.3, -1), (0.3, -1), (0.6, -0.5), (0.6, 0.5), (0.3, 1), (-0.3, 1), (-0.6, 0.5), (-0.6, -0.5)),
    ((-0.35, -0.6), (0.05, -1), (0.05, 1)),
    ((-0.6, -0.6), (-0.2, -1), (0.3, -1), (0.6, -0.6), (0.4, -0.1), (-0.6, 1), (0.65, 1)),
    ((-0.55, -1), (0.55, -1), (-0.05, -0.2), (0.5, 0.1), (0.55, 0.6), (0.1, 1), (-0.6, 0.85)),
    ((0.3, 1), (0.3, -1), (-0.65, 0.35), (0.65, 0.35)),
    ((0.55, -1), (-0.5, -1), (-0.55, -0.1), (0.2, -0.15), (0.6, 0.3), (0.4, 0.85), (-0.55, 1)),
    ((0.4, -1), (-0.3, -0.5), (-0.55, 0.3), (-0.3, 0.95), (0.3, 0.95), (0.55, 0.5), (0.25, 0.05), (-0.5, 0.3)),
    ((-0.6, -1), (0.6, -1), (-0.15, 1)),
    ((0, -0.1), (-0.5, -0.5), (0, -1), (0.5, -0.5), (0, -0.1), (-0.55, 0.45), (0, 1), (0.55, 0.45), (0, -0.1)),
    ((0.5, -0.3), (-0.25, -0.05), (-0.55, -0.5), (-0.3, -0.95), (0.3, -0.95), (0.55, -0.4), (0.4, 0.3), (-0.2, 1)),
)
"""The corners of each digit's line, (x, y) with y downwards, within -1 to 1."""
_CORNERS = max(map(len, GLYPHS))
_LINES = np.array([[*glyph, *[glyph[-1]] * (_CORNERS - len(glyph))] for glyph in GLYPHS], np.float32)


def images(
    count: int,
    seed: int,
    *,
    edge: int = EDGE,
    shift: float = 1.5,
    distractors: int = 1,
    light: float = 0.7,
    noise: float = 0.05,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw `count` digits: pixels (count, edge, edge) in float32, about 0 to 1, and labels 0 to 9 in int64.

    The same arguments give the same images. shift: the most that a digit's centre is from the image's, in pixels of an
    image of 14. distractors: short strokes beside the digit. noise: standard deviation of what is added to each pixel.
    """
    dice = np.random.default_rng(seed)
    labels = dice.integers(0, CLASSES, count)
    parts = [
        _drawn(labels[at : at + BATCH], dice, edge, shift, distractors, light, noise) for at in range(0, count, BATCH)
    ]
    return np.concatenate(parts or [np.empty((0, edge, edge), np.float32)]), labels


def _drawn(
    labels: np.ndarray,
    dice: np.random.Generator,
    edge: int,
    shift: float,
    distractors: int,
    light: float,
    noise: float,
) -> np.ndarray:
    n, unit = len(labels), edge / EDGE
    corners = _LINES[labels] + dice.normal(0, 0.06, (n, _CORNERS, 2))
    angle, shear = dice.uniform(-0.3, 0.3, n), dice.uniform(-0.25, 0.25, n)
    width, height = unit * dice.uniform(3.0, 4.6, (2, n))
    across, down = corners[..., 0] * width[:, None], corners[..., 1] * height[:, None]
    across = across + shear[:, None] * down
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    centre = (edge - 1) / 2 + unit * dice.uniform(-shift, shift, (n, 1, 2))
    line = np.stack([cos * across - sin * down, sin * across + cos * down], -1) + centre
    starts, ends = line[:, :-1], line[:, 1:]
    stray = dice.uniform(0, edge - 1, (n, distractors, 2))
    length = unit * dice.uniform(-2.5, 2.5, (n, distractors, 2))
    pen = unit * dice.uniform(0.45, 0.9, (n, 1, 1))
    ink = _ink(starts, ends, pen, edge)
    if distractors:
        ink = np.maximum(ink, dice.uniform(0.3, 0.8, (n, 1, 1)) * _ink(stray, stray + length, pen, edge))
    ink = ink * dice.uniform(0.6, 1.0, (n, 1, 1)) + light * _lighting(dice, n, edge)
    return (ink + dice.normal(0, noise, ink.shape)).astype(np.float32)


def _lighting(dice: np.random.Generator, n: int, edge: int) -> np.ndarray:
    """Background brightness (n, edge, edge), -1 to 1: a wave longer than the image, in any direction."""
    direction, phase = dice.uniform(0, 2 * np.pi, (2, n, 1, 1))
    turns = 2 * np.pi / (edge * dice.uniform(1.2, 3.0, (n, 1, 1)))
    at = np.arange(edge)
    along = np.cos(direction) * at[None, None, :] + np.sin(direction) * at[None, :, None]
    return np.sin(turns * along + phase)


def _ink(starts: np.ndarray, ends: np.ndarray, pen: np.ndarray, edge: int) -> np.ndarray:
    """How dark strokes (n, strokes, 2) make each pixel: 1 within the pen's radius, and 0 a pixel farther out."""
    at = np.arange(edge, dtype=np.float32)
    nearest = np.full((len(starts), edge, edge), np.inf, np.float32)
    for start, end in zip(
        starts.astype(np.float32).swapaxes(0, 1), ends.astype(np.float32).swapaxes(0, 1), strict=True
    ):
        along = end - start
        x, y = at[None, None, :] - start[:, None, None, 0], at[None, :, None] - start[:, None, None, 1]
        dx, dy = along[:, None, None, 0], along[:, None, None, 1]
        part = np.clip((x * dx + y * dy) / np.maximum(dx * dx + dy * dy, 1e-6), 0, 1)
        np.minimum(nearest, (x - part * dx) ** 2 + (y - part * dy) ** 2, out=nearest)
    return np.clip(1 + pen - np.sqrt(nearest), 0, 1)

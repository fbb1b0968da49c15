"""Pictures of chapter 21: generated images, generated points, and transposed convolutions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle

from helpers.pictures.figures import CYCLE, PALETTE, Picture, styled, subplots
from helpers.pictures.plots.common import shade
from helpers.pictures.plots.training import as_images, draw_images
from vgpu.base.words import plural

if TYPE_CHECKING:
    from torch import Tensor

MOST_SPREADS = 3
MOST_ENDS = 24


@styled
def reaches(maps: Mapping[str, object]) -> Picture:
    """Which inputs of a row reach which outputs, for each of some linear layers, and by how many each is reached.

    `maps`: by name, a matrix with a row for each input and a column for each output, which is not 0 where the input
    reaches the output: what the layer makes of a row that holds one 1. ValueError for no layer or more than three, and
    for rows too long to be drawn.
    """
    drawn = {name: np.asarray(each.detach().cpu() if hasattr(each, "detach") else each, float)
             for name, each in maps.items()}  # fmt: skip
    if not 1 <= len(drawn) <= MOST_SPREADS or any(
        each.ndim != 2 or 0 in each.shape or max(each.shape) > MOST_ENDS for each in drawn.values()
    ):
        raise ValueError(
            f"one to {MOST_SPREADS} matrices of (inputs, outputs), with at most {MOST_ENDS} of each, can be drawn; got "
            f"{', '.join(f'{name}: {each.shape}' for name, each in drawn.items()) or 'none'}"
        )
    figure, row = subplots(len(drawn), left=0.01, right=0.99, top=0.92, bottom=0.02, hspace=0.3)
    longest = max(max(each.shape) for each in drawn.values())
    told = []
    for axes, (name, matrix) in zip(row[:, 0], drawn.items(), strict=True):
        outputs = matrix.shape[1]
        reached = (matrix != 0).sum(axis=0)
        out_at = (longest - outputs) / 2
        places = [np.flatnonzero(line).mean() + out_at if line.any() else out_at for line in matrix]
        for number, (line, place) in enumerate(zip(matrix, places, strict=True)):
            colour = CYCLE[number]
            for target in np.flatnonzero(line):
                axes.plot([place + 0.5, out_at + target + 0.5], [1, 2.6], color=colour, lw=1.6)
            axes.add_patch(Rectangle((place + 0.05, 0), 0.9, 1, fc=colour, ec="none"))
        most = max(1, reached.max())
        for output, count in enumerate(reached):
            look = shade(PALETTE["grey"], 1 - 0.45 * count / most)
            axes.add_patch(Rectangle((out_at + output, 2.6), 1, 1, fc=look, ec=PALETTE["ink"], lw=0.8))
            axes.text(out_at + output + 0.5, 3.12, str(count), ha="center", va="center", fontsize=10)
        axes.set(xlim=(-2.6, longest + 0.2), ylim=(3.8, -0.1))
        axes.text(-2.6, 0.5, "inputs", fontsize=9, va="center")
        axes.text(-2.6, 3.1, "reached by", fontsize=9, va="center")
        axes.set_axis_off()
        axes.set_title(name, fontsize=10)
        middle = reached[outputs // 3 : outputs - outputs // 3]
        told.append(f"{name}: outputs in the middle are reached by {' and '.join(map(str, sorted(set(middle))))}")
    return Picture(figure, f"How many inputs reach an output: {'; '.join(told)}.")


MOST_IMAGES = 96
MOST_POINTS = 1000
"""Of all clouds of a picture together."""


def as_points(given: object) -> np.ndarray:
    """Points of the plane as (count, 2). ValueError for what has another shape."""
    points = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given, float)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ValueError(f"points of the plane are (count, 2), not {points.shape}")
    return points


def spread(images: np.ndarray) -> float:
    """How much images differ from one another: the standard deviation of a pixel, as a mean over the pixels."""
    return float(images.std(axis=0).mean())


@styled
def image_rows(rows: Mapping[str, object], *, limits: tuple[float, float] = (-1.0, 1.0)) -> Picture:
    """Rows of grey images under one another, each with its name; `limits`: the values that are black and white.

    `rows`: by name, images of (count, rows, columns) or (count, 1, rows, columns), arrays or tensors.
    """
    if not rows:
        raise ValueError("no rows of images: give at least one by its name")
    drawn = {name: as_images(given) for name, given in rows.items()}
    if sum(map(len, drawn.values())) > MOST_IMAGES:
        raise ValueError(f"at most {MOST_IMAGES} images can be told apart here")
    most = max(map(len, drawn.values()))
    figure, axes = subplots(*((1, len(drawn)) if most == 1 else (len(drawn), 1)), layout="constrained")
    if most > 1:  # no higher than the images are
        tallest = max(images.shape[1] / images.shape[2] for images in drawn.values())
        wide, high = figure.get_size_inches()
        figure.set_size_inches(wide, min(high, len(drawn) * (wide * tallest / most + 0.3)))
    for where, (name, images) in zip(axes.flat, drawn.items(), strict=True):
        draw_images(where, images, min(most, len(images)), limits)
        where.set_title(name, fontsize=9, fontweight="normal")
    told = "; ".join(f"{name}: {plural(len(each), 'image')}, {spread(each):.2f}" for name, each in drawn.items())
    words = f"Standard deviation of a pixel over the images of each row — {told}."
    return Picture(figure, words, of_images=True)


def reached(points: np.ndarray, targets: np.ndarray, reach: float, share: float = 0.01) -> int:
    """How many targets have at least this share of the points within `reach`."""
    near = np.linalg.norm(points[:, None] - targets[None], axis=2) < reach
    return int((near.mean(axis=0) >= share).sum())


@styled
def point_clouds(
    clouds: Mapping[str, object], targets: np.ndarray | Tensor, *, reach: float, extent: float = 1.05
) -> Picture:
    """2D points around their targets, one panel per set, and how many targets each set has reached.

    `targets`: (count, 2); one counts as reached where 1 % of the points are within `reach` of it. The axes go from
    -`extent` to `extent`; of many points the first ones are drawn.
    """
    targets = as_points(targets)
    if not clouds:
        raise ValueError("no clouds of points: give at least one by its name")
    drawn = {name: as_points(given) for name, given in clouds.items()}
    rows = (len(drawn) + 4) // 5
    columns = (len(drawn) + rows - 1) // rows
    figure, axes = subplots(rows, columns, layout="constrained")
    told = []
    each = MOST_POINTS // len(drawn)
    for where in axes.flat[len(drawn) :]:
        where.set_axis_off()
    for where, (name, points) in zip(axes.flat, drawn.items(), strict=False):
        where.plot(*targets.T, ls="", marker="o", ms=9, mfc="none", color=PALETTE["orange"])
        where.plot(*points[:each].T, ls="", marker=".", ms=2, color=PALETTE["blue"])
        where.set(xlim=(-extent, extent), ylim=(-extent, extent), aspect="equal", xticks=[], yticks=[])
        where.set_title(name, fontsize=9, fontweight="normal")
        where.spines[["top", "right"]].set_visible(True)
        told.append(f"{name}: {reached(points, targets, reach)}")
    return Picture(figure, f"Of {plural(len(targets), 'mode')} reached — {'; '.join(told)} (1 % of the points within "
                   f"{reach:g}).")  # fmt: skip

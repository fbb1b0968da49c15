"""Training: curves over its steps, and what a generator makes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from helpers.pictures.figures import CYCLE, DASHES, PALETTE, Picture, styled, subplots
from vgpu.base.words import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle
    from torch import Tensor

MOST_POINTS = 80
"""Points of a curve; where more was noted, a point is the mean of a block of steps."""
MOST_PANELS = 3


@dataclass(frozen=True)
class Curve:
    """A quantity over training: `values` noted at `steps`, counted from 1."""

    steps: list[int]
    values: list[float]

    def blocks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Per block of steps: where it ends, and the mean, least and largest of its values."""
        steps, values = np.asarray(self.steps, float), np.asarray(self.values, float)
        cuts = np.array_split(np.arange(len(values)), min(MOST_POINTS, len(values)))
        shape = lambda reduce: np.array([reduce(values[cut]) for cut in cuts])
        return np.array([steps[cut[-1]] for cut in cuts]), shape(np.mean), shape(np.min), shape(np.max)


def panel_of(name: str) -> str:
    """The panel a curve belongs to: `critic_loss` and `generator_loss` share that of `loss`."""
    return name.rpartition("_")[2]


def _told(name: str, curve: Curve) -> str:
    """What became of one quantity, for the finding."""
    _, means, _, _ = curve.blocks()
    words = name.replace("_", " ")
    broken = next((step for step, value in zip(curve.steps, curve.values, strict=True) if not math.isfinite(value)), 0)
    if broken:
        return f"{words} is {curve.values[curve.steps.index(broken)]} from step {broken:,}"
    if len(means) == 1:
        return f"{words} {means[0]:.3g}"
    return f"{words} from {means[0]:.3g} to {means[-1]:.3g}"


@styled
def training_curves(runs: Mapping[str, Mapping[str, Curve]], *names: str) -> Picture:
    """Curves over training steps: of one run, or of several that are compared.

    `runs`: by what each is called, a `training` run or any mapping from names to `Curve`s. `names`: which quantities,
    all by default; those that end in the same word after an underscore share a panel, and there may be three panels. A
    line is the mean of some steps where there were many, the band around it goes from their least to their largest
    value. A run that was stopped before it noted one of them is left out there. Raises ValueError where no run has
    noted a name, and where there are more than three panels.
    """
    chosen = names or tuple(dict.fromkeys(name for run in runs.values() for name in run))
    for name in names:
        if not any(name in run for run in runs.values()):
            noted = "; ".join(f"{title} has noted: {', '.join(run) or 'nothing'}" for title, run in runs.items())
            raise ValueError(f"nobody has noted {name!r}; {noted}")
    panels: dict[str, list[str]] = {}
    for name in chosen:
        panels.setdefault(panel_of(name), []).append(name)
    if not panels or len(panels) > MOST_PANELS:
        raise ValueError(
            f"{plural(len(panels), 'panel')} of curves: name the quantities of at most {MOST_PANELS}, "
            f"as in training_curves(runs, {', '.join(map(repr, chosen[:2])) or '...'})"
        )
    figure, axes = subplots(1, len(panels), left=0.075, right=0.985, top=0.91, bottom=0.14, wspace=0.24)
    last = max(run[name].steps[-1] for run in runs.values() for name in chosen if name in run)
    told = []
    for where, (panel, members) in zip(axes[0], panels.items(), strict=True):
        drawn = [(title, name, run[name]) for name in members for title, run in runs.items() if name in run]
        for number, (title, name, curve) in enumerate(drawn):
            ends, means, least, most = curve.blocks()
            label = " ".join(
                ([title] if len(runs) > 1 else []) + ([name.replace("_", " ")] if len(members) > 1 else [])
            )
            colour, dash = CYCLE[number], DASHES[number]
            marker = "o" if len(ends) <= 20 else None
            where.plot(ends, means, color=colour, ls=dash, marker=marker, ms=4, lw=1.8, label=label or None)
            if len(curve.values) > len(ends):
                where.fill_between(ends, least, most, color=colour, alpha=0.15, lw=0)
            told.append((f"{title}: " if len(runs) > 1 else "") + _told(name, curve))
        where.set_title(panel if len(members) > 1 else members[0].replace("_", " "))
        where.set_xlabel("step")
        where.set_xlim(0, 1.02 * max(1, last))  # the same steps in all panels
        if len(drawn) > 1:
            where.legend(fontsize=9)
        if all(float(value).is_integer() for _, _, curve in drawn for value in curve.values):
            where.yaxis.get_major_locator().set_params(integer=True)
    steps = plural(max(int(curve.steps[-1]) for run in runs.values() for curve in run.values()), "step")
    head = "" if len(runs) > 1 else f"{next(iter(runs))}, "
    return Picture(figure, f"{head}{steps} of training: {'; '.join(told)} (measured).")


MAGNIFIED = 6
"""Pixels that a pixel becomes, so that no viewer smooths it."""


def as_images(given: object) -> np.ndarray:
    """Images of one grey channel as (count, rows, columns). ValueError for what has another shape."""
    images = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given, float)
    if images.ndim == 4 and images.shape[1] == 1:
        images = images[:, 0]
    if images.ndim != 3 or 0 in images.shape:
        raise ValueError(f"images are (count, rows, columns) or (count, 1, rows, columns), not {images.shape}")
    return images


def tiled(images: np.ndarray, columns: int) -> np.ndarray:
    """Images side by side in rows of so many, a pixel apart, each pixel magnified."""
    count, height, width = images.shape
    rows = (count + columns - 1) // columns
    page = np.full((rows * (height + 1) - 1, columns * (width + 1) - 1), np.nan)
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        top, left = row * (height + 1), column * (width + 1)
        page[top : top + height, left : left + width] = image
    return np.kron(page, np.ones((MAGNIFIED, MAGNIFIED)))


def draw_images(axes: Axes, images: np.ndarray, columns: int, limits: tuple[float, float]) -> None:
    axes.imshow(tiled(images, columns), cmap="gray", vmin=limits[0], vmax=limits[1], interpolation="nearest")
    axes.set_axis_off()


@styled
def walk_frame(
    images: np.ndarray | Tensor, at: int, *, limits: tuple[float, float] = (-1.0, 1.0), verdict: str = "",
    verdicts: Sequence[str] = (),
) -> Picture:  # fmt: skip
    """Images along a line between two latents: one of them large, and all of them small.

    `images`: those of all steps, in order; `verdict`: what somebody says of the present one. `verdicts`: a short word
    for each step, which is written into its small image, and said where it changes.
    """
    images = as_images(images)
    figure, ((large, small),) = subplots(
        1, 2, width_ratios=(1, 2.2), left=0.02, right=0.98, top=0.9, bottom=0.04, wspace=0.06
    )
    draw_images(large, images[at : at + 1], 1, limits)
    large.set_title(f"step {at} of {len(images) - 1}", fontsize=10)
    columns = min(len(images), 7)
    draw_images(small, images, columns, limits)
    row, column = divmod(at, columns)
    height, width = ((size + 1) * MAGNIFIED for size in images.shape[1:])
    corner = (column * width - 1, row * height - 1)
    small.add_patch(_frame(corner, width - MAGNIFIED + 1, height - MAGNIFIED + 1))
    for number, word in enumerate(verdicts):
        y, x = divmod(number, columns)
        small.text(x * width + 1, y * height + 1, word, fontsize=9, fontweight="bold", color=PALETTE["yellow"],
                   ha="left", va="top")  # fmt: skip
    small.set_title("the whole walk", fontsize=10)
    step = np.abs(np.diff(images, axis=0)).mean(axis=(1, 2)) if len(images) > 1 else np.zeros(1)
    here = f"step {at} of {len(images) - 1}" + (f": {verdict}" if verdict else "")
    whole = float(np.abs(images[-1] - images[0]).mean())
    runs = [(word, len(list(same))) for word, same in groupby(verdicts)]
    here += "; all along it: " + ", ".join(f"{word} ({plural(many, 'step')})" for word, many in runs) if runs else ""
    return Picture(figure, f"The walk's {here}. From one step to the next a pixel changes by {step.max():.2f} at most, "
                   f"as a mean; from end to end by {whole:.2f}.", of_images=True)  # fmt: skip


def _frame(corner: tuple[float, float], width: float, height: float) -> Rectangle:
    from matplotlib.patches import Rectangle  # here, as `training` needs this module in runs that draw nothing

    return Rectangle(corner, width, height, fill=False, ec=PALETTE["orange"], lw=2.5, clip_on=False)


def _quiet_corner(curves: Sequence[Sequence[float]]) -> str:
    """The corner with the fewest points of the curves: the same at every moment, so that a legend there stays."""
    values = np.array(curves, float)
    across = np.linspace(0, 1, values.shape[1])
    up = (values - values.min()) / max(float(np.ptp(values)), 1e-12)
    corners = {
        f"{side} {end}": (abs(up - height) < 0.4) & (abs(across - place) < 0.6)
        for side, height in (("upper", 1), ("lower", 0))
        for end, place in (("right", 1), ("left", 0))
    }
    return min(corners, key=lambda corner: int(corners[corner].sum()))


@styled
def training_moment(
    samples: np.ndarray | Tensor, at: int, steps: Sequence[int], curves: Mapping[str, Sequence[float]],
    score: Sequence[float], *, limits: tuple[float, float] = (-1.0, 1.0), score_name: str = "score",
) -> Picture:  # fmt: skip
    """One moment of an adversarial training: its samples, the losses up to the end, and the score beside them.

    `samples`: the images at this moment. `steps`: when moments were kept; `at`: which of them this is. `curves`: by
    name, a loss at each of these steps; `score`: what the samples were worth at each.
    """
    images = as_images(samples)
    figure, ((shown, losses, scores),) = subplots(
        1, 3, width_ratios=(1.5, 1, 1), left=0.01, right=0.99, top=0.9, bottom=0.15, wspace=0.25
    )
    columns = int(np.ceil(len(images) ** 0.5))
    draw_images(shown, images, columns, limits)
    shown.set_title(f"samples, step {steps[at]:,}", fontsize=10)
    for number, (name, values) in enumerate(curves.items()):
        losses.plot(steps, values, color=CYCLE[number], ls=DASHES[number], label=name, lw=1.8)
        losses.plot([steps[at]], [values[at]], color=CYCLE[number], marker="o")
    losses.set_title("losses", fontsize=10)
    if curves:
        losses.legend(fontsize=8, loc=_quiet_corner(list(curves.values())))
    scores.plot(steps, score, color=PALETTE["green"], lw=1.8)
    scores.plot([steps[at]], [score[at]], color=PALETTE["green"], marker="o")
    scores.set_title(score_name, fontsize=10)
    for where in (losses, scores):
        where.axvline(steps[at], color=PALETTE["grey"], lw=0.8, ls=":")
        where.set_xlabel("step")
        where.set_ylim(bottom=0)
    told = ", ".join(f"{name} {values[at]:.2f}" for name, values in curves.items())
    return Picture(figure, f"Step {steps[at]:,}: losses {told}; {score_name} {score[at]:.2f}, which ends at "
                   f"{score[-1]:.2f}.", of_images=True)  # fmt: skip

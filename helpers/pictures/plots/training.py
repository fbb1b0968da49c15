"""What was noted while a network was trained, as curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from helpers.pictures.figures import CYCLE, DASHES, Picture, new, styled
from vgpu.base.words import plural

MOST_POINTS = 80
"""Points of a curve; where more was noted, a point is the mean of a block of steps."""
MOST_PANELS = 3


@dataclass(frozen=True)
class Curve:
    """A quantity over training: `values` noted at `steps`, counted from 1."""

    steps: Sequence[int]
    values: Sequence[float]

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
    figure, axes = new("wide", layout=None, ncols=len(panels), squeeze=False)  # drawn again and again as it grows
    figure.subplots_adjust(left=0.075, right=0.985, top=0.91, bottom=0.14, wspace=0.24)
    last = max(run[name].steps[-1] for run in runs.values() for name in chosen if name in run)
    told = []
    for where, (panel, members) in zip(axes[0], panels.items(), strict=True):
        drawn = [(title, name, run[name]) for name in members for title, run in runs.items() if name in run]
        for number, (title, name, curve) in enumerate(drawn):
            ends, means, least, most = curve.blocks()
            label = " ".join(
                ([title] if len(runs) > 1 else []) + ([name.replace("_", " ")] if len(members) > 1 else [])
            )
            colour, dash = CYCLE[number % len(CYCLE)], DASHES[number % len(DASHES)]
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

"""Ways to make one time of several runs, compared by what they say of the same runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled

OFF = 0.1
"""From which share of the true value on an estimate counts as wrong."""


@styled
def estimates(by_way: Mapping[str, Sequence[float]], true: float, *, unit: str = "ms") -> Picture:
    """Every estimate as a dot, a row for each way of making it, the true value as a line.

    `by_way`: the estimates that each way made, all above 0, in `unit`; `true`: what they should be. The axis is
    logarithmic. Dots are spread within their row, so that many alike can be told from few.
    """
    if not by_way or not all(len(found) and min(found) > 0 for found in by_way.values()) or not true > 0:
        raise ValueError("give the estimates of one way or more, each above 0, and the true value")
    figure, axes = new("wide", layout=None)
    figure.subplots_adjust(left=0.16, right=0.97, top=0.9, bottom=0.16)
    spread = np.random.default_rng(0)
    labels, said = [], []
    for row, (name, found) in enumerate(by_way.items()):
        found = np.asarray(found, float)
        high = row + spread.uniform(-0.3, 0.3, len(found))
        axes.plot(found, high, "o", ms=3, mew=0, alpha=0.55, color=CYCLE[row % len(CYCLE)])
        wrong = float((abs(found / true - 1) > OFF).mean())
        labels.append(f"{name}\n{wrong:.1%} wrong")
        said.append(f"{name}: {wrong:.1%} of them, the worst {found[abs(found - true).argmax()]:.2f} {unit}")
    axes.axvline(true, color=PALETTE["ink"], ls="--", lw=1)
    axes.set(xscale="log", ylim=(len(by_way) - 0.5, -0.5), yticks=range(len(by_way)), xlabel=f"estimate, {unit}")
    axes.set_yticklabels(labels)
    low, top = axes.get_xlim()
    ticks = [value for value in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low <= value * true <= top]
    axes.set_xticks([value * true for value in ticks], [f"{value * true:g}" for value in ticks])
    axes.minorticks_off()
    title = f"each dot: an estimate · dashed: the true {true:g} {unit} · wrong: more than {OFF:.0%} off"
    axes.set_title(title, fontsize=9, fontweight="normal")
    return Picture(figure, f"More than {OFF:.0%} off the true {true:g} {unit} — {'; '.join(said)}.")

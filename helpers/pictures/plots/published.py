"""Published times beside modelled ones, so that nobody ranks kernels by a model that is off."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.products import MODEL_ERROR


@styled
def published_times(rows: Sequence, *, unit: str = "ms", on: str = "") -> Picture:
    """Two bars for each kernel: what its author measured, and what the time model says, with its error as a whisker.

    rows: each has `kernel`, `published` and `modelled` times in `unit`, and the modelled `bound`, as
    `published_ladder` gives them; on: the GPU, in words. Raises ValueError for no rows.
    """
    if not rows:
        raise ValueError("there is nothing to compare: `rows` is empty")
    figure, axes = new("wide", layout=None)
    axes.set_position([0.27, 0.14, 0.70, 0.74])
    most = max(max(row.published, MODEL_ERROR * row.modelled) for row in rows)
    gap = most / 60
    for at, row in enumerate(rows):
        axes.barh(at - 0.19, row.published, height=0.36, color=PALETTE["orange"], hatch="////", ec="white", lw=0)
        axes.barh(at + 0.19, row.modelled, height=0.36, color=PALETTE["blue"])
        low, high = row.modelled / MODEL_ERROR, row.modelled * MODEL_ERROR
        axes.plot([low, high], [at + 0.19] * 2, color="#222222", lw=0.9, marker="|", ms=4)
        axes.text(row.published + gap, at - 0.19, f"{row.published:.3g} published", va="center", fontsize=8)
        axes.text(high + gap, at + 0.19, f"{row.modelled:.3g}, {row.bound}", va="center", fontsize=8)
    axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(0, 1.25 * most), yticks=range(len(rows)))
    axes.set_yticklabels([row.kernel for row in rows], fontsize=9)
    axes.tick_params(axis="x", labelsize=9)
    axes.set_xlabel(f"{unit} on {on}" if on else unit, fontsize=9)
    head = f"hatched: published · blue: modelled, with its bound; thin line: a factor of {MODEL_ERROR:g} either way"
    figure.text(0.01, 0.94, head, fontsize=8)
    return Picture(figure, _said(rows, unit, on))


def _said(rows: Sequence, unit: str, on: str) -> str:
    where = f" on {on}" if on else ""
    each = "; ".join(f"{row.kernel} {row.published:.3g} ({row.modelled:.3g})" for row in rows)
    far = [row.kernel for row in rows if not 1 / MODEL_ERROR <= row.modelled / row.published <= MODEL_ERROR]
    off = f"off by more than {MODEL_ERROR:g} times at {', '.join(far)}" if far else "within its error everywhere"
    return f"Published {unit}{where}, modelled in brackets — {each}. The model is {off}."

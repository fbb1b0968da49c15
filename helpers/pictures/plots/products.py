"""Matrix products: who touches or holds which elements, and how near kernels come to a library's rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import ListedColormap

from helpers.pictures.figures import PALETTE, Picture, blank, new, styled
from helpers.pictures.plots.common import WARP as LANES_OF_A_WARP
from helpers.pictures.plots.common import check_count
from vgpu.base.words import plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODEL_ERROR = 1.5
"""Of two modelled times within this factor the order is not to be believed: TIME_MODEL.md."""
LEVELS = ("#f1f1f1", "#bcd9ee", "#3f8fc9", "#d55e00")
MOST_PRODUCTS = 3
BANDS = ListedColormap(("#ffffff", "#dbe9f4", PALETTE["orange"]))
"""White, pale and orange: cells in bands, and those that are meant."""


def legend_of_levels(figure: Figure, y: float, names: Sequence[str]) -> None:
    x = 0.015
    for colour, words in zip(LEVELS[1:], names, strict=True):
        figure.text(x, y, "■", color=colour, fontsize=11)
        figure.text(x + 0.025, y + 0.002, words, fontsize=8.5)
        x += 0.05 + 0.0098 * len(words)


@dataclass(frozen=True)
class Share:
    """One kernel on one GPU: its modelled share of a library's rate and what bounds it, or in `why` why it has none.

    `published`: the share of the library that somebody measured for a kernel of this kind, where somebody did.
    """

    name: str
    modelled: float | None
    bound: str = ""
    published: float | None = None
    why: str = ""


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


@styled
def share_staircase(
    rows: Sequence[Share], gpu: str, library: Mapping[str, str], *, side: int, published: str = ""
) -> Picture:
    """Each kernel's share of the library's rate: modelled, with the model's error as a whisker, and published beside.

    `library`: in words, for each kind of units, what 100 % is; `published`: what the other bars are of.
    """
    figure, axes = new(place=(0.16, 0.13, 0.80, 0.76))
    both = any(row.published is not None for row in rows)
    tall = 0.36 if both else 0.6
    clear = {"fc": "#ffffff", "ec": "none", "pad": 0.4}  # words stay legible where the line at 100 % crosses them
    farthest = max((MODEL_ERROR * row.modelled for row in rows if row.modelled is not None), default=1)
    for at, row in enumerate(rows):
        top = at - tall / 2 if both else at
        if row.modelled is None:
            axes.text(0.01, top, row.why, va="center", fontsize=7, color="#666666")
        else:
            value = row.modelled
            axes.barh(top, value, height=tall, color=PALETTE["blue"])
            low, high = value / MODEL_ERROR, value * MODEL_ERROR
            axes.plot([low, high], [top, top], color="#222222", lw=0.9, marker="|", ms=4)
            words = f"{_per_cent(value)}, {row.bound}"
            axes.text(high + 0.012, top, words, va="center", fontsize=7, color="#222222", bbox=clear)
        if row.published is not None:
            axes.barh(
                at + tall / 2, row.published, height=tall, color=PALETTE["orange"], hatch="////", ec="white", lw=0
            )
            axes.text(
                row.published + 0.012, at + tall / 2, f"{_per_cent(row.published)} published", va="center", fontsize=7,
                bbox=clear,
            )  # fmt: skip
    axes.axvline(1, color=PALETTE["ink"], ls="--", lw=1, zorder=0)
    axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(0, max(1.3, 1.3 * farthest)), yticks=range(len(rows)))
    axes.set_yticklabels([row.name for row in rows], fontsize=8)
    axes.set_xticks([0, 0.5, 1.0, 1.5], ["0", "50 %", "100 %", "150 %"], fontsize=8)
    axes.set_xlabel(f"share of the library's rate, {side:,} × {side:,}", fontsize=8)
    head = f"blue: modelled on {gpu}, thin line: the model's error"
    figure.text(0.01, 0.94, head + (f" · hatched: published, {published}" if both else ""), fontsize=8)
    return Picture(figure, _shares_said(rows, gpu, library, side, published))


def _shares_said(rows: Sequence[Share], gpu: str, library: Mapping[str, str], side: int, published: str) -> str:
    modelled = [(row.modelled, row.name) for row in rows if row.modelled is not None]
    said = f"{gpu}, {side:,} × {side:,}: "
    if modelled:
        (low, lowest), (high, highest) = (pick(modelled, key=itemgetter(0)) for pick in (min, max))
        said += f"modelled from {_per_cent(low)} ({lowest}) to {_per_cent(high)} ({highest})"
        said += f"; 100 % is {' and '.join(library.values())}"
    missing = [row.name for row in rows if row.modelled is None]
    if missing:
        said += f"; {plural(len(missing), 'version')} not for this GPU: {', '.join(missing)}"
    measured = [row.published for row in rows if row.published is not None]
    if measured:
        said += f". Published ({published}): from {_per_cent(min(measured))} to {_per_cent(max(measured))}"
    return said + "."


@styled
def lane_map(
    fragments: Mapping[str, np.ndarray], *, lane: int = 0, slots: Mapping[str, np.ndarray] | None = None
) -> Picture:
    """Which lane holds each element of the fragments of one product; the elements of `lane` are orange.

    fragments: by name, an array of lane numbers of the fragment's shape; `slots`, by the same names: which of its
    lane's elements each one is, in the order of the registers, shown for those of `lane`. ValueError for none, or more
    than three fragments, and where lanes hold different numbers of elements.
    """
    check_count(fragments, MOST_PRODUCTS, "fragments")
    if any(len(set(np.bincount(lanes.ravel(), minlength=LANES_OF_A_WARP))) > 1 for lanes in fragments.values()):
        raise ValueError("each of the 32 lanes holds as many elements of a fragment as any other")
    figure = blank()
    side = min(0.95 / (sum(each.shape[1] for each in fragments.values()) + 2 * len(fragments)), 0.8 / 32)
    left = 0.03
    for name, lanes in fragments.items():
        rows, columns = lanes.shape
        axes = figure.add_axes((left, 0.9 - 2 * side * rows, side * columns, 2 * side * rows))
        axes.imshow(np.where(lanes == lane, 2, lanes // 4 % 2), cmap=BANDS, vmin=0, vmax=2, aspect="auto")
        for (row, column), each in np.ndenumerate(lanes):
            if slots and each == lane:
                text = axes.text(column, row, str(slots[name][row, column]), fontsize=9, fontweight="bold")
            else:
                text = axes.text(column, row, str(each), fontsize=6)
            text.set(ha="center", va="center")
        axes.set(xticks=[], yticks=[])
        figure.text(left, 0.93, f"{name}, {rows} × {columns}", fontsize=9)
        left += side * (columns + 2)
    held = ", ".join(f"{np.count_nonzero(lanes == lane)} of {name}" for name, lanes in fragments.items())
    said = f"Lane {lane} holds {held}. Every lane holds as many."
    legend = f"numbers: the lane; orange: what lane {lane} holds"
    if slots:
        legend += ", in the order of its registers"
        orders = {np.where(lanes == lane, slots[name], -1).tobytes() for name, lanes in fragments.items()}
        said += f" Lane {lane}'s elements {'have the same places and order' if len(orders) == 1 else 'differ'}."
    figure.text(0.03, 0.02, legend, fontsize=8.5)
    return Picture(figure, said)

"""Matrix products: who touches which elements, and how near kernels come to a library's rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from helpers.pictures.figures import PALETTE, Picture, new, styled
from vgpu.base.words import plural
from vgpu.tools.steps.touched import BLOCK, THREAD, WARP, TouchedElements

MODEL_ERROR = 1.5
"""Of two modelled times within this factor the order is not to be believed: TIME_MODEL.md."""
_LEVELS = ("#f1f1f1", "#bcd9ee", "#3f8fc9", "#d55e00")
MOST_PRODUCTS = 3


def _said(found: TouchedElements, left: str, right: str, result: str) -> str:
    each = [found.count(result, level) for level in (BLOCK, WARP, THREAD)]
    loaded = [f"{found.count(name, THREAD):,} of {name}" for name in (left, right)]
    return (
        f"{found.kernel}: {each[0]:,} results a block, {each[1]:,} a warp, {each[2]:,} a thread, "
        f"which loads {' and '.join(loaded)}"
    )


@styled
def product_tiles(found: Sequence[TouchedElements], left: str = "a", right: str = "b", result: str = "c") -> Picture:
    """The elements of `left`, `right` and `result` that a block, one warp of it and one thread touch, for each kernel.

    What a thread loads of the factors it loads for its block, where tiles go through shared memory; what it stores
    is its own. ValueError for no kernel, or more than three.
    """
    from matplotlib.colors import ListedColormap

    if not 1 <= len(found) <= MOST_PRODUCTS:
        raise ValueError(f"one to {MOST_PRODUCTS} kernels stand beside one another; got {len(found)}")
    figure, _ = new("wide", layout=None)
    figure.clear()
    colours = ListedColormap(_LEVELS)
    width = 1 / max(2, len(found))
    for at, each in enumerate(found):
        factors = {name: each.levels[name] for name in (left, right, result)}
        rows, depth = factors[left].shape
        columns = factors[right].shape[1]
        gap = max(2, columns // 20)
        whole = (depth + gap + columns, depth + gap + rows)
        scale = min((width - 0.03) * 7.0 / whole[0], 0.82 * 3.5 / whole[1])
        bottom = 0.09 + (0.82 - whole[1] * scale / 3.5) / 2
        boxes = {
            left: (0, 0, depth, rows),
            right: (depth + gap, rows + gap, columns, depth),
            result: (depth + gap, 0, columns, rows),
        }
        for name, (x, y, wide, tall) in boxes.items():
            axes = figure.add_axes(
                [at * width + 0.015 + x * scale / 7.0, bottom + y * scale / 3.5, wide * scale / 7.0, tall * scale / 3.5]
            )
            axes.imshow(factors[name], cmap=colours, vmin=0, vmax=3, interpolation="none", aspect="auto")
            mine = np.argwhere(factors[name] == THREAD)
            size = 1.6 if len(mine) > 2 else 4.5  # one element of 128 × 128 would hardly be seen
            axes.plot(mine[:, 1], mine[:, 0], "s", ms=size, mew=0, color=_LEVELS[THREAD], clip_on=False)
            axes.set(xticks=[], yticks=[])
            for spine in axes.spines.values():
                spine.set(visible=True, color="#777777", linewidth=0.7)
        figure.text(at * width + 0.015, 0.015, f"{each.kernel}: {left} left, {right} above, {result}", fontsize=8)
    _legend(figure, 0.945, ("the block", "its warp 0", "thread 0"))
    return Picture(figure, "; ".join(_said(each, left, right, result) for each in found) + ".")


@styled
def moves(found: Sequence[TouchedElements], source: str = "x", target: str = "out") -> Picture:
    """What a block, one warp of it and one thread load from a matrix, and below where they store it, for each kernel.

    ValueError for no kernel, or more than three.
    """
    from matplotlib.colors import ListedColormap

    if not 1 <= len(found) <= MOST_PRODUCTS:
        raise ValueError(f"one to {MOST_PRODUCTS} kernels stand beside one another; got {len(found)}")
    figure, axes = new("wide", layout=None, nrows=2, ncols=len(found), squeeze=False)
    figure.set_size_inches(7.0, 5.0)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.9, bottom=0.02, hspace=0.12, wspace=0.05)
    told = []
    for column, each in zip(axes.T, found, strict=True):
        for place, name, what in zip(column, (source, target), ("loads from", "stores to"), strict=True):
            levels = each.levels[name]
            place.imshow(levels, cmap=ListedColormap(_LEVELS), vmin=0, vmax=3, interpolation="none")
            mine = np.argwhere(levels == THREAD)
            place.plot(mine[:, 1], mine[:, 0], "s", ms=3.5, mew=0, color=_LEVELS[THREAD], clip_on=False)
            place.set(xticks=[], yticks=[])
            place.set_title(f"{each.kernel} {what} {name}", fontsize=8.5)
            for spine in place.spines.values():
                spine.set(visible=True, color="#777777", linewidth=0.7)
        ways = _run(each.levels[source], "loads"), _run(each.levels[target], "stores")
        told.append(f"{each.kernel}: a warp {' and '.join(ways)}")
    _legend(figure, 0.955, ("a block", "one warp of it", "one thread"))
    return Picture(figure, "; ".join(told) + ".")


def _run(levels: np.ndarray, verb: str) -> str:
    """Along what a warp loads or stores, in words."""
    rows, columns = np.nonzero(levels >= WARP)
    if len(set(rows.tolist())) == 1:
        return f"{verb} along a row"
    return f"{verb} down a column" if len(set(columns.tolist())) == 1 else f"{verb} from {len(set(rows.tolist()))} rows"


def _legend(figure, y: float, names: Sequence[str]) -> None:
    x = 0.015
    for colour, words in zip(_LEVELS[1:], names, strict=True):
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
    figure, axes = new("wide", layout=None)
    axes.set_position([0.16, 0.13, 0.80, 0.76])
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
    having = [row for row in rows if row.modelled is not None]
    said = f"{gpu}, {side:,} × {side:,}: "
    if having:
        low, high = (pick(having, key=lambda row: row.modelled) for pick in (min, max))
        said += f"modelled from {_per_cent(low.modelled)} ({low.name}) to {_per_cent(high.modelled)} ({high.name})"
        said += f"; 100 % is {' and '.join(library.values())}"
    missing = [row.name for row in rows if row.modelled is None]
    if missing:
        said += f"; {plural(len(missing), 'version')} not for this GPU: {', '.join(missing)}"
    measured = [row for row in rows if row.published is not None]
    if measured:
        low, high = (pick(measured, key=lambda row: row.published) for pick in (min, max))
        said += f". Published ({published}): from {_per_cent(low.published)} to {_per_cent(high.published)}"
    return said + "."

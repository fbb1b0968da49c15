"""Attention: the matrix of scores under a sliding tile, one row's (m, l, O), and bytes against length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle

from helpers.models.attention import Visit, Walk, separate_bytes
from helpers.pictures.figures import CYCLE, DASHES, MARKERS, PALETTE, Picture, blank, styled
from vgpu.base.words import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _rectangle(axes: Axes, keys: range, rows: range, **look: Any) -> None:
    axes.add_patch(Rectangle((keys.start - 0.5, rows.start - 0.5), len(keys), len(rows), **look))


def _joined(tiles: Iterable[tuple[range, range]]) -> list[tuple[range, range]]:
    """Tiles, each (rows, keys), of which neighbours in a row have become one."""
    joined: list[tuple[range, range]] = []
    for rows, keys in tiles:
        if joined and joined[-1][0] == rows and joined[-1][1].stop == keys.start:
            keys = range(joined.pop()[1].start, keys.stop)
        joined.append((rows, keys))
    return joined


@styled
def attention_tiles(found: Walk, step: int, row: int) -> Picture:
    """The matrix of attention weights after some tiles, and what one query has accumulated by then.

    found: a walk through one head. step: the tile just done, from 1. row: which query of the tile is watched, from 0.
    """
    step = min(max(step, 1), len(found.visits))
    visit = found.visits[step - 1]
    row = min(row, len(visit.rows) - 1)
    length = len(found.scores)
    figure = blank()
    _matrix(figure.add_axes((0.015, 0.075, 0.42, 0.83)), found, step, visit, visit.rows[row])
    so_far = [each for each in found.of_block(step - 1) if each.keys.start <= visit.keys.start]
    _running(figure.add_axes((0.53, 0.62, 0.45, 0.26)), found, so_far, row)
    off = _output(figure.add_axes((0.53, 0.3, 0.45, 0.2)), found, visit, row)
    separate = separate_bytes(length, found.width)
    whole = found.visits[-1].nbytes
    _bytes(figure.add_axes((0.53, 0.055, 0.45, 0.13)), visit.nbytes, whole, separate)
    skipped = f", {plural(len(found.skipped), 'tile')} skipped" if found.skipped else ""
    said = (
        f"Step {step} of {len(found.visits)}{skipped}: queries {visit.rows.start} to {visit.rows.stop - 1}, keys "
        f"{visit.keys.start} to {visit.keys.stop - 1}. Query {visit.rows[row]} now has m = {visit.m[row]:.2f} and "
        f"l = {visit.l[row]:.2f}, and O / l is {'final' if off < 1e-9 else f'off by up to {off:.2f}'}. Moved so far: "
        f"{visit.nbytes:,} of {whole:,} bytes; three kernels move {separate:,}."
    )
    return Picture(figure, said)


def _matrix(axes: Axes, found: Walk, step: int, visit: Visit, watched: int) -> None:
    length = len(found.scores)
    seen = np.full((length, length), np.nan)
    for each in found.visits[:step]:
        part = np.s_[each.rows.start : each.rows.stop, each.keys.start : each.keys.stop]
        seen[part] = found.weights[part]
    axes.imshow(seen, cmap="Blues", vmin=0, vmax=np.quantile(found.weights, 0.98), interpolation="nearest")
    # Under the weights, in few elements: small tiles are thousands, and a picture may have only so much SVG.
    for rows, keys in _joined((each.rows, each.keys) for each in found.visits[step:]):
        _rectangle(axes, keys, rows, fc="#f4f4f4", ec="none", zorder=-2)
    for rows, keys in _joined(found.skipped):
        _rectangle(axes, keys, rows, fc="none", ec="#bdbdbd", lw=0.5, hatch="////", zorder=-2)
    for lines, starts in (
        (axes.hlines, {each.rows.start for each in found.visits}),
        (axes.vlines, {each.keys.start for each in found.visits}),
    ):
        lines([start - 0.5 for start in sorted(starts)], -0.5, length - 0.5, colors="#cfcfcf", lw=0.5, zorder=-1)
    _rectangle(axes, range(length), range(length), fill=False, ec=PALETTE["ink"], lw=0.8)
    _rectangle(axes, range(visit.keys.stop), range(watched, watched + 1), fill=False, ec=PALETTE["vermilion"], lw=1.3)
    _rectangle(axes, visit.keys, visit.rows, fill=False, ec=PALETTE["orange"], lw=2.6)
    axes.set(xticks=[], yticks=[], xlim=(-0.9, length - 0.1), ylim=(length - 0.1, -0.9))
    axes.spines[:].set_visible(False)
    axes.set_title(f"weights: {length} queries down, {length} keys across", fontsize=9)
    hatched = " · hatched: skipped" if found.skipped else ""
    axes.text(
        0, -0.045, f"orange: the tile · red: one query{hatched}", transform=axes.transAxes, fontsize=8, va="center"
    )


def _running(axes: Axes, found: Walk, so_far: list[Visit], row: int) -> None:
    whole = [each for each in found.visits if each.rows == so_far[-1].rows]
    places = range(1, len(so_far) + 1)
    axes.plot(
        places, [each.m[row] for each in so_far], color=CYCLE[0], marker=MARKERS[0], ms=4, label="m, largest score"
    )
    axes.plot(
        places, [each.l[row] for each in so_far], color=CYCLE[1], marker=MARKERS[1], ms=4, ls=DASHES[1], label="l, sum"
    )
    every = [value for each in whole for value in (each.m[row], each.l[row])]
    reach = max(every) - min(0, *every)
    axes.set(xlim=(0.7, len(whole) + 0.3), ylim=(min(0, *every) - 0.12 * reach, max(every) + 0.12 * reach))
    axes.set_xticks(range(1, len(whole) + 1, 1 + len(whole) // 9))
    axes.tick_params(labelsize=7.5, length=2)
    axes.set_title("its m and l after each tile of keys", fontsize=9, pad=12)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 0.97), ncols=2, fontsize=7.5, borderaxespad=0, handlelength=2)


def _output(axes: Axes, found: Walk, visit: Visit, row: int) -> float:
    """Draws O / l of the watched query; how far it is from what it will be in the end."""
    now = visit.o[row] / visit.l[row]
    last = [each for each in found.visits if each.rows == visit.rows][-1]
    final = last.o[row] / last.l[row]
    places = np.arange(found.width)
    axes.bar(places, now, color=PALETTE["sky"], width=0.75)
    axes.plot(places, final, "_", color=PALETTE["ink"], ms=9, mew=1.6)
    axes.axhline(0, color=PALETTE["grey"], lw=0.6)
    every = [each.o[row] / each.l[row] for each in found.visits if each.rows == visit.rows]
    reach = max(1e-9, float(np.abs(every).max()))
    axes.set(ylim=(-1.15 * reach, 1.15 * reach), xticks=[])
    axes.tick_params(labelsize=7.5, length=2)
    axes.set_title("its O / l so far; line: in the end", fontsize=9)
    return float(np.abs(now - final).max())


def _bytes(axes: Axes, now: int, whole: int, separate: int) -> None:
    axes.barh([1], [separate], color=PALETTE["mist"], ec=PALETTE["grey"], height=0.7)
    axes.barh([0], [whole], color="none", ec=PALETTE["green"], height=0.7)
    axes.barh([0], [now], color=PALETTE["green"], height=0.7)
    most = max(whole, separate)
    for place, value, words in (
        (1, separate, f"three kernels: {separate:,}"),
        (0, whole, f"tiles: {now:,} of {whole:,}"),
    ):
        inside = value > 0.55 * most
        at = 0.015 * most if inside else value + 0.015 * most
        axes.text(at, place, words, fontsize=7.5, va="center", color="#222222")
    axes.set(xlim=(0, 1.01 * most), ylim=(-0.5, 1.5), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_title("bytes moved", fontsize=9)

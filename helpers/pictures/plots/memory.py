"""Requests of a warp on memory, and counts beside one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import LINE, SECTOR, WARP, shade
from helpers.vgpu.base.words import plural

MOST_LINES = 32
FEWEST_LINES = 8


def sectors_of(access) -> dict[int, set[int]]:
    """The sectors that one request of a warp touches: sector number → the bytes of it that lanes asked
    for."""
    touched: dict[int, set[int]] = {}
    for active, address in zip(access.lanes, access.addresses, strict=True):
        if active:
            for byte in range(address, address + access.nbytes):
                touched.setdefault(byte // SECTOR, set()).add(byte)
    return touched


def sector_finding(access, prefix: str = "") -> str:
    """One sentence: how many sectors this request moves and what part of their bytes the warp asked for."""
    touched = sectors_of(access)
    used = sum(len(bytes_) for bytes_ in touched.values())
    share = used / (SECTOR * len(touched)) if touched else 0
    moved = plural(len(touched), "sector")
    return f"{prefix}{moved} for 1 {access.op} request, {100 * share:.3g} % of the bytes used."


KEY = "blue: a word that a lane asked for (its number) · yellow: a sector that moves"


@styled
def sector_map(access, *, prefix: str = "") -> Picture:
    """One request of a warp drawn on memory: a row a 128-byte line, a cell a 4-byte word, the lane in the
    cell.

    `access`: a global `trace.Access`. Pale cells move because their sector does; dark ones were asked for.
    """
    lines = _lines(access)
    shown = lines[:MOST_LINES]
    if lines and lines[-1] - lines[0] < FEWEST_LINES:  # few lines: show their untouched neighbours too
        shown = list(range(lines[0], lines[0] + FEWEST_LINES))
    figure, axes = new("wide", layout=None)
    axes.set_position([0.1, 0.03, 0.89, 0.8])
    height = max(FEWEST_LINES, len(shown))
    _draw_lines(axes, access, shown, height)
    if len(lines) > len(shown):
        axes.text(0, len(shown) + 0.8, f"and {len(lines) - len(shown)} lines more", fontsize=8, va="top")
    figure.text(0.01, 0.93, KEY, fontsize=9)
    figure.text(0.01, 0.86, "byte", fontsize=8, color="#444444")
    _name_sectors(axes, height)
    return Picture(figure, sector_finding(access, prefix))


@styled
def sector_panels(accesses: Mapping[str, object]) -> Picture:
    """Requests of a warp one below another, each on the lines of memory that it touches: the more, the taller.

    `accesses`: global `trace.Access`es by what they are called, of at most `MOST_LINES` lines each.
    """
    rows = {name: _lines(access)[:MOST_LINES] for name, access in accesses.items()}
    heads = 1.4  # rows that a panel's title takes
    total = sum(len(lines) + heads for lines in rows.values()) + 1.4
    figure, everywhere = new("wide", layout=None)
    everywhere.remove()
    figure.set_size_inches(figure.get_figwidth(), 0.26 * total)
    top = total - 1.4
    figure.text(0.01, 1 - 0.8 / total, KEY, fontsize=9)
    for name, access in accesses.items():
        top -= heads
        height = len(rows[name])
        axes = figure.add_axes((0.1, (top - height) / total, 0.89, height / total))
        _draw_lines(axes, access, rows[name], height)
        title = sector_finding(access, f"{name}: ").rstrip(".")
        figure.text(0.01, (top + 0.35) / total, title, fontsize=9, fontweight="bold")
        top -= height
    return Picture(figure, " ".join(sector_finding(access, f"{name}: ") for name, access in accesses.items()))


def _lines(access) -> list[int]:
    """The 128-byte lines that a request touches, by number."""
    return sorted({sector // 4 for sector in sectors_of(access)})


def _draw_lines(axes, access, shown: Sequence[int], height: int) -> None:
    """The request on the lines `shown`, one a row of `height` rows in all."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    touched, words = sectors_of(access), LINE // 4
    sector_width = words // 4
    lane_of: dict[int, int] = {}
    for lane, (active, address) in enumerate(zip(access.lanes, access.addresses, strict=True)):
        if active:
            for word in range(address // 4, (address + access.nbytes - 1) // 4 + 1):
                lane_of.setdefault(word, lane)
    label = height <= 16
    asked, colours, moved, still = [], [], [], []
    for row, line in enumerate(shown):
        for sector in range(4):
            place = Rectangle((sector * sector_width, row + 0.05), sector_width - 0.12, 0.9)
            (moved if line * 4 + sector in touched else still).append(place)
        for column in range(words):
            lane = lane_of.get(line * words + column)
            if lane is None:
                continue
            asked.append(Rectangle((column + 0.02, row + 0.1), 0.84, 0.8))
            colours.append(shade(PALETTE["blue"], 0.22 + 0.2 * lane / (WARP - 1)))
            if label:
                axes.text(column + 0.45, row + 0.53, lane, ha="center", va="center", fontsize=7, color="w")
        if label or row % 4 == 0:
            axes.text(-0.4, row + 0.53, f"{line * LINE:,}", ha="right", va="center", fontsize=7, color="#444444")
    axes.add_collection(PatchCollection(still, facecolors="white", edgecolors="#cccccc", lw=0.6))
    axes.add_collection(PatchCollection(moved, facecolors="#fbe3b5", edgecolors=PALETTE["orange"], lw=1.0))
    axes.add_collection(PatchCollection(asked, facecolors=colours, edgecolors="none"))
    axes.set(xlim=(0, words), ylim=(height, 0))
    axes.axis("off")


def _name_sectors(axes, height: int) -> None:
    for sector in range(4):
        axes.text(sector * SECTOR // 4, -0.12 * height / 8, f"sector {sector}", fontsize=8, color="#444444")


@styled
def staircase(values: Mapping[str, float], *, unit: str, best: float | None = None) -> Picture:
    """Kernels in the order given, a bar each, with an optional line where no kernel can be better."""
    figure, axes = new("wide")
    names = list(values)
    bars = axes.barh(
        names, list(values.values()), color=[CYCLE[i % len(CYCLE)] for i in range(len(names))], height=0.65
    )
    axes.bar_label(bars, fmt="{:,.4g}", padding=4)
    axes.invert_yaxis()
    if best is not None:
        axes.axvline(best, color=PALETTE["ink"], ls="--", lw=1)
        axes.text(best, -0.55, f" the least possible: {best:g}", va="bottom", fontsize=8)
    axes.set_xlabel(unit)
    axes.margins(x=0.12)
    said = "; ".join(f"{name}: {value:,.4g}" for name, value in values.items())
    return Picture(figure, f"{unit[0].upper()}{unit[1:]} — {said}.")


def load_traffic(profile) -> dict[str, int]:
    """Bytes of a kernel's global loads: asked for by lanes, brought as sectors, and what no cache can save."""
    return {
        "lanes ask for": profile["global_load_bytes"],
        "sectors bring": SECTOR * profile["global_load_sectors"],
        "distinct sectors": profile.counters.footprint.read_bytes,
    }


@styled
def traffic(profile, *, prefix: str = "", scale: float = 0) -> Picture:
    """The bytes of a kernel's global loads, a bar each for asked, brought and distinct ones.

    `scale`: the most bytes that the axis must hold, so that pictures can be compared.
    """
    rows = load_traffic(profile)
    asked, brought, distinct = rows.values()
    figure, axes = new("wide", layout=None)
    axes.set_position([0.2, 0.2, 0.76, 0.74])
    colours = (PALETTE["blue"], PALETTE["orange"], PALETTE["green"])
    bars = axes.barh(list(rows), [value / 1024 for value in rows.values()], color=colours, height=0.6)
    axes.bar_label(bars, [f"{value / 1024:,.4g} KiB" for value in rows.values()], padding=4)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.2 * max(scale, *rows.values()) / 1024)
    axes.set_xlabel("KiB of global loads (counted)")
    times = brought / distinct if distinct else 0
    return Picture(
        figure,
        f"{prefix}sectors bring {brought / 1024:,.4g} KiB for {asked / 1024:,.4g} KiB asked for, "
        f"{times:.3g} times the {distinct / 1024:,.4g} KiB that even a perfect cache must fetch.",
    )

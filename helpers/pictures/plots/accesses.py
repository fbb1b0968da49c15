"""Requests of a warp on memory: sectors and lines, banks, traffic, and hits in a cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from helpers.models.cache_model import Asked, share_found
from helpers.pictures.figures import CYCLE, PALETTE, Picture, blank, new, styled, subplots
from helpers.pictures.plots.common import LINE, SECTOR, WARP, bytes_text, shade
from vgpu.base.words import plural
from vgpu.storage.banks import BANKS, parts, wavefronts
from vgpu.tools.steps.trace import Access

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from vgpu.tools.profile import Profile

MOST_LINES = 32
FEWEST_LINES = 8


def sectors_of(access: Access) -> dict[int, set[int]]:
    """The sectors that one request of a warp touches: sector number → the bytes of it that lanes asked
    for."""
    touched: dict[int, set[int]] = {}
    for active, address in zip(access.lanes, access.addresses, strict=True):
        if active:
            for byte in range(address, address + access.nbytes):
                touched.setdefault(byte // SECTOR, set()).add(byte)
    return touched


def sector_finding(access: Access, prefix: str = "") -> str:
    """One sentence: how many sectors this request moves and what share of their bytes the warp requested."""
    touched = sectors_of(access)
    used = sum(len(bytes_) for bytes_ in touched.values())
    share = used / (SECTOR * len(touched)) if touched else 0
    moved = plural(len(touched), "sector")
    return f"{prefix}{moved} for 1 {access.op} request, {100 * share:.3g} % of the bytes used."


KEY = "blue: a word that a lane requested (its number) · yellow: a sector that moves"


@styled
def sector_map(access: Access, *, prefix: str = "") -> Picture:
    """One request of a warp drawn on memory: one row per 128-byte line, one cell per 4-byte word, the lane in the
    cell.

    `access`: a global `trace.Access`. Pale cells move because their sector does; dark ones were requested.
    """
    lines = _lines(access)
    shown = lines[:MOST_LINES]
    if lines and lines[-1] - lines[0] < FEWEST_LINES:  # few lines: show their untouched neighbours too
        shown = list(range(lines[0], lines[0] + FEWEST_LINES))
    figure, axes = new(place=(0.1, 0.03, 0.89, 0.8))
    height = max(FEWEST_LINES, len(shown))
    _draw_lines(axes, access, shown, height)
    if len(lines) > len(shown):
        axes.text(0, len(shown) + 0.8, f"and {len(lines) - len(shown)} lines more", fontsize=8, va="top")
    figure.text(0.01, 0.93, KEY, fontsize=9)
    figure.text(0.01, 0.86, "byte", fontsize=8, color="#444444")
    _name_sectors(axes, height)
    return Picture(figure, sector_finding(access, prefix))


@styled
def sector_panels(accesses: Mapping[str, Access]) -> Picture:
    """Several requests of a warp below each other, each drawn on the cache lines that it touches.

    `accesses`: global `trace.Access`es by what they are called, of at most `MOST_LINES` lines each.
    """
    rows = {name: _lines(access)[:MOST_LINES] for name, access in accesses.items()}
    heads = 1.4  # rows that a panel's title takes
    total = sum(len(lines) + heads for lines in rows.values()) + 1.4
    figure = blank()
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


def _lines(access: Access) -> list[int]:
    """The 128-byte lines that a request touches, by number."""
    return sorted({sector // 4 for sector in sectors_of(access)})


def _draw_lines(axes: Axes, access: Access, shown: Sequence[int], height: int) -> None:
    """The request on the lines `shown`, one a row of `height` rows in all."""
    touched, words = sectors_of(access), LINE // 4
    sector_width = words // 4
    lane_of: dict[int, int] = {}
    for lane, (active, address) in enumerate(zip(access.lanes, access.addresses, strict=True)):
        if active:
            for word in range(address // 4, (address + access.nbytes - 1) // 4 + 1):
                lane_of.setdefault(word, lane)
    label = height <= 16
    asked, colours = [], []
    moved: list[Rectangle] = []
    still: list[Rectangle] = []
    for row, line in enumerate(shown):
        for sector in range(4):
            place = Rectangle((sector * sector_width, row + 0.05), sector_width - 0.12, 0.9)
            (moved if line * 4 + sector in touched else still).append(place)
        for column in range(words):
            if line * words + column not in lane_of:
                continue
            lane = lane_of[line * words + column]
            asked.append(Rectangle((column + 0.02, row + 0.1), 0.84, 0.8))
            colours.append(shade(PALETTE["blue"], 0.22 + 0.2 * lane / (WARP - 1)))
            if label:
                axes.text(column + 0.45, row + 0.53, str(lane), ha="center", va="center", fontsize=7, color="w")
        if label or row % 4 == 0:
            axes.text(-0.4, row + 0.53, f"{line * LINE:,}", ha="right", va="center", fontsize=7, color="#444444")
    axes.add_collection(PatchCollection(still, facecolors="white", edgecolors="#cccccc", lw=0.6))
    axes.add_collection(PatchCollection(moved, facecolors="#fbe3b5", edgecolors=PALETTE["orange"], lw=1.0))
    axes.add_collection(PatchCollection(asked, facecolors=colours, edgecolors="none"))
    axes.set(xlim=(0, words), ylim=(height, 0))
    axes.axis("off")


def _name_sectors(axes: Axes, height: int) -> None:
    for sector in range(4):
        axes.text(sector * SECTOR // 4, -0.12 * height / 8, f"sector {sector}", fontsize=8, color="#444444")


@styled
def staircase(values: Mapping[str, float], *, unit: str, best: float | None = None) -> Picture:
    """One bar per kernel, in the order given, with an optional line at the best possible value."""
    figure, axes = new()
    names = list(values)
    bars = axes.barh(names, list(values.values()), color=[CYCLE[i] for i in range(len(names))], height=0.65)
    axes.bar_label(bars, fmt="{:,.4g}", padding=4)
    axes.invert_yaxis()
    if best is not None:
        axes.axvline(best, color=PALETTE["ink"], ls="--", lw=1)
        axes.text(best, -0.55, f" the least possible: {best:g}", va="bottom", fontsize=8)
    axes.set_xlabel(unit)
    axes.margins(x=0.12)
    said = "; ".join(f"{name}: {value:,.4g}" for name, value in values.items())
    return Picture(figure, f"{unit[0].upper()}{unit[1:]} — {said}.")


def load_traffic(profile: Profile) -> dict[str, int]:
    """Bytes of a kernel's global loads: requested by lanes, moved as sectors, and what no cache can save."""
    return {
        "lanes request": profile.counters["global_load_bytes"],
        "sectors bring": SECTOR * profile.counters["global_load_sectors"],
        "distinct sectors": profile.counters.footprint.read_bytes,
    }


@styled
def traffic(profile: Profile, *, prefix: str = "", scale: float = 0) -> Picture:
    """The bytes of a kernel's global loads: one bar each for requested, moved and distinct bytes.

    `scale`: the most bytes that the axis must hold, so that pictures can be compared.
    """
    rows = load_traffic(profile)
    asked, brought, distinct = rows.values()
    figure, axes = new(place=(0.2, 0.2, 0.76, 0.74))
    colours = (PALETTE["blue"], PALETTE["orange"], PALETTE["green"])
    bars = axes.barh(list(rows), [value / 1024 for value in rows.values()], color=colours, height=0.6)
    axes.bar_label(bars, [f"{value / 1024:,.4g} KiB" for value in rows.values()], padding=4)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.2 * max(scale, *rows.values()) / 1024)
    axes.set_xlabel("KiB of global loads (counted)")
    times = brought / distinct if distinct else 0
    return Picture(
        figure,
        f"{prefix}sectors bring {brought / 1024:,.4g} KiB for {asked / 1024:,.4g} KiB requested, "
        f"{times:.3g} times the {distinct / 1024:,.4g} KiB that even a perfect cache must fetch.",
    )


FEWEST_ROWS = 8
MOST_LABELLED = 16


def bank_finding(access: Access, prefix: str = "") -> str:
    """One sentence: the wavefronts of this shared request, how many it needs at least, and what is broadcast."""
    fronts = wavefronts(access)
    count = plural(len(fronts), "wavefront")
    least = len({front.part for front in fronts})
    shared = sum(len(word.lanes) > 1 for front in fronts for word in front.words.values())
    conflicts = "no bank conflict" if len(fronts) == least else plural(len(fronts) - least, "bank conflict")
    widths = f", {access.nbytes} bytes a lane," if parts(access.nbytes) > 1 else ""
    broadcast = f"; {plural(shared, 'word')} broadcast to several lanes" if shared else ""
    return f"{prefix}{count} for 1 shared {access.op} request{widths} with {conflicts}{broadcast}."


@styled
def bank_matrix(access: Access, *, prefix: str = "") -> Picture:
    """Banks against wavefronts for one shared-memory request; the number is the lane that a bank serves.

    `access`: a shared `trace.Access`. A bank that serves several lanes with one word says how many of them.
    """
    fronts = wavefronts(access)
    figure, axes = new(place=(0.055, 0.03, 0.94, 0.79))
    height = max(FEWEST_ROWS, len(fronts))
    label = height <= MOST_LABELLED
    single, shared, colours = [], [], []
    for row, front in enumerate(fronts):
        for bank in range(BANKS):
            word = front.words.get(bank)
            if word is None:
                continue
            place = Rectangle((bank + 0.04, row + 0.06), 0.92, 0.88)
            if len(word.lanes) == 1:
                single.append(place)
                colours.append(shade(PALETTE["blue"], 0.22 + 0.2 * word.lanes[0] / (WARP - 1)))
            else:
                shared.append(place)
            if label:
                text = str(word.lanes[0]) if len(word.lanes) == 1 else f"×{len(word.lanes)}"
                size = 7 if len(text) < 3 else 6
                axes.text(bank + 0.5, row + 0.53, text, ha="center", va="center", fontsize=size, color="w")
    # Idle cells are lines and not squares of their own: a request may take 32 wavefronts.
    axes.vlines(range(BANKS + 1), 0, len(fronts), colors="#cccccc", lw=0.6, zorder=0)
    axes.hlines(range(len(fronts) + 1), 0, BANKS, colors="#cccccc", lw=0.6, zorder=0)
    axes.add_collection(PatchCollection(single, facecolors=colours, edgecolors="none"))
    axes.add_collection(PatchCollection(shared, facecolors="#00664a", edgecolors="none"))
    last = None
    for row, front in enumerate(fronts):
        if label or row % 4 == 0 or row == len(fronts) - 1:
            axes.text(-0.3, row + 0.53, str(row + 1), ha="right", va="center", fontsize=7, color="#444444")
        if last is not None and front.part != last:
            axes.axhline(row, color=PALETTE["ink"], lw=1)
        last = front.part
    for bank in (*range(0, BANKS, 4), BANKS - 1):
        axes.text(bank + 0.5, -0.03 * height, str(bank), ha="center", fontsize=7, color="#444444")
    axes.set(xlim=(0, BANKS), ylim=(height, 0))
    axes.axis("off")
    legend = (
        "a row: one wavefront · a column: one bank · blue: serves one lane (its number) · green ×n: one word to n lanes"
    )
    figure.text(0.01, 0.94, legend, fontsize=8.5)
    figure.text(0.01, 0.875, "bank", fontsize=8, color="#444444")
    return Picture(figure, bank_finding(access, prefix))


HIT, MISS = PALETTE["blue"], PALETTE["vermilion"]
MOST_REQUESTS = 1200


@styled
def cache_requests(runs: Mapping[str, Sequence[Asked]], nbytes: int) -> Picture:
    """Each request of a warp as a mark, by time and by place in its array: a cache hit or a miss.

    runs: by name, what `helpers.models.cache_model.requests` tells of a cache of `nbytes`; one panel each. A request
    of which some sectors were found and some were not counts as not found. Raises ValueError without a request, or
    for more than `MOST_REQUESTS` of them.
    """
    for name, asked in runs.items():
        if not 0 < len(asked) <= MOST_REQUESTS:
            who = name or "the kernel"
            raise ValueError(f"{who} made {len(asked):,} requests; 1 to {MOST_REQUESTS:,} can be drawn")
    figure, axes = subplots(1, len(runs), sharey=True, left=0.08, right=0.985, top=0.82, bottom=0.15, wspace=0.08)
    highest = max(each.first for asked in runs.values() for each in asked)
    top = max(1.06 * highest, 1.12 * nbytes) / 1024
    for at, (panel, (name, asked)) in enumerate(zip(axes[0], runs.items(), strict=True)):
        _panel(panel, asked, nbytes, len(runs))
        panel.set(xlim=(-0.03 * len(asked), 1.03 * len(asked)), ylim=(-0.04 * top, top))
        panel.set_title(_title(name, asked), fontsize=9.5)
        panel.set_xlabel("loads of the warp, in order of time", fontsize=8.5)
        if at == 0:
            panel.set_ylabel("place in the array, KiB")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper left", bbox_to_anchor=(0.07, 1.005), ncols=3, fontsize=8.5,
                  handletextpad=0.4, columnspacing=1.4)  # fmt: skip
    return Picture(figure, _requests_finding(runs, nbytes))


def _panel(panel: Axes, asked: Sequence[Asked], nbytes: int, panels: int) -> None:
    panel.axhspan(0, nbytes / 1024, color=PALETTE["mist"], lw=0, label="as many bytes as the cache holds")
    size = max(1.5, min(5.0, 1000 / panels / len(asked)))
    found = [(number, each) for number, each in enumerate(asked) if each.hits == each.sectors]
    missed = [(number, each) for number, each in enumerate(asked) if each.hits < each.sectors]
    for marks, marker, colour, words in (
        (found, "s", HIT, "found in the cache"), (missed, "x", MISS, "not found: fetched"),
    ):  # fmt: skip
        places = [each.first / 1024 for _, each in marks]
        panel.plot([number for number, _ in marks], places, ls="", marker=marker, ms=size, mew=1, color=colour,
                   label=words)  # fmt: skip


def _title(name: str, asked: Sequence[Asked]) -> str:
    said = f"{share_found(tuple(asked)):.0%} found"
    return f"{name}: {said}" if name else said


def _requests_finding(runs: Mapping[str, Sequence[Asked]], nbytes: int) -> str:
    def told(name: str, asked: Sequence[Asked]) -> str:
        said = f"{sum(each.hits for each in asked):,} of {sum(each.sectors for each in asked):,} sectors are found"
        return f"{name}: {said}" if name else said

    return f"A cache of {bytes_text(nbytes)} (modelled): " + "; ".join(told(*each) for each in runs.items()) + "."

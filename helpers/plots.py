"""From a result to a picture: every function takes data that a kernel produced and returns a `Picture`.

The sentence of a `Picture` is computed from the same data as its marks, so the two cannot drift apart.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence

import numpy as np

from helpers.figures import CYCLE, DASHES, MARKERS, PALETTE, Picture, new, styled

SECTOR = 32
"""Bytes in a sector, the least that moves between L1, L2 and DRAM on every architecture since Maxwell."""
LINE = 128
"""Bytes in a cache line: four sectors."""
WARP = 32
MOST_LINES = 32
FEWEST_LINES = 8
MOST_LABELLED_THREADS = 300


def plural(count, noun: str) -> str:
    """`1 sector`, `2 sectors`, `3 launches`."""
    ending = "" if count == 1 else "es" if noun.endswith(("s", "ch", "x")) else "s"
    return f"{count:,} {noun}{ending}"


def _shade(colour: str, lightness: float) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
    return colorsys.hls_to_rgb(hue, lightness, saturation)


# --- time
# ------------------------------------------------------------------------------------------------------


@styled
def timer_bars(launch_us: float, kernel_us: float, *, launches: int = 1, source: str = "modelled") -> Picture:
    """What a host clock reads after `launches` launches, with and without waiting for the GPU.

    `launch_us`: microseconds one launch call keeps the host busy. `kernel_us`: microseconds one kernel runs.
    `source` says where the times come from ("modelled", "measured") and is written on the figure.
    """
    figure, axes = new("wide", layout=None)
    figure.subplots_adjust(left=0.09, right=0.97, top=0.88, bottom=0.15)
    free, spans = 0.0, []
    for launch in range(launches):
        start = max(free, (launch + 1) * launch_us)
        free = start + kernel_us
        spans.append((start, kernel_us))
    without, with_sync = launches * launch_us, free
    axes.broken_barh([(i * launch_us, launch_us) for i in range(launches)], (2.6, 0.8), fc=PALETTE["blue"], ec="white")
    axes.broken_barh([(without, with_sync - without)], (2.6, 0.8), fc="white", ec=PALETTE["blue"], hatch="///")
    axes.broken_barh(spans, (1.4, 0.8), fc=PALETTE["orange"], ec="white")
    for row, end, name in ((0.75, without, "not synchronised"), (0.2, with_sync, "synchronised")):
        axes.annotate("", (end, row), (0, row), arrowprops={"arrowstyle": "|-|,widthA=0.3,widthB=0.3"})
        inside = end > 0.55 * with_sync
        axes.text(
            end * 0.98 if inside else end + 0.015 * with_sync,
            row + 0.06,
            f"clock, {name}: {end:,.1f} µs",
            ha="right" if inside else "left",
            va="bottom",
            fontsize=9,
        )
        axes.axvline(end, ymin=0, ymax=0.95, color=PALETTE["grey"], lw=0.8, ls="--", zorder=0)
    axes.set(
        xlim=(-0.01 * with_sync, with_sync * 1.04),
        ylim=(0, 3.6),
        yticks=[3.0, 1.8],
        yticklabels=["host", "GPU"],
    )
    axes.set_xlabel(f"µs ({source})")
    axes.set_title("solid blue: launch call · hatched: waiting · orange: kernel", fontsize=9, fontweight="normal")
    share = without / with_sync
    return Picture(
        figure,
        f"{plural(launches, 'launch')}: a clock that does not synchronise reads {without:,.1f} µs, one that "
        f"does "
        f"reads {with_sync:,.1f} µs, so the first shows {share:.0%} of the time ({source}).",
    )


@styled
def run_bars(seconds: Sequence[float], *, title: str = "") -> Picture:
    """Each run of the same call as a bar, the first one picked out, with the median of the others as a
    line."""
    milliseconds = np.asarray(seconds, float) * 1e3
    figure, axes = new("wide")
    axes.bar(np.arange(len(milliseconds)) + 1, milliseconds, color=PALETTE["blue"])
    axes.bar([1], milliseconds[:1], color=PALETTE["vermilion"], hatch="//", ec="white")
    median = float(np.median(milliseconds[1:]))
    axes.axhline(median, color=PALETTE["ink"], ls="--", lw=1)
    axes.text(len(milliseconds) + 0.5, median * 1.15, "median of the others", ha="right", va="bottom", fontsize=9)
    axes.set(xlabel="run", ylabel="ms (measured)", yscale="log", title=title)
    return Picture(
        figure,
        f"Run 1 takes {milliseconds[0] / median:,.0f} times as long as the median of the "
        f"{len(milliseconds) - 1} runs after it (measured).",
    )


# --- threads
# ---------------------------------------------------------------------------------------------------


@styled
def thread_grid(block, thread, data_shape: tuple[int, ...], *, threads_per_block: int, title: str = "") -> Picture:
    """The threads of a launch laid over the data they were meant for.

    `block`, `thread`: integers of shape (height, width) or (width,): for each position that a thread of the
    launch computed, that thread's block number and its number in the block, as a kernel wrote them; -1 where
    no thread came. `data_shape`: the shape of the data, whose first element lies at position 0; threads
    outside are guarded.
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    block, thread = np.atleast_2d(block), np.atleast_2d(thread)
    height, width = block.shape
    rows, columns = (1, *data_shape)[-2:]
    figure, axes = new("wide", layout=None)
    axes.set_position([0.01, 0.02, 0.98, 0.88])
    inside, guarded = [], []
    for y, x in np.argwhere(block >= 0):
        (inside if y < rows and x < columns else guarded).append((int(y), int(x)))

    def cells(places):
        return [Rectangle((x + 0.04, y + 0.04), 0.92, 0.92) for y, x in places]

    faces = []
    for y, x in inside:
        lane, warp = thread[y, x] % WARP, thread[y, x] // WARP
        faces.append(
            _shade(CYCLE[block[y, x] % len(CYCLE)], (0.62 if warp % 2 == 0 else 0.76) + 0.16 * lane / (WARP - 1))
        )
    axes.add_collection(PatchCollection(cells(inside), facecolors=faces, edgecolors="none"))
    axes.add_collection(
        PatchCollection(cells(guarded), facecolors="white", edgecolors=PALETTE["grey"], hatch="////", lw=0.4)
    )
    uncovered = [(y, x) for y in range(rows) for x in range(columns) if y >= height or x >= width or block[y, x] < 0]
    axes.add_collection(PatchCollection(cells(uncovered), facecolors="none", edgecolors=PALETTE["vermilion"], ls=":"))
    span_x, span_y = max(width, columns), max(height, rows)
    size = min(9.0, 7.0 * 72 * 0.98 / span_x * 0.44, 3.5 * 72 * 0.88 / span_y * 0.5)
    if len(inside) <= MOST_LABELLED_THREADS and size >= 3.5:
        for y, x in inside:
            lane, warp = int(thread[y, x] % WARP), int(thread[y, x] // WARP)
            first = lane == 0
            axes.text(
                x + 0.5,
                y + 0.52,
                f"w{warp}" if first else lane,
                ha="center",
                va="center",
                fontsize=size,
                fontweight="bold" if first else "normal",
            )
    for number in np.unique(block[block >= 0]):
        ys, xs = np.nonzero(block == number)
        corner, extent = (xs.min(), ys.min()), (np.ptp(xs) + 1, np.ptp(ys) + 1)
        if extent[0] * extent[1] == len(xs):  # a rectangle of the picture belongs to the block: draw its border
            axes.add_patch(Rectangle(corner, *extent, fill=False, ec=PALETTE["ink"], lw=1.2))
    axes.add_patch(Rectangle((0, 0), columns, rows, fill=False, ec=PALETTE["vermilion"], lw=2.4, ls="--"))
    axes.set(xlim=(-0.3, span_x + 0.3), ylim=(span_y + 0.3, -0.3), aspect="equal" if span_y > 3 else "auto")
    if span_y <= 3:
        tall = min(0.8, 0.3 * span_y)
        axes.set_position([0.01, 0.45 - tall / 2, 0.98, tall])
    axes.axis("off")
    figure.suptitle(
        title or "colour: block · shade: warp and lane (w0, w1 start a warp) · hatched: guarded · dashed: the data",
        x=0.01,
        ha="left",
        fontsize=9,
    )
    blocks = len(np.unique(block[block >= 0]))
    warps = blocks * -(-threads_per_block // WARP)
    shape = " × ".join(str(n) for n in data_shape)
    end = (
        f"{plural(len(uncovered), 'element')} that no thread reaches"
        if uncovered
        else f"{plural(len(guarded), 'thread')} that the guard must stop"
    )
    return Picture(
        figure,
        f"{plural(blocks, 'block')} of {plural(threads_per_block, 'thread')} ({plural(warps, 'warp')}) over "
        f"{shape} elements, with {end}.",
    )


# --- memory
# ----------------------------------------------------------------------------------------------------


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


@styled
def sector_map(access, *, prefix: str = "") -> Picture:
    """One request of a warp drawn on memory: a row a 128-byte line, a cell a 4-byte word, the lane in the
    cell.

    `access`: a global `trace.Access`. Pale cells move because their sector does; dark ones were asked for.
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    touched = sectors_of(access)
    lines = sorted({sector // 4 for sector in touched})
    shown = lines[:MOST_LINES]
    if lines and lines[-1] - lines[0] < FEWEST_LINES:  # few lines: show their untouched neighbours too
        shown = list(range(lines[0], lines[0] + FEWEST_LINES))
    figure, axes = new("wide", layout=None)
    axes.set_position([0.1, 0.03, 0.89, 0.8])
    row_of = {line: row for row, line in enumerate(shown)}
    words = LINE // 4
    lane_of: dict[int, int] = {}
    for lane, (active, address) in enumerate(zip(access.lanes, access.addresses, strict=True)):
        if active:
            for word in range(address // 4, (address + access.nbytes - 1) // 4 + 1):
                lane_of.setdefault(word, lane)
    sector_width = words // 4
    height = max(FEWEST_LINES, len(shown))
    label = height <= 16
    asked, colours, moved, still = [], [], [], []
    for line, row in row_of.items():
        for sector in range(4):
            place = Rectangle((sector * sector_width, row + 0.05), sector_width - 0.12, 0.9)
            (moved if line * 4 + sector in touched else still).append(place)
        for column in range(words):
            word = line * words + column
            if word in lane_of:
                asked.append(Rectangle((column + 0.02, row + 0.1), 0.84, 0.8))
                colours.append(_shade(PALETTE["blue"], 0.22 + 0.2 * lane_of[word] / (WARP - 1)))
                if label:
                    axes.text(
                        column + 0.45,
                        row + 0.53,
                        lane_of[word],
                        ha="center",
                        va="center",
                        fontsize=7,
                        color="w",
                    )
    axes.add_collection(PatchCollection(still, facecolors="white", edgecolors="#cccccc", lw=0.6))
    axes.add_collection(PatchCollection(moved, facecolors="#fbe3b5", edgecolors=PALETTE["orange"], lw=1.0))
    axes.add_collection(PatchCollection(asked, facecolors=colours, edgecolors="none"))
    for line, row in row_of.items():
        if label or row % 4 == 0:
            axes.text(-0.4, row + 0.53, f"{line * LINE:,}", ha="right", va="center", fontsize=7, color="#444444")
    if len(lines) > len(shown):
        axes.text(0, len(shown) + 0.8, f"and {len(lines) - len(shown)} lines more", fontsize=8, va="top")
    axes.set(xlim=(0, words), ylim=(height, 0))
    axes.axis("off")
    figure.text(
        0.01,
        0.93,
        "blue: a word that a lane asked for (its number) · yellow: a sector that moves",
        fontsize=9,
    )
    figure.text(0.01, 0.86, "byte", fontsize=8, color="#444444")
    for sector in range(4):
        axes.text(sector * sector_width, -0.12 * height / 8, f"sector {sector}", fontsize=8, color="#444444")
    return Picture(figure, sector_finding(access, prefix))


@styled
def sectors_against(x: Sequence[float], series: Mapping[str, Sequence[float]], *, xlabel: str = "stride") -> Picture:
    """Sectors per request against a stride, an offset, a size: one line a kernel, marker and dash beside
    colour."""
    figure, axes = new("wide")
    for i, (name, values) in enumerate(series.items()):
        axes.plot(x, values, label=name, marker=MARKERS[i], ls=DASHES[i], color=CYCLE[i], ms=5)
    axes.set(xlabel=xlabel, ylabel="sectors per request (counted)", xticks=list(x)[:: max(1, len(x) // 12)])
    axes.set_ylim(0, None)
    axes.grid(axis="y")
    if len(series) > 1:
        axes.legend()
    said = "; ".join(f"{name} from {values[0]:g} to {values[-1]:g}" for name, values in series.items())
    return Picture(figure, f"Sectors per request as the {xlabel} goes from {x[0]} to {x[-1]}: {said}.")


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

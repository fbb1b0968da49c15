"""The roofline: what a GPU allows at each arithmetic intensity, and the kernels under it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from helpers.pictures.figures import PALETTE, Picture, Track, new, styled
from helpers.pictures.plots.labels import Box, around, spread, track
from helpers.pictures.plots.short_values import fitted
from vgpu.hardware.gpus import GPU
from vgpu.tools.roofline import (
    MEMORIES,
    PRECISIONS,
    PlacedLaunch,
    bandwidth,
    peak_flops,
    rate_text,
    roofline,
    roofs_missing,
    scaled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PLACES = 20
LONGEST_NAME = 22
LONGEST_IN_SENTENCE = 40
INTENSITIES = (2.0**-8, 2.0**14)
"""FLOP a byte at the two ends of the axis."""

STATES = {"memory": ("blue", "o"), "compute": ("vermilion", "s"), "latency": ("purple", "^")}
"""Colour and marker of each state."""
_SHORT = {"L1 and shared memory": "L1", "special functions": "special"}
_POINTS_WIDE, _POINTS_HIGH = 7.0 * 72, 3.5 * 72
_AXES = (0.1, 0.145, 0.53, 0.765)
_LEAST_RATE_DECADES = 4.5
_ABOVE = 2.6  # room above the highest roof, for its name
_FLAT_AT = 0.66  # where the flat roof can be taken: so far from its ridge to the right end


def roofline_finding(
    places: Mapping[str, PlacedLaunch], gpu: GPU, precision: str, memory: str, what_if: float | None = None,
    still: Sequence[str] = (),
) -> str:  # fmt: skip
    """The ridge, which kernel is bound by what, which has no place, and what a kernel of `what_if` FLOP/byte may do.

    A roof that no document gives is named instead. still: the names of kernels that move no bytes there.
    """
    missing_roofs = roofs_missing(gpu, precision, memory)
    known = "no ridge" if missing_roofs else f"ridge at {roofline(1, 1, gpu, precision, memory).ridge:.3g} FLOP/byte"
    said = [f"{gpu.name}, {PRECISIONS[precision]}, bytes at {memory}: {known}."]
    said += [f"{words[0].upper()}{words[1:]}." for words in missing_roofs]
    standing = {name: place for name, place in places.items() if place.flops}
    groups = [
        f"{state}-bound: {_names(names)}"
        for state in STATES
        if (names := [name for name, place in standing.items() if place.state == state])
    ]
    said += [f"{text[0].upper()}{text[1:]}."] if (text := "; ".join(groups)) else []
    if missing := [name for name in places if name not in standing]:
        said.append(f"No FLOP, so no place: {_names(missing)}.")
    if still:
        said.append(f"No bytes at {memory}, so no place: {_names(still)}.")
    if what_if is not None and not missing_roofs:
        point = roofline(what_if, 1, gpu, precision, memory)
        said.append(
            f"What if: at {what_if:.3g} FLOP/byte the roof is {rate_text(point.attainable)}, {point.bound}-bound."
        )
    return " ".join(said)


def _names(names: Iterable[str]) -> str:
    return ", ".join(fitted(name, LONGEST_IN_SENTENCE) for name in names)


@styled
def roofline_chart(
    places: Mapping[str, PlacedLaunch],
    gpu: GPU,
    precision: str = "fp32",
    memory: str = "DRAM",
    *,
    what_if: float | None = None,
    rates: tuple[float, float] | None = None,
    still: Sequence[str] = (),
) -> Picture:
    """Kernels under the roofs of a GPU: the chosen roof bold, other units' flat roofs thin, a key beside it.

    `places` by name, all of this GPU and memory (`roofline.place`); colour and marker are the state, the number leads
    to the key. `what_if`: FLOP/byte of a kernel that is yet to be written, a star on the roof. `rates`: FLOP/s at the
    ends of the axis, else what the content needs. `still`: kernels that move no bytes there, and so have no place.
    A roof that no document gives is missing, and the picture says which. Raises ValueError for more than
    `MOST_PLACES` kernels.
    """
    if (count := len(places) + len(still)) > MOST_PLACES:
        raise ValueError(f"{count} kernels are too many for one roofline: show at most {MOST_PLACES}")
    figure, axes = new(place=_AXES)
    peaks = _peaks(gpu)
    low, high = rates or rates_shown(places.values(), gpu)
    axes.set(xscale="log", yscale="log", xlim=INTENSITIES, ylim=(low, high))
    flat, slope = peaks.get(precision), MEMORIES[memory].bandwidth(gpu)
    known = None not in (flat, slope)
    taken = _roofs(axes, precision, peaks, slope)
    numbers = {name: number for number, name in enumerate(places, 1)}
    standing = {name: place for name, place in places.items() if place.flops}
    if what_if is not None and known:
        star = roofline(what_if, 1, gpu, precision, memory).attainable
        axes.plot([what_if, what_if], [low, star], color=PALETTE["grey"], lw=0.8, ls=":", zorder=1)
        axes.plot([what_if], [star], marker="*", ms=11, color=PALETTE["orange"], mec=PALETTE["ink"], mew=0.6, zorder=5)
        taken.append(around(_points(axes, what_if, star), (11, 11)))
    _marks(axes, standing, numbers, taken)
    _ticks(axes)
    kinds = {"measured" if place.measured else "modelled" for place in standing.values()} or {"modelled"}
    axes.set_xlabel(f"FLOP per byte of {memory} (counted)", labelpad=1, fontsize=9)
    axes.set_ylabel(f"FLOP/s ({' and '.join(sorted(kinds))})", labelpad=1, fontsize=9)
    heights = f"{PRECISIONS[precision]} {_height(flat, 'FLOP/s')}, {memory} {_height(slope, 'B/s')}"
    figure.text(0.01, 0.945, f"{gpu.name}. Roof: {heights}", fontsize=7.5)
    missing = [f"no peak published for {PRECISIONS[precision]}: no flat roof"] if flat is None else []
    missing += [f"no bandwidth published for {memory}: no slope"] if slope is None else []
    for line, words in enumerate(missing):
        figure.text(
            _AXES[0] + _AXES[2] - 0.01, _AXES[1] + 0.03 + 0.05 * line, words, fontsize=7.5, ha="right",
            color=PALETTE["vermilion"], bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8},
        )  # fmt: skip
    _key(figure, places, numbers, what_if is not None and known, still)
    return Picture(figure, roofline_finding(places, gpu, precision, memory, what_if, still))


def _height(roof: float | None, unit: str) -> str:
    return "not known" if roof is None else rate_text(roof, unit)


def rates_shown(places: Iterable[PlacedLaunch], gpu: GPU, arithmetic: float = 1) -> tuple[float, float]:
    """FLOP/s at the ends of an axis with room for these kernels, and for roofs so many times as high as the GPU's."""
    top = max(_peaks(gpu).values())
    lowest = [place.rate / 2 for place in places if place.flops]
    return min([top * 10**-_LEAST_RATE_DECADES, *lowest]), top * arithmetic * _ABOVE


def roofline_tracks(
    axes: Axes,
    gpu: GPU,
    precision: str,
    memory: str,
    *,
    at: tuple[float, float],
    bandwidths: Sequence[float],
    arithmetics: Sequence[float],
    what_ifs: Sequence[float],
) -> dict[str, Track]:
    """Where the slope ("bandwidth"), the flat roof ("arithmetic") and the star ("what_if") of a chart can be dragged.

    gpu: as it is, not scaled; at: by how much its bandwidth and its arithmetic are scaled in the chart; the sequences:
    the values that each may take. A slope that `scaled` leaves where it is has no track; where a roof is not known,
    nothing has one.
    """
    if roofs_missing(gpu, precision, memory):
        return {}
    times_bytes, times_flops = at

    def slope(factor: float) -> float:
        return bandwidth(scaled(gpu, memory=factor), memory)

    def peak(factor: float) -> float:
        return peak_flops(scaled(gpu, arithmetic=factor), precision)

    slopes = {factor: slope(factor) for factor in bandwidths}
    peaks = {factor: peak(factor) for factor in arithmetics}
    (left, right), low = INTENSITIES, axes.get_ylim()[0]
    ridge = peaks[times_flops] / slopes[times_bytes]
    # Where the slope can be taken: in the middle of what is seen of it, however it and the flat roof are moved.
    taken = math.sqrt(max(left, low / min(slopes.values())) * min(peaks.values()) / max(slopes.values()))
    flat = ridge ** (1 - _FLAT_AT) * right**_FLAT_AT
    found = {
        "arithmetic": track(
            axes, {factor: (flat, height) for factor, height in peaks.items()}, "y",
            line=((ridge, peaks[times_flops]), (right, peaks[times_flops])), at=times_flops,
        ),
        "what_if": track(axes, {x: (x, min(peaks[times_flops], x * slopes[times_bytes])) for x in what_ifs}),
    }  # fmt: skip
    if len(set(slopes.values())) > 1:
        start = max(left, low / slopes[times_bytes])
        found["bandwidth"] = track(
            axes, {factor: (taken, taken * steep) for factor, steep in slopes.items()}, "y",
            line=((start, start * slopes[times_bytes]), (ridge, peaks[times_flops])), at=times_bytes,
        )  # fmt: skip
    # In the order of the Tab key; the last one lies on top.
    return {name: found[name] for name in ("bandwidth", "arithmetic", "what_if") if name in found}


def _peaks(gpu: GPU) -> dict[str, float]:
    """The flat roofs that documents give for a GPU."""
    found = {}
    for unit in PRECISIONS:
        try:
            found[unit] = peak_flops(gpu, unit)
        except ValueError:  # it has no such units
            continue
    return found


def _points(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """A place in the axes' data as points of the figure."""
    (left, right), (low, high) = (map(math.log10, limits) for limits in (axes.get_xlim(), axes.get_ylim()))
    x0, y0, wide, tall = _AXES
    across, up = (math.log10(x) - left) / (right - left), (math.log10(y) - low) / (high - low)
    return (x0 + across * wide) * _POINTS_WIDE, (y0 + up * tall) * _POINTS_HIGH


def _data(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """The reverse of `_points`."""
    (left, right), (low, high) = (map(math.log10, limits) for limits in (axes.get_xlim(), axes.get_ylim()))
    x0, y0, wide, tall = _AXES
    across, up = (x / _POINTS_WIDE - x0) / wide, (y / _POINTS_HIGH - y0) / tall
    return 10 ** (left + across * (right - left)), 10 ** (low + up * (high - low))


def _roofs(axes: Axes, precision: str, peaks: Mapping[str, float], slope: float | None) -> list[Box]:
    """Draw the roofs with their names, those that are known; the boxes that the names take."""
    taken = []
    left, right = INTENSITIES
    for names, peak in _alike(peaks):
        chosen = precision in names
        ridge = left if slope is None else max(peak / slope, left)
        strong: dict[str, Any] = {"color": PALETTE["ink"], "lw": 1.6}
        if not chosen:
            strong = {"color": PALETTE["grey"], "lw": 0.7, "ls": "--"}
        axes.plot([ridge, right], [peak, peak], zorder=2, **strong)
        if chosen:  # its name and number stand in the title
            continue
        text = f"{', '.join(PRECISIONS[name] for name in names)} {rate_text(peak, '')}"
        axes.annotate(
            text, (right, peak), (-1, 0.8), textcoords="offset points", ha="right", va="bottom", fontsize=7,
            color=PALETTE["grey"],
        )  # fmt: skip
        x, y = _points(axes, right, peak)
        taken.append((x - 4.7 * len(text), y, x, y + 9))
    if slope is None:
        return taken
    highest = max(peaks.values())
    axes.plot([left, highest / slope], [left * slope, highest], color=PALETTE["grey"], lw=0.7, ls="--", zorder=2)
    if precision not in peaks:
        return taken
    peak = peaks[precision]
    axes.plot([left, peak / slope], [left * slope, peak], color=PALETTE["ink"], lw=1.6, zorder=2)
    corners = [_points(axes, x, min(peak, x * slope)) for x in (left, peak / slope, right)]
    return taken + [box for start, end in pairwise(corners) for box in _along(start, end)]


def _along(start: tuple[float, float], end: tuple[float, float], apart: float = 5) -> list[Box]:
    """Small boxes along a line, so that no label lies on it."""
    steps = max(1, int(math.dist(start, end) / apart))
    (x, y), (dx, dy) = start, ((b - a) / steps for a, b in zip(start, end, strict=True))
    return [around((x + n * dx, y + n * dy), (4, 4)) for n in range(steps)]


def _alike(peaks: Mapping[str, float]) -> list[tuple[list[str], float]]:
    """Units by their roofs; roofs so near one another that they would be one line are one."""
    groups: list[tuple[list[str], float]] = []
    for unit, peak in sorted(peaks.items(), key=lambda pair: pair[1]):
        if groups and peak <= 1.15 * groups[-1][1]:
            groups[-1][0].append(unit)
        else:
            groups.append(([unit], peak))
    return groups


def _marks(axes: Axes, places: Mapping[str, PlacedLaunch], numbers: Mapping[str, int], taken: Sequence[Box]) -> None:
    """A marker for each kernel, and its number beside it, where it hides nothing."""
    spots = {name: _points(axes, _inside(place.intensity), place.rate) for name, place in places.items()}
    sizes = [(5.2 * len(str(numbers[name])) + 2, 9.5) for name in places]
    x0, y0, wide, tall = _AXES
    within = (
        x0 * _POINTS_WIDE + 1, y0 * _POINTS_HIGH + 1, (x0 + wide) * _POINTS_WIDE - 1, (y0 + tall) * _POINTS_HIGH - 1
    )  # fmt: skip
    centres = spread(list(spots.values()), sizes, within, mark=7, taken=taken)
    for (name, place), centre in zip(places.items(), centres, strict=True):
        colour, marker = STATES[place.state]
        x, y = _inside(place.intensity), place.rate
        axes.plot([x], [y], marker=marker, ms=5.5, color=PALETTE[colour], mec="white", mew=0.6, zorder=4)
        where = _data(axes, *centre)
        if math.dist(spots[name], centre) > 12:
            axes.plot([x, where[0]], [y, where[1]], color=PALETTE[colour], lw=0.6, zorder=3)
        axes.text(
            *where, str(numbers[name]), ha="center", va="center_baseline", fontsize=7.5, color="#222222", zorder=6,
            bbox={"boxstyle": "square,pad=0.08", "fc": "white", "ec": "none", "alpha": 0.8},
        )  # fmt: skip


def _inside(intensity: float) -> float:
    """An intensity as it can be drawn: at the edge when it lies beyond."""
    return min(max(intensity, INTENSITIES[0] * 1.05), INTENSITIES[1] / 1.05)


def _ticks(axes: Axes) -> None:
    axes.xaxis.set_major_locator(FixedLocator([16.0**power for power in range(-2, 4)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if value >= 1 else f"1/{1 / value:g}"))
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=12))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: rate_text(value, "")))
    axes.tick_params(labelsize=8)
    axes.grid(True, lw=0.5)


def _key(
    figure: Figure, places: Mapping[str, PlacedLaunch], numbers: Mapping[str, int], star: bool, still: Sequence[str]
) -> None:
    """The names by number: what each is bound by, and its share of the roof of its own units at its intensity."""

    def mark(left: float, at: float, marker: str, colour: str, size: float = 5.5, edge: str = "white") -> None:
        dot = Line2D([left], [at + 0.011], marker=marker, ms=size, color=PALETTE[colour], mec=edge, mew=0.5)
        figure.add_artist(dot)

    step = min(0.062, 0.78 / (len(places) + len(still) + star + 1))
    figure.text(0.99, 0.945, "bound by, share of roof", fontsize=7.5, ha="right", color="#444444")
    at = 0.945 - step
    for name, place in places.items():
        if place.flops:
            colour, marker = STATES[place.state]
            mark(0.652, at, marker, colour)
        share = "" if place.share is None else f" {place.share:.0%}"
        said = f"{'' if place.flops else 'no FLOP; '}{_SHORT.get(place.limiter, place.limiter)}{share}"
        figure.text(0.667, at, str(numbers[name]) if place.flops else "–", fontsize=7.5)
        figure.text(0.694, at, fitted(name, LONGEST_NAME), fontsize=7.5)
        figure.text(0.99, at, said, fontsize=7.5, ha="right")
        at -= step
    for name in still:
        figure.text(0.667, at, "–", fontsize=7.5)
        figure.text(0.694, at, fitted(name, LONGEST_NAME), fontsize=7.5)
        figure.text(0.99, at, "no bytes here", fontsize=7.5, ha="right")
        at -= step
    if star:
        mark(0.652, at, "*", "orange", size=9, edge=PALETTE["ink"])
        figure.text(0.694, at, "what if, on the roof", fontsize=7.5)
    for (state, (colour, marker)), left in zip(STATES.items(), (0.66, 0.765, 0.875), strict=True):
        mark(left, 0.03, marker, colour)
        figure.text(left + 0.013, 0.03, state, fontsize=7.5)

"""The levels of a GPU's memory as a pyramid: how much a thread can reach, how far away it is, how fast it comes."""

from __future__ import annotations

import math
from html import escape
from string import ascii_lowercase

from helpers.pictures.figures import PALETTE, Drawing, Markup
from helpers.pictures.plots.ink import GREY, PALE, Ink
from vgpu.hardware.gpus import GPU
from vgpu.hardware.memory_levels import Figure, Level, levels
from vgpu.hardware.sources import Source

WIDTH, HEIGHT = 860, 292
TOP, ROW, BAR = 50, 40, 22
PYRAMID, TOTAL, CLOCKS, SPEED = (130, 390), 462, (500, 660), (690, 850)
"""Left and right ends of the bars, and the right end of a column of text."""
REACH, LATENCY, BANDWIDTH = (2**8, 2**39), (1, 1e4), (1e9, 1e15)
"""The ends of the three logarithmic scales: bytes, clocks, bytes a second."""
_COLOURS = ("green", "orange", "orange", "sky", "blue", "purple")
LONGEST_TITLE = 112
SOURCE_LINE = 16.5


def bytes_text(count: float | None) -> str:
    """`1,020 B`, `164 KiB`, `27 MiB`."""
    if count is None:
        return "unknown"
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:,.3g} {unit}" if count < 1000 * size else f"{count / size:,.0f} {unit}"
    return f"{count:,.0f} B"


def speed_text(rate: float | None) -> str:
    """Bytes a second as `936 GB/s` or `19.5 TB/s`."""
    if rate is None:
        return "unknown"
    return f"{rate / 1e12:.3g} TB/s" if rate >= 1e12 else f"{rate / 1e9:.3g} GB/s"


def _latency_text(clocks: float | None, gpu: GPU) -> str:
    return "unknown" if clocks is None else f"{clocks:.3g} clocks, {clocks / gpu.clock * 1e9:.3g} ns"


def _share(value: float, scale: tuple[float, float]) -> float:
    low, high = (math.log(end) for end in scale)
    return min(1, max(0.02, (math.log(value) - low) / (high - low)))


class _Letters:
    """A letter for each source, in the order in which they are met."""

    def __init__(self):
        self.met: dict[Source, str] = {}

    def of(self, figure: Figure) -> str:
        return "".join(self.met.setdefault(source, ascii_lowercase[len(self.met)]) for source in figure.sources)


def memory_pyramid(gpu: GPU) -> tuple[Drawing, Markup]:
    """One GPU's levels of memory on three logarithmic scales, and the list of sources by their letters.

    What no source gives is drawn as an empty dashed box and called unknown.
    """
    ink, letters, rows = Ink(), _Letters(), levels(gpu)
    ink.text(8, 18, f"{gpu.name}: {gpu.product}", size=12.5, bold=True, mono=False)
    ink.text(WIDTH - 8, 18, "logarithmic scales · letters: sources below", size=10, ink=PALE, mono=False, anchor="end")
    heads = (
        (sum(PYRAMID) / 2, "middle", "a thread can reach"), (TOTAL, "end", "in all"),
        (CLOCKS[0], "start", "latency, from load to use"), (SPEED[0], "start", "bandwidth, the whole GPU"),
    )  # fmt: skip
    for x, anchor, words in heads:
        ink.text(x, TOP - 8, words, size=10, ink=PALE, mono=False, anchor=anchor)
    for at, (level, colour) in enumerate(zip(rows, _COLOURS, strict=True)):
        _row(ink, level, TOP + at * ROW, PALETTE[colour], gpu, letters)
    return ink.drawing(_finding(gpu, rows), WIDTH, HEIGHT), _sources(gpu, letters)


def _row(ink: Ink, level: Level, y: float, colour: str, gpu: GPU, letters: _Letters) -> None:
    ink.text(8, y + 12, level.name, size=11.5, bold=True, mono=False)
    ink.text(8, y + 25, level.owner, size=9.5, ink=PALE, mono=False)
    middle, full = sum(PYRAMID) / 2, PYRAMID[1] - PYRAMID[0]
    known = level.reach.value is not None
    wide = full * (_share(level.reach.value, REACH) if known else 1)
    _box(ink, middle - wide / 2, y, wide, colour if known else None)
    said = bytes_text(level.reach.value)
    ink.text(middle, y + BAR + 11, said, size=9.5, mono=False, anchor="middle")
    _mark(ink, middle + 3.2 * len(said), y + BAR + 8, letters.of(level.reach))
    ink.text(TOTAL, y + 15, bytes_text(level.total.value), size=10, mono=False, anchor="end")
    _mark(ink, TOTAL + 2, y + 11, letters.of(level.total))
    for figure, (left, right), scale, words in (
        (level.latency, CLOCKS, LATENCY, _latency_text(level.latency.value, gpu)),
        (level.bandwidth, SPEED, BANDWIDTH, speed_text(level.bandwidth.value)),
    ):
        known = figure.value is not None
        wide = (right - left) * (_share(figure.value, scale) if known else 1)
        _box(ink, left, y, wide, colour if known else None)
        ink.text(left + 2, y + BAR + 11, words, size=9.5, mono=False)
        _mark(ink, left + 5 + 5.6 * len(words), y + BAR + 8, letters.of(figure))


def _box(ink: Ink, x: float, y: float, wide: float, colour: str | None) -> None:
    if colour is None:
        ink.box(x, y, wide, BAR, "#ffffff", GREY, "3 3")
    else:
        ink.box(x, y, wide, BAR, colour)


def _mark(ink: Ink, x: float, y: float, letters: str) -> None:
    if letters:
        ink.text(x, y, letters, size=7.5, ink=PALE, mono=False)


def _finding(gpu: GPU, rows: tuple[Level, ...]) -> str:
    by = {level.name: level for level in rows}
    largest = max(("registers", "L1", "L2"), key=lambda name: by[name].total.value or 0)
    said = f"{gpu.name}: of the memories on chip {largest} {'are' if largest == 'registers' else 'is'} the largest, "
    said += f"{bytes_text(by[largest].total.value)} in all"
    near, far = by["shared memory"].latency.value, by["DRAM"].latency.value
    if near is None or far is None:
        return f"{said}; no source gives its latencies, so they are unknown here."
    return (
        f"{said}; a value from DRAM takes {far:.3g} clocks, {far / near:.2g} times as long as one from shared memory."
    )


def _sources(gpu: GPU, letters: _Letters) -> Markup:
    def title(text: str) -> str:
        return escape(text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1] + "…")

    items = "".join(
        f'<div style="white-space:nowrap;overflow:hidden"><b>{letter}</b> '
        f'<a href="{escape(source.url)}" title="{escape(source.title)}" style="color:#0b5394">{title(source.title)}</a>'
        "</div>"
        for source, letter in letters.met.items()
    )
    body = f'<div style="font:11.5px/{SOURCE_LINE}px system-ui,sans-serif;color:#222">{items}</div>'
    return Markup(body, f"The figures of {gpu.name} come from {len(letters.met)} sources.", WIDTH)

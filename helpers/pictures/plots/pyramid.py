"""The levels of a GPU's memory as a pyramid: how much a thread can reach, how far away it is, how fast it comes."""

from __future__ import annotations

import math
from html import escape
from string import ascii_lowercase

from helpers.hardware.gpus import GPU
from helpers.hardware.memory_levels import Figure, Level, levels
from helpers.hardware.sources import Source
from helpers.pictures.figures import PALETTE, Drawing, Markup
from helpers.pictures.plots.common import bytes_text
from helpers.pictures.plots.templates import from_template

WIDTH, HEIGHT = 860, 292
REACH, LATENCY, BANDWIDTH = (2**8, 2**39), (1, 1e4), (1e9, 1e15)
"""The ends of the three logarithmic scales: bytes, clocks, bytes a second."""
_COLOURS = ("green", "orange", "orange", "sky", "blue", "purple")
LONGEST_TITLE = 112
SOURCE_LINE = 16.5


def _latency_text(clocks: float | None, gpu: GPU) -> str:
    return "unknown" if clocks is None else f"{clocks:.3g} clocks, {clocks / gpu.clock * 1e9:.3g} ns"


def _share(figure: Figure, scale: tuple[float, float]) -> float:
    """How much of a bar on a logarithmic scale the figure fills; all of it where it is unknown."""
    if figure.value is None:
        return 1
    low, high = (math.log(end) for end in scale)
    return min(1, max(0.02, (math.log(figure.value) - low) / (high - low)))


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
    letters, found = _Letters(), levels(gpu)
    rows = [
        (level, PALETTE[colour], _share(level.reach, REACH), _share(level.latency, LATENCY),
         _share(level.bandwidth, BANDWIDTH))
        for level, colour in zip(found, _COLOURS, strict=True)
    ]  # fmt: skip
    drawing = from_template(
        "memory_pyramid", _finding(gpu, found), gpu=gpu, rows=rows, letters=letters.of, latency=_latency_text
    )
    return drawing, _sources(gpu, letters)


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

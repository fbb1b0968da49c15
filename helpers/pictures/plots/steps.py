"""Recordings of a block: which lanes ran which line when, and what each lane held."""

from __future__ import annotations

import numpy as np

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import WARP, shade, stretches
from vgpu.base.words import plural

MOST_STEPS = 240


@styled
def lane_strip(recording, warp: int = 0, *, title: str = "") -> Picture:
    """One warp of a recording: a column a step, a row a lane, coloured by source line where the lane took part.

    recording: what `record` gives; at most `MOST_STEPS` steps of the warp are drawn. A pale cell is a lane that came
    along and was held back by its guard, a white one a lane that stood elsewhere. Raises ValueError for a warp without
    steps.
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    every = recording.of(warp)
    steps = every[:MOST_STEPS]
    if not steps:
        raise ValueError(f"the recording has no steps of warp {warp}; it has {plural(recording.warps, 'warp')}")
    lines = list(dict.fromkeys(step.line for step in steps))
    lines.sort(key=lambda line: -1 if line is None else line)
    figure, axes = new("wide", layout=None)
    axes.set_position([0.075, 0.14, 0.915, 0.64])
    places, colours = _blocks(steps, lines)
    axes.add_collection(PatchCollection([Rectangle(*place) for place in places], facecolors=colours, edgecolors="none"))
    if len(steps) <= MOST_STEPS // 2:
        axes.vlines(range(len(steps) + 1), 0, WARP, color="white", lw=0.6)
    axes.hlines(range(WARP + 1), 0, len(steps), color="white", lw=0.3)
    axes.add_patch(Rectangle((0, 0), len(steps), WARP, fill=False, ec=PALETTE["grey"], lw=0.6))
    axes.set(xlim=(0, len(steps)), ylim=(WARP, 0), yticks=[0.5, 15.5, 31.5], yticklabels=["0", "15", "31"])
    axes.set(xlabel="step", ylabel="lane")
    for first, last, step in stretches(steps, lambda step: step.line):
        wide = (last - first) / len(steps) * 7 * 0.915 * 72
        if wide >= 11:
            text = str(step.line or "")
            axes.text((first + last) / 2, -0.6, text, ha="center", va="bottom", fontsize=8)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    figure.text(
        0.01,
        0.94,
        title or "colour and number above: source line · pale: held back by its guard · white: elsewhere",
        fontsize=9,
    )
    active = sum(sum(step.mask) for step in steps)
    parted = sum(not all(step.mask) for step in steps)
    cut = f" (the first {len(steps)} of {len(every)} steps)" if len(every) > len(steps) else ""
    return Picture(
        figure,
        f"Warp {warp} of {recording.kernel} takes {plural(len(steps), 'step')}{cut}; in {parted} of them some lanes "
        f"stand elsewhere, and {active / len(steps):.3g} of {WARP} lanes are active on average.",
    )


def _blocks(steps, lines) -> tuple[list, list]:
    """Rectangles of steps and lanes on end, on one line and with the same active lanes, and their colours."""
    places, colours, first = [], [], 0
    for at, step in enumerate(steps):
        end = at + 1
        if end < len(steps) and _looks(steps[end]) == _looks(step):
            continue
        held = np.asarray(step.mask) & ~np.asarray(step.active)
        colour = line_colour(lines.index(step.line))
        for lanes, shown in ((step.active, colour), (held, tuple(1 - 0.35 * (1 - part) for part in colour))):
            edges = np.flatnonzero(np.diff([0, *lanes, 0])).tolist()
            for top, bottom in zip(edges[::2], edges[1::2], strict=True):
                places.append(((first, top), end - first, bottom - top))
                colours.append(shown)
        first = end
    return places, colours


def _looks(step) -> tuple:
    return step.line, step.mask, step.active


def line_colour(number: int) -> tuple[float, float, float]:
    """The colour of the n-th line of a kernel: the palette's, then the same in a paler shade."""
    return shade(CYCLE[number % len(CYCLE)], 0.6 if number < len(CYCLE) else 0.8)


@styled
def lane_values(step, *, name: str | None = None, title: str = "") -> Picture:
    """The 32 lanes of one step, each with the value it wrote or moved; lanes that did not take part are hatched.

    step: a `Step` of a recording. name: of the register or variable, where a step writes several; else the first one,
    or what the step moved in memory. Raises ValueError for a step that leaves no value, or none of that name.
    """
    from matplotlib.patches import Rectangle

    what, values = _values_of(step, name)
    figure, axes = new("wide", layout=None)
    axes.set_position([0.01, 0.06, 0.98, 0.72])
    for lane in range(WARP):
        row, column = divmod(lane, 8)
        on = values[lane] is not None
        axes.add_patch(
            Rectangle((column + 0.03, row + 0.06), 0.94, 0.86, fc=shade(PALETTE["blue"], 0.85) if on else "white",
                      ec=PALETTE["grey"] if on else "#c4c4c4", hatch=None if on else "////", lw=0.6)
        )  # fmt: skip
        axes.text(column + 0.08, row + 0.14, str(lane), fontsize=7, va="top", color="#555555")
        if on:
            axes.text(column + 0.5, row + 0.55, _text(values[lane]), fontsize=9, ha="center", va="center")
    axes.set(xlim=(0, 8), ylim=(4, 0))
    axes.axis("off")
    where = f"line {step.line}: {step.source}" if step.line is not None else " ".join(step.instruction.split())
    figure.text(0.01, 0.93, title or where[:95], fontsize=9, family="monospace")
    figure.text(0.01, 0.85, f"{what} after step {step.number} · hatched: no part in this step", fontsize=9)
    given = [value for value in values if value is not None]
    return Picture(
        figure, f"After step {step.number} {what} is {_said(given)} in {plural(len(given), 'lane')} of {WARP}."
    )


def _values_of(step, name: str | None):
    found = [(written.name or written.register, written.values) for written in step.written]
    found += [(f"register {w.register}", w.values) for w in step.written if w.name]
    found += [(f"{touched.access.array or touched.access.space} memory", touched.after) for touched in step.touched]
    for what, values in found:
        if name is None or what in (name, f"register {name}", f"{name} memory"):
            return what, values
    known = ", ".join(what for what, _ in found)
    raise ValueError(
        f"step {step.number} leaves no value{f' called {name!r}' if name else ''}; it has {known or 'none'}"
    )


def _text(value) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 12 else text[:11] + "…"


def _said(given: list) -> str:
    if not given:
        return "nothing"
    if all(value == given[0] for value in given):
        return _text(given[0])
    return f"from {_text(given[0])} (first lane) to {_text(given[-1])} (last lane)"

"""Two schedules of one kernel beside one another: who did what to the memory that threads share, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.patches import Rectangle

from helpers.pictures.figures import PALETTE, Picture, styled, subplots
from helpers.pictures.plots.common import shade
from helpers.pictures.plots.short_values import fitted
from vgpu.base.words import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from vgpu.tools.steps.interleaving import InterleavedStep, Interleavings, MemoryCell, ScheduledRun, ThreadStep

MOST_ROWS = 9
FEWEST_ROWS = 6
LONGEST_CELL, LONGEST_KERNEL = 32, 40  # letters, in a sentence
LONGEST_NUMBER = 10**7  # whole numbers beyond it are rounded, as floats are
_COLOURS = {"load": "sky", "store": "orange", "atomic": "green", "barrier": "purple", "compute": "grey"}
_VERBS = {"load": "reads", "store": "writes", "atomic": "atomic:", "barrier": "barrier", "compute": "computes"}
_NUMBER, _CELL = 0.07, 0.2  # of a panel's width, for the number of a step and for each watched cell
_LETTER, _BOLD = 0.55, 0.68  # width of a letter, of the size of its font
_HEAD, _ROOM = 0.18, 0.72  # of a panel's height: above the rows, and for them


@styled
def schedule_pair(found: Interleavings, left: ScheduledRun, right: ScheduledRun, step: int) -> Picture:
    """Two runs of a kernel after so many steps: one row per step, one column per thread, and the cells they share.

    found: what `interleavings` gives; left, right: two of its `runs`; step: from 0 to the number of rows of the longer
    run. Rows still to come are empty. A run that failed shows its message.
    """
    figure, grid = subplots(1, 2)
    for place, run, panel in zip((0.005, 0.51), (left, right), grid[0], strict=True):
        panel.set_position((place, 0.02, 0.485, 0.96))
        panel.set(xlim=(0, 1), ylim=(1, 0))
        panel.axis("off")
        rows = min(MOST_ROWS, max(FEWEST_ROWS, *(len(each.rows) for each in (left, right))))
        _panel(panel, found, run, min(step, len(run.rows)), _ROOM / rows)
    return Picture(figure, _finding(found, left, right, step))


def _panel(axes: Axes, found: Interleavings, run: ScheduledRun, step: int, tall: float) -> None:
    size = _points(axes)
    axes.add_patch(Rectangle((0, 0), 1, 1, fill=False, ec="#c4c4c4", lw=0.8))
    over = step == len(run.rows) and run.error is None
    title = run.name + (f": {_ends(found, run)}" if over else f", step {step} of {len(run.rows)}")
    title = "fails" if run.error else fitted(title, int(0.97 * size / (_BOLD * 6.5)))
    axes.text(0.015, 0.055, title, fontsize=_fit(title, 0.97 * size, 9.5, _BOLD), weight="bold", va="center")
    if run.error is not None:
        axes.text(0.02, 0.15, _wrapped(str(run.error), 52), fontsize=7.5, va="top")
        return
    others = any(deed.thread not in found.threads for row in run.rows for deed in row.deeds)
    heads = [f"thread {thread}" for thread in found.threads] + ["others"] * others
    edges = [_NUMBER + (1 - _NUMBER - _CELL * len(found.watched)) * n / len(heads) for n in range(len(heads) + 1)]
    memory = [edges[-1] + _CELL * n for n in range(len(found.watched) + 1)]
    for left, right, text in [
        *zip(edges, edges[1:], heads, strict=False),
        *zip(memory, memory[1:], map(str, found.watched), strict=False),
    ]:
        cell = left >= edges[-1]
        text = _cut(text, (right - left) * size, _BOLD if cell else _LETTER)
        axes.text((left + right) / 2, 0.135, text, ha="center", va="center", weight="bold" if cell else "normal",
                  fontsize=_fit(text, (right - left) * size, 8.5, _BOLD if cell else _LETTER))  # fmt: skip
    first = max(0, step - MOST_ROWS)
    for place, number in enumerate(range(first, min(first + MOST_ROWS, len(run.rows)))):
        top = _HEAD + place * tall
        axes.text(
            _NUMBER * 0.8, top + tall / 2, str(number + 1), fontsize=7.5, ha="right", va="center", color="#555555"
        )
        if number >= step:
            axes.hlines(top + tall / 2, edges[0] + 0.02, 0.98, color="#dddddd", lw=0.8, ls=":")
            continue
        row = run.rows[number]
        for column, (colour, text) in _texts(found, row).items():
            left, wide = edges[column], edges[column + 1] - edges[column]
            axes.add_patch(Rectangle((left + 0.006, top + 0.006), wide - 0.012, tall - 0.012,
                                     fc=shade(PALETTE[colour], 0.85), ec=PALETTE[colour], lw=0.8))  # fmt: skip
            text = _cut(text, (wide - 0.03) * size)
            axes.text(left + wide / 2, top + tall / 2, text, fontsize=_fit(text, (wide - 0.03) * size, 8),
                      ha="center", va="center")  # fmt: skip
        before = run.rows[number - 1].memory if number else (None,) * len(row.memory)
        for at, value in enumerate(row.memory):
            new_ = number == 0 or value_text(before[at]) != value_text(value)
            text = _cut(value_text(value), _CELL * size, _BOLD)
            axes.text(memory[at] + _CELL / 2, top + tall / 2, text, ha="center",
                      fontsize=_fit(text, _CELL * size, 8.5, _BOLD),
                      va="center", weight="bold" if new_ else "normal", color="#000000" if new_ else "#555555",
                      family="monospace")  # fmt: skip
    if step:
        row = run.rows[step - 1]
        top = _HEAD + (step - 1 - first) * tall
        axes.add_patch(Rectangle((0.004, top), 0.992, tall, fill=False, ec=PALETTE["ink"], lw=1.4))
        source = f"line {row.line}: {' '.join(row.source.split())}" if row.line is not None else ""
        axes.text(0.015, 0.945, source if len(source) <= 49 else source[:48] + "…", fontsize=7.5, va="center",
                  family="monospace")  # fmt: skip


def _points(axes: Axes) -> float:
    """The width of axes in points."""
    return axes.get_position().width * axes.figure.get_figure(root=True).get_figwidth() * 72


def _fit(text: str, room: float, largest: float, letter: float = _LETTER) -> float:
    """A size of font at which a text fits so many points."""
    return max(5.0, min(largest, room / (letter * max(len(text), 1))))


def _cut(text: str, room: float, letter: float = _LETTER) -> str:
    """A text cut to what fits so many points at the smallest size."""
    return _short(text, max(3, int(room / (letter * 5.0))))


def _short(text: str, most: int) -> str:
    """A text of at most so many letters, cut in its middle: names begin it and indices end it."""
    return text if len(text) <= most else f"{text[: most - most // 2 - 1]}…{text[len(text) - most // 2 :]}"


def _texts(found: Interleavings, row: InterleavedStep) -> dict[int, tuple[str, str]]:
    """By column, the colour and the words of what happens in one row."""
    texts: dict[int, tuple[str, str]] = {}
    others = [deed for deed in row.deeds if deed.thread not in found.threads]
    for deed in row.deeds:
        if deed.thread in found.threads:
            line = "" if row.line is None else f"{row.line}: "
            texts[found.threads.index(deed.thread)] = _COLOURS[deed.op], line + _deed_text(found, deed)
    if others:
        words = _deed_text(found, others[-1])
        texts[len(found.threads)] = _COLOURS[others[-1].op], f"{len(others)} × {words}"
    return texts


def _deed_text(found: Interleavings, deed: ThreadStep) -> str:
    verb = _VERBS[deed.op]
    if deed.cell is None:
        return verb
    if len(found.watched) == 1 and deed.cell in found.watched:
        return f"{verb} {value_text(deed.value)}"
    if deed.op == "load":
        return f"reads {deed.cell}: {value_text(deed.value)}"
    return f"{deed.cell} = {value_text(deed.value)}"


def value_text(value: object) -> str:
    """A value in a few characters."""
    if value is None:
        return "?"
    if isinstance(value, tuple):
        return f"({', '.join(map(value_text, value))})"
    long = isinstance(value, int) and abs(value) >= LONGEST_NUMBER
    return f"{value:.4g}" if long or isinstance(value, float) else str(value)


def _ends(found: Interleavings, run: ScheduledRun) -> str:
    ends = [f"{_called(cell)} ends as {value_text(v)}" for cell, v in zip(found.telling, run.outcome, strict=True)]
    return ", ".join(ends) or "these threads share nothing that is written"


def _called(cell: MemoryCell) -> str:
    """A cell by its name, cut where that is long; its index stays."""
    return _short(str(cell), LONGEST_CELL)


def _wrapped(text: str, width: int) -> str:
    import textwrap

    return "\n".join(line for part in text.splitlines() for line in textwrap.wrap(part, width))[: 12 * width]


def _finding(found: Interleavings, left: ScheduledRun, right: ScheduledRun, step: int) -> str:
    runs = (left, right)
    if all(step >= len(run.rows) for run in runs):
        ends = [f"{run.name}: {'it fails' if run.error else _ends(found, run)}" for run in runs]
        told = "the same result" if found.results == 1 else f"{found.results} different results"
        ended = f"{ends[0]}; {ends[1]}"
        tried = f"{plural(found.tried, 'schedule')} of {fitted(found.kernel, LONGEST_KERNEL)}"
        return f"{ended[0].upper()}{ended[1:]}. {tried}: {told}."
    said = [f"{run.name}: {_now(found, run, min(step, len(run.rows)))}" for run in runs]
    return f"Step {step}. {'; '.join(said)}."


def _now(found: Interleavings, run: ScheduledRun, step: int) -> str:
    if run.error is not None:
        return "fails"
    if step == 0:
        return "nothing has happened yet"
    row = run.rows[step - 1]
    mine = [deed for deed in row.deeds if deed.thread in found.threads] or list(row.deeds[-1:])
    who = _listed([str(deed.thread) for deed in mine])
    words = _deed_text(found, mine[-1])
    held = zip(found.watched, row.memory, strict=True)
    cells = ", ".join(f"{_called(cell)} holds {value_text(value)}" for cell, value in held)
    return f"thread{'s' * (len(mine) > 1)} {who} at line {row.line}: {words}" + (f", {cells}" if cells else "")


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

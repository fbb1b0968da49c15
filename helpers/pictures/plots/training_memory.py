"""Memory in training: what it is used for, what is reserved, and the blocks of the caching allocator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
from matplotlib.patches import Patch

from helpers.pictures.figures import CYCLE, PALETTE, Drawing, Picture, new, styled
from helpers.pictures.plots.ink import PALE, Ink
from helpers.pictures.plots.short_values import fitted
from helpers.results.torch.allocator_parts import Piece, Row
from helpers.results.torch.memory import MIB, NO_PHASE, TEMPORARY, MemoryLine
from helpers.results.torch.replay import Moment, Replay
from vgpu.base.words import plural

_LOOK = ((CYCLE[0], ""), (CYCLE[1], "//"), (CYCLE[4], ""), (CYCLE[3], "\\\\"), (CYCLE[5], ".."), (CYCLE[2], "xx"))
_MOST_POINTS, _FEWEST_POINTS = 360, 12
_OTHERS = 0.15  # of the width of a phase: one that has no name here


@styled
def memory_kinds(line: MemoryLine, kept: Mapping[str, str], *, name: str = "") -> Picture:
    """Bytes after each allocation or free, stacked by purpose, with the phases marked above.

    kept: what each phase leaves behind, by the name of the phase: {"forward": "activations", …}.
    """
    kinds = line.kinds(kept)
    figure, axes = new(left=0.08, right=0.985, top=0.80, bottom=0.14)
    shown, places, edges = _places(line, kept)
    stack = np.array(list(kinds.values()))[:, shown] / MIB
    for row, (kind, lower, upper) in enumerate(zip(kinds, _below(stack), np.cumsum(stack, axis=0), strict=True)):
        colour, hatch = (PALETTE["grey"], "") if kind == TEMPORARY else _LOOK[row % len(_LOOK)]
        axes.fill_between(places, lower, upper, step="post", facecolor=colour, hatch=hatch, edgecolor="#ffffff", lw=0,
                          label=kind)  # fmt: skip
    at = line.allocated.index(line.peak)
    peak = np.interp(at, shown, places)
    axes.plot([peak], [line.peak / MIB], ls="", marker="v", ms=9, color=PALETTE["ink"], label="peak", clip_on=False)
    top = 1.08 * line.peak / MIB
    for phase, (left, right) in zip(line.phases, pairwise(edges), strict=True):
        axes.axvline(left, color="#333333", lw=0.6, ls=":")
        if phase.name in kept:
            axes.text((left + right) / 2, top, phase.name, ha="center", va="bottom", fontsize=min(8.5, 90 / len(edges)))
    axes.set(xlim=(0, edges[-1]), ylim=(0, top), ylabel="MiB", xticks=[])
    axes.set_xlabel("phases in order, all drawn equally wide; within each, allocations and frees in order")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.07), ncols=6, fontsize=9, borderaxespad=0, handlelength=1.5,
                columnspacing=1.1)  # fmt: skip
    return Picture(figure, kinds_finding(line, kept, name))


def _places(line: MemoryLine, kept: Mapping[str, str]) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Changes that are drawn, where each of them stands, and where phases begin and end: all as wide, as an optimiser
    makes many more changes than a forward pass. Of a long phase the largest of each stretch is drawn."""
    shown, places, edges = [], [], [0.0]
    most = max(_FEWEST_POINTS, _MOST_POINTS // len(line.phases))
    heights = np.array(line.allocated)
    for phase in line.phases:
        count = phase.last - phase.first + 1
        cuts = phase.first + np.linspace(0, count, min(count, most) + 1).astype(int)
        wide = 1.0 if phase.name in kept else _OTHERS
        for first, last in pairwise(cuts):
            at = first + heights[first:last].argmax()
            shown.append(at)
            places.append(edges[-1] + wide * (at - phase.first) / count)
        edges.append(edges[-1] + wide)
    return np.array(shown), np.array(places), edges


def _below(stack: np.ndarray) -> np.ndarray:
    return np.cumsum(stack, axis=0) - stack


def kinds_finding(line: MemoryLine, kept: Mapping[str, str], name: str = "") -> str:
    """What the picture shows, in a sentence."""
    at = line.allocated.index(line.peak)
    parts = ", ".join(f"{kind} {values[at] / MIB:.1f}" for kind, values in line.kinds(kept).items() if values[at])
    where = f"at allocation {at + 1} of {len(line.changes)}, in {line.peak_phase}"
    return (
        f"{f'{name}: the' if name else 'The'} peak of {line.peak / MIB:.1f} MiB comes {where}, and consists, in MiB, "
        f"of {parts} (counted)."
    )


_BANDS = (CYCLE[4], PALETTE["yellow"], CYCLE[2], CYCLE[1], CYCLE[5], CYCLE[3])
_HATCHES = ("", "//", "..", "\\\\", "xx", "--")


@styled
def memory_steps(line: MemoryLine, *, name: str = "") -> Picture:
    """Bytes allocated and bytes reserved after each allocation or free, over the program's phases."""
    figure, axes = new()
    numbers = range(1, len(line.changes) + 1)
    names = list(dict.fromkeys(phase.name for phase in line.phases if phase.name != NO_PHASE))
    look = {each: (_BANDS[n % len(_BANDS)], _HATCHES[n % len(_HATCHES)]) for n, each in enumerate(names)}
    for phase in line.phases:
        colour, hatch = look.get(phase.name, ("none", ""))
        axes.axvspan(phase.first + 0.5, phase.last + 1.5, facecolor=colour, hatch=hatch, edgecolor="#ffffff", alpha=0.4,
                     lw=0)  # fmt: skip
    held = axes.plot(numbers, [each / MIB for each in line.allocated], drawstyle="steps-mid", color=PALETTE["blue"],
                     lw=2)[0]  # fmt: skip
    kept = axes.plot(numbers, [each / MIB for each in line.reserved], drawstyle="steps-mid", color=PALETTE["ink"],
                     ls="--", lw=1.5)[0]  # fmt: skip
    at = line.allocated.index(line.peak) + 1
    peak = axes.plot([at], [line.peak / MIB], ls="", marker="v", ms=9, color=PALETTE["vermilion"])[0]
    axes.set_xlim(0.5, len(numbers) + 0.5)
    axes.set_ylim(0, 1.12 * max(line.reserved) / MIB)
    axes.set_xlabel("allocations and frees, in order")
    axes.set_ylabel("MiB")
    bands = [Patch(facecolor=look[each][0], hatch=look[each][1], edgecolor="#ffffff", alpha=0.4) for each in names]
    figure.legend(
        [held, kept, peak, *bands], ["held by tensors", f"reserved, {line.kind}", "peak", *names],
        loc="outside upper left", ncols=4, fontsize=9, columnspacing=1.2, handlelength=1.8,
    )  # fmt: skip
    return Picture(figure, memory_finding(line, name))


def memory_finding(line: MemoryLine, name: str = "") -> str:
    """What the picture shows, in a sentence."""
    where = "between the marked phases" if line.peak_phase == NO_PHASE else f"in {line.peak_phase}"
    return (
        f"{f'{name}: tensors' if name else 'Tensors'} hold {line.peak / MIB:.2f} MiB at most, {where}, and "
        f"{line.allocated[-1] / MIB:.2f} MiB in the end; the allocator reserves {line.reserved[-1] / MIB:.4g} MiB for "
        f"them by then ({line.kind})."
    )


WIDTH, LEFT, RIGHT = 860, 96, 850
TOP, BAR, STEP = 62, 18, 25
LINE_HEIGHT, BELOW = 88, 44
MOST_ROWS = 12
THINNEST, LETTER = 2.5, 6.1
MOST_POINTS = 400
MOST_MARKS = 800
HELD, NEW, LOCKED, IDLE, BARE = "#8fc7ee", "#f2b134", "#ffffff", "#cfe9d9", "#f3f3f3"
EDGES = {HELD: "#0060a0", NEW: "#8a5a00", LOCKED: "#777777", IDLE: "#00704f", BARE: "#bbbbbb"}
LEGEND = ((HELD, "held by a tensor"), (NEW, "taken in this step"), (LOCKED, "free, beside others: stays reserved"),
          (IDLE, "unused segment (can be freed)"), (BARE, "addresses without memory"))  # fmt: skip


def rows_needed(replay: Replay) -> int:
    """Rows that a drawing needs for any moment of a replay."""
    return min(MOST_ROWS, max(1, max(len(moment.rows) for moment in replay)))


def block_map_height(rows: int) -> int:
    """Pixels of a drawing with room for so many segments."""
    return TOP + rows * STEP + LINE_HEIGHT + BELOW


def block_map(
    replay: Replay, step: int | None = None, *, rows: int | None = None, widest: int = 0, name: str = ""
) -> Drawing:
    """The allocator's segments after a step, one row each, with their blocks; below, the bytes over all steps.

    step: from 0; None for the last. rows: room for so many segments. widest: bytes that the width stands for, where
    several drawings are to have one scale. IndexError for a step that the replay does not have.
    """
    step = len(replay) - 1 if step is None else step
    moment, ink = replay[step], Ink()
    room = rows or rows_needed(replay)
    widest = max(widest, widest_row(replay))
    _head(ink, replay, moment, step)
    shown = sorted(moment.rows, key=lambda row: row.small)  # large segments first
    hidden = shown[room - 1 :] if len(shown) > room else []
    drawn = shown[: room - 1] if hidden else shown
    scale = (RIGHT - LEFT) / widest
    thinnest = max(THINNEST, sum(map(_bytes, drawn)) * scale / MOST_MARKS)
    for number, row in enumerate(drawn):
        _segment(ink, row, TOP + number * STEP, scale, thinnest, moment)
    if hidden:
        told = f"and {plural(len(hidden), 'segment')} more, {sum(map(_bytes, hidden)) / MIB:,.4g} MiB"
        ink.text(LEFT, TOP + (room - 1) * STEP + 13, told, size=10.5, ink=PALE, mono=False)
    _course(ink, replay, step, TOP + room * STEP + 12)
    return ink.drawing(_finding(replay, moment, step, name), WIDTH, block_map_height(room))


def widest_row(replay: Replay) -> int:
    """Bytes of the largest segment of all moments."""
    return max((_bytes(row) for moment in replay for row in moment.rows), default=MIB) or MIB


def _bytes(row: Row) -> int:
    return sum(piece.nbytes for piece in row.pieces)


def _head(ink: Ink, replay: Replay, moment: Moment, step: int) -> None:
    said = f"step {step} of {len(replay) - 1}: {fitted(moment.words, 46)}"
    failed = replay.failed and step == len(replay) - 1
    ink.text(8, 16, f"{said}: out of memory" if failed else said, size=12.5, bold=True, mono=False,
             ink="#b00020" if failed else "#222222")  # fmt: skip
    counts = ((moment.allocated, "allocated"), (moment.reserved, "reserved"), (moment.largest_free, "largest free"))
    told = " · ".join(f"{words} {nbytes / MIB:,.2f}" for nbytes, words in counts)
    ink.text(RIGHT, 16, f"{told} MiB", size=11, mono=False, anchor="end")
    x = 8.0
    for colour, words in LEGEND:
        _box(ink, x, 28, 14, 12, colour)
        ink.text(x + 19, 38, words, size=10, ink=PALE, mono=False)
        x += 36 + 5.4 * len(words)


def _box(ink: Ink, x: float, y: float, width: float, height: float, colour: str) -> None:
    ink.box(x, y, width, height, colour, EDGES[colour], dash="3 2" if colour in (LOCKED, BARE) else "", line=0.8)


def _segment(ink: Ink, row: Row, y: float, scale: float, thinnest: float, moment: Moment) -> None:
    kind = "grows" if row.expandable else "small" if row.small else "large"
    mapped = sum(piece.nbytes for piece in row.pieces if piece.mapped)
    ink.text(LEFT - 8, y + 13, f"{mapped / MIB:,.4g} MiB {kind}", size=10, ink=PALE, mono=False, anchor="end")
    for first, nbytes, colour, words in _marks(row, moment, thinnest / scale):
        width = max(nbytes * scale, 1)
        _box(ink, LEFT + first * scale, y, width, BAR, colour)
        if words and len(words) * LETTER < width - 4:
            ink.text(LEFT + (first + nbytes / 2) * scale, y + 13, words, size=10, anchor="middle")


def _marks(row: Row, moment: Moment, thinnest: float) -> Iterator[tuple[int, int, str, str]]:
    """Where each mark begins, its bytes, its colour and words. Blocks too thin to see become one mark with their
    neighbours, in the colour of most of its bytes."""
    at, first = 0, 0
    thin: Counter[str] = Counter()
    for piece in row.pieces:
        colour, words = _colour(row, piece, moment), "" if piece.owner is None else str(piece.owner)
        wide = piece.nbytes >= thinnest
        if thin and (wide or thin.total() >= thinnest):
            yield first, thin.total(), thin.most_common(1)[0][0], ""
            thin.clear()
        if wide:
            yield at, piece.nbytes, colour, words
        else:
            first = first if thin else at
            thin[colour] += piece.nbytes
        at += piece.nbytes
    if thin:
        yield first, thin.total(), thin.most_common(1)[0][0], ""


def _colour(row: Row, piece: Piece, moment: Moment) -> str:
    if not piece.mapped:
        return BARE
    if piece.owner is not None:
        return NEW if moment.asked[:2] == ("alloc", piece.owner) else HELD
    page = 2 * MIB if row.small else 20 * MIB
    return IDLE if len(row.pieces) == 1 or (row.expandable and piece.nbytes >= page) else LOCKED


def _course(ink: Ink, replay: Replay, step: int, y: float) -> None:
    """Allocated and reserved bytes over the steps, and where we are."""
    limit = replay.allocator.capacity
    most = max(replay.peak_reserved, limit if limit != float("inf") else 0, 1)
    last = max(len(replay) - 1, 1)
    place = lambda at, nbytes: (LEFT + at / last * (RIGHT - LEFT), y + LINE_HEIGHT * (1 - nbytes / most))
    every = max(1, len(replay) // MOST_POINTS)
    for what, colour, dash in (("reserved", "#222222", "5 3"), ("allocated", "#0060a0", "")):
        spots = [place(at, getattr(replay[at], what)) for at in range(0, len(replay), every)]
        path = f"M{spots[0][0]:.1f} {spots[0][1]:.1f}" + "".join(f"H{x:.1f}V{top:.1f}" for x, top in spots[1:])
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        ink.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dashed}/>')
    x, _ = place(step, 0)
    ink.parts.append(f'<path d="M{x:.1f} {y - 4:.1f}V{y + LINE_HEIGHT + 4:.1f}" stroke="#b84a00" stroke-width="1.6"/>')
    ink.rule(LEFT, y + LINE_HEIGHT, RIGHT, y + LINE_HEIGHT)
    ink.text(LEFT - 8, y + 9, f"{most / MIB:,.4g} MiB", size=10, ink=PALE, mono=False, anchor="end")
    ink.text(LEFT - 8, y + LINE_HEIGHT, "0", size=10, ink=PALE, mono=False, anchor="end")
    told = "over all steps: allocated (line) and reserved (dashed)"
    if limit != float("inf"):
        ink.rule(LEFT, y, RIGHT, y)
        told += f"; the upper end is the capacity, {limit / MIB:,.4g} MiB"
    ink.text(LEFT, y + LINE_HEIGHT + 18, told, size=10, ink=PALE, mono=False)


def _finding(replay: Replay, moment: Moment, step: int, name: str) -> str:
    said = f"{name}: after" if name else "After"
    said = f"{said} step {step} ({moment.words}) tensors hold {moment.allocated / MIB:,.2f} MiB of "
    said += f"{moment.reserved / MIB:,.2f} MiB reserved in {plural(len(moment.rows), 'segment')}, and the largest free "
    said += f"block has {moment.largest_free / MIB:,.2f} MiB"
    if replay.failed and step == len(replay) - 1:
        return f"{said}: this step runs out of memory (modelled)."
    return f"{said} (modelled)."

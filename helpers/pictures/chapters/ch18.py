"""Pictures of chapter 18: lifetimes of activations, an allocator's segment, and memory against batch size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from helpers.pictures.figures import CYCLE, DASHES, MARKERS, PALETTE, Drawing, Picture, new, styled
from helpers.pictures.plots.common import check_count
from helpers.pictures.plots.ink import INK, PALE, Ink
from helpers.pictures.plots.short_values import fitted
from helpers.results.torch.lives import AGAIN, DROPPED, KEPT, Lives, lives
from helpers.results.torch.memory import MIB, MemoryLine
from vgpu.base.words import plural

WIDTH, LEFT, RIGHT = 860, 64, 846
TOP, HEAD, CURVE, BETWEEN = 34, 38, 52, 26
ROWS = 150
MOST_LINES, MOST_LAYERS = 3, 40
LOOKS = {KEPT: ("#8fc7ee", "#0060a0"), DROPPED: ("#e4e4e4", "#777777"), AGAIN: ("#f7d38a", "#8a5a00")}


def layer_lives(lines: Mapping[str, MemoryLine], operator: str) -> Drawing:
    """The lifetime of each layer's output as a bar; below, how many outputs are held at once.

    lines: recordings of one step each, by name, drawn below one another on one scale. operator: what makes the output
    of a layer, such as "aten::tanh". ValueError for no line or more than three, for over 40 layers, and what `lives`
    cannot read.
    """
    check_count(lines, MOST_LINES, "steps")
    found = {name: lives(line, operator) for name, line in lines.items()}
    layers = max(each.layers for each in found.values())
    if layers > MOST_LAYERS:
        raise ValueError(f"the outputs of at most {MOST_LAYERS} layers can be told apart; there are {layers}")
    ink, x = Ink(), 8.0
    for kind, (fill, edge) in LOOKS.items():
        if any(each.count(kind) for each in found.values()):
            ink.box(x, 8, 14, 12, fill, edge, line=0.8)
            ink.text(x + 19, 18, kind, size=10, ink=PALE, mono=False)
            x += 40 + 5.6 * len(kind)
    ink.text(RIGHT, 18, "to the right: allocations and releases, in order", size=10, ink=PALE, mono=False, anchor="end")
    scale = (RIGHT - LEFT) / max(each.end for each in found.values())
    most, y = max(max(each.held) for each in found.values()), float(TOP)
    for name, each in found.items():
        y = _step(ink, name, each, y, scale, most)
    return ink.drawing("; ".join(_said(name, each) for name, each in found.items()) + " (counted).", WIDTH, round(y))


def _step(ink: Ink, name: str, found: Lives, y: float, scale: float, most: int) -> float:
    """One step, and where the next begins."""
    high, peak = ROWS / found.layers, max(found.held)
    turn, top = LEFT + scale * found.turn, y + HEAD
    bottom = top + ROWS + 8 + CURVE
    ink.text(8, y + 14, fitted(name, 40), size=12.5, bold=True, mono=False)
    ink.text(turn - 6, y + 30, "forward", size=10, ink=PALE, mono=False, anchor="end")
    ink.text(turn + 6, y + 30, "backward", size=10, ink=PALE, mono=False)
    ink.parts.append(f'<path d="M{turn:.1f} {y + 20:.1f}V{bottom:.1f}" stroke="#555555" stroke-dasharray="2 3"/>')
    for layer in sorted({1, found.layers}):
        middle = top + high * (layer - 0.5)
        ink.text(LEFT - 6, middle + 4, f"layer {layer}", size=10, ink=PALE, mono=False, anchor="end")
    for each in found.outputs:
        fill, edge = LOOKS[each.kind]
        x, width = LEFT + scale * each.first, max(1.5, scale * (each.last - each.first))
        ink.box(x, top + high * (each.layer - 0.9), width, 0.8 * high, fill, edge, line=0.7)
    place = lambda count: bottom - CURVE * count / most
    path = f"M{LEFT} {bottom:.1f}"
    for at, count in enumerate(found.held):
        path += f"V{place(count):.1f}H{LEFT + scale * (at + 1):.1f}"
    ink.parts.append(f'<path d="{path}V{bottom:.1f}Z" fill="#e4e4e4" stroke="#222222" stroke-width="1.2"/>')
    ink.text(LEFT - 6, place(peak) + 8, f"{peak} held", size=10, mono=False, anchor="end")
    return bottom + BETWEEN


def _said(name: str, found: Lives) -> str:
    again = found.count(AGAIN)
    said = f"{name}: of {plural(found.layers, 'layer')} at most {plural(max(found.held), 'output')} are held at once"
    return f"{said}, and {again} are recomputed" if again else said


WIDTH, FIRST_BYTE, LAST_BYTE = 860, 190, 850
FIRST_ROW, BAR, STEP, MISSED = 38, 24, 36, 30
MOST_ROWS, LETTER = 20, 6.2
HELD, FREE, REFUSED = "#8fc7ee", "#ffffff", "#fbe3e6"
EDGES = {HELD: "#0060a0", FREE: "#777777", REFUSED: "#b00020"}


def segment_rows(moments: Mapping[str, Sequence[Mapping]], *, refused: Mapping[str, int] | None = None) -> Drawing:
    """The blocks of a segment in the order of their addresses, a row for each moment, from the top.

    moments: by a description of the request, the blocks after it. refused: of those moments the ones whose request did
    not fit, and the bytes that it wanted, which are drawn below the largest free block. ValueError for no moment, more
    than 20, or a segment without bytes.
    """
    check_count(moments, MOST_ROWS, "moments")
    refused = dict(refused or {})
    whole = max(sum(block["size"] for block in blocks) for blocks in moments.values())
    if whole <= 0:
        raise ValueError("the blocks have no bytes: each is {'size': bytes, 'owner': a name or None}")
    ink, y, scale = Ink(), FIRST_ROW, (LAST_BYTE - FIRST_BYTE) / whole
    for x, colour, words in ((8, HELD, "held"), (78, FREE, "free"), (148, REFUSED, "requested, too large")):
        if colour != REFUSED or refused:
            _box(ink, x, 8, 14, 12, colour)
            ink.text(x + 19, 18, words, size=10, ink=PALE, mono=False)
    told = f"one segment of {whole:,} bytes, in the order of addresses"
    ink.text(LAST_BYTE, 18, told, size=10, ink=PALE, mono=False, anchor="end")
    for words, blocks in moments.items():
        ink.text(8, y + 16, fitted(words, 28), size=11.5, mono=False)
        at = 0
        for block in blocks:
            width = max(1.0, scale * block["size"])
            free = block["owner"] is None
            _box(ink, FIRST_BYTE + scale * at, y, width, BAR, FREE if free else HELD)
            told = f"{block['size']:,}" if free else f"{block['owner']}: {block['size']:,}"
            if LETTER * len(told) < width - 4:
                ink.text(
                    FIRST_BYTE + scale * at + width / 2,
                    y + 16,
                    told,
                    size=10,
                    anchor="middle",
                    ink=PALE if free else INK,
                )
            at += block["size"]
        y += STEP
        if words in refused:
            start, wanted = scale * _largest(blocks)[0], scale * refused[words]
            x = FIRST_BYTE + max(0.0, min(start, LAST_BYTE - FIRST_BYTE - wanted))
            _box(ink, x, y - 9, wanted, BAR - 4, REFUSED)
            ink.text(x + wanted / 2, y + 5, f"{refused[words]:,} wanted", size=10, anchor="middle", ink=EDGES[REFUSED])
            y += MISSED
    return ink.drawing(_finding(moments, refused), WIDTH, y)


def _box(ink: Ink, x: float, y: float, width: float, height: float, colour: str) -> None:
    ink.box(x, y, width, height, colour, EDGES[colour], dash="" if colour == HELD else "3 2", line=0.9)


def _largest(blocks: Sequence[Mapping]) -> tuple[int, int]:
    """Where the largest free block begins, and its bytes; (0, 0) where none is free."""
    at, found = 0, (0, 0)
    for block in blocks:
        if block["owner"] is None and block["size"] > found[1]:
            found = (at, block["size"])
        at += block["size"]
    return found


def _finding(moments: Mapping[str, Sequence[Mapping]], refused: Mapping[str, int]) -> str:
    words, blocks = list(moments.items())[-1]
    held = [f"{block['owner']} {block['size']:,}" for block in blocks if block["owner"] is not None]
    free = [block["size"] for block in blocks if block["owner"] is None]
    said = f"At the end, after “{words}”, the segment holds {', '.join(held) or 'nothing'}"
    said += f" and has {sum(free):,} bytes free, in pieces of at most {_largest(blocks)[1]:,}"
    for asked, nbytes in refused.items():
        said += f"; “{asked}” needed {nbytes:,} bytes in one piece and failed"
    return said + "."


@styled
def checkpoint_curve(
    segments: Sequence[int], saved: Sequence[int], flops: Sequence[int], plain: tuple[int, int]
) -> Picture:
    """Bytes kept for the backward pass against the number of checkpointed segments, and the FLOPs that it costs.

    saved, flops: for each number of segments, the most bytes kept at once and the FLOPs of forward and backward; plain:
    both without checkpoints.
    """
    figure, axes = new(left=0.08, right=0.92, top=0.86, bottom=0.15)
    axes.plot(segments, np.array(saved) / MIB, marker=MARKERS[0], lw=2, color=CYCLE[0], label="kept at once, MiB")
    axes.axhline(plain[0] / MIB, color=CYCLE[0], ls=DASHES[1], lw=1.4, label="kept without checkpoints")
    best = int(np.argmin(saved))
    axes.plot([segments[best]], [saved[best] / MIB], ls="", marker="o", ms=13, mfc="none", mec=PALETTE["ink"],
              label=f"least, at {segments[best]}")  # fmt: skip
    axes.set(ylim=(0, 1.1 * plain[0] / MIB), xlabel="segments", ylabel="MiB kept for the backward pass")
    right = axes.twinx()
    right.plot(segments, np.array(flops) / plain[1], marker=MARKERS[1], ls=DASHES[2], color=CYCLE[3],
               label="FLOPs, as a multiple (right)")  # fmt: skip
    right.set(ylim=(0, 1.6))
    right.spines["right"].set_visible(True)
    figure.legend(loc="upper left", bbox_to_anchor=(0.07, 1.0), ncols=4, fontsize=8.5, columnspacing=1.1)
    axes.set_xticks(list(segments))
    return Picture(
        figure,
        f"Without checkpoints {plain[0] / MIB:.1f} MiB are kept for the backward pass. {segments[best]} segments keep "
        f"the least, {saved[best] / MIB:.1f} MiB, for {flops[best] / plain[1]:.2f} times the FLOPs; "
        f"{plural(segments[0], 'segment')} keep{'s' * (segments[0] == 1)} {saved[0] / MIB:.1f} MiB, "
        f"{segments[-1]} keep {saved[-1] / MIB:.1f} MiB (counted).",
    )


@styled
def batch_line(peaks: Mapping[int, int], capacity: int, *, fitted_to: Sequence[int] = ()) -> Picture:
    """Peak memory against the batch size, a line through two points, and where it reaches the capacity.

    peaks: bytes by batch size. fitted_to: the two batch sizes that the line is drawn through; the smallest and the next
    where none are named.
    """
    one, other = fitted_to or sorted(peaks)[:2]
    slope = (peaks[other] - peaks[one]) / (other - one)
    fixed = peaks[one] - slope * one
    largest = int((capacity - fixed) // slope)
    end = max(max(peaks), largest) * 1.08
    figure, axes = new(left=0.09, right=0.98, top=0.86, bottom=0.15)
    axes.plot([0, end], [fixed / MIB, (fixed + slope * end) / MIB], color=CYCLE[0], lw=1.8,
              label=f"line through {one} and {other}")  # fmt: skip
    axes.plot(list(peaks), [each / MIB for each in peaks.values()], ls="", marker="o", ms=7, color=CYCLE[3],
              label="peak, counted")  # fmt: skip
    axes.axhline(capacity / MIB, color=PALETTE["ink"], ls=DASHES[1], lw=1.4, label="capacity")
    axes.set(xlim=(0, end), ylim=(0, 1.25 * capacity / MIB), xlabel="batch size", ylabel="MiB")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, fontsize=9, borderaxespad=0)
    return Picture(
        figure,
        f"The peak is {fixed / MIB:.1f} MiB and {slope / MIB:.3f} MiB more for each sequence of the batch, by the line "
        f"through {one} and {other}; it meets the capacity of {capacity / MIB:,.0f} MiB at a batch of {largest}.",
    )

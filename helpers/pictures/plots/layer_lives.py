"""Which layers' outputs are held when, in a training step with checkpoints and in one without."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.pictures.figures import Drawing
from helpers.pictures.plots.ink import PALE, Ink
from helpers.pictures.plots.short_values import fitted
from helpers.results.torch.lives import AGAIN, DROPPED, KEPT, Lives, lives
from helpers.results.torch.memory import MemoryLine
from vgpu.base.words import plural

WIDTH, LEFT, RIGHT = 860, 64, 846
TOP, HEAD, CURVE, BETWEEN = 34, 38, 52, 26
ROWS = 150
MOST_LINES, MOST_LAYERS = 3, 40
LOOKS = {KEPT: ("#8fc7ee", "#0060a0"), DROPPED: ("#e4e4e4", "#777777"), AGAIN: ("#f7d38a", "#8a5a00")}


def layer_lives(lines: Mapping[str, MemoryLine], operator: str) -> Drawing:
    """A bar for each output of a layer, from when it is taken until it is released; below, how many are held at once.

    lines: recordings of one step each, by name, drawn below one another on one scale. operator: what makes the output
    of a layer, such as "aten::tanh". ValueError for no line or more than three, for over 40 layers, and what `lives`
    cannot read.
    """
    if not 1 <= len(lines) <= MOST_LINES:
        raise ValueError(f"one to {MOST_LINES} steps stand below one another; got {len(lines)}")
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
        ink.text(LEFT - 6, middle + 4, f"layer {layer}", size=9.5, ink=PALE, mono=False, anchor="end")
    for each in found.outputs:
        fill, edge = LOOKS[each.kind]
        x, width = LEFT + scale * each.first, max(1.5, scale * (each.last - each.first))
        ink.box(x, top + high * (each.layer - 0.9), width, 0.8 * high, fill, edge, line=0.7)
    place = lambda count: bottom - CURVE * count / most
    path = f"M{LEFT} {bottom:.1f}"
    for at, count in enumerate(found.held):
        path += f"V{place(count):.1f}H{LEFT + scale * (at + 1):.1f}"
    ink.parts.append(f'<path d="{path}V{bottom:.1f}Z" fill="#e4e4e4" stroke="#222222" stroke-width="1.2"/>')
    ink.text(LEFT - 6, place(peak) + 8, f"{peak} held", size=9.5, mono=False, anchor="end")
    return bottom + BETWEEN


def _said(name: str, found: Lives) -> str:
    again = found.count(AGAIN)
    said = f"{name}: of {plural(found.layers, 'layer')} at most {plural(max(found.held), 'output')} are held at once"
    return f"{said}, and {again} are computed again" if again else said

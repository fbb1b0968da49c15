"""How a row of elements is dealt out to the lanes of vector instructions and of warps."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.pictures.figures import CYCLE, Drawing
from helpers.pictures.plots.ink import GREY, PALE, Ink
from vgpu.base.words import plural

_WIDTH, _LEFT, _CELL, _STEP, _ROW = 610, 8, 16.0, 18.0, 22.0


def lane_deal(elements: int, widths: Mapping[str, int]) -> Drawing:
    """Which lane of which instruction has which element, one block of rows for each of `widths` (name → lanes).

    A row is one instruction; a filled box is a lane with an element, an empty one a lane without. At most 32 lanes.
    """
    if not all(1 <= width <= 32 for width in widths.values()):
        raise ValueError("an instruction of 1 to 32 lanes fits the page")
    ink, top, said = Ink(), 4.0, []
    for number, (name, width) in enumerate(widths.items()):
        rows = -(-elements // width)
        idle = rows * width - elements
        ink.text(_LEFT, top + 14, name, size=12, bold=True, mono=False)
        words = f"{plural(rows, 'instruction')}, {plural(idle, 'idle lane')}"
        ink.text(_WIDTH - 8, top + 14, words, size=12, ink=PALE, mono=False, anchor="end")
        top += 22
        for row in range(rows):
            for lane in range(width):
                element = row * width + lane
                left = _LEFT + lane * _STEP
                if element < elements:
                    ink.box(left, top, _CELL, _CELL, CYCLE[number])
                    ink.text(left + _CELL / 2, top + 11.5, element, size=9, ink="#ffffff", anchor="middle")
                else:
                    ink.box(left, top, _CELL, _CELL, "#ffffff", edge=GREY, dash="2 2")
            top += _ROW
        top += 8
        said.append(f"{plural(rows, 'instruction')} of {width} lanes ({name}), {idle} of them idle")
    return ink.drawing(f"{plural(elements, 'element')}: " + "; ".join(said) + ".", _WIDTH, round(top))

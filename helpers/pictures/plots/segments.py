"""One segment of an allocator after each request, a row each: which blocks are held, which are free, what did not fit.

It takes plain blocks, {"size": bytes, "owner": a name or None}, as an allocator of a few lines keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.pictures.figures import Drawing
from helpers.pictures.plots.ink import INK, PALE, Ink
from helpers.pictures.plots.short_values import fitted

WIDTH, LEFT, RIGHT = 860, 190, 850
TOP, BAR, STEP, MISSED = 38, 24, 36, 30
MOST_ROWS, LETTER = 20, 6.2
HELD, FREE, REFUSED = "#8fc7ee", "#ffffff", "#fbe3e6"
EDGES = {HELD: "#0060a0", FREE: "#777777", REFUSED: "#b00020"}


def segment_rows(moments: Mapping[str, Sequence[Mapping]], *, refused: Mapping[str, int] | None = None) -> Drawing:
    """The blocks of a segment in the order of their addresses, a row for each moment, from the top.

    moments: by what was asked for in words, the blocks after it. refused: of those moments the ones whose request did
    not fit, and the bytes that it wanted, which are drawn below the largest free block. ValueError for no moment, more
    than 20, or a segment without bytes.
    """
    if not 1 <= len(moments) <= MOST_ROWS:
        raise ValueError(f"one to {MOST_ROWS} moments have room below one another; got {len(moments)}")
    refused = dict(refused or {})
    whole = max(sum(block["size"] for block in blocks) for blocks in moments.values())
    if whole <= 0:
        raise ValueError("the blocks have no bytes: each is {'size': bytes, 'owner': a name or None}")
    ink, y, scale = Ink(), TOP, (RIGHT - LEFT) / whole
    for x, colour, words in ((8, HELD, "held"), (78, FREE, "free"), (148, REFUSED, "asked for, and too large")):
        if colour != REFUSED or refused:
            _box(ink, x, 8, 14, 12, colour)
            ink.text(x + 19, 18, words, size=10, ink=PALE, mono=False)
    told = f"one segment of {whole:,} bytes, from its first address on"
    ink.text(RIGHT, 18, told, size=10, ink=PALE, mono=False, anchor="end")
    for words, blocks in moments.items():
        ink.text(8, y + 16, fitted(words, 28), size=11.5, mono=False)
        at = 0
        for block in blocks:
            width = max(1.0, scale * block["size"])
            free = block["owner"] is None
            _box(ink, LEFT + scale * at, y, width, BAR, FREE if free else HELD)
            told = f"{block['size']:,}" if free else f"{block['owner']}: {block['size']:,}"
            if LETTER * len(told) < width - 4:
                ink.text(
                    LEFT + scale * at + width / 2, y + 16, told, size=10, anchor="middle", ink=PALE if free else INK
                )
            at += block["size"]
        y += STEP
        if words in refused:
            start, wanted = scale * _largest(blocks)[0], scale * refused[words]
            x = LEFT + max(0.0, min(start, RIGHT - LEFT - wanted))
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
    said = f"In the end, after “{words}”, the segment holds {', '.join(held) or 'nothing'}"
    said += f" and has {sum(free):,} bytes free, of which the largest piece has {_largest(blocks)[1]:,}"
    for asked, nbytes in refused.items():
        said += f"; “{asked}” wanted {nbytes:,} bytes in one piece and failed"
    return said + "."

"""SVG written by hand, for cards of many small texts that must be drawn in a millisecond."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape

from helpers.pictures.figures import Drawing

MONO = "'DejaVu Sans Mono',Menlo,Consolas,monospace"
MONO_WIDTH = 0.602
"""Of a character, as a share of the font's size."""
SMALLEST = 10
"""Pixels of the smallest words, at a drawing's full width. Pages too narrow for that scroll it."""
INK, PALE, RULE, GREY = "#222222", "#5a5a5a", "#cfcfcf", "#8a8a8a"


@dataclass(frozen=True)
class Ink:
    """SVG elements, one a call; `drawing` puts them together."""

    parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, words: object, *, size: float = 11, ink: str = INK, bold: bool = False,
        mono: bool = True, anchor: str = "start", strike: bool = False, within: float = math.inf,
    ) -> None:  # fmt: skip
        """Words with their baseline at y, in the monospaced font or in that of the page.

        `within`: units that monospaced words take at most; longer ones are narrowed, and as high as the others.
        ValueError for words smaller than can be read.
        """
        if size < SMALLEST:
            raise ValueError(f"words of {size} pixels are too small to be read: {SMALLEST} is the least")
        extra = "" if mono else ' font-family="system-ui,sans-serif"'
        extra += (' font-weight="bold"' if bold else "") + (' text-decoration="line-through"' if strike else "")
        extra += f' text-anchor="{anchor}"' if anchor != "start" else ""
        extra += f' fill="{ink}"' if ink != INK else ""
        narrowed = MONO_WIDTH * size * len(str(words)) > within
        extra += f' textLength="{within:.4g}" lengthAdjust="spacingAndGlyphs"' if narrowed else ""
        self.parts.append(
            f'<text x="{x:.5g}" y="{y:.5g}" font-size="{size}"{extra}>{escape(str(words), quote=False)}</text>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, edge: str = "none", dash: str = "",
        line: float = 1.0,
    ) -> None:  # fmt: skip
        """A rectangle with slightly rounded corners."""
        edges = f' stroke="{edge}" stroke-width="{line}"' if edge != "none" else ""
        edges += f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<rect x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}" rx="2" fill="{fill}"{edges}/>'
        )

    def rule(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """A thin line."""
        self.parts.append(f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{RULE}" stroke-width="1"/>')

    def drawing(self, finding: str, width: int, height: int) -> Drawing:
        """Everything so far as one drawing."""
        return Drawing(
            f'<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">'
            f'<g font-family="{MONO}" fill="{INK}">{"".join(self.parts)}</g></svg>',
            finding,
            width,
        )

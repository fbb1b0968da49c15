"""What all pictures share: sizes of the hardware, shades, and numbers with their nouns."""

from __future__ import annotations

import colorsys

SECTOR = 32
"""Bytes in a sector, the least that moves between L1, L2 and DRAM on every architecture since Maxwell."""
LINE = 128
"""Bytes in a cache line: four sectors."""
WARP = 32


def shade(colour: str, lightness: float) -> tuple[float, float, float]:
    """A colour of the palette at another lightness, from 0 (black) to 1 (white)."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
    return colorsys.hls_to_rgb(hue, lightness, saturation)

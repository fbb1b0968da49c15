"""Attention tile by tile: the matrix that is never stored, one query's (m, l, O), and the bytes moved so far."""

from __future__ import annotations

from functools import lru_cache

from helpers.models.attention import Walk, checked_head, walk
from helpers.pictures import plots
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.widgets.controls import choice, slider, steps, toggle
from helpers.pictures.widgets.explorer import Explorer

SIDES = (1, 2, 4, 8, 16, 32, 64)
LONGEST = 64
"""Queries whose rows can still be told apart in the matrix."""


def attention_tiles(q, k, v, *, rows: int = 8, keys: int = 8, causal: bool = False, step: int = 1) -> Explorer:
    """Sliders for the step, the tile and the watched query, and a box for the causal mask, over one head of attention.

    q, k, v: arrays or tensors of shape (length, width), at most 64 long. rows, keys: the tile to begin with, a power of
    two that is not longer than the sequence; step: the tile to begin at, from 1. ValueError for shapes that do not go
    together.
    """
    q, k, v = checked_head(*(each.detach().cpu() if hasattr(each, "detach") else each for each in (q, k, v)))
    if len(q) > LONGEST:
        raise ValueError(
            f"the matrix is drawn for at most {LONGEST} queries; this head has {len(q)}: give q[:{LONGEST}]"
        )
    sides = [side for side in SIDES if side <= len(q)]

    @lru_cache(maxsize=32)
    def walked(rows: int, keys: int, causal: bool) -> Walk:
        return walk(q, k, v, rows, keys, causal)

    def draw(step: int, rows: int, keys: int, causal: bool, query: int) -> Picture:
        return plots.attention_tiles(walked(rows, keys, causal), step, query)

    controls = {
        "step": steps("step", 1, len(walked(rows, keys, causal).visits)),
        "rows": choice("queries a tile", rows, sides),
        "keys": choice("keys a tile", keys, sides),
        "causal": toggle("causal mask", causal),
        "query": slider("query of the tile", rows - 1, 0, rows - 1),
    }
    controls["step"].value = min(step, controls["step"].max)

    def fit() -> None:
        """As many steps as there are tiles to go through, and as many queries as a tile has."""
        now = {name: control.value for name, control in controls.items()}
        controls["step"].max = len(walked(now["rows"], now["keys"], now["causal"]).visits)
        controls["query"].max = now["rows"] - 1

    return Explorer("attention_tiles", draw, controls, fit=fit, height=card_height(caption_lines=3))

"""Explorers: controls over one view that is computed again, from a running kernel, at every move.

`contents` lists them; each has a module in `explorers`, imported when it is first used.
"""

from __future__ import annotations

from helpers.pictures.contents import named
from vgpu.base.late import late, members

EXPLORERS = named("widgets")
_BASE = {"explorer": ("Explorer", "explore"), "controls": ("choice", "dropdown", "slider", "steps", "toggle")}

__all__, __getattr__, __dir__ = late(
    __name__,
    {name: entry.function for name, entry in EXPLORERS.items()} | members(__name__, _BASE),
    "helpers.widgets",
)

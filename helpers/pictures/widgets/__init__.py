"""Explorers: controls over one view that is computed again, from a running kernel, at every move.

`contents` lists them; each has a module in `explorers`, imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module

from helpers.pictures.contents import named

EXPLORERS = named("widgets")
_BASE = dict.fromkeys(("Explorer", "explore"), "explorer") | dict.fromkeys(
    ("choice", "dropdown", "slider", "steps", "toggle"), "controls"
)
__all__ = sorted([*EXPLORERS, *_BASE])


def __getattr__(name: str):
    if name in EXPLORERS:
        found = EXPLORERS[name].function()
    elif name in _BASE:
        found = getattr(import_module(f"{__name__}.{_BASE[name]}"), name)
    else:
        raise AttributeError(f"helpers.widgets has no {name!r}; it has: {', '.join(__all__)}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__

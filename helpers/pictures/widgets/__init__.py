"""Explorers: controls over one view that is computed again, from a running kernel, at every move.

`EXPLORERS` lists them; each is imported when it is first asked for. A module that is called after its function
ends in `callable_module(__name__)`, so that `widgets.sectors(kernel)` works whoever imported the module before.
"""

from __future__ import annotations

from importlib import import_module

EXPLORERS = {
    "banks": "banks",
    "cards": "cards",
    "crossover": "crossover",
    "debugger": "debugger",
    "lanes": "lanes",
    "lives": "lives",
    "memory": "memory",
    "pyramid": "pyramid",
    "roofline": "roofline",
    "scan": "scan",
    "scheduler": "scheduler",
    "schedules": "schedules",
    "sectors": "sectors",
    "slots": "slots",
    "swim_lanes": "swim_lanes",
    "thread_grid": "threads",
    "timeline": "timeline",
    "timer_bars": "timers",
    "traffic": "traffic",
    "tree": "tree",
    "waves": "waves",
}
"""The function of each explorer, and its module in this package."""

_BASE = dict.fromkeys(("Explorer", "explore"), "explorer") | dict.fromkeys(
    ("choice", "dropdown", "slider", "steps", "toggle"), "controls"
)
__all__ = sorted([*EXPLORERS, *_BASE])


def __getattr__(name: str):
    where = EXPLORERS.get(name) or _BASE.get(name)
    if where is None:
        raise AttributeError(f"helpers.pictures.widgets has no {name!r}; it has: {', '.join(__all__)}")
    module = import_module(f"helpers.pictures.widgets.{where}")
    # Python itself puts a module under the name that it shares with its function: it is callable.
    found = module if where == name else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__

"""Explorers: controls over one view that is computed again, from a running kernel, at every move.

`EXPLORERS` lists them; each has a module in `explorers`, imported when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module

EXPLORERS = {
    "attention_tiles": "attention_tiles",
    "banks": "banks",
    "block_map": "block_map",
    "cards": "cards",
    "collective": "collective",
    "crossover": "crossover",
    "debugger": "debugger",
    "feature_maps": "feature_maps",
    "fusion": "fusion",
    "gradient_flow": "gradient_flow",
    "gradients": "gradients",
    "im2col": "im2col",
    "lanes": "lanes",
    "latent_walk": "latent_walk",
    "launch_gaps": "launch_gaps",
    "layer_roofline": "layer_roofline",
    "layout_grid": "layout_grid",
    "library_share": "library_share",
    "lives": "lives",
    "memory": "memory",
    "mends": "mends",
    "number_line": "number_line",
    "pipeline": "pipeline",
    "pipeline_schedule": "pipeline_schedule",
    "pyramid": "pyramid",
    "rank_gantt": "rank_gantt",
    "rank_memory": "rank_memory",
    "receptive_field": "receptive_field",
    "roofline": "roofline",
    "samples_over_training": "samples_over_training",
    "scaling": "scaling",
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
    "working_set": "working_set",
}
"""The function of each explorer, and its module in `explorers`."""

_BASE = dict.fromkeys(("Explorer", "explore"), "explorer") | dict.fromkeys(
    ("choice", "dropdown", "slider", "steps", "toggle"), "controls"
)
__all__ = sorted([*EXPLORERS, *_BASE])


def __getattr__(name: str):
    where = f"explorers.{EXPLORERS[name]}" if name in EXPLORERS else _BASE.get(name)
    if where is None:
        raise AttributeError(f"helpers.widgets has no {name!r}; it has: {', '.join(__all__)}")
    found = getattr(import_module(f"{__name__}.{where}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__

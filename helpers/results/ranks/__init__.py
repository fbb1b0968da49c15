"""Several processes that train together: started by torchrun, what each reports, and what their communication costs.

In a notebook `torchrun` starts a script on several ranks. In the script `report`, `span` and `traffic` tell the
notebook what a rank found, when it was busy with what, and what it gave its collectives to send. `recorded` and
`messages` do without processes: they ask a program what its ranks would send, and carry it out.
"""

from __future__ import annotations

from importlib import import_module

_NAMES = {
    "buckets": ("bucket_ends",),
    "cost": ("all_gather_seconds", "ring_seconds", "star_seconds", "tree_seconds"),
    "collectives": ("ring_steps", "star_steps"),
    "launcher": ("Ranks", "RanksFailed", "torchrun"),
    "memory": ("bytes_per_rank",),
    "pipeline": ("pipeline_spans",),
    "recording": ("recorded",),
    "records": ("report", "span", "traffic"),
    "dry_run": ("messages",),
    "spans": ("RankSpan", "training_spans", "waiting"),
    "table": ("parallel_table",),
    "weak": ("Workload", "efficiency"),
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_WHERE)


def __getattr__(name: str):
    if name not in _WHERE:
        raise AttributeError(f"helpers.ranks has no {name!r}; it has: {', '.join(__all__)}")
    found = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__

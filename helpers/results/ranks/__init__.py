"""Several processes that train together: started by torchrun, what each reports, and what their communication costs.

In a notebook `torchrun` starts a script on several ranks. In the script `report`, `span` and `traffic` tell the
notebook what a rank found, when it was busy with what, and what it gave its collectives to send. `recorded` and
`messages` do without processes: they ask a program what its ranks would send, and carry it out.
"""

from __future__ import annotations

from vgpu.base.late import late, members

_NAMES = {
    "buckets": ("bucket_ends",),
    "cost": ("all_gather_seconds", "ring_seconds", "star_seconds", "tree_seconds"),
    "collectives": ("ring_steps", "star_steps"),
    "layout": ("Layout", "Transformer", "estimate", "fastest"),
    "launcher": ("Ranks", "RanksFailed", "torchrun"),
    "memory": ("bytes_per_rank",),
    "pipeline": ("pipeline_spans", "planned_spans"),
    "published": ("layout_table", "published_table"),
    "recording": ("recorded",),
    "records": ("report", "span", "traffic"),
    "dry_run": ("messages",),
    "spans": ("RankSpan", "training_spans", "waiting"),
    "table": ("parallel_table",),
    "weak": ("Workload", "efficiency"),
}

__all__, __getattr__, __dir__ = late(__name__, members(__name__, _NAMES), "helpers.ranks")

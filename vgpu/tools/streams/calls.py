"""A schedule as a profiler's table: the time of each name on the host and on the GPU."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vgpu.hardware.time_model import seconds_text
from vgpu.tools.profile_table import text_table
from vgpu.tools.streams.spans import Schedule, table


@dataclass(frozen=True)
class NamedTotals:
    """The totals of one name: how often it was called or ran, and its seconds on host and device."""

    name: str
    calls: int
    host: float
    device: float


@dataclass(frozen=True, repr=False)
class CallTable:
    """Totals by name, the longest host time first, as profilers sort; `kind` is "modelled" or "measured"."""

    rows: tuple[NamedTotals, ...]
    kind: str

    def __getitem__(self, name: str) -> NamedTotals:
        found = next((row for row in self.rows if row.name == name), None)
        if found is None:
            raise KeyError(f"no row {name!r}; there are {', '.join(row.name for row in self.rows)}")
        return found

    def _cells(self) -> list[list[str]]:
        return [[row.name, f"{row.calls:,}", seconds_text(row.host), seconds_text(row.device)] for row in self.rows]

    def __repr__(self) -> str:
        heads = ("operator", "calls", f"CPU time ({self.kind})", f"GPU time ({self.kind})")
        return "\n".join(text_table(heads, self._cells(), left=0))

    def _repr_html_(self) -> str:
        heads = ("operator", "calls", "CPU time", "GPU time")
        return table(f"times <strong>{self.kind}</strong>", heads, self._cells())


def calls(schedule: Schedule) -> CallTable:
    """A schedule in a profiler's columns: what the host called, what ran on the GPU, and how long each took.

    Host and device share a row where their names agree, as in a modelled schedule; in a measured one the host's names
    are those of CUDA's functions.
    """
    rows: dict[str, tuple[list[float], list[float]]] = {}
    for side, spans in enumerate((schedule.host, schedule.spans)):
        for span in spans:
            # "lone (1 block)" ran, and was launched by "cudaLaunchKernel: lone, stream 7" where that was measured.
            name = span.label.split(": ")[0] if side == 0 else span.label
            found = rows.setdefault(re.sub(r" \([\d,]+ blocks?\)$", "", name), ([], []))
            found[side].append(span.end - span.start)
    made = [NamedTotals(name, max(map(len, both)), *map(sum, both)) for name, both in rows.items()]
    return CallTable(tuple(sorted(made, key=lambda row: -row.host)), schedule.kind)

"""What a program's operators took, one by one: time of the host beside time of the device, and memory.

PyTorch's own table is some 200 characters wide; this one keeps the columns that are compared. `operators` reads what
PyTorch's profiler has seen; `calls` lays out a schedule of `streams` in the same columns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from helpers.hardware.time_model import seconds_text
from helpers.results.profile_table import text_table
from helpers.results.streams.spans import Schedule, table


@dataclass(frozen=True)
class Operator:
    """One operator: its calls, seconds of its own on host and device, the bytes it allocated less those it freed."""

    name: str
    calls: int
    host: float
    device: float
    nbytes: int


@dataclass(frozen=True, repr=False)
class Operators:
    """Operators in the order in which they take most time, or most memory; `kind` says what the times are."""

    rows: tuple[Operator, ...]
    on_gpu: bool
    kind: str = "measured"
    with_bytes: bool = True

    def __getitem__(self, name: str) -> Operator:
        found = next((row for row in self.rows if row.name == name), None)
        if found is None:
            raise KeyError(f"no operator {name!r}; there are {', '.join(row.name for row in self.rows)}")
        return found

    def _cells(self) -> list[list[str]]:
        device = lambda row: seconds_text(row.device) if self.on_gpu else "no GPU"
        cells = [[row.name, f"{row.calls:,}", seconds_text(row.host), device(row)] for row in self.rows]
        if self.with_bytes:
            cells = [[*found, f"{row.nbytes:,}"] for found, row in zip(cells, self.rows, strict=True)]
        return cells

    def __repr__(self) -> str:
        heads = ["operator", "calls", f"CPU time ({self.kind})", f"GPU time ({self.kind})"]
        return "\n".join(text_table([*heads, *["bytes kept (counted)"] * self.with_bytes], self._cells(), left=0))

    def _repr_html_(self) -> str:
        heads = ["operator", "calls", "CPU time", "GPU time", *["bytes kept"] * self.with_bytes]
        caption = f"times <strong>{self.kind}</strong>" + ", bytes counted" * self.with_bytes
        return table(caption, heads, self._cells())


def operators(seen, *, most: int = 6, by: str = "time") -> Operators:
    """The operators that a `torch.profiler.profile` has seen, `most` of them, by "time" or by "memory".

    Bytes need `profile_memory=True`; they are the device's where the tensors are there, else the host's.
    """
    if by not in ("time", "memory"):
        raise ValueError(f"operators are sorted by 'time' or by 'memory', not by {by!r}")
    rows = [
        Operator(
            event.key,
            event.count,
            event.self_cpu_time_total / 1e6,
            event.self_device_time_total / 1e6,
            event.self_device_memory_usage or event.self_cpu_memory_usage,
        )
        for event in seen.key_averages()
        if not event.key.startswith(("cuda", "ProfilerStep", "[memory]"))
        and not getattr(event, "is_user_annotation", False)  # a phase marked by record_function is no operator
    ]
    key = (lambda row: -(row.host + row.device)) if by == "time" else (lambda row: (-row.nbytes, row.name))
    return Operators(tuple(sorted(rows, key=key)[:most]), any(row.device for row in rows))


def calls(schedule: Schedule) -> Operators:
    """A schedule in a profiler's columns: what the host asked for and how long that took it, what ran and how long.

    The rows come in the order of CPU time, as profilers sort them at first. Host and device share a row where their
    names agree, as in a modelled schedule; in a measured one the host's names are those of CUDA's functions.
    """
    rows: dict[str, list] = {}
    for place, spans in enumerate((schedule.host, schedule.spans)):
        for span in spans:
            # "lone (1 block)" ran, and was asked for by "cudaLaunchKernel: lone, stream 7" where that was measured.
            name = span.label.split(": ")[0] if place == 0 else span.label
            found = rows.setdefault(re.sub(r" \([\d,]+ blocks?\)$", "", name), [[], []])
            found[place].append(span.end - span.start)
    made = [
        Operator(name, max(len(host), len(device)), sum(host), sum(device), 0) for name, (host, device) in rows.items()
    ]
    return Operators(tuple(sorted(made, key=lambda row: -row.host)), True, schedule.kind, with_bytes=False)

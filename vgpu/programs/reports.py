"""Reports on whole programs: each has text, data for JSON, and HTML."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from vgpu.base.words import plural, sizes
from vgpu.hardware.device import current
from vgpu.hardware.time_model import seconds_text
from vgpu.programs.observed import Found, Launched, Observed, as_data, seconds
from vgpu.tools.profile_table import text_table

if TYPE_CHECKING:
    from vgpu.tools.sass import MachineCode
    from vgpu.tools.streams.recording import Timeline

_REFUSED = "call of CUDA's runtime refused"
_CHECK = "check what each call returns, and cudaGetLastError() after each launch: the program goes on without it."
SHOWN = 10  # kernels whose profile is shown in full, the longest first


class Report(Protocol):
    """What a command says in the end. `failed`: whether something is wrong with the program."""

    failed: bool

    def text(self) -> str: ...
    def data(self) -> Any: ...
    def parts(self) -> Sequence[Any]:
        """What the HTML shows: objects with `_repr_html_`, or text."""
        ...


class ProfileReport:
    """Every kernel by grid and block, the longest modelled time first."""

    failed = False

    def __init__(self, observed: Observed):
        gpu = current()
        found = [(each, each.profile(gpu)) for each in observed.launched]
        self.rows = sorted(found, key=lambda row: -seconds(*row))

    def _overview(self) -> str:
        total = sum(seconds(*row) for row in self.rows) or 1.0
        head = ["kernel", "grid", "block", "launches", "modelled", "share", "limited by"]
        rows = [
            [each.kernel.name, sizes(each.grid), sizes(each.block), str(each.launches),
             seconds_text(seconds(each, found)), f"{seconds(each, found) / total:.0%}", found.model.bound]
            for each, found in self.rows
        ]  # fmt: skip
        return "\n".join(text_table(head, rows, left=0))

    def text(self) -> str:
        if not self.rows:
            return "No kernel was launched."
        shown = [repr(found) for _, found in self.rows[:SHOWN]]
        more = len(self.rows) - SHOWN
        note = [f"{more} more: --json has all of them."] if more > 0 else []
        return "\n\n".join([f"Kernels on {current().name}", self._overview(), *shown, *note])

    def data(self) -> list[dict]:
        return [
            {
                "kernel": each.kernel.name, "grid": each.grid, "block": each.block, "launches": each.launches,
                "gpu": found.gpu.name, "registers": found.registers, "occupancy": found.occupancy.fraction,
                "modelled_seconds": found.model.seconds,
                "metrics": {name: as_data(value) for name, value in found.metrics().items()},
                "lines": found.table(),
                "assembled": [dataclasses.asdict(row) for row in found.assembled],
                "races": [dataclasses.asdict(race) for race in found.races],
            }
            for each, found in self.rows
        ]  # fmt: skip

    def parts(self) -> list[Any]:
        return [self._overview() if self.rows else "No kernel was launched.", *(found for _, found in self.rows)]


class SanitizeReport:
    """What the sanitizer found, by kernel, and the calls that CUDA's runtime refused."""

    def __init__(self, observed: Observed):
        self.found, self.refused, self.errors = observed.found, observed.refused, observed.errors
        self.failed = self.errors > 0

    def _of(self, each: Found) -> list[str]:
        if not each.findings:
            return [f"{each.kernel}: nothing found in {plural(each.launches, 'launch')}"]
        head = f"{each.kernel}: {plural(len(each.findings), 'finding')} in {plural(each.launches, 'launch')}"
        more = [
            str(first) + (f"\n  in {plural(times, 'launch')}" if each.launches > 1 else "")
            for first, times in each.findings.values()
        ]
        return [head, *more]

    def text(self) -> str:
        refused = [
            f"error: {_REFUSED}{f' (seen {times} times)' if times > 1 else ''}\n  {message}\n  Usual fix: {_CHECK}"
            for message, times in self.refused.items()
        ]
        last = f"{plural(self.errors, 'error')} in {plural(len(self.found), 'kernel')}"
        last += f" and {plural(len(refused), 'call')} of CUDA's runtime" if refused else ""
        return "\n\n".join([*refused, *(part for each in self.found for part in self._of(each)), last])

    def data(self) -> list[dict]:
        refused = [
            {"level": "error", "kind": "refused", "title": _REFUSED, "what": message, "fix": _CHECK, "count": times}
            for message, times in self.refused.items()
        ]
        return [{"kernel": None, "launches": 0, "findings": refused}] * bool(refused) + [
            {
                "kernel": each.kernel,
                "launches": each.launches,
                "findings": [
                    {**dataclasses.asdict(first), "level": first.level, "title": first.title, "in_launches": times}
                    for first, times in each.findings.values()
                ],
            }
            for each in self.found
        ]

    def parts(self) -> list[Any]:
        return [self.text()]


class TraceReport:
    """When copies and kernels would run, and what nothing orders."""

    def __init__(self, timeline: Timeline):
        self.timeline, self.schedule, self.hazards = timeline, timeline.schedule(), timeline.hazards()
        self.failed = bool(self.hazards)

    def text(self) -> str:
        return "\n\n".join([repr(self.schedule), repr(self.hazards), repr(self.timeline.findings())])

    def data(self) -> dict:
        """Trace events, as Perfetto and chrome://tracing read them."""
        spans = [*self.schedule.spans, *self.schedule.host]
        return {
            "displayTimeUnit": "ns",
            "otherData": {"gpu": self.schedule.gpu, "kind": self.schedule.kind},
            "traceEvents": [
                {
                    "name": span.label, "ph": "X", "pid": span.engine, "tid": span.stream,
                    "ts": 1e6 * span.start, "dur": 1e6 * (span.end - span.start),
                    "args": {"bytes": span.nbytes, "grid": span.grid, "block": span.block},
                }
                for span in spans
            ],
        }  # fmt: skip

    def parts(self) -> list[Any]:
        return [self.schedule, repr(self.hazards), repr(self.timeline.findings())]


class SassReport:
    """The machine code of each kernel that was launched."""

    failed = False

    def __init__(self, observed: Observed):
        from vgpu.tools.sass import sass_of

        kernels = {each.kernel.entry: each.kernel for each in observed.launched}
        self.found: list[MachineCode] = [sass_of(kernel, current()) for kernel in kernels.values()]

    def text(self) -> str:
        return "\n\n".join(map(repr, self.found)) or "No kernel was launched."

    def data(self) -> list[dict]:
        return [
            {
                "kernel": each.name, "arch": each.arch, "registers": each.registers,
                "instructions": [{"address": found.address, "text": found.text} for found in each.instructions],
            }
            for each in self.found
        ]  # fmt: skip

    def parts(self) -> list[Any]:
        return list(self.found)


class OccupancyReport:
    """The occupancy of each kernel, by block and shared memory."""

    failed = False

    def __init__(self, observed: Observed):
        self.rows: list[tuple[Launched, Any]] = [
            (each, each.profile(current()).occupancy) for each in observed.launched
        ]

    def text(self) -> str:
        head = ["kernel", "block", "registers", "shared bytes", "blocks an SM", "occupancy", "limited by"]
        rows = [
            [each.kernel.name, sizes(each.block), str(held.registers), f"{held.shared_bytes:,}",
             str(held.blocks_per_sm), f"{held.fraction:.1%}", held.limiter]
            for each, held in self.rows
        ]  # fmt: skip
        return f"Occupancy on {current().name}\n\n" + "\n".join(text_table(head, rows, left=0))

    def data(self) -> list[dict]:
        return [
            {"kernel": each.kernel.name, "grid": each.grid, "block": each.block, "occupancy": held.fraction,
             **{key: getattr(held, key) for key in ("registers", "shared_bytes", "blocks_per_sm", "warps_per_sm")},
             "limits": dict(held.limits)}
            for each, held in self.rows
        ]  # fmt: skip

    def parts(self) -> list[Any]:
        return [self.text()]


def write(report: Report, *, to_json: Path | None = None, to_html: Path | None = None) -> None:
    """Write a report into files."""
    if to_json is not None:
        to_json.write_text(
            json.dumps(report.data(), indent=1, ensure_ascii=False, default=str) + "\n", encoding="utf-8"
        )
    if to_html is not None:
        to_html.write_text(as_html(report), encoding="utf-8")


def as_html(report: Report) -> str:
    """A page with the parts of a report."""
    shown = [
        part._repr_html_() if hasattr(part, "_repr_html_") else f"<pre>{html.escape(str(part))}</pre>"
        for part in report.parts()
    ]
    style = "body{font-family:system-ui,sans-serif;margin:2em auto;max-width:70em;color-scheme:light dark}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>vgpu</title><style>{style}</style>'
        + "\n<hr>\n".join(shown)
        + "</html>\n"
    )

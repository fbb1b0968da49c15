"""What PyTorch's profiler saw, as spans of time, and the lines of a program that read a value back to the host.

with torch.profiler.profile() as seen:
    step()
trace_spans(seen)                    # every operator and annotation, for `plots.trace_timeline`
readbacks(step)                      # each line where the host needs a value that a device holds, and how often
"""

from __future__ import annotations

import json
import linecache
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgpu.tools.profile_table import text_table
from vgpu.tools.streams.spans import table

if TYPE_CHECKING:
    from torch.profiler import profile

KINDS = {"user_annotation": "annotation", "cpu_op": "operator", "kernel": "kernel", "gpu_memcpy": "copy"}
"""Categories of a Chrome trace that become spans, and what they are called here."""
READS = ("_local_scalar_dense", "nonzero", "equal")
"""Operators whose result the host needs at once: on a GPU it waits until everything queued before has run."""


@dataclass(frozen=True)
class TraceSpan:
    """One event of a trace: seconds from the trace's first event. `kind` is one of `KINDS`' values."""

    name: str
    kind: str
    start: float
    seconds: float

    @property
    def end(self) -> float:
        return self.start + self.seconds


def trace_spans(seen: profile) -> list[TraceSpan]:
    """The annotations, operators, kernels and copies that a `torch.profiler.profile` recorded, by their start."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        seen.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return read_spans(events)


def read_spans(events: Sequence[dict[str, Any]]) -> list[TraceSpan]:
    """The same of the events of a Chrome trace, whose times are microseconds."""
    found = sorted((each for each in events if each.get("cat") in KINDS), key=lambda each: (each["ts"], -each["dur"]))
    if not found:
        return []
    first = found[0]["ts"]
    return [
        TraceSpan(each["name"], KINDS[each["cat"]], 1e-6 * (each["ts"] - first), 1e-6 * each["dur"]) for each in found
    ]


@dataclass(frozen=True, repr=False)
class Readbacks:
    """How often each line of a program needs a value on the host, most often first."""

    lines: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.lines.values())

    def _rows(self) -> list[list[str]]:
        return [[str(count), line] for line, count in self.lines.items()]

    def __repr__(self) -> str:
        if not self.lines:
            return "no line reads a value back (counted)"
        return "\n".join(text_table(("reads (counted)", "line"), self._rows(), left=1))

    def _repr_html_(self) -> str:
        if not self.lines:
            return "No line reads a value back: <strong>counted</strong>"
        return table("Values read back to the host: <strong>counted</strong>", ("reads", "line"), self._rows())


def readbacks(program: Callable[[], object]) -> Readbacks:
    """Run `program()` and count, line by line, where the host needs a tensor's value.

    PyTorch's optimisers are left out, since the step counters that they read stay on the CPU. What a GPU's driver
    waits for besides, such as copies of pageable memory, isn't seen.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    found: Counter[str] = Counter()

    class Listening(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
            if function._schema.name.removeprefix("aten::") in READS:
                found.update(_line())
            return function(*args, **(kwargs or {}))

    with Listening():
        program()
    return Readbacks(dict(found.most_common()))


def _line() -> list[str]:
    """The innermost line outside of PyTorch, as a list of one; none within an optimiser."""
    import torch

    library = str(Path(torch.__file__).parent)
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(library):
        if frame.f_code.co_filename.startswith(str(Path(library) / "optim")):
            return []
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return []
    return [linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip() or frame.f_code.co_name]

"""The memory of a PyTorch program, allocation by allocation: what its tensors hold, and when that is most.

    line = memory_line(train)            # train() runs under PyTorch's profiler
    line.phases                          # parts marked by torch.profiler.record_function
    line.peak, line.reserved             # bytes after each allocation or free
    line.trace                           # ("alloc", 17, 4096), ("free", 17), … for `helpers.replay`

On a GPU both lines are what PyTorch's allocator for CUDA reports. Elsewhere the tensors are the CPU's, whose sizes are
the same; the CPU's allocator keeps no cache, so what a GPU's would keep is modelled by `caching_allocator`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from helpers.results.torch.caching_allocator import CachingAllocator
from vgpu.hardware.device import real_gpu
from vgpu.tools.profile_table import text_table
from vgpu.tools.streams.profiler_lock import exclusive
from vgpu.tools.streams.spans import table

MIB = 2**20
NO_PHASE = "unmarked"
TEMPORARY = "temporary"


@dataclass(frozen=True)
class Change:
    """Bytes taken (above 0) or given back (below), the phase it happened in, and the operator that was running.

    `block`: a number for the block, the same when it is taken and when it is given back; -1 where the recording did not
    see it taken.
    """

    nbytes: int
    phase: str
    operator: str
    block: int = -1


@dataclass(frozen=True)
class Phase:
    """A stretch of changes, from number `first` up to `last`, both included, and the bytes held then."""

    name: str
    first: int
    last: int
    peak: int
    end: int


@dataclass(frozen=True, repr=False)
class MemoryLine:
    """Every allocation and free in order; `allocated` and `reserved` are bytes after each of them.

    `kind` says of `reserved`: "measured" by PyTorch on a GPU, or "modelled". `allocated` is counted either way.
    """

    changes: tuple[Change, ...]
    allocated: tuple[int, ...]
    reserved: tuple[int, ...]
    kind: str

    @property
    def peak(self) -> int:
        """The most bytes that tensors held."""
        return max(self.allocated)

    @property
    def peak_phase(self) -> str:
        """The phase in which they held it first."""
        return self.changes[self.allocated.index(self.peak)].phase

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases in the order in which they came; one that comes twice is there twice."""
        starts = [n for n, each in enumerate(self.changes) if not n or each.phase != self.changes[n - 1].phase]
        ends = [*(start - 1 for start in starts[1:]), len(self.changes) - 1]
        return tuple(
            Phase(self.changes[first].phase, first, last, max(self.allocated[first : last + 1]), self.allocated[last])
            for first, last in zip(starts, ends, strict=True)
        )

    @property
    def trace(self) -> list[tuple]:
        """Every block taken and given back, for an allocator to replay: ("alloc", block, nbytes) or ("free", block)."""
        return [
            ("alloc", each.block, each.nbytes) if each.nbytes > 0 else ("free", each.block)
            for each in self.changes
            if each.block >= 0
        ]

    def kinds(self, kept: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
        """Bytes after each change, by what they are for. `kept`: what it is that a phase leaves behind, by its name.

        A block that is still held when the stretch of its phase ends is what the phase leaves behind; one that is given
        back within it was temporary. Phases that `kept` does not name leave "other" blocks.
        """
        stretch = [n for n, phase in enumerate(self.phases) for _ in range(phase.first, phase.last + 1)]
        ends = {each.block: stretch[n] for n, each in enumerate(self.changes) if each.nbytes < 0}
        names: dict[int, str] = {}
        for n, each in enumerate(self.changes):
            if each.nbytes > 0:
                temporary = ends.get(each.block) == stretch[n]
                names[each.block] = TEMPORARY if temporary else kept.get(each.phase, "other")
        held = {name: [0] for name in [*dict.fromkeys(kept.values()), "other", TEMPORARY]}
        for each in self.changes:
            for name, values in held.items():
                values.append(values[-1] + (each.nbytes if names.get(each.block) == name else 0))
        return {name: tuple(values[1:]) for name, values in held.items() if any(values)}

    def _cells(self) -> list[list[str]]:
        rows = [(each.name, each.peak, each.end, self.reserved[each.last]) for each in self.phases]
        return [[name, *(f"{nbytes / MIB:.2f}" for nbytes in numbers)] for name, *numbers in rows]

    def __repr__(self) -> str:
        heads = ("phase", "MiB at most (counted)", "MiB at its end (counted)", f"MiB reserved ({self.kind})")
        return "\n".join(text_table(heads, self._cells(), left=0))

    def _repr_html_(self) -> str:
        heads = ("phase", "MiB at most", "MiB at its end", f"MiB reserved ({self.kind})")
        return table("What tensors hold: <strong>counted</strong>", heads, self._cells())


def memory_line(run: Callable[[], object]) -> MemoryLine:
    """Run `run()` under PyTorch's profiler and keep every allocation and free of its device, or of the CPU.

    `torch.profiler.record_function("name")` around a part of it makes a phase. Raises ValueError where the run
    allocates nothing, and RuntimeError within another recording with PyTorch's profiler.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    import torch
    from torch.profiler import profile

    on_gpu = torch.cuda.is_available() and real_gpu()
    with exclusive(), profile(profile_memory=True, acc_events=True) as seen:
        run()
        if on_gpu:
            torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        seen.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return read(events, on_gpu)


def read(events: list[dict], on_gpu: bool) -> MemoryLine:
    """The memory line of the events of a Chrome trace; those of a GPU's memory, or of the CPU's."""
    device = 1 if on_gpu else 0  # PyTorch's numbers of the kinds of device
    found = [each for each in events if each.get("name") == "[memory]" and each["args"]["Device Type"] == device]
    found.sort(key=lambda each: each["ts"])
    found = found if on_gpu else list(_paired(found))
    if not found:
        raise ValueError("the program allocates no tensor: there is no memory to show")
    phases = [each for each in events if each.get("cat") == "user_annotation"]
    operators = [each for each in events if each.get("cat") == "cpu_op"]
    # The outermost phase, for optimisers mark their steps themselves; the innermost operator, which asked.
    phase, operator = _around(phases, found, 0, NO_PHASE), _around(operators, found, -1, "")
    changes = tuple(map(Change, (each["args"]["Bytes"] for each in found), phase, operator, _numbered(found)))
    if on_gpu:
        allocated, reserved = (
            tuple(each["args"][name] for each in found) for name in ("Total Allocated", "Total Reserved")
        )
        return MemoryLine(changes, allocated, reserved, "measured")
    return MemoryLine(changes, tuple(accumulate(each.nbytes for each in changes)), _modelled(found), "modelled")


def _paired(found: list[dict]) -> Iterator[dict]:
    """The events but for frees of what was there before."""
    return (each for each, block in zip(found, _numbered(found), strict=True) if block >= 0)


def _numbered(found: list[dict]) -> Iterator[int]:
    """The block of each event: a number for each time that an address is taken, -1 for one taken before."""
    alive: dict[int, int] = {}
    for number, each in enumerate(found):
        address = each["args"]["Addr"]
        if each["args"]["Bytes"] > 0:
            alive[address] = number
        yield alive[address] if each["args"]["Bytes"] > 0 else alive.pop(address, -1)


def _around(spans: list[dict], events: list[dict], depth: int, otherwise: str) -> Iterator[str]:
    """For each event, which come in the order of time, the name of the span around it: the outermost at depth 0, the
    innermost at depth -1."""
    coming = sorted(spans, key=lambda each: (each["ts"], -each["dur"]))[::-1]
    opened: list[dict] = []
    for event in events:
        while coming and coming[-1]["ts"] <= event["ts"]:
            opened.append(coming.pop())
        opened = [each for each in opened if event["ts"] <= each["ts"] + each["dur"]]
        inside = sorted(opened, key=lambda each: -each["dur"])
        yield inside[depth]["name"] if inside else otherwise


def _modelled(found: list[dict]) -> tuple[int, ...]:
    allocator, reserved = CachingAllocator(), []
    for each in found:
        address, nbytes = each["args"]["Addr"], each["args"]["Bytes"]
        allocator.allocate(address, nbytes) if nbytes > 0 else allocator.free(address)
        reserved.append(allocator.reserved)
    return tuple(reserved)

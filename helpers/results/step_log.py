"""A log of changes to a training step: what each version asks of the GPU, counted, and what that would take, modelled.

    log = StepLog(steps=2, gpu="A100")
    log.run("as found", train, slow)                 # train(slow) does two steps and returns their two losses
    log.run("pinned", train, pinned)
    log.revert("pinned")                             # what follows is compared with the version before it
    log.change("pinned")                             # what moved, against the version before
    log                                              # the table: a line a version
    log["as found"].ceilings()                       # the step's time if copies, waits, launches, … cost nothing
    log["as found"].filling()                        # each kernel's blocks, against the SMs that there are

A program must begin afresh whenever it is called, for it is called twice: once for what it asks of the GPU, once for
its tensors. What PyTorch's own operators do is no kernel here and is not counted; tensors that they make are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from helpers.results.step_tables import Ceiling, Ceilings, Change, Changes, Filled, Filling
from helpers.results.torch.memory import MemoryLine, memory_line
from vgpu.hardware import gpus
from vgpu.hardware.gpus import GPU
from vgpu.hardware.time_model import l2_bytes, seconds_text
from vgpu.operations import Operation
from vgpu.tools.profile_table import text_table
from vgpu.tools.roofline import flops_by_unit
from vgpu.tools.streams import model as stream_model
from vgpu.tools.streams.model import Work
from vgpu.tools.streams.order import Ordered
from vgpu.tools.streams.recording import Timeline, dry_run, work_of
from vgpu.tools.streams.spans import Schedule, table

MODEL_ERROR = 1.5
"""Modelled times nearer to one another than this factor say nothing about their order: see hardware/TIME_MODEL.md."""
MIB = 2**20
COPIES = ("H2D", "D2H")


@dataclass(frozen=True, repr=False)
class Version:
    """One version of a training step, as it was run. Counts are of all steps; `a_step(count)` divides."""

    name: str
    steps: int
    timeline: Timeline
    losses: tuple[float, ...]
    memory: MemoryLine
    gpu: GPU

    def on(self, gpu: str) -> Version:
        """The same counts with the modelled times of another GPU, by name."""
        return replace(self, gpu=gpus.find(gpu))

    def a_step(self, count: float) -> float:
        """A count of the whole run for each of its steps, a whole number where it is one."""
        share = count / self.steps
        return int(share) if share == int(share) else share

    @cached_property
    def _steps(self) -> list:
        return self.timeline.steps()

    @cached_property
    def _works(self) -> list[Work]:
        return [work_of(step.operation, self.gpu) for step in self._steps]

    @cached_property
    def kernels(self) -> list:
        """The operations that are kernels, those of graphs among them, in order."""
        return [step.operation for step in self._steps if step.operation.kind == "kernel"]

    @cached_property
    def launches(self) -> int:
        """Requests that make kernels run: launches, and whole graphs."""
        return sum(operation.kind in ("kernel", "graph") for operation in self.timeline.operations)

    def by_kernel(self) -> dict[str, int]:
        """How often each kernel runs, the most frequent first."""
        found: dict[str, int] = {}
        for operation in self.kernels:
            found[_name(operation)] = found.get(_name(operation), 0) + 1
        return dict(sorted(found.items(), key=lambda row: -row[1]))

    def copied(self, kind: str, pinned: bool | None = None) -> int:
        """Bytes copied one way ("H2D" or "D2H"), or those of them from or to pinned (or pageable) memory."""
        return sum(
            operation.nbytes
            for operation in self.timeline.operations
            if operation.kind == kind and (pinned is None or bool(operation.pinned) == pinned)
        )

    waits = property(lambda self: sum(each.waits or each.kind == "synchronise" for each in self.timeline.operations))
    dram_bytes = property(
        lambda self: sum(each.footprint.read_bytes + each.footprint.written_bytes for each in self._counters)
    )
    l2_bytes = property(lambda self: sum(l2_bytes(each.total) for each in self._counters))
    instructions = property(lambda self: sum(each.total["instructions"] for each in self._counters))

    @property
    def _counters(self) -> list:
        return [operation.counters for operation in self.kernels if operation.counters is not None]

    @cached_property
    def flops(self) -> Mapping[str, int]:
        """FLOPs by the units that do them."""
        found: dict[str, int] = {}
        for each in self._counters:
            for unit, count in flops_by_unit(each.total).items():
                found[unit] = found.get(unit, 0) + count
        return found

    @property
    def tensor_share(self) -> float:
        """The part of the FLOPs that tensor cores do, from 0 to 1."""
        total = sum(self.flops.values())
        return sum(n for unit, n in self.flops.items() if unit.endswith("_tensor")) / total if total else 0.0

    @cached_property
    def schedule(self) -> Schedule:
        """When everything runs: modelled."""
        return stream_model.schedule(self._steps, self._works, self.gpu)[0]

    @property
    def seconds(self) -> float:
        """Modelled seconds of a step."""
        return self.schedule.seconds / self.steps

    def ceilings(self, most: int = 10) -> Ceilings:
        """The modelled time of a step if one suspect cost nothing, for each suspect, at most so many rows.

        Suspects are all copies, all waits of the host, the host's time for all launches, the work of all kernels, and
        each kernel by itself, its launches and its work: what would be won if it were fused away.
        """
        host = replace(self.gpu, launch_overhead=0.0)
        found = {
            "copies": self._without(COPIES),
            "waits of the host": self._timed(_unwaited(self._steps), self._works, self.gpu),
            "launch overhead": self._timed(self._steps, self._works, host),
            "the work of all kernels": self._timed(self._steps, self._weightless(), self.gpu),
        }
        for name, count in self.by_kernel().items():
            label = f"{name} ({self.a_step(count):.3g} launches)"
            found[label] = self._without(("kernel",), name)
        rows = [Ceiling(name, seconds, self.seconds / seconds) for name, seconds in found.items()]
        return Ceilings(tuple(sorted(rows, key=lambda row: row.seconds)[:most]), self.gpu.name)

    def filling(self, most: int = 10) -> Filling:
        """How far the kernels fill the GPU: a row for each kernel and grid, the longest work first, at most so many."""
        found: dict[tuple, list[Work]] = {}
        for step, work in zip(self._steps, self._works, strict=True):
            if step.operation.kind == "kernel":
                found.setdefault((_name(step.operation), work.blocks, work.resident), []).append(work)
        rows = [
            Filled(
                name, self.a_step(len(works)), blocks, self.gpu.sms, blocks / resident,
                sum(work.seconds for work in works) / self.steps,
            )
            for (name, blocks, resident), works in found.items()
        ]  # fmt: skip
        return Filling(tuple(sorted(rows, key=lambda row: -row.seconds)[:most]), str(self.gpu.sms))

    def _without(self, kinds: Sequence[str], name: str = "") -> float:
        """The time if operations of these kinds, or those of one name among them, cost nothing."""
        steps = (step.operation for step in self._steps)
        gone = [step.kind in kinds and name in ("", _name(step)) for step in steps]
        works = [Work(None) if free else work for free, work in zip(gone, self._works, strict=True)]
        return self._timed(self._steps, works, self.gpu)

    def _weightless(self) -> list[Work]:
        return [replace(work, seconds=0.0) if work.engine == "SMs" else work for work in self._works]

    def _timed(self, steps: Sequence[Ordered], works: Sequence[Work], gpu: GPU) -> float:
        return stream_model.schedule(steps, works, gpu)[0].seconds / self.steps


def _name(operation: Operation) -> str:
    return operation.label.split(" (")[0]


def _instructions(count: float) -> str:
    return f"{count / 1e6:.2f} M" if count >= 1e6 else f"{count:,.0f}"


def _unwaited(steps: Sequence) -> list:
    """The same steps for a host that never waits."""
    return [
        replace(
            step, operation=replace(step.operation, waits=False), host="works" if step.host == "waits" else step.host
        )
        for step in steps
    ]


_HEADS = (
    "version", "launches", "bytes to the GPU", "bytes back", "waits", "DRAM, MB", "requested from L2, MB",
    "instructions", "tensor cores", "held at most, MiB", "reserved, MiB", "loss", "modelled", "since the first",
    "since the last kept",
)  # fmt: skip


class StepLog(Mapping):
    """Versions of a training step by name, in the order in which they were tried.

    steps: how many a program does. gpu: whose times are modelled. tolerance: how far a loss may be from that of the
    first version, as a part of it, and count as the same.
    """

    def __init__(self, *, steps: int = 1, gpu: str = "A100", tolerance: float = 1e-3):
        if steps < 1:
            raise ValueError(f"a program does at least 1 step, not {steps}")
        self.steps, self.gpu, self.tolerance = steps, gpus.find(gpu), tolerance
        self.reverted: set[str] = set()
        self._versions: dict[str, Version] = {}

    def __getitem__(self, name: str) -> Version:
        if name not in self._versions:
            raise KeyError(f"no version {name!r} was run; there are {', '.join(self._versions) or 'none'}")
        return self._versions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._versions)

    def __len__(self) -> int:
        return len(self._versions)

    def run(self, name: str, program: Callable[..., Sequence[float]], *args: object) -> Version:
        """Run `program(*args)`, which does the steps and returns their losses, and enter it under `name`.

        A name that was used before is written over. Raises ValueError where there are not as many losses as steps.
        """
        losses: list = []
        timeline = dry_run(program, *args)
        memory = memory_line(lambda: losses.extend(program(*args)))
        if len(losses) != self.steps:
            raise ValueError(f"the program returned {len(losses)} losses, and this log is of {self.steps} steps each")
        self._versions[name] = Version(
            name, self.steps, timeline, tuple(float(loss) for loss in losses), memory, self.gpu
        )
        return self._versions[name]

    def revert(self, name: str) -> None:
        """Mark a version as one that was not kept."""
        self.reverted.add(self[name].name)

    def before(self, name: str) -> Version | None:
        """The version that `name` was made from: the last before it that was kept; None for the first."""
        names = list(self)
        kept = [each for each in names[: names.index(self[name].name)] if each not in self.reverted]
        return self[kept[-1]] if kept else None

    def same_losses(self, name: str) -> bool:
        """Whether the losses are those of the first version, within the tolerance."""
        first = next(iter(self.values())).losses
        pairs = zip(first, self[name].losses, strict=True)
        return all(abs(one - other) <= self.tolerance * abs(one) for one, other in pairs)

    def gain(self, name: str) -> float:
        """How many times as fast a version is as the one that it was made from, by modelled times."""
        before = self.before(name)
        return before.seconds / self[name].seconds if before else 1.0

    def change(self, name: str) -> Changes:
        """What `name` changes against the version that it was made from. Raises ValueError for the first version."""
        before = self.before(name)
        if before is None:
            raise ValueError(f"{name!r} is the first version: there is none before it to compare with")
        pairs = zip(_HEADS[1:-2], self._row(before)[1:-2], self._row(self[name])[1:-2], strict=True)
        moved = [Change(*each) for each in pairs if each[1] != each[2] or each[0] in ("loss", "modelled")]
        return Changes((*moved, Change("time against the last kept", "", self._against(self[name]))), name)

    def _cells(self) -> list[list[str]]:
        return [self._row(version) for version in self.values()]

    def _row(self, one: Version) -> list[str]:
        each = one.a_step
        back = " (reverted)" if one.name in self.reverted else ""
        to_gpu, pinned = one.copied("H2D"), one.copied("H2D", True)
        how = {0: "pageable", to_gpu: "pinned"}.get(pinned, "mixed") if to_gpu else ""
        return [
            one.name + back,
            f"{each(one.launches):,.4g}" if each(one.launches) < 1000 else f"{each(one.launches):,.0f}",
            f"{each(to_gpu):,.0f} {how}".strip(),
            f"{each(one.copied('D2H')):,.0f}",
            f"{each(one.waits):.3g}",
            f"{each(one.dram_bytes) / 1e6:.2f}",
            f"{each(one.l2_bytes) / 1e6:.1f}",
            _instructions(each(one.instructions)),
            f"{one.tensor_share:.0%}",
            f"{one.memory.peak / MIB:.2f}",
            f"{max(one.memory.reserved) / MIB:.0f}",
            "the same" if self.same_losses(one.name) else "ANOTHER",
            seconds_text(one.seconds),
            f"{next(iter(self.values())).seconds / one.seconds:.2g} ×",
            self._against(one),
        ]

    def _against(self, one: Version) -> str:
        if self.before(one.name) is None:
            return ""
        gain = self.gain(one.name)
        if 1 / MODEL_ERROR < gain < MODEL_ERROR:
            return "within error"
        return f"{gain:.2g} × faster" if gain > 1 else f"{1 / gain:.2g} × slower"

    def _told(self) -> tuple[list[str], list[list[str]]]:
        """Heads and rows, without the columns in which all of several versions agree; the loss always stays."""
        rows = self._cells()
        columns = zip(_HEADS, zip(*rows, strict=True), strict=True) if rows else ((head, ()) for head in _HEADS)
        kept = [(head, cells) for head, cells in columns if head == "loss" or len(rows) < 2 or len(set(cells)) > 1]
        return [head for head, _ in kept], [list(row) for row in zip(*(cells for _, cells in kept), strict=True)]

    def __repr__(self) -> str:
        return "\n".join(text_table(*self._told(), left=0))

    def _repr_html_(self) -> str:
        caption = (
            "A step of each version: launches, bytes, waits, instructions, held memory are <strong>counted</strong>; "
            f"time ({self.gpu.name}) and reserved memory are <strong>modelled</strong>"
        )
        return table(caption, *self._told(), padding=0.35)

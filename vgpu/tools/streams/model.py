"""When each operation would run: a model of a GPU's copy engines and SMs, event by event. Modelled, never measured.

One engine copies to the device, one back, and each runs one copy at a time. Kernels share the SMs by blocks: a kernel
may have as many resident blocks as its occupancy allows, and each takes that share of the GPU. Free SMs go to the most
urgent stream, then to the kernel issued first. Running blocks are never interrupted. The host issues one operation
after another, which takes time too. `exported` gives the same spans for a real GPU.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vgpu.hardware.time_model import DRAM_EFFICIENCY
from vgpu.launch.counters import Counters
from vgpu.tools.streams.order import Ordered, stream_name
from vgpu.tools.streams.spans import WAITS, Schedule, Span

if TYPE_CHECKING:
    from vgpu.hardware.gpus import GPU
    from vgpu.operations import Operation

PINNED_FRACTION = 0.8  # of the link's data-sheet bandwidth
STAGING = 6e9  # bytes a second through the staging buffer of pageable copies
_NARROW = 1e-9

ASSUMPTIONS = (
    f"Assumed: a copy from or to pinned memory gets {PINNED_FRACTION:.0%} of the link's data-sheet bandwidth.",
    f"Assumed: pageable memory goes through a staging buffer at {STAGING / 1e9:g} GB/s, the pace of one core; NVIDIA's "
    "How to Optimize Data Transfers in CUDA C/C++ measures 2.3 to 5.6, against 5.8 to 6.7 pinned.",
    "Assumed: issuing an operation takes the host one launch overhead, and so does a whole graph.",
    "Kernels side by side share SMs, and do not slow one another down by sharing DRAM.",
    "Work that NumPy does here counts as one kernel that reads and writes its arrays at DRAM's pace.",
    "Work of the host itself takes no time.",
)


@dataclass(frozen=True)
class Work:
    """What an operation needs: an engine for `seconds`, or SMs for `blocks`, of which `resident` fit at a time."""

    engine: str | None  # "H2D", "D2H", "SMs", or None for what takes no time
    seconds: float = 0.0
    blocks: int = 1
    resident: int = 1


def copy_seconds(nbytes: float, gpu: GPU, pinned: bool | None) -> float:
    """Seconds of a copy between host and device. Raises ValueError where the host link's bandwidth is unknown."""
    if gpu.host_bandwidth is None:
        raise ValueError(f"no document gives the host link of {gpu.name}, so copies have no modelled time")
    link = gpu.host_bandwidth * PINNED_FRACTION
    return nbytes / (link if pinned else min(link, STAGING))


def memory_seconds(nbytes: int, gpu: GPU) -> float:
    """Seconds for reading and writing this many bytes of DRAM in all."""
    return nbytes / (gpu.memory_bandwidth * DRAM_EFFICIENCY)


class _Job:
    """One operation on the machine: its blocks still to start and running, and its start and end in seconds."""

    def __init__(self, number: int, work: Work, waiting: int, priority: int):
        self.number, self.work, self.waiting, self.priority = number, work, waiting, priority
        self.left, self.running = work.blocks, 0
        self.start: float | None = None
        self.end: float | None = None
        waves = -(-work.blocks // work.resident)
        self.block_seconds = work.seconds / waves

    @property
    def urgency(self) -> tuple[int, int]:
        return self.priority, self.number


class EngineSimulation:
    """The engines and the SMs, run from event to event; jobs come in the order in which the host issues them."""

    def __init__(self, copy_engines: int = 2):
        self.now, self.free = 0.0, 1.0
        self.jobs: dict[int, _Job] = {}
        self._shared = copy_engines < 2  # one engine for both directions
        self._busy: set[str] = set()
        self._ready: list[_Job] = []
        self._after: dict[int, list[_Job]] = {}
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()

    def submit(self, number: int, work: Work, follows: Sequence[int], time: float, priority: int = 0) -> None:
        """A job issued at `time` (never earlier than the one before), to start when those it follows have ended."""
        self.advance(time)
        pending = [self.jobs[other] for other in follows if self.jobs[other].end is None]
        job = self.jobs[number] = _Job(number, work, len(pending), priority)
        for other in pending:
            self._after.setdefault(other.number, []).append(job)
        if not pending:
            self._begin(job)
        self._start()

    def advance(self, time: float) -> None:
        """Process all events up to `time`."""
        while self._events and self._events[0][0] <= time + _NARROW * time:
            self._step()
        self.now = max(self.now, time)

    def finish(self, numbers: Iterable[int] | None = None) -> float:
        """Run until these jobs (or all) have ended. When the last of them did."""
        wanted = [self.jobs[number] for number in (self.jobs if numbers is None else numbers)]
        while any(job.end is None for job in wanted):
            self._step()
        return max((job.end for job in wanted if job.end is not None), default=0.0)

    def _step(self) -> None:
        time, _, action = heapq.heappop(self._events)
        self.now = max(self.now, time)
        action()
        # Process all events of one moment before deciding which job is next.
        while self._events and self._events[0][0] <= self.now * (1 + _NARROW):
            heapq.heappop(self._events)[2]()
        self._start()

    def _at(self, time: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self._count), action))

    def _begin(self, job: _Job) -> None:
        if job.work.engine is None:
            job.start = self.now
            self._end(job)
        else:
            self._ready.append(job)

    def _end(self, job: _Job) -> None:
        job.end = self.now
        for other in self._after.pop(job.number, ()):
            other.waiting -= 1
            if not other.waiting:
                self._begin(other)

    def _start(self) -> None:
        """Give the free engines and SMs to jobs that are ready, the most urgent first."""
        for job in sorted(self._ready, key=lambda job: job.urgency):
            if job.work.engine == "SMs":
                self._give(job)
            else:
                self._copy(job)
        self._ready = [job for job in self._ready if job.left]

    def _copy(self, job: _Job) -> None:
        engine = "copies" if self._shared else job.work.engine or ""
        if engine in self._busy:
            return
        self._busy.add(engine)
        job.start, job.left = self.now, 0

        def done() -> None:
            self._busy.discard(engine)
            self._end(job)

        self._at(self.now + job.work.seconds, done)

    def _give(self, job: _Job) -> None:
        blocks = min(job.left, int(self.free * job.work.resident + 1e-6))
        if not blocks:
            return
        share = blocks / job.work.resident
        self.free -= share
        job.left -= blocks
        job.running += blocks
        job.start = self.now if job.start is None else job.start

        def done() -> None:
            self.free += share
            job.running -= blocks
            if not job.left and not job.running:
                self._end(job)

        self._at(self.now + job.block_seconds, done)


def schedule(found: Sequence[Ordered], works: Sequence[Work], gpu: GPU) -> tuple[Schedule, list[float]]:
    """The schedule of a recording's steps on `gpu`, and when each step ended.

    The host goes through the steps in order. Issuing one takes `gpu.launch_overhead` (once for all steps of a graph),
    and the host stops where it waits.
    """
    machine, host, graph = EngineSimulation(gpu.copy_engines), 0.0, None
    doing: list[Span] = []

    def passes(until: float, label: str, operation: Operation) -> float:
        """The host is busy, or waits, until then. Its time after that."""
        if until > host:
            doing.append(Span("host", stream_name(operation.queue), host, until, label))
        return max(host, until)

    for number, (step, work) in enumerate(zip(found, works, strict=True)):
        operation = step.operation
        if step.host == "waits":
            host = passes(machine.finish(step.follows), WAITS, operation)
        elif step.host == "issues" and work.engine is not None and (step.graph is None or step.graph != graph):
            host = passes(host + gpu.launch_overhead, operation.label, operation)
        graph = step.graph
        # The host's own steps have a position in the order and need no engine.
        machine.submit(number, work, step.follows, host, getattr(operation.queue, "priority", 0))
        if operation.waits and step.host == "issues":
            host = passes(machine.finish([number]), WAITS, operation)
    end = machine.finish()
    spans = [
        _span(engine, found[number].operation, job)
        for number, job in machine.jobs.items() if (engine := works[number].engine) is not None
    ]  # fmt: skip
    spans.sort(key=lambda span: (span.start, span.engine))
    result = Schedule(gpu.name, tuple(spans), max(end, host), ASSUMPTIONS, host=tuple(doing))
    return result, [_time(machine.jobs[number].end) for number in range(len(found))]


def _time(moment: float | None) -> float:
    assert moment is not None, "every job has run"
    return moment


def _span(engine: str, operation: Operation, job: _Job) -> Span:
    counted = operation.counters if isinstance(operation.counters, Counters) else None
    return Span(
        engine,
        stream_name(operation.queue),
        _time(job.start),
        _time(job.end),
        operation.label,
        nbytes=operation.nbytes or None,
        pinned=operation.pinned,
        grid=None if counted is None else tuple(counted.grid),
        block=None if counted is None else tuple(counted.block),
    )

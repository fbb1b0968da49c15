"""One warp scheduler at work, modelled clock by clock: which warp issues, which waits, how busy memory is.

The warps and what they wait for are real: `chain` takes them from running the kernel. The machine is a model of one
quarter of an SM, small on purpose:

- at each clock the scheduler issues one instruction of one warp, the one that has waited longest since its last;
- a warp goes on in order; it waits where it needs a value that is not there yet;
- an arithmetic result takes the clocks of the GPU's row, shared memory 23, global memory 450 when nothing is in its
  way (the constants of `time_model.py`, measured on a V100); local memory is taken to hit in L1, which there takes
  as long as shared memory, near enough;
- memory serves requests one after another, at this quarter's share of the GPU's bandwidth, as if all quarters did the
  same at the same time;
- a warp makes room for the next one when it has ended and all that it asked of memory is done.

Left out: barriers, caches, units that are busy for several clocks, and all that the four quarters do to one another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from vgpu.base.words import plural
from vgpu.hardware import gpus
from vgpu.hardware.device import current
from vgpu.hardware.gpus import GPU
from vgpu.hardware.time_model import DRAM_CYCLES, DRAM_EFFICIENCY, SECTOR_BYTES, SHARED_CYCLES
from vgpu.tools.launch import Launch
from vgpu.tools.steps.dependencies import Chain, ChainLink, chain

CLOCKS = 6000
DOING = ("issue", "queue", "wait result", "wait memory")
"""What a warp does: it issues, is ready but not chosen, waits for a result of its own, or for global memory."""


def bytes_per_clock(gpu: GPU) -> float:
    """What DRAM delivers to one scheduler in a clock: its share of 83 % of the sheet's bandwidth, in bytes."""
    return gpu.memory_bandwidth * DRAM_EFFICIENCY / (gpu.clock * gpu.sms * gpu.partitions_per_sm)


def bytes_in_flight(gpu: GPU) -> float:
    """Bytes that one scheduler must have on the way to keep its share of DRAM busy, by Little's law."""
    return bytes_per_clock(gpu) * DRAM_CYCLES


@dataclass(frozen=True)
class Issue:
    """From clock `start` to `end` one thing: one of `DOING`."""

    start: float
    end: float
    what: str


@dataclass(frozen=True, repr=False)
class IssueSlots:
    """What each warp's place did in the first `clocks` clocks, when memory was busy, and shares of that time.

    `memory` are the (start, end) of what it served, in clocks; `finished` counts warps that came to their end, `issued`
    instructions.
    """

    gpu: str
    chain: Chain
    clocks: int
    rows: tuple[tuple[Issue, ...], ...]
    memory: tuple[tuple[float, float], ...]
    finished: int
    issued: int

    @property
    def warps(self) -> int:
        """Resident warps of this scheduler."""
        return len(self.rows)

    @property
    def memory_busy(self) -> float:
        """Share of the time in which memory was at work, 0 to 1."""
        return sum(max(0, min(end, self.clocks) - start) for start, end in self.memory) / self.clocks

    @property
    def issue_busy(self) -> float:
        """Share of the clocks in which an instruction was issued, 0 to 1."""
        return self.issued / self.clocks

    def __repr__(self) -> str:
        loads, waits = plural(self.chain.loads, "load"), plural(self.chain.waits, "wait")
        return (
            f"{self.chain.kernel}: {loads} and {waits} in a warp (counted); {self.warps} warps on a "
            f"scheduler of {self.gpu} keep memory busy {self.memory_busy:.0%} (modelled)"
        )


_LATENCY: Mapping[str, float] = MappingProxyType(
    {"global": DRAM_CYCLES, "shared": SHARED_CYCLES, "local": SHARED_CYCLES}
)


class _Warp:
    """One place of the scheduler and the warp that stands there."""

    def __init__(self, links: tuple[ChainLink, ...]):
        self.links = links
        self.last = -1  # the clock of its last issue
        self.spans: list[Issue] = []
        self.begin(0.0)

    def begin(self, clock: float) -> None:
        """Let the next warp in at that clock."""
        self.at, self.there, self.earliest, self.done = 0, [0.0] * len(self.links), clock, clock

    @property
    def ready(self) -> float:
        """The clock from which the next instruction can go."""
        return max((self.there[number] for number in self.links[self.at].needs), default=self.earliest)

    @property
    def waits_for(self) -> str:
        needs = self.links[self.at].needs
        last = max(needs, key=self.there.__getitem__, default=None)
        return "wait memory" if last is None or self.links[last].space == "global" else "wait result"


def timeline(ran: Chain, warps: int, gpu: GPU, *, clocks: int = CLOCKS) -> IssueSlots:
    """Let `warps` warps of a kernel share one scheduler of `gpu` for so many clocks; all of them begin at clock 0.

    Raises ValueError for more warps than a scheduler of `gpu` can hold, and for a chain without instructions.
    """
    most = gpu.warps_per_sm // gpu.partitions_per_sm
    if not 1 <= warps <= most:
        raise ValueError(f"a scheduler of {gpu.name} holds 1 to {most} warps, not {warps}")
    if not ran.links:
        raise ValueError("this warp executes no instruction")
    rate, free = bytes_per_clock(gpu), 0.0
    places = [_Warp(ran.links) for _ in range(warps)]
    memory: list[tuple[float, float]] = []
    finished = issued = clock = 0
    while clock < clocks:
        able = [place for place in places if place.ready <= clock]
        if not able:
            clock = min(clocks, int(-(-min(place.ready for place in places) // 1)))
            continue
        place = min(able, key=lambda p: p.last)
        link, ready = place.links[place.at], min(max(place.ready, place.last + 1), clock)
        if ready > place.last + 1:
            place.spans.append(Issue(place.last + 1, ready, place.waits_for))
        if clock > ready:
            place.spans.append(Issue(ready, clock, "queue"))
        place.spans.append(Issue(clock, clock + 1, "issue"))
        latency = _LATENCY[link.space] if link.op in ("load", "atomic") else gpu.instruction_latency
        start = float(clock)
        if link.sectors:
            start = max(start, free)
            free = start + link.sectors * SECTOR_BYTES / rate
            memory.append((start, free))
            place.done = max(place.done, free, start + latency if link.op != "store" else 0)
        place.there[place.at] = start + latency
        place.last, place.at, issued = clock, place.at + 1, issued + 1
        if place.at == len(place.links):
            finished += 1
            place.begin(place.done)
        clock += 1
    for place in places:
        if place.last + 1 < clocks:
            place.spans.append(Issue(place.last + 1, clocks, place.waits_for))
    rows = tuple(tuple(_merged(place.spans)) for place in places)
    return IssueSlots(gpu.name, ran, clocks, rows, tuple(memory), finished, issued)


def schedule(launch: Launch, warps: int, gpu: GPU | str | None = None) -> IssueSlots:
    """The `timeline` of so many warps of a launch, on a GPU of the table or the one that `device` chose.

    Warp 0 of block 0 is run to see what waits for what. Errors: as `chain` and `timeline`; KeyError for no such GPU.
    """
    row = current() if gpu is None else gpus.find(gpu) if isinstance(gpu, str) else gpu
    ran = chain(
        launch.kernel, launch.grid, launch.block, launch.args, shared_bytes=launch.shared_bytes, **launch.meta
    )  # fmt: skip
    return timeline(ran, warps, row)


def _merged(spans: list[Issue]) -> list[Issue]:
    """Spans of one kind on end, as one."""
    found: list[Issue] = []
    for span in spans:
        if found and found[-1].what == span.what and found[-1].end == span.start:
            found[-1] = Issue(found[-1].start, span.end, span.what)
        else:
            found.append(span)
    return found

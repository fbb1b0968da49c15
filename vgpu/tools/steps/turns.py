"""Time slices: what the warps of one block do to shared memory, one after another, under one schedule.

Recordings have every step of every lane. Here consecutive steps of one kind become one time slice of a warp (`Turn`).
Each element that one thread writes and another reads is a hand-over; the schedule decides whether it works.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vgpu.base.schedule import scheduled
from vgpu.tools.launch import Launch
from vgpu.tools.steps.recording import LANES, Recording
from vgpu.tools.steps.stepper import record

if TYPE_CHECKING:
    from vgpu.tools.prepare import Dimensions

READS, WRITES, ARRIVES = "reads", "writes", "arrives"
_BARRIERS = ("bar", "barrier")


@dataclass(frozen=True)
class Turn:
    """A time slice: what a warp did at one line until another warp, or another kind of step; `op`, and its lanes."""

    warp: int
    line: int | None
    op: str
    lanes: int


@dataclass(frozen=True)
class HandOver:
    """Byte `offset` of shared memory: thread `writer` writes it in slice `written`, `reader` reads it in `read`."""

    offset: int
    writer: int
    reader: int
    written: int
    read: int

    @property
    def early(self) -> bool:
        """Whether the reader came before the writer, and so read the old value."""
        return self.read < self.written

    @property
    def warps(self) -> tuple[int, int]:
        return self.writer // LANES, self.reader // LANES


@dataclass(frozen=True, repr=False)
class Turns:
    """One block under one schedule: its time slices in order, its hand-overs, and the slices that opened a barrier."""

    kernel: str
    warps: int
    turns: tuple[Turn, ...]
    handovers: tuple[HandOver, ...]
    opened: tuple[int, ...]

    @property
    def early(self) -> int:
        """How many hand-overs went wrong: the element was read before it was written."""
        return sum(each.early for each in self.handovers)

    def __repr__(self) -> str:
        return (
            f"Turns of {self.kernel}: {len(self.turns)} turns of {self.warps} warps; {self.early} of "
            f"{len(self.handovers)} elements read too early"
        )


def turns(launch: Launch, *, seed: int | None = None, block_index: Dimensions = 0) -> Turns:
    """Record one block of `launch` under the random schedule `seed` (None: in order), on a copy of its memory.

    A hand-over is an element that one thread writes, once, and that others read. TypeError for anything but a `Launch`;
    else the errors of `record`.
    """
    if not isinstance(launch, Launch):
        raise TypeError(f"this takes a Launch(kernel, grid, block, args), not a {type(launch).__name__}")
    with scheduled("sequential") if seed is None else scheduled("random", seed):
        recording = record(
            launch.kernel, launch.grid, launch.block, launch.args, block_index, shared_bytes=launch.shared_bytes
        )
    return _from_recording(recording)


def _from_recording(recording: Recording) -> Turns:
    found: list[Turn] = []
    opened: list[int] = []
    writes: dict[int, list[tuple[int, int]]] = {}  # by offset: (thread, time slice)
    reads: dict[int, dict[int, int]] = {}  # by offset: the time slice in which each thread read it first
    warps = 0
    for step in recording.steps:
        warps = max(warps, step.warp + 1)
        shared = [each.access for each in step.touched if each.access.space == "shared"]
        barrier = step.instruction.lstrip("@%!p0123456789 \t").split(".")[0] in _BARRIERS
        if not shared and not barrier:
            continue
        op = ARRIVES if barrier else READS if shared[0].op == "load" else WRITES
        turn = Turn(step.warp, step.line, op, sum(step.active))
        if found and found[-1].warp == turn.warp and (found[-1].line, found[-1].op) == (turn.line, turn.op):
            found[-1] = replace(found[-1], lanes=min(LANES, found[-1].lanes + turn.lanes))
        else:
            found.append(turn)
        at = len(found) - 1
        if barrier and not any(step.waiting) and "warp" not in step.instruction:
            opened.append(at)
        for access in shared:
            for lane, (active, address) in enumerate(zip(access.lanes, access.addresses, strict=True)):
                thread = LANES * step.warp + lane
                if active and op == WRITES:
                    writes.setdefault(address, []).append((thread, at))
                elif active:
                    reads.setdefault(address, {}).setdefault(thread, at)
    handovers = [
        HandOver(offset, writer, reader, written, read)
        for offset, who in sorted(writes.items())
        if len(who) == 1
        for writer, written in who
        for reader, read in sorted(reads.get(offset, {}).items())
        if reader != writer
    ]
    return Turns(recording.kernel, warps, tuple(found), tuple(handovers), tuple(opened))

"""`mbarrier` in the reference interpreter: each barrier is a Python object, found by its offset in shared memory.

Shared memory holds a mark instead of the object, so that the use of a barrier that was never initialised, or was
overwritten by an ordinary store, is an error. As in NVIDIA's "PTX ISA", chapter on mbarrier, a phase is complete when
no arrivals and no bytes are missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from vgpu import isa
from vgpu.base.errors import BarrierError, Deadlock, KernelError, Misaligned, OutOfBounds
from vgpu.ptx import Instruction, Mem
from vgpu.reference import cluster
from vgpu.reference.warp import LANES, Frame, Warp

if TYPE_CHECKING:
    from vgpu.reference import Block
    from vgpu.reference.memory import Window

E = TypeVar("E", bound=KernelError)

U32, U64, PRED = isa.TYPES["u32"], isa.TYPES["u64"], isa.TYPES["pred"]
MOST = 2**20 - 1
MARK = bytes.fromhex("6d6261727269657e")
IDLE_ROUNDS = 200  # in which all threads test mbarriers without success, before waiting is a deadlock


Whereabouts: TypeAlias = dict[str, Any]
"""The keyword arguments of `KernelError`, and the position in words under "text"."""


def whereabouts(warp: Warp, instruction: Instruction, lane: int) -> Whereabouts:
    return {"text": warp.position(instruction, lane)} | warp.where(instruction, lane)


def failure(kind: type[E], text: str, where: Whereabouts) -> E:
    """An error of this kind at a position."""
    rest = dict(where)
    return kind(f"{text}, {rest.pop('text')}", **rest)


@dataclass
class Phase:
    """One barrier: the number of its phase, arrivals of a full phase, arrivals and bytes still missing."""

    expected: int
    pending: int
    missing: int = 0
    number: int = 0

    def state(self) -> int:
        return self.number << 32 | self.pending


class Barriers:
    """The mbarriers of one block by their offsets in shared memory."""

    def __init__(self, window: Window):
        self.window = window
        self.found: dict[int, Phase] = {}
        self.changes = 0

    def _bytes(self, offset: int) -> np.ndarray:
        start = int(self.window.base) - self.window.allocation.ctypes.data + offset
        return self.window.allocation[start : start + 8]

    def check(self, offset: int, where: Whereabouts) -> int:
        """The offset; raises for one outside shared memory or misaligned."""
        if not 0 <= offset <= self.window.nbytes - 8:
            raise failure(OutOfBounds, "an mbarrier outside shared memory", where)
        if offset % 8:
            raise failure(Misaligned, "an mbarrier at an address that is no multiple of 8", where)
        return offset

    def find(self, offset: int, where: Whereabouts) -> int:
        self.check(offset, where)
        if offset not in self.found or self._bytes(offset).tobytes() != MARK:
            raise failure(BarrierError, "use of an mbarrier that is not initialised", where)
        return offset

    def init(self, offset: int, count: int, where: Whereabouts) -> None:
        if not 1 <= count <= MOST:
            raise failure(BarrierError, f"an mbarrier for {count} arrivals", where)
        self._bytes(self.check(offset, where))[:] = np.frombuffer(MARK, np.uint8)
        self.found[offset] = Phase(count, count)
        self.changes += 1

    def invalidate(self, offset: int, where: Whereabouts) -> None:
        self._bytes(self.find(offset, where))[:] = 0xFF
        del self.found[offset]

    def expect_one_more(self, offset: int, where: Whereabouts) -> None:
        phase = self.found[offset]
        if phase.pending == MOST:
            raise failure(BarrierError, "too many pending arrivals", where)
        phase.pending += 1

    def update(
        self, offset: int, arrivals: int, nbytes: int, where: Whereabouts, drop: bool = False, early: bool = True
    ) -> int:
        """Arrive and change the bytes to wait for; returns the state before."""
        phase = self.found[self.find(offset, where)]
        before = phase.state()
        self.changes += 1
        if arrivals > phase.pending:
            text = f"{arrivals} arrivals at an mbarrier that waits for {phase.pending}"
            raise failure(BarrierError, text, where)
        if abs(phase.missing + nbytes) > MOST:
            raise failure(BarrierError, f"an mbarrier that waits for {phase.missing + nbytes} bytes", where)
        phase.pending -= arrivals
        phase.missing += nbytes
        if drop:
            phase.expected -= arrivals
        if phase.pending == 0 and phase.missing == 0:
            if not early:
                raise failure(BarrierError, "an arrival with noComplete that completes the phase", where)
            phase.number += 1
            phase.pending = phase.expected
        return before


# ---------------------------------------------------------------- instructions


def _each(
    warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray, operand: Mem
) -> Iterator[tuple[int, Barriers, int, Whereabouts]]:
    """(lane, the barriers of its block, offset there, position) of the active lanes, lowest first."""
    from vgpu.reference.async_copy import shared_offsets

    offsets = shared_offsets(warp, frame, instruction, operand)
    for lane in np.flatnonzero(mask).tolist():
        offset = int(offsets[lane]) if offsets[lane] < 2**62 else -1
        block, offset = cluster.placed(warp.block, offset)
        yield lane, block.mbarriers, offset, whereabouts(warp, instruction, lane)


def init(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    counts = warp.read(frame, instruction.operands[1], U32)
    for lane, barriers, offset, where in _each(warp, frame, instruction, mask, instruction.operands[0]):
        barriers.init(offset, int(counts[lane]), where)


def invalidate(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    for _, barriers, offset, where in _each(warp, frame, instruction, mask, instruction.operands[0]):
        barriers.invalidate(offset, where)


def arrive(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    words = instruction.modifiers
    target, barrier, *rest = instruction.operands
    amounts = warp.read(frame, rest[0], U32) if rest else np.ones(LANES, np.uint32)
    states = np.zeros(LANES, np.uint64)
    for lane, barriers, offset, where in _each(warp, frame, instruction, mask, barrier):
        amount = int(amounts[lane])
        arrivals, nbytes = (1, amount) if "expect_tx" in words else (amount, 0)
        states[lane] = barriers.update(
            offset, arrivals, nbytes, where, words[0] == "arrive_drop", "noComplete" not in words
        )
    warp.write(frame, target, states, U64, mask)


def expect(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    barrier, amount = instruction.operands
    sign = -1 if instruction.modifiers[0] == "complete_tx" else 1
    amounts = warp.read(frame, amount, isa.TYPES["s32"])
    for lane, barriers, offset, where in _each(warp, frame, instruction, mask, barrier):
        barriers.update(offset, 0, sign * int(amounts[lane]), where)


def written(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray, nbytes: int) -> None:
    """Tell the mbarriers of an asynchronous store, its last operand, of the bytes that each lane has written."""
    for _, barriers, offset, where in _each(warp, frame, instruction, mask, instruction.operands[-1]):
        barriers.update(offset, 0, -nbytes, where)


def unseen(block: Block, offset: int) -> bool:
    """Whether a warp waits for a phase of an mbarrier that is over, and has had no time slice since."""
    number = block.mbarriers.found[offset].number
    waits = (warp.waits for warp in block.warps if warp.waits)
    return any(at == offset and phase < number and tested + 1 >= block.rounds for at, phase, tested in waits)


def wait(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """Whether the phase of a state, or of a parity, is complete. If it isn't, the warp's time slice ends."""
    from vgpu.reference import async_copy, bulk_copy

    target, barrier, wanted = instruction.operands[:3]
    parity = "parity" in instruction.modifiers
    values = warp.read(frame, wanted, U32 if parity else U64)
    numbers = values & np.uint32(1) if parity else (values >> np.uint64(32)) & np.uint64(1)
    over = np.zeros(LANES, bool)
    warp.waits = None
    for lane, barriers, offset, where in _each(warp, frame, instruction, mask, barrier):
        phase = barriers.found[barriers.find(offset, where)]
        if phase.number % 2 == numbers[lane]:
            async_copy.complete_for(warp.block, offset)
            bulk_copy.complete_for(warp.block, offset)
        over[lane] = phase.number % 2 != numbers[lane]
        if not over[lane]:
            warp.waits = warp.waits or (offset, phase.number, warp.block.rounds)
            warp.stalled = where | {"offset": offset}
            warp.block.watch.stalled[warp.index, lane] = warp.stalled
    warp.write(frame, target, over, PRED, mask)


def pending_count(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    target, state = instruction.operands
    warp.write(frame, target, (warp.read(frame, state, U64) & np.uint64(MOST)).astype(np.uint32), U32, mask)


FORMS = {
    "init": init, "inval": invalidate, "arrive": arrive, "arrive_drop": arrive, "expect_tx": expect,
    "complete_tx": expect, "test_wait": wait, "try_wait": wait, "pending_count": pending_count,
}  # fmt: skip


def dispatch(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    FORMS[instruction.modifiers[0]](warp, frame, instruction, mask)


ACTIONS = {"mbarrier": dispatch}


# ---------------------------------------------------------------- all wait


class StallDetector:
    """Detects a block whose threads all wait at mbarriers."""

    def __init__(self, block: Block):
        self.block, self.idle, self.changes = block, 0, 0
        self.stalled: dict[tuple[int, int], Whereabouts] = {}  # failed tests by (warp, lane) since the last change

    def round(self, released: bool) -> None:
        """After a time slice of every warp: raise Deadlock if all threads have waited at mbarriers for long."""
        changes = self.block.mbarriers.changes
        if released or changes != self.changes:
            self.idle, self.changes, self.stalled = 0, changes, {}
        if not self.stalled:
            return
        ready = {(warp.index, int(lane)) for warp in self.block.warps for lane in np.flatnonzero(warp.ready())}
        if not ready <= self.stalled.keys():
            return
        where = dict(self.stalled[min(self.stalled)])
        self.idle, self.stalled = self.idle + 1, {}
        if self.idle > IDLE_ROUNDS:
            if "offset" not in where:
                raise failure(
                    Deadlock, "deadlock: a warp waits for products of its warpgroup, which lacks warps", where
                )
            phase = self.block.mbarriers.found[where.pop("offset")]
            text = (
                f"deadlock: every warp waits at an mbarrier; here {phase.pending} of {phase.expected} arrivals and "
                f"{phase.missing} bytes are missing"
            )
            raise failure(Deadlock, text, where)

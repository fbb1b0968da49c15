"""The dispatcher, in LLVM IR: which lanes of a warp run next, and when the warp's time slice is over."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from vgpu.base.context import (
    DONE,
    OUT_OF_FUEL,
    PC_DONE,
    PC_POLL,
    PC_SYNC,
    PC_WAIT,
    POLLING,
    SPUN,
    WAITING,
)
from vgpu.ir import LANES, Value
from vgpu.ir.value import V32
from vgpu.lower.tallies import Tallies

SPIN = 1024  # the fuel that one more round of a loop costs that spins on memory
KIND = 0xF0000000  # the bits of a program counter that say what its lane waits for


@dataclass(frozen=True)
class Chosen:
    """What runs next: its program counter, all lanes there (bits), the lowest program counter of the others if that is
    known yet, and whether it overtakes lanes at lower ones."""

    pc: Value
    lanes: Value
    others: Value | None
    overtakes: Value | None = None


class Dispatch(Tallies):
    """The part of a lowering that chooses the lanes that run."""

    # ------------------------------------------------------------ program counters

    def pcs(self) -> Value:
        return self.get_state(0, V32)

    def set_pcs(self, mask: Value, target: Value | int) -> None:
        """Lanes of `mask` (bits) continue at basic block `target`."""
        pcs = self.pcs()
        self.set_state(0, mask.lanes().select(target, pcs))

    def set_aside(self, lanes: Value | int, basic_block: Value | int) -> None:
        """Keep one group of lanes that waits at a basic block where it is quickly found again."""
        self.vars.lanes.set(lanes)
        self.vars.aside.set(basic_block)

    def flush(self) -> None:
        """Write the group set aside, if there is one, to the program counters."""
        if self.flow.diverged:
            lanes = self.vars.lanes.get()
            self.set_pcs(lanes, self.vars.aside.get())
            self.set_aside(0, PC_DONE)

    def move_lanes(self) -> None:
        """Note where the running lanes want to go."""
        self.flush()
        mask = self.vars.mask.get()
        self.set_pcs(mask, self.vars.target.get())

    # ------------------------------------------------------------ lanes that poll

    def wake(self) -> None:
        """At the start of a time slice: lanes that wait for memory to change look at it once more."""
        if not self.flow.waits:
            return
        pcs = self.pcs()
        awake, first = self._polling(pcs)
        self.set_state(0, awake)
        lowest = pcs.reduce("umin")
        self.progress(lowest.below(PC_POLL) & (lowest.below(first) | self._may_overtake()))

    def _polling(self, pcs: Value) -> tuple[Value, Value]:
        """The program counters with the lanes awake that wait for memory to change, and the lowest of those lanes'."""
        polls = (pcs & KIND).eq(PC_POLL)
        awake = polls.select(pcs ^ PC_POLL, pcs)
        return awake, polls.select(awake, PC_DONE).reduce("umin")

    def _may_overtake(self) -> Value:
        """Whether lanes may run ahead of others of their warp that wait for memory to change.

        Lanes reconverge where their paths join, as they do on a GPU: those that come first wait there. But where all
        blocks wait, the lanes that wait may be waiting for these.
        """
        return self.context("ahead", constant=False).ne(0)

    def progress(self, moved: Value) -> None:
        """Note for the block loop whether this warp did more than wait."""
        place = self.context_place("progress")
        self.ir.store(place, self.ir.load(place, "i64", 8) | moved.to("i64"), 8)

    # ------------------------------------------------------------ the dispatcher

    def dispatcher(self) -> None:
        ir, found = self.ir, self.vars
        if self.unites:
            resume = self.context("resume", constant=False).to("i32")
            found.mask.set(-1)
            found.others.set(PC_DONE)
            found.forced.set(0)
            found.index.set(resume)
            ir.branch(resume.below(0, signed=True), "dispatch", "go")
        ir.label("dispatch")
        pcs = self.pcs()
        chosen = self.deepest(pcs) if self.flow.stacked else self._united(pcs) if self.simple else self._lowest(pcs)
        with ir.when(chosen.pc.reaches(PC_WAIT)):
            self.end_slice(chosen.pc.eq(PC_DONE).select(ir.i32(DONE), WAITING))
        seen = self._without_sleepers(pcs, chosen.pc) if self.flow.waits else pcs
        found.mask.set(self._picked(chosen.lanes) if self.fine else chosen.lanes)
        others = chosen.others or chosen.lanes.lanes().select(PC_DONE, seen).reduce("umin")
        found.others.set(others if chosen.overtakes is None else chosen.overtakes.select(PC_DONE, others))
        found.forced.set((chosen.pc & PC_SYNC).ne(0))
        found.index.set(chosen.pc & PC_SYNC - 1)
        self.burn("dispatch", "go")
        ir.label("go")
        cases = " ".join(f"i32 {s.index}, label %s{s.index}" for s in self.reached)
        ir.line(f"switch {found.index.get()}, label %lost [ {cases} ]")
        for label, status in (("waits", WAITING), ("ends", DONE)):
            ir.label(label)
            self.end_slice(status)
        ir.label("lost")
        ir.line("unreachable")
        if self.flow.diverged:
            self._meeting()
        # Lanes that may not go straight on: note where they want to go, then dispatch anew.
        ir.label("park")
        self.move_lanes()
        ir.go("dispatch")
        ir.label("starve")
        self.move_lanes()
        ir.label("starved")
        self._out_of_fuel(OUT_OF_FUEL)
        if self.flow.spinning:
            ir.label("spin")
            self.move_lanes()
            self._out_of_fuel(SPUN)
        ir.label("slice_over")
        self.end_tallies()
        ir.give(found.status.get())

    def end_slice(self, status: Value | int) -> None:
        """Give control back to the block loop, and say why."""
        self.vars.status.set(status)
        self.ir.go("slice_over")

    def _out_of_fuel(self, status: int) -> None:
        """The warp has used its time slice up: other lanes may be the first in the next."""
        if not self.flow.structured:
            self.ir.add_to(self.turn, 1)
        self.end_slice(status)

    def burn(self, tag: str, onward: str) -> None:
        """Use up fuel; without any left, return to the block loop: "dispatch", "jump", or "spin" (dear)."""
        left = self.ir.load(self.fuel, "i64", 8) - (SPIN if tag == "spin" else 1)
        self.ir.store(self.fuel, left, 8)
        empty = {"dispatch": "starved", "jump": "starve", "spin": "spin"}[tag]
        self.ir.branch(left.below(0, signed=True), empty, onward)

    def _without_sleepers(self, pcs: Value, pc: Value) -> Value:
        """End the time slice if the lanes at `pc` sleep, or wait for lanes that do; the program counters to compare."""
        awake, first = self._polling(pcs)
        overtake = self._may_overtake()
        with self.ir.when(first.below(pc) & ~overtake | (pc & KIND).eq(PC_POLL)):
            self.end_slice(POLLING)
        return overtake.select(pcs, awake)

    def _picked(self, lanes: Value) -> Value:
        """Those of the lanes that the schedule lets run, or all if it lets none of them."""
        picked = lanes & self.context("lanes", constant=False).to("i32")
        return picked.eq(0).select(lanes, picked)

    # ------------------------------------------------------------ which lanes

    @property
    def unites(self) -> bool:
        """Whether all lanes of a warp may go on from a barrier without a look at their program counters."""
        return not (self.fine or self.flow.waits or self.flow.stacked)

    @property
    def simple(self) -> bool:
        """Whether the lowest pending basic block always runs next, and nothing but barriers makes lanes wait."""
        return self.flow.structured and not (self.flow.waits or self.flow.stacked or self.fine)

    @abstractmethod
    def deepest(self, pcs: Value) -> Chosen:
        """What runs next where there are calls."""

    def _united(self, pcs: Value) -> Chosen:
        """The lowest program counter; mostly all lanes are at one place."""
        ir, first = self.ir, pcs.lane(0)
        pc, lanes, others = ir.variable("i32", first), ir.variable("i32", -1), ir.variable("i32", PC_DONE)
        with ir.when(pcs.eq(first).bits().ne(-1)):
            low = pcs.reduce("umin")
            here = pcs.eq(low)
            pc.set(low)
            lanes.set(here.bits())
            others.set(here.select(PC_DONE, pcs).reduce("umin"))
        return Chosen(pc.get(), lanes.get(), others.get())

    def _lowest(self, pcs: Value) -> Chosen:
        """The lowest program counter, or another one whose turn it is."""
        pc, overtakes = pcs.reduce("umin"), None
        if not self.flow.structured:
            pc, overtakes = self.take_turns(pcs.below(PC_POLL), pcs, pc)
        return Chosen(pc, pcs.eq(pc).bits(), None, overtakes)

    def take_turns(self, ready: Value, keys: Value, low: Value) -> tuple[Value, Value]:
        """Which key is the next to run, and whether that is another one than the lowest, which then overtakes.

        After each time slice that ran out of fuel the warp's turn counts on, so that lanes that wait let others go:
        every second time the lowest key runs, else the highest of those that are ready, or that of one lane after the
        other. Lanes that stand between two groups that wait would otherwise never run.
        """
        ir = self.ir
        turn, standing, chosen = ir.load(self.turn, "i64", 8), ready.bits(), ir.variable(low.kind, low)
        overtakes = turn.to("i1") & standing.ne(0)
        with ir.when(overtakes):
            top = ready.select(keys, 0).reduce("umax")
            first = (turn >> 2 & LANES - 1).to("i32")
            beyond = standing.intrinsic("llvm.fshr", standing, first).intrinsic("llvm.cttz", flag=True)
            one_after_the_other = keys.lane(beyond + first & LANES - 1)
            chosen.set((turn & 2).eq(0).select(top, one_after_the_other))
        return chosen.get(), overtakes

    def _meeting(self) -> None:
        """The running lanes have come to where the lanes set aside wait, or beyond: join them, or change places.

        A branch with two paths and a join needs no more than this, and the dispatcher with its 32 program counters
        is left alone.
        """
        ir, v = self.ir, self.vars
        ir.label("meet")
        mask, target, aside, lanes, others = (x.get() for x in (v.mask, v.target, v.aside, v.lanes, v.others))
        ir.branch(aside.below(others), "pair", "park")
        ir.label("pair")
        same = target.eq(aside)
        v.mask.set(same.select(mask | lanes, lanes))
        self.set_aside(same.select(0, mask), same.select(PC_DONE, target))
        v.target.set(aside)
        v.index.set(aside)
        self.burn("jump", "go")

    def others_at(self, least: int) -> Value | None:
        """Whether all lanes that are not running wait at `least` or beyond; None where that takes the dispatcher."""
        if not self.simple:
            return None
        others = self.vars.others.get()
        if self.flow.diverged:
            others = others.intrinsic("llvm.umin", self.vars.aside.get())
        return others.reaches(least)

"""How lanes move between basic blocks, in LLVM IR: jumps, branches, barriers and the end."""

from __future__ import annotations

from abc import abstractmethod

from vgpu.base.context import BY_STATE_ONLY, ERROR_CODE, FAILED, PC_BARRIER_SHIFT, PC_DONE, PC_POLL, PC_WAIT
from vgpu.ir import Value
from vgpu.lower import basic_blocks, block_barriers
from vgpu.lower import watch as lower_watch
from vgpu.lower.basic_blocks import BasicBlock
from vgpu.lower.both_sides import Branch
from vgpu.lower.dispatch import Dispatch
from vgpu.ptx import Imm


class Control(Dispatch):
    """The part of a lowering that decides which lanes run where."""

    def end_jump(self, basic_block: BasicBlock) -> None:
        self.spill(basic_block.targets)
        self.go(basic_block.targets[0])

    def go(self, target: int) -> None:
        """The lanes of the basic block continue at `target`, straight on if no lane waits at or before it."""
        ir, v = self.ir, self.vars
        if self.fine:  # every basic block is a place to change to other lanes, warps and blocks
            v.target.set(target)
            ir.go("park")
            return
        paid = target <= self.here.index and self.here.index in self.flow.spinning
        if paid:  # so that a warp that spins soon lets others run
            again = ir.name()
            v.target.set(target)
            self.burn("spin", again)
            ir.label(again)
        if self.parted or target in self.flow.diverged:
            free = ir.name()
            nearest = v.others.get().intrinsic("llvm.umin", v.aside.get())
            v.target.set(target)
            ir.branch(nearest.above(target), free, "meet")
            ir.label(free)
        self.straight_on(target, paid)

    def straight_on(self, target: int, paid: bool = False) -> None:
        """Jump to a basic block; backwards that costs fuel, unless it is paid."""
        if target <= self.here.index and not paid:
            self.vars.target.set(target)
            self.burn("jump", f"s{target}")
        else:
            self.ir.go(f"s{target}")

    # ------------------------------------------------------------ branches

    def end_branch(self, basic_block: BasicBlock) -> None:
        ir = self.ir
        if basic_block.index in self.flow.waits:
            self.end_wait(basic_block)
            return
        condition = self.condition(basic_block)
        if basic_block.index in self.short:
            self.run_both_sides(basic_block, self.short[basic_block.index], condition.splat())
            return
        taken, following = basic_block.targets
        self.spill(basic_block.targets)
        yes, no, parts = ir.name(), ir.name(), ir.name()
        if not condition.vector:
            ir.branch(condition, yes, no)
        else:
            bits = condition.bits()
            going, staying = self.mask & bits, self.mask & ~bits
            ir.go(no, going.eq(0))
            ir.branch(staying.eq(0), yes, parts)
            ir.label(parts)
            if self.count:
                self.tally(basic_block.index, 2, 1)
            self.left(basic_block, taken)
            self.left(basic_block, following)
            self.part(taken, following, going, staying)
        ir.label(yes)
        self.left(basic_block, taken)
        self.go(taken)
        ir.label(no)
        self.left(basic_block, following)
        self.go(following)

    @abstractmethod
    def instructions(self, basic_block: BasicBlock) -> None:
        """What a basic block does before it ends."""

    def run_both_sides(self, parting: BasicBlock, branch: Branch, condition: Value) -> None:
        """The end of a basic block whose branch has short sides: each is run for the lanes that take it."""
        bits = condition.bits()
        going, staying = self.mask & bits, self.mask & ~bits
        if self.count:
            self.tally(parting.index, 2, (going.ne(0) & staying.ne(0)).to("i64"))
        sides = [(branch.taken, going, condition), (branch.following, staying, ~condition)]
        for side, lanes, self.side in sorted(sides, key=lambda each: each[0]):
            for index in side:
                if self.count:
                    self.executed(self.flow.basic_blocks[index], lanes.ne(0).to("i64"), lanes)
                self.instructions(self.flow.basic_blocks[index])
        self.side = None
        self.spill([branch.meet])
        self.go(branch.meet)

    def condition(self, basic_block: BasicBlock) -> Value:
        """Which lanes take a basic block's branch."""
        assert basic_block.last is not None
        condition = self.guard(basic_block.last.guard)
        assert condition is not None, "a branch has a guard"
        return condition

    def end_wait(self, basic_block: BasicBlock) -> None:
        """The end of a loop that only waits for memory to change: lanes that go round again sleep until the next slice.

        How often they look depends on the schedule, so nothing but the last round, in which they leave, is counted.
        """
        condition = self.condition(basic_block)
        again, onward = basic_block.targets
        if again != basic_block.index:
            again, onward, condition = onward, again, ~condition
        self.spill(basic_block.targets)
        bits = self.guarded_mask(condition)
        leaving = self.mask & ~bits
        left = leaving.ne(0)
        self.progress(left)
        if self.count:
            self.executed(basic_block, left.to("i64"), leaving)
            self.tally(basic_block.index, 3, left.to("i64"))
            self.tally(basic_block.index, 2, (left & bits.ne(0)).to("i64"))
            for site, count in self.postponed:
                count(leaving)
                self.requested([site])
        self.flush()
        self.set_pcs(bits, again | PC_POLL)
        self.set_pcs(leaving, onward)
        self.ir.go("dispatch")

    def part(self, taken: int, following: int, going: Value, staying: Value) -> None:
        """The lanes split: those with the higher basic block wait, the others go straight on if none is before them."""
        ir, v = self.ir, self.vars
        if self.fine:
            self.set_pcs(going, taken)
            self.set_pcs(staying, following)
            ir.go("dispatch")
            return
        (low, first), (high, later) = sorted([(taken, going), (following, staying)], key=lambda pair: pair[0])
        # Whoever was set aside before makes room: two groups are kept in hand, all others in memory.
        before, waiting = v.aside.get(), v.lanes.get()
        together = before.eq(high)
        with ir.when(before.ne(PC_DONE) & ~together):  # this is rare: code that is small will do
            ir.call("void", "wb_put_lanes", self.state, waiting, before)
            v.others.set(v.others.get().intrinsic("llvm.umin", before))
        self.set_aside(later | together.select(waiting, 0), high)
        others, lead = v.others.get(), ir.name()
        v.mask.set(first)
        v.target.set(low)
        ir.branch(others.above(low), lead, "park")
        ir.label(lead)
        self.straight_on(low)

    # ------------------------------------------------------------ barriers and the end

    def end_barrier(self, basic_block: BasicBlock) -> None:
        ir, last = self.ir, basic_block.last
        assert last is not None
        reduces = "red" in last.modifiers
        named = last.operands[1 if reduces else 0] if last.operands else Imm(0)
        number = block_barriers.number_of(self, last, named)
        if reduces:
            block_barriers.gather_predicate(self, last, number)
        elif len(last.operands) == 2:
            block_barriers.expect(self, number, last.operands[1])
            if self.watch:
                lower_watch.counted(self, last, last.operands[0], last.operands[1])
        guard = self.guard(last.guard)
        self.spill(basic_block.targets)
        target = number << PC_BARRIER_SHIFT | (basic_block.targets[0] | PC_WAIT)
        if self.unites and guard is None and not reduces and len(last.operands) < 2:
            by_state = self.context("resume", constant=False).eq(BY_STATE_ONLY)
            with ir.when(self.mask.eq(-1) & ~by_state):
                self.end_slice(target)
        everyone_waits = self.others_at(PC_WAIT)
        self.flush()
        if guard is None:
            self.set_pcs(self.mask, target)
            if everyone_waits is not None:
                ir.branch(everyone_waits, "waits", "dispatch")
                return
        else:
            waiting = self.guarded_mask(guard)
            self.set_pcs(self.mask & ~waiting, basic_block.targets[0])
            self.set_pcs(waiting, target)
        ir.go("dispatch")

    def end_leave(self, basic_block: BasicBlock) -> None:
        ir = self.ir
        if basic_block.last is not None and basic_blocks.kind_of(basic_block.last) == "trap":
            site = self.site(basic_block.last, "trap")
            self.run_time("wb_fail", ERROR_CODE["trap"], site, self.mask)
            ir.give(ir.i32(FAILED))
            return
        everyone_done = self.others_at(PC_DONE)
        self.flush()
        self.set_pcs(self.mask, PC_DONE)
        if everyone_done is None:
            ir.go("dispatch")
        else:
            ir.branch(everyone_done, "ends", "dispatch")

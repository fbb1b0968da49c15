"""How lanes move between basic blocks, in LLVM IR: jumps, branches, barriers and the end."""

from __future__ import annotations

from vgpu.base.context import ERROR_CODE, FAILED, PC_BARRIER_SHIFT, PC_DONE, PC_POLL, PC_WAIT
from vgpu.lower import basic_blocks, block_barriers
from vgpu.lower import watch as lower_watch
from vgpu.lower.dispatch import Dispatch
from vgpu.ptx import Imm
from vgpu.runtime.emit import LANES, Value


class Control(Dispatch):
    """The part of `lower.Lowering` that decides which lanes run where."""

    def meeting(self) -> None:
        """The running lanes have come to where the lanes set aside wait, or beyond: join them, or change places.

        A branch with two arms and a join needs no more than this, and the dispatcher with its 32 program counters
        is left alone.
        """
        e = self.e
        e.label("meet")
        mask, target, aside, lanes, others = (
            e.assign(f"load i32, ptr %{slot}_slot", "i32", False)
            for slot in ("mask", "target", "aside", "lanes", "others")
        )
        near = e.icmp("ult", aside, others)
        e.line(f"br i1 {near.text}, label %pair, label %park")
        e.label("pair")
        same = e.icmp("eq", target, aside)
        now = e.select(same, e.bin("or", mask, lanes), lanes)
        e.line(f"store i32 {now.text}, ptr %mask_slot")
        self.set_aside(e.select(same, e.const("i32", 0), mask), e.select(same, e.const("i32", PC_DONE), target))
        e.line(f"store i32 {aside.text}, ptr %target_slot")
        e.line(f"store i32 {aside.text}, ptr %index_slot")
        self.burn("jump", "go")

    def set_aside(self, lanes: Value, basic_block: Value) -> None:
        """Keep one group of lanes that waits at a basic block where it is quickly found again."""
        self.e.line(f"store i32 {lanes.text}, ptr %lanes_slot")
        self.e.line(f"store i32 {basic_block.text}, ptr %aside_slot")

    def flush(self) -> None:
        """Write the group set aside, if there is one, to the program counters."""
        if self.flow.diverged:
            e = self.e
            lanes = e.assign("load i32, ptr %lanes_slot", "i32", False)
            self.set_pcs(lanes, e.assign("load i32, ptr %aside_slot", "i32", False))
            self.set_aside(e.const("i32", 0), e.const("i32", PC_DONE))

    def move_lanes(self) -> None:
        self.flush()
        e = self.e
        mask = e.assign("load i32, ptr %mask_slot", "i32", False)
        target = e.assign("load i32, ptr %target_slot", "i32", False)
        self.set_pcs(mask, target)

    def set_pcs(self, mask: Value, target: Value) -> None:
        """Lanes of `mask` (bits) continue at basic block `target`."""
        e = self.e
        pcs = e.assign(f"load <{LANES} x i32>, ptr %state, align 64", "i32", True)
        new = e.select(self.lanes_of(mask), target, pcs)
        e.line(f"store {new.full} {new.text}, ptr %state, align 64")

    # ------------------------------------------------------------ ends of basic blocks

    def end_jump(self, basic_block) -> None:
        self.spill(basic_block)
        self.go(basic_block.targets[0])

    def go(self, target: int) -> None:
        """The lanes of the basic block continue at `target`, straight on if no lane waits at or before it."""
        e = self.e
        if self.fine:  # every basic block is a place to change to other lanes, warps and blocks
            e.line(f"store i32 {target}, ptr %target_slot")
            e.line("br label %park")
            return
        paid = target <= self.here.index and self.here.index in self.flow.spinning
        if paid:  # so that a warp that asks in vain soon lets others run
            self.parked += 1
            e.line(f"store i32 {target}, ptr %target_slot")
            self.burn("spin", f"once_more{self.parked}")
            e.label(f"once_more{self.parked}")
        together = not self.parted and target not in self.flow.diverged
        if not together:
            others = e.assign("load i32, ptr %others_slot", "i32", False)
            aside = e.assign("load i32, ptr %aside_slot", "i32", False)
            free = e.icmp("ult", e.const("i32", target), e.intrinsic("llvm.umin", others, aside))
            e.line(f"store i32 {target}, ptr %target_slot")
            self.parked += 1
            e.line(f"br i1 {free.text}, label %free{self.parked}, label %meet")
            e.label(f"free{self.parked}")
        self.straight_on(target, paid)

    def straight_on(self, target: int, paid: bool = False) -> None:
        """Jump to a basic block; backwards that costs fuel, unless it is paid."""
        if target <= self.here.index and not paid:
            self.e.line(f"store i32 {target}, ptr %target_slot")
            self.burn("jump", f"s{target}")
        else:
            self.e.line(f"br label %s{target}")

    def end_branch(self, basic_block) -> None:
        e = self.e
        if basic_block.index in self.flow.waits:
            self.end_wait(basic_block)
            return
        taken, following = basic_block.targets
        condition = self.guard(basic_block.last.guard)
        self.spill(basic_block)
        self.parked += 1
        yes, no, k = f"yes{self.parked}", f"no{self.parked}", self.parked
        if not condition.vector:
            e.line(f"br i1 {condition.text}, label %{yes}, label %{no}")
        else:
            bits = self.bits_of(condition)
            going = e.bin("and", self.mask, bits)
            staying = e.bin("and", self.mask, e.flip(bits))
            none = e.icmp("eq", going, e.const("i32", 0))
            e.line(f"br i1 {none.text}, label %{no}, label %some{k}")
            e.label(f"some{k}")
            all_go = e.icmp("eq", staying, e.const("i32", 0))
            e.line(f"br i1 {all_go.text}, label %{yes}, label %part{k}")
            e.label(f"part{k}")
            if self.count:
                self.tally(basic_block.index, 2, e.const("i64", 1))
            self.left(basic_block, taken)
            self.left(basic_block, following)
            self.part(taken, following, going, staying)
        e.label(yes)
        self.left(basic_block, taken)
        self.go(taken)
        e.label(no)
        self.left(basic_block, following)
        self.go(following)

    def end_wait(self, basic_block) -> None:
        """The end of a loop that only waits for memory to change: lanes that go round again wait for the next turn.

        How often they ask depends on the schedule, so nothing but the last round, in which they leave, is counted.
        """
        e = self.e
        condition = self.guard(basic_block.last.guard)
        again, onward = basic_block.targets
        if again != basic_block.index:
            again, onward, condition = onward, again, e.flip(condition)
        self.spill(basic_block)
        bits = self.guarded_mask(condition)
        leaving = e.bin("and", self.mask, e.flip(bits))
        left = e.icmp("ne", leaving, e.const("i32", 0))
        self.progress(left)
        if self.count:
            self.executed(basic_block, e.resize(left, 64), leaving)
            self.tally(basic_block.index, 3, e.resize(left, 64))
            self.tally(basic_block.index, 2, e.resize(e.bin("and", left, e.icmp("ne", bits, e.const("i32", 0))), 64))
            for site, asked in self.asked:
                asked(leaving)
                self.requested([site])
        self.flush()
        self.set_pcs(bits, e.const("i32", again | PC_POLL))
        self.set_pcs(leaving, e.const("i32", onward))
        e.line("br label %dispatch")

    def part(self, taken: int, following: int, going: Value, staying: Value) -> None:
        """The lanes split: those with the higher basic block wait, the others go straight on if none is before them."""
        e, k = self.e, self.parked
        if self.fine:
            self.set_pcs(going, e.const("i32", taken))
            self.set_pcs(staying, e.const("i32", following))
            e.line("br label %dispatch")
            return
        (low, first), (high, later) = sorted([(taken, going), (following, staying)], key=lambda pair: pair[0])
        # Whoever was set aside before makes room: two groups are kept in hand, all others in memory.
        old = e.assign("load i32, ptr %aside_slot", "i32", False)
        taken_up = e.icmp("ne", old, e.const("i32", PC_DONE))
        e.line(f"br i1 {taken_up.text}, label %room{k}, label %free_hand{k}")
        e.label(f"room{k}")
        e.declarations.add("declare void @wb_put_lanes(ptr, i32, i32)")  # this is rare: code that is small will do
        lanes = e.assign("load i32, ptr %lanes_slot", "i32", False)
        e.line(f"call void @wb_put_lanes(ptr %state, i32 {lanes.text}, i32 {old.text})")
        before = e.assign("load i32, ptr %others_slot", "i32", False)
        e.line(f"store i32 {e.intrinsic('llvm.umin', before, old).text}, ptr %others_slot")
        e.line(f"br label %free_hand{k}")
        e.label(f"free_hand{k}")
        self.set_aside(later, e.const("i32", high))
        others = e.assign("load i32, ptr %others_slot", "i32", False)
        e.line(f"store i32 {first.text}, ptr %mask_slot")
        e.line(f"store i32 {low}, ptr %target_slot")
        free = e.icmp("ult", e.const("i32", low), others)
        e.line(f"br i1 {free.text}, label %lead{k}, label %park")
        e.label(f"lead{k}")
        self.straight_on(low)

    def end_barrier(self, basic_block) -> None:
        e, last = self.e, basic_block.last
        number = last.operands[0] if last.operands else Imm(0)
        number = block_barriers.number_of(self, last, last.operands[1] if "red" in last.modifiers else number)
        if "red" in last.modifiers:
            block_barriers.gather_predicate(self, last, number)
        if "red" not in last.modifiers and len(last.operands) == 2:
            block_barriers.expect(self, number, last.operands[1])
            if self.watch:
                lower_watch.counted(self, last, last.operands[0], last.operands[1])
        guard = self.guard(last.guard)
        self.spill(basic_block)
        flag = e.bin("shl", number, e.const("i32", PC_BARRIER_SHIFT))
        target = e.bin("or", flag, e.const("i32", basic_block.targets[0] | PC_WAIT))
        everyone_waits = self.others_at(PC_WAIT)
        self.flush()
        if guard is None:
            self.set_pcs(self.mask, target)
            if everyone_waits is not None:
                e.line(f"br i1 {everyone_waits.text}, label %waits, label %dispatch")
                return
        else:
            waiting = self.guarded_mask(guard)
            rest = e.bin("and", self.mask, e.flip(waiting))
            self.set_pcs(rest, e.const("i32", basic_block.targets[0]))
            self.set_pcs(waiting, target)
        e.line("br label %dispatch")

    def end_leave(self, basic_block) -> None:
        e = self.e
        if basic_block.last is not None and basic_blocks.kind_of(basic_block.last) == "trap":
            site = self.site(basic_block.last, "trap")
            e.declarations.add("declare void @wb_fail(ptr, i64, i64, i32)")
            e.line(f"call void @wb_fail(ptr %ctx, i64 {ERROR_CODE['trap']}, i64 {site}, i32 {self.mask.text})")
            e.line(f"ret i32 {FAILED}")
            return
        everyone_done = self.others_at(PC_DONE)
        self.flush()
        self.set_pcs(self.mask, e.const("i32", PC_DONE))
        if everyone_done is None:
            e.line("br label %dispatch")
        else:
            e.line(f"br i1 {everyone_done.text}, label %ends, label %dispatch")

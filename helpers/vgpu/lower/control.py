"""How lanes move between segments, in LLVM IR: the dispatcher, jumps, branches, barriers and the end."""

from __future__ import annotations

from helpers.vgpu.context import (
    DONE,
    ERROR_CODE,
    FAILED,
    OUT_OF_FUEL,
    PC_BARRIER_SHIFT,
    PC_DONE,
    PC_POLL,
    PC_SYNC,
    PC_WAIT,
    POLLING,
    SLOT,
    SPUN,
    WAITING,
)
from helpers.vgpu.lower import segments
from helpers.vgpu.lower import warp as lower_warp
from helpers.vgpu.lower import watch as lower_watch
from helpers.vgpu.lower.emit import LANES, Value
from helpers.vgpu.ptx import Imm

SPIN = 1024  # the fuel that one more round of a loop costs that asks memory whether it may go on


class Control:
    """The part of `lower.Lowering` that decides which lanes run where."""

    def wake(self) -> None:
        """At the start of a warp's turn: lanes that wait for memory to change ask it once more."""
        if not self.flow.waits:
            return
        e = self.e
        pcs = e.assign(f"load <{LANES} x i32>, ptr %state, align 64", "i32", True)
        awake, first = self.waiting_lanes(pcs)
        e.line(f"store {awake.full} {awake.text}, ptr %state, align 64")
        lowest = e.assign(f"call i32 @llvm.vector.reduce.umin.v32i32({pcs.full} {pcs.text})", "i32", False)
        ready = e.icmp("ult", lowest, e.const("i32", PC_POLL))
        free = e.bin("or", e.icmp("ult", lowest, first), self.may_overtake())
        self.progress(e.bin("and", ready, free))

    def waiting_lanes(self, pcs: Value) -> tuple[Value, Value]:
        """The program counters with the lanes awake that wait for memory to change, and the lowest of those lanes'."""
        e = self.e
        polls = e.icmp("eq", e.bin("and", pcs, e.const("i32", 0xF0000000)), e.const("i32", PC_POLL))
        awake = e.select(polls, e.bin("xor", pcs, e.const("i32", PC_POLL)), pcs)
        theirs = e.select(polls, awake, e.const("i32", PC_DONE))
        first = e.assign(f"call i32 @llvm.vector.reduce.umin.v32i32({theirs.full} {theirs.text})", "i32", False)
        return awake, first

    def may_overtake(self) -> Value:
        """Whether lanes may run ahead of others of their warp that wait for memory to change.

        Lanes meet where their paths join, as they do on a GPU: those who come first wait there. But where all blocks
        wait, the lanes that wait may be waiting for these.
        """
        return self.e.icmp("ne", self.context("ahead", invariant=False), self.e.const("i64", 0))

    def progress(self, moved: Value) -> None:
        """Note for the block loop whether this warp did more than to wait."""
        e = self.e
        p = e.assign(f"getelementptr i64, ptr %ctx, i64 {SLOT['progress']}", "ptr", False)
        old = e.assign(f"load i64, ptr {p.text}", "i64", False)
        e.line(f"store i64 {e.bin('or', old, e.resize(moved, 64)).text}, ptr {p.text}")

    def dispatcher(self) -> None:
        e = self.e
        v = f"<{LANES} x i32>"
        e.declarations |= {
            f"declare i32 @llvm.vector.reduce.umin.v32i32({v})", f"declare i32 @llvm.vector.reduce.umax.v32i32({v})",
        }  # fmt: skip
        poll, done = (_splat(c) for c in (PC_POLL, PC_DONE))
        e.label("dispatch")
        e.line(f"%pcs = load {v}, ptr %state, align 64")
        if self.simple:
            self.united()
        elif not self.flow.stacked:
            e.line(f"%low = call i32 @llvm.vector.reduce.umin.v32i32({v} %pcs)")
        if self.simple:
            pass
        elif self.flow.stacked:
            self.choose()
        elif self.flow.structured:
            e.line("%pc = add i32 %low, 0")
        else:
            # After a slice without progress the highest pending lanes get a turn, so that lanes that spin let go.
            e.line(f"%ready = icmp ult {v} %pcs, {poll}")
            e.line(f"%pending = select <32 x i1> %ready, {v} %pcs, {v} zeroinitializer")
            e.line(f"%top = call i32 @llvm.vector.reduce.umax.v32i32({v} %pending)")
            e.line("%turn = load i64, ptr %turn_p")
            e.line("%turned = icmp ne i64 %turn, 0")
            e.line(f"%anyready = icmp ult i32 %low, {PC_POLL}")
            e.line("%swap = and i1 %turned, %anyready")
            e.line("%pc = select i1 %swap, i32 %top, i32 %low")
        e.line(f"%stops = icmp uge i32 %pc, {PC_WAIT}")
        e.line("br i1 %stops, label %stop, label %ready_to_run")
        e.label("stop")
        e.line(f"%finished = icmp eq i32 %pc, {PC_DONE}")
        e.line(f"%status = select i1 %finished, i32 {DONE}, i32 {WAITING}")
        e.line("ret i32 %status")
        e.label("ready_to_run")
        seen = Value("%pcs", "i32", True)
        if self.flow.waits:
            awake, first = self.waiting_lanes(Value("%pcs", "i32", True))
            here, overtake = Value("%pc", "i32", False), self.may_overtake()
            held = e.bin("and", e.icmp("ult", first, here), e.flip(overtake))
            asleep = e.bin(
                "or", held, e.icmp("eq", e.bin("and", here, e.const("i32", 0xF0000000)), e.const("i32", PC_POLL))
            )
            seen = e.select(overtake, Value("%pcs", "i32", True), awake)
            e.line(f"br i1 {asleep.text}, label %polling, label %one_place")
            e.label("polling")
            e.line(f"ret i32 {POLLING}")
            e.label("one_place")
        if not self.flow.stacked and not self.simple:
            e.line(f"%at0 = insertelement {v} poison, i32 %pc, i32 0")
            e.line(f"%at = shufflevector {v} %at0, {v} poison, {v} zeroinitializer")
            e.line(f"%here = icmp eq {v} %pcs, %at")
        if self.fine:  # those of them that the schedule lets run, or all if it lets none of them
            e.line("%all_here = bitcast <32 x i1> %here to i32")
            chosen = e.resize(self.context("lanes", invariant=False), 32)
            e.line(f"%picked = and i32 %all_here, {chosen.text}")
            e.line("%nobody = icmp eq i32 %picked, 0")
            e.line("%bits = select i1 %nobody, i32 %all_here, i32 %picked")
        elif not self.simple:
            e.line("%bits = bitcast <32 x i1> %here to i32")
        e.line("store i32 %bits, ptr %mask_slot")
        if not self.flow.stacked and not self.simple:
            e.line(f"%elsewhere = select <32 x i1> %here, {v} {done}, {v} {seen.text}")
            e.line(f"%others0 = call i32 @llvm.vector.reduce.umin.v32i32({v} %elsewhere)")
        if self.flow.structured:
            e.line("store i32 %others0, ptr %others_slot")
        else:
            e.line(f"%others = select i1 %swap, i32 {PC_DONE}, i32 %others0")
            e.line("store i32 %others, ptr %others_slot")
        e.line(f"%flag = and i32 %pc, {PC_SYNC}")
        e.line("%forced = icmp ne i32 %flag, 0")
        e.line("store i1 %forced, ptr %forced_slot")
        e.line(f"%index = and i32 %pc, {PC_SYNC - 1}")
        e.line("store i32 %index, ptr %index_slot")
        self.burn("dispatch", "go")
        e.label("go")
        e.line("%next = load i32, ptr %index_slot")
        cases = " ".join(f"i32 {s.index}, label %s{s.index}" for s in self.flow.segments)
        e.line(f"switch i32 %next, label %lost [ {cases} ]")
        for label, status in (("waits", WAITING), ("ends", DONE)):
            e.label(label)
            e.line(f"ret i32 {status}")
        e.label("lost")
        e.line("unreachable")
        if self.flow.diverged:
            self.meeting()
        # Lanes that may not go straight on: note where they want to go, then dispatch anew.
        e.label("park")
        self.move_lanes()
        e.line("br label %dispatch")
        e.label("starve")
        self.move_lanes()
        e.line("br label %starved")
        e.label("starved")
        if not self.flow.structured:
            e.line("%turn_old = load i64, ptr %turn_p")
            e.line("%turn_new = xor i64 %turn_old, 1")
            e.line("store i64 %turn_new, ptr %turn_p")
        e.line(f"ret i32 {OUT_OF_FUEL}")
        if self.flow.spinning:
            e.label("spin")
            self.move_lanes()
            if not self.flow.structured:
                e.line("%spin_old = load i64, ptr %turn_p")
                e.line("%spin_new = xor i64 %spin_old, 1")
                e.line("store i64 %spin_new, ptr %turn_p")
            e.line(f"ret i32 {SPUN}")

    @property
    def simple(self) -> bool:
        """Whether the lowest pending segment always runs next, and nothing but barriers makes lanes wait."""
        return self.flow.structured and not (self.flow.waits or self.flow.stacked or self.fine)

    def united(self) -> None:
        """The lowest program counter, its lanes and the lowest of the others: mostly all lanes are at one place."""
        e, v = self.e, f"<{LANES} x i32>"

        def lanes_at(tag: str, pc: str) -> None:
            e.line(f"%at0{tag} = insertelement {v} poison, i32 {pc}, i32 0")
            e.line(f"%at{tag} = shufflevector {v} %at0{tag}, {v} poison, {v} zeroinitializer")
            e.line(f"%here{tag} = icmp eq {v} %pcs, %at{tag}")
            e.line(f"%bits{tag} = bitcast <{LANES} x i1> %here{tag} to i32")

        e.line(f"%first_pc = extractelement {v} %pcs, i32 0")
        lanes_at("_one", "%first_pc")
        e.line("%united = icmp eq i32 %bits_one, -1")
        e.line("br i1 %united, label %dispatch_all, label %dispatch_some")
        e.label("dispatch_some")
        e.line(f"%low = call i32 @llvm.vector.reduce.umin.v32i32({v} %pcs)")
        lanes_at("_low", "%low")
        e.line(f"%elsewhere = select <{LANES} x i1> %here_low, {v} {_splat(PC_DONE)}, {v} %pcs")
        e.line(f"%others_some = call i32 @llvm.vector.reduce.umin.v32i32({v} %elsewhere)")
        e.line("br label %dispatch_all")
        e.label("dispatch_all")
        e.line("%pc = phi i32 [%first_pc, %dispatch], [%low, %dispatch_some]")
        e.line("%bits = phi i32 [-1, %dispatch], [%bits_low, %dispatch_some]")
        e.line(f"%others0 = phi i32 [{PC_DONE}, %dispatch], [%others_some, %dispatch_some]")

    def others_at(self, least: int) -> Value | None:
        """Whether all lanes that are not running wait at `least` or beyond; None where that takes the dispatcher."""
        e = self.e
        if not self.simple:
            return None
        others = e.assign("load i32, ptr %others_slot", "i32", False)
        if self.flow.diverged:
            others = e.intrinsic("llvm.umin", others, e.assign("load i32, ptr %aside_slot", "i32", False))
        return e.icmp("uge", others, e.const("i32", least))

    def burn(self, tag: str, onward: str) -> None:
        """Use up fuel; without any left, return to the block loop: "dispatch", "jump", or "spin" (dear)."""
        e = self.e
        fuel = e.assign("load i64, ptr %fuel_p", "i64", False)
        less = e.bin("sub", fuel, e.const("i64", SPIN if tag == "spin" else 1))
        e.line(f"store i64 {less.text}, ptr %fuel_p")
        empty = e.icmp("slt", less, e.const("i64", 0))
        empty_label = {"dispatch": "starved", "jump": "starve", "spin": "spin"}[tag]
        e.line(f"br i1 {empty.text}, label %{empty_label}, label %{onward}")

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

    def set_aside(self, lanes: Value, segment: Value) -> None:
        """Keep one group of lanes that waits at a segment where it is quickly found again."""
        self.e.line(f"store i32 {lanes.text}, ptr %lanes_slot")
        self.e.line(f"store i32 {segment.text}, ptr %aside_slot")

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
        """Lanes of `mask` (bits) continue at segment `target`."""
        e = self.e
        pcs = e.assign(f"load <{LANES} x i32>, ptr %state, align 64", "i32", True)
        new = e.select(self.lanes_of(mask), target, pcs)
        e.line(f"store {new.full} {new.text}, ptr %state, align 64")

    # ------------------------------------------------------------ ends of segments

    def end_jump(self, segment) -> None:
        self.spill(segment)
        self.go(segment.targets[0])

    def go(self, target: int) -> None:
        """The lanes of the segment continue at `target`, straight on if no lane waits at or before it."""
        e = self.e
        if self.fine:  # every segment is a place to change to other lanes, warps and blocks
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
        """Jump to a segment; backwards that costs fuel, unless it is paid."""
        if target <= self.here.index and not paid:
            self.e.line(f"store i32 {target}, ptr %target_slot")
            self.burn("jump", f"s{target}")
        else:
            self.e.line(f"br label %s{target}")

    def end_branch(self, segment) -> None:
        e = self.e
        if segment.index in self.flow.waits:
            self.end_wait(segment)
            return
        taken, following = segment.targets
        condition = self.guard(segment.last.guard)
        self.spill(segment)
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
                self.tally(segment.index, 2, e.const("i64", 1))
            self.part(taken, following, going, staying)
        e.label(yes)
        self.go(taken)
        e.label(no)
        self.go(following)

    def end_wait(self, segment) -> None:
        """The end of a loop that only waits for memory to change: lanes that go round again wait for the next turn.

        How often they ask depends on the schedule, so nothing but the last round, in which they leave, is counted.
        """
        e = self.e
        condition = self.guard(segment.last.guard)
        again, onward = segment.targets
        if again != segment.index:
            again, onward, condition = onward, again, e.flip(condition)
        self.spill(segment)
        bits = self.guarded_mask(condition)
        leaving = e.bin("and", self.mask, e.flip(bits))
        left = e.icmp("ne", leaving, e.const("i32", 0))
        self.progress(left)
        if self.count:
            self.tally(segment.index, 0, e.resize(left, 64))
            self.tally(segment.index, 1, e.resize(e.intrinsic("llvm.ctpop", leaving), 64))
            self.tally(segment.index, 2, e.resize(e.bin("and", left, e.icmp("ne", bits, e.const("i32", 0))), 64))
            for asked in self.asked:
                asked(leaving)
        self.flush()
        self.set_pcs(bits, e.const("i32", again | PC_POLL))
        self.set_pcs(leaving, e.const("i32", onward))
        e.line("br label %dispatch")

    def part(self, taken: int, following: int, going: Value, staying: Value) -> None:
        """The lanes split: those with the higher segment wait, the others go straight on if nobody is before them."""
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

    def end_barrier(self, segment) -> None:
        e, last = self.e, segment.last
        number = last.operands[0] if last.operands else Imm(0)
        if "red" in last.modifiers:
            number = last.operands[1]
            lower_warp.gather_predicate(self, last, number)
        number = lower_warp.first_active(self, self.bits_value(number, 32))
        if "red" not in last.modifiers and len(last.operands) == 2:
            lower_warp.expect(self, number, last.operands[1])
            if self.watch:
                lower_watch.counted(self, last, last.operands[0], last.operands[1])
        guard = self.guard(last.guard)
        self.spill(segment)
        flag = e.bin("shl", e.bin("and", number, e.const("i32", 15)), e.const("i32", PC_BARRIER_SHIFT))
        target = e.bin("or", flag, e.const("i32", segment.targets[0] | PC_WAIT))
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
            self.set_pcs(rest, e.const("i32", segment.targets[0]))
            self.set_pcs(waiting, target)
        e.line("br label %dispatch")

    def end_leave(self, segment) -> None:
        e = self.e
        if segment.last is not None and segments.kind_of(segment.last) == "trap":
            site = self.site(segment.last, "trap")
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


def _splat(value: int) -> str:
    return "<" + ", ".join([f"i32 {value}"] * LANES) + ">"

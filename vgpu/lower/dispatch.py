"""The dispatcher, in LLVM IR: which lanes of a warp run next, and when the warp's turn is over."""

from __future__ import annotations

from vgpu.base.context import (
    DONE,
    OUT_OF_FUEL,
    PC_DONE,
    PC_POLL,
    PC_SYNC,
    PC_WAIT,
    POLLING,
    SLOT,
    SPUN,
    WAITING,
)
from vgpu.runtime.emit import LANES, Value

SPIN = 1024  # the fuel that one more round of a loop costs that asks memory whether it may go on


class Dispatch:
    """The part of `lower.Lowering` that chooses the lanes whose turn it is."""

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
        searched = not (self.flow.stacked or self.simple)
        if searched:
            e.line(f"%low = call i32 @llvm.vector.reduce.umin.v32i32({v} %pcs)")
        if self.flow.stacked:
            self.choose()
        elif self.simple:
            self.united()
        elif self.flow.structured:
            e.line("%pc = add i32 %low, 0")
        else:
            e.line(f"%ready = icmp ult {v} %pcs, {poll}")
            chosen = self.take_turns(
                Value("%ready", "i1", True), Value("%pcs", "i32", True), Value("%low", "i32", False)
            )
            e.line(f"%pc = add i32 {chosen.text}, 0")
        e.line(f"%stops = icmp uge i32 %pc, {PC_WAIT}")
        e.line("br i1 %stops, label %stop, label %ready_to_run")
        e.label("stop")
        e.line(f"%finished = icmp eq i32 %pc, {PC_DONE}")
        e.line(f"%status = select i1 %finished, i32 {DONE}, i32 {WAITING}")
        self.end_turn("%status")
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
            self.end_turn(POLLING)
            e.label("one_place")
        if searched:
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
        if searched:
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
        cases = " ".join(f"i32 {s.index}, label %s{s.index}" for s in self.flow.basic_blocks)
        e.line(f"switch i32 %next, label %lost [ {cases} ]")
        for label, status in (("waits", WAITING), ("ends", DONE)):
            e.label(label)
            self.end_turn(status)
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
            self.next_turn()
        self.end_turn(OUT_OF_FUEL)
        if self.flow.spinning:
            e.label("spin")
            self.move_lanes()
            if not self.flow.structured:
                self.next_turn()
            self.end_turn(SPUN)
        e.label("turn_over")
        self.end_tallies()
        e.line(f"ret i32 {e.assign('load i32, ptr %status_slot', 'i32', False).text}")

    def end_turn(self, status: int | str) -> None:
        """Give control back to the block loop, which is told why."""
        self.e.line(f"store i32 {status}, ptr %status_slot")
        self.e.line("br label %turn_over")

    def take_turns(self, ready: Value, keys: Value, low: Value) -> Value:
        """Which key is the next to run, and `%swap`: whether that is another one than the lowest, which then overtakes.

        After each slice that ran out of fuel the warp's turn counts on, so that lanes that wait let others go: every
        second time the lowest key runs, else the highest of those that are ready, or that of one lane after the other.
        Lanes that stand between two groups that wait would otherwise never run.
        """
        e, kind = self.e, keys.type
        e.line("%turn = load i64, ptr %turn_p")
        e.line("%turn_odd = trunc i64 %turn to i1")
        e.line(f"%ready_bits = bitcast <{LANES} x i1> {ready.text} to i32")
        e.line("%any_ready = icmp ne i32 %ready_bits, 0")
        e.line("%swap = and i1 %turn_odd, %any_ready")
        e.line("br label %turns")
        e.label("turns")
        e.line("br i1 %swap, label %by_turn, label %turn_chosen")
        e.label("by_turn")
        pending = e.select(ready, keys, e.const(kind, 0))
        bits, whole = int(kind[1:]), keys.full
        e.declarations.add(f"declare {kind} @llvm.vector.reduce.umax.v{LANES}{kind}({whole})")
        top = e.assign(f"call {kind} @llvm.vector.reduce.umax.v{LANES}i{bits}({whole} {pending.text})", kind, False)
        turn = Value("%turn", "i64", False)
        first = e.resize(e.bin("and", e.bin("lshr", turn, e.const("i64", 2)), e.const("i64", LANES - 1)), 32)
        standing = Value("%ready_bits", "i32", False)
        e.declarations.add("declare i32 @llvm.fshr.i32(i32, i32, i32)")
        text = f"call i32 @llvm.fshr.i32(i32 {standing.text}, i32 {standing.text}, i32 {first.text})"
        beyond = e.intrinsic("llvm.cttz", e.assign(text, "i32", False), tail=", i1 true")
        lane = e.bin("and", e.bin("add", beyond, first), e.const("i32", LANES - 1))
        own = e.assign(f"extractelement {whole} {keys.text}, i32 {lane.text}", kind, False)
        highest = e.icmp("eq", e.bin("and", turn, e.const("i64", 2)), e.const("i64", 0))
        swapped = e.select(highest, top, own)
        e.line("br label %turn_chosen")
        e.label("turn_chosen")
        return e.assign(f"phi {kind} [{low.text}, %turns], [{swapped.text}, %by_turn]", kind, False)

    def next_turn(self) -> None:
        """The warp has used its slice up: other lanes may be the first in the next."""
        e = self.e
        turn = e.assign("load i64, ptr %turn_p", "i64", False)
        e.line(f"store i64 {e.bin('add', turn, e.const('i64', 1)).text}, ptr %turn_p")

    @property
    def simple(self) -> bool:
        """Whether the lowest pending basic block always runs next, and nothing but barriers makes lanes wait."""
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


def _splat(value: int) -> str:
    return "<" + ", ".join([f"i32 {value}"] * LANES) + ">"

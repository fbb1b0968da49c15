"""One word of one access: compared with the entries of its shadow, noted there, and reported where they conflict."""

from __future__ import annotations

from helpers.vgpu.base.context import (
    ENTRY_HOME,
    ENTRY_HOMES,
    ENTRY_PLACE,
    ENTRY_PLACES,
    ENTRY_STRENGTH,
    ENTRY_THREADS,
    ENTRY_TIME,
    EVENT_CODE,
    NEVER_WRITTEN,
    SLOT,
    WATCH_SLOT,
)
from helpers.vgpu.runtime.emit import Value
from helpers.vgpu.runtime.shadow.body import Body, argument, function
from helpers.vgpu.runtime.shadow.copies import pending
from helpers.vgpu.runtime.text import V64, broadcast, each_lane

# Kinds of pairs, as the table `pairs` counts them.
READ_LATE, WRITE_TWICE, WRITE_LATE, CLASH, UNSET, IN_FLIGHT = 0, 1, 2, 3, 4, 5
PAIR_KINDS = 6
REACHES = 3
"""A pair within a warp, of two warps, or of two blocks: kind + PAIR_KINDS * reach, so that the first of each is told."""


def _stamp(e: Body, entry: Value) -> Value:
    return e.bin("lshr", entry, e.i64(ENTRY_TIME))


def _thread(e: Body, entry: Value) -> Value:
    return e.bin("and", entry, e.i64(ENTRY_THREADS - 1))


def _elsewhere(e: Body, entry: Value) -> Value:
    """Whether an entry is another block's: one before this, or one that is resident elsewhere."""
    home = e.bin("and", e.bin("lshr", entry, e.i64(ENTRY_HOME)), e.i64(ENTRY_HOMES - 1))
    stamp = _stamp(e, entry)
    other = e.bin("or", e.icmp("ult", stamp, e.watch("start")), e.icmp("ne", home, e.watch("home")))
    return e.bin("and", other, e.icmp("ne", stamp, e.i64(0)))


class Facts:
    """What the access in hand compares entries with."""

    def __init__(self, e: Body, across: bool):
        self.e, self.across = e, across
        self.floor, self.start, self.time = e.watch("floor"), e.watch("start"), e.watch("time")
        self.me = e.threads()
        self.warp = e.slot("warp")
        strength = e.bin("and", e.bin("lshr", argument("rule", "i32"), e.const("i32", 2)), e.const("i32", 3))
        self.strength = e.resize(strength, 64)
        place = e.bin("shl", e.resize(argument("place", "i32"), 64), e.i64(ENTRY_PLACE))
        fixed = e.bin("or", e.bin("shl", self.time, e.i64(ENTRY_TIME)), place)
        fixed = e.bin("or", fixed, e.bin("shl", self.strength, e.i64(ENTRY_STRENGTH)))
        if across:
            fixed = e.bin("or", fixed, e.bin("shl", e.watch("home"), e.i64(ENTRY_HOME)))
        self.new = e.bin("or", fixed, self.me)

    def elsewhere(self, entry: Value) -> Value:
        """Whether an entry is another block's (of global memory)."""
        return _elsewhere(self.e, entry)

    def live(self, entry: Value) -> Value:
        alive = self.e.icmp("uge", _stamp(self.e, entry), self.floor)
        return self.e.bin("or", alive, self.elsewhere(entry)) if self.across else alive

    def other_warp(self, entry: Value) -> Value:
        e = self.e
        other = e.icmp("ne", e.bin("lshr", _thread(e, entry), e.i64(5)), self.warp)
        return e.bin("or", other, self.elsewhere(entry)) if self.across else other

    def foreign(self, entry: Value) -> Value:
        """Whether an entry is not this lane's own."""
        e = self.e
        other = e.icmp("ne", _thread(e, entry), self.me)
        return e.bin("or", other, self.elsewhere(entry)) if self.across else other

    def suspicious(self, entry: Value) -> Value:
        """Lanes for which an entry may be a conflict: alive, another thread's, and not both of them strong.

        Volatile accesses of one warp count as plain: lanes that rely on lock-step use them.
        """
        e = self.e
        kind = e.bin("and", e.bin("lshr", entry, e.i64(ENTRY_STRENGTH)), e.i64(3))
        atomic, volatile = e.icmp("eq", kind, e.i64(2)), e.icmp("eq", kind, e.i64(1))
        mine_atomic = e.icmp("eq", self.strength, e.i64(2))
        mine_strong = e.bin("or", mine_atomic, e.icmp("eq", self.strength, e.i64(1)))
        apart = e.bin("or", e.splat(mine_atomic), self.other_warp(entry))
        agree = e.bin("and", e.splat(mine_strong), e.bin("or", atomic, e.bin("and", volatile, apart)))
        found = e.bin("and", self.live(entry), self.foreign(entry))
        return e.bin("and", found, e.flip(agree))


def unordered(across: bool) -> str:
    """Of suspicious lanes those whose thread really cannot know of the entry's access."""

    def build(e: Body) -> None:
        entry, lanes = argument("held", "i64", True), argument("lanes", "i32")
        stamp, thread, me = _stamp(e, entry), _thread(e, entry), e.threads()
        row = e.bin("shl", me, e.i64(10))
        where = e.bin("add", e.bin("shl", e.bin("add", row, thread), e.i64(2)), e.watch("known"))
        known = e.resize(e.gather(32, where, lanes), 64)
        late = e.icmp("uge", stamp, known)
        if not across:
            e.line(f"ret i32 {e.bin('and', e.bits_of(late), lanes).text}")
            return
        before = e.bin("and", e.bits_of(_elsewhere(e, entry)), lanes)
        within = e.bin("and", e.bin("and", e.bits_of(late), lanes), e.flip(before))
        e.line("%buffer = alloca <32 x i64>, align 64")
        cross = e.icmp("ne", e.watch("cross"), e.i64(0))
        ask = e.bin("and", cross, e.some(before))
        e.line(f"br i1 {ask.text}, label %ask, label %plain")
        e.label("ask")
        e.line(f"store {V64} {entry.text}, ptr %buffer, align 64")
        answer = e.resize(e.event("cross", e.i64(0), e.i64(0), e.resize(before, 64), "%buffer"), 32)
        e.line(f"ret i32 {e.bin('or', within, answer).text}")
        e.label("plain")
        e.line(f"ret i32 {e.bin('or', within, before).text}")

    return function(
        f"internal i32 @unordered_{'g' if across else 's'}(ptr %ctx, {V64} %held, i32 %lanes)", build, "noinline"
    )


# ---------------------------------------------------------------- one word of one access


def word(across: bool) -> str:
    """Check and note one granule of an access; `%at` are byte offsets into the three shadows."""
    letter = "g" if across else "s"
    prefix = "global_" if across else ""

    def build(e: Body) -> None:
        at, mask = argument("at", "i64", True), argument("mask", "i32")
        facts = Facts(e, across)
        writes, reads, others = (e.bin("add", at, e.watch(prefix + name)) for name in ("writes", "reads", "others"))
        write = e.gather(64, writes, mask)
        rule = e.bin("and", argument("rule", "i32"), e.const("i32", 3))
        is_load, is_store = (e.icmp("eq", rule, e.const("i32", n)) for n in (0, 1))

        # reads (and atomics) of what nobody has written
        stamp = _stamp(e, write)
        unset = e.icmp("eq", write, e.i64(NEVER_WRITTEN)) if across else e.icmp("ult", stamp, facts.start)
        raw = e.bin("and", e.bits_of(unset), mask)
        raw = e.select(is_store, e.const("i32", 0), raw)
        e.when(e.some(raw), "unset")
        shift = argument("shift", "i64")
        unwritten(e, raw, e.bin("shl", argument("index", "i64"), shift), e.bin("shl", e.i64(1), shift))
        e.after("unset")

        if not across:
            mask = _in_flight(e, facts, write, mask)
        if across:  # a store that leaves the value as it was does no harm: relaxations in place are made of them
            change = e.bin("and", mask, e.bin("or", argument("differs", "i32"), e.bits_of(unset)))
            mask = e.select(is_store, change, mask)
        suspects = e.bin("and", e.bits_of(facts.suspicious(write)), mask)
        e.when(e.some(suspects), "against_write")
        late = e.assign(
            f"call i32 @unordered_{letter}(ptr %ctx, {V64} {write.text}, i32 {suspects.text})", "i32", False
        )
        e.when(e.some(late), "late_write")
        # Two stores of one line that leave the value as it was, such as `found = 1`, do no harm.
        same_place = e.icmp(
            "eq", e.bin("and", e.bin("lshr", write, e.i64(ENTRY_PLACE)), e.i64(ENTRY_PLACES - 1)),
            e.resize(argument("place", "i32"), 64),
        )  # fmt: skip
        silent = e.bin("and", e.bits_of(same_place), e.flip(argument("differs", "i32")))
        twice = e.bin("and", late, e.flip(e.select(is_store, silent, e.const("i32", 0))))
        kind = e.select(is_load, e.i64(READ_LATE), e.i64(WRITE_TWICE))
        conflict(e, facts, kind, twice, write)
        e.after("late_write")
        e.after("against_write")

        read, other = e.gather(64, reads, mask), e.gather(64, others, mask)
        e.line(f"br i1 {is_load.text}, label %load, label %store")

        e.label("store")
        for name, entry in (("read", read), ("other", other)):
            suspects = e.bin("and", e.bits_of(facts.suspicious(entry)), mask)
            e.when(e.some(suspects), f"against_{name}")
            late = e.assign(
                f"call i32 @unordered_{letter}(ptr %ctx, {V64} {entry.text}, i32 {suspects.text})", "i32", False
            )
            e.when(e.some(late), f"late_{name}")
            conflict(e, facts, e.i64(WRITE_LATE), late, entry)
            e.after(f"late_{name}")
            e.after(f"against_{name}")
        e.scatter(facts.new, writes, mask)
        e.line("ret void")

        e.label("load")
        read_live = facts.live(read)
        read_far = e.bin("and", read_live, facts.other_warp(read))
        other_far = e.bin("and", facts.live(other), facts.other_warp(other))
        near = e.bin("and", read_live, facts.foreign(read))
        kept = e.select(e.bin("or", read_far, e.bin("and", near, e.flip(other_far))), read, other)
        e.scatter(kept, others, mask)
        e.scatter(facts.new, reads, mask)
        # Of lanes that read one word together one is kept as the last reader, another as the one before.
        won = e.gather(64, reads, mask)
        lost = e.bin("and", e.bits_of(e.icmp("ne", won, facts.new)), mask)
        lost = e.bin("and", lost, e.flip(e.bits_of(e.bin("or", read_far, other_far))))
        e.when(e.some(lost), "second")
        e.scatter(facts.new, others, lost)
        e.after("second")
        e.line("ret void")

    return function(
        f"internal void @word_{letter}(ptr %ctx, i32 %place, {V64} %at, {V64} %where, i32 %mask, i32 %rule, i32 %differs, "
        "ptr %notes, i64 %index, i64 %shift)",
        build, "noinline",
    )  # fmt: skip


def _in_flight(e: Body, facts: Facts, write: Value, mask: Value) -> Value:
    """Report lanes that meet a copy which has not landed, though they know that it was asked for; the others race."""
    before = f"flight{e.count}"
    e.line(f"br label %{before}")
    e.label(before)
    e.when(e.icmp("ne", e.watch("copies"), e.i64(0)), "copies")
    there = e.icmp("uge", _stamp(e, write), facts.start)
    early = e.bin("and", e.bits_of(e.bin("and", pending(e, write), there)), mask)
    e.line(f"br i1 {e.some(early).text}, label %early, label %copies_end")
    e.label("early")
    racing = e.bin("and", e.bits_of(facts.suspicious(write)), early)
    racing = e.assign(f"call i32 @unordered_s(ptr %ctx, {V64} {write.text}, i32 {racing.text})", "i32", False)
    early = e.bin("and", early, e.flip(racing))
    report(e, IN_FLIGHT, early, write)
    rest = e.bin("and", mask, e.flip(early))
    e.line("br label %copies_end")
    e.label("copies_end")
    return e.assign(f"phi i32 [{mask.text}, %{before}], [{mask.text}, %copies], [{rest.text}, %early]", "i32", False)


def conflict(e: Body, facts: Facts, kind: Value, lanes: Value, entries: Value) -> None:
    """Report lanes that conflict with their entries, by how far apart the two threads are: that decides the cure."""
    blocks = e.bin("and", e.bits_of(facts.elsewhere(entries)), lanes) if facts.across else e.const("i32", 0)
    warps = e.bin("and", e.bin("and", e.bits_of(facts.other_warp(entries)), lanes), e.flip(blocks))
    within = e.bin("and", lanes, e.flip(e.bin("or", blocks, warps)))
    for reach, some in enumerate((within, warps, blocks) if facts.across else (within, warps)):
        report(e, e.bin("add", kind, e.i64(PAIR_KINDS * reach)), some, entries)


def report(e: Body, kind, lanes: Value, entries: Value) -> None:
    kind = e.i64(kind) if isinstance(kind, int) else kind
    entries = e.splat(entries)
    e.line(
        f"call void @wb_s_report(ptr %ctx, i64 {kind.text}, i32 %place, i32 {lanes.text}, {V64} {entries.text}, "
        f"{V64} %where)"
    )


def unwritten(e: Body, lanes: Value, first: Value, nbytes: Value) -> None:
    """Lanes that read what nobody has written, in these bytes of an access: noted, or told where none are followed."""
    e.line(
        f"call void @unset(ptr %ctx, i32 %place, i32 {lanes.text}, {V64} %where, i32 %rule, ptr %notes, "
        f"i64 {first.text}, i64 {nbytes.text})"
    )


FOLLOWED, WHERE = 1 << 7, 48  # a bit of `%rule`; the bits of where in the shadow of a register
NOTE = f"""
define internal void @unset(ptr %ctx, i32 %place, i32 %lanes, {V64} %where, i32 %rule, ptr %notes, i64 %first,
    i64 %nbytes) noinline cold {{
entry:
  %bit = and i32 %rule, {FOLLOWED}
  %followed = icmp ne i32 %bit, 0
  %end = add i64 %first, %nbytes
  br i1 %followed, label %note, label %tell
note:
  %i = phi i64 [%first, %entry], [%i1, %note]
  %p = getelementptr i32, ptr %notes, i64 %i
  %old = load i32, ptr %p, align 4
  %new = or i32 %old, %lanes
  store i32 %new, ptr %p, align 4
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %end
  br i1 %more, label %note, label %out
tell:
  call void @wb_s_report(ptr %ctx, i64 {UNSET}, i32 %place, i32 %lanes, {V64} zeroinitializer, {V64} %where)
  br label %out
out:
  ret void
}}
define void @wb_s_used(ptr %ctx, {V64} %shadows, i32 %lanes) noinline cold {{
entry:
  %held = alloca {V64}, align 64
  store {V64} %shadows, ptr %held, align 64
  {broadcast("lowest", "i64", str((1 << WHERE) - 1))}
  %where = and {V64} %shadows, %lowest
  {each_lane("%lanes", "entry", "tell")}
  %hp = getelementptr i64, ptr %held, i32 %lane
  %shadow = load i64, ptr %hp
  %place64 = lshr i64 %shadow, {WHERE}
  %place = trunc i64 %place64 to i32
  %bit = shl i32 1, %lane
  br label %tell
tell:
  call void @wb_s_report(ptr %ctx, i64 {UNSET}, i32 %place, i32 %bit, {V64} zeroinitializer, {V64} %where)
  br label %loop
out:
  ret void
}}
"""


# A conflict is counted by its kind and its two places; the host hears of the first one only.
REPORT = f"""
define void @wb_s_report(ptr %ctx, i64 %kind, i32 %place, i32 %lanes, {V64} %entries, {V64} %where) noinline cold {{
entry:
  %addresses = alloca {V64}, align 64
  %held = alloca {V64}, align 64
  store {V64} %where, ptr %addresses, align 64
  store {V64} %entries, ptr %held, align 64
  %wsp = getelementptr i64, ptr %ctx, i64 {SLOT["watch"]}
  %watch = load ptr, ptr %wsp
  %pp = getelementptr i64, ptr %watch, i64 {WATCH_SLOT["pairs"]}
  %pairs = load ptr, ptr %pp
  %np = getelementptr i64, ptr %watch, i64 {WATCH_SLOT["places"]}
  %n = load i64, ptr %np
  %place64 = zext i32 %place to i64
  %plane = mul i64 %kind, %n
  %line = add i64 %plane, %place64
  %row = mul i64 %line, %n
  %ep = getelementptr i64, ptr %watch, i64 {WATCH_SLOT["event"]}
  %event = load ptr, ptr %ep
  %high = shl i64 %kind, 16
  %what = or i64 %high, %place64
  {each_lane("%lanes", "entry", "done")}
  %hp = getelementptr i64, ptr %held, i32 %lane
  %entry_here = load i64, ptr %hp
  %shifted = lshr i64 %entry_here, {ENTRY_PLACE}
  %other = and i64 %shifted, {ENTRY_PLACES - 1}
  %cell = add i64 %row, %other
  %cp = getelementptr i32, ptr %pairs, i64 %cell
  %count = load i32, ptr %cp
  %count1 = add i32 %count, 1
  store i32 %count1, ptr %cp
  %first = icmp eq i32 %count, 0
  br i1 %first, label %tell, label %done
tell:
  %lane64 = zext i32 %lane to i64
  %x = call i64 %event(ptr %ctx, i64 {EVENT_CODE["pair"]}, i64 %what, i64 %entry_here, i64 %lane64, ptr %addresses)
  br label %done
done:
  br label %loop
out:
  ret void
}}
"""

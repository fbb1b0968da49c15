"""What orders threads: lanes of a warp that come together, barriers of the block, and what the host is told of."""

from __future__ import annotations

from helpers.vgpu.base.context import PC_DONE
from helpers.vgpu.runtime.emit import Value
from helpers.vgpu.runtime.shadow.body import RAMP, Body, argument, function
from helpers.vgpu.runtime.text import V1, V32, V64


def _chunk(e: Body, row: Value, warp: Value) -> str:
    """A pointer to what a thread knows of one warp's lanes."""
    index = e.bin("add", e.bin("shl", row, e.i64(10)), e.bin("shl", warp, e.i64(5)))
    return e.pointer(e.bin("add", e.watch("known"), e.bin("shl", index, e.i64(2))))


def join() -> str:
    """The lanes of `%members` learn what any of them knows and did."""

    def build(e: Body) -> None:
        members, warp = argument("members", "i32"), e.slot("warp")
        place = e.watch_place("time")
        old = e.assign(f"load i64, ptr {place}", "i64", False)
        now = e.bin("add", old, e.i64(1))
        e.line(f"store i64 {now.text}, ptr {place}")
        everything = e.icmp("ne", e.watch("detail"), e.i64(0))
        first = e.select(everything, e.i64(0), warp)
        end = e.select(everything, e.slot("warps"), e.bin("add", warp, e.i64(1)))
        rows = e.bin("shl", warp, e.i64(5))
        stamp = e.splat(e.resize(now, 32))
        lanes = e.lanes_of(members)
        e.line("br label %warps")
        e.label("warps")
        e.line(f"%x = phi i64 [{first.text}, %entry], [%x1, %written]")
        x = Value("%x", "i64", False)
        own = e.bin("and", lanes, e.splat(e.icmp("eq", x, warp)))
        e.line("br label %read")
        e.label("read")
        e.line("%r = phi i32 [%members, %warps], [%r1, %reading]")
        e.line(f"%best = phi {V32} [zeroinitializer, %warps], [%best1, %reading]")
        e.line("%r_done = icmp eq i32 %r, 0")
        e.line("br i1 %r_done, label %combine, label %reading")
        e.label("reading")
        e.line("%rl = call i32 @llvm.cttz.i32(i32 %r, i1 true)")
        e.line("%r_less = sub i32 %r, 1")
        e.line("%r1 = and i32 %r, %r_less")
        p = _chunk(e, e.bin("add", rows, e.resize(Value("%rl", "i32", False), 64)), x)
        row = e.assign(f"load {V32}, ptr {p}, align 64", "i32", True)
        more = e.icmp("ugt", row, Value("%best", "i32", True))
        e.line(f"%best1 = select {V1} {more.text}, {V32} {row.text}, {V32} %best")
        e.line("br label %read")
        e.label("combine")
        joined = e.select(own, stamp, Value("%best", "i32", True))
        e.line("br label %write")
        e.label("write")
        e.line("%w = phi i32 [%members, %combine], [%w1, %writing]")
        e.line("%w_done = icmp eq i32 %w, 0")
        e.line("br i1 %w_done, label %written, label %writing")
        e.label("writing")
        e.line("%wl = call i32 @llvm.cttz.i32(i32 %w, i1 true)")
        e.line("%w_less = sub i32 %w, 1")
        e.line("%w1 = and i32 %w, %w_less")
        p = _chunk(e, e.bin("add", rows, e.resize(Value("%wl", "i32", False), 64)), x)
        e.line(f"store {V32} {joined.text}, ptr {p}, align 64")
        e.line("br label %write")
        e.label("written")
        e.line("%x1 = add i64 %x, 1")
        e.line(f"%x_more = icmp ult i64 %x1, {end.text}")
        e.line("br i1 %x_more, label %warps, label %out")
        e.label("out")
        e.line("ret void")

    return function("void @wb_s_join(ptr %ctx, i32 %members)", build)


def _exists(e: Body, warp: Value) -> Value:
    """The lanes of a warp that are threads of the block."""
    where = e.bin("add", e.slot("first_pcs"), e.bin("shl", warp, e.i64(7)))
    first = e.assign(f"load {V32}, ptr {e.pointer(where)}, align 64", "i32", True)
    return e.icmp("ne", first, e.const("i32", PC_DONE))


def _alive(e: Body, active: Value) -> Value:
    """The lanes that have not ended."""
    pcs = e.assign(f"load {V32}, ptr %state, align 64", "i32", True)
    gone = e.bits_of(e.icmp("eq", pcs, e.const("i32", PC_DONE)))
    return e.bin("or", e.flip(gone), active)


def active() -> str:
    """A `.sync` instruction whose mask is what `activemask` said: are all lanes that live here?"""

    def build(e: Body) -> None:
        e.line("%buffer = alloca <32 x i64>, align 64")
        active = argument("active", "i32")
        alive = _alive(e, active)
        e.when(e.icmp("ne", alive, active), "part")
        wide = e.splat(e.resize(active, 64))
        e.line(f"store {V64} {wide.text}, ptr %buffer, align 64")
        e.event("mask", e.resize(argument("place", "i32"), 64), e.resize(active, 64), e.resize(alive, 64), "%buffer")
        e.after("part")
        e.line("ret void")

    return function("void @wb_s_active(ptr %ctx, ptr %state, i32 %place, i32 %active)", build)


def collective() -> str:
    """A `.sync` instruction: is every named lane here, and does each name itself? Then they join."""

    def build(e: Body) -> None:
        active, named = argument("active", "i32"), argument("named", "i32", True)
        e.line("%buffer = alloca <32 x i64>, align 64")
        alive = _alive(e, active)
        own = e.vector_const("i32", [1 << lane for lane in RAMP])
        without = e.icmp("eq", e.bin("and", named, own), e.const("i32", 0))
        exist = e.bits_of(_exists(e, e.slot("warp")))
        absent = e.icmp("ne", e.bin("and", named, e.bin("and", exist, e.flip(active))), e.const("i32", 0))
        first = e.assign("call i32 @llvm.cttz.i32(i32 %active, i1 false)", "i32", False)
        lane = e.bin("and", first, e.const("i32", 31))
        wanted = e.assign(f"extractelement {V32} %named, i32 {lane.text}", "i32", False)
        wrong = e.bin("and", e.bits_of(e.bin("or", without, absent)), active)
        e.when(e.some(wrong), "wrong")
        wide = e.resize(named, 64)
        e.line(f"store {V64} {wide.text}, ptr %buffer, align 64")
        e.event("mask", e.resize(argument("place", "i32"), 64), e.resize(active, 64), e.resize(alive, 64), "%buffer")
        e.after("wrong")
        differ = e.bits_of(e.icmp("ne", named, wanted))
        apart = e.some(e.bin("and", differ, active))
        e.line(f"br i1 {apart.text}, label %teams, label %one")
        e.label("one")
        e.line(f"call void @wb_s_join(ptr %ctx, i32 {e.bin('and', wanted, active).text})")
        e.line("ret void")
        e.label("teams")
        e.line("br label %team")
        e.label("team")
        e.line("%rest = phi i32 [%active, %teams], [%rest1, %team]")
        e.line("%tl = call i32 @llvm.cttz.i32(i32 %rest, i1 true)")
        e.line(f"%mine = extractelement {V32} %named, i32 %tl")
        e.line("%here = and i32 %mine, %active")
        e.line("%bit = shl i32 1, %tl")
        e.line("%members = or i32 %here, %bit")
        e.line("call void @wb_s_join(ptr %ctx, i32 %members)")
        e.line("%keep = xor i32 %members, -1")
        e.line("%rest1 = and i32 %rest, %keep")
        e.line("%more = icmp ne i32 %rest1, 0")
        e.line("br i1 %more, label %team, label %out")
        e.label("out")
        e.line("ret void")

    return function(f"void @wb_s_collective(ptr %ctx, ptr %state, i32 %place, i32 %active, {V32} %named)", build)


def told(name: str, code: str, parameters: str, a: str, b: str, mask: str, vector: str = "null") -> str:
    """A function that tells the host something, where somebody watches."""

    def build(e: Body) -> None:
        watched = e.icmp("ne", e.slot("watch"), e.i64(0))
        e.when(watched, "tell")
        e.event(code, *(Value(v, "i64", False) for v in (a, b, mask)), vector)
        e.after("tell")
        e.line("ret void")

    return function(f"void @{name}(ptr %ctx{parameters})", build, "noinline")


def opened() -> str:
    """A barrier of the whole block has opened: from here on everybody knows everything before it.

    Where threads came to it from different barriers, or some had ended, the host hears of it.
    """

    def build(e: Body) -> None:
        watched = e.icmp("ne", e.slot("watch"), e.i64(0))
        e.line(f"br i1 {watched.text}, label %go, label %out")
        e.label("out")
        e.line("ret void")
        e.label("go")
        place = e.watch_place("time")
        now = e.bin("add", e.assign(f"load i64, ptr {place}", "i64", False), e.i64(1))
        e.line(f"store i64 {now.text}, ptr {place}")
        e.line(f"store i64 {now.text}, ptr {e.watch_place('floor')}")
        warps, states, bytes_ = e.slot("warps"), e.slot("states"), e.slot("state_bytes")
        p0 = e.pointer(states)
        one = e.assign(f"load i32, ptr {p0}", "i32", False)
        e.line("br label %scan")
        e.label("scan")
        e.line("%w = phi i64 [0, %go], [%w1, %scan]")
        e.line("%odd = phi i32 [0, %go], [%odd1, %scan]")
        where = e.bin("add", states, e.bin("mul", Value("%w", "i64", False), bytes_))
        pcs = e.assign(f"load {V32}, ptr {e.pointer(where)}, align 64", "i32", True)
        differ = e.bits_of(e.bin("and", _exists(e, Value("%w", "i64", False)), e.icmp("ne", pcs, one)))
        e.line(f"%odd1 = or i32 %odd, {differ.text}")
        e.line("%w1 = add i64 %w, 1")
        e.line(f"%more = icmp ult i64 %w1, {warps.text}")
        e.line("br i1 %more, label %scan, label %judge")
        e.label("judge")
        e.when(e.some(Value("%odd1", "i32", False)), "uneven")
        e.event("uneven", e.i64(0), e.i64(0), e.i64(0))
        e.after("uneven")
        e.line("ret void")

    return function("void @wb_s_opened(ptr %ctx)", build)

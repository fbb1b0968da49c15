"""Asynchronous copies: what they write counts as pending from the issue on, until they land."""

from __future__ import annotations

from helpers.vgpu.base.context import ENTRY, ENTRY_STRENGTH, ENTRY_TIME, PENDING
from helpers.vgpu.runtime.emit import Value
from helpers.vgpu.runtime.shadow.body import Body, argument, function
from helpers.vgpu.runtime.text import V32


def pending(e: Body, entry: Value) -> Value:
    """Lanes whose entry is a copy that has not landed."""
    strength = e.bin("and", entry, e.i64(PENDING << ENTRY_STRENGTH))
    return e.icmp("eq", strength, e.i64(PENDING << ENTRY_STRENGTH))


def landed() -> str:
    """Some lanes of a queue's entry have been copied: they count as written now, by those who issued them."""

    def build(e: Body) -> None:
        watched = e.icmp("ne", e.slot("watch"), e.i64(0))
        e.line(f"br i1 {watched.text}, label %go, label %out")
        e.label("go")
        shift, lanes = e.watch("shift"), argument("lanes", "i32")
        for name, kind in (("targets", V32), ("size", "i32")):
            e.line(f"%{name}_p = getelementptr i8, ptr %copy, i64 {ENTRY[name]}")
            e.line(f"%{name} = load {kind}, ptr %{name}_p, align 4")
        first = e.bin("lshr", e.resize(Value("%targets", "i32", True), 64), shift)
        units = e.bin("lshr", e.resize(Value("%size", "i32", False), 64), shift)
        base = e.bin("add", e.bin("shl", first, e.i64(3)), e.watch("writes"))
        now = e.bin("shl", e.watch("time"), e.i64(ENTRY_TIME))
        e.line("br label %each")
        e.label("each")
        e.line("%i = phi i64 [0, %go], [%i1, %each]")
        at = e.bin("add", base, e.bin("shl", Value("%i", "i64", False), e.i64(3)))
        old = e.gather(64, at, lanes)
        mine = e.bin("and", e.bits_of(pending(e, old)), lanes)
        kept = e.bin("and", old, e.i64((1 << ENTRY_TIME) - 1 - (PENDING << ENTRY_STRENGTH)))
        e.scatter(e.bin("or", kept, now), at, mine)
        e.line("%i1 = add i64 %i, 1")
        e.line(f"%more = icmp ult i64 %i1, {units.text}")
        e.line("br i1 %more, label %each, label %out")
        e.label("out")
        e.line("ret void")

    return function("void @wb_s_landed(ptr %ctx, ptr %copy, i32 %lanes)", build, "noinline")

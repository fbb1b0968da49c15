"""Accesses of a warp, space by space: held to their array's bounds, then told to the shadow word by word."""

from __future__ import annotations

from helpers.vgpu.base.context import ENTRY_PLACE, SITE_SLOT, SLOT
from helpers.vgpu.runtime.emit import Value
from helpers.vgpu.runtime.shadow.body import Body, argument, function
from helpers.vgpu.runtime.shadow.words import CLASH, unwritten
from helpers.vgpu.runtime.text import V1, V64, broadcast, each_lane


def _loop_over_words(e: Body, letter: str, at, shift: Value, mask: Value) -> None:
    """Call the word function for each granule of an access; `at(index)` gives the byte offsets in the shadows."""
    units = _units(e, shift)
    tag = f"w{e.count}"
    before = e.name()
    e.line(f"br label %{tag}_in")
    e.label(f"{tag}_in")
    e.line(f"br label %{tag}")
    e.label(tag)
    e.line(f"{before} = phi i64 [0, %{tag}_in], [{before}_n, %{tag}]")
    where = at(Value(before, "i64", False))
    e.line(
        f"call void @word_{letter}(ptr %ctx, i32 %place, {V64} {where.text}, {V64} %where, i32 {mask.text}, i32 %rule, "
        f"i32 %differs, ptr %notes, i64 {before}, i64 {shift.text})"
    )
    e.line(f"{before}_n = add i64 {before}, 1")
    more = e.icmp("ult", Value(f"{before}_n", "i64", False), units)
    e.line(f"br i1 {more.text}, label %{tag}, label %{tag}_out")
    e.label(f"{tag}_out")


def _within_bounds(e: Body, where: Value, mask: Value) -> Value:
    """Lanes inside the array that the address was made from; the others are told and left out."""
    bounds = e.watch("bounds")
    row = e.bin("add", bounds, e.bin("shl", e.resize(argument("place", "i32"), 64), e.i64(4)))
    p = e.pointer(row)
    low = e.assign(f"load i64, ptr {p}", "i64", False)
    q = e.assign(f"getelementptr i64, ptr {p}, i64 1", "ptr", False).text
    high = e.assign(f"load i64, ptr {q}", "i64", False)
    end = e.bin("add", where, e.resize(argument("nbytes", "i32"), 64))
    out = e.bin("or", e.icmp("ult", where, low), e.icmp("ugt", end, high))
    bad = e.bin("and", e.bits_of(out), mask)
    tag = f"stray{e.count}"
    e.when(e.some(bad), tag)
    e.line(f"store {V64} {where.text}, ptr %buffer, align 64")
    e.event("stray", e.resize(argument("place", "i32"), 64), e.i64(0), e.resize(bad, 64), "%buffer")
    e.after(tag)
    return e.bin("and", mask, e.flip(bad))


def _units(e: Body, shift: Value) -> Value:
    units = e.bin("lshr", e.resize(argument("nbytes", "i32"), 64), shift)
    return e.select(e.icmp("eq", units, e.i64(0)), e.i64(1), units)


_HEAD = f"(ptr %ctx, i32 %place, {V64} %where, i32 %mask, i32 %nbytes, i32 %rule, i32 %differs, ptr %notes)"
"""`%rule`: LOAD, STORE or ATOMIC, the strength (2 bits), log2 of an element's bytes (3 bits), and whether the values of a
load are followed to their uses: then `%notes` gets, for each byte, the lanes for which it is unwritten. Of a store to
local memory it says which lanes store such values."""


def in_shared() -> str:
    """`%where` are byte offsets into the block's shared memory; the answer are the lanes that may go on."""

    def build(e: Body) -> None:
        e.line("%buffer = alloca <32 x i64>, align 64")
        where = argument("where", "i64", True)
        # Copies are told before they are checked, and what lies outside has no shadow.
        room = e.bin("sub", e.slot("shared_bytes"), e.resize(argument("nbytes", "i32"), 64))
        inside = e.bin("and", e.bits_of(e.icmp("sle", where, room)), argument("mask", "i32"))
        good = _within_bounds(e, where, inside)
        e.line(f"br i1 {e.some(good).text}, label %go, label %out")
        e.label("go")
        shift = e.watch("shift")
        first = e.bin("lshr", where, shift)

        def at(index):
            return e.bin("shl", e.bin("add", first, index), e.i64(3))

        _loop_over_words(e, "s", at, shift, good)
        e.line("br label %out")
        e.label("out")
        e.line(f"ret i32 {good.text}")

    return function(f"i32 @wb_s_shared{_HEAD}", build)


def in_local() -> str:
    """`%where` are byte offsets into each thread's local memory, of which the written bytes are noted."""

    def build(e: Body) -> None:
        e.line("%buffer = alloca <32 x i64>, align 64")
        where = argument("where", "i64", True)
        good = _within_bounds(e, where, argument("mask", "i32"))
        own = e.bin("mul", e.threads(), e.slot("local_bytes"))
        at = e.bin("add", e.bin("add", own, where), e.watch("local_written"))
        nbytes = e.resize(argument("nbytes", "i32"), 64)
        is_load = e.icmp("eq", e.bin("and", argument("rule", "i32"), e.const("i32", 3)), e.const("i32", 0))
        e.line(f"br i1 {is_load.text}, label %load, label %store")
        e.label("store")
        e.line("br label %put")
        e.label("put")
        e.line("%i = phi i64 [0, %store], [%i1, %put]")
        e.line("%up = getelementptr i32, ptr %notes, i64 %i")
        e.line("%unwritten = load i32, ptr %up, align 4")
        kept = e.lanes_of(Value("%unwritten", "i32", False))
        noted = e.select(kept, e.const("i8", 0), e.const("i8", 1))
        e.scatter(noted, e.bin("add", at, Value("%i", "i64", False)), good)
        e.line("%i1 = add i64 %i, 1")
        e.line(f"%more = icmp ult i64 %i1, {nbytes.text}")
        e.line("br i1 %more, label %put, label %out")
        e.label("load")
        e.line("br label %get")
        e.label("get")
        e.line("%j = phi i64 [0, %load], [%j1, %got]")
        e.line("%seen = phi <32 x i8> [zeroinitializer, %load], [%seen2, %got]")
        part = e.gather(8, e.bin("add", at, Value("%j", "i64", False)), good)
        e.line(f"%seen1 = or <32 x i8> %seen, {part.text}")
        e.line("%j1 = add i64 %j, 1")
        # An element of which any byte is written counts as written: the others may be padding.
        size = e.bin("and", e.bin("lshr", argument("rule", "i32"), e.const("i32", 4)), e.const("i32", 7))
        element = e.bin("shl", e.i64(1), e.resize(size, 64))
        whole = e.icmp("eq", e.bin("and", Value("%j1", "i64", False), e.bin("sub", element, e.i64(1))), e.i64(0))
        nothing = e.icmp("eq", Value("%seen1", "i8", True), e.const("i8", 0))
        raw = e.bin("and", e.bits_of(nothing), good)
        told = e.select(whole, raw, e.const("i32", 0))
        e.when(e.some(told), "unset")
        unwritten(e, told, Value("%j", "i64", False), e.i64(1))
        e.after("unset")
        e.line(f"%seen2 = select i1 {whole.text}, <32 x i8> zeroinitializer, <32 x i8> %seen1")
        e.line("br label %got")
        e.label("got")
        e.line(f"%again = icmp ult i64 %j1, {nbytes.text}")
        e.line("br i1 %again, label %get, label %out")
        e.label("out")
        e.line(f"ret i32 {good.text}")

    return function(f"i32 @wb_s_local{_HEAD}", build)


def in_global() -> str:
    """`%where` are host addresses, of global memory or (generic ones) of a window of it."""

    def build(e: Body) -> None:
        e.line("%buffer = alloca <32 x i64>, align 64")
        e.line("%addresses = alloca <32 x i64>, align 64")
        where, mask = argument("where", "i64", True), argument("mask", "i32")
        e.line(f"store {V64} {where.text}, ptr %addresses, align 64")
        shared, nshared = e.slot("shared_base"), e.slot("shared_bytes")
        in_shared = e.bin("and", e.bits_of(e.icmp("ult", e.bin("sub", where, shared), nshared)), mask)
        local, mine = e.slot("local_base"), e.slot("local_bytes")
        nlocal = e.bin("mul", e.bin("shl", e.slot("warps"), e.i64(5)), mine)
        in_local = e.bin("and", e.bits_of(e.icmp("ult", e.bin("sub", where, local), nlocal)), mask)
        windows = e.bin("or", in_shared, in_local)
        on_device = e.bin("and", mask, e.flip(windows))
        arguments = "i32 {}, i32 %nbytes, i32 %rule, i32 %differs, ptr %notes"
        e.line(f"br i1 {e.some(windows).text}, label %near, label %far")
        e.label("near")
        within = e.bin("sub", where, shared)
        a = e.assign(
            f"call i32 @wb_s_shared(ptr %ctx, i32 %place, {V64} {within.text}, {arguments.format(in_shared.text)})",
            "i32", False,
        )  # fmt: skip
        e.line(f"br i1 {e.some(in_local).text}, label %stack, label %near_end")
        e.label("stack")
        within = e.bin("urem", e.bin("sub", where, local), mine)
        b = e.assign(
            f"call i32 @wb_s_local(ptr %ctx, i32 %place, {V64} {within.text}, {arguments.format(in_local.text)})",
            "i32", False,
        )  # fmt: skip
        e.line("br label %near_end")
        e.label("near_end")
        from_local = e.assign(f"phi i32 [0, %near], [{b.text}, %stack]", "i32", False)
        near = e.bin("or", a, from_local)
        e.line("br label %far")
        e.label("far")
        done = e.assign(f"phi i32 [0, %entry], [{near.text}, %near_end]", "i32", False)
        good = _within_bounds(e, where, on_device)
        answer = e.bin("or", done, good)
        shadowed = e.icmp("ne", e.watch("global_writes"), e.i64(0))
        e.line(f"br i1 {shadowed.text}, label %groups, label %out")
        e.label("out")
        e.line(f"ret i32 {answer.text}")
        e.label("groups")
        shift, scratch = e.watch("global_shift"), e.pointer(e.watch("scratch"))
        e.line("br label %group")
        e.label("group")
        e.line(f"%rest = phi i32 [{good.text}, %groups], [%left, %group_end]")
        e.line("%finished = icmp eq i32 %rest, 0")
        e.line("br i1 %finished, label %out, label %look")
        e.label("look")
        e.line("%lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)")
        e.line("%ap = getelementptr i64, ptr %addresses, i32 %lane")
        e.line("%address = load i64, ptr %ap")
        e.line("%size64 = zext i32 %nbytes to i64")
        e.line(f"%ok = call i1 @place(ptr %ctx, ptr {scratch}, i64 %address, i64 %size64)")
        base, span, touch = (
            e.assign(
                f"load i64, ptr {e.assign(f'getelementptr i64, ptr {scratch}, i64 {SITE_SLOT[n]}', 'ptr', False).text}",
                "i64", False,
            )
            for n in ("base", "span", "touch")
        )  # fmt: skip
        offset = e.bin("sub", where, base)
        inside = e.bin("and", e.bits_of(e.icmp("ule", offset, span)), Value("%rest", "i32", False))
        lowest = e.bin(
            "and", Value("%rest", "i32", False), e.bin("sub", e.const("i32", 0), Value("%rest", "i32", False))
        )
        inside = e.bin("or", inside, lowest)
        e.line(f"%left = and i32 %rest, {e.flip(inside).text}")
        known = e.bin("and", Value("%ok", "i1", False), e.icmp("sge", touch, e.i64(0)))
        e.line(f"br i1 {known.text}, label %note, label %group_end")
        e.label("note")
        first = e.bin("add", e.bin("lshr", offset, shift), touch)

        def at(index):
            return e.bin("shl", e.bin("add", first, index), e.i64(3))

        _loop_over_words(e, "g", at, shift, inside)
        e.line("br label %group_end")
        e.label("group_end")
        e.line("br label %group")

    return function(f"i32 @wb_s_global{_HEAD}", build)


def values(bits: int) -> str:
    """Lanes whose store changes memory; after it, lanes that lost against another value of the same instruction."""
    v = f"<32 x i{bits}>"

    def differs(e: Body) -> None:
        old = e.gather(bits, argument("where", "i64", True), argument("mask", "i32"))
        new = e.bits_of(e.icmp("ne", old, argument("value", f"i{bits}", True)))
        e.line(f"ret i32 {e.bin('and', new, argument('mask', 'i32')).text}")

    def clash(e: Body) -> None:
        where, mask = argument("where", "i64", True), argument("mask", "i32")
        now = e.gather(bits, where, mask)
        lost = e.bin("and", e.bits_of(e.icmp("ne", now, argument("value", f"i{bits}", True))), mask)
        e.line(f"br i1 {e.some(lost).text}, label %told, label %out")
        e.label("told")
        e.line(f"call void @clash(ptr %ctx, i32 %place, {V64} %where, i32 %mask, i32 {lost.text})")
        e.line("br label %out")
        e.label("out")
        e.line("ret void")

    head = f"(ptr %ctx, i32 %place, {V64} %where, {v} %value, i32 %mask)"
    return function(f"i32 @wb_s_differs{bits}{head}", differs) + function(f"void @wb_s_clash{bits}{head}", clash)


# Lanes of one store to one address with different values: for each that lost, which lane stands against it.
CLASHES = f"""
declare i32 @llvm.ctlz.i32(i32, i1)
define internal void @clash(ptr %ctx, i32 %place, {V64} %where, i32 %mask, i32 %lost) noinline cold {{
entry:
  %addresses = alloca {V64}, align 64
  %entries = alloca {V64}, align 64
  store {V64} %where, ptr %addresses, align 64
  store {V64} zeroinitializer, ptr %entries, align 64
  %wp = getelementptr i64, ptr %ctx, i64 {SLOT["warp"]}
  %warp = load i64, ptr %wp
  %first = shl i64 %warp, 5
  %place64 = zext i32 %place to i64
  %placed = shl i64 %place64, {ENTRY_PLACE}
  {each_lane("%lost", "entry", "step", done="tell")}
  %bit = shl i32 1, %lane
  %notbit = xor i32 %bit, -1
  %ap = getelementptr i64, ptr %addresses, i32 %lane
  %a = load i64, ptr %ap
  {broadcast("as", "i64", "%a")}
  %same = icmp eq {V64} %where, %as
  %bits = bitcast {V1} %same to i32
  %others0 = and i32 %bits, %mask
  %others = and i32 %others0, %notbit
  %zeros = call i32 @llvm.ctlz.i32(i32 %others, i1 false)
  %winner0 = sub i32 31, %zeros
  %winner = and i32 %winner0, 31
  %winner64 = zext i32 %winner to i64
  %thread = add i64 %first, %winner64
  %e = or i64 %placed, %thread
  %ep = getelementptr i64, ptr %entries, i32 %lane
  store i64 %e, ptr %ep
  br label %loop
tell:
  %all = load {V64}, ptr %entries, align 64
  call void @wb_s_report(ptr %ctx, i64 {CLASH}, i32 %place, i32 %lost, {V64} %all, {V64} %where)
  ret void
}}
"""

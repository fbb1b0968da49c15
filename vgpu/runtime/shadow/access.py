"""Accesses of a warp, space by space: held to their array's bounds, then told to the shadow word by word."""

from __future__ import annotations

from collections.abc import Callable

from vgpu.base.context import ENTRY_PLACE, SITE_SLOT
from vgpu.ir.value import V8, V64, Value, vector
from vgpu.runtime.shadow.body import Watched
from vgpu.runtime.shadow.copies import units
from vgpu.runtime.shadow.words import CLASH, report, unwritten

_HOME = ("base", "span", "touch", "space")
_HEAD = f"ptr ctx, i32 place, {V64} where, i32 mask, i32 nbytes, i32 rule, i32 differs, ptr notes"
"""`rule`: LOAD, STORE or ATOMIC, the strength (2 bits), log2 of an element's bytes (3 bits), and whether the values of a
load are followed to their uses: then `notes` gets, for each byte, the lanes for which it is unwritten. Of a store to
local memory it says which lanes store such values."""


def _each_word(r: Watched, letter: str, at: Callable[[Value], Value], shift: Value, mask: Value) -> None:
    """Call the word function for each granule of an access; `at(index)` gives the byte offsets in the shadows."""
    with r.count_to(units(r["nbytes"], shift)) as index:
        rest = (r["where"], mask, r["rule"], r["differs"], r["notes"], index, shift)
        r.call("void", f"word_{letter}", r["ctx"], r["place"], at(index), *rest)


def _within_bounds(r: Watched, mask: Value) -> Value:
    """Lanes inside the array that the address was made from; the others are told and left out."""
    where = r["where"]
    row = r.at(r.watch("bounds").to("ptr"), r["place"].to("i64") << 4)
    low, high = r.load(row, "i64", 8), r.load(r.at(row, 8), "i64", 8)
    bad = (where.below(low) | (where + r["nbytes"].to("i64")).above(high)).bits() & mask
    with r.when(bad.ne(0)):
        r.event("stray", r["place"], 0, bad, where)
    return mask & ~bad


def in_shared() -> Watched:
    """`where` are byte offsets into the block's shared memory; the answer are the lanes that may go on."""
    r = Watched("wb_s_shared", _HEAD, "i32")
    # Copies are told before they are checked, and what lies outside has no shadow.
    room = r.slot("shared_bytes") - r["nbytes"].to("i64")
    good = _within_bounds(r, (r["where"].above(room, signed=True) ^ 1).bits() & r["mask"])
    with r.when(good.ne(0)):
        shift = r.watch("shift")
        first = r["where"] >> shift
        _each_word(r, "s", lambda index: first + index << 3, shift, good)
    r.give(good)
    return r


def in_local() -> Watched:
    """`where` are byte offsets into each thread's local memory, of which the written bytes are noted."""
    r = Watched("wb_s_local", _HEAD, "i32")
    good, rule = _within_bounds(r, r["mask"]), r["rule"]
    at = r.threads() * r.slot("local_bytes") + r["where"] + r.watch("local_written")
    nbytes = r["nbytes"].to("i64")
    with r.when((rule & 3).ne(0)):
        with r.count_to(nbytes) as i:
            kept = r.load(r.at(r["notes"], i << 2), "i32", 4).lanes()
            r.scatter(kept.select(r.number(V8, 0), 1), at + i, good)
        r.give(good)
    seen = r.variable(V8, 0)
    element = r.number("i64", 1) << (rule >> 4 & 7).to("i64")
    with r.count_to(nbytes) as i:
        seen.set(seen.get() | r.gather("i8", at + i, good))
        # An element of which any byte is written counts as written: the others may be padding.
        whole = (i + 1 & element - 1).eq(0)
        told = whole.select(seen.get().eq(0).bits() & good, 0)
        with r.when(told.ne(0)):
            unwritten(r, told, i, r.number("i64", 1))
        seen.set(whole.select(r.number(V8, 0), seen.get()))
    r.give(good)
    return r


def in_global() -> Watched:
    """`where` are host addresses, of global memory or (generic ones) of a window of it."""
    r = Watched("wb_s_global", _HEAD, "i32")
    where, mask, rule = r["where"], r["mask"], r["rule"]
    from_shared, mine = where - r.slot("shared_base"), r.slot("local_bytes")
    from_local = where - r.slot("local_base")
    in_shared = from_shared.below(r.slot("shared_bytes")).bits() & mask
    in_local = from_local.below((r.slot("warps") << 5) * mine).bits() & mask
    windows = in_shared | in_local
    done = r.variable("i32", 0)

    def near(function: str, offset: Value, lanes: Value) -> None:
        rest = (r["nbytes"], r["rule"], r["differs"], r["notes"])
        done.set(r.call("i32", function, r["ctx"], r["place"], offset, lanes, *rest) | done.get())

    with r.when(windows.ne(0)):
        near("wb_s_shared", from_shared, in_shared)
        with r.when(in_local.ne(0)):
            near("wb_s_local", from_local % mine, in_local)
    good = _within_bounds(r, mask & ~windows)
    answer = done.get() | good
    with r.when(r.slot("cluster").above(1) & good.ne(0)):
        remote = r.call("i32", "wb_inside_cluster", r["ctx"], where) & good
        with r.when(remote.ne(0)):
            how = r["nbytes"].to("i64") | rule.to("i64") << 8 | r["differs"].to("i64") << 32
            raw = r.event("remote", r["place"], how, remote, where).to("i32")
            with r.when(raw.ne(0)):
                unwritten(r, raw, r.i64(0), r["nbytes"].to("i64"))
    with r.when(r.watch("global_writes").eq(0)):
        r.give(answer)
    shift, scratch, addresses = r.watch("global_shift"), r.watch("scratch").to("ptr"), r.spread(where)
    rest = r.variable("i32", good)
    with r.repeat() as stop:
        now = rest.get()
        stop(now.eq(0))
        address = r.load(r.at(addresses, r.lowest(now).to("i64") << 3), "i64", 8)
        found = r.call("i1", "shadow_place", r["ctx"], scratch, address, r["nbytes"].to("i64"), r.number("i1", 0))
        base, span, touch, space = (r.load(r.at(scratch, 8 * SITE_SLOT[n]), "i64", 8) for n in _HOME)
        offset = where - base
        inside = ~offset.above(span).bits() & now | now & r.number("i32", 0) - now
        rest.set(now & ~inside)
        with r.when(found & space.eq(0) & (touch.below(0, signed=True) ^ 1)):
            first = (offset >> shift) + touch
            _each_word(r, "g", lambda index: first + index << 3, shift, inside)
    r.give(answer)
    return r


def values(bits: int) -> str:
    """Lanes whose store changes memory; after it, lanes that lost against another value of the same instruction."""
    head = f"ptr ctx, i32 place, {V64} where, {vector(f'i{bits}')} value, i32 mask"
    before, after = Watched(f"wb_s_differs{bits}", head, "i32"), Watched(f"wb_s_clash{bits}", head)
    other = lambda r: r.gather(f"i{bits}", r["where"], r["mask"]).ne(r["value"]).bits() & r["mask"]
    before.give(other(before))
    lost = other(after)
    with after.when(lost.ne(0)):
        after.call("void", "clash", *(after[name] for name in ("ctx", "place", "where", "mask")), lost)
    return f"{before}{after}"


def clash() -> Watched:
    """Lanes of one store to one address with different values: for each that lost, which lane stands against it."""
    r = Watched("clash", f"ptr ctx, i32 place, {V64} where, i32 mask, i32 lost", words="noinline cold")
    addresses, entries = r.spread(r["where"]), r.spread(r.number(V64, 0))
    mine = r["place"].to("i64") << ENTRY_PLACE
    first = r.slot("warp") << 5
    with r.each(r["lost"]) as lane:
        address = r.load(r.at(addresses, lane << 3), "i64", 8)
        others = r["where"].eq(address).bits() & r["mask"] & ~lane.bit()
        zeros = r.call("i32", "llvm.ctlz.i32", others, r.number("i1", 0))
        winner = (r.number("i32", 31) - zeros & 31).to("i64")
        r.store(r.at(entries, lane << 3), mine | first + winner, 8)
    report(r, CLASH, r["lost"], r.load(entries, V64, 64))
    return r

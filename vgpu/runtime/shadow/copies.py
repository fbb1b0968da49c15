"""Asynchronous copies: what they write counts as pending from the issue on, until they land."""

from __future__ import annotations

from vgpu.base.context import ENTRY, ENTRY_STRENGTH, ENTRY_TIME, PENDING
from vgpu.ir.value import V32, Value
from vgpu.runtime.shadow.body import Watched


def pending(entry: Value) -> Value:
    """Lanes whose entry is a copy that has not landed."""
    return (entry & PENDING << ENTRY_STRENGTH).eq(PENDING << ENTRY_STRENGTH)


def units(nbytes: Value, shift: Value) -> Value:
    """How many entries of a shadow some bytes have: one at least."""
    found = nbytes.to("i64") >> shift
    return found.eq(0).select(1, found)


def landed() -> Watched:
    """Some lanes of a queue's entry have been copied: they count as written now, by those who issued them."""
    r = Watched("wb_s_landed", "ptr ctx, ptr copy, i32 lanes")
    with r.when(r.watched()):
        shift, lanes = r.watch("shift"), r["lanes"]
        targets, size = (r.load(r.at(r["copy"], ENTRY[n]), kind, 4) for n, kind in (("targets", V32), ("size", "i32")))
        base = (targets.to("i64") >> shift << 3) + r.watch("writes")
        now = r.watch("time") << ENTRY_TIME
        with r.count_to(units(size, shift)) as i:
            at = base + (i << 3)
            old = r.gather("i64", at, lanes)
            kept = old & (1 << ENTRY_TIME) - 1 - (PENDING << ENTRY_STRENGTH)
            r.scatter(kept | now, at, pending(old).bits() & lanes)
    return r

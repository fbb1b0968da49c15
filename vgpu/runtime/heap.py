"""The heap of kernels, as compiled code sees it: whose an address is, accesses of a warp, calls of `malloc` and `free`.

A site never remembers a pattern in the heap, because any thread may free a piece at any time: every lane of every
access is looked up in the heap's tables (`vgpu.storage.heap` says what is in them).
"""

from __future__ import annotations

from vgpu.ir.value import V64
from vgpu.runtime.write import Routine
from vgpu.storage.heap import GRAIN

_GRAIN_BITS = GRAIN.bit_length() - 1


def _lanes() -> Routine:
    """The lanes of `mask` whose whole access lies in one live piece."""
    r = Routine("heap_lanes", f"ptr ctx, {V64} where, i32 mask, i64 size", "i32")
    where = r["where"]
    off = where - r.slot("heap")
    ask = off.below(r.slot("heap_bytes")) & r["mask"].lanes()
    owner = r.gather("i32", (off >> _GRAIN_BITS << 2) + r.slot("heap_owners"), ask)
    end = r.gather("i64", (owner.to("i64") - 1 << 3) + r.slot("heap_ends"), owner.ne(0))
    r.give((where.below(end) & (end - where).reaches(r["size"])).bits())
    return r


def place(name: str, offset: str) -> Routine:
    """The whole heap is one area as far as offsets go; what may be touched in it is asked for each lane.

    `offset` is the slot that says where its part of a map begins.
    """
    r = Routine(name, "ptr ctx, ptr site, i64 addr, i64 size, i1 writes", "i1")
    bits = r.call("i32", "heap_lanes", r["ctx"], r["addr"].splat(), r.number("i32", 1), r["size"])
    with r.when(bits.ne(0)):
        span = r.slot("heap_bytes") - r["size"]
        r.set_site(base=r.slot("heap"), span=span, space=0, touch=r.slot(offset), mask=-1)
    r.give(bits.ne(0))
    return r


def _access(counted: bool) -> Routine:
    """Whether all of a warp's lanes may go on, and are counted; where one may not, `mixed` says which and why."""
    r = Routine(
        f"heap_{'c' if counted else 'p'}", f"ptr ctx, ptr site, {V64} where, i32 mask, i32 size, i32 rule", "i1"
    )
    where, mask, size = r["where"], r["mask"], r["size"].to("i64")
    r.set_site(base=-1, span=0, mask=-1)
    good = r.call("i32", "heap_lanes", r["ctx"], where, mask, size)
    straight = (where & size - 1).eq(0).bits()
    with r.when((~(good & straight) & mask).ne(0)):
        r.give(r.number("i1", 0))
    if counted:
        off = where - r.slot("heap")
        r.bump("requests", 1)
        r.bump("sectors", r.call("i32", "distinct", off >> 5, mask).to("i64"))
        r.bump("lanes", r.many(mask).to("i64"))
        with r.when(r.slot("reads").ne(0)):
            r.set_site(touch=r.slot("heap_touch"))
            r.call("void", "touch", r["ctx"], r["site"], off, mask, r["rule"])
    r.give(r.number("i1", 1))
    return r


def _call() -> Routine:
    """`malloc` and `free`: the host answers in the first vector of `host_data`, and gives the code of an error with the
    lanes that made it above."""
    r = Routine("wb_heap", f"ptr ctx, i64 code, i64 id, i32 mask, {V64} a, {V64} b", V64)
    data = r.slot("host_data", "ptr")
    r.store(data, r["a"], 64)
    r.store(r.at(data, 256), r["b"], 64)
    stop = r.call("i64", r.slot("host", "ptr"), r["ctx"], r["id"] << 8 | r["code"], r["mask"])
    with r.when(stop.ne(0)):
        r.call("void", "fail", r["ctx"], stop & (1 << 32) - 1, r["id"], (stop >> 32).to("i32"), r["a"])
    r.give(r.load(data, V64, 64))
    return r


def source() -> str:
    return f"{_lanes()}{place('place_in_heap', 'heap_touch')}{_access(True)}{_access(False)}{_call()}"

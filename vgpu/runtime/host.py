"""Calls out of a kernel, in LLVM IR: what the host does for it (printf, assert), and how a fault is noted."""

from __future__ import annotations

from vgpu.base.context import EVENT_CODE, SITE_BYTES, WATCH_SLOT
from vgpu.ir.value import V64
from vgpu.runtime.write import Routine

_FAULT = f"ptr ctx, i64 code, i64 id, i32 lanes, {V64} addr"


def _host() -> Routine:
    """Up to four vectors of arguments are laid in the context's `host_data`."""
    r = Routine("wb_host", f"ptr ctx, i64 code, i32 mask, {V64} a, {V64} b, {V64} c, {V64} d")
    data = r.slot("host_data", "ptr")
    for index, name in enumerate("abcd"):
        r.store(r.at(data, 256 * index), r[name], 64)
    stop = r.call("i64", r.slot("host", "ptr"), r["ctx"], r["code"], r["mask"])
    with r.when(stop.ne(0)):
        r.call("void", "fail", r["ctx"], stop, r["code"], r["mask"], r["a"])
    return r


def _fail() -> Routine:
    """The first fault is kept, and ends the kernel; where the sanitizer watches it is told first, and most do not."""
    r = Routine("fail", _FAULT, words="noinline cold")
    watch, lanes = r.slot("watch"), r["lanes"]
    with r.when(watch.ne(0)):
        event = r.load(r.at(watch.to("ptr"), 8 * WATCH_SLOT["event"]), "ptr", 8)
        told = (r.number("i64", EVENT_CODE["fault"]), r["code"], r["id"], lanes.to("i64"), r.spread(r["addr"]))
        with r.when(r.call("i64", event, r["ctx"], *told).eq(0)):
            r.give()
    with r.when(r.slot("error").ne(0)):
        r.give()
    lane = r.lowest(lanes)
    r.set_slot("error", r["code"])
    r.set_slot("error_site", r["id"])
    r.set_slot("error_lane", lane.to("i64"))
    r.set_slot("error_address", r["addr"].lane(lane & 31))
    r.set_slot("error_warp", r.slot("warp"))
    r.set_slot("error_block", r.slot("block"))
    r.set_slot("fuel", 0)
    return r


def _site_id() -> Routine:
    r = Routine("site_id", "ptr ctx, ptr site", "i64", words="")
    r.give(r["site"].to("i64") - r.slot("sites") >> SITE_BYTES.bit_length() - 1)
    return r


def source() -> str:
    everywhere, at = Routine("wb_fail", "ptr ctx, i64 code, i64 id, i32 mask"), Routine("wb_fail_at", _FAULT)
    everywhere.call("void", "fail", *everywhere.parameters.values(), everywhere.number(V64, 0))
    at.call("void", "fail", *at.parameters.values())
    return f"{_host()}{_fail()}{everywhere}{at}{_site_id()}"

"""`mbarrier`: a barrier in shared memory that counts arrivals and bytes of asynchronous copies, phase by phase.

The 64 bits are the pending arrivals, the arrivals of a full phase, the bytes still to come (signed), the parity of the
phase, and a mark that memory which was never initialised does not have. A wait that fails first completes what was
queued for its barrier; if that does not help, the warp gives its turn away.

Rules: NVIDIA "PTX ISA", parallel synchronization and communication instructions, mbarrier.
"""

from __future__ import annotations

from vgpu.base.context import (
    BARRIER_FIELD,
    BARRIER_LIMIT,
    BARRIER_MARK,
    DROP,
    ENTRY,
    NO_COMPLETE,
    OUT_OF_FUEL,
    PATIENCE,
    QUEUE,
    STALLED,
)
from vgpu.ir.value import V32, V64, Value
from vgpu.runtime.async_copy import entry_at, own_queue, warp_queue
from vgpu.runtime.cluster import NOWHERE, RANK_SHIFT
from vgpu.runtime.write import Routine

FIELD_BITS = 20


def fault(r: Routine, code: str, site: Value, lane: Value, address: Value) -> None:
    """Report an error of one lane at an offset in shared memory."""
    bit = r.number("i32", 1) << lane.to("i32")
    r.fail(code, site, bit, address.to("i64").splat())


def _find() -> Routine:
    """A pointer to the 8 bytes at an offset, or null after reporting that they lie outside or are not aligned.

    The offset is in the block's shared memory, or in that of its cluster (see `cluster`).
    """
    r = Routine("barrier_at", "ptr ctx, i64 site, i64 lane, i32 offset", "ptr")
    null, base = r.null(), r.variable("i64", r.slot("shared_base"))
    offset = (r["offset"] & (1 << RANK_SHIFT) - 1).to("i64")
    rank = (r["offset"] >> RANK_SHIFT).to("i64")
    with r.when(rank.ne(0)):
        base.set(r.call("i64", "shared_of_rank", r["ctx"], rank - 1))
    with r.when(base.get().eq(NOWHERE)):
        fault(r, "bounds", r["site"], r["lane"], base.get() + offset)
        r.give(null)
    with r.when(offset.below(r.slot("shared_bytes") - 7, signed=True) ^ 1):
        fault(r, "bounds", r["site"], r["lane"], r["offset"])
        r.give(null)
    with r.when((offset & 7).ne(0)):
        fault(r, "alignment", r["site"], r["lane"], r["offset"])
        r.give(null)
    r.give((base.get() + offset).to("ptr"))
    return r


def _check() -> Routine:
    """The same, and the mark of an initialised barrier must be there."""
    r = Routine("live_barrier", "ptr ctx, i64 site, i64 lane, i32 offset", "ptr")
    place = r.call("ptr", "barrier_at", r["ctx"], r["site"], r["lane"], r["offset"])
    with r.when(place.eq("null")):
        r.give(place)
    with r.when((r.load(place, "i64", 8) >> 62).ne(BARRIER_MARK)):
        fault(r, "barrier_lost", r["site"], r["lane"], r["offset"])
        r.give(r.null())
    r.give(place)
    return r


def _update() -> Routine:
    """Arrivals and bytes of one lane; the result is the object as it was before."""
    r = Routine("barrier_update", "ptr ctx, i64 site, i64 lane, i32 offset, i64 arrivals, i64 bytes, i32 flags", "i64")
    place = r.call("ptr", "live_barrier", r["ctx"], r["site"], r["lane"], r["offset"])
    nothing = r.number("i64", 0)
    with r.when(place.eq("null")):
        r.give(nothing)
    r.set_slot("barrier_events", 1)
    word = r.load(place, "i64", 8)
    most = (1 << FIELD_BITS) - 1
    pending, expected = word & most, word >> BARRIER_FIELD["expected"] & most
    phase = word >> BARRIER_FIELD["phase"] & 1
    wide = 64 - BARRIER_FIELD["phase"]
    bytes_left = r.value("i64", f"ashr {word << wide}, {wide + BARRIER_FIELD['bytes']}")
    with r.when(pending.below(r["arrivals"])):
        fault(r, "barrier_arrivals", r["site"], r["lane"], r["offset"])
        r.give(nothing)
    pending = pending - r["arrivals"]
    drops = (r["flags"] & DROP).ne(0)
    expected = expected - drops.select(r["arrivals"], 0)
    bytes_left = bytes_left + r["bytes"]
    with r.when((bytes_left + BARRIER_LIMIT).above(2 * BARRIER_LIMIT)):
        fault(r, "barrier_bytes", r["site"], r["lane"], r["offset"])
        r.give(nothing)
    over = (pending | bytes_left).eq(0)
    early = (r["flags"] & NO_COMPLETE).ne(0)
    with r.when(over & early):
        fault(r, "barrier_early", r["site"], r["lane"], r["offset"])
        r.give(nothing)
    phase = phase ^ over.to("i64")
    pending = over.select(expected, pending)
    bytes_field = (bytes_left & (2 * most + 1)) << BARRIER_FIELD["bytes"]
    new = pending | expected << BARRIER_FIELD["expected"] | bytes_field | phase << BARRIER_FIELD["phase"]
    r.store(place, new | BARRIER_MARK << 62, 8)
    r.give(word)
    return r


def _init() -> Routine:
    r = Routine("wb_barrier_init", f"ptr ctx, ptr site, {V32} offsets, i32 mask, {V32} counts")
    site = r.call("i64", "site_id", r["ctx"], r["site"])
    offsets, counts = r.spread(r["offsets"]), r.spread(r["counts"])
    r.set_slot("barrier_events", 1)
    with r.each(r["mask"]) as lane:
        offset = r.load(r.at(offsets, lane * 4), "i32", 4)
        count = r.load(r.at(counts, lane * 4), "i32", 4)
        with r.when((count - 1).below(BARRIER_LIMIT) ^ 1):
            fault(r, "barrier_count", site, lane, count)
            r.give()
        place = r.call("ptr", "barrier_at", r["ctx"], site, lane, offset)
        with r.when(place.eq("null")):
            r.give()
        wide = count.to("i64")
        r.store(place, wide | wide << BARRIER_FIELD["expected"] | BARRIER_MARK << 62, 8)
    return r


def _invalidate() -> Routine:
    r = Routine("wb_barrier_inval", f"ptr ctx, ptr site, {V32} offsets, i32 mask")
    site = r.call("i64", "site_id", r["ctx"], r["site"])
    offsets = r.spread(r["offsets"])
    with r.each(r["mask"]) as lane:
        offset = r.load(r.at(offsets, lane * 4), "i32", 4)
        place = r.call("ptr", "live_barrier", r["ctx"], site, lane, offset)
        with r.when(place.eq("null")):
            r.give()
        r.store(place, r.number("i64", -1), 8)
    return r


def _arrive() -> Routine:
    """The lanes of `mask` update their barriers in turn; the result are their states before."""
    r = Routine(
        "wb_barrier_update",
        f"ptr ctx, ptr site, {V32} offsets, i32 mask, {V32} arrivals, {V32} bytes, i32 flags", V64,
    )  # fmt: skip
    site = r.call("i64", "site_id", r["ctx"], r["site"])
    offsets, arrivals, nbytes = (r.spread(r[name]) for name in ("offsets", "arrivals", "bytes"))
    states = r.spread(r.number(V64, 0))
    with r.each(r["mask"]) as lane:
        values = [r.load(r.at(place, lane * 4), "i32", 4) for place in (offsets, arrivals, nbytes)]
        old = r.call(
            "i64", "barrier_update", r["ctx"], site, lane, values[0], values[1].to("i64"),
            values[2].to("i64", signed=True), r["flags"],
        )  # fmt: skip
        r.store(r.at(states, lane * 8), old, 8)
    r.give(r.load(states, V64, 64))
    return r


def _later() -> Routine:
    """The arrival that `cp.async.mbarrier.arrive` left for the time when the copies before it are complete."""
    r = Routine("arrive_later", "ptr ctx, i64 site, i64 lane, i32 offset")
    one, none, plain = r.number("i64", 1), r.number("i64", 0), r.number("i32", 0)
    r.call("i64", "barrier_update", r["ctx"], r["site"], r["lane"], r["offset"], one, none, plain)
    return r


def _follow() -> Routine:
    """`cp.async.mbarrier.arrive`: queue an arrival; unless `noinc`, the phase waits for one more because of it."""
    r = Routine("wb_copy_arrive", f"ptr ctx, ptr site, {V32} offsets, i32 mask, i32 noinc")
    site = r.call("i64", "site_id", r["ctx"], r["site"])
    offsets = r.spread(r["offsets"])
    with r.each(r["mask"]) as lane:
        offset = r.load(r.at(offsets, lane * 4), "i32", 4)
        place = r.call("ptr", "live_barrier", r["ctx"], site, lane, offset)
        with r.when(place.eq("null")):
            r.give()
        with r.when(r["noinc"].eq(0)):
            word = r.load(place, "i64", 8)
            with r.when((word & (1 << FIELD_BITS) - 1).eq((1 << FIELD_BITS) - 1)):
                fault(r, "barrier_count", site, lane, offset)
                r.give()
            r.store(place, word + 1, 8)
    with r.when(r["mask"].ne(0)):
        entry = r.call("ptr", "new_entry", r["ctx"], own_queue(r))
        r.store(r.at(entry, ENTRY["targets"]), r["offsets"], 64)
        r.store(r.at(entry, ENTRY["lanes"]), r["mask"], 4)
        r.store(r.at(entry, ENTRY["size"]), r.number("i32", 0), 4)
        r.store(r.at(entry, ENTRY["site"]), site, 8)
    return r


def _progress() -> Routine:
    """Complete what was queued for one barrier: copies before an arrival at it, in every warp, and bulk copies."""
    r = Routine("complete_for", "ptr ctx, i32 offset")
    block = r.slot("block") + 1
    with r.count_to(r.slot("warps")) as warp:
        queue = warp_queue(r, warp)
        lanes, last = r.variable("i32", 0), r.variable("i64", 0)
        with r.when(r.load(r.at(queue, QUEUE["owner"]), "i64", 8).eq(block)):
            head, tail = (r.load(r.at(queue, QUEUE[name]), "i64", 8) for name in ("head", "tail"))
            with r.count_to(tail, head) as number:
                entry = entry_at(r, queue, number)
                with r.when(r.load(r.at(entry, ENTRY["size"]), "i32", 4).eq(0)):
                    here = r.load(r.at(entry, ENTRY["targets"]), V32, 64).eq(r["offset"]).bits()
                    here = here & r.load(r.at(entry, ENTRY["lanes"]), "i32", 4)
                    with r.when(here.ne(0)):
                        lanes.set(lanes.get() | here)
                        last.set(number + 1)
            with r.when(lanes.get().ne(0)):
                with r.count_to(last.get(), head) as number:
                    r.call("void", "finish_copy", r["ctx"], entry_at(r, queue, number), lanes.get())
                r.call("void", "drop_finished", queue)
    r.call("void", "complete_bulk_for", r["ctx"], r["offset"])
    return r


def _wait() -> Routine:
    """Bits of the lanes of `mask` whose phase is over: the one of a state (bit 61) or of a parity (bit 0)."""
    r = Routine("wb_barrier_wait", f"ptr ctx, ptr site, {V32} offsets, i32 mask, {V64} states, i32 bit", "i32")
    site = r.call("i64", "site_id", r["ctx"], r["site"])
    offsets, states = r.spread(r["offsets"]), r.spread(r["states"])
    done, tried = r.variable("i32", 0), r.variable("i32", -1)
    with r.each(r["mask"]) as lane:
        offset = r.load(r.at(offsets, lane * 4), "i32", 4)
        place = r.call("ptr", "live_barrier", r["ctx"], site, lane, offset)
        with r.when(place.eq("null")):
            r.give(r["mask"])
        wanted = (r.load(r.at(states, lane * 8), "i64", 8) >> r["bit"].to("i64")) & 1
        phase = r.load(place, "i64", 8) >> BARRIER_FIELD["phase"] & 1
        with r.when(phase.eq(wanted) & tried.get().ne(offset)):
            r.call("void", "complete_for", r["ctx"], offset)
            tried.set(offset)
        phase = r.load(place, "i64", 8) >> BARRIER_FIELD["phase"] & 1
        done.set(done.get() | phase.ne(wanted).to("i32") << lane.to("i32"))
    missing = r["mask"] & ~done.get()
    waits = r.variable("i64", 0)
    with r.when(missing.ne(0)):
        lane = r.value("i32", f"call i32 @llvm.cttz.i32({missing}, i1 true)").to("i64")
        offset = r.load(r.at(offsets, lane * 4), "i32", 4).to("i64")
        wanted = (r.load(r.at(states, lane * 8), "i64", 8) >> r["bit"].to("i64")) & 1
        waits.set(offset << 2 | wanted << 1 | 1)
        r.set_slot("stall_site", site + 1)
        r.set_slot("stall_lane", lane)
        r.set_slot("stall_offset", offset)
        r.set_slot("stall_warp", r.slot("warp"))
        r.set_slot("stalled", 1)
        r.set_slot("fuel", 0)
    r.call("void", "note_wait", r["ctx"], waits.get())
    r.give(done.get())
    return r


# ---------------------------------------------------------------- what the block loop calls


def _note() -> Routine:
    """After a warp's slice: 1 if it ended because a wait failed, which does not count as work."""
    r = Routine("note_slice", "ptr ctx, i32 status", "i64", words="alwaysinline")
    failed = r.variable("i64", 0)
    with r.when(r.slot("stalled").ne(0)):
        r.set_slot("stalled", 0)
        with r.when(r["status"].eq(OUT_OF_FUEL)):
            r.add_slot("stalls", 1)
            failed.set(r.number("i64", 1))
    r.give(failed.get())
    return r


def _judge() -> Routine:
    """After a round: 0 to go on at once, 1 to look up first, 2 if all wait for ever, 3 to let other blocks go on.

    `starved` counts the warps whose slice was not enough, `waiting` those that wait for memory to change. A kernel may
    test a barrier a few times and then do something else, so only many rounds in which every test fails are a deadlock.
    Where some warps wait for memory, other blocks may be what they wait for; in a cluster, also for an mbarrier.
    """
    r = Routine("judge_round", "ptr ctx, i64 opened, i64 starved, i64 waiting", "i32")
    stalls, skipped = r.slot("stalls"), r.slot("skipped")
    r.set_slot("skipped", 0)
    worked = r["opened"] | r.slot("barrier_events") | (r["starved"] - stalls - skipped)
    quiet = worked.eq(0)
    with r.when(stalls.eq(0)):
        with r.when(quiet ^ 1):
            r.set_slot("idle_rounds", 0)
        r.give(r["starved"].ne(0).to("i32"))
    r.set_slot("stalls", 0)
    r.set_slot("barrier_events", 0)
    with r.when(quiet ^ 1):
        r.set_slot("progress", 1)
    with r.when(quiet & (r["waiting"].ne(0) | r.slot("cluster").above(1))):
        r.set_slot("spun", r.slot("spun") | STALLED)
        r.give(r.number("i32", 3))
    idle = quiet.select(r.slot("idle_rounds") + 1, 0)
    r.set_slot("idle_rounds", idle)
    with r.when(idle.above(PATIENCE)):
        r.set_slot("idle_rounds", 0)
        r.set_slot("warp", r.slot("stall_warp"))
        fault(r, "stalled", r.slot("stall_site") - 1, r.slot("stall_lane"), r.slot("stall_offset"))
        r.give(r.number("i32", 2))
    rounds = r.slot("stall_rounds") + 1
    r.set_slot("stall_rounds", rounds)
    r.give((r["starved"].ne(stalls) | (rounds & 63).eq(0)).to("i32"))
    return r


def source() -> str:
    routines = (
        _find(), _check(), _update(), _init(), _invalidate(), _arrive(), _later(), _follow(), _progress(), _wait(), _note(),
        _judge(),
    )  # fmt: skip
    return "".join(map(str, routines))

"""The queue of a block's bulk copies, in LLVM IR: they are made when their mbarrier or group is waited for.

Loads tell their mbarrier how many bytes have come; a store belongs to a group of the thread that issued it. Stores that
no thread has waited for are made at the end of their block.
"""

from __future__ import annotations

from collections.abc import Mapping

from vgpu.base.context import (
    BARRIER_FIELD,
    BULK,
    BULK_ENTRIES,
    BULK_ENTRY,
    BULK_ENTRY_BYTES,
    COMMIT,
    LANDED,
    LEFT,
    QUEUE,
    STORES,
    TENSOR,
)
from vgpu.ir.value import Value
from vgpu.runtime.async_copy import own_queue, warp_queue
from vgpu.runtime.cluster import field, record
from vgpu.runtime.mbarrier import fault
from vgpu.runtime.write import Routine


def queue_of(r: Routine) -> Value:
    """The block's queue, emptied if what stands in it belongs to a block before this one."""
    queue = r.slot("copies", "ptr")
    block = r.slot("block") + 1
    with r.when(r.load(queue, "i64", 8).ne(block)):
        r.fill(queue, 0, BULK["entries"])
        r.store(queue, block, 8)
    return queue


def entry_at(r: Routine, queue: Value, number: Value) -> Value:
    return r.at(queue, number % BULK_ENTRIES * BULK_ENTRY_BYTES + BULK["entries"])


def entry_field(r: Routine, entry: Value, name: str) -> Value:
    return r.load(r.at(entry, BULK_ENTRY[name]), "i64", 8)


def append(r: Routine, queue: Value, fields: Mapping[str, Value]) -> Value:
    """A new entry with these fields; where the queue is full, the oldest one is finished first."""
    head, tail = (r.load(r.at(queue, BULK[name]), "i64", 8) for name in ("head", "tail"))
    with r.when((tail - head).eq(BULK_ENTRIES)):
        r.call("void", "finish_bulk", r["ctx"], entry_at(r, queue, head))
        r.call("void", "drop_bulk", queue)
    entry = entry_at(r, queue, tail)
    for name, value in {"open": r.i64(1), **fields}.items():
        r.store(r.at(entry, BULK_ENTRY[name]), value, 8)
    r.store(r.at(queue, BULK["tail"]), tail + 1, 8)
    return entry


def _next_round() -> Routine:
    """A new round of the block's time slices begins, or the block has ended."""
    r = Routine("next_round", "ptr ctx")
    with r.when(r.slot("copies").ne(0)):
        place = r.at(queue_of(r), BULK["round"])
        r.store(place, r.load(place, "i64", 8) + 1, 8)
    return r


def _finish() -> Routine:
    r = Routine("finish_bulk", "ptr ctx, ptr entry")
    entry = r["entry"]
    with r.when(entry_field(r, entry, "open").eq(0)):
        r.give()
    r.store(r.at(entry, BULK_ENTRY["open"]), r.number("i64", 0), 8)
    kind, nbytes = entry_field(r, entry, "kind"), entry_field(r, entry, "bytes")
    number = r.call("i64", "site_id", r["ctx"], entry_field(r, entry, "site").to("ptr"))
    thread, barrier = entry_field(r, entry, "thread"), entry_field(r, entry, "barrier").to("i32")
    none, plain = r.i64(0), r.number("i32", 0)
    with r.when((kind & COMMIT).ne(0)):
        r.call("i64", "barrier_update", r["ctx"], number, thread & 31, barrier, r.i64(1), none, plain)
        r.give()
    shared = r.call("i64", "in_cluster", r["ctx"], entry_field(r, entry, "offset").to("i32"))
    with r.when(shared.below(0, signed=True)):  # the block has ended
        fault(r, "bounds", number + 1, thread & 31, shared)
        r.give()
    with r.when((kind & TENSOR).ne(0)):
        r.call("void", "move_tensor", r["ctx"], entry, shared)
    with r.when((kind & TENSOR).eq(0)):
        # For a plain copy the first "coordinate" is the size of its elements.
        element = entry_field(r, entry, "coordinates")
        remote = entry_field(r, entry, "remote")
        site = entry_field(r, entry, "site").to("ptr")
        r.call("void", "mark_run", r["ctx"], site, remote, nbytes, kind & STORES)
        r.call("void", "move_run", r["ctx"], entry, remote, shared, nbytes, element)
    r.call("void", "wb_s_bulk", r["ctx"], entry.to("i64"), r.i64(LANDED))
    with r.when((kind & STORES).eq(0)):
        r.call("i64", "barrier_update", r["ctx"], number, thread & 31, barrier, none, none - nbytes, plain)
    return r


def _drop() -> Routine:
    """Drop the finished entries at the head of the queue."""
    r = Routine("drop_bulk", "ptr queue")
    head_at = r.at(r["queue"], BULK["head"])
    tail = r.load(r.at(r["queue"], BULK["tail"]), "i64", 8)
    with r.repeat() as stop:
        head = r.load(head_at, "i64", 8)
        stop(head.eq(tail))
        stop(entry_field(r, entry_at(r, r["queue"], head), "open").ne(0))
        r.store(head_at, head + 1, 8)
    return r


def _commit() -> Routine:
    r = Routine("wb_bulk_commit", "ptr ctx, i32 mask")
    queue = queue_of(r)
    with r.each(r["mask"]) as lane:
        place = r.at(queue, (((r.slot("warp") << 5) + lane) << 2) + BULK["committed"])
        r.store(place, r.load(place, "i32", 4) + 1, 4)
    return r


def _wait() -> Routine:
    """Complete all groups of each lane of `mask` but its latest `pending` committed ones."""
    r = Routine("wb_bulk_wait", "ptr ctx, i32 mask, i32 pending")
    queue = queue_of(r)
    warp = r.slot("warp")
    head, tail = (r.load(r.at(queue, BULK[name]), "i64", 8) for name in ("head", "tail"))
    with r.count_to(tail, head) as number:
        entry = entry_at(r, queue, number)
        thread = entry_field(r, entry, "thread")
        mine = (thread >> 5).eq(warp) & ((r["mask"] >> (thread & 31).to("i32")) & 1).ne(0)
        with r.when(mine & (entry_field(r, entry, "kind") & STORES).ne(0)):
            committed = r.load(r.at(queue, (thread << 2) + BULK["committed"]), "i32", 4)
            first = (committed - r["pending"]).to("i64", signed=True)
            with r.when(entry_field(r, entry, "group").below(first, signed=True)):
                r.call("void", "finish_bulk", r["ctx"], entry)
    r.call("void", "drop_bulk", queue)
    return r


def _note_wait() -> Routine:
    """Note the phase of an mbarrier that the running warp waits for: offset, parity and 1 (`unseen`), or 0 for none."""
    r = Routine("note_wait", "ptr ctx, i64 waits")
    queue, now = own_queue(r), r.load(r.at(queue_of(r), BULK["round"]), "i64", 8)
    for name, value in (("waits", r["waits"]), ("tested", now)):
        r.store(r.at(queue, QUEUE[name]), value, 8)
    return r


def _unseen() -> Routine:
    """Whether another warp waits for a phase of an mbarrier that is over, and has had no time slice since."""
    r = Routine("unseen", "ptr ctx, i32 offset", "i1")
    block, now = r.slot("block") + 1, r.load(r.at(queue_of(r), BULK["round"]), "i64", 8)
    place = r.call("ptr", "barrier_at", r["ctx"], r.i64(0), r.i64(0), r["offset"])
    before = r.load(place, "i64", 8) >> BARRIER_FIELD["phase"] & 1 ^ 1
    behind = r["offset"].to("i64") << 2 | before << 1 | 1
    with r.count_to(r.slot("warps")) as warp:
        queue = warp_queue(r, warp)
        waits, tested = (r.load(r.at(queue, QUEUE[name]), "i64", 8) for name in ("waits", "tested"))
        fresh = r.load(r.at(queue, QUEUE["owner"]), "i64", 8).eq(block) & (tested + 2).above(now)
        with r.when(fresh & waits.eq(behind) & warp.ne(r.slot("warp"))):
            r.give(r.number("i1", 1))
    r.give(r.number("i1", 0))
    return r


def _complete_for() -> Routine:
    """The loads and commits that an mbarrier of the block waits for, whichever blocks of its cluster issued them.

    They take time on a GPU, in which threads that wait see the phase before. So a commit stays in flight until the next
    round, and everything does while a warp has yet to see that the phase it waits for is over.
    """
    r = Routine("complete_bulk_for", "ptr ctx, i32 offset")
    early = r.call("i1", "unseen", r["ctx"], r["offset"])
    barrier = r.call("i64", "cluster_address", r["ctx"], r["offset"].to("i64"))
    with r.count_to(r.slot("cluster")) as rank:
        block = record(r, rank)
        queue = field(r, block, "copies").to("ptr")
        with r.when(r.load(queue, "i64", 8).eq(field(r, block, "block") + 1)):
            head, tail = (r.load(r.at(queue, BULK[name]), "i64", 8) for name in ("head", "tail"))
            now = r.at(queue, BULK["round"])
            with r.count_to(tail, head) as number:
                entry = entry_at(r, queue, number)
                kind = entry_field(r, entry, "kind")
                here = entry_field(r, entry, "barrier").eq(barrier) & (kind & STORES).eq(0)
                here = here & entry_field(r, entry, "open").ne(0)
                young = (kind & COMMIT).ne(0) & entry_field(r, entry, "group").eq(r.load(now, "i64", 8))
                with r.when(here & (early | young)):
                    r.set_slot("barrier_events", 1)
                with r.when(here & ((early | young) ^ 1)):
                    r.call("void", "finish_bulk", r["ctx"], entry)
            r.call("void", "drop_bulk", queue)
    return r


def _end() -> Routine:
    """At the end of a block: make the stores that no thread has waited for, as they were issued."""
    r = Routine("end_bulk", "ptr ctx")
    with r.when(r.slot("copies").eq(0)):
        r.give()
    queue = r.slot("copies", "ptr")
    with r.when(r.load(queue, "i64", 8).ne(r.slot("block") + 1)):
        r.give()
    head, tail = (r.load(r.at(queue, BULK[name]), "i64", 8) for name in ("head", "tail"))
    with r.count_to(tail, head) as number:
        entry = entry_at(r, queue, number)
        stores = (entry_field(r, entry, "kind") & STORES).ne(0)
        with r.when(stores & entry_field(r, entry, "open").ne(0)):
            r.call("void", "wb_s_bulk", r["ctx"], entry.to("i64"), r.i64(LEFT))
            r.call("void", "finish_bulk", r["ctx"], entry)
    return r


def source() -> str:
    routines = (_next_round(), _finish(), _drop(), _commit(), _wait(), _note_wait(), _unseen(), _complete_for(), _end())
    return "".join(map(str, routines))

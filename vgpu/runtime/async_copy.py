"""`cp.async`: copies from global to shared memory that are checked and queued when issued, and made when waited for.

A GPU may make such a copy at any time between its issue and the wait for it. Here none is made before: a kernel that
forgets the wait reads what shared memory held before, on every run. Each warp has a queue; each of its lanes has its
own count of committed groups, since threads commit and wait one by one.

Rules: NVIDIA "PTX ISA", data movement and conversion instructions, asynchronous copy.
"""

from __future__ import annotations

from vgpu.base.context import COPIES, ENTRY, ENTRY_BYTES, QUEUE, QUEUE_BYTES, QUEUE_ENTRIES
from vgpu.ir.value import V32, V64, Value
from vgpu.runtime.write import Routine


def warp_queue(r: Routine, warp: Value) -> Value:
    """A pointer to the queue of a warp."""
    return r.at(r.slot("copies", "ptr"), warp * QUEUE_BYTES + COPIES)


def own_queue(r: Routine) -> Value:
    """The queue of the running warp, emptied if what stands in it belongs to a block before this one."""
    queue = warp_queue(r, r.slot("warp"))
    block = r.slot("block") + 1
    owner = r.at(queue, QUEUE["owner"])
    with r.when(r.load(owner, "i64", 8).ne(block)):
        r.fill(queue, 0, QUEUE["entries"])
        r.store(owner, block, 8)
    return queue


def entry_at(r: Routine, queue: Value, number: Value) -> Value:
    return r.at(queue, number % QUEUE_ENTRIES * ENTRY_BYTES + QUEUE["entries"])


def _advance() -> Routine:
    """Drop the finished entries at the head of a queue."""
    r = Routine("drop_finished", "ptr queue")
    head_at = r.at(r["queue"], QUEUE["head"])
    tail = r.load(r.at(r["queue"], QUEUE["tail"]), "i64", 8)
    with r.repeat() as stop:
        head = r.load(head_at, "i64", 8)
        stop(head.eq(tail))
        lanes = r.load(r.at(entry_at(r, r["queue"], head), ENTRY["lanes"]), "i32", 4)
        stop(lanes.ne(0))
        r.store(head_at, head + 1, 8)
    return r


def _finish() -> Routine:
    """Do what an entry stands for, for some of its lanes: copy and fill with zeros, or arrive at an mbarrier."""
    r = Routine("finish_copy", "ptr ctx, ptr entry, i32 lanes")
    entry = r["entry"]
    lanes_at = r.at(entry, ENTRY["lanes"])
    lanes = r.load(lanes_at, "i32", 4)
    r.store(lanes_at, lanes & ~r["lanes"], 4)
    mine = lanes & r["lanes"]
    size = r.load(r.at(entry, ENTRY["size"]), "i32", 4)
    with r.when(size.eq(0)):
        with r.each(mine) as lane:
            barrier = r.load(r.at(entry, lane * 4 + ENTRY["targets"]), "i32", 4)
            site = r.load(r.at(entry, ENTRY["site"]), "i64", 8)
            r.call("void", "arrive_later", r["ctx"], site, lane, barrier)
        r.call("void", "wb_s_arrived", r["ctx"], entry.to("i64"), mine.to("i64"))
        r.give()
    r.call("void", "wb_s_landed", r["ctx"], entry, mine)
    shared = r.slot("shared_base", "ptr")
    with r.each(mine) as lane:
        source = r.load(r.at(entry, lane * 8 + ENTRY["sources"]), "i64", 8)
        target = r.at(shared, r.load(r.at(entry, lane * 4 + ENTRY["targets"]), "i32", 4))
        take = r.load(r.at(entry, lane * 4 + ENTRY["takes"]), "i32", 4)
        with r.when(take.eq(16)):
            r.store(target, r.load(source.to("ptr"), "i128", 1), 1)
        with r.when(take.ne(16)):
            r.copy(target, source.to("ptr"), take)
            r.fill(r.at(target, take), 0, size - take)
    return r


def _enqueue() -> Routine:
    """A fresh entry at the tail; a full queue first completes its oldest one, which a GPU may do as well."""
    r = Routine("new_entry", "ptr ctx, ptr queue", "ptr")
    queue = r["queue"]
    tail_at = r.at(queue, QUEUE["tail"])
    tail = r.load(tail_at, "i64", 8)
    head = r.load(r.at(queue, QUEUE["head"]), "i64", 8)
    with r.when((tail - head).eq(QUEUE_ENTRIES)):
        r.call("void", "finish_copy", r["ctx"], entry_at(r, queue, head), r.number("i32", -1))
        r.call("void", "drop_finished", queue)
    r.store(tail_at, tail + 1, 8)
    r.give(entry_at(r, queue, tail))
    return r


def _check(letter: str) -> Routine:
    """The lanes of `mask` that may copy: `takes` are the bytes that each reads of the `size` it writes.

    Lanes that may not are reported. `tail` is a site that counts nothing.
    """
    r = Routine(
        f"wb_{letter}_copy_check",
        f"ptr ctx, ptr from, ptr into, ptr tail, {V64} sources, {V32} targets, i32 mask, i32 size, {V32} takes", "i32",
    )  # fmt: skip
    ctx, size = r["ctx"], r["size"]
    good = r.variable("i32", r["mask"])
    load, store, one = (r.number("i32", n) for n in (0, 1, 1))

    def stop(code: str, lanes: Value, shown: Value) -> None:
        with r.when(lanes.ne(0)):
            site = r.call("i64", "site_id", ctx, r["from"])
            r.fail(code, site, lanes, shown)
            good.set(good.get() & ~lanes)

    def ask(function: str, *arguments: Value) -> None:
        """Lanes that are asked for and not among the answer drop out."""
        lanes = arguments[2]
        answer = r.call("i64", function, ctx, *arguments).to("i32")
        good.set(good.get() & ~(lanes & ~answer))

    stop("copy_size", r["takes"].above(size).bits() & r["mask"], r["takes"].to(V64))
    reading = r["takes"].ne(0).bits() & good.get()
    whole = (r["takes"].ne(size).bits() & reading).eq(0)
    with r.when(whole), r.when(reading.ne(0)):
        ask(f"wb_{letter}_global", r["from"], r["sources"], reading, size, load)
    with r.when(whole ^ 1):
        # A lane that takes less than the size may stand less than the size before the end of its array: its first
        # and its last byte are looked up. All its bytes lie in one sector, since the source is aligned to the size.
        odd = (r["sources"] & (size - 1).to("i64")).ne(0).bits() & reading
        stop("alignment", odd, r["sources"])
        ask(f"wb_{letter}_global", r["from"], r["sources"], reading & ~odd, one, load)
        last = r["sources"] + (r["takes"] - 1).to(V64)
        ask("wb_p_global", r["tail"], last, reading & good.get(), one, load)
    with r.when(good.get().ne(0)):
        ask(f"wb_{letter}_shared", r["into"], r["targets"], good.get(), size, store)
    r.give(good.get())
    return r


def _issue() -> Routine:
    """Queue the copies of lanes that have been checked."""
    r = Routine("wb_copy_issue", f"ptr ctx, {V64} sources, {V32} targets, i32 lanes, i32 size, {V32} takes")
    with r.when(r["lanes"].ne(0)):
        queue = own_queue(r)
        entry = r.call("ptr", "new_entry", r["ctx"], queue)
        for name in ("sources", "targets", "takes"):
            r.store(r.at(entry, ENTRY[name]), r[name], 64)
        r.store(r.at(entry, ENTRY["groups"]), r.load(r.at(queue, QUEUE["committed"]), V32, 64), 64)
        r.store(r.at(entry, ENTRY["lanes"]), r["lanes"], 4)
        r.store(r.at(entry, ENTRY["size"]), r["size"], 4)
    return r


def _commit() -> Routine:
    """The lanes of `mask` close their group: what they issue from now on belongs to the next."""
    r = Routine("wb_copy_commit", "ptr ctx, i32 mask")
    place = r.at(own_queue(r), QUEUE["committed"])
    committed = r.load(place, V32, 64)
    r.store(place, r["mask"].lanes().select(committed + 1, committed), 64)
    return r


def _wait() -> Routine:
    """Complete all groups of the lanes of `mask` but the latest `pending` committed ones."""
    r = Routine("wb_copy_wait", "ptr ctx, i32 mask, i32 pending")
    queue = own_queue(r)
    committed = r.load(r.at(queue, QUEUE["committed"]), V32, 64)
    first = committed - r["pending"]
    head, tail = (r.load(r.at(queue, QUEUE[name]), "i64", 8) for name in ("head", "tail"))
    with r.count_to(tail, head) as number:
        entry = entry_at(r, queue, number)
        groups = r.load(r.at(entry, ENTRY["groups"]), V32, 64)
        # The arrivals among the entries are made when a thread looks at their mbarrier.
        copies = r.load(r.at(entry, ENTRY["size"]), "i32", 4).ne(0)
        ready = copies.select(groups.below(first, signed=True).bits() & r["mask"], 0)
        with r.when(ready.ne(0)):
            r.call("void", "finish_copy", r["ctx"], entry, ready)
    r.call("void", "drop_finished", queue)
    return r


def source() -> str:
    routines = (_advance(), _finish(), _enqueue(), _check("c"), _check("p"), _issue(), _commit(), _wait())
    return "".join(map(str, routines))

"""What the runtime counts and looks up: allocations, sectors, wavefronts, touched memory.

Rules (NVIDIA "CUDA C++ Programming Guide", device memory accesses and shared memory): a global request moves
32-byte sectors, each counted once; shared memory has 32 banks of 4 bytes, a request needs as many wavefronts as the
fullest bank has distinct words, and 8- and 16-byte accesses are served in 2 and 4 parts (`vgpu/storage/banks.py` lays
the wavefronts out).
"""

from __future__ import annotations

from vgpu.ir.value import V32, V64, Value
from vgpu.runtime.write import Routine
from vgpu.storage.banks import BANK_BYTES, BANKS

SHARED, LOCAL, REMOTE = 1, 2, 3  # what a site keeps of the space of its last address; 0 is global memory


def touched(r: Routine, write: Value) -> Value:
    """Where the site's allocation begins in the map of sectors read, or written (also atomics)."""
    reads, writes = r.slot("reads", "ptr"), r.slot("writes", "ptr")
    return r.at(write.ne(0).select(writes, reads), r.known("touch"))


def place(name: str, offsets: str, in_heap: str) -> Routine:
    """Whether `size` bytes at an address lie in one allocation; the site keeps which.

    Done when a site leaves the allocation it used last. Shared and local memory are windows of the generic address
    space, the heap has its own tables, and all else is found by a binary search over the sorted table of allocations.
    An access that `writes` finds no room in constant memory. `offsets` is the slot of a table that says where the map of each allocation begins; `in_heap` looks the heap up.
    """
    r = Routine(name, "ptr ctx, ptr site, i64 addr, i64 size, i1 writes", "i1")
    addr, no = r["addr"], r.number("i1", 0)
    base, nbytes, space, touch = found = [r.variable("i64", 0) for _ in range(4)]
    with r.once() as leave:

        def window(number: int, start: Value, length: Value) -> None:
            with r.when((addr - start).below(length)):
                values: tuple[Value | int, ...] = (start, length, number, 0)
                for variable, value in zip(found, values, strict=True):
                    variable.set(value)
                leave()

        window(SHARED, r.slot("shared_base"), r.slot("shared_bytes"))
        window(LOCAL, r.slot("local_base"), r.slot("local_bytes") * (r.slot("warps") << 5))
        with r.when((addr - r.slot("heap")).below(r.slot("heap_bytes"))):
            r.pass_on(in_heap)
        starts, ends = (
            r.slot("starts", "ptr"),
            r["writes"].select(r.slot("writable_ends", "ptr"), r.slot("ends", "ptr")),
        )
        low, high = r.variable("i64", 0), r.variable("i64", r.slot("allocations"))
        with r.repeat() as stop:
            stop(low.get().reaches(high.get()))
            middle = low.get() + high.get() >> 1
            after = r.load(r.at(starts, middle, "i64"), "i64", 8).above(addr)
            low.set(after.select(low.get(), middle + 1))
            high.set(after.select(middle, high.get()))
        with r.when(low.get().ne(0)):
            index = low.get() - 1
            base.set(r.load(r.at(starts, index, "i64"), "i64", 8))
            nbytes.set(r.load(r.at(ends, index, "i64"), "i64", 8) - base.get())
            with r.when((addr - base.get()).below(nbytes.get())):
                touch.set(r.load(r.at(r.slot(offsets, "ptr"), index, "i64"), "i64", 8))
                leave()
        with r.count_to(r.slot("cluster"), 1) as other:  # without clusters, never
            rank = (r.slot("resident_slot") + other) % r.slot("cluster")
            start = r.call("i64", "shared_of_rank", r["ctx"], rank)
            with r.when(start.above(0, signed=True)):  # it is somewhere
                window(REMOTE, start, r.slot("shared_bytes"))
        r.give(no)
    with r.when(nbytes.get().below(r["size"])):
        r.give(no)
    span = nbytes.get() - r["size"]
    r.set_site(base=base.get(), span=span, space=space.get(), touch=touch.get(), mask=-1)
    r.give(span.reaches(addr - base.get()))
    return r


def _first_lanes() -> Routine:
    """The active lanes whose key no lower lane has."""
    r = Routine("first_lanes", f"{V64} keys, i32 mask", "i32")
    firsts = r.variable("i32", 0)
    with r.each_group(r["keys"], r["mask"]) as (_, _, lane):
        firsts.set(firsts.get() | lane.bit())
    r.give(firsts.get())
    return r


def _distinct() -> Routine:
    """The number of distinct keys of the active lanes."""
    r = Routine("distinct", f"{V64} keys, i32 mask", "i32", words="")
    r.give(r.many(r.call("i32", "first_lanes", r["keys"], r["mask"])))
    return r


def _words(r: Routine, size: Value) -> Value:
    """How many words of 4 bytes an element has; a smaller one is served as one."""
    return r.call("i32", "llvm.umax.i32", size // BANK_BYTES, r.number("i32", 1))


def _wavefronts() -> Routine:
    """Wavefronts of one request: the sum, over the parts of the warp that are served together, of the largest number of
    distinct words in one bank. With `every` set (atomics) equal words count too, since their updates follow one another.
    """
    r = Routine("wavefronts", f"{V32} offsets, i32 mask, i32 size, i32 every", "i32")
    words, counts = _words(r, r["size"]), r.room(f"[{BANKS} x i8]")
    lanes, numbers = r.number("i32", 32) // words, r["offsets"] >> 2
    places, total = r.spread(numbers), r.variable("i32", 0)
    with r.count_to(words) as part:
        served = r.variable("i32", r["mask"] & (r.number("i32", 0xFFFFFFFF) >> 32 - lanes << part * lanes))
        with r.when(r["every"].eq(0)):
            served.set(r.call("i32", "first_lanes", numbers.to("i64"), served.get()))
        r.fill(counts, 0, BANKS)
        most = r.variable("i8", 0)
        with r.each(served.get()) as lane:
            first = r.load(r.at(places, lane, "i32"), "i32", 4)
            with r.count_to(words) as index:
                place = r.at(counts, first + index & BANKS - 1)
                have = r.load(place, "i8") + 1
                r.store(place, have, 1)
                most.set(r.call("i8", "llvm.umax.i8", most.get(), have))
        total.add(most.get().to("i32"))
    r.give(total.get())
    return r


def _touch() -> Routine:
    """Mark the sectors of lanes in a map of bytes: distinct ones are counted at the end."""
    r = Routine("touch", f"ptr ctx, ptr site, {V64} offsets, i32 mask, i32 write")
    area = touched(r, r["write"])
    sectors = r.spread(r["offsets"] >> 5)  # in memory, since LLVM makes 32 tests of a scatter of bytes
    with r.each(r["mask"]) as lane:
        r.store(r.at(area, r.load(r.at(sectors, lane, "i64"), "i64", 8)), r.number("i8", 1))
    return r


def _local_sectors() -> Routine:
    """Sectors of a request to local memory, `within` being byte offsets within each thread's own area.

    It is laid out so that the same word of the 32 lanes is contiguous, as on a GPU: a request for the same variable is
    coalesced.
    """
    r = Routine("local_sectors", f"{V64} within, i32 mask, i32 size", "i32", words="")
    keys = (r["within"] >> 2 << 2) + r.each_lane("i64", [lane // 8 for lane in range(32)])
    r.give(r.call("i32", "distinct", keys, r["mask"]) * _words(r, r["size"]))
    return r


def source() -> str:
    looked_up = place("place", "touch_offsets", "place_in_heap")
    return f"{looked_up}{_first_lanes()}{_distinct()}{_wavefronts()}{_touch()}{_local_sectors()}"

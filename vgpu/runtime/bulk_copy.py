"""Bulk copies (`cp.async.bulk`): checked and queued when issued, made when their mbarrier or group is waited for.

A load tells its mbarrier how many bytes have come; a store belongs to a group of the thread that issued it, and happens
when that thread waits for the group (also for its reading only, `.read`). Stores without a wait are lost with
the block, as are loads. Ordinary stores to shared memory are seen by bulk copies without `fence.proxy.async`, while a
GPU may then copy old data: `sanitize` names the missing fence.

Rules: NVIDIA "PTX ISA", asynchronous copy, bulk copies and tensors (tiled mode, im2col mode, swizzling).
"""

from __future__ import annotations

from vgpu.base.context import (
    BULK,
    BULK_ENTRIES,
    BULK_ENTRY,
    BULK_ENTRY_BYTES,
    BULK_REQUEST,
    COLUMNS,
    FILL_NAN,
    IM2COL,
    LOADS,
    MULTICAST,
    NEAR,
    SITE_SLOT,
    STORES,
    TENSOR,
    TENSOR_BYTES,
    TENSOR_MAP,
    TENSOR_MARK,
)
from vgpu.ir.value import V32, V64, Value, vector
from vgpu.runtime.cluster import RANK_SHIFT, field, record
from vgpu.runtime.mbarrier import fault
from vgpu.runtime.write import Routine
from vgpu.storage.tensor_map import CORNERS

AXES = 5
MOST_BLOCKS = 16  # that a multicast may name


def _queue(r: Routine) -> Value:
    """The block's queue, emptied if what stands in it belongs to a block before this one."""
    queue = r.slot("copies", "ptr")
    block = r.slot("block") + 1
    with r.when(r.load(queue, "i64", 8).ne(block)):
        r.fill(queue, 0, BULK["entries"])
        r.store(queue, block, 8)
    return queue


def _entry(r: Routine, queue: Value, number: Value) -> Value:
    return r.at(queue, number % BULK_ENTRIES * BULK_ENTRY_BYTES + BULK["entries"])


def _field(r: Routine, entry: Value, name: str) -> Value:
    return r.load(r.at(entry, BULK_ENTRY[name]), "i64", 8)


# ---------------------------------------------------------------- making the copies


def _mark() -> Routine:
    """The sectors of a run of global memory count as read or written."""
    r = Routine("mark_run", "ptr ctx, ptr site, i64 address, i64 bytes, i64 writes")
    with r.when(r.slot("reads").eq(0) | r["bytes"].eq(0)):
        r.give()
    known = r.call("i1", "place", r["ctx"], r["site"], r["address"], r["bytes"], r["writes"].ne(0))
    space = r.load(r.at(r["site"], 8 * SITE_SLOT["space"]), "i64", 8)
    with r.when(known & space.eq(0)):
        base, touch = (r.load(r.at(r["site"], 8 * SITE_SLOT[name]), "i64", 8) for name in ("base", "touch"))
        chart = r["writes"].ne(0).select(r.slot("writes"), r.slot("reads"))
        first = (r["address"] - base) >> 5
        last = (r["address"] - base + r["bytes"] - 1) >> 5
        r.fill(r.at((chart + touch).to("ptr"), first), 1, last - first + 1)
    return r


def _reduce(bits: int) -> Routine:
    """Combine `count` elements that lie in a row with those at `target`, 32 at a time as an atomic does."""
    r = Routine(f"reduce_run{bits}", "ptr function, i64 target, i64 source, i64 count")
    lanes = vector(f"i{bits}")
    buffer = r.spread(r.number(lanes, 0))
    places = r.spread(r.number(V64, 0))
    with r.count_to((r["count"] + 31) >> 5) as part:
        start = part << 5
        left = r["count"] - start
        many = left.above(32).select(r.number("i64", 32), left)
        r.copy(buffer, (r["source"] + start * (bits // 8)).to("ptr"), many * (bits // 8))
        with r.count_to(many) as lane:
            r.store(r.at(places, lane << 3), r["target"] + (start + lane) * (bits // 8), 8)
        full = r.number("i32", -1) >> (r.number("i64", 32) - many).to("i32")
        values, where = r.load(buffer, lanes, 64), r.load(places, V64, 64)
        r.call(lanes, r["function"], where, values, full)
    return r


def _move() -> Routine:
    """One run of bytes between global and shared memory, in the direction and with the reduction of an entry."""
    r = Routine("move_run", "ptr ctx, ptr entry, i64 remote, i64 shared, i64 bytes, i64 element")
    shared = r["shared"]
    kind, function = _field(r, r["entry"], "kind") & 1, _field(r, r["entry"], "reduce")
    with r.when(kind.eq(LOADS)):
        r.copy(shared.to("ptr"), r["remote"].to("ptr"), r["bytes"])
        r.give()
    with r.when(function.eq(0)):
        r.copy(r["remote"].to("ptr"), shared.to("ptr"), r["bytes"])
        r.give()
    for bits in (16, 32, 64):
        with r.when(r["element"].eq(bits // 8)):
            count = r["bytes"] // (bits // 8)
            r.call("void", f"reduce_run{bits}", function.to("ptr"), r["remote"], shared, count)
    return r


def _axis(r: Routine, map_: Value, name: str, axis: int) -> Value:
    nbytes = 8 if name == "strides" else 4
    return r.load(r.at(map_, TENSOR_MAP[name] + nbytes * axis), f"i{8 * nbytes}", 1).to("i64")


def _count(r: Routine, map_: Value, axis: int) -> Value:
    """The elements of a box along an axis that are copied."""
    step = _axis(r, map_, "steps", axis) if axis else r.number("i64", 1)
    return (_axis(r, map_, "box", axis) + step - 1) // step


def _extent(r: Routine, map_: Value, columns: Value) -> tuple[Value, Value]:
    """The elements of a row of a box and the number of rows; `columns`: channels and pixels of im2col mode."""
    channels, pixels = (_axis(r, map_, "box", axis) for axis in (0, 1))
    rows = r.number("i64", 1)
    for axis in range(1, AXES):
        rows = rows * _count(r, map_, axis)
    return channels, columns.select(pixels, rows)


def _corners(r: Routine, map_: Value, axis: int) -> tuple[Value, Value]:
    """The lower and the upper corner of an axis in im2col mode, relative to its first and its last element."""
    both = r.load(r.at(map_, TENSOR_MAP["box"] + 4 * (axis + 1)), "i32", 1)
    return (both << 16).ashr(16).to("i64", signed=True), both.ashr(16).to("i64", signed=True)


def _pixel(r: Routine, map_: Value, starts: list[Value], number: Value, places: list[Value]) -> None:
    """Write the coordinates of a pixel of im2col mode ("PTX ISA", im2col mode).

    From the copy's coordinates pixels go on by the step along W, from the upper corner to the lower one of the next
    row, and so on along H, D and N. To each the shifts of W, H and D are added.
    """
    rank = r.load(r.at(map_, TENSOR_MAP["rank"]), "i32", 1).to("i64")
    shifts = _field(r, r["entry"], "shifts")
    rest = r.variable("i64", number)
    for axis in range(1, AXES):
        within, last = rank.above(axis + 1), rank.eq(axis + 1)
        turn = rest.get()
        if axis + 1 < AXES:
            lower, upper = _corners(r, map_, axis)
            step, end = _axis(r, map_, "steps", axis), _axis(r, map_, "sizes", axis) - 1 + upper
            begun = end.below(starts[axis], signed=True).select(r.number("i64", 1), (end - starts[axis]) // step + 1)
            whole = within.select((end - lower) // step + 1, r.number("i64", 1))
            first, later = turn.below(begun), turn - begun
            at = first.select(starts[axis] + turn * step, lower + later % whole * step)
            at = at + (shifts >> 16 * (axis - 1) & 0xFFFF)
            carry = first.select(r.number("i64", 0), later // whole + 1)
            r.store(places[axis], within.select(at, last.select(starts[axis] + turn, r.number("i64", 0))), 8)
            rest.set(within.select(carry, turn))
        else:
            r.store(places[axis], last.select(starts[axis] + turn, r.number("i64", 0)), 8)


def _tensor() -> Routine:
    """A box of a tensor, row by row: what lies outside the tensor comes as zeros or NaN and is not written.

    In im2col mode a row is a pixel.
    """
    r = Routine("move_tensor", "ptr ctx, ptr entry, i64 shared")
    map_ = r.at(r["entry"], BULK_ENTRY["map"])
    site = _field(r, r["entry"], "site").to("ptr")
    element = r.load(r.at(map_, TENSOR_MAP["element"]), "i32", 1).to("i64")
    swizzle = r.load(r.at(map_, TENSOR_MAP["swizzle"]), "i32", 1).to("i64")
    # Rows of 32, 64 or 128 bytes: the number of a 16-byte piece takes the number of its 128-byte line into account.
    twist = swizzle.eq(0).select(r.number("i64", 0), (swizzle - 16) & 0x70)
    kind = _field(r, r["entry"], "kind")
    stores, columns = kind & STORES, (kind & IM2COL).ne(0)
    shared = r["shared"]  # a multiple of 1024 lies before shared memory, so that swizzling may take it for an offset
    starts = [r.load(r.at(r["entry"], BULK_ENTRY["coordinates"] + 8 * axis), "i64", 8) for axis in range(AXES)]
    mode = r.load(r.at(map_, TENSOR_MAP["mode"]), "i32", 1)
    outside = (mode & FILL_NAN).ne(0).select(r.number("i8", -1), r.number("i8", 0))
    row, rows = _extent(r, map_, columns)
    none = r.number("i64", 0)
    low = starts[0].below(0, signed=True).select(none - starts[0], none)
    beyond = _axis(r, map_, "sizes", 0) - starts[0]
    high = beyond.below(row, signed=True).select(beyond, row)
    empty = low.below(high, signed=True) ^ 1
    high = empty.select(low, high)
    places = [r.room("i64") for _ in range(AXES)]
    with r.count_to(rows) as number:
        with r.when(columns):
            _pixel(r, map_, starts, number, places)
        with r.when(columns ^ 1):
            rest = number
            for axis in range(1, AXES):
                count = _count(r, map_, axis)
                r.store(places[axis], starts[axis] + rest % count * _axis(r, map_, "steps", axis), 8)
                rest = rest // count
        inside, address = r.variable("i1", 1), r.variable("i64", r.load(r.at(map_, TENSOR_MAP["address"]), "i64", 1))
        for axis in range(1, AXES):
            at = r.load(places[axis], "i64", 8)
            inside.set(inside.get() & at.below(_axis(r, map_, "sizes", axis)))
            address.add(at * _axis(r, map_, "strides", axis))
        offset = shared + number * row * element
        with r.when(stores.eq(0)):
            r.fill(offset.to("ptr"), outside, row * element)
        with r.when(inside.get() & (empty ^ 1)):
            remote = address.get() + starts[0] * element
            first, last = low * element, high * element
            r.call("void", "mark_run", r["ctx"], site, remote + first, last - first, stores)
            with r.when(twist.eq(0)):
                r.call("void", "move_run", r["ctx"], r["entry"], remote + first, offset + first, last - first, element)
            with r.when(twist.ne(0)):
                done = r.variable("i64", first)
                with r.repeat() as stop:
                    now = done.get()
                    stop(now.below(last) ^ 1)
                    # As far as the end of the 16-byte piece, or of the row.
                    following = (now + 16) & -16
                    end = following.below(last).select(following, last)
                    place = offset + now
                    place = place ^ (place >> 3 & twist)
                    r.call("void", "move_run", r["ctx"], r["entry"], remote + now, place, end - now, element)
                    done.set(end)
    return r


def _finish() -> Routine:
    r = Routine("finish_bulk", "ptr ctx, ptr entry")
    entry = r["entry"]
    with r.when(_field(r, entry, "open").eq(0)):
        r.give()
    r.store(r.at(entry, BULK_ENTRY["open"]), r.number("i64", 0), 8)
    kind, nbytes = _field(r, entry, "kind"), _field(r, entry, "bytes")
    number = r.call("i64", "site_id", r["ctx"], _field(r, entry, "site").to("ptr"))
    shared = r.call("i64", "in_cluster", r["ctx"], _field(r, entry, "offset").to("i32"))
    with r.when(shared.below(0, signed=True)):  # the block has ended
        fault(r, "bounds", number + 1, _field(r, entry, "thread") & 31, shared)
        r.give()
    with r.when((kind & TENSOR).ne(0)):
        r.call("void", "move_tensor", r["ctx"], entry, shared)
    with r.when((kind & TENSOR).eq(0)):
        # For a plain copy the first "coordinate" is the size of its elements.
        element = _field(r, entry, "coordinates")
        remote = _field(r, entry, "remote")
        site = _field(r, entry, "site").to("ptr")
        r.call("void", "mark_run", r["ctx"], site, remote, nbytes, kind & STORES)
        r.call("void", "move_run", r["ctx"], entry, remote, shared, nbytes, element)
    r.call("void", "wb_s_bulk", r["ctx"], entry.to("i64"), r.number("i64", 1))
    with r.when((kind & STORES).eq(0)):
        thread, barrier = _field(r, entry, "thread"), _field(r, entry, "barrier").to("i32")
        none = r.number("i64", 0)
        r.call("i64", "barrier_update", r["ctx"], number, thread & 31, barrier, none, none - nbytes, r.number("i32", 0))
    return r


def _drop() -> Routine:
    """Drop the finished entries at the head of the queue."""
    r = Routine("drop_bulk", "ptr queue")
    head_at = r.at(r["queue"], BULK["head"])
    tail = r.load(r.at(r["queue"], BULK["tail"]), "i64", 8)
    with r.repeat() as stop:
        head = r.load(head_at, "i64", 8)
        stop(head.eq(tail))
        stop(_field(r, _entry(r, r["queue"], head), "open").ne(0))
        r.store(head_at, head + 1, 8)
    return r


# ---------------------------------------------------------------- instructions


def _outside(r: Routine, nbytes: Value) -> Value:
    """Whether so many bytes from the offset on don't lie in the shared memory of a block that runs."""
    start = r["offset"] & (1 << RANK_SHIFT) - 1
    beyond = (start + nbytes).above(r.slot("shared_bytes"))
    return beyond | r.call("i64", "in_cluster", r["ctx"], r["offset"].to("i32")).below(0, signed=True)


def _check_run() -> Routine:
    """Bounds and alignment of a plain copy on both sides; 0 after reporting a fault."""
    r = Routine("check_bulk", "ptr ctx, i64 id, ptr site, i64 lane, i64 remote, i64 offset, i64 bytes, i64 kind", "i1")
    writes = (r["kind"] & STORES).ne(0)

    def inside(nbytes: Value) -> Value:  # one array of global memory, or the block's shared memory
        within, have = r["remote"] - r.slot("shared_base"), r.slot("shared_bytes")
        near = within.below(have) & ((within + nbytes).above(have) ^ 1)
        placed = r.call("i1", "place", r["ctx"], r["site"], r["remote"], nbytes, writes)
        return (r["kind"] & NEAR).ne(0).select(near, placed & r.known("space").eq(0))

    no = r.number("i1", 0)
    with r.when((r["bytes"] & 15).ne(0)):
        fault(r, "bulk_size", r["id"], r["lane"], r["bytes"])
        r.give(no)
    for side in ("remote", "offset"):
        with r.when((r[side] & 15).ne(0)):
            fault(r, "bulk_alignment", r["id"], r["lane"], r[side] & 15)
            r.give(no)
    # The site is that of the global side; the one of the shared side follows it.
    with r.when(_outside(r, r["bytes"])):
        fault(r, "bounds", r["id"] + 1, r["lane"], r["offset"])
        r.give(no)
    with r.when(r["bytes"].ne(0)), r.when(inside(r["bytes"]) ^ 1):
        wrong = inside(r.number("i64", 1)).select(r["remote"] + r["bytes"] - 1, r["remote"])
        fault(r, "bounds", r["id"], r["lane"], wrong)
        r.give(no)
    r.give(r.number("i1", 1))
    return r


def _sound() -> Routine:
    """Whether a private copy of a tensor map holds what `tensor_map` lets through, for so many dimensions and a mode.

    Past here no sum or product of its fields wraps: strides times sizes stay below 2^46, boxes below 2^43 bytes.
    """
    r = Routine("sound_map", "ptr map, i64 rank, i1 columns", "i1")
    map_, rank = r["map"], r["rank"]
    field = lambda name: r.load(r.at(map_, TENSOR_MAP[name]), "i32", 1).to("i64")
    element = field("element")
    swizzle, columns = field("swizzle"), r["columns"]
    address = r.load(r.at(map_, TENSOR_MAP["address"]), "i64", 1)
    wrong = [r.load(map_, "i64", 1).ne(TENSOR_MARK), field("rank").ne(rank), (rank - 1).above(AXES - 1)]
    wrong += [(field("mode") & ~FILL_NAN).ne(columns.select(r.number("i64", COLUMNS), 0)), columns & rank.below(3)]
    wrong += [element.ne(1) & element.ne(2) & element.ne(4) & element.ne(8), (address & 15).ne(0)]
    wrong += [swizzle.ne(0) & swizzle.ne(32) & swizzle.ne(64) & swizzle.ne(128)]
    for axis in range(AXES):
        size, stride, box = (_axis(r, map_, name, axis) for name in ("sizes", "strides", "box"))
        step = _axis(r, map_, "steps", axis) if axis else r.number("i64", 1)
        most = columns.select(r.number("i64", 1023), r.number("i64", 255)) if axis == 1 else 255
        corner = columns if axis > 1 else r.number("i1", 0)
        wrong += [size.eq(0), (box - 1).above(most) & (corner ^ 1), (step - 1).above(7)]
        if 0 < axis < AXES - 1:
            wrong.append(columns & rank.above(axis + 1) & _bad_corners(r, map_, rank, axis))
        if axis:
            within = stride.eq(0).select(r.number("i64", 1), stride)
            wrong += [
                (stride & 15).ne(0),
                stride.above((1 << 40) - 1),
                (size - 1).above(r.number("i64", 1 << 46) // within),
            ]
        else:
            row = box * element
            wrong += [stride.ne(element), (row & 15).ne(0), swizzle.ne(0) & row.above(swizzle)]
    found = wrong[0]
    for one in wrong[1:]:
        found = found | one
    r.give(found ^ 1)
    return r


def _clear_unused(r: Routine, map_: Value, rank: Value) -> None:
    """What doesn't count of a private copy of a tensor map, as for a single element."""
    for axis in range(1, AXES):
        with r.when(rank.above(axis) ^ 1):
            for name, bits, value in (("sizes", 32, 1), ("box", 32, 1), ("steps", 32, 1), ("strides", 64, 0)):
                r.store(r.at(map_, TENSOR_MAP[name] + bits // 8 * axis), r.number(f"i{bits}", value), 1)


def _bad_corners(r: Routine, map_: Value, rank: Value, axis: int) -> Value:
    """Whether the corners of an axis are too far out for so many dimensions, or have nothing between them."""
    lower, upper = _corners(r, map_, axis)
    most = rank.eq(3).select(r.number("i64", CORNERS[3]), rank.eq(4).select(r.number("i64", CORNERS[4]), CORNERS[5]))
    far = (lower + most).reaches(most + most) | (upper + most).reaches(most + most)
    return far | (lower.below(_axis(r, map_, "sizes", axis) + upper, signed=True) ^ 1)


def _check_tensor() -> Routine:
    """A tensor map, the memory it describes and the shared side: bytes of a box, or -1 after reporting a fault.

    `private` is memory of the runtime: the map is copied there once, and the kernel's is not read again.
    """
    r = Routine(
        "check_tensor",
        "ptr ctx, i64 id, ptr site, i64 lane, i64 map, i64 offset, i64 rank, ptr private, i1 writes, i1 columns",
        "i64",
    )
    bad, map_ = r.number("i64", -1), r["private"]
    right = r.variable("i1", 0)
    inside = lambda start, nbytes, writes: r.call("i1", "place", r["ctx"], r["site"], start, nbytes, writes)
    with r.when(inside(r["map"], r.number("i64", TENSOR_BYTES), r.number("i1", 0))):
        source = r["map"].to("ptr")
        r.line(f"call void @llvm.memcpy.p0.p0.i64({map_}, {source}, i64 {TENSOR_BYTES}, i1 true)")
        _clear_unused(r, map_, r["rank"])
        right.set(r.call("i1", "sound_map", map_, r["rank"], r["columns"]))
    with r.when(right.get() ^ 1):
        fault(r, "tensor_map", r["id"], r["lane"], r["map"])
        r.give(bad)
    element, swizzle = (r.load(r.at(map_, TENSOR_MAP[name]), "i32", 1).to("i64") for name in ("element", "swizzle"))
    row, rows = _extent(r, map_, r["columns"])
    nbytes, extent = row * rows * element, r.variable("i64", element)
    for axis in range(AXES):
        extent.add((_axis(r, map_, "sizes", axis) - 1) * _axis(r, map_, "strides", axis))
    with r.when((r["offset"] & 127).ne(0)):
        fault(r, "bulk_alignment", r["id"], r["lane"], r["offset"] & 127)
        r.give(bad)
    # Swizzling changes places within rows of so many bytes, of which the last may be begun only.
    rest = swizzle.eq(0).select(r.number("i64", 0), swizzle - 1)
    reach = (nbytes + rest) & ~rest
    with r.when(_outside(r, reach)):
        fault(r, "bounds", r["id"] + 1, r["lane"], r["offset"])
        r.give(bad)
    start = r.load(r.at(map_, TENSOR_MAP["address"]), "i64", 1)
    with r.when(inside(start, extent.get(), r["writes"]) ^ 1):
        fault(r, "bounds", r["id"], r["lane"], start)
        r.give(bad)
    r.give(nbytes)
    return r


def _issue() -> Routine:
    """Each lane of `mask` issues a copy; `extra` are the coordinates of tensors, or the size of an element."""
    coordinates = ", ".join(f"{V32} c{axis}" for axis in range(AXES))
    r = Routine(
        "wb_bulk",
        f"ptr ctx, ptr site, {V64} remotes, {V32} offsets, {V32} barriers, {V32} sizes, {V32} blocks, i32 mask, i64 kind, "
        f"i64 rank, ptr reduce, {V64} shifts, {coordinates}",
    )
    ctx, kind = r["ctx"], r["kind"]
    id_, writes = r.call("i64", "site_id", ctx, r["site"]), (kind & STORES).ne(0)
    spread = {name: r.spread(r[name]) for name in ("remotes", "offsets", "barriers", "sizes", "blocks", "shifts")}
    spread |= {f"c{axis}": r.spread(r[f"c{axis}"]) for axis in range(AXES)}
    private = r.spread(r.number(V64, 0))  # 256 bytes, of which a tensor map takes 128
    with r.each(r["mask"]) as lane:
        remote = r.load(r.at(spread["remotes"], lane << 3), "i64", 8)
        offset, barrier, size = (
            r.load(r.at(spread[name], lane << 2), "i32", 4).to("i64") for name in ("offsets", "barriers", "sizes")
        )
        offset, barrier = (r.call("i64", "cluster_address", ctx, each) for each in (offset, barrier))
        nbytes = r.variable("i64", size)
        with r.when((kind & TENSOR).ne(0)):
            given = (ctx, id_, r["site"], lane, remote, offset, r["rank"], private, writes, (kind & IM2COL).ne(0))
            nbytes.set(r.call("i64", "check_tensor", *given))
            with r.when(nbytes.get().eq(-1)):
                r.give()
        with r.when((kind & TENSOR).eq(0)):
            fine = r.call("i1", "check_bulk", ctx, id_, r["site"], lane, remote, offset, size, kind)
            with r.when(fine ^ 1):
                r.give()
        with r.when((kind & STORES).eq(0)):
            place = r.call("ptr", "live_barrier", ctx, id_, lane, barrier.to("i32"))
            with r.when(place.eq("null")):
                r.give()
        wanted = r.load(r.at(spread["blocks"], lane << 2), "i32", 4) & (1 << MOST_BLOCKS) - 1
        several = (kind & MULTICAST).ne(0) & r.slot("cluster").above(1)
        blocks = several.select(wanted, r.number("i32", 1))
        reached = r.many(blocks).to("i64")
        once = (kind & NEAR).ne(0).select(r.i64(0), r.i64(1))  # how often global memory is read
        counts = {
            "requests": r.i64(1),
            "lanes": nbytes.get() * reached,
            "remote_lanes": nbytes.get() * (reached - once),
        }
        for slot, amount in counts.items():
            r.add_to(r.at(r["site"], 8 * SITE_SLOT[slot]), amount)
        r.add_slot("slice_requests", (nbytes.get() + (BULK_REQUEST - 1)) >> (BULK_REQUEST.bit_length() - 1))
        with r.each(blocks) as block:
            there = lambda address: several.select(address & (1 << RANK_SHIFT) - 1 | block + 1 << RANK_SHIFT, address)
            queue = _queue(r)
            head, tail = (r.load(r.at(queue, BULK[name]), "i64", 8) for name in ("head", "tail"))
            with r.when((tail - head).eq(BULK_ENTRIES)):
                r.call("void", "finish_bulk", ctx, _entry(r, queue, head))
                r.call("void", "drop_bulk", queue)
            entry = _entry(r, queue, tail)
            thread = (r.slot("warp") << 5) + lane
            group = r.load(r.at(queue, (thread << 2) + BULK["committed"]), "i32", 4).to("i64")
            fields = {
                "open": r.i64(1), "kind": kind, "site": r["site"].to("i64"), "remote": remote, "offset": there(offset),
                "bytes": nbytes.get(), "barrier": there(barrier), "thread": thread, "group": group,
                "reduce": r["reduce"].to("i64"), "shifts": r.load(r.at(spread["shifts"], lane << 3), "i64", 8),
            }  # fmt: skip
            for name, value in fields.items():
                r.store(r.at(entry, BULK_ENTRY[name]), value, 8)
            r.copy(r.at(entry, BULK_ENTRY["map"]), private, TENSOR_BYTES)
            for axis in range(AXES):
                value = r.load(r.at(spread[f"c{axis}"], lane << 2), "i32", 4).to("i64", signed=True)
                r.store(r.at(entry, BULK_ENTRY["coordinates"] + 8 * axis), value, 8)
            r.store(r.at(queue, BULK["tail"]), tail + 1, 8)
            r.call("void", "wb_s_bulk", ctx, entry.to("i64"), r.number("i64", 0))
    return r


def _commit() -> Routine:
    r = Routine("wb_bulk_commit", "ptr ctx, i32 mask")
    queue = _queue(r)
    with r.each(r["mask"]) as lane:
        place = r.at(queue, (((r.slot("warp") << 5) + lane) << 2) + BULK["committed"])
        r.store(place, r.load(place, "i32", 4) + 1, 4)
    return r


def _wait() -> Routine:
    """Complete all groups of each lane of `mask` but its latest `pending` committed ones."""
    r = Routine("wb_bulk_wait", "ptr ctx, i32 mask, i32 pending")
    queue = _queue(r)
    warp = r.slot("warp")
    head, tail = (r.load(r.at(queue, BULK[name]), "i64", 8) for name in ("head", "tail"))
    with r.count_to(tail, head) as number:
        entry = _entry(r, queue, number)
        thread = _field(r, entry, "thread")
        mine = (thread >> 5).eq(warp) & ((r["mask"] >> (thread & 31).to("i32")) & 1).ne(0)
        with r.when(mine & (_field(r, entry, "kind") & STORES).ne(0)):
            committed = r.load(r.at(queue, (thread << 2) + BULK["committed"]), "i32", 4)
            first = (committed - r["pending"]).to("i64", signed=True)
            with r.when(_field(r, entry, "group").below(first, signed=True)):
                r.call("void", "finish_bulk", r["ctx"], entry)
    r.call("void", "drop_bulk", queue)
    return r


def _complete_for() -> Routine:
    """The loads that an mbarrier of the block waits for, whichever blocks of its cluster issued them."""
    r = Routine("complete_bulk_for", "ptr ctx, i32 offset")
    barrier = r.call("i64", "cluster_address", r["ctx"], r["offset"].to("i64"))
    with r.count_to(r.slot("cluster")) as rank:
        block = record(r, rank)
        queue = field(r, block, "copies").to("ptr")
        with r.when(r.load(queue, "i64", 8).eq(field(r, block, "block") + 1)):
            head, tail = (r.load(r.at(queue, BULK[name]), "i64", 8) for name in ("head", "tail"))
            with r.count_to(tail, head) as number:
                entry = _entry(r, queue, number)
                here = _field(r, entry, "barrier").eq(barrier) & (_field(r, entry, "kind") & STORES).eq(0)
                with r.when(here):
                    r.call("void", "finish_bulk", r["ctx"], entry)
            r.call("void", "drop_bulk", queue)
    return r


def source() -> str:
    routines = (
        _mark(), *(_reduce(bits) for bits in (16, 32, 64)), _move(), _tensor(), _finish(), _drop(), _check_run(), _sound(),
        _check_tensor(), _issue(), _commit(), _wait(), _complete_for(),
    )  # fmt: skip
    return "".join(map(str, routines))

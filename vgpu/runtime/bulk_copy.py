"""Bulk copies (`cp.async.bulk`): checked and queued when issued, made when their mbarrier or group is waited for.

A load tells its mbarrier how many bytes have come; a store belongs to a group of the thread that issued it, and happens
when that thread waits for the group (also for its reading only, `.read`). Stores without a wait happen at the end of
the block, as they mostly do on a GPU, where nothing promises it: `sanitize` names them. Loads without a wait are lost
with the block. Ordinary stores to shared memory are seen by bulk copies without `fence.proxy.async`, while a
GPU may then copy old data: `sanitize` names the missing fence.

Rules: NVIDIA "PTX ISA", asynchronous copy, bulk copies and tensors (tiled mode, im2col mode, swizzling).
"""

from __future__ import annotations

from vgpu.base.context import (
    BULK,
    BULK_ENTRY,
    BULK_REQUEST,
    COLUMNS,
    FILL_NAN,
    IM2COL,
    ISSUED,
    MULTICAST,
    NEAR,
    PAIRS,
    ROWS,
    SITE_SLOT,
    STORES,
    TENSOR,
    TENSOR_BYTES,
    TENSOR_MAP,
    TENSOR_MARK,
    TENSOR_TYPES,
)
from vgpu.ir.value import V32, V64, Value
from vgpu.runtime.bulk_moves import axis_of, corners, element_of, extent
from vgpu.runtime.bulk_queue import append, queue_of
from vgpu.runtime.cluster import RANK_SHIFT
from vgpu.runtime.mbarrier import fault
from vgpu.runtime.write import Routine
from vgpu.storage.tensor_map import CORNERS, MOST_AXES

MOST_BLOCKS = 16  # that a multicast may name


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
    r = Routine("sound_map", "ptr map, i64 rank, i64 kind", "i1")
    map_, rank = r["map"], r["rank"]
    field = lambda name: r.load(r.at(map_, TENSOR_MAP[name]), "i32", 1).to("i64")
    element, type_ = element_of(r, map_), field("element") >> 8
    swizzle, columns = field("swizzle"), (r["kind"] & IM2COL).ne(0)
    address = r.load(r.at(map_, TENSOR_MAP["address"]), "i64", 1)
    wrong = [r.load(map_, "i64", 1).ne(TENSOR_MARK), field("rank").ne(rank), (rank - 1).above(MOST_AXES - 1)]
    wrong += [type_.above(len(TENSOR_TYPES)), (r["kind"] & ROWS).ne(0) & axis_of(r, map_, "box", 1).ne(1)]
    wrong += [(field("mode") & ~FILL_NAN).ne(columns.select(r.number("i64", COLUMNS), 0)), columns & rank.below(3)]
    wrong += [element.ne(1) & element.ne(2) & element.ne(4) & element.ne(8), (address & 15).ne(0)]
    wrong += [swizzle.ne(0) & swizzle.ne(32) & swizzle.ne(64) & swizzle.ne(128)]
    for axis in range(MOST_AXES):
        size, stride, box = (axis_of(r, map_, name, axis) for name in ("sizes", "strides", "box"))
        step = axis_of(r, map_, "steps", axis) if axis else r.number("i64", 1)
        most = columns.select(r.number("i64", 1023), r.number("i64", 255)) if axis == 1 else 255
        corner = columns if axis > 1 else r.number("i1", 0)
        wrong += [size.eq(0), (box - 1).above(most) & (corner ^ 1), (step - 1).above(7)]
        if 0 < axis < MOST_AXES - 1:
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
    for axis in range(1, MOST_AXES):
        with r.when(rank.above(axis) ^ 1):
            for name, bits, value in (("sizes", 32, 1), ("box", 32, 1), ("steps", 32, 1), ("strides", 64, 0)):
                r.store(r.at(map_, TENSOR_MAP[name] + bits // 8 * axis), r.number(f"i{bits}", value), 1)


def _bad_corners(r: Routine, map_: Value, rank: Value, axis: int) -> Value:
    """Whether the corners of an axis are too far out for so many dimensions, or have nothing between them."""
    lower, upper = corners(r, map_, axis)
    most = rank.eq(3).select(r.number("i64", CORNERS[3]), rank.eq(4).select(r.number("i64", CORNERS[4]), CORNERS[5]))
    far = (lower + most).reaches(most + most) | (upper + most).reaches(most + most)
    return far | (lower.below(axis_of(r, map_, "sizes", axis) + upper, signed=True) ^ 1)


def _check_tensor() -> Routine:
    """A tensor map, the memory it describes and the shared side: bytes of a box, or -1 after reporting a fault.

    `private` is memory of the runtime: the map is copied there once, and the kernel's is not read again.
    """
    r = Routine(
        "check_tensor",
        "ptr ctx, i64 id, ptr site, i64 lane, i64 map, i64 offset, i64 rank, ptr private, i64 kind",
        "i64",
    )
    bad, map_ = r.number("i64", -1), r["private"]
    right = r.variable("i1", 0)
    inside = lambda start, nbytes, writes: r.call("i1", "place", r["ctx"], r["site"], start, nbytes, writes)
    with r.when(inside(r["map"], r.number("i64", TENSOR_BYTES), r.number("i1", 0))):
        source = r["map"].to("ptr")
        r.line(f"call void @llvm.memcpy.p0.p0.i64({map_}, {source}, i64 {TENSOR_BYTES}, i1 true)")
        _clear_unused(r, map_, r["rank"])
        right.set(r.call("i1", "sound_map", map_, r["rank"], r["kind"]))
    with r.when(right.get() ^ 1):
        fault(r, "tensor_map", r["id"], r["lane"], r["map"])
        r.give(bad)
    element, swizzle = element_of(r, map_), r.load(r.at(map_, TENSOR_MAP["swizzle"]), "i32", 1).to("i64")
    row, rows = extent(r, map_, r["kind"])
    nbytes, reaches = row * rows * element, r.variable("i64", element)
    for axis in range(MOST_AXES):
        reaches.add((axis_of(r, map_, "sizes", axis) - 1) * axis_of(r, map_, "strides", axis))
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
    with r.when(inside(start, reaches.get(), (r["kind"] & STORES).ne(0)) ^ 1):
        fault(r, "bounds", r["id"], r["lane"], start)
        r.give(bad)
    r.give(nbytes)
    return r


def _reduction() -> Routine:
    """The function that a table of a reduction has for a type; 0 where the type lacks it."""
    r = Routine("reduction_of", "ptr table, i64 type", "i64")
    r.give(r.load(r.at(r["table"], r["type"] << 3), "i64", 8))
    return r


def _issue() -> Routine:
    """Each lane of `mask` issues a copy; `extra` are the coordinates of tensors, or the size of an element."""
    coordinates = ", ".join(f"{V32} c{axis}" for axis in range(MOST_AXES))
    r = Routine(
        "wb_bulk",
        f"ptr ctx, ptr site, {V64} remotes, {V32} offsets, {V32} barriers, {V32} sizes, {V32} blocks, i32 mask, i64 kind, "
        f"i64 rank, ptr reduce, {V64} shifts, {coordinates}",
    )
    ctx, kind = r["ctx"], r["kind"]
    id_ = r.call("i64", "site_id", ctx, r["site"])
    spread = {name: r.spread(r[name]) for name in ("remotes", "offsets", "barriers", "sizes", "blocks", "shifts")}
    spread |= {f"c{axis}": r.spread(r[f"c{axis}"]) for axis in range(MOST_AXES)}
    private = r.spread(r.number(V64, 0))  # 256 bytes, of which a tensor map takes 128
    with r.each(r["mask"]) as lane:
        remote = r.load(r.at(spread["remotes"], lane << 3), "i64", 8)
        offset, barrier, size = (
            r.load(r.at(spread[name], lane << 2), "i32", 4).to("i64") for name in ("offsets", "barriers", "sizes")
        )
        offset, barrier = (r.call("i64", "cluster_address", ctx, each) for each in (offset, barrier))
        nbytes, function = r.variable("i64", size), r.variable("i64", r["reduce"].to("i64"))
        with r.when((kind & TENSOR).ne(0)):
            given = (ctx, id_, r["site"], lane, remote, offset, r["rank"], private, kind)
            nbytes.set(r.call("i64", "check_tensor", *given))
            with r.when(nbytes.get().eq(-1)):
                r.give()
            with r.when(r["reduce"].eq("null") ^ 1):
                type_ = r.load(r.at(private, TENSOR_MAP["element"]), "i32", 4).to("i64") >> 8
                with r.when(type_.eq(0)):
                    fault(r, "tensor_type", id_, lane, remote)
                    r.give()
                function.set(r.call("i64", "reduction_of", r["reduce"], type_ - 1))
                with r.when(function.get().eq(0)):
                    fault(r, "tensor_type", id_, lane, remote)
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
        odd = (barrier >> RANK_SHIFT) - 1 & 1
        with r.each(blocks) as block:
            told = (kind & PAIRS).ne(0).select(block & ~1 | odd, block)
            there = lambda address, block: several.select(
                address & (1 << RANK_SHIFT) - 1 | block + 1 << RANK_SHIFT, address
            )
            queue = queue_of(r)
            thread = (r.slot("warp") << 5) + lane
            group = r.load(r.at(queue, (thread << 2) + BULK["committed"]), "i32", 4).to("i64")
            fields = {
                "kind": kind, "site": r["site"].to("i64"), "remote": remote, "offset": there(offset, block),
                "bytes": nbytes.get(), "barrier": there(barrier, told), "thread": thread, "group": group,
                "reduce": function.get(), "shifts": r.load(r.at(spread["shifts"], lane << 3), "i64", 8),
            }  # fmt: skip
            entry = append(r, queue, fields)
            r.copy(r.at(entry, BULK_ENTRY["map"]), private, TENSOR_BYTES)
            for axis in range(MOST_AXES):
                value = r.load(r.at(spread[f"c{axis}"], lane << 2), "i32", 4).to("i64", signed=True)
                r.store(r.at(entry, BULK_ENTRY["coordinates"] + 8 * axis), value, 8)
            r.call("void", "wb_s_bulk", ctx, entry.to("i64"), r.i64(ISSUED))
    return r


def source() -> str:
    routines = (_check_run(), _sound(), _check_tensor(), _reduction(), _issue())
    return "".join(map(str, routines))

"""What a bulk copy moves, in LLVM IR: a run of memory, or a box of a tensor, row by row.

Rules: NVIDIA "PTX ISA", tensors (tiled mode, im2col mode, swizzling).
"""

from __future__ import annotations

from vgpu.base.context import BULK_ENTRY, FILL_NAN, IM2COL, LOADS, ROWS, SITE_SLOT, STORES, TENSOR_MAP
from vgpu.ir.value import V64, Value, vector
from vgpu.runtime.bulk_queue import entry_field
from vgpu.runtime.write import Routine
from vgpu.storage.tensor_map import MOST_AXES


def axis_of(r: Routine, map_: Value, name: str, axis: int) -> Value:
    nbytes = 8 if name == "strides" else 4
    return r.load(r.at(map_, TENSOR_MAP[name] + nbytes * axis), f"i{8 * nbytes}", 1).to("i64")


def element_of(r: Routine, map_: Value) -> Value:
    """The bytes of an element."""
    return r.load(r.at(map_, TENSOR_MAP["element"]), "i32", 1).to("i64") & 255


def _copied_along(r: Routine, map_: Value, axis: int) -> Value:
    """The elements of a box along an axis that are copied."""
    step = axis_of(r, map_, "steps", axis) if axis else r.number("i64", 1)
    return (axis_of(r, map_, "box", axis) + step - 1) // step


def extent(r: Routine, map_: Value, kind: Value) -> tuple[Value, Value]:
    """The elements of a row of a box and the number of rows; in im2col mode, channels and pixels."""
    channels, pixels = (axis_of(r, map_, "box", axis) for axis in (0, 1))
    rows = r.number("i64", 1)
    for axis in range(1, MOST_AXES):
        rows = rows * _copied_along(r, map_, axis)
    rows = (kind & ROWS).ne(0).select(r.number("i64", 4), rows)
    return channels, (kind & IM2COL).ne(0).select(pixels, rows)


def corners(r: Routine, map_: Value, axis: int) -> tuple[Value, Value]:
    """The lower and the upper corner of an axis in im2col mode, relative to its first and its last element."""
    both = r.load(r.at(map_, TENSOR_MAP["box"] + 4 * (axis + 1)), "i32", 1)
    return (both << 16).ashr(16).to("i64", signed=True), both.ashr(16).to("i64", signed=True)


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
    """One run of bytes to or from shared memory, in the direction and with the reduction of an entry."""
    r = Routine("move_run", "ptr ctx, ptr entry, i64 remote, i64 shared, i64 bytes, i64 element")
    loads, function = (entry_field(r, r["entry"], "kind") & 1).eq(LOADS), entry_field(r, r["entry"], "reduce")
    target, source = loads.select(r["shared"], r["remote"]), loads.select(r["remote"], r["shared"])
    with r.when(function.eq(0)):
        r.copy(target.to("ptr"), source.to("ptr"), r["bytes"])
        r.give()
    for bits in (16, 32, 64):
        with r.when(r["element"].eq(bits // 8)):
            count = r["bytes"] // (bits // 8)
            r.call("void", f"reduce_run{bits}", function.to("ptr"), target, source, count)
    return r


def _pixel(r: Routine, map_: Value, starts: list[Value], number: Value, places: list[Value]) -> None:
    """Write the coordinates of a pixel of im2col mode ("PTX ISA", im2col mode).

    From the copy's coordinates pixels go on by the step along W, from the upper corner to the lower one of the next
    row, and so on along H, D and N. To each the shifts of W, H and D are added.
    """
    rank = r.load(r.at(map_, TENSOR_MAP["rank"]), "i32", 1).to("i64")
    shifts = entry_field(r, r["entry"], "shifts")
    rest = r.variable("i64", number)
    for axis in range(1, MOST_AXES):
        within, last = rank.above(axis + 1), rank.eq(axis + 1)
        turn = rest.get()
        if axis + 1 < MOST_AXES:
            lower, upper = corners(r, map_, axis)
            step, end = axis_of(r, map_, "steps", axis), axis_of(r, map_, "sizes", axis) - 1 + upper
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

    In im2col mode a row is a pixel. With `ROWS`, the coordinates after the first are the places of the rows.
    """
    r = Routine("move_tensor", "ptr ctx, ptr entry, i64 shared")
    map_ = r.at(r["entry"], BULK_ENTRY["map"])
    site = entry_field(r, r["entry"], "site").to("ptr")
    element = element_of(r, map_)
    swizzle = r.load(r.at(map_, TENSOR_MAP["swizzle"]), "i32", 1).to("i64")
    # Rows of 32, 64 or 128 bytes: the number of a 16-byte piece takes the number of its 128-byte line into account.
    twist = swizzle.eq(0).select(r.number("i64", 0), (swizzle - 16) & 0x70)
    kind = entry_field(r, r["entry"], "kind")
    stores, columns, chosen = kind & STORES, (kind & IM2COL).ne(0), (kind & ROWS).ne(0)
    shared = r["shared"]  # a multiple of 1024 lies before shared memory, so that swizzling may take it for an offset
    starts = [r.load(r.at(r["entry"], BULK_ENTRY["coordinates"] + 8 * axis), "i64", 8) for axis in range(MOST_AXES)]
    mode = r.load(r.at(map_, TENSOR_MAP["mode"]), "i32", 1)
    outside = (mode & FILL_NAN).ne(0).select(r.number("i8", -1), r.number("i8", 0))
    row, rows = extent(r, map_, kind)
    none = r.number("i64", 0)
    low = starts[0].below(0, signed=True).select(none - starts[0], none)
    beyond = axis_of(r, map_, "sizes", 0) - starts[0]
    high = beyond.below(row, signed=True).select(beyond, row)
    empty = low.below(high, signed=True) ^ 1
    high = empty.select(low, high)
    places = [r.room("i64") for _ in range(MOST_AXES)]
    with r.count_to(rows) as number:
        with r.when(columns):
            _pixel(r, map_, starts, number, places)
        with r.when(columns ^ 1):
            rest = number
            for axis in range(1, MOST_AXES):
                count = _copied_along(r, map_, axis)
                r.store(places[axis], starts[axis] + rest % count * axis_of(r, map_, "steps", axis), 8)
                rest = rest // count
        with r.when(chosen):
            given = r.at(r["entry"], (number << 3) + (BULK_ENTRY["coordinates"] + 8))
            for axis in range(1, MOST_AXES):
                r.store(places[axis], r.load(given, "i64", 8) if axis == 1 else none, 8)
        inside, address = r.variable("i1", 1), r.variable("i64", r.load(r.at(map_, TENSOR_MAP["address"]), "i64", 1))
        for axis in range(1, MOST_AXES):
            at = r.load(places[axis], "i64", 8)
            inside.set(inside.get() & at.below(axis_of(r, map_, "sizes", axis)))
            address.add(at * axis_of(r, map_, "strides", axis))
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


def source() -> str:
    routines = (_mark(), *(_reduce(bits) for bits in (16, 32, 64)), _move(), _tensor())
    return "".join(map(str, routines))

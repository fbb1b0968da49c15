"""Tensor memory (`tcgen05`) in LLVM IR: allocation, checks of what is accessed, copies to it, commits.

Each block has its own 512 columns, of which allocations take aligned runs, the first that is free. On a GPU the blocks
of a multiprocessor share them, and `alloc` waits for others to free some; here a block that asks for more than it has
left gets an error. Rules: NVIDIA "PTX ISA", Tensor Memory allocation, access restrictions, `tcgen05.cp`, `.shift`,
`.commit`.
"""

from __future__ import annotations

from vgpu.base.context import BULK, COLUMN, COMMIT, RESIDENT_BYTES, TENSOR_MEMORY
from vgpu.ir.value import V32, V64, Value
from vgpu.isa.tensor_memory import COLUMNS, LANES, QUARTER, UNIT
from vgpu.isa.umma import CHUNKS, FIXED, FIXED_BITS, MATRIX, PAIRS
from vgpu.runtime.bulk_queue import append, queue_of
from vgpu.runtime.cluster import NOWHERE, RANK_SHIFT, field, record
from vgpu.runtime.mbarrier import fault
from vgpu.runtime.warpgroup import CHUNK, Matrix, end_of, fields_of
from vgpu.runtime.write import Routine

UNITS = COLUMNS // UNIT


def _header(r: Routine, name: str, area: Value | None = None) -> Value:
    """Where the block's record of its tensor memory has something."""
    return r.at(area or r.slot("tensor_memory", "ptr"), TENSOR_MEMORY[name])


def _size(r: Routine, unit: Value) -> Value:
    return r.at(_header(r, "sizes"), unit << 3)


def _alike(r: Routine, *lanes: str) -> None:
    """Leave, with -1 or nothing, where the lanes of a warp give different operands, or where it doesn't run."""
    leave = (lambda: r.give(r.i64(-1))) if r.result == "i64" else r.give
    with r.when(r["mask"].eq(0)):
        leave()
    for name in lanes:
        unlike = r[name].ne(r[name].lane(0)).bits()
        with r.when(unlike.ne(0)):
            r.fail("unlike", r["site"], unlike, r[name].to(V64))
            leave()


def _allocate() -> Routine:
    """The address of newly allocated columns, or -1 after a fault. Fresh memory holds bytes of 0xFF."""
    r = Routine("wb_tensor_alloc", f"ptr ctx, i64 site, i32 mask, {V32} columns, {V32} offsets", "i64")
    _alike(r, "columns", "offsets")
    columns = r["columns"].lane(0).to("i64")
    wrong = (columns & (columns - 1)).ne(0) | ((columns - UNIT).above(COLUMNS - UNIT))
    late = r.load(_header(r, "relinquished"), "i64", 8).ne(0)
    for code, here in (("tensor_columns", wrong), ("tensor_permit", late)):
        with r.when(here):
            r.fail(code, r["site"], r["mask"], columns.splat())
            r.give(r.i64(-1))
    units = columns // UNIT
    run, taken = (1 << units) - 1, r.load(_header(r, "taken"), "i64", 8)
    at = r.variable("i64", 0)
    with r.repeat() as stop:
        start = at.get()
        with r.when(start.reaches(UNITS)):
            r.fail("tensor_full", r["site"], r["mask"], columns.splat())
            r.give(r.i64(-1))
        stop((taken >> start & run).eq(0))
        at.add(units)
    start = at.get()
    r.store(_header(r, "taken"), taken | run << start, 8)
    r.store(_header(r, "site"), r["site"], 8)
    r.store(_size(r, start), columns, 8)
    r.fill(r.at(r.slot("tensor_memory", "ptr"), start * (UNIT * COLUMN)), -1, columns * COLUMN)
    r.give(start * UNIT)
    return r


def _deallocate() -> Routine:
    r = Routine("wb_tensor_dealloc", f"ptr ctx, i64 site, i32 mask, {V32} address, {V32} columns")
    _alike(r, "columns", "address")
    address, columns = (r[name].lane(0).to("i64") for name in ("address", "columns"))
    unit = address // UNIT
    known = (address & (UNIT - 1)).eq(0) & address.below(COLUMNS)
    place = _size(r, known.select(unit, 0))
    with r.when((known & r.load(place, "i64", 8).eq(columns) & columns.ne(0)) ^ 1):
        r.fail("tensor_free", r["site"], r["mask"], address.splat())
        r.give()
    taken = r.load(_header(r, "taken"), "i64", 8)
    r.store(_header(r, "taken"), taken & ~(((1 << columns // UNIT) - 1) << unit), 8)
    r.store(place, r.i64(0), 8)
    return r


def _relinquish() -> Routine:
    r = Routine("wb_tensor_relinquish", "ptr ctx, i32 mask")
    with r.when(r["mask"].ne(0)):
        r.store(_header(r, "relinquished"), r.i64(1), 8)
    return r


def _leak() -> Routine:
    """At the end of a block: whether it has failed because it leaves columns allocated."""
    r = Routine("tensor_leak", "ptr ctx", "i1")
    with r.when(r.slot("tensor_memory").eq(0)):
        r.give(r.number("i1", 0))
    with r.when(r.load(_header(r, "taken"), "i64", 8).eq(0)):
        r.give(r.number("i1", 0))
    r.set_slot("warp", 0)
    r.fail("tensor_leak", r.load(_header(r, "site"), "i64", 8), r.number("i32", 1), r.number(V64, 0))
    r.give(r.slot("error").ne(0))
    return r


# ---------------------------------------------------------------- checks


def _inside() -> Routine:
    """Whether columns that follow one another are allocated in a block's tensor memory."""
    r = Routine("tensor_inside", "ptr area, i64 column, i64 count", "i1")
    last = r["column"] + r["count"] - 1
    wanted = ((2 << last // UNIT - r["column"] // UNIT) - 1) << r["column"] // UNIT
    taken = r.load(_header(r, "taken", r["area"]), "i64", 8)
    r.give((last.below(COLUMNS) & r["column"].below(COLUMNS)).select((taken & wanted).eq(wanted), r.number("i1", 0)))
    return r


def _place() -> Routine:
    """The bytes from the start of tensor memory to where a warp's move begins, or -1 after a fault, or if it is off."""
    r = Routine(
        "wb_tensor_place", f"ptr ctx, i64 site, i32 mask, {V32} address, i64 lanes, i64 columns, i64 split", "i64"
    )
    _alike(r, "address")
    address = r["address"].lane(0).to("i64")
    lane, column, area = address >> 16, address & 0xFFFF, r.slot("tensor_memory", "ptr")
    own = (lane // QUARTER).eq(r.slot("warp") & 3) & (lane & (r["lanes"] - 1)).eq(0)
    inside = r.call("i1", "tensor_inside", area, column, r["columns"])
    inside = inside & r.call("i1", "tensor_inside", area, column + r["split"], r["columns"])
    for code, good in (("tensor_quarter", own), ("tensor_place", inside)):
        with r.when(good ^ 1):
            r.fail(code, r["site"], r["mask"], address.splat())
            r.give(r.i64(-1))
    r.give(column * COLUMN + lane * 4)
    return r


def _block() -> Routine:
    """The record of a block of a pair: this one's, or (1, and the other way round) its peer's; null without one."""
    r = Routine("tensor_block", "ptr ctx, i64 which, i64 ctas", "ptr")
    place = r.slot("resident_slot")
    with r.when(r["ctas"].eq(1)):
        r.give(r.at(r.slot("resident_table", "ptr"), place * RESIDENT_BYTES))
    rank = r.call("i32", "wb_cluster_own_rank", r["ctx"]).to("i64") & -2 | r["which"]
    lives = r.slot("cluster").above(1) & r.call("i64", "shared_of_rank", r["ctx"], rank).ne(NOWHERE)
    with r.when(lives ^ 1):
        r.give(r.null())
    r.give(record(r, rank))
    return r


# ---------------------------------------------------------------- copies and shifts


def _expand() -> Routine:
    """16 elements of 6 or 4 bits that stand side by side, each in a byte, so many bits up."""
    r = Routine("tensor_expand", "ptr from, ptr to, i64 bits, i64 up")
    whole = r.load(r["from"], "i128", 1)
    with r.count_to(16) as i:
        shift = (i * r["bits"]).to("i128")
        code = (whole >> shift).to("i64") & (1 << r["bits"]) - 1
        r.store(r.at(r["to"], i), (code << r["up"]).to("i8"), 1)
    return r


def _copy() -> Routine:
    """`cp`: rows of a matrix in shared memory to lanes; `starts`: the first row of each 32 lanes, 8 bits each."""
    r = Routine(
        "wb_tensor_cp",
        f"ptr ctx, ptr site, i32 mask, {V32} addresses, {V64} descriptors, i64 rows, i64 nbytes, i64 starts, i64 bits, "
        "i64 up, i64 ctas",
    )
    ctx, spread = r["ctx"], {name: r.spread(r[name]) for name in ("addresses", "descriptors")}
    number, chunk = r.call("i64", "site_id", ctx, r["site"]), r.room("<4 x i32>")
    single = r["rows"].eq(4)
    with r.each(r["mask"]) as lane:
        address = r.load(r.at(spread["addresses"], lane << 2), "i32", 4).to("i64")
        descriptor = r.load(r.at(spread["descriptors"], lane << 3), "i64", 8)
        first, column = address >> 16, address & 0xFFFF
        fields = fields_of(r, descriptor, MATRIX, CHUNKS)
        right = r.among(descriptor >> 61, tuple(mode for mode in CHUNKS if mode != PAIRS))
        end = end_of(fields, (r["rows"] + 7) >> 3, r.i64(1), r.number("i1", 0))
        for code, wrong, shown in (
            ("umma_matrix", (right & (descriptor & FIXED_BITS).eq(FIXED)) ^ 1, descriptor),
            ("descriptor", end.above(r.slot("shared_bytes")), end - 1),
            ("tensor_place", first.above(single.select(r.i64(QUARTER - 1), 0)), address),
        ):
            with r.when(wrong):
                fault(r, code, number, lane, shown)
                r.give()
        for slot, amount in (("requests", r.i64(1)), ("lanes", r["rows"] * r["nbytes"] * r["ctas"])):
            r.add_to(r.site(slot), amount)
        with r.count_to(r["ctas"]) as which:
            block = r.call("ptr", "tensor_block", ctx, which, r["ctas"])
            with r.when(block.eq("null")):
                fault(r, "tensor_peer", number, lane, address)
                r.give()
            area = field(r, block, "tensor_memory").to("ptr")
            with r.when(r.call("i1", "tensor_inside", area, column, r["nbytes"] >> 2) ^ 1):
                fault(r, "tensor_place", number, lane, address)
                r.give()
            matrix = Matrix(r, fields, False, field(r, block, "shared_base"))
            with r.count_to(LANES // QUARTER) as quarter:
                start = r["starts"] >> (quarter << 3) & 255
                with r.count_to(single.select(r.i64(1), QUARTER)) as line, r.count_to(r["nbytes"] >> 4) as half:
                    row, here = start + line, quarter * QUARTER + line + first
                    offset = matrix.rows(row >> 3) + matrix.pitch * (row & 7) + matrix.next * half
                    r.store(chunk, r.load(matrix.place(offset), "<4 x i32>", CHUNK), 16)
                    with r.when(r["bits"].ne(0)):
                        packed = r.spread(r.load(chunk, "<4 x i32>", 16))
                        r.call("void", "tensor_expand", packed, chunk, r["bits"], r["up"])
                    with r.count_to(4) as word:
                        place = r.at(area, (column + (half << 2) + word) * COLUMN + (here << 2))
                        r.store(place, r.load(r.at(chunk, word << 2), "i32", 4), 4)
    return r


def _shift() -> Routine:
    r = Routine("wb_tensor_shift", f"ptr ctx, i64 site, i32 mask, {V32} addresses, i64 ctas")
    addresses = r.spread(r["addresses"])
    with r.each(r["mask"]) as lane:
        address = r.load(r.at(addresses, lane << 2), "i32", 4).to("i64")
        first, column = address >> 16, address & 0xFFFF
        with r.count_to(r["ctas"]) as which:
            block = r.call("ptr", "tensor_block", r["ctx"], which, r["ctas"])
            with r.when(block.eq("null")):
                fault(r, "tensor_peer", r["site"], lane, address)
                r.give()
            area = field(r, block, "tensor_memory").to("ptr")
            right = r.call("i1", "tensor_inside", area, column, r.i64(8)) & first.below(LANES)
            with r.when((right & (first & (QUARTER - 1)).eq(0)) ^ 1):
                fault(r, "tensor_place", r["site"], lane, address)
                r.give()
            with r.count_to(8) as at, r.count_to(QUARTER - 1) as row:
                place = r.at(area, (column + at) * COLUMN + (first + row << 2))
                r.store(place, r.load(r.at(place, 4), "i32", 4), 4)
    return r


def _commit() -> Routine:
    """Queue an arrival at an mbarrier, or at the same one of several blocks."""
    r = Routine("wb_tensor_commit", f"ptr ctx, ptr site, i32 mask, {V32} addresses, {V32} blocks, i64 several")
    number = r.call("i64", "site_id", r["ctx"], r["site"])
    addresses, blocks = (r.spread(r[name]) for name in ("addresses", "blocks"))
    several = r["several"].ne(0) & r.slot("cluster").above(1)
    queue = queue_of(r)
    with r.each(r["mask"]) as lane:
        address = r.load(r.at(addresses, lane << 2), "i32", 4).to("i64")
        wanted = several.select(r.load(r.at(blocks, lane << 2), "i32", 4), 1)
        with r.each(wanted) as block:
            there = address & (1 << RANK_SHIFT) - 1 | (block + 1 << RANK_SHIFT)
            barrier = several.select(there, r.call("i64", "cluster_address", r["ctx"], address))
            place = r.call("ptr", "live_barrier", r["ctx"], number, lane, barrier.to("i32"))
            with r.when(place.eq("null")):
                r.give()
            fields = {
                "kind": r.i64(COMMIT), "site": r["site"].to("i64"), "barrier": barrier,
                "thread": (r.slot("warp") << 5) + lane, "group": r.load(r.at(queue, BULK["round"]), "i64", 8),
            }  # fmt: skip
            append(r, queue, fields)
    return r


def source() -> str:
    routines = (
        _allocate(), _deallocate(), _relinquish(), _leak(), _inside(), _place(), _block(), _expand(), _copy(), _shift(),
        _commit(),
    )  # fmt: skip
    return "".join(map(str, routines))

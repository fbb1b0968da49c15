"""Places for resident blocks, and the dice of a random schedule, in LLVM IR."""

from __future__ import annotations

from vgpu.base.context import (
    BARRIER_BYTES,
    CLOCK,
    HEADER,
    LAUNCH_SLOT,
    RESIDENT_BYTES,
    RESIDENT_SLOT,
    SLICE,
    TENSOR_MEMORY,
    TENSOR_MEMORY_BYTES,
)
from vgpu.ir.value import Value
from vgpu.runtime.write import Routine


def _record(r: Routine, index: Value) -> Value:
    """What the table of places says of one of them."""
    return r.at(r.slot("resident_table", "ptr"), index * RESIDENT_BYTES)


def _record_of() -> Routine:
    r = Routine("record_of", "ptr ctx, i64 index", "ptr", words="alwaysinline")
    r.give(_record(r, r["index"]))
    return r


def _enter() -> Routine:
    """Bring what the table says of a place into the context."""
    r = Routine("enter_place", "ptr ctx, i64 index")
    record, changes = _record(r, r["index"]), r.slot("resident_slot").ne(r["index"])
    r.set_slot("resident_slot", r["index"])
    for slot, index in RESIDENT_SLOT.items():
        r.set_slot(slot, r.load(r.at(record, 8 * index), "i64", 8))
    with r.when(changes):
        r.call("void", "wb_s_enter", r["ctx"])
    return r


def _first_of_cluster() -> Routine:
    """The number of the place of rank 0 in the cluster whose block is in use."""
    r = Routine("first_of_cluster", "ptr ctx", "i64", words="alwaysinline")
    place = r.slot("resident_slot")
    r.give(place - place % r.slot("cluster"))
    return r


def _leave() -> Routine:
    """The block in use has ended: free its place, and those of its cluster, once all blocks of it have; whether so."""
    r = Routine("leave_place", "ptr ctx", "i1")
    first, together = r.call("i64", "first_of_cluster", r["ctx"]), r.slot("cluster")

    def field(place: Value, name: str) -> Value:
        return r.at(_record(r, place), 8 * RESIDENT_SLOT[name])

    r.set_slot("finished", 1)
    r.store(field(r.slot("resident_slot"), "finished"), r.i64(1), 8)
    with r.count_to(together) as rank, r.when(r.load(field(first + rank, "finished"), "i64", 8).eq(0)):
        r.give(r.number("i1", 0))
    with r.count_to(together) as rank:
        r.store(field(first + rank, "block"), r.number("i64", -1), 8)
    r.give(r.number("i1", 1))
    return r


def _next() -> Routine:
    """The next place after `from`, round the table, that is free or (free: false) that is taken; there must be one."""
    r = Routine("next_place", "ptr ctx, i64 from, i1 free", "i64")
    places, at = r.slot("resident_slots"), r.variable("i64", r["from"])
    with r.repeat() as stop:
        after = at.get() + 1
        after = after.reaches(places).select(0, after)
        at.set(after)
        block = r.load(r.at(_record(r, after), 8 * RESIDENT_SLOT["block"]), "i64", 8)
        stop(block.below(0, signed=True).eq(r["free"]))
    r.give(at.get())
    return r


def _blocks_end() -> Routine:
    """The number of the block at which the launch ends, which may be sooner than it has blocks."""
    r = Routine("blocks_end", "ptr launch", "i64", words="alwaysinline")
    blocks, stop = (r.at(r["launch"], 8 * LAUNCH_SLOT[name]) for name in ("blocks", "stop_block"))
    last = r.value("i64", f"load atomic i64, {stop} monotonic, align 8")
    r.give(r.call("i64", "llvm.umin.i64", r.load(blocks, "i64", 8), last))
    return r


def _begin() -> Routine:
    """Make the place in use ready for the block of a number: its indices, memory as it is before anything is written."""
    r = Routine("begin_block", "ptr ctx, i64 number")
    block = r.variable("i64", r["number"])
    with r.when(r.slot("order").ne(0)):
        block.set(r.load(r.at(r.slot("order", "ptr"), r["number"] * 8), "i64", 8))
    wide, high = r.slot("nctaid_x"), r.slot("nctaid_y")
    rest = block.get() // wide
    known = {"block": block.get(), "ctaid_x": block.get() % wide, "ctaid_y": rest % high, "ctaid_z": rest // high}
    record = _record(r, r.slot("resident_slot"))
    for slot, value in known.items():
        r.store(r.at(record, 8 * RESIDENT_SLOT[slot]), value, 8)
        r.set_slot(slot, value)
    r.store(r.at(record, 8 * RESIDENT_SLOT["finished"]), r.i64(0), 8)
    r.set_slot("finished", 0)
    r.set_slot("progress", 1)
    r.add_slot("in_block", 1)
    shared, warps = r.slot("shared_base", "ptr"), r.slot("warps")
    r.fill(shared, -1, r.slot("shared_bytes"))
    r.fill(shared, 0, r.slot("zeroed_shared"))
    r.fill(r.slot("barriers", "ptr"), 0, BARRIER_BYTES)
    with r.when(r.slot("cluster_lanes").ne(0)):
        r.fill(r.slot("cluster_lanes", "ptr"), 0, warps << 7)
    with r.when(r.slot("tensor_memory").ne(0)):
        records = TENSOR_MEMORY["taken"]
        r.fill(r.at(r.slot("tensor_memory", "ptr"), records), 0, TENSOR_MEMORY_BYTES - records)
    r.fill(r.slot("local_base", "ptr"), -1, r.slot("local_bytes") * (warps << 5))
    first, states = r.slot("first_pcs", "ptr"), r.slot("states", "ptr")
    nbytes, cleared = r.slot("state_bytes"), r.slot("zeroed_state")
    with r.count_to(warps) as warp:
        state = r.at(states, warp * nbytes)
        r.copy(state, r.at(first, warp << 7), 128)
        for word in (SLICE, CLOCK):
            r.store(r.at(state, word), r.number("i64", 0), 8)
        r.fill(r.at(state, HEADER), 0, cleared)
    return r


# A random schedule: in each turn a warp has a few basic blocks' time, and perhaps only some of its lanes may run.


def _draw() -> Routine:
    """xorshift64*, Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled"."""
    r = Routine("draw", "ptr ctx", "i64")
    state = r.slot("random")
    state = state ^ state >> 12
    state = state ^ state << 25
    state = state ^ state >> 27
    r.set_slot("random", state)
    r.give(state * 2685821657736338717 >> 16)
    return r


def _random_turn() -> Routine:
    """Set fuel, lanes and whose turn it is; true where the warp is passed over this time."""
    r = Routine("random_turn", "ptr ctx, ptr state", "i1")
    drawn = r.call("i64", "draw", r["ctx"])
    most = (r.number("i64", 2) << (drawn >> 2 & 3) * 3) - 1
    r.set_slot("fuel", (drawn >> 8 & most) + 1)
    r.store(r.at(r["state"], SLICE), drawn >> 20 & 127, 8)
    lanes, how = r.call("i64", "draw", r["ctx"]), drawn >> 5 & 3
    everybody = (1 << 32) - 1
    half = (r.number("i64", 0xFFFF0000FFFF) << (lanes & 31)) >> 16 & everybody
    some = how.eq(1).select(half, everybody)
    r.set_slot("lanes", how.eq(2).select(lanes & everybody, some))
    r.give((drawn & 3).eq(0) & r.slot("visited").eq(0))
    return r


def source() -> str:
    routines = (
        _record_of(),
        _enter(),
        _first_of_cluster(),
        _leave(),
        _next(),
        _blocks_end(),
        _begin(),
        _draw(),
        _random_turn(),
    )
    return "".join(map(str, routines))

"""Clusters of blocks, in LLVM IR: where the shared memory of each block lies, and the barrier of all their threads.

Blocks of a cluster are resident in neighbouring places of one worker. A 32-bit address in the cluster's shared memory
(`shared::cluster`) has a block's rank plus 1 above `RANK_SHIFT`; 0 there stands for the block itself, so that an
address of its own shared memory is one, too.

Rules: NVIDIA "PTX ISA", state spaces (shared), `mapa`, `getctarank`, `barrier.cluster`.
"""

from __future__ import annotations

from vgpu.base.context import CLUSTER_PHASE, CLUSTER_SEEN, CLUSTER_TIME, PC_DONE, RESIDENT_BYTES, RESIDENT_SLOT
from vgpu.ir.value import V32, V64, Value
from vgpu.runtime.write import Routine

RANK_SHIFT = 24  # no block has as much shared memory
NOWHERE = -(1 << 30)  # stands for the address of shared memory that is none: nothing is near it


def record(r: Routine, rank: Value) -> Value:
    """What the table of places says of the block of a rank."""
    place = r.call("i64", "first_of_cluster", r["ctx"]) + rank
    return r.at(r.slot("resident_table", "ptr"), place * RESIDENT_BYTES)


def field(r: Routine, record: Value, name: str) -> Value:
    return r.load(r.at(record, 8 * RESIDENT_SLOT[name]), "i64", 8)


def _base() -> Routine:
    """The host address of the shared memory of the block of a rank; NOWHERE without one, or when it has ended."""
    r = Routine("shared_of_rank", "ptr ctx, i64 rank", "i64")
    with r.when(r["rank"].below(r.slot("cluster")) ^ 1):
        r.give(r.i64(NOWHERE))
    block = record(r, r["rank"])
    r.give(field(r, block, "finished").ne(0).select(r.i64(NOWHERE), field(r, block, "shared_base")))
    return r


def _own_rank() -> Routine:
    r = Routine("wb_cluster_own_rank", "ptr ctx", "i32")
    r.give((r.slot("resident_slot") % r.slot("cluster")).to("i32"))
    return r


def _place() -> Routine:
    """The host address of a place in the cluster's shared memory."""
    r = Routine("in_cluster", "ptr ctx, i32 address", "i64")
    address = r["address"].to("i64")
    rank, offset = address >> RANK_SHIFT, address & (1 << RANK_SHIFT) - 1
    with r.when(rank.eq(0)):
        r.give(r.slot("shared_base") + offset)
    base = r.call("i64", "shared_of_rank", r["ctx"], rank - 1)
    r.give(base + offset)
    return r


def _absolute() -> Routine:
    """A 32-bit address (an i64) that means the same to all blocks of the cluster."""
    r = Routine("cluster_address", "ptr ctx, i64 address", "i64")
    own = r["address"].below(1 << RANK_SHIFT) & r.slot("cluster").above(1)
    rank = r.call("i32", "wb_cluster_own_rank", r["ctx"]).to("i64") + 1
    r.give(own.select(r["address"] | rank << RANK_SHIFT, r["address"]))
    return r


def _places() -> Routine:
    """The host addresses of places in the cluster's shared memory; those of lanes that don't run may be any."""
    r = Routine("wb_in_cluster", f"ptr ctx, {V32} addresses, i32 mask", V64)
    found, each = r.variable(V64, r.number(V64, NOWHERE)), r.spread(r["addresses"])
    with r.each_group((r["addresses"] >> RANK_SHIFT).to(V64), r["mask"]) as (_, lanes, lane):
        first = r.load(r.at(each, lane, "i32"), "i32", 4)
        whole = r.call("i64", "in_cluster", r["ctx"], first)
        offsets = (r["addresses"] - first).to(V64, signed=True)
        found.set(lanes.lanes().select(offsets + whole, found.get()))
    r.give(found.get())
    return r


def _mapped() -> Routine:
    """`mapa` with generic addresses: the same places in the shared memory of the blocks of other ranks."""
    r = Routine("wb_cluster_map", f"ptr ctx, {V64} addresses, {V32} ranks, i32 mask", V64)
    found = r.variable(V64, r.number(V64, NOWHERE))
    offsets = r["addresses"] - r.slot("shared_base")
    with r.each_group(r["ranks"].to(V64), r["mask"]) as (rank, lanes, _):
        base = r.call("i64", "shared_of_rank", r["ctx"], rank)
        found.set(lanes.lanes().select(offsets + base, found.get()))
    r.give(found.get())
    return r


def _rank() -> Routine:
    """`getctarank` of generic addresses: the rank of the block in whose shared memory each lies, its own elsewhere."""
    r = Routine("wb_cluster_rank", f"ptr ctx, {V64} addresses", V32)
    found = r.variable(V32, r.call("i32", "wb_cluster_own_rank", r["ctx"]).splat())
    with r.count_to(r.slot("cluster")) as rank:
        inside = (r["addresses"] - r.call("i64", "shared_of_rank", r["ctx"], rank)).below(r.slot("shared_bytes"))
        found.set(inside.select(rank.to("i32").splat(), found.get()))
    r.give(found.get())
    return r


def _short() -> Routine:
    """Generic addresses as those of the cluster's shared memory; offsets from its own where they are in no block's."""
    r = Routine("wb_to_cluster", f"ptr ctx, {V64} addresses", V64)
    own = r["addresses"] - r.slot("shared_base")
    found = r.variable(V64, own)
    with r.count_to(r.slot("cluster")) as rank:
        offsets = r["addresses"] - r.call("i64", "shared_of_rank", r["ctx"], rank)
        inside = offsets.below(r.slot("shared_bytes")) & (own.below(r.slot("shared_bytes")) ^ 1)
        found.set(inside.select(offsets + (rank + 1 << RANK_SHIFT), found.get()))
    r.give(found.get())
    return r


def _inside() -> Routine:
    """Bits of the generic addresses that lie in the shared memory of any block of the cluster."""
    r = Routine("wb_inside_cluster", f"ptr ctx, {V64} addresses", "i32")
    found = r.variable("i32", 0)
    with r.count_to(r.slot("cluster")) as rank:
        offsets = r["addresses"] - r.call("i64", "shared_of_rank", r["ctx"], rank)
        found.set(found.get() | offsets.below(r.slot("shared_bytes")).bits())
    r.give(found.get())
    return r


# ---------------------------------------------------------------- the barrier

# A lane keeps the number of the phase in which it arrived last, plus 1. The phase is over when all lanes of the cluster
# that haven't ended have its number.


def _phase(r: Routine) -> Value:
    """Where the number of the current phase is kept."""
    barriers = field(r, record(r, r.i64(0)), "barriers").to("ptr")
    return r.at(barriers, CLUSTER_PHASE)


def _lanes(r: Routine, lanes: Value, warp: Value) -> Value:
    """Where the lanes of a warp keep the phase they arrived in."""
    return r.at(lanes.to("ptr"), warp << 7)


def _arrive() -> Routine:
    r = Routine("wb_cluster_arrive", "ptr ctx, i32 mask")
    place = _lanes(r, r.slot("cluster_lanes"), r.slot("warp"))
    phase = r.load(_phase(r), "i64", 8).to("i32") + 1
    r.store(place, r["mask"].lanes().select(phase.splat(), r.load(place, V32, 64)), 64)
    r.set_slot("progress", 1)
    return r


def _complete() -> Routine:
    """Whether no live lane of the cluster is missing in a phase."""
    r = Routine("all_arrived", "ptr ctx, i32 phase", "i1")
    nbytes = r.slot("state_bytes")
    with r.count_to(r.slot("cluster")) as rank:
        block = record(r, rank)
        states, lanes = field(r, block, "states").to("ptr"), field(r, block, "cluster_lanes")
        with r.count_to(r.slot("warps")) as warp:
            live = r.load(r.at(states, warp * nbytes), V32, 64).ne(PC_DONE)
            missing = r.load(_lanes(r, lanes, warp), V32, 64).ne(r["phase"].splat())
            with r.when((live & missing).bits().ne(0)):
                r.give(r.number("i1", 0))
    r.give(r.number("i1", 1))
    return r


def _done() -> Routine:
    """The lanes whose phase is over."""
    r = Routine("wb_cluster_done", "ptr ctx, i32 mask", "i32")
    mine = r.load(_lanes(r, r.slot("cluster_lanes"), r.slot("warp")), V32, 64)
    place = _phase(r)
    phase = r.load(place, "i64", 8)
    ended = r.variable("i64", 0)
    over = r.variable("i32", (mine.above(phase.to("i32").splat()).bits() & r["mask"]) ^ r["mask"])
    with r.when(over.get().eq(0)):
        with r.when(r.call("i1", "all_arrived", r["ctx"], phase.to("i32") + 1) ^ 1):
            r.give(r.number("i32", 0))
        r.store(place, phase + 1, 8)
        ended.set(1)
        r.set_slot("progress", 1)
        over.set(r["mask"])
    seen = r.at(r.slot("barriers", "ptr"), CLUSTER_SEEN)
    with r.when(r.load(seen, "i64", 8).ne(r.load(place, "i64", 8))):  # for the sanitizer, a barrier of the block, too
        r.store(seen, r.load(place, "i64", 8), 8)
        r.call("void", "wb_s_met", r["ctx"], r.at(place, CLUSTER_TIME - CLUSTER_PHASE), ended.get())
    r.give(over.get())
    return r


def source() -> str:
    routines = (
        _base(), _own_rank(), _place(), _absolute(), _places(), _mapped(), _rank(), _short(), _inside(), _arrive(), _complete(), _done(),
    )  # fmt: skip
    return "".join(map(str, routines))

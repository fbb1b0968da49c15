"""The block loop of launches in which no warp spins on memory: one block after the other, in order.

A worker takes several blocks at once. Neighbours mostly work on neighbouring memory: if workers took turns, each would
take the other's lines out of its cache.

Where all warps of a block have come to one barrier with all their lanes, as nearly always, none of them writes down
where its lanes wait: each returns it, and the next round begins there.
"""

from __future__ import annotations

from vgpu.base.context import BY_STATE, DONE, LAUNCH_SLOT, OUT_OF_FUEL, PC_NEXT, PC_WAIT
from vgpu.ir import LANES
from vgpu.ir.value import V32, vector
from vgpu.runtime.loop_parts import ROUNDS, Loop

MOST_WARPS = 32


def plain_loop() -> Loop:
    """Take blocks until there is none left, and run the warps of each round by round until all are done."""
    r = Loop("wb_run_plain")
    states, gathered, slice_ = r.slot("states", "ptr"), r.slot("barriers", "ptr"), r.slot("fuel_slice")
    rounds, returned = r.variable("i64", ROUNDS), r.room(vector("i32", MOST_WARPS))
    last = r.at(r.slot("first_pcs", "ptr"), (r.warps - 1) * (4 * LANES))
    full = r.load(last, V32, 64).eq(0).bits().eq(-1)
    r.go("round", r.slot("in_block").ne(0))

    r.label("fetch")
    with r.when(r.slot("own_block").eq(r.slot("own_end"))):
        portion = r.load(r.at(r.launch, LAUNCH_SLOT["portion"], "i64"), "i64", 8)
        taken = r.take_blocks(portion)
        r.set_slot("own_block", taken)
        r.set_slot("own_end", taken + portion)
        with r.when(r.exists(taken)):
            r.spend_slice()
    number = r.slot("own_block")
    r.set_slot("own_block", number + 1)
    with r.when(r.exists(number) ^ 1):
        r.stop(DONE)
    r.call("void", "begin_block", r["ctx"], number)
    r.set_slot("resume", full.select(r.i64(0), BY_STATE))

    r.label("afresh")
    rounds.set(ROUNDS)

    r.label("round")
    going, starved, unlike, first = (r.variable("i32", 0) for _ in range(4))
    with r.count_to(r.warps) as warp:
        r.set_slot("warp", warp)
        r.set_slot("fuel", slice_)
        status = r.run_warp(r.at(states, warp * r.state_bytes))
        r.store(r.at(returned, warp, "i32"), status, 4)
        first.set(warp.eq(0).select(status, first.get()))
        going.set(going.get() | status)
        starved.set(starved.get() | status.eq(OUT_OF_FUEL).to("i32"))
        unlike.set(unlike.get() | status ^ first.get())
    with r.when(going.get().eq(DONE)):
        r.set_slot("in_block", 0)
        r.go("fetch")
    with r.when(unlike.get().eq(0) & first.get().reaches(PC_WAIT) & rounds.get().above(0, signed=True)):
        r.set_slot("resume", (first.get() & PC_NEXT).to("i64"))
        rounds.add(-1)
        r.go("round")
    r.set_slot("resume", BY_STATE)
    with r.count_to(r.warps) as warp:
        status = r.load(r.at(returned, warp, "i32"), "i32", 4)
        with r.when(status.reaches(PC_WAIT)):
            r.store(r.at(states, warp * r.state_bytes), status.splat(), 64)
    opened = r.open_barriers(states, gathered, told=False)
    with r.when(starved.get().eq(0)):
        r.go("deadlock", opened.eq(0))
        rounds.add(-1)
        r.go("round", rounds.get().below(0, signed=True) ^ 1)
    r.spend_slice()
    r.go("afresh")
    r.ends()
    return r

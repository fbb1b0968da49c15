"""The block loop of launches in which no warp spins on memory: one block after the other, in order."""

from __future__ import annotations

from vgpu.base.context import DONE, OUT_OF_FUEL
from vgpu.runtime.loop_parts import ROUNDS, Loop


def plain_loop() -> Loop:
    """Take blocks until there is none left, and run the warps of each round by round until all are done."""
    r = Loop("wb_run_plain")
    states, gathered, slice_ = r.slot("states", "ptr"), r.slot("barriers", "ptr"), r.slot("fuel_slice")
    rounds = r.variable("i64", ROUNDS)
    r.go("round", r.slot("in_block").ne(0))

    r.label("fetch")
    number = r.take_block()
    with r.when(r.exists(number) ^ 1):
        r.stop(DONE)
    r.call("void", "begin_block", r["ctx"], number)

    r.label("afresh")
    rounds.set(ROUNDS)

    r.label("round")
    going, starved = r.variable("i32", 0), r.variable("i1", 0)
    with r.count_to(r.warps) as warp:
        r.set_slot("warp", warp)
        r.set_slot("fuel", slice_)
        status = r.run_warp(r.at(states, warp * r.state_bytes))
        going.set(going.get() | status)
        starved.set(starved.get() | status.eq(OUT_OF_FUEL))
    with r.when(going.get().eq(DONE)):
        r.set_slot("in_block", 0)
        r.go("fetch")
    opened = r.open_barriers(states, gathered, told=False)
    with r.when(starved.get() ^ 1):
        r.go("deadlock", opened.eq(0))
        rounds.add(-1)
        r.go("round", rounds.get().below(0, signed=True) ^ 1)
    r.spend_slice()
    r.go("afresh")
    r.ends()
    return r

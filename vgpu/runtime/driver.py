"""The block loop, in LLVM IR: takes blocks off the launch's counter and runs their warps in turn until all are done.

A worker runs one block to its end and then takes the next, as long as no block waits for another. One whose warps
all wait for memory to change is set aside in its place, and the next place has its turn: a block that is resident
there already, or a new one if the launcher left a place free. Barriers open when every live lane of a block waits.
The loop returns OUT_OF_FUEL now and then, IDLE when it went round all resident blocks and none could go on; called
again, it goes on where it stopped.
"""

from __future__ import annotations

from vgpu.base.context import DONE, IDLE, OUT_OF_FUEL, SPUN
from vgpu.ir.value import Value
from vgpu.runtime.loop_parts import ROUNDS, Loop
from vgpu.runtime.plain_loop import plain_loop

PATIENCE = 4  # rounds in which a block's warps only spin before the next block runs


class _Residents(Loop):
    """The loop over blocks that are resident together, of which one is in use; it goes by labels from part to part."""

    def __init__(self) -> None:
        super().__init__("wb_run_blocks")
        self.shuffles = self.slot("random").ne(0)

    def blocks_are_left(self) -> Value:
        return self.exists(self.taken())

    def has_room(self) -> Value:
        """Whether a place is free."""
        return self.slot("in_block").below(self.slot("resident_slots"))

    def enter(self, after: Value | None = None, free: bool = False) -> None:
        """Use the next place, after the one in use or another, that is free or taken."""
        after = self.slot("resident_slot") if after is None else after
        chosen = self.call("i64", "next_place", self["ctx"], after, self.number("i1", free))
        self.call("void", "enter_place", self["ctx"], chosen)

    def turn(self, state: Value) -> tuple[Value, Value, Value]:
        """Run a warp: whether it is not done, was starved, and waits for memory, each as 0 or 1."""
        r = self
        before = r.slot("progress")
        status = r.run_warp(state)
        in_vain = r.call("i64", "note_slice", r["ctx"], status).ne(0)
        starved, waits = status.eq(OUT_OF_FUEL), status.reaches(SPUN)
        with r.when(starved | waits):
            r.set_slot("progress", in_vain.select(before, r.slot("progress") | starved.to("i64")))
            spins = status.eq(SPUN).to("i64")
            r.set_slot("spun", r.slot("spun") | spins)
            r.set_slot("patience", r.slot("patience") - spins)
        return status.ne(DONE).to("i64"), starved.to("i64"), waits.to("i64")


def _begin(r: _Residents) -> None:
    """Go on where the last call stopped, or take a block."""
    occupied = r.slot("in_block")
    r.go("fetch", occupied.eq(0))
    let_in = r.slot("let_in")
    r.set_slot("let_in", 0)
    r.go("round", let_in.eq(0))
    # This block has asked memory for long: a new one has its turn, or one that is resident.
    r.go("new_block", r.has_room())
    r.label("change")
    r.enter()
    r.go("round")

    r.label("fetch")  # the place in use is free, and those of its cluster
    together = r.slot("cluster")
    number = r.take_blocks(together)
    with r.when(r.exists(number) ^ 1):
        r.go("hop", r.slot("in_block").ne(0))
        r.stop(DONE)
    first = r.call("i64", "first_of_cluster", r["ctx"])
    with r.count_to(together) as rank:
        r.call("void", "enter_place", r["ctx"], first + rank)
        r.call("void", "begin_block", r["ctx"], number + rank)
        r.call("void", "wb_s_begin", r["ctx"])


def _round(r: _Residents) -> None:
    """Run all warps, and go on with what their block does then."""
    r.label("round")
    r.call("void", "next_round", r["ctx"])
    states = r.slot("states", "ptr")
    start, live, starved, waiting = (r.variable("i64", 0) for _ in range(4))
    with r.when(r.shuffles):
        start.set(r.call("i64", "draw", r["ctx"]) % r.warps)
    with r.count_to(r.warps) as number, r.once() as following:
        number = number + start.get()
        warp = number.reaches(r.warps).select(number - r.warps, number)
        r.set_slot("warp", warp)
        state = r.at(states, warp * r.state_bytes)
        with r.once() as chosen:
            with r.when(r.shuffles):
                chosen(r.call("i1", "random_turn", r["ctx"], state) ^ 1)
                r.add_slot("skipped", 1)
                live.add(1)
                starved.add(1)
                following()
            r.set_slot("fuel", r.slot("fuel_slice"))
        for count, amount in zip((live, starved, waiting), r.turn(state), strict=True):
            count.add(amount)
    with r.when(live.get().eq(0)):
        r.go("waits_for_others", r.slot("finished").ne(0))
        r.call("void", "next_round", r["ctx"])
        r.call("void", "end_bulk", r["ctx"])
        r.go("fail", r.slot("error").ne(0))
        r.go("fail", r.call("i1", "tensor_leak", r["ctx"]))
        r.set_slot("progress", 1)
        r.go("hop", r.call("i1", "leave_place", r["ctx"]) ^ 1)
        r.go("fetch", r.add_slot("in_block", r.i64(0) - r.slot("cluster")).eq(0))
        r.go("hop")
    opened = r.open_barriers(states, r.slot("barriers", "ptr"), told=True)
    with r.when((starved.get() | waiting.get()).eq(0)):
        r.go("deadlock", opened.eq(0))
        with r.when(r.shuffles ^ 1):  # a loop whose every round passes a barrier burns no fuel between two of them
            r.go("round", r.add_slot("rounds", -1).below(0, signed=True) ^ 1)
            r.set_slot("rounds", ROUNDS)
            r.go("tick")
    r.go("waits_for_others", (opened | starved.get()).eq(0))
    with r.when(opened.ne(0)):
        r.set_slot("progress", 1)
    # Perhaps all warps wait for an mbarrier.
    verdict = r.call("i32", "judge_round", r["ctx"], opened, starved.get(), waiting.get())
    r.go("waits_for_others", verdict.eq(3))
    r.go("fail", verdict.eq(2))
    r.go("next_round", verdict.eq(0))


def _next_round(r: _Residents) -> None:
    """A random schedule turns to another block now and then, as long as all goes well."""
    r.label("tick")
    r.spend_slice()
    r.label("next_round")
    r.go("round", r.shuffles ^ 1)
    r.go("round", r.slot("visited").ne(0))
    coin = r.call("i64", "draw", r["ctx"]) & 3
    r.go("round", coin.eq(0))
    r.go("jump", r.has_room() & coin.eq(1) ^ 1)
    r.label("new_block")
    r.go("open_place", r.blocks_are_left())
    r.go("change", r.shuffles ^ 1)
    r.label("jump")
    r.enter(after=(r.slot("random") >> 8) % r.slot("resident_slots"))
    r.go("round")


def _wait_for_others(r: _Residents) -> None:
    """Warps that wait for nothing but memory are patient; those that try again and again may wait for each other."""
    r.label("waits_for_others")
    tried = r.slot("spun").ne(0)
    r.go("tick", r.add_slot("patience", -1).above(0, signed=True) & tried)
    # The block is set aside.
    r.set_slot("patience", r.warps * PATIENCE)
    progress = r.slot("progress")
    r.set_slot("progress", 0)
    r.set_slot("moved", r.slot("moved") | progress)
    still = progress.eq(0)
    visited = still.select(r.slot("visited") + 1, 0)
    r.set_slot("visited", visited)
    r.set_slot("ahead", still.select(r.slot("ahead"), 0))
    r.go("look_round", r.has_room() ^ 1)
    r.go("look_round", r.blocks_are_left() ^ 1)
    r.label("open_place")
    r.enter(free=True)
    r.go("fetch")

    r.label("look_round")
    r.go("hop", visited.below(r.slot("in_block")))
    r.set_slot("visited", 0)
    r.stop(IDLE)

    r.label("hop")
    r.enter()
    r.spend_slice()
    r.go("round")


def source() -> str:
    r = _Residents()
    for part in (_begin, _round, _next_round, _wait_for_others):
        part(r)
    r.ends()
    return f"{r}{plain_loop()}"

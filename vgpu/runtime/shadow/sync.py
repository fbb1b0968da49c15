"""What orders threads: lanes of a warp that come together, barriers of the block, and what the host is told of."""

from __future__ import annotations

from vgpu.base.context import PC_DONE
from vgpu.ir.value import LANES, V32, Value
from vgpu.runtime.shadow.body import Watched

_TOLD = ("i64", "i64", "i64", "ptr")


def _chunk(r: Watched, row: Value, warp: Value) -> Value:
    """A pointer to what a thread knows of one warp's lanes."""
    return (r.watch("known") + ((row << 10) + (warp << 5) << 2)).to("ptr")


def _tick(r: Watched) -> Value:
    """Count a synchronisation: the time from now on."""
    place = r.watch_place("time")
    now = r.load(place, "i64", 8) + 1
    r.store(place, now, 8)
    return now


def join() -> Watched:
    """The lanes of `members` learn what any of them knows and did."""
    r = Watched("wb_s_join", "ptr ctx, i32 members")
    members, warp = r["members"], r.slot("warp")
    now = _tick(r).to("i32")
    everything = r.watch("detail").ne(0)
    rows = warp << 5
    with r.count_to(everything.select(r.slot("warps"), warp + 1), everything.select(0, warp)) as other:
        best = r.variable(V32, 0)
        with r.each(members) as lane:
            row = r.load(_chunk(r, rows + lane, other), V32, 64)
            best.set(row.above(best.get()).select(row, best.get()))
        joined = (members.lanes() & other.eq(warp)).select(now, best.get())
        with r.each(members) as lane:
            r.store(_chunk(r, rows + lane, other), joined, 64)
    return r


def begun() -> Watched:
    """A block begins: its threads know nothing yet."""
    r = Watched("wb_s_begin", "ptr ctx")
    with r.when(r.watched()):
        now = _tick(r)
        for name, value in (("floor", now), ("start", now), ("far", now), ("detail", 0), ("cross", 0)):
            r.store(r.watch_place(name), value if isinstance(value, Value) else r.i64(value), 8)
        r.fill(r.watch("local_written").to("ptr"), 0, (r.slot("warps") << 5) * r.slot("local_bytes"))
        row = r.watch("turns") + (r.watch("turn") << 4)
        r.store(row.to("ptr"), now, 8)
        r.store((row + 8).to("ptr"), r.slot("block"), 8)
        r.add_to(r.watch_place("turn"), 1)
    return r


def _exists(r: Watched, warp: Value) -> Value:
    """The lanes of a warp that are threads of the block."""
    return r.load((r.slot("first_pcs") + (warp << 7)).to("ptr"), V32, 64).ne(PC_DONE)


def _alive(r: Watched) -> Value:
    """The lanes that have not ended."""
    return ~r.load(r["state"], V32, 64).eq(PC_DONE).bits() | r["active"]


def active() -> Watched:
    """A `.sync` instruction whose mask is what `activemask` said: are all lanes that live here?"""
    r = Watched("wb_s_active", "ptr ctx, ptr state, i32 place, i32 active")
    active, alive = r["active"], _alive(r)
    with r.when(alive.ne(active)):
        r.event("mask", r["place"], active, alive, lanes=active.to("i64").splat())
    return r


def collective() -> Watched:
    """A `.sync` instruction: is every named lane here, and does each name itself? Then they join."""
    r = Watched("wb_s_collective", f"ptr ctx, ptr state, i32 place, i32 active, {V32} named")
    active, named = r["active"], r["named"]
    alive = _alive(r)
    without = (named & r.each_lane("i32", [1 << lane for lane in range(LANES)])).eq(0)
    absent = (named & (_exists(r, r.slot("warp")).bits() & ~active)).ne(0)
    wrong = (without | absent).bits() & active
    with r.when(wrong.ne(0)):
        r.event("mask", r["place"], active, alive, lanes=named.to("i64"))
    wanted = named.lane(r.lowest(active) & 31)
    with r.when((named.ne(wanted).bits() & active).eq(0)):
        r.call("void", "wb_s_join", r["ctx"], wanted & active)
        r.give()
    rest = r.variable("i32", active)
    with r.repeat() as stop:
        now = rest.get()
        stop(now.eq(0))
        lane = r.lowest(now)
        team = named.lane(lane) & active | lane.bit()
        r.call("void", "wb_s_join", r["ctx"], team)
        rest.set(now & ~team)
    return r


def told(name: str, code: str, *given: str) -> Watched:
    """A function that tells the host something, where a kernel is watched.

    Its parameters are what `Watched.event` takes, "" for what is 0.
    """
    r = Watched(
        name, ", ".join(["ptr ctx", *(f"{kind} {word}" for kind, word in zip(_TOLD, given, strict=False) if word)])
    )
    with r.when(r.watched()):
        a, b, mask, lanes = (r[word] if word else None for word in (*given, *[""] * (4 - len(given))))
        r.event(code, a or 0, b or 0, mask or 0, lanes)
    return r


def met() -> Watched:
    """Threads of the block go on from a barrier of its cluster, whose phase has `ended` just now, or some time ago.

    Blocks that went on earlier may have done something since: `time` is where the end of the phase is kept.
    """
    r = Watched("wb_s_met", "ptr ctx, ptr time, i64 ended")
    with r.when(r.watched()):
        now = _tick(r)
        r.store(r.watch_place("floor"), now, 8)
        with r.when(r["ended"].ne(0)):
            r.store(r["time"], now, 8)
        r.store(r.watch_place("far"), r.load(r["time"], "i64", 8), 8)
    return r


def opened() -> Watched:
    """A barrier of the whole block has opened: from here on everybody knows everything before it.

    Where threads came to it from different barriers, or some had ended, the host hears of it.
    """
    r = Watched("wb_s_opened", "ptr ctx")
    with r.when(r.watched()):
        r.store(r.watch_place("floor"), _tick(r), 8)
        states, nbytes = r.slot("states"), r.slot("state_bytes")
        one = r.load(states.to("ptr"), "i32", 4)
        odd = r.variable("i32", 0)
        with r.count_to(r.slot("warps")) as warp:
            pcs = r.load((states + warp * nbytes).to("ptr"), V32, 64)
            odd.set(odd.get() | (_exists(r, warp) & pcs.ne(one)).bits())
        with r.when(odd.get().ne(0)):
            r.event("uneven")
    return r

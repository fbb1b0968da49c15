"""One word of one access: compared with the entries of its shadow, noted there, and reported where they conflict."""

from __future__ import annotations

from abc import ABC, abstractmethod

from vgpu.base.context import (
    ANOTHER_BLOCK,
    ENTRY_HOME,
    ENTRY_HOMES,
    ENTRY_PLACE,
    ENTRY_PLACES,
    ENTRY_STRENGTH,
    ENTRY_THREADS,
    ENTRY_TIME,
    NEVER_WRITTEN,
)
from vgpu.ir.value import LANES, V64, Value, vector
from vgpu.runtime.shadow.body import Watched
from vgpu.runtime.shadow.copies import pending

# Kinds of pairs, as the table `pairs` counts them.
READ_LATE, WRITE_TWICE, WRITE_LATE, CLASH, UNSET, IN_FLIGHT, UNFENCED = 0, 1, 2, 3, 4, 5, 6
PAIR_KINDS = 7
REACHES = 3
"""A pair within a warp, of two warps, or of two blocks: kind + PAIR_KINDS * reach, so that the first of each is told."""


def _stamp(entry: Value) -> Value:
    return entry >> ENTRY_TIME


def _thread(entry: Value) -> Value:
    return entry & ENTRY_THREADS - 1


def _place(entry: Value) -> Value:
    return entry >> ENTRY_PLACE & ENTRY_PLACES - 1


def _home(entry: Value) -> Value:
    return entry >> ENTRY_HOME & ENTRY_HOMES - 1


def _elsewhere(r: Watched, entry: Value, across: bool) -> Value:
    """Whether an entry is another block's: one before this, or one that is resident elsewhere."""
    home, stamp = _home(entry), _stamp(entry)
    if not across:
        return home.eq(ANOTHER_BLOCK)
    return (stamp.below(r.watch("start")) | home.ne(r.watch("home"))) & stamp.ne(0)


class Facts:
    """What the access in hand compares entries with."""

    def __init__(self, r: Watched, across: bool):
        self.r, self.across = r, across
        self.floor, self.start, time = r.watch("floor"), r.watch("start"), r.watch("time")
        self.me = r.threads()
        self.warp = r.slot("warp")
        self.strength = (r["rule"] >> 2 & 3).to("i64")
        fixed = time << ENTRY_TIME | r["place"].to("i64") << ENTRY_PLACE | self.strength << ENTRY_STRENGTH
        if across:
            fixed = fixed | r.watch("home") << ENTRY_HOME
        self.new = self.me | fixed

    def _or_elsewhere(self, found: Value, entry: Value) -> Value:
        return found | self.elsewhere(entry)

    def elsewhere(self, entry: Value) -> Value:
        """Whether an entry is another block's."""
        return _elsewhere(self.r, entry, self.across)

    def live(self, entry: Value) -> Value:
        """Whether an entry is later than what the whole block knows of its threads, or of other blocks."""
        if self.across:
            return self._or_elsewhere(_stamp(entry).reaches(self.floor), entry)
        floor, far = self.floor.splat(), self.r.watch("far").splat()
        return _stamp(entry).reaches(self.elsewhere(entry).select(far, floor))

    def other_warp(self, entry: Value) -> Value:
        return self._or_elsewhere((_thread(entry) >> 5).ne(self.warp), entry)

    def foreign(self, entry: Value) -> Value:
        """Whether an entry is not this lane's own."""
        return self._or_elsewhere(_thread(entry).ne(self.me), entry)

    def suspicious(self, entry: Value) -> Value:
        """Lanes for which a live entry may be a conflict: another thread's, and not both of them strong.

        Volatile accesses of one warp count as plain: lanes that rely on lock-step use them.
        """
        kind = entry >> ENTRY_STRENGTH & 3
        mine_atomic = self.strength.eq(2)
        mine_strong = mine_atomic | self.strength.eq(1)
        apart = self.other_warp(entry) | mine_atomic
        agree = (kind.eq(2) | kind.eq(1) & apart) & mine_strong
        return self.foreign(entry) & ~agree


# ---------------------------------------------------------------- where the entries of 32 lanes lie

ENTRY, HALF = 8, LANES // 2


class Entries(ABC):
    """The lanes' entries of one table: of lanes that share one the highest is stored."""

    name: str

    def __init__(self, r: Watched, table: Value):
        self.r, self.at = r, r["at"] + table

    @abstractmethod
    def load(self, lanes: Value) -> Value:
        """The entries of the lanes, V64."""

    @abstractmethod
    def store(self, values: Value, lanes: Value) -> None:
        """Set those of the lanes."""


class Anywhere(Entries):
    name = "any"

    def load(self, lanes: Value) -> Value:
        return self.r.gather("i64", self.at, lanes)

    def store(self, values: Value, lanes: Value) -> None:
        self.r.scatter(values, self.at, lanes)


class InRows(Entries):
    """All lanes take part; lanes 0 to 15 have neighbouring entries, and so have the others."""

    name = "rows"

    def _halves(self) -> list[Value]:
        return [self.at.lane(start).to("ptr") for start in (0, HALF)]

    def load(self, lanes: Value) -> Value:
        return self.r.join([self.r.load(place, vector("i64", HALF), ENTRY) for place in self._halves()])

    def store(self, values: Value, lanes: Value) -> None:
        for half, place in enumerate(self._halves()):
            listed = range(half * HALF, (half + 1) * HALF)
            given, there = values.shuffle(None, listed), lanes.lanes().shuffle(None, listed)
            self.r.line(f"call void @llvm.masked.store.v16i64.p0({given}, {place}, i32 {ENTRY}, {there})")


class InPairs(InRows):
    """All lanes take part; lanes 0 to 15 share an entry, and so do the others."""

    name = "pairs"

    def load(self, lanes: Value) -> Value:
        low, high = (self.r.load(place, "i64", ENTRY).splat(HALF) for place in self._halves())
        return self.r.join([low, high])

    def store(self, values: Value, lanes: Value) -> None:
        kept = self.r.spread(values)
        for half, place in enumerate(self._halves()):
            mine = lanes & (0xFFFF << half * HALF)
            with self.r.when(mine.ne(0)):
                last = (31 - mine.intrinsic("llvm.ctlz", flag=True)).to("i64")
                self.r.store(place, self.r.load(self.r.at(kept, last, "i64"), "i64", ENTRY), ENTRY)


def _letter(across: bool) -> str:
    return "g" if across else "s"


def unordered(across: bool) -> Watched:
    """Of suspicious lanes those whose thread really cannot know of the entry's access."""
    r = Watched(f"unordered_{_letter(across)}", f"ptr ctx, {V64} held, i32 lanes", "i32")
    entry, lanes = r["held"], r["lanes"]
    where = ((r.threads() << 10) + _thread(entry) << 2) + r.watch("known")
    late = _stamp(entry).reaches(r.gather("i32", where, lanes).to("i64")).bits() & lanes
    before = _elsewhere(r, entry, across).bits() & lanes
    if not across:
        r.give(late | before)
        return r
    within = late & ~before
    with r.when(r.watch("cross").ne(0) & before.ne(0)):
        r.give(r.event("cross", mask=before, lanes=entry).to("i32") | within)
    r.give(within | before)
    return r


# ---------------------------------------------------------------- one word of one access

_WORD = f"ptr ctx, i32 place, {V64} at, {V64} where, i32 mask, i32 rule, i32 differs, ptr notes, i64 index, i64 shift"


def word(across: bool) -> str:
    """Check and note one granule of an access; `at` are byte offsets into the three shadows.

    The half-warps of most accesses have a row of entries each, or one.
    """
    shapes = [_word(across, entries) for entries in (InRows, InPairs, Anywhere)]
    r = Watched(f"word_{_letter(across)}", _WORD)
    at = r["at"]
    starts = at.shuffle(None, [lane // HALF * HALF for lane in range(LANES)])
    apart, ramp = at - starts, r.each_lane("i64", [lane % HALF * ENTRY for lane in range(LANES)])
    with r.when(r["mask"].eq(-1)):
        for entries, distances in ((InRows, ramp), (InPairs, 0)):
            with r.when(apart.eq(distances).bits().eq(-1)):
                r.pass_on(f"{r.function}_{entries.name}")
    r.pass_on(f"{r.function}_{Anywhere.name}")
    return "".join(map(str, (*shapes, r)))


def _word(across: bool, kind: type[Entries]) -> Watched:
    r = Watched(f"word_{_letter(across)}_{kind.name}", _WORD)
    mask, facts = r["mask"], Facts(r, across)
    prefix = "global_" if across else ""
    writes, reads, others = (kind(r, r.watch(prefix + name)) for name in ("writes", "reads", "others"))
    write = writes.load(mask)
    is_load, is_store = ((r["rule"] & 3).eq(n) for n in (0, 1))

    def against(entry: Value, kind: Value | int, harmless: Value | int = 0) -> None:
        """Report the lanes that conflict with an entry, but for some."""
        live = facts.live(entry).bits() & mask
        with r.when(live.ne(0)):
            suspects = facts.suspicious(entry).bits() & live
            with r.when(suspects.ne(0)):
                late = r.call("i32", f"unordered_{_letter(across)}", r["ctx"], entry, suspects)
                with r.when(late.ne(0)):
                    conflict(r, facts, kind, late & ~harmless if isinstance(harmless, Value) else late, entry)

    # reads (and atomics) of unwritten memory
    unset = write.eq(NEVER_WRITTEN) if across else _stamp(write).below(facts.start)
    raw = is_store.select(0, unset.bits() & mask)
    with r.when(raw.ne(0)):
        unwritten(r, raw, r["index"] << r["shift"], r.number("i64", 1) << r["shift"])
    # In global memory a store that leaves the value as it was does no harm: relaxations in place are made of them.
    mask = is_store.select(mask & (r["differs"] | unset.bits()), mask) if across else _in_flight(r, facts, write, mask)
    # Two stores of one line that leave the value as it was, such as `found = 1`, do no harm.
    silent = is_store.select(_place(write).eq(r["place"].to("i64")).bits() & ~r["differs"], 0)
    against(write, is_load.select(r.number("i64", READ_LATE), WRITE_TWICE), silent)

    read, other = reads.load(mask), others.load(mask)
    with r.when(is_load ^ 1):
        against(read, WRITE_LATE)
        against(other, WRITE_LATE)
        writes.store(facts.new, mask)
        r.give()
    read_live, other_live, far = facts.live(read), facts.live(other), r.variable("i32", 0)
    with r.when(((read_live | other_live).bits() & mask).ne(0)):
        read_far = read_live & facts.other_warp(read)
        other_far = other_live & facts.other_warp(other)
        near = read_live & facts.foreign(read)
        others.store((read_far | near & ~other_far).select(read, other), mask)
        far.set((read_far | other_far).bits())
    reads.store(facts.new, mask)
    # Of lanes that read one word together one is kept as the last reader, another as the one before.
    lost = reads.load(mask).ne(facts.new).bits() & mask & ~far.get()
    with r.when(lost.ne(0)):
        others.store(facts.new, lost)
    return r


def _in_flight(r: Watched, facts: Facts, write: Value, mask: Value) -> Value:
    """Report lanes that meet a copy which has not landed, though they know that it was asked for; the others race."""
    left = r.variable("i32", mask)
    with r.when(r.watch("copies").ne(0)):
        early = (pending(write) & _stamp(write).reaches(facts.start)).bits() & mask
        with r.when(early.ne(0)):
            suspects = (facts.live(write) & facts.suspicious(write)).bits() & early
            racing = r.call("i32", "unordered_s", r["ctx"], write, suspects)
            early = early & ~racing
            report(r, IN_FLIGHT, early, write)
            left.set(mask & ~early)
    return left.get()


def conflict(r: Watched, facts: Facts, kind: Value | int, lanes: Value, entries: Value) -> None:
    """Report lanes that conflict with their entries, by how far apart the two threads are: that decides the fix."""
    blocks = facts.elsewhere(entries).bits() & lanes
    warps = facts.other_warp(entries).bits() & lanes & ~blocks
    within = lanes & ~(blocks | warps)
    for reach, some in enumerate((within, warps, blocks)):
        report(r, kind + PAIR_KINDS * reach, some, entries)


def report(r: Watched, kind: Value | int, lanes: Value, entries: Value, place: Value | None = None) -> None:
    kind = r.number("i64", kind) if isinstance(kind, int) else kind
    r.call("void", "wb_s_report", r["ctx"], kind, place or r["place"], lanes, entries, r["where"])


def unwritten(r: Watched, lanes: Value, first: Value, nbytes: Value) -> None:
    """Lanes that read unwritten memory, in these bytes of an access: noted where values are followed to their use, reported at once elsewhere."""
    r.call("void", "unset", r["ctx"], r["place"], lanes, r["where"], r["rule"], r["notes"], first, nbytes)


FOLLOWED, WHERE = 1 << 7, 48  # a bit of `rule`; the bits of where in the shadow of a register


def unset() -> Watched:
    """What `unwritten` calls."""
    r = Watched(
        "unset",
        f"ptr ctx, i32 place, i32 lanes, {V64} where, i32 rule, ptr notes, i64 first, i64 nbytes",
        words="noinline cold",
    )
    with r.when((r["rule"] & FOLLOWED).eq(0)):
        report(r, UNSET, r["lanes"], r.number(V64, 0))
        r.give()
    with r.count_to(r["first"] + r["nbytes"], r["first"]) as i:
        note = r.at(r["notes"], i << 2)
        r.store(note, r.load(note, "i32", 4) | r["lanes"], 4)
    return r


def used() -> Watched:
    """Lanes use unwritten values: their shadows say where each was read, and at which address."""
    r = Watched("wb_s_used", f"ptr ctx, {V64} shadows, i32 lanes", words="noinline cold")
    held = r.spread(r["shadows"])
    r.parameters["where"] = r["shadows"] & (1 << WHERE) - 1
    with r.each(r["lanes"]) as lane:
        place = (r.load(r.at(held, lane << 3), "i64", 8) >> WHERE).to("i32")
        report(r, UNSET, lane.bit(), r.number(V64, 0), place)
    return r


def reported() -> Watched:
    """A conflict is counted by its kind and its two places; the host hears of the first one only."""
    r = Watched(
        "wb_s_report", f"ptr ctx, i64 kind, i32 place, i32 lanes, {V64} entries, {V64} where", words="noinline cold"
    )
    kind, place, held = r["kind"], r["place"].to("i64"), r.spread(r["entries"])
    pairs, places = r.watch("pairs").to("ptr"), r.watch("places")
    row = (kind * places + place) * places
    with r.each(r["lanes"]) as lane:
        entry = r.load(r.at(held, lane << 3), "i64", 8)
        cell = r.at(pairs, row + _place(entry) << 2)
        count = r.load(cell, "i32", 4)
        r.store(cell, count + 1, 4)
        with r.when(count.eq(0)):
            r.event("pair", kind << 16 | place, entry, lane, r["where"])
    return r

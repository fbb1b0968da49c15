"""Loads and stores of one word a lane in shared memory, where each half of the warp accesses a row or a single word.

Most accesses are like that, and nearly all of them touch words that no other thread has accessed since the last
barrier, or only read. Then the whole access is done here: its bounds, its entries in the shadows, and its data. What
may have to be reported takes the long way through `wb_s_shared`, which notes the same entries as this does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import and_

from vgpu.base.context import ENTRY_PLACE, ENTRY_STRENGTH, ENTRY_THREADS, ENTRY_TIME
from vgpu.ir.value import LANES, V32, V64, Value, vector
from vgpu.runtime.overwrites import LOAD, STORE
from vgpu.runtime.shadow.body import Watched

WORD, ENTRY, HALF = 4, 8, LANES // 2
_HEAD = f"ptr ctx, ptr site, i32 place, {V32} where, i32 mask, i32 rule, ptr notes"
"""`where`: offsets in shared memory, unchecked yet; `rule`, `notes`: as for `wb_s_shared`."""
_TABLES = ("writes", "reads", "others")
_THREAD, _WARP = ENTRY_THREADS - 1, ENTRY_THREADS - LANES


class _Half:
    """Half of a warp: its active `lanes` (an i16) and where its `first` one, or lane 0 of it, is in shared memory."""

    def __init__(self, r: Watched, number: int, mask: Value):
        self.r, self.listed = r, range(number * HALF, (number + 1) * HALF)
        self.lanes = (mask >> number * HALF).to("i16")
        where = r["where"].shuffle(None, self.listed)
        first = self.lanes.intrinsic("llvm.cttz", flag=False) & HALF - 1
        at = r.variable("i32", where.lane(0))
        with r.when(self.lanes.ne(-1)):
            at.set(r.load(r.at(r.spread(where), first, "i32"), "i32", WORD))
        self.where, self.at, self.row = where, at.get(), at.get() - first.to("i32") * WORD

    def all(self, found: Value) -> Value:
        return (~found.bitcast("i16") & self.lanes).eq(0)

    def is_row(self) -> Value:
        return self.all(self.where.eq(self.r.each_lane("i32", range(0, HALF * WORD, WORD)) + self.row.splat(HALF)))

    def is_word(self) -> Value:
        return self.all(self.where.eq(self.at.splat(HALF)))

    def load(self, place: Value, kind: str) -> Value:
        """A row's elements from a place on, 0 for lanes that are off."""
        whole = vector(kind, HALF)
        name = f"llvm.masked.load.v{HALF}{kind}.p0"
        size = self.r.number("i32", WORD)
        nothing = self.r.number(whole, 0)
        return self.r.call(whole, name, place, size, self.lanes.bitcast(vector("i1", HALF)), nothing)

    def store(self, place: Value, values: Value) -> None:
        name = f"llvm.masked.store.v{HALF}{values.element}.p0"
        size = self.r.number("i32", WORD)
        self.r.call("void", name, values, place, size, self.lanes.bitcast(vector("i1", HALF)))


class _Shadows:
    """What the access in hand compares entries with, and where they are."""

    def __init__(self, r: Watched):
        self.r = r
        self.floor, self.start = (r.watch(name) << ENTRY_TIME for name in ("floor", "start"))
        place, strength = r["place"].to("i64") << ENTRY_PLACE, (r["rule"] >> 2 & 3).to("i64") << ENTRY_STRENGTH
        self.new = r.watch("time") << ENTRY_TIME | place | strength | r.slot("warp") << 5

    def places(self, at: Value) -> list[Value]:
        """Where the entries of the word at an offset are: pointers."""
        return [(self.r.watch(name) + (at.to("i64", signed=True) << 1)).to("ptr") for name in _TABLES]

    def threads(self, half: _Half) -> Value:
        """The entries of a half-warp's threads for this access."""
        return self.r.each_lane("i64", half.listed) + self.new.splat(HALF)

    def live(self, entry: Value) -> Value:
        """Whether an access was after the last barrier."""
        return entry.reaches(self.floor)

    def harmless(self, entry: Value, me: Value) -> Value:
        """Whether an access was before the last barrier, or this lane's own."""
        return entry.below(self.floor) | ((entry ^ me) & _THREAD).eq(0)

    def is_set(self, entry: Value) -> Value:
        return entry.reaches(self.start)

    def kept(self, read: Value, other: Value, me: Value, second: Value) -> Value:
        """Of a word that `me` reads now: the entry of an earlier read, another warp's if there is one.

        `second`: what it is where there is none.
        """
        read_far, other_far = (self.live(e) & ((e ^ me) & _WARP).ne(0) for e in (read, other))
        return read_far.select(read, other_far.select(other, second))

    def before(self, read: Value, other: Value, me: Value) -> Value:
        """The `second` of a word that only one lane reads."""
        return (self.live(read) & ((read ^ me) & _THREAD).ne(0)).select(read, other)


def _in_bounds(r: Watched, mask: Value) -> Value:
    """Whether all lanes are inside shared memory and the array that the address was made from."""
    row = r.at(r.watch("bounds").to("ptr"), r["place"].to("i64") << 4)
    low, high = r.load(row, "i64", 8), r.load(r.at(row, 8), "i64", 8)
    room = high.intrinsic("llvm.smin", r.slot("shared_bytes")) - low - WORD
    outside = (r["where"] - low.to("i32").splat()).above(room.to("i32").splat())
    return (outside.bits() & mask).eq(0) & room.reaches(0, signed=True)


def _apart(low: _Half, high: _Half) -> Value:
    """Whether two rows have no word in common."""
    near = (high.row - low.row + (HALF - 1) * WORD).below(2 * (HALF - 1) * WORD + 1)
    return ~near | low.lanes.eq(0) | high.lanes.eq(0)


def _data(r: Watched, at: Value) -> Value:
    return (r.slot("shared_base") + at.to("i64", signed=True)).to("ptr")


def _all(found: Sequence[Value]) -> Value:
    return reduce(and_, found)


@contextmanager
def _plain(r: Watched, mask: Value) -> Iterator[tuple[_Shadows, _Half, _Half]]:
    """The block runs if the access may be done here: a word has one entry, and no copy may be in flight to it."""
    with r.when(r.watch("shift").eq(2) & r.watch("copies").eq(0) & mask.ne(0) & _in_bounds(r, mask)):
        low, high = (_Half(r, number, mask) for number in (0, 1))
        with r.when(((low.at | high.at) & WORD - 1).eq(0)):
            yield _Shadows(r), low, high


def _check(r: Watched, counted: bool, rule: int) -> Value:
    """The answer of the access check."""
    given = r["ctx"], r["site"], r["where"], r["mask"], r.number("i32", WORD), r.number("i32", rule)
    return r.call("i64", f"wb_{'c' if counted else 'p'}_shared", *given)


def _routine(kind: str, counted: bool, rule: int, value: str, result: str) -> tuple[Watched, Value, Callable[[], None]]:
    """A routine, the lanes that may go on, and what ends it the long way. What isn't counted is checked only there."""
    r = Watched(f"wb_s_{'c' if counted else 'p'}_shared_{kind}32", _HEAD + value, result, words="")
    checked = _check(r, counted, rule) if counted else None

    def end() -> None:
        answer = _check(r, counted, rule) if checked is None else checked
        site = r["site"] if counted else r.null()
        given = [r["ctx"], site, r["place"], r["where"], answer, r["rule"], r["notes"]]
        found = r.call(result, f"slow_s_shared_{kind}32", *given, *([r["value"]] if value else []))
        r.give(found if result != "void" else None)

    return r, r["mask"] if checked is None else checked.to("i32"), end


def load(counted: bool) -> Watched:
    """A load: its values."""
    r, mask, end = _routine("load", counted, LOAD, "", V32)
    with _plain(r, mask) as (shadows, low, high):
        with r.when(low.is_row() & high.is_row()):
            with r.when(_apart(low, high)):
                _load_rows(r, shadows, [low, high])
            with r.when(low.row.eq(high.row) & low.lanes.eq(high.lanes)):
                # The upper half is the last to read each word, the lower half the one before.
                _load_rows(r, shadows, [high], shadows.threads(low))
        with r.when(low.is_word() & high.is_word()):
            _load_words(r, shadows, low, high, mask)
    end()
    return r


def _load_rows(r: Watched, shadows: _Shadows, rows: Sequence[_Half], second: Value | None = None) -> None:
    """Load rows without common words and return, if no lane has to be reported."""
    mine = [shadows.threads(half) for half in rows]
    places = [shadows.places(half.row) for half in rows]
    good = []
    for half, me, (writes, _, _) in zip(rows, mine, places, strict=True):
        write = half.load(writes, "i64")
        good.append(half.all(shadows.is_set(write) & shadows.harmless(write, me)))
    with r.when(_all(good)):
        for half, me, (_, reads, others) in zip(rows, mine, places, strict=True):
            read, other = half.load(reads, "i64"), half.load(others, "i64")
            before = shadows.before(read, other, me) if second is None else second
            half.store(others, shadows.kept(read, other, me, before))
            half.store(reads, me)
        found = [half.load(_data(r, half.row), "i32") for half in rows]
        r.give(found[0].shuffle(found[-1], range(LANES)))


def _load_words(r: Watched, shadows: _Shadows, low: _Half, high: _Half, mask: Value) -> None:
    """Load one word or two, each for several lanes, and return, if no lane has to be reported."""
    one = low.at.eq(high.at) | low.lanes.eq(0) | high.lanes.eq(0)
    first = low.lanes.eq(0).select(high.at, low.at)
    ats = first, one.select(first, high.at)
    groups = one.select(mask, mask & 0xFFFF), mask & 0xFFFF0000
    places = [shadows.places(at) for at in ats]
    writes = [r.load(where[0], "i64", ENTRY) for where in places]
    with r.when(_all([shadows.is_set(write) & ~shadows.live(write) for write in writes])):
        for number in (0, 1):
            with r.when(one.select(r.number("i1", number == 0), 1)):
                _note_word(r, shadows, groups[number], *places[number][1:])
        found = [r.load(_data(r, at), "i32", WORD).splat(HALF) for at in ats]
        r.give(mask.lanes().select(found[0].shuffle(found[1], range(LANES)), 0))


def _note_word(r: Watched, shadows: _Shadows, group: Value, reads: Value, others: Value) -> None:
    """Lanes read a word together: the highest is the last reader, the next one the reader before."""
    highest = lambda lanes: (31 - lanes.intrinsic("llvm.ctlz", flag=False)).to("i64")
    top = highest(group)
    rest = group & ~top.bit()
    me, read, other = shadows.new + top, r.load(reads, "i64", ENTRY), r.load(others, "i64", ENTRY)
    second = rest.eq(0).select(shadows.before(read, other, me), shadows.new + highest(rest))
    r.store(others, shadows.kept(read, other, me, second), ENTRY)
    r.store(reads, me, ENTRY)


def store(counted: bool) -> Watched:
    """A store, of whose rows no two lanes share a word."""
    r, mask, end = _routine("store", counted, STORE, f", {V32} value", "void")
    with _plain(r, mask) as (shadows, *rows), r.when(_all([half.is_row() for half in rows]) & _apart(*rows)):
        mine = [shadows.threads(half) for half in rows]
        places = [shadows.places(half.row) for half in rows]
        good = [
            half.all(shadows.harmless(half.load(place, "i64"), me))
            for half, me, tables in zip(rows, mine, places, strict=True) for place in tables
        ]  # fmt: skip
        with r.when(_all(good)):
            for half, me, (writes, _, _) in zip(rows, mine, places, strict=True):
                half.store(writes, me)
                half.store(_data(r, half.row), r["value"].shuffle(None, half.listed))
            r.give()
    end()
    return r


_SLOW = _HEAD.replace("i32 mask", "i64 answer")
"""`site`: of a store whose overwritten lanes are counted, or null; `answer`: of the access check."""


def slow_load() -> Watched:
    """Any load, told and then done."""
    r = Watched("slow_s_shared_load32", _SLOW, V32, words="noinline cold")
    answer = _told(r, r.number("i32", 0))
    r.give(r.call(V32, "wb_load32", _addresses(r), answer))
    return r


def slow_store() -> Watched:
    """Any store, told and then done."""
    r = Watched("slow_s_shared_store32", f"{_SLOW}, {V32} value", words="noinline cold")
    at, mask = _addresses(r), r["answer"].to("i32")
    answer = _told(r, r.call("i32", "wb_s_differs32", r["ctx"], r["place"], at, r["value"], mask))
    with r.when(r["site"].ne("null")):
        r.call("void", "wb_told_store32", r["site"], at, r["value"], answer)
    with r.when(r["site"].eq("null")):
        r.call("void", "wb_store32", at, r["value"], answer)
    r.call("void", "wb_s_clash32", r["ctx"], r["place"], at, r["value"], answer.to("i32"))
    return r


def _addresses(r: Watched) -> Value:
    return r["where"].to(V64) + r.slot("shared_base")


def _told(r: Watched, differs: Value) -> Value:
    """The access check's answer without the lanes that were left out."""
    mask, answer = r["answer"].to("i32"), r["answer"]
    given = (r["ctx"], r["place"], r["where"].to(V64), mask, r.number("i32", WORD), r["rule"], differs, r["notes"])
    good = r.call("i32", "wb_s_shared", *given)
    return good.eq(mask).select(answer, good.to("i64"))

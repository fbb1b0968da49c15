"""Loads and stores of 4 or 8 bytes a lane in shared memory, where each half of the warp accesses a row or one element.

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

WIDTHS = 32, 64  # bits of an element
WORD, ENTRY, HALF = 4, 8, LANES // 2
_HEAD = f"ptr ctx, ptr site, i32 place, {V32} where, i32 mask, i32 rule, ptr notes"
"""`where`: offsets in shared memory, unchecked yet; `rule`, `notes`: as for `wb_s_shared`."""
_TABLES = ("writes", "reads", "others")
_THREAD, _WARP = ENTRY_THREADS - 1, ENTRY_THREADS - LANES


class _Half:
    """Half of a warp: its active `lanes` (an i16), and where the first of them is `at`, or would be lane 0 of a `row`.

    Each lane accesses `nbytes` of shared memory, which have an entry for each word.
    """

    def __init__(self, r: Watched, number: int, mask: Value, nbytes: int):
        self.r, self.nbytes, self.listed = r, nbytes, range(number * HALF, (number + 1) * HALF)
        self.lanes = (mask >> number * HALF).to("i16")
        self.where = r["where"].shuffle(None, self.listed)
        first = self.lanes.intrinsic("llvm.cttz", flag=False) & HALF - 1
        at = r.variable("i32", self.where.lane(0))
        with r.when(self.lanes.ne(-1)):
            at.set(r.load(r.at(r.spread(self.where), first, "i32"), "i32", WORD))
        self.at, self.row = at.get(), at.get() - first.to("i32") * nbytes

    def is_row(self) -> Value:
        steps = self.r.each_lane("i32", range(0, HALF * self.nbytes, self.nbytes))
        return self.all(self.where.eq(steps + self.row.splat(HALF)))

    def is_one(self) -> Value:
        return self.all(self.where.eq(self.at.splat(HALF)))

    def all(self, found: Value) -> Value:
        """Whether an i1 of each element, or of each of its words, is set for all active lanes."""
        kind = f"i{found.count}"
        return (~found.bitcast(kind) & self._mask(found.count).bitcast(kind)).eq(0)

    def each_word(self) -> list[int]:
        """The lane that accesses each word of the row."""
        return [lane for lane in self.listed for _ in range(self.nbytes // WORD)]

    def load(self, place: Value, kind: str, count: int) -> Value:
        """A row's elements, or its words' entries, from a place on, 0 for lanes that are off."""
        whole = vector(kind, count)
        given = place, self.r.number("i32", WORD), self._mask(count), self.r.number(whole, 0)
        return self.r.call(whole, f"llvm.masked.load.v{count}{kind}.p0", *given)

    def store(self, place: Value, values: Value) -> None:
        name = f"llvm.masked.store.v{values.count}{values.element}.p0"
        self.r.call("void", name, values, place, self.r.number("i32", WORD), self._mask(values.count))

    def _mask(self, count: int) -> Value:
        return self.lanes.bitcast(vector("i1", HALF)).shuffle(None, [i * HALF // count for i in range(count)])


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
        """The entries of a half-warp's threads for this access, for each word of its row."""
        lanes = half.each_word()
        return self.r.each_lane("i64", lanes) + self.new.splat(len(lanes))

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


def _in_bounds(r: Watched, mask: Value, nbytes: int) -> Value:
    """Whether all lanes are inside shared memory and the array that the address was made from."""
    row = r.at(r.watch("bounds").to("ptr"), r["place"].to("i64") << 4)
    low, high = r.load(row, "i64", 8), r.load(r.at(row, 8), "i64", 8)
    room = high.intrinsic("llvm.smin", r.slot("shared_bytes")) - low - nbytes
    outside = (r["where"] - low.to("i32").splat()).above(room.to("i32").splat())
    return (outside.bits() & mask).eq(0) & room.reaches(0, signed=True)


def _apart(low: _Half, high: _Half) -> Value:
    """Whether two rows have no word in common."""
    length = HALF * low.nbytes
    near = (high.row - low.row + (length - 1)).below(2 * length - 1)
    return ~near | low.lanes.eq(0) | high.lanes.eq(0)


def _data(r: Watched, at: Value) -> Value:
    return (r.slot("shared_base") + at.to("i64", signed=True)).to("ptr")


def _all(found: Sequence[Value]) -> Value:
    return reduce(and_, found)


@contextmanager
def _plain(r: Watched, mask: Value, nbytes: int) -> Iterator[tuple[_Shadows, _Half, _Half]]:
    """The block runs if the access may be done here: each word has one entry, and no copy may be in flight to it."""
    alone = r.slot("cluster").eq(1)  # nor may another block have an entry
    with r.when(alone & r.watch("shift").eq(2) & r.watch("copies").eq(0) & mask.ne(0) & _in_bounds(r, mask, nbytes)):
        low, high = (_Half(r, number, mask, nbytes) for number in (0, 1))
        with r.when(((low.at | high.at) & nbytes - 1).eq(0)):
            yield _Shadows(r), low, high


def _check(r: Watched, counted: bool, rule: int, nbytes: int) -> Value:
    """The answer of the access check."""
    given = r["ctx"], r["site"], r["where"], r["mask"], r.number("i32", nbytes), r.number("i32", rule)
    return r.call("i64", f"wb_{'c' if counted else 'p'}_shared", *given)


def _routine(
    kind: str, counted: bool, rule: int, bits: int, value: str, result: str
) -> tuple[Watched, Value, Callable[[], None]]:
    """A routine, the lanes that may go on, and what ends it the long way. What isn't counted is checked only there."""
    r = Watched(f"wb_s_{'c' if counted else 'p'}_shared_{kind}{bits}", _HEAD + value, result, words="")
    checked = _check(r, counted, rule, bits // 8) if counted else None

    def end() -> None:
        answer = _check(r, counted, rule, bits // 8) if checked is None else checked
        site = r["site"] if counted else r.null()
        given = [r["ctx"], site, r["place"], r["where"], answer, r["rule"], r["notes"]]
        found = r.call(result, f"slow_s_shared_{kind}{bits}", *given, *([r["value"]] if value else []))
        r.give(found if result != "void" else None)

    return r, r["mask"] if checked is None else checked.to("i32"), end


def load(counted: bool, bits: int) -> Watched:
    """A load: its values."""
    r, mask, end = _routine("load", counted, LOAD, bits, "", vector(f"i{bits}"))
    with _plain(r, mask, bits // 8) as (shadows, low, high):
        with r.when(low.is_row() & high.is_row()):
            with r.when(_apart(low, high)):
                _load_rows(r, shadows, [low, high])
            with r.when(low.row.eq(high.row) & low.lanes.eq(high.lanes)):
                # The upper half is the last to read each word, the lower half the one before.
                _load_rows(r, shadows, [high], shadows.threads(low))
        with r.when(low.is_one() & high.is_one()):
            _load_ones(r, shadows, low, high, mask)
    end()
    return r


def _load_rows(r: Watched, shadows: _Shadows, rows: Sequence[_Half], second: Value | None = None) -> None:
    """Load rows without common words and return, if no lane has to be reported."""
    mine = [shadows.threads(half) for half in rows]
    places = [shadows.places(half.row) for half in rows]
    entries = lambda half, me, table: half.load(table, "i64", me.count)
    good = []
    for half, me, (writes, _, _) in zip(rows, mine, places, strict=True):
        write = entries(half, me, writes)
        good.append(half.all(shadows.is_set(write) & shadows.harmless(write, me)))
    with r.when(_all(good)):
        for half, me, (_, reads, others) in zip(rows, mine, places, strict=True):
            read, other = entries(half, me, reads), entries(half, me, others)
            before = shadows.before(read, other, me) if second is None else second
            half.store(others, shadows.kept(read, other, me, before))
            half.store(reads, me)
        found = [half.load(_data(r, half.row), f"i{8 * half.nbytes}", HALF) for half in rows]
        r.give(found[0].shuffle(found[-1], range(LANES)))


def _load_ones(r: Watched, shadows: _Shadows, low: _Half, high: _Half, mask: Value) -> None:
    """Load one element or two, each for several lanes, and return, if no lane has to be reported."""
    one = low.at.eq(high.at) | low.lanes.eq(0) | high.lanes.eq(0)
    first = low.lanes.eq(0).select(high.at, low.at)
    ats = first, one.select(first, high.at)
    words = range(0, low.nbytes, WORD)
    groups = one.select(mask, mask & 0xFFFF), mask & 0xFFFF0000
    places = [[shadows.places(at + word) for word in words] for at in ats]
    writes = [r.load(tables[0], "i64", ENTRY) for element in places for tables in element]
    with r.when(_all([shadows.is_set(write) & ~shadows.live(write) for write in writes])):
        for number in (0, 1):
            with r.when(one.select(r.number("i1", number == 0), 1)):
                for _, reads, others in places[number]:
                    _note_word(r, shadows, groups[number], reads, others)
        found = [r.load(_data(r, at), f"i{8 * low.nbytes}", WORD).splat(HALF) for at in ats]
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


def store(counted: bool, bits: int) -> Watched:
    """A store, of whose rows no two lanes share a word."""
    r, mask, end = _routine("store", counted, STORE, bits, f", {vector(f'i{bits}')} value", "void")
    with (
        _plain(r, mask, bits // 8) as (shadows, *rows),
        r.when(_all([half.is_row() for half in rows]) & _apart(*rows)),
    ):
        mine = [shadows.threads(half) for half in rows]
        places = [shadows.places(half.row) for half in rows]
        good = [
            half.all(shadows.harmless(half.load(place, "i64", me.count), me))
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


def slow_load(bits: int) -> Watched:
    """Any load, told and then done."""
    kind = vector(f"i{bits}")
    r = Watched(f"slow_s_shared_load{bits}", _SLOW, kind, words="noinline cold")
    answer = _told(r, bits // 8, r.number("i32", 0))
    r.give(r.call(kind, f"wb_load{bits}", _addresses(r), answer))
    return r


def slow_store(bits: int) -> Watched:
    """Any store, told and then done."""
    r = Watched(f"slow_s_shared_store{bits}", f"{_SLOW}, {vector(f'i{bits}')} value", words="noinline cold")
    at, mask = _addresses(r), r["answer"].to("i32")
    differs = r.call("i32", f"wb_s_differs{bits}", r["ctx"], r["place"], at, r["value"], mask)
    answer = _told(r, bits // 8, differs)
    with r.when(r["site"].ne("null")):
        r.call("void", f"wb_told_store{bits}", r["site"], at, r["value"], answer)
    with r.when(r["site"].eq("null")):
        r.call("void", f"wb_store{bits}", at, r["value"], answer)
    r.call("void", f"wb_s_clash{bits}", r["ctx"], r["place"], at, r["value"], answer.to("i32"))
    return r


def _addresses(r: Watched) -> Value:
    return r["where"].to(V64) + r.slot("shared_base")


def _told(r: Watched, nbytes: int, differs: Value) -> Value:
    """The access check's answer without the lanes that were left out."""
    mask, answer = r["answer"].to("i32"), r["answer"]
    given = (r["ctx"], r["place"], r["where"].to(V64), mask, r.number("i32", nbytes), r["rule"], differs, r["notes"])
    good = r.call("i32", "wb_s_shared", *given)
    return good.eq(mask).select(answer, good.to("i64"))


def of_the_runtime() -> str:
    """Declarations of what these call in every kernel's runtime."""
    lines = [f"declare i64 @wb_{letter}_shared(ptr, ptr, {V32}, i32, i32, i32)" for letter in "cp"]
    for kind, bits in ((vector(f"i{bits}"), bits) for bits in WIDTHS):
        lines += [
            f"declare {kind} @wb_load{bits}({V64}, i64)",
            f"declare void @wb_store{bits}({V64}, {kind}, i64)",
            f"declare void @wb_told_store{bits}(ptr, {V64}, {kind}, i64)",
        ]
    return "\n".join(lines) + "\n"


def routines() -> list[Watched]:
    both = [make(counted, bits) for make in (load, store) for counted in (False, True) for bits in WIDTHS]
    return both + [make(bits) for make in (slow_load, slow_store) for bits in WIDTHS]

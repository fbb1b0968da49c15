"""Requests whose pattern comes again, and the shortest way through those that have a plain shape.

A load or store of 4 or 8 bytes a lane first asks whether its site has seen a row, one element for all lanes, or a
window of shared memory, and sees it again. Then it is counted and done here, without a call and with no vector kept in
memory, so that the function needs no frame; whatever else there is goes to the function called @far_….
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vgpu.base.context import FOLLOWS, PATTERN_WORDS, SEARCHES
from vgpu.ir.value import LANES, V32, V64, Value, element_bits, parts, vector
from vgpu.runtime.count import touched
from vgpu.runtime.overwrites import LOAD, STORE
from vgpu.runtime.pattern import HALVES, RUN, SAME, WINDOW, Request
from vgpu.runtime.write import Routine

ADDRESSES = {"global": V64, "shared": V32}  # where 32 lanes access memory, by space
HALF = LANES // 2


class Repeated(Request):
    """… and whether its pattern `fits` again: it comes again, within the memory of the site.

    `from_base` is the distance of its lowest address from the `base` of its memory, `room` what that may be, and
    `learnt` is what the site knows of the phase.
    """

    def __init__(self, r: Routine, space: str, size: Value, counted: bool):
        super().__init__(r, r["where"], r["mask"], size)
        self._look(space, counted, self.same_offsets & self.same_lanes)

    def _look(self, space: str, counted: bool, same: Value) -> None:
        """Whether the request fits, if its offsets and lanes are the `same`."""
        r = self.r
        self.space, self.counted = space, counted
        self.marks = counted and space == "global"
        self.base = r.known("base") if space == "global" else r.number("i64", 0)
        self.low = self.lowest()
        self.from_base = self.low - self.base
        self.room = r.known("room")
        self.fits = same & (self.room.reaches(self.from_base) & self.same_bits)
        if counted:
            self.learnt = r.load(self.phase(), "i32", 4)
            self.fits = self.fits & self.learnt.ne(0)

    def count(self, rule: Value) -> None:
        """Count the request; `units` are its sectors or wavefronts. Of global memory find what it touches."""
        if not self.counted:
            return
        r, prefix, unit = self.r, "", "sectors"
        if self.space == "shared":
            prefix, unit = "shared_", "shared_wavefronts"
        self.units = (r.many(self.learnt) if self.marks else self.learnt).to("i64")
        active = r.known("active")
        r.bump(f"{prefix}requests", 1)
        r.bump(unit, self.units)
        r.bump("lanes", active)
        if self.marks:
            self.touched = touched(r, rule)
            self.lowest_mark = self.mark_at(self.from_base)

    def mark_at(self, from_base: Value) -> Value:
        """Where a sector is marked in the map of those touched."""
        return self.r.at(self.touched, from_base >> 5)

    def mark(self, *places: Value) -> None:
        for place in places:
            self.r.store(place, self.r.number("i8", 1))

    def mark_row(self, size: Value | int) -> None:
        """Mark the sectors of a row: as many as an element has bytes, or one more."""
        self.r.fill(self.lowest_mark, 1, size)
        self.mark(self.r.at(self.lowest_mark, self.units - 1))

    def pointer(self, offset: Value) -> Value:
        """… of an address or, in shared memory, an offset."""
        return (offset if self.space == "global" else self.r.slot("shared_base") + offset).to("ptr")

    def halves(self, nbytes: int) -> list[Value]:
        """Where the two rows begin; what they touch is marked."""
        r, step = self.r, element_bits(self.first.kind) // 8
        second = (self.first + r.load(r.at(self.pattern, HALF * step), self.first.kind, step)).to("i64")
        for start in (self.first64, second) if self.marks else ():
            from_base = start - self.base
            r.fill(self.mark_at(from_base), 1, nbytes // 2)
            self.mark(self.mark_at(from_base + (HALF - 1) * nbytes))
        return [self.pointer(start) for start in (self.first64, second)]

    def ask_ahead(self, nbytes: int, *starts: Value) -> None:
        """Ask for what this site may want next: as far from the rows that start here as these from the last ones.

        The CPU takes all sites for one stream of loads, since one function serves them, and does not guess it.
        """
        if self.space != "global":
            return
        r = self.r
        step = self.first64 - r.known("last")
        r.set_site(last=self.first64)
        flags = [r.number("i32", flag) for flag in (0, 3, 1)]  # to read, keep it, data
        for start in starts:
            following = r.at(start, step)
            for line in range(0, LANES * nbytes // len(starts), 64):
                r.call("void", "llvm.prefetch.p0", r.at(following, line), *flags)


class Following(Repeated):
    """A request `offset` bytes from another's `base`, of the same lanes: then its pattern is that of its `leader`."""

    def __init__(self, r: Routine, space: str, size: Value, counted: bool):
        self._begin(r, r.load(r["base"], element_of(space), 64) + r["offset"].to(element_of(space)), r["mask"], size)
        searches, follows = r.load(r.at(r["leader"], SEARCHES), "i64", 8), r.load(r.at(r["site"], FOLLOWS), "i64", 8)
        self._look(space, counted, searches.eq(follows))


class SideBySide(Repeated):
    """A request to global memory of which the `first` address is given: the elements of all lanes lie side by side."""

    def __init__(self, r: Routine, space: str, size: Value, counted: bool):
        self._begin(r, r["first"], r["mask"], size)
        self._look(space, counted, r.known("mask").eq(self.mask64))


def element_of(space: str) -> str:
    """The type of one address."""
    return parts(ADDRESSES[space])[1]


@contextmanager
def _plain(
    r: Routine, space: str, counted: bool, nbytes: int, shapes: tuple[int, ...], rule: int,
    kind: type[Repeated] = Repeated,
) -> Iterator:  # fmt: skip
    """The block runs if the site's pattern has one of these shapes and comes again: then it is counted.

    It gets the request, the shape and a pointer to the lowest address, and all else goes to the function @far_….
    """
    shape = r.known("shape")
    with r.when(r.among(shape, shapes)):
        request = kind(r, space, r.number("i32", nbytes), counted)
        with r.when(request.fits):
            request.count(r.number("i32", rule))
            yield request, shape, request.pointer(request.low)
    r.pass_on(r.function.replace("wb_", "far_"))


def _window(r: Routine, place: Value) -> Value:
    """32 neighbouring words of shared memory, permuted in registers: far cheaper than a gather, where AVX-512 has it."""
    kind = vector("i32", HALF)
    a, b = (r.load(r.at(place, offset), kind, 4) for offset in (0, 64))
    indices = (r.load(r.at(r["site"], PATTERN_WORDS + offset), kind, 64) for offset in (0, 64))
    low, high = (r.call(kind, "llvm.x86.avx512.vpermi2var.d.512", a, index, b) for index in indices)
    return low.shuffle(high, range(LANES))


FOLLOWER = "ptr ctx, ptr site, ptr leader, ptr base, i64 offset, i32 mask"
_LANES = "ptr ctx, ptr site, {lanes} where, i32 mask"
_FIRST = "ptr ctx, ptr site, {lane} first, i32 mask"
LOADS = {"load": (Repeated, _LANES), "next": (Following, FOLLOWER), "row_load": (SideBySide, _FIRST)}
"""Of each way to load, how the request is given: by all addresses, by those of an earlier access, or by the first."""
STORES = {"store": (Repeated, _LANES), "row_store": (SideBySide, _FIRST)}


def routine(word: str, space: str, counted: bool, bits: int, name: str = "wb") -> Routine:
    """A load or store of `bits` a lane, or what does it the long way, by its word in LOADS or STORES."""
    kind, stores = vector(f"i{bits}"), word in STORES
    given = ({**LOADS, **STORES}[word][1]).format(lanes=ADDRESSES[space], lane=element_of(space))
    value, result = (f", {kind} value", "void") if stores else ("", kind)
    return Routine(f"{name}_{'c' if counted else 'p'}_{space}_{word}{bits}", given + value, result, words="")


def shared_row(word: str, counted: bool, bits: int) -> Routine:
    """A load or store in shared memory whose elements lie side by side: nothing has to be learnt to know its cost."""
    r, nbytes = routine(word, "shared", counted, bits), bits // 8
    first, mask = r["first"], r["mask"]
    lowest, beyond = r.lowest(mask), LANES - mask.intrinsic("llvm.ctlz", flag=False)
    end = (first + lowest * nbytes).to("i64") + ((beyond - lowest) * nbytes).to("i64")
    fits = mask.ne(0) & (first & nbytes - 1).eq(0) & r.slot("shared_bytes").reaches(end)
    with r.when(fits):
        if counted:
            r.bump("shared_requests", 1)
            r.bump("shared_wavefronts", _served(mask, nbytes))
            r.bump("lanes", r.many(mask).to("i64"))
        place = (r.slot("shared_base") + first.to("i64", signed=True)).to("ptr")
        if word in STORES:
            r.store_lanes(place, r["value"], mask, nbytes)
            r.give()
        else:
            r.give(r.load_lanes(place, f"i{bits}", mask, nbytes))
    r.pass_on(r.function.replace("wb_", "far_"))
    return r


def _served(mask: Value, nbytes: int) -> Value | int:
    """The wavefronts of neighbours in shared memory: one for each 128 bytes of lanes, if any of them runs."""
    if nbytes == 4:
        return 1
    return (mask & 0xFFFF).ne(0).to("i64") + (mask >> HALF).ne(0).to("i64")


def load(word: str, space: str, counted: bool, bits: int, windows: bool) -> Routine:
    """A load of 4 or 8 bytes a lane, in one of the ways of LOADS."""
    kind, nbytes, look = f"i{bits}", bits // 8, LOADS[word][0]
    r = routine(word, space, counted, bits)
    near = windows and space == "shared" and bits == 32
    shapes = (RUN, SAME, HALVES, WINDOW) if near else (RUN, SAME, HALVES)
    with _plain(r, space, counted, nbytes, (RUN,) if look is SideBySide else shapes, LOAD, look) as found:
        request, shape, place = found
        if look is not SideBySide:
            _other_shapes(r, request, shape, place, kind, near)
        if request.marks:
            request.mark_row(nbytes)
        request.ask_ahead(nbytes, place)
        r.give(r.load(place, vector(kind), nbytes))
    return r


def _other_shapes(r: Routine, request: Repeated, shape: Value, place: Value, kind: str, near: bool) -> None:
    """Loads of all shapes but a row; `near` where a window of shared memory is one of them."""
    nbytes = element_bits(kind) // 8
    with r.when(shape.eq(SAME)):
        if request.marks:
            request.mark(request.lowest_mark)
        r.give(r.load(place, kind, nbytes).splat())
    with r.when(shape.eq(HALVES)):
        starts = request.halves(nbytes)
        request.ask_ahead(nbytes, *starts)
        low, high = (r.load(start, vector(kind, HALF), nbytes) for start in starts)
        r.give(low.shuffle(high, range(LANES)))
    if near:
        with r.when(shape.eq(WINDOW)):
            r.give(_window(r, place))


def store(word: str, space: str, counted: bool, bits: int) -> Routine:
    """A store of 4 or 8 bytes a lane, in one of the ways of STORES."""
    nbytes, look = bits // 8, STORES[word][0]
    r = routine(word, space, counted, bits)
    with _plain(r, space, counted, nbytes, (RUN,) if look is SideBySide else (RUN, HALVES), STORE, look) as found:
        request, shape, place = found
        if look is not SideBySide:
            with r.when(shape.eq(HALVES)):
                for half, start in enumerate(request.halves(nbytes)):
                    r.store(start, r["value"].shuffle(None, range(HALF * half, HALF * (half + 1))), nbytes)
                r.give()
        if request.marks:
            request.mark_row(nbytes)
        r.store(place, r["value"], nbytes)
        r.give()
    return r

"""The pattern of offsets that a memory instruction saw last: how it is learned, and compared with the next."""

from __future__ import annotations

from collections.abc import Callable

from vgpu.base.context import PATTERN, PATTERN_WORDS, PHASES
from vgpu.ir.value import LANES, Value, element_bits
from vgpu.runtime.write import Routine

# What an access check answers: the good lanes in the low 32 bits, the shape of the pattern above.
# RUN: lane i has element i of a row; SAME: all lanes one element; WINDOW: all within 128 bytes of shared memory;
# HALVES: lanes 0 to 15 a row, the others another, as where a block is 16 threads wide; SHARED_ELEMENT: of a store that
# is counted, where lanes have an element in common (a bit that no other shape has).
ANY, RUN, SAME, WINDOW, SHARED_ELEMENT, HALVES = 0, 1, 2, 3, 4, 8


class Request:
    """`where` the active lanes of a warp have an element of `size` bytes (i32), beside the pattern its site saw last.

    `diff` are the offsets from lane 0, which is at `first`. Of the pattern `same_offsets`, `same_lanes` and `same_bits`
    say whether the offsets of the active lanes, the lanes themselves and the low bits of the address have come again.
    """

    def __init__(self, r: Routine, where: Value, mask: Value, size: Value):
        self.where = where
        self._begin(r, where.lane(0), mask, size)
        self.diff = where - self.first
        self.same_offsets = (~self.diff.eq(r.load(self.pattern, where.kind, 64)).bits() & mask).eq(0)
        self.same_lanes = r.known("mask").eq(self.mask64)

    def _begin(self, r: Routine, first: Value, mask: Value, size: Value) -> None:
        self.r, self.first, self.mask, self.size = r, first, mask, size
        self.pattern, self.mask64 = r.at(r["site"], PATTERN), mask.to("i64")
        self.first64 = self.first.to("i64")
        self.low_bits = self.first64 & (size - 1 | 3).to("i64")
        self.same_bits = self.low_bits.eq(r.known("bits"))

    def lowest(self) -> Value:
        """The lowest address of the pattern: that of lane 0 and the distance from it, an i64.

        Lane 0 may be off and then has any number at all, so that the sum has to wrap around like the distance.
        """
        return (self.first + self.r.known("low").to(self.first.kind)).to("i64")

    def phases(self) -> Value:
        """Where the site keeps what is learnt of each phase: the words of a sector that a pattern may start in."""
        return self.r.at(self.r["site"], PHASES)

    def phase(self) -> Value:
        """… and of the one that this request starts in."""
        return self.r.at(self.phases(), self.first64 >> 2 & 7, "i32")

    def learn(self, span: Value, strange: Callable[[], None], windows: bool = False) -> None:
        """Keep the pattern: all its lanes are good and aligned, in an allocation of `span` bytes before the last place.

        `strange` ends the function where there is none to keep: lane 0 is off and so far away that distances from it
        wrap.
        """
        r, diff, lanes = self.r, self.diff, self.mask.lanes()
        kind, top = self.first.kind, (1 << element_bits(diff.kind) - 1) - 1

        def reduced(word: str, otherwise: int) -> Value:
            values = lanes.select(diff, r.number(diff.kind, otherwise))
            return r.call(kind, f"llvm.vector.reduce.s{word}.v{LANES}{kind}", values)

        least, most = reduced("min", top), reduced("max", ~top)
        low = least.to("i64", signed=True)
        extent = most.to("i64", signed=True) - low
        with r.when(extent.above(span)):
            strange()
        r.set_site(low=low, room=span - extent)
        with r.when(self.same_offsets & self.same_lanes & self.same_bits ^ 1):
            r.store(self.pattern, diff, 64)
            r.fill(self.phases(), 0, 32)
            shape = self._shape(self._window(least, extent) if windows else r.number("i64", ANY))
            r.set_site(mask=self.mask64, bits=self.low_bits, active=r.many(self.mask).to("i64"), shape=shape)

    def _shape(self, other: Value) -> Value:
        """The shape of the pattern; `other` if it is none of the plain ones."""
        r, diff, full = self.r, self.diff, self.mask.eq(-1)
        ramp = (self.size.splat() * r.each_lane("i32")).to(self.first.kind)
        is_run = full & diff.eq(ramp).bits().eq(-1)
        half = LANES // 2
        to_half = diff.lane(half).splat()
        starts = r.number(diff.kind, 0).shuffle(to_half, [lane + half * (lane >= half) for lane in range(LANES)])
        half_ramp = ramp.shuffle(None, [lane % half for lane in range(LANES)])
        is_half = full & (diff - starts).eq(half_ramp).bits().eq(-1)
        all_same = (~diff.eq(0).bits() & self.mask).eq(0)
        return is_run.select(RUN, all_same.select(SAME, is_half.select(HALVES, other)))

    def _window(self, least: Value, extent: Value) -> Value:
        """Keep the places of the lanes, in words from the lowest; WINDOW if all of them are within 128 bytes."""
        self.r.store(self.r.at(self.r["site"], PATTERN_WORDS), self.diff - least >> 2, 64)
        return (extent.below(125) & self.size.eq(4)).select(self.r.number("i64", WINDOW), ANY)

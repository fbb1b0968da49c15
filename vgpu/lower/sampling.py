"""A texture's sampler as machine code: one function for each combination of texel, filter and address modes.

All that a texture fixes when it is made is compiled in: no lane asks at run time how it is filtered. Formulas:
NVIDIA, "CUDA C++ Programming Guide", appendix "Texture Fetching". The fraction of linear filtering has eight bits
(1.8 fixed point) and is rounded to nearest, so that 1 can occur. All arithmetic is in single precision.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

from vgpu.base import steady
from vgpu.base.context import TEXTURE_FIELD
from vgpu.ir import LANES, Builder, Value, vector
from vgpu.ir.value import V32
from vgpu.runtime import jit
from vgpu.storage.textures import AXES, BORDER, CLAMP, MIRROR, WRAP, Bound, Format

SIZES = ("width", "height", "depth")
GATHER_ORDER = ((0, 1), (1, 1), (1, 0), (0, 0))  # tld4: the corners (x, y) counter-clockwise from the lower left
MOST = {"u8": 255, "s8": 127, "u16": 65535, "s16": 32767}
_lock = steady.lock(rank=2)


@dataclass(frozen=True)
class Plan:
    """What a sampling function is made for; `gather` is the channel of tld4, or None for a plain read."""

    geometry: str
    format: Format
    modes: tuple[int, ...]
    linear: bool
    normalised: bool
    unit_read: bool
    tiled: bool
    gather: int | None = None


@dataclass(frozen=True)
class Tap:
    """One texel along one axis: index within bounds, whether it was inside (None: always), weight (None: 1)."""

    index: Value
    inside: Value | None = None
    weight: Value | None = None


Taps = tuple[Tap, ...]  # along x, y and z


def addresses(bound: Bound) -> dict[str, int]:
    """The fields of a texture's descriptor that hold functions."""
    r, s = bound.resource, bound.sampler
    plan = (r.geometry, r.format, bound.modes, s.linear, s.normalised, s.unit_read, r.tiled)
    found = {"sample": _compiled(Plan(*plan))}
    if r.geometry == "2d" and (r.format.kind == "f" or s.unit_read):
        found |= {f"gather_{channel}": _compiled(Plan(*plan, channel)) for channel in range(4)}
    return found


def _compiled(plan: Plan) -> int:
    with _lock:
        return _compile(plan)


@functools.cache
def _compile(plan: Plan) -> int:
    return jit.compile_kernel(text(plan, "sampler"), "sampler")


def text(plan: Plan, name: str) -> str:
    """LLVM IR of `i32 name(descriptor, mask, a, b, c, results, keys)`: the number of sector keys written.

    `a`, `b`, `c` are the coordinates in PTX's order, results 4 × 32 words; `keys` may be null.
    """
    ir = _Sampling(plan)
    ir.write()
    given = f"ptr %desc, i32 %mask, {V32} %a, {V32} %b, {V32} %c, ptr %out, ptr %keys"
    return "\n".join([*sorted(ir.declarations), "", f"define i32 @{name}({given}) nounwind {{", ir.body(), "}", ""])


class _Sampling(Builder):
    def __init__(self, plan: Plan):
        super().__init__()
        self.plan = plan
        self.mask = self.named("i32", "mask")

    def write(self) -> None:
        plan = self.plan
        given = [self.named(V32, name) for name in "abc"]
        layer = None
        if plan.geometry in ("a1d", "a2d"):
            last = self.field("depth") - 1
            layer = given.pop(0).intrinsic("llvm.umin", last)
        if plan.geometry == "fetch":
            axes = [self.fetched(given[0])]
        else:
            axes = [self.axis(n, given[n]) for n in range(AXES[plan.geometry])]
        # The first axis varies fastest: taps come as (x, y, z).
        taps = [combination[::-1] for combination in itertools.product(*axes[::-1])]
        places = [self.place(tap, layer) for tap in taps]
        self.write_keys(taps, places, layer)
        texels = [self.texel(tap, place) for tap, place in zip(taps, places, strict=True)]
        if plan.gather is not None:
            corner = [texels[x + 2 * y] for x, y in GATHER_ORDER]
            zero = self.number("float", 0)
            channels = [t[plan.gather] if plan.gather < len(t) else zero for t in corner]
        elif len(taps) == 1:
            channels = texels[0]
        else:
            channels = self.filtered(taps, texels)
        self.deliver(channels)
        self.give(self.i32(len(taps) * LANES))

    def field(self, name: str, bits: int = 32) -> Value:
        place = self.at(self.named("ptr", "desc"), TEXTURE_FIELD[name], "i64")
        return self.load(place, "i64", 8).to(f"i{bits}")

    # ------------------------------------------------------------ coordinates

    def fetched(self, index: Value) -> list[Tap]:
        inside = index.below(self.field("width"))
        return [Tap(inside.select(index, 0), inside)]

    def axis(self, number: int, coordinate: Value) -> list[Tap]:
        """The texels that a coordinate reads along one axis: one, or two when filtering or gathering."""
        mode, size = self.plan.modes[number], self.field(SIZES[number])
        n = size.cast("sitofp", "float")
        x = self.scaled(coordinate.as_float(), n, mode)
        two = self.plan.linear or self.plan.gather is not None
        if not two:
            return [self.resolved(self.whole(x.intrinsic("llvm.floor")), size, mode, None)]
        shifted = x - 0.5
        low = shifted.intrinsic("llvm.floor")
        eight = (shifted - low) * 256
        rounded = (eight + 0.5).intrinsic("llvm.floor")
        right = rounded * (1 / 256)
        left = 1 - right
        first = self.whole(low)
        second = first + 1
        return [self.resolved(first, size, mode, left), self.resolved(second, size, mode, right)]

    def scaled(self, x: Value, n: Value, mode: int) -> Value:
        """The coordinate in texels, folded by wrap and mirror, and kept near the texture: NaN is the lower end."""
        if mode in (WRAP, MIRROR):
            floor = x.intrinsic("llvm.floor")
            x = x - floor
            if mode == MIRROR:
                half = floor * 0.5
                odd = half.intrinsic("llvm.floor").compare("one", half)
                x = odd.select(1 - x, x)
            x = x * n
            return x.reaches(0).select(x, 0)
        if self.plan.normalised:
            x = x * n
        above = n + 1
        x = x.above(-1).select(x, -1)
        return x.below(above).select(x, above)

    def whole(self, x: Value) -> Value:
        return x.cast("fptosi", "i32")

    def resolved(self, index: Value, size: Value, mode: int, weight: Value | None) -> Tap:
        last = size - 1
        if mode == WRAP:
            index = index.below(0, signed=True).select(index + size, index)
            return Tap(index.above(last, signed=True).select(index - size, index), None, weight)
        inside = index.below(size) if mode == BORDER else None
        assert mode in (CLAMP, MIRROR, BORDER)  # folded coordinates are at most one texel outside
        index = index.intrinsic("llvm.smax", 0).intrinsic("llvm.smin", last)
        return Tap(index, inside, weight)

    # ------------------------------------------------------------ texels

    def place(self, tap: Taps, layer: Value | None) -> Value:
        """Bytes from the start of the resource, as an unsigned i32."""
        offset = tap[0].index * self.plan.format.nbytes
        if len(tap) > 1:
            offset = offset + tap[1].index * self.field("row_bytes")
        third = tap[2].index if len(tap) > 2 else layer
        if third is not None:
            offset = offset + third * self.field("slice_bytes")
        return offset

    def lanes_inside(self, tap: Taps) -> Value:
        lanes = self.mask.lanes()
        for t in tap:
            if t.inside is not None:
                lanes = lanes & t.inside
        return lanes

    def texel(self, tap: Taps, place: Value) -> list[Value]:
        """The channels of one texel: floats, or i32 where integers stay integers."""
        f = self.plan.format
        lanes = self.lanes_inside(tap)
        answer = lanes.bits().to("i64")
        start = (place.to("i64") + self.field("address", 64)).splat()
        bits = min(32, 8 * f.nbytes)
        places = [start + offset if offset else start for offset in range(0, f.nbytes, bits // 8)]
        words = [self.call(vector(f"i{bits}"), f"wb_load{bits}", at, answer) for at in places]
        channels = []
        for channel in range(f.channels):
            word, shift = divmod(channel * f.bits, bits)
            raw = words[word] >> shift if shift else words[word]
            value = self.converted(raw.to(f"i{f.bits}"))
            if any(t.inside is not None for t in tap):
                fill = value.constant(0)
                if self.plan.geometry != "fetch":
                    fill = self.field(f"border_{channel}")
                    fill = fill.as_float() if value.is_float else fill
                value = lanes.select(value, fill)
            channels.append(value)
        return channels

    def converted(self, raw: Value) -> Value:
        f = self.plan.format
        if f.kind == "f":
            value = raw.cast("bitcast", {16: "half", 32: "float"}[f.bits])
            return value.cast("fpext", "float")
        if not self.plan.unit_read:
            return raw.to("i32", signed=f.kind == "s")
        value = raw.cast("sitofp" if f.kind == "s" else "uitofp", "float")
        value = value / MOST[f"{f.kind}{f.bits}"]
        return value.below(-1).select(-1, value) if f.kind == "s" else value

    def filtered(self, taps: list[Taps], texels: list[list[Value]]) -> list[Value]:
        sums: list[Value] = []
        for tap, texel in zip(taps, texels, strict=True):
            weight = functools.reduce(lambda a, b: a * b, (t.weight for t in tap if t.weight is not None))
            parts = [weight * value for value in texel]
            sums = [a + b for a, b in zip(sums, parts, strict=True)] if sums else parts
        return sums

    def deliver(self, channels: list[Value]) -> None:
        """Write the lanes of the mask; channels that the texels lack are 0."""
        for number in range(4):
            value = channels[number] if number < len(channels) else self.i32(0)
            place = self.at(self.named("ptr", "out"), number * 4 * LANES)
            self.store(place, self.mask.lanes().select(value.as_int(), self.load(place, V32, 64)), 64)

    # ------------------------------------------------------------ counting

    def write_keys(self, taps: list[Taps], places: list[Value], layer: Value | None) -> None:
        """A number for the sector of each tap, all ones where nothing is read; only for a run that counts."""
        keys = self.named("ptr", "keys")
        with self.when(keys.ne("null")):
            for number, (tap, place) in enumerate(zip(taps, places, strict=True)):
                key = self.lanes_inside(tap).select(self.sector(tap, place, layer), -1)
                self.store(self.at(keys, number * 4 * LANES), key, 64)

    def sector(self, tap: Taps, place: Value, layer: Value | None) -> Value:
        if not self.plan.tiled:
            return place >> 5
        nbytes = self.plan.format.nbytes
        row = self.field("width") * nbytes
        per_row = row + 15 >> 4
        rows = self.field("height") + 1 >> 1
        y = tap[1].index >> 1
        third = tap[2].index if len(tap) > 2 else layer
        if third is not None:
            y = y + third * rows
        x = tap[0].index * nbytes >> 4
        return y * per_row + x

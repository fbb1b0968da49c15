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
from vgpu.runtime import jit
from vgpu.runtime.emit import LANES, Emitter, Value
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
    e = _Sampling(plan)
    e.body()
    body, declarations = "\n".join(e.lines), "\n".join(sorted(e.declarations))
    v = f"<{LANES} x i32>"
    return (
        f"{declarations}\n\ndefine i32 @{name}(ptr %desc, i32 %mask, {v} %a, {v} %b, {v} %c, ptr %out, ptr %keys) "
        f"nounwind {{\n{body}\n}}\n"
    )


class _Sampling(Emitter):
    def __init__(self, plan: Plan):
        super().__init__()
        self.plan = plan

    def body(self) -> None:
        plan = self.plan
        given = [Value(name, "i32", True) for name in ("%a", "%b", "%c")]
        layer = None
        if plan.geometry in ("a1d", "a2d"):
            last = self.bin("sub", self.field("depth"), self.const("i32", 1))
            layer = self.intrinsic("llvm.umin", given.pop(0), last)
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
            zero = self.const("float", 0)
            channels = [t[plan.gather] if plan.gather < len(t) else zero for t in corner]
        elif len(taps) == 1:
            channels = texels[0]
        else:
            channels = self.filtered(taps, texels)
        self.deliver(channels)
        self.line(f"ret i32 {len(taps) * LANES}")

    def field(self, name: str, bits: int = 32) -> Value:
        p = self.assign(f"getelementptr i64, ptr %desc, i64 {TEXTURE_FIELD[name]}", "ptr", False)
        return self.resize(self.assign(f"load i64, ptr {p.text}", "i64", False), bits)

    # ------------------------------------------------------------ coordinates

    def fetched(self, index: Value) -> list[Tap]:
        inside = self.icmp("ult", index, self.field("width"))
        return [Tap(self.select(inside, index, self.const("i32", 0)), inside)]

    def axis(self, number: int, coordinate: Value) -> list[Tap]:
        """The texels that a coordinate reads along one axis: one, or two when filtering or gathering."""
        mode, size = self.plan.modes[number], self.field(SIZES[number])
        n = self.cast("sitofp", size, "float")
        x = self.scaled(self.as_float(coordinate), n, mode)
        two = self.plan.linear or self.plan.gather is not None
        if not two:
            return [self.resolved(self.whole(self.intrinsic("llvm.floor", x)), size, mode, None)]
        shifted = self.bin("fsub", x, self.const("float", 0.5))
        low = self.intrinsic("llvm.floor", shifted)
        eight = self.bin("fmul", self.bin("fsub", shifted, low), self.const("float", 256))
        rounded = self.intrinsic("llvm.floor", self.bin("fadd", eight, self.const("float", 0.5)))
        right = self.bin("fmul", rounded, self.const("float", 1 / 256))
        left = self.bin("fsub", self.const("float", 1), right)
        first = self.whole(low)
        second = self.bin("add", first, self.const("i32", 1))
        return [self.resolved(first, size, mode, left), self.resolved(second, size, mode, right)]

    def scaled(self, x: Value, n: Value, mode: int) -> Value:
        """The coordinate in texels, folded by wrap and mirror, and kept near the texture: NaN is the lower end."""
        zero, one = self.const("float", 0), self.const("float", 1)
        if mode in (WRAP, MIRROR):
            floor = self.intrinsic("llvm.floor", x)
            x = self.bin("fsub", x, floor)
            if mode == MIRROR:
                half = self.bin("fmul", floor, self.const("float", 0.5))
                odd = self.fcmp("one", self.intrinsic("llvm.floor", half), half)
                x = self.select(odd, self.bin("fsub", one, x), x)
            x = self.bin("fmul", x, n)
            return self.select(self.fcmp("oge", x, zero), x, zero)
        if self.plan.normalised:
            x = self.bin("fmul", x, n)
        below, above = self.const("float", -1), self.bin("fadd", n, one)
        x = self.select(self.fcmp("ogt", x, below), x, below)
        return self.select(self.fcmp("olt", x, above), x, above)

    def whole(self, x: Value) -> Value:
        return self.cast("fptosi", x, "i32")

    def resolved(self, index: Value, size: Value, mode: int, weight: Value | None) -> Tap:
        zero, last = self.const("i32", 0), self.bin("sub", size, self.const("i32", 1))
        if mode == WRAP:
            index = self.select(self.icmp("slt", index, zero), self.bin("add", index, size), index)
            return Tap(self.select(self.icmp("sgt", index, last), self.bin("sub", index, size), index), None, weight)
        inside = self.icmp("ult", index, size) if mode == BORDER else None
        assert mode in (CLAMP, MIRROR, BORDER)  # folded coordinates are at most one texel outside
        index = self.intrinsic("llvm.smin", self.intrinsic("llvm.smax", index, zero), last)
        return Tap(index, inside, weight)

    # ------------------------------------------------------------ texels

    def place(self, tap: tuple[Tap, ...], layer: Value | None) -> Value:
        """Bytes from the start of the resource, as an unsigned i32."""
        offset = self.bin("mul", tap[0].index, self.const("i32", self.plan.format.nbytes))
        if len(tap) > 1:
            offset = self.bin("add", offset, self.bin("mul", tap[1].index, self.field("row_bytes")))
        third = tap[2].index if len(tap) > 2 else layer
        if third is not None:
            offset = self.bin("add", offset, self.bin("mul", third, self.field("slice_bytes")))
        return offset

    def lanes_inside(self, tap: tuple[Tap, ...]) -> Value:
        lanes = self.assign(f"bitcast i32 %mask to <{LANES} x i1>", "i1", True)
        for t in tap:
            if t.inside is not None:
                lanes = self.bin("and", lanes, t.inside)
        return lanes

    def texel(self, tap: tuple[Tap, ...], place: Value) -> list[Value]:
        """The channels of one texel: floats, or i32 where integers stay integers."""
        f = self.plan.format
        lanes = self.lanes_inside(tap)
        answer = self.resize(self.assign(f"bitcast {lanes.full} {lanes.text} to i32", "i32", False), 64)
        start = self.splat(self.bin("add", self.resize(place, 64), self.field("address", 64)))
        bits = min(32, 8 * f.nbytes)
        self.declarations.add(f"declare <{LANES} x i{bits}> @wb_load{bits}(<{LANES} x i64>, i64)")
        words = []
        for offset in range(0, f.nbytes, bits // 8):
            at = self.bin("add", start, self.const("i64", offset)) if offset else start
            call = f"call <{LANES} x i{bits}> @wb_load{bits}({at.full} {at.text}, i64 {answer.text})"
            words.append(self.assign(call, f"i{bits}", True))
        channels = []
        for channel in range(f.channels):
            word, shift = divmod(channel * f.bits, bits)
            raw = self.bin("lshr", words[word], self.const(f"i{bits}", shift)) if shift else words[word]
            value = self.converted(self.resize(raw, f.bits))
            if any(t.inside is not None for t in tap):
                fill = self.const(value.type, 0)
                if self.plan.geometry != "fetch":
                    fill = self.field(f"border_{channel}")
                    fill = self.as_float(fill) if value.type == "float" else fill
                value = self.select(lanes, value, fill)
            channels.append(value)
        return channels

    def converted(self, raw: Value) -> Value:
        f = self.plan.format
        if f.kind == "f":
            value = self.cast("bitcast", raw, {16: "half", 32: "float"}[f.bits])
            return self.cast("fpext", value, "float")
        if not self.plan.unit_read:
            return self.resize(raw, 32, signed=f.kind == "s")
        value = self.cast("sitofp" if f.kind == "s" else "uitofp", raw, "float")
        value = self.bin("fdiv", value, self.const("float", MOST[f"{f.kind}{f.bits}"]))
        least = self.const("float", -1)
        return self.select(self.fcmp("olt", value, least), least, value) if f.kind == "s" else value

    def filtered(self, taps, texels) -> list[Value]:
        sums: list[Value] = []
        for tap, texel in zip(taps, texels, strict=True):
            weight = functools.reduce(lambda a, b: self.bin("fmul", a, b), (t.weight for t in tap))
            parts = [self.bin("fmul", weight, value) for value in texel]
            sums = [self.bin("fadd", a, b) for a, b in zip(sums, parts, strict=True)] if sums else parts
        return sums

    def deliver(self, channels: list[Value]) -> None:
        """Write the lanes of the mask; channels that the texels lack are 0."""
        lanes = self.assign(f"bitcast i32 %mask to <{LANES} x i1>", "i1", True)
        for number in range(4):
            value = channels[number] if number < len(channels) else self.const("i32", 0)
            value = self.splat(self.bits(value))
            p = self.assign(f"getelementptr i8, ptr %out, i64 {number * 4 * LANES}", "ptr", False)
            old = self.assign(f"load {value.full}, ptr {p.text}, align 64", "i32", True)
            new = self.select(lanes, value, old)
            self.line(f"store {new.full} {new.text}, ptr {p.text}, align 64")

    # ------------------------------------------------------------ counting

    def write_keys(self, taps, places, layer: Value | None) -> None:
        """A number for the sector of each tap, all ones where nothing is read; only where somebody counts."""
        self.line("%counts = icmp ne ptr %keys, null")
        self.line("br i1 %counts, label %count, label %read")
        self.label("count")
        for number, (tap, place) in enumerate(zip(taps, places, strict=True)):
            key = self.sector(tap, place, layer)
            key = self.splat(self.select(self.lanes_inside(tap), key, self.const("i32", -1)))
            p = self.assign(f"getelementptr i8, ptr %keys, i64 {number * 4 * LANES}", "ptr", False)
            self.line(f"store {key.full} {key.text}, ptr {p.text}, align 64")
        self.line("br label %read")
        self.label("read")

    def sector(self, tap: tuple[Tap, ...], place: Value, layer: Value | None) -> Value:
        if not self.plan.tiled:
            return self.bin("lshr", place, self.const("i32", 5))
        one, four = self.const("i32", 1), self.const("i32", 4)
        nbytes = self.const("i32", self.plan.format.nbytes)
        row = self.bin("mul", self.field("width"), nbytes)
        per_row = self.bin("lshr", self.bin("add", row, self.const("i32", 15)), four)
        rows = self.bin("lshr", self.bin("add", self.field("height"), one), one)
        y = self.bin("lshr", tap[1].index, one)
        third = tap[2].index if len(tap) > 2 else layer
        if third is not None:
            y = self.bin("add", y, self.bin("mul", third, rows))
        x = self.bin("lshr", self.bin("mul", tap[0].index, nbytes), four)
        return self.bin("add", self.bin("mul", y, per_row), x)

"""Products of tensor memory (`tcgen05.mma`) in LLVM IR: one function for each kind, number of blocks and place of A.

`wb_umma_NAME` checks descriptors and addresses, then lays A and B out row by row as numbers, and makes 16 lanes of D
after the other, four columns at a time: a vector of sums is 16 lanes of one column, which lie side by side in memory.

Sums begin with D and take the products in the order of k, one rounding to float32 a step; with scales they are taken
in float64 and rounded once (as in `runtime.tensor`, where more is said of hardware's order).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from vgpu.base.context import COLUMN
from vgpu.ir.value import V32, V64, Value, element_bits, vector
from vgpu.isa import small
from vgpu.isa.tensor_memory import LANES, QUARTER
from vgpu.isa.umma import (
    CHUNKS,
    FIXED,
    FIXED_BITS,
    GROUP,
    INSTRUCTION,
    MATRIX,
    ONE_BYTE,
    PAIRS,
    Variant,
    named,
)
from vgpu.runtime.cluster import field
from vgpu.runtime.mbarrier import fault
from vgpu.runtime.tensor import widen
from vgpu.runtime.warpgroup import CHUNK, Matrix, end_of, fields_of
from vgpu.runtime.write import Routine

PREFIX = "wb_umma_"
SIDE = 4  # columns whose sums are taken together
MOST_COLUMNS = 256
SIX_BITS = ("e2m3", "e3m2")


def _unit(v: Variant) -> str:
    """The LLVM type that elements are laid out in."""
    return "i32" if v.of.sums == "i32" else "float"


# ---------------------------------------------------------------- elements


def _six(kind: str, codes: Value) -> Value:
    return small.emit_decode(small.SMALL[kind], codes.to("i32") & 63)


def _chunk(r: Routine, v: Variant, kind: str, place: Value) -> Value:
    """The elements of a chunk in shared memory."""
    if v.of.k == 32 and kind == "e2m1":
        return widen(kind, r.load(place, "<2 x i32>", 8))
    if kind not in SIX_BITS:
        return widen(kind, r.load(place, "<4 x i32>", CHUNK))
    bytes_ = r.load(place, "<16 x i8>", CHUNK)
    low, high = (bytes_.shuffle(None, [i * 6 // 8 + more for i in range(16)]) for more in (0, 1))
    whole = low.to("i32") | high.to("i32") << 8
    return _six(kind, whole >> r.each_lane("i32", [i * 6 % 8 for i in range(16)]))


def _words(v: Variant, kind: str, raw: Value) -> Value:
    """The elements of a row of A in tensor memory."""
    if kind in SIX_BITS:
        return _six(kind, raw.bitcast("<32 x i8>") >> 1)
    return widen("e2m1c" if v.of.k == 32 and kind == "e2m1" else kind, raw)


def _rows(v: Variant, kind: str) -> Routine:
    """A K-major matrix, row by row."""
    k = v.of.k
    r = Routine(f"rows_{kind}", "ptr ctx, i64 shared, i64 matrix, i64 rows, ptr to")
    matrix = Matrix(r, fields_of(r, r["matrix"], MATRIX, CHUNKS), False, r["shared"])
    with r.count_to(r["rows"]) as row:
        start = matrix.rows(row >> 3) + matrix.pitch * (row & 7)
        for half in (0, 1):
            value = _chunk(r, v, kind, matrix.place(start + matrix.next if half else start))
            r.store(r.at(r["to"], (row * k + half * k // 2) << 2), value, 4)
    return r


def _turned(v: Variant, kind: str) -> Routine:
    """An MN-major matrix, whose chunks have one k each."""
    k, size = v.of.k, v.of.element_bits // 8
    side, eight = CHUNK // size, 4 if kind == "tf32" else 8
    r = Routine(f"turned_{kind}", "ptr ctx, i64 shared, i64 matrix, i64 rows, ptr to")
    pairs = r.number("i1", kind == "tf32")
    matrix = Matrix(r, fields_of(r, r["matrix"], MATRIX, CHUNKS), True, r["shared"], pairs)
    with r.count_to(r["rows"] // side) as group, r.count_to(k) as at:
        offset = matrix.rows(group) + matrix.eight * (at // eight) + matrix.pitch * (at % eight)
        value = _chunk(r, v, kind, matrix.place(offset))
        for row in range(side):
            r.store(r.at(r["to"], ((group * side + row) * k + at) << 2), value.lane(row), 4)
    return r


def _lanes(v: Variant, kind: str) -> Routine:
    """16 rows of A in tensor memory, from 8 columns."""
    r = Routine(f"lanes_{kind}", "ptr from, ptr to")
    row = r.room("<8 x i32>")
    with r.count_to(GROUP) as lane:
        for word in range(8):
            value = r.load(r.at(r["from"], (lane << 2) + word * COLUMN), "i32", 4)
            r.store(r.at(row, 4 * word), value, 4)
        r.store(r.at(r["to"], lane * (4 * v.of.k)), _words(v, kind, r.load(row, "<8 x i32>", 32)), 4)
    return r


# ---------------------------------------------------------------- checks


class _Product:
    """One product on its way: the fields of its descriptor, its addresses, and how to report a fault."""

    def __init__(self, r: Routine, v: Variant, lane: Value, number: Value, given: dict[str, Value]):
        self.r, self.v, self.lane, self.number, self.given = r, v, lane, number, given
        idesc = given["idesc"].to("i64")
        self.f = {name: (idesc >> at & (1 << bits) - 1) << up for name, (at, bits, up) in INSTRUCTION.items()}
        self.m, self.n = self.f["m"], self.f["n"]
        self.two_by_two = self.m.eq(128) if v.ctas == 2 else r.number("i1", 0)
        self.short = self.m.eq(64) if v.ctas == 1 else r.number("i1", 0)
        self.columns = self.two_by_two.select(self.n >> 1, self.n)  # of D
        self.rows = {"a": self.m // v.ctas, "b": self.n // v.ctas}  # in one block's shared memory
        self.d_lane, self.d_column = given["d"].to("i64") >> 16, given["d"].to("i64") & 0xFFFF

    def refuse(self, code: str, wrong: Value, shown: Value) -> None:
        with self.r.when(wrong):
            fault(self.r, code, self.number, self.lane, shown)
            self.r.give()

    def check_instruction(self) -> None:
        r, v, f, kind = self.r, self.v, self.f, self.v.of
        idesc = self.given["idesc"].to("i64")
        narrow = [code for code, name in kind.types.items() if name not in ONE_BYTE and kind.k == 32]
        right = (idesc & ~kind.bits & 0xFFFFFFFF).eq(0)
        for role in "ab":
            right = right & r.among(f[role], tuple(kind.types))
            if narrow:
                right = right & (f[f"turn_{role}"].ne(0) & r.among(f[role], narrow) ^ 1)
        if v.in_tensor_memory:
            right = right & f["turn_a"].eq(0)
        if not kind.scaled:
            right = right & r.among(f["d"], tuple(kind.results))
        if v.kind == "f16":
            right = right & (f["d"].eq(0) & (f["a"] | f["b"]).ne(0) ^ 1)
        bytewise = f["turn_b"].ne(0) if kind.element_bits == 8 else r.number("i1", 0)
        known = r.i64(0)
        for m in v.rows:
            bits = [sum(1 << n // 8 for n in range(8, 257, 8) if v.has_columns(m, n, t)) for t in (False, True)]
            known = self.m.eq(m).select(bytewise.select(r.i64(bits[1]), r.i64(bits[0])), known)
        right = right & ((known >> (self.n >> 3)) & 1).ne(0)
        if kind.scaled:
            if (v.kind, v.scales) != ("mxf4nvf4", 4):
                right = right & f["scale_type"].ne(0)
            right = right & ((f["scale_a"] | f["scale_b"]) & (v.scales - 1)).eq(0)
        self.refuse("umma_instruction", right ^ 1, idesc)

    def check_matrix(self, role: str) -> None:
        """Its descriptor, and that all of it lies in shared memory."""
        r, kind, descriptor = self.r, self.v.of, self.given[role]
        turned = self.f[f"turn_{role}"].ne(0)
        pairs = turned if self.v.kind == "tf32" else r.number("i1", 0)
        mode = descriptor >> 61
        right = (descriptor & FIXED_BITS).eq(FIXED) & r.among(mode, tuple(CHUNKS)) & mode.eq(PAIRS).eq(pairs)
        self.refuse("umma_matrix", right ^ 1, descriptor)
        side, eight = CHUNK * 8 // kind.element_bits, 4 if self.v.kind == "tf32" else 8
        groups = turned.select(self.rows[role] // side, self.rows[role] >> 3)
        end = end_of(fields_of(r, descriptor, MATRIX, CHUNKS), groups, r.i64(kind.k // eight), turned, eight)
        self.refuse("descriptor", end.above(r.slot("shared_bytes")), end - 1)

    def check_lanes(self) -> None:
        """The lanes of addresses; D (and A) of 64 rows may begin at lane 16."""
        address = self.given["d"].to("i64")
        self.refuse("tensor_place", self.d_lane.ne(0) & ((self.short & self.d_lane.eq(16)) ^ 1), address)
        if self.v.in_tensor_memory:
            self.refuse("tensor_place", (self.given["a"] >> 16).ne(self.d_lane), self.given["a"])
        for role in "ab" if self.v.scales else "":
            address = self.scales(role)
            self.refuse("tensor_place", (address >> 16).ne(0), address)

    def scales(self, role: str) -> Value:
        """The address of scales, whose two highest bits don't count: CUTLASS keeps a byte's number there."""
        return self.given[f"sf{role}"].to("i64") & (1 << 30) - 1

    def check_block(self, area: Value) -> None:
        """That all columns are allocated in a block."""
        ranges = [(self.given["d"].to("i64"), self.columns)]
        if self.v.in_tensor_memory:
            ranges.append((self.given["a"], self.r.i64(8)))
        if self.v.scales:
            ranges.append((self.scales("a"), self.rows["a"] + 31 >> 5))
            ranges.append((self.scales("b"), self.columns + 31 >> 5))
        for address, count in ranges:
            inside = self.r.call("i1", "tensor_inside", area, address & 0xFFFF, count)
            self.refuse("tensor_place", inside ^ 1, address)

    def by_type(self, role: str, action: Callable[[str], None]) -> None:
        for code, kind in self.v.of.types.items():
            with self.r.when(self.f[role].eq(code)):
                action(kind)

    def unpack(self, role: str, shared: Value, to: Value) -> None:
        """A block's part of A or B, row by row."""
        r = self.r
        given = (r["ctx"], shared, self.given[role], self.rows[role], to)

        def read(kind: str) -> None:
            turns = _turns(self.v, kind)
            turned = self.f[f"turn_{role}"].ne(0) if turns else r.number("i1", 0)
            with r.when(turned ^ 1):
                r.call("void", f"rows_{kind}", *given)
            if turns:
                with r.when(turned):
                    r.call("void", f"turned_{kind}", *given)

        self.by_type(role, read)


def _turns(v: Variant, kind: str) -> bool:
    return v.of.k < 32 or kind in ONE_BYTE


# ---------------------------------------------------------------- scales


def _scale(r: Routine, v: Variant, area: Value, column: Value, lane: Value, byte: Value, plain: Value) -> Value:
    """One scale as a double; `plain`: of type ue8m0."""
    word = r.load(r.at(area, column * COLUMN + (lane << 2)), "i32", 4)
    code = word >> (byte.to("i32") << 3) & 255
    value = small.emit_decode_power(code)
    if (v.kind, v.scales) == ("mxf4nvf4", 4):
        value = plain.select(value, small.emit_decode(small.SMALL["e4m3"], code & 127))
    return value.cast("fpext", "double")


def _scaled_rows(v: Variant) -> Routine:
    """Rows of floats times their scales, as doubles: the scale of row i lies in lane i % 32 of a quarter's."""
    k = v.of.k
    length = k // v.scales
    r = Routine(
        "scaled_rows", "ptr from, ptr area, i64 column, i64 lane, i64 first, i64 rows, i64 byte, i1 plain, ptr to"
    )
    with r.count_to(r["rows"]) as at, r.count_to(v.scales) as part:
        row = r["first"] + at
        place = r["column"] + (row >> 5), r["lane"] + (row & 31)
        scale = _scale(r, v, r["area"], *place, r["byte"] + part, r["plain"]).splat(length)
        index = at * k + part * length
        value = r.load(r.at(r["from"], index << 2), vector("float", length), 4).cast("fpext", "double")
        r.store(r.at(r["to"], index << 3), value * scale, 8)
    return r


# ---------------------------------------------------------------- sums


def _beside(v: Variant) -> Routine:
    """16 rows one after the other to k after k, 16 lanes each; negated if A or B is."""
    kind = v.of.sums
    size = element_bits(kind) // 8
    r = Routine("beside", "ptr from, ptr to, i1 negative")
    with r.count_to(v.of.k) as k:
        for row in range(GROUP):
            value = r.load(r.at(r["from"], (k + row * v.of.k) * size), kind, size)
            value = value if kind == "i32" else r["negative"].select(-value, value)
            r.store(r.at(r["to"], (k * GROUP + row) * size), value, size)
    return r


def _sums(v: Variant) -> Routine:
    """Columns of 16 lanes of D, which lie at `place`: `rows` are 16 lanes a k, `columns` the rows of B."""
    kind = v.of.sums
    size, whole = element_bits(kind) // 8, v.of.sums == "i32"
    wide, words = vector(kind, GROUP), vector("i32", GROUP)
    r = Routine("sums", "ptr rows, ptr columns, ptr place, i64 count, i1 keep, i64 down, i1 half, i1 limits, i16 off")
    off = r["off"].bitcast(vector("i1", GROUP))
    with r.count_to(r["count"] // SIDE) as four:
        places = [r.at(r["place"], (four * SIDE + i) * COLUMN) for i in range(SIDE)]
        old = [r.load(place, words, 64) for place in places]
        starts = [r["keep"].select(_read(r, v, each), 0) for each in old]
        totals = [r.variable(wide, 0 if whole else start) for start in starts]
        with r.count_to(v.of.k) as k:
            a = r.load(r.at(r["rows"], k * (GROUP * size)), wide, 64)
            for i, total in enumerate(totals):
                b = r.load(r.at(r["columns"], ((four * SIDE + i) * v.of.k + k) * size), kind, size).splat(GROUP)
                total.set(total.get() + a * b if whole else a.intrinsic("llvm.fma", b, total.get()))
        for place, was, start, total in zip(places, old, starts, totals, strict=True):
            r.store(place, off.select(was, _written(r, v, start, total.get())), 64)
    return r


def _read(r: Routine, v: Variant, words: Value) -> Value:
    """D's words as sums; `down`: divided by 2 so many times."""
    if v.of.sums == "i32":
        return words
    value = words.as_float()
    if "f16" in v.of.results.values():
        half = words.to("i16").as_float().cast("fpext", "float")
        value = r["half"].select(half, value)
    if v.kind in ("f16", "tf32"):
        factor = ((r.i64(127) - r["down"]).to("i32") << 23).as_float()
        value = value * factor.splat(GROUP)
    return value.cast("fpext", "double") if v.of.scaled else value


def _written(r: Routine, v: Variant, start: Value, total: Value) -> Value:
    if v.of.sums == "i32":
        return r["limits"].select(start.intrinsic("llvm.sadd.sat", total), start + total)
    single = total.cast("fptrunc", "float") if v.of.scaled else total
    if "f16" not in v.of.results.values():
        return single.as_int()
    return r["half"].select(single.cast("fptrunc", "half").as_int().to("i32"), single.as_int())


# ---------------------------------------------------------------- the whole


def _read_lanes(r: Routine, start: Value, to: Value, kind: str) -> None:
    r.call("void", f"lanes_{kind}", start, to)


def _count(r: Routine, p: _Product) -> None:
    r.add_to(r.site("requests"), 1)
    done = p.m * p.n * (2 * p.v.of.k)
    second = p.f["a"].ne(0) if len(p.v.of.counters) > 1 else r.number("i1", 0)
    r.add_to(r.site("lanes"), second.select(r.i64(0), done))
    r.add_to(r.site("remote_lanes"), second.select(done, r.i64(0)))


def multiply(v: Variant) -> str:
    """The module of one kind of product."""
    k, sums, unit = v.of.k, v.of.sums, _unit(v)
    r = Routine(
        PREFIX + v.name,
        f"ptr ctx, ptr site, i32 mask, {V32} d, {V64} a, {V64} b, {V32} idesc, i32 keep, i64 down, ptr off, {V32} sfa, "
        f"{V32} sfb",
    )
    kinds = {"a": "i64", "b": "i64", **dict.fromkeys(("d", "idesc", "sfa", "sfb"), "i32")}
    spread = {name: r.spread(r[name]) for name in kinds}
    left, right = r.room(f"[{LANES * k} x {unit}]"), r.room(f"[{MOST_COLUMNS * k} x {unit}]")
    beside = r.room(f"[{GROUP * k} x {sums}]")
    scaled = [r.room(f"[{count * k} x double]") for count in (GROUP, MOST_COLUMNS)] if v.scales else []
    number = r.call("i64", "site_id", r["ctx"], r["site"])
    with r.each(r["mask"]) as lane:
        given = {name: r.load(r.at(spread[name], lane, kind), kind, 4) for name, kind in kinds.items()}
        p = _Product(r, v, lane, number, given)
        p.check_instruction()
        for role in "b" if v.in_tensor_memory else "ab":
            p.check_matrix(role)
        p.check_lanes()
        with r.count_to(v.ctas) as which:
            block = r.call("ptr", "tensor_block", r["ctx"], which, r.i64(v.ctas))
            p.refuse("tensor_peer", block.eq("null"), given["d"].to("i64"))
            p.check_block(field(r, block, "tensor_memory").to("ptr"))
            place = r.at(right, which * p.rows["b"] * (4 * k))
            p.unpack("b", field(r, block, "shared_base"), place)
        _count(r, p)
        keep = (r["keep"] >> lane.to("i32") & 1).ne(0)
        negative = (p.f["negate_a"] ^ p.f["negate_b"]).ne(0)
        half = p.f["d"].eq(0) if "f16" in v.of.results.values() else r.number("i1", 0)
        with r.count_to(v.ctas) as which:
            block = r.call("ptr", "tensor_block", r["ctx"], which, r.i64(v.ctas))
            area = field(r, block, "tensor_memory").to("ptr")
            if not v.in_tensor_memory:
                p.unpack("a", field(r, block, "shared_base"), left)
            with r.count_to(p.short.select(r.i64(4), 8)) as part:
                first = p.short.select((part << 5) + p.d_lane, part << 4)
                row = p.two_by_two.select((part & 3) << 4, part << 4)
                column = p.two_by_two.select((part >> 2) * p.columns, 0)  # the first of B for these lanes
                rows = left if v.in_tensor_memory else r.at(left, row * (4 * k))
                if v.in_tensor_memory:
                    start = r.at(area, (given["a"] & 0xFFFF) * COLUMN + (first << 2))
                    p.by_type("a", partial(_read_lanes, r, start, left))
                columns = r.at(right, column * (4 * k))
                if v.scales:
                    quarter, plain = first & -QUARTER, p.f["scale_type"].ne(0)
                    here = (area, p.scales("a") & 0xFFFF, quarter, row, r.i64(GROUP), p.f["scale_a"], plain, scaled[0])
                    r.call("void", "scaled_rows", rows, *here)
                    with r.when((first & (QUARTER - 1)).eq(0)):  # each quarter has its own scales of B
                        there = (area, p.scales("b") & 0xFFFF, quarter, r.i64(0), p.columns, p.f["scale_b"], plain)
                        r.call("void", "scaled_rows", columns, *there, scaled[1])
                    rows, columns = scaled
                r.call("void", "beside", rows, beside, negative)
                off = r.variable("i32", 0)
                with r.when(r["off"].ne("null")):
                    word = ((which << 2) + (first >> 5) << 7) + (lane << 2)
                    off.set(r.load(r.at(r["off"], word), "i32", 4) >> (first & (QUARTER - 1)).to("i32"))
                place = r.at(area, p.d_column * COLUMN + (first << 2))
                more = (p.columns, keep, r["down"], half, p.f["saturate"].ne(0), off.get().to("i16"))
                r.call("void", "sums", beside, columns, place, *more)
    types = dict.fromkeys(v.of.types.values())
    parts = [_rows(v, kind) for kind in types] + [_turned(v, kind) for kind in types if _turns(v, kind)]
    parts += [_lanes(v, kind) for kind in types] if v.in_tensor_memory else []
    parts += [_scaled_rows(v)] if v.scales else []
    parts += [_beside(v), _sums(v), r]
    own = {part.function for part in parts}
    others = sorted(line for line in r.declarations if re.search(r"@(\w+)", line)[1] not in own)  # type: ignore[index]
    return "\n".join([*others, *map(str, parts)])


def later(name: str) -> str | None:
    """The module that defines a function which is only made when a kernel calls it, or None."""
    found = named(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    return multiply(found) if found else None

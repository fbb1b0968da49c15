"""Tensor-core products in LLVM IR: one function for each shape and types, made when a kernel first asks for it.

`wb_mma_NAME(a, b, c, d)` takes pointers to the registers of the fragments, one after the other. A is laid out in rows,
B turned so that its rows run along the columns of the product; then 8×8 pieces of D are summed up a row a vector.
Products of the narrow types are exact in what they are summed in: float32 (int32, float64), from C on in the order
of k, one rounding a step. Hardware adds several products at once and drops bits on the way: order and rounding are not
specified ("PTX ISA", mma), so its last bits differ from these, as those of two generations of GPUs do. An f16 result
is rounded once, at the end. Of tf32 operands the low 13 bits are ignored.

Products with scales ("PTX ISA", "Block Scaling for mma.sync") are summed in float64, from C on in the order of k, and
rounded to float32 once: an element times its scale is exact there, and so is the product of two. Their functions take
the words with the scales of A, the byte and the thread that select some of them, and the same of B.

Sums of 8-bit floats may be cut to 14 bits instead, as Hopper's are: `base/precision.py` says how.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from vgpu.ir.value import V32, V64, Value, element_bits, vector
from vgpu.isa import small
from vgpu.isa.tensor import FAMILIES, Fragment, Product, products
from vgpu.runtime.write import Routine

PREFIX = "wb_mma_"


def _sums_in(product: Product) -> str:
    """The LLVM type of sums."""
    if product.scales:
        return "double"
    return {"imma": "i32", "dmma": "double", "hmma": "float"}[FAMILIES[product.a][1]]


def _bytes(kind: str) -> int:
    return element_bits(kind) // 8


def widen(kind: str, raw: Value) -> Value:
    """The elements of some words (`raw`, integers of 32 or 64 bits), in order, as the type of sums."""
    bits = raw.count * element_bits(raw.kind)
    if kind == "f64":
        return raw.bitcast(vector("double", bits // 64))
    if kind in ("s32", "b1"):
        return raw
    if kind == "tf32":
        return (raw & -8192).bitcast(vector("float", bits // 32))
    if kind == "f16":
        return raw.bitcast(vector("half", bits // 16)).cast("fpext", "float")
    if kind == "bf16":
        return (raw.bitcast(vector("i16", bits // 16)).to("i32") << 16).as_float()
    count = bits // 8
    raw = raw.bitcast(vector("i8", count))
    if kind in ("s8", "u8"):
        return raw.to("i32", signed=kind == "s8")
    if kind in ("s4", "u4"):
        down = "ashr" if kind == "s4" else "lshr"
        low, high = (raw << 4).binary(down, 4), raw.binary(down, 4)
        return low.shuffle(high, [i // 2 + count * (i % 2) for i in range(2 * count)]).to("i32", signed=kind == "s4")
    if kind in ("e5m2", "e4m3"):  # moved to where an f16 has its exponent and mantissa, which keeps subnormals right
        wide = raw.to("i16")
        if kind == "e5m2":
            return (wide << 8).as_float().cast("fpext", "float")
        magnitude = wide & 127
        half = (magnitude << 7 | (wide & 128) << 8).as_float()
        return magnitude.eq(127).select("0x7FF8000000000000", half.cast("fpext", "float") * 256.0)
    if kind == "e2m1":
        low, high = raw & 15, raw >> 4
        codes = low.shuffle(high, [i // 2 + count * (i % 2) for i in range(2 * count)])
    else:
        codes = raw >> 2 & 15 if kind == "e2m1c" else raw & 63
    return small.emit_decode(small.SMALL[kind[:4]], codes.to("i32"))


def _scales(r: Routine, p: Product, role: str, to: Value) -> None:
    """Write the scales of A's rows or B's columns as doubles: those of the first part of each, then of the second …

    Lanes 4g and 4g + 1 hold those of rows g and g + 8 of A, lane 4g those of column g of B; the thread that is
    selected, of two or of four, says how much further on.
    """
    rows, words, thread = p.m if role == "a" else p.n, r[f"words_{role}"], r[f"thread_{role}"]
    threads = [0, 2] if role == "a" else [0, 1, 2, 3]
    choices = [words.shuffle(None, [row % 8 * 4 + row // 8 + more for row in range(rows)]) for more in threads]
    chosen = choices[0]
    for number, choice in enumerate(choices[1:], 1):
        chosen = (thread & len(choices) - 1).eq(number).select(choice, chosen)
    chosen = chosen >> ((r[f"byte_{role}"] & 3) << 3)
    for index in range(p.scales):
        code = chosen >> 8 * index & 255
        if p.scale_type == "ue8m0":
            value = small.emit_decode_power(code)
        else:
            value = small.emit_decode(small.SMALL["e4m3"], code & 127)
        r.store(r.at(to, index * rows * 8), value.cast("fpext", "double"), 8)


def lay_rows(
    r: Routine, f: Fragment, source: Value, to: Value, kind: str, scales: Value | None = None, parts: int = 1
) -> None:
    """Write the elements of A or B to memory, row by row, times the scale of the part of a row in which they lie."""
    size = f.piece
    for index, (row, column) in enumerate(f.pieces):
        raw = r.load(r.at(source, index * 4 * f.width), V64 if f.width == 64 else V32, 64)
        wide = widen(f.type, raw)
        for line in range(8):
            part = wide.shuffle(None, range(line * size, (line + 1) * size))
            if scales is not None:
                length = min(size, f.columns // parts)
                first = column * parts // f.columns
                own = [r.load(r.at(scales, ((first + i) * f.rows + row + line) * 8), "double", 8).splat(length)
                       for i in range(size // length)]  # fmt: skip
                factor = own[0] if len(own) == 1 else own[0].shuffle(own[1], range(size))
                part = part.cast("fpext", "double") * factor
            r.store(r.at(to, ((row + line) * f.columns + column) * _bytes(kind)), part, _bytes(kind))


def _half_kind(f: Fragment) -> str:
    return {"f16": "half", "f32": "float", "f64": "double", "s32": "i32"}[f.type]


def _read_sums(r: Routine, f: Fragment, source: Value, to: Value, kind: str) -> None:
    """C's registers to pieces of 8 rows of 8."""
    own = _half_kind(f)
    for index in range(len(f.pieces)):
        where = r.at(source, index * f.in_piece * 4 * f.width)
        if f.in_piece == 1:
            value = r.load(where, vector(own, 64), 64)
        else:
            a, b = (r.load(r.at(where, half * 4 * f.width), vector(own), 64) for half in (0, 1))
            value = a.shuffle(b, [i // 2 + 32 * (i % 2) for i in range(64)])
        value = value if own == kind else value.cast("fpext", kind)
        r.store(r.at(to, index * 64 * _bytes(kind)), value, 64)


def _write_sums(r: Routine, f: Fragment, source: Value, to: Value, kind: str) -> None:
    own = _half_kind(f)
    for index in range(len(f.pieces)):
        where = r.at(to, index * f.in_piece * 4 * f.width)
        value = r.load(r.at(source, index * 64 * _bytes(kind)), vector(kind, 64), 64)
        value = value if own == kind else value.cast("fptrunc", own)
        if f.in_piece == 1:
            r.store(where, value, 64)
            continue
        for odd in (0, 1):
            r.store(r.at(where, odd * 4 * f.width), value.shuffle(None, range(odd, 64, 2)), 64)


def turn(kind: str, columns: int) -> Routine:
    """8 rows of `columns` at `from` to `columns` rows of 8 at `to`, four columns at a time."""
    nbytes = _bytes(kind)
    r = Routine("turn", "ptr from, ptr to")
    with r.count_to(columns // 4) as i:
        p, q = r.at(r["from"], i * (4 * nbytes)), r.at(r["to"], i * (32 * nbytes))
        read = [r.load(r.at(p, row * columns * nbytes), vector(kind, 4), nbytes) for row in range(8)]
        two = [read[i].shuffle(read[i + 1], (0, 4, 1, 5, 2, 6, 3, 7)) for i in range(0, 8, 2)]
        low = [two[i].shuffle(two[i + 1], (0, 1, 8, 9, 2, 3, 10, 11)) for i in (0, 2)]
        high = [two[i].shuffle(two[i + 1], (4, 5, 12, 13, 6, 7, 14, 15)) for i in (0, 2)]
        for place, (a, b) in enumerate((low, high)):
            for half in (0, 4):
                row = a.shuffle(b, [half + i for i in range(4)] + [8 + half + i for i in range(4)])
                r.store(r.at(q, (2 * place + half // 4) * 8 * nbytes), row, 8 * nbytes)
    return r


def _piece(product: Product, kind: str) -> Routine:
    """One 8×8 piece of sums at `sums`: `rows` are 8 rows of A, `columns` the turned rows of B."""
    nbytes, v, whole = _bytes(kind), vector(kind, 8), kind == "i32"
    r = Routine("piece", "ptr rows, ptr columns, ptr sums")
    places = [r.at(r["sums"], row * 8 * nbytes) for row in range(8)]
    starts = [r.load(place, v, 8 * nbytes) for place in places]
    sums = [r.variable(v, r.number(v, 0) if whole else start) for start in starts]
    with r.count_to(product.depth) as k:
        b = r.load(r.at(r["columns"], k * (8 * nbytes)), v, 8 * nbytes)
        for row, total in enumerate(sums):
            a = r.load(r.at(r["rows"], (k + row * product.depth) * nbytes), kind, nbytes).splat(8)
            if product.bitwise:
                total.add(a.binary(product.bitwise, b).intrinsic("llvm.ctpop"))
            elif whole:
                total.add(a * b)
            else:
                total.set(r.call(v, f"llvm.fma.v8f{8 * nbytes}", a, b, total.get()))
    cut = _cut_sums(r, product, starts) if product.cut else {}
    for row, (place, start, total) in enumerate(zip(places, starts, sums, strict=True)):
        value = total.get()
        if cut:  # infinities and NaN are those of the whole sum
            value = value.intrinsic("llvm.fabs").below(float("inf")).select(cut[row], value)
        if whole:  # the products wrap around; adding them to C may stop at the ends of the range
            value = r.call(v, "llvm.sadd.sat.v8i32", start, value) if product.saturates else start + value
        r.store(place, value, 8 * nbytes)
    return r


def _halves(value: Value) -> list[Value]:
    """The two halves that each lane's register holds, as floats."""
    pairs = value.bitcast("<64 x half>")
    return [pairs.shuffle(None, range(odd, 64, 2)).cast("fpext", "float") for odd in (0, 1)]


def _quarter_place(role: str, layout: str, row: int, column: int) -> tuple[int, int]:
    """Which element of which lane, of the 4 and 4 of a product, holds one of A, B or C ("PTX ISA", mma.m8n8k4)."""
    if role == "f32":  # C and D
        return row & 2 | column & 4 | column & 1, row & 1 | column & 2 | row // 4 * 16
    if role == "f16":
        return column, row % 4 + row // 4 * 16
    if role == "b":
        row, column = column, row
    along = (layout == "row") == (role == "a")
    return (column, row % 4 + row // 4 * 16) if along else (row % 4, column + row // 4 * 16)


def _quarters(product: Product) -> str:
    """Four products of 8 × 8 × 4, lane by lane: what a lane needs of the others comes by shuffles."""
    a, b, c, d = product.fragments
    r = Routine(PREFIX + product.name, ", ".join(f"ptr noalias {name}" for name in "abcd"))

    def elements(f: Fragment) -> Value:
        """All lanes' first elements, then their second ones …"""
        words = [r.load(r.at(r[f.role], 128 * index), V32, 64) for index in range(f.registers)]
        parts = [half for word in words for half in _halves(word)] if f.bits == 16 else [w.as_float() for w in words]
        return r.join(parts)

    have = {"a": elements(a), "b": elements(b), "c": elements(c)}

    def fetched(role: str, layout: str, places: list[tuple[int, int]]) -> Value:
        """What each lane needs: the row and column of it."""
        found = [_quarter_place(layout if role == "c" else role, layout, *place) for place in places]
        order = [32 * element + lane + here % 16 // 4 * 4 for here, (element, lane) in enumerate(found)]
        return have[role].shuffle(None, order)

    own = {}  # (element, lane) of D -> row and column
    for row in range(8):
        for column in range(8):
            own[_quarter_place(d.type, "", row, column)] = row, column
    sums = []
    for element in range(8):
        places = [own[element, lane % 4 + lane // 16 * 16] for lane in range(32)]
        total = fetched("c", c.type, places)
        for k in range(4):
            left = fetched("a", product.layouts[0], [(row, k) for row, _ in places])
            right = fetched("b", product.layouts[1], [(k, column) for _, column in places])
            total = r.call(total.kind, "llvm.fma.v32f32", left, right, total)
        sums.append(total)
    if d.bits == 16:
        sums = [
            low.shuffle(high, [i // 2 + 32 * (i % 2) for i in range(64)]).cast("fptrunc", "half")
            for low, high in zip(sums[::2], sums[1::2], strict=True)
        ]
    for index, value in enumerate(sums):
        r.store(r.at(r["d"], 128 * index), value, 64)
    return str(r)


def _cut_sums(r: Routine, product: Product, starts: list[Value]) -> dict[int, Value]:
    """The sums of each row of a piece, of products and C cut to 2^-13 of the power of two that the largest reaches."""
    v = starts[0].kind

    def term(row: int, k: Value) -> Value:
        b = r.load(r.at(r["columns"], k * 32), v, 32)
        return r.load(r.at(r["rows"], (k + row * product.depth) * 4), "float", 4).splat(8) * b

    most = [r.variable(v, start.intrinsic("llvm.fabs")) for start in starts]
    with r.count_to(product.depth) as k:
        for row, largest in enumerate(most):
            largest.set(largest.get().intrinsic("llvm.maxnum", term(row, k).intrinsic("llvm.fabs")))
    powers = [largest.get().as_int() & 0x7F800000 for largest in most]
    powers = [power.below(14 << 23).select(14 << 23, power) for power in powers]
    scales = [(((2 * 127 + 13) << 23) - power).as_float() for power in powers]  # 2^13 over the power
    sums = [r.variable(v, (start * scale).intrinsic("llvm.trunc")) for start, scale in zip(starts, scales, strict=True)]
    with r.count_to(product.depth) as k:
        for row, (total, scale) in enumerate(zip(sums, scales, strict=True)):
            total.add((term(row, k) * scale).intrinsic("llvm.trunc"))
    units = [(power - (13 << 23)).as_float() for power in powers]
    return {row: total.get() * unit for row, (total, unit) in enumerate(zip(sums, units, strict=True))}


def multiply(product: Product) -> str:
    """The module of one product."""
    if product.layouts:
        return _quarters(product)
    kind = _sums_in(product)
    a, b, c, d = product.fragments
    selected = "".join(f", {V32} words_{x}, i32 byte_{x}, i32 thread_{x}" for x in "ab") if product.scales else ""
    r = Routine(PREFIX + product.name, ", ".join(f"ptr noalias {name}" for name in "abcd") + selected)
    counts = (a.rows * a.columns, b.rows * b.columns, b.rows * b.columns, c.rows * c.columns)
    rows, lying, turned, sums = (r.room(f"[{count} x {kind}]") for count in counts)
    line = product.depth * _bytes(kind)
    for f, to in ((a, rows), (b, lying)):
        scales = r.room(f"[{f.rows * product.scales} x double]") if product.scales else None
        if scales is not None:
            _scales(r, product, f.role, scales)
        lay_rows(r, f, r[f.role], to, kind, scales, product.scales)
    for eight in range(0, product.n, 8):
        r.call("void", "turn", r.at(lying, eight * line), r.at(turned, eight * line))
    _read_sums(r, c, r["c"], sums, kind)
    for index, (row, column) in enumerate(c.pieces):
        piece = r.at(sums, index * 64 * _bytes(kind))
        r.call("void", "piece", r.at(rows, row * line), r.at(turned, column * line), piece)
    _write_sums(r, d, sums, r["d"], kind)
    return f"{turn(kind, product.depth)}{_piece(product, kind)}{r}"


# ---------------------------------------------------------------- rows of 16 bytes to and from shared memory


def _copy_rows(name: str, store: bool) -> Routine:
    """Move 16 bytes for each lane in `mask` between `base` plus its offset and its place in `registers`."""
    r = Routine(name, f"i64 base, {V32} offsets, i32 mask, ptr registers")
    places = r.spread(r["offsets"])
    if not store:
        r.fill(r["registers"], 0, 512)
    with r.each(r["mask"]) as lane:
        memory = r.at(r["base"].to("ptr"), r.load(r.at(places, lane * 4), "i32", 4))
        row = r.at(r["registers"], lane * 16)
        source, target = (row, memory) if store else (memory, row)
        r.store(target, r.load(source, "<4 x i32>", 16), 16)
    return r


def _whole() -> Routine:
    """Whether a whole warp executes an instruction that only a whole warp can."""
    r = Routine("wb_whole", "ptr ctx, i64 site, i32 mask", "i32")
    mask = r["mask"]
    all_here = mask.eq(-1)
    with r.when((all_here | mask.eq(0)) ^ 1):
        r.fail("partial", r["site"], mask, mask.to("i64").splat())
    r.give(all_here.select(mask, 0))
    return r


def _place() -> Routine:
    """The lanes that may go on, all or none: what is wrong with a matrix's place is reported.

    `grain`: what the address must be a multiple of; `bits`: of an element; `ones`: what bits the distance may not have.
    """
    r = Routine(
        "wb_place", f"ptr ctx, i64 site, i32 mask, {V64} addresses, {V64} strides, i64 grain, i64 bits, i64 ones", "i32"
    )
    site, mask, addresses, strides = r["site"], r["mask"], r["addresses"], r["strides"]
    none = r.number("i32", 0)
    with r.when(mask.eq(0)):
        r.give(none)
    address, stride = addresses.lane(0), strides.lane(0)
    unlike = (addresses.ne(address) | strides.ne(stride)).bits()
    for code, wrong, lanes, shown in (
        ("unlike", unlike, unlike, addresses),
        ("alignment", address & (r["grain"] - 1), mask, addresses),
        ("stride", stride * r["bits"] & r["ones"], mask, strides),
    ):
        with r.when(wrong.ne(0)):
            r.fail(code, site, lanes, shown)
            r.give(none)
    r.give(mask)
    return r


def source() -> str:
    """What every kernel may call without asking."""
    return f"{_whole()}{_place()}{_copy_rows('wb_read_rows', False)}{_copy_rows('wb_write_rows', True)}"


@functools.cache
def _by_name() -> dict[str, Product]:
    cut = [replace(product, cut=True) for product in products() if product.may_cut]
    return {PREFIX + product.name: product for product in (*products(), *cut)}


def later(name: str) -> str | None:
    """The module that defines a function which is only made when a kernel calls it, or None."""
    found = _by_name().get(name)
    return multiply(found) if found else None

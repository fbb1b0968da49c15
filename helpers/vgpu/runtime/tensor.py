"""Tensor-core products in LLVM IR: one function for each shape and types, made when a kernel first asks for it.

`wb_mma_NAME(a, b, c, d)` takes pointers to the registers of the fragments, one after the other. A is laid out in rows,
B turned so that its rows run along the columns of the product; then 8×8 pieces of D are summed up a row a vector.
Products of the narrow types are exact in what they are summed in: float32 (int32, float64), from C on in the order
of k, one rounding a step. Hardware adds several products at once and drops bits on the way: order and rounding are not
specified ("PTX ISA", mma), so its last bits differ from these, as those of two generations of GPUs do. An f16 result
is rounded once, at the end. Of tf32 operands the low 13 bits are ignored.
"""

from __future__ import annotations

import functools

from helpers.vgpu.base.context import ERROR_CODE
from helpers.vgpu.isa.tensor import FAMILIES, Fragment, Product, products
from helpers.vgpu.runtime.text import V1, V32, V64, broadcast, each_lane

PREFIX = "wb_mma_"


class _Text:
    """Lines of one function, with fresh names."""

    def __init__(self):
        self.lines: list[str] = []
        self.count = 0

    def let(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %x{self.count} = {text}")
        return f"%x{self.count}"

    def do(self, text: str) -> None:
        self.lines.append("  " + text)

    def at(self, base: str, offset: int) -> str:
        return self.let(f"getelementptr i8, ptr {base}, i64 {offset}") if offset else base

    def pick(self, kind: str, count: int, a: str, b: str, indices) -> str:
        v = f"<{count} x {kind}>"
        mask = ", ".join(f"i32 {i}" for i in indices)
        return self.let(f"shufflevector {v} {a}, {v} {b}, <{len(indices)} x i32> <{mask}>")


def _sums_in(product: Product) -> str:
    """The LLVM type of sums."""
    return {"imma": "i32", "dmma": "double", "hmma": "float"}[FAMILIES[product.a][1]]


def _widen(t: _Text, kind: str, raw: str) -> str:
    """The elements of one register of all lanes (`raw`, <32 x i32> or <32 x i64>) as the type of sums."""
    cast = lambda op, a, b, value: t.let(f"{op} {a} {value} to {b}")
    splat = lambda count, element, value: "<" + ", ".join([f"{element} {value}"] * count) + ">"
    if kind == "f64":
        return cast("bitcast", V64, "<32 x double>", raw)
    if kind == "tf32":
        return cast("bitcast", V32, "<32 x float>", t.let(f"and {V32} {raw}, {splat(32, 'i32', -8192)}"))
    if kind == "f16":
        return cast("fpext", "<64 x half>", "<64 x float>", cast("bitcast", V32, "<64 x half>", raw))
    if kind == "bf16":
        wide = cast("zext", "<64 x i16>", "<64 x i32>", cast("bitcast", V32, "<64 x i16>", raw))
        return cast("bitcast", "<64 x i32>", "<64 x float>", t.let(f"shl <64 x i32> {wide}, {splat(64, 'i32', 16)}"))
    raw = cast("bitcast", V32, "<128 x i8>", raw)
    if kind in ("s8", "u8"):
        return cast("sext" if kind == "s8" else "zext", "<128 x i8>", "<128 x i32>", raw)
    if kind in ("s4", "u4"):
        down, four = "ashr" if kind == "s4" else "lshr", splat(128, "i8", 4)
        low = t.let(f"{down} <128 x i8> {t.let(f'shl <128 x i8> {raw}, {four}')}, {four}")
        high = t.let(f"{down} <128 x i8> {raw}, {four}")
        both = t.pick("i8", 128, low, high, [i // 2 + 128 * (i % 2) for i in range(256)])
        return cast("sext" if kind == "s4" else "zext", "<256 x i8>", "<256 x i32>", both)
    # 8-bit floats: moved to where an f16 has its exponent and mantissa, which keeps subnormals right.
    wide = cast("zext", "<128 x i8>", "<128 x i16>", raw)
    if kind == "e5m2":
        half = t.let(f"shl <128 x i16> {wide}, {splat(128, 'i16', 8)}")
        return cast("fpext", "<128 x half>", "<128 x float>", cast("bitcast", "<128 x i16>", "<128 x half>", half))
    magnitude = t.let(f"and <128 x i16> {wide}, {splat(128, 'i16', 127)}")
    sign = t.let(f"and <128 x i16> {wide}, {splat(128, 'i16', 128)}")
    bits = t.let(
        f"or <128 x i16> {t.let(f'shl <128 x i16> {magnitude}, ' + splat(128, 'i16', 7))}, "
        f"{t.let(f'shl <128 x i16> {sign}, ' + splat(128, 'i16', 8))}"
    )
    small = cast("fpext", "<128 x half>", "<128 x float>", cast("bitcast", "<128 x i16>", "<128 x half>", bits))
    value = t.let(f"fmul <128 x float> {small}, {splat(128, 'float', '256.0')}")
    nan = t.let(f"icmp eq <128 x i16> {magnitude}, {splat(128, 'i16', 127)}")
    nans = splat(128, "float", "0x7FF8000000000000")
    return t.let(f"select <128 x i1> {nan}, <128 x float> {nans}, <128 x float> {value}")


def _rows(t: _Text, f: Fragment, source: str, to: str, kind: str) -> None:
    """Write the elements of A or B to memory, row by row."""
    size, count, nbytes = f.piece, 8 * f.piece, 8 if kind == "double" else 4
    vector = V64 if f.width == 64 else V32
    for index, (row, column) in enumerate(f.pieces):
        raw = t.let(f"load {vector}, ptr {t.at(source, index * 4 * f.width)}, align 64")
        wide = _widen(t, f.type, raw)
        for r in range(8):
            part = t.pick(kind, count, wide, "poison", range(r * size, (r + 1) * size))
            where = t.at(to, ((row + r) * f.columns + column) * nbytes)
            t.do(f"store <{size} x {kind}> {part}, ptr {where}, align {nbytes}")


def _half_kind(f: Fragment) -> str:
    return {"f16": "half", "f32": "float", "f64": "double", "s32": "i32"}[f.type]


def _read_sums(t: _Text, f: Fragment, source: str, to: str, kind: str) -> None:
    """C's registers to pieces of 8 rows of 8."""
    own, nbytes = _half_kind(f), 8 if kind == "double" else 4
    for index in range(len(f.pieces)):
        where = t.at(source, index * f.in_piece * 4 * f.width)
        if f.in_piece == 1:
            raw = t.let(f"load <64 x {own}>, ptr {where}, align 64")
            value = t.let(f"fpext <64 x half> {raw} to <64 x float>")
        else:
            a = t.let(f"load <32 x {own}>, ptr {where}, align 64")
            b = t.let(f"load <32 x {own}>, ptr {t.at(where, 4 * f.width)}, align 64")
            value = t.pick(own, 32, a, b, [i // 2 + 32 * (i % 2) for i in range(64)])
        t.do(f"store <64 x {kind}> {value}, ptr {t.at(to, index * 64 * nbytes)}, align 64")


def _write_sums(t: _Text, f: Fragment, source: str, to: str, kind: str) -> None:
    own, nbytes = _half_kind(f), 8 if kind == "double" else 4
    for index in range(len(f.pieces)):
        where = t.at(to, index * f.in_piece * 4 * f.width)
        value = t.let(f"load <64 x {kind}>, ptr {t.at(source, index * 64 * nbytes)}, align 64")
        if f.in_piece == 1:
            t.do(f"store <64 x half> {t.let(f'fptrunc <64 x float> {value} to <64 x half>')}, ptr {where}, align 64")
            continue
        for odd in (0, 1):
            part = t.pick(kind, 64, value, "poison", range(odd, 64, 2))
            t.do(f"store <32 x {own}> {part}, ptr {t.at(where, odd * 4 * f.width)}, align 64")


def _turn(kind: str, columns: int) -> str:
    """8 rows of `columns` at %from to `columns` rows of 8 at %to, four columns at a time."""
    nbytes = 8 if kind == "double" else 4
    t = _Text()
    read = [t.let(f"load <4 x {kind}>, ptr {t.at('%p', row * columns * nbytes)}, align {nbytes}") for row in range(8)]
    two = [t.pick(kind, 4, read[i], read[i + 1], (0, 4, 1, 5, 2, 6, 3, 7)) for i in range(0, 8, 2)]
    low = [t.pick(kind, 8, two[i], two[i + 1], (0, 1, 8, 9, 2, 3, 10, 11)) for i in (0, 2)]
    high = [t.pick(kind, 8, two[i], two[i + 1], (4, 5, 12, 13, 6, 7, 14, 15)) for i in (0, 2)]
    for place, (a, b) in enumerate((low, high)):
        for half in (0, 4):
            row = t.pick(kind, 8, a, b, [half + i for i in range(4)] + [8 + half + i for i in range(4)])
            t.do(
                f"store <8 x {kind}> {row}, ptr {t.at('%q', (2 * place + half // 4) * 8 * nbytes)}, align {8 * nbytes}"
            )
    body = "\n".join(t.lines)
    return f"""
define internal void @turn(ptr %from, ptr %to) noinline {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %loop]
  %po = mul i64 %i, {4 * nbytes}
  %p = getelementptr i8, ptr %from, i64 %po
  %qo = mul i64 %i, {32 * nbytes}
  %q = getelementptr i8, ptr %to, i64 %qo
{body}
  %i1 = add i64 %i, 1
  %end = icmp eq i64 %i1, {columns // 4}
  br i1 %end, label %out, label %loop
out:
  ret void
}}
"""


def _piece(product: Product, kind: str) -> str:
    """One 8×8 piece of sums at %sums: %rows are 8 rows of A, %columns the turned rows of B."""
    nbytes, v = 8 if kind == "double" else 4, f"<8 x {kind}>"
    whole = kind == "i32"
    begin, phis, body, end = _Text(), [], [], []
    starts = [begin.let(f"load {v}, ptr {begin.at('%sums', r * 8 * nbytes)}, align {8 * nbytes}") for r in range(8)]
    for r in range(8):
        phis.append(f"  %s{r} = phi {v} [{'zeroinitializer' if whole else starts[r]}, %entry], [%n{r}, %loop]")
        body.append(f"""  %o{r} = add i64 %k, {r * product.k}
  %p{r} = getelementptr {kind}, ptr %rows, i64 %o{r}
  %a{r} = load {kind}, ptr %p{r}
  %i{r} = insertelement {v} poison, {kind} %a{r}, i32 0
  %v{r} = shufflevector {v} %i{r}, {v} poison, <8 x i32> zeroinitializer""")
        if whole:
            body.append(f"  %m{r} = mul {v} %v{r}, %b\n  %n{r} = add {v} %s{r}, %m{r}")
            last = f"%n{r}"
            if product.saturates:
                end.append(f"  %d{r} = call {v} @llvm.sadd.sat.v8i32({v} {starts[r]}, {v} %n{r})")
            else:
                end.append(f"  %d{r} = add {v} {starts[r]}, %n{r}")
            last = f"%d{r}"
        else:
            short = {"float": "f32", "double": "f64"}[kind]
            body.append(f"  %n{r} = call {v} @llvm.fma.v8{short}({v} %v{r}, {v} %b, {v} %s{r})")
            last = f"%n{r}"
        end.append(f"  %t{r} = getelementptr i8, ptr %sums, i64 {r * 8 * nbytes}")
        end.append(f"  store {v} {last}, ptr %t{r}, align {8 * nbytes}")
    line = "\n".join
    return f"""
define internal void @piece(ptr %rows, ptr %columns, ptr %sums) noinline {{
entry:
{line(begin.lines)}
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%k1, %loop]
{line(phis)}
  %bo = mul i64 %k, {8 * nbytes}
  %bp = getelementptr i8, ptr %columns, i64 %bo
  %b = load {v}, ptr %bp, align {8 * nbytes}
{line(body)}
  %k1 = add i64 %k, 1
  %done = icmp eq i64 %k1, {product.k}
  br i1 %done, label %out, label %loop
out:
{line(end)}
  ret void
}}
"""


def multiply(product: Product) -> str:
    """The module of one product."""
    kind = _sums_in(product)
    nbytes = 8 if kind == "double" else 4
    a, b, c, d = product.fragments
    t = _Text()
    for name, count in (("rows", a.rows * a.columns), ("lying", b.rows * b.columns), ("turned", b.rows * b.columns),
                        ("sums", c.rows * c.columns)):  # fmt: skip
        t.do(f"%{name} = alloca [{count} x {kind}], align 64")
    _rows(t, a, "%a", "%rows", kind)
    _rows(t, b, "%b", "%lying", kind)
    for eight in range(0, product.n, 8):
        offset = eight * product.k * nbytes
        t.do(f"call void @turn(ptr {t.at('%lying', offset)}, ptr {t.at('%turned', offset)})")
    _read_sums(t, c, "%c", "%sums", kind)
    for index, (row, column) in enumerate(c.pieces):
        rows, columns = (t.at(base, n * product.k * nbytes) for base, n in (("%rows", row), ("%turned", column)))
        t.do(f"call void @piece(ptr {rows}, ptr {columns}, ptr {t.at('%sums', index * 64 * nbytes)})")
    _write_sums(t, d, "%sums", "%d", kind)
    body = "\n".join(t.lines)
    return f"""
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare <8 x double> @llvm.fma.v8f64(<8 x double>, <8 x double>, <8 x double>)
declare <8 x i32> @llvm.sadd.sat.v8i32(<8 x i32>, <8 x i32>)
{_turn(kind, product.k)}
{_piece(product, kind)}
define void @{PREFIX}{product.name}(ptr noalias %a, ptr noalias %b, ptr noalias %c, ptr noalias %d) {{
{body}
  ret void
}}
"""


# ---------------------------------------------------------------- rows of 16 bytes to and from shared memory


def _copy_rows(name: str, store: bool) -> str:
    """Move 16 bytes for each lane in %mask between %base plus its offset and its place in %registers."""
    inside, outside = ("%to", "%from") if store else ("%from", "%to")
    clear = (
        ""
        if store
        else f"""
  store {V32} zeroinitializer, ptr %registers, align 64
  %r1 = getelementptr i8, ptr %registers, i64 128
  store {V32} zeroinitializer, ptr %r1, align 64
  %r2 = getelementptr i8, ptr %registers, i64 256
  store {V32} zeroinitializer, ptr %r2, align 64
  %r3 = getelementptr i8, ptr %registers, i64 384
  store {V32} zeroinitializer, ptr %r3, align 64"""
    )
    return f"""
define void @{name}(i64 %base, {V32} %offsets, i32 %mask, ptr %registers) {{
entry:
  %places = alloca {V32}, align 64
  store {V32} %offsets, ptr %places, align 64
  {clear}
  %memory = inttoptr i64 %base to ptr
  {each_lane("%mask", "entry", "step")}
  %pp = getelementptr i32, ptr %places, i32 %lane
  %offset = load i32, ptr %pp
  %offset64 = zext i32 %offset to i64
  {inside} = getelementptr i8, ptr %memory, i64 %offset64
  %row = shl i32 %lane, 4
  {outside} = getelementptr i8, ptr %registers, i32 %row
  %data = load <4 x i32>, ptr %from, align 16
  store <4 x i32> %data, ptr %to, align 16
  br label %loop
out:
  ret void
}}
"""


# Whether a whole warp executes an instruction that only a whole warp can, and what is wrong with a matrix's place.
CHECKS = f"""
define i32 @wb_whole(ptr %ctx, i64 %site, i32 %mask) {{
  %all = icmp eq i32 %mask, -1
  %none = icmp eq i32 %mask, 0
  %fine = or i1 %all, %none
  br i1 %fine, label %out, label %bad
bad:
  %wide = zext i32 %mask to i64
  {broadcast("masks", "i64", "%wide")}
  call void @fail(ptr %ctx, i64 {ERROR_CODE["partial"]}, i64 %site, i32 %mask, {V64} %masks)
  br label %out
out:
  %go = select i1 %all, i32 -1, i32 0
  ret i32 %go
}}

define i32 @wb_place(ptr %ctx, i64 %site, i32 %mask, {V64} %addresses, {V64} %strides, i64 %grain, i64 %bits, i64 %ones) {{
  ; %grain: what the address must be a multiple of; %bits: of an element; %ones: what bits the distance may not have.
  %idle = icmp eq i32 %mask, 0
  br i1 %idle, label %out, label %look
look:
  %address = extractelement {V64} %addresses, i32 0
  {broadcast("first", "i64", "%address")}
  %elsewhere = icmp ne {V64} %addresses, %first
  %stride = extractelement {V64} %strides, i32 0
  {broadcast("step", "i64", "%stride")}
  %otherwise = icmp ne {V64} %strides, %step
  %unlike = or {V1} %elsewhere, %otherwise
  %unlike_bits = bitcast {V1} %unlike to i32
  %same = icmp eq i32 %unlike_bits, 0
  br i1 %same, label %alike, label %differ
differ:
  call void @fail(ptr %ctx, i64 {ERROR_CODE["unlike"]}, i64 %site, i32 %unlike_bits, {V64} %addresses)
  br label %out
alike:
  %grain_1 = sub i64 %grain, 1
  %crooked = and i64 %address, %grain_1
  %straight = icmp eq i64 %crooked, 0
  br i1 %straight, label %strided, label %misaligned
misaligned:
  call void @fail(ptr %ctx, i64 {ERROR_CODE["alignment"]}, i64 %site, i32 %mask, {V64} %addresses)
  br label %out
strided:
  %apart = mul i64 %stride, %bits
  %odd = and i64 %apart, %ones
  %fits = icmp eq i64 %odd, 0
  br i1 %fits, label %out, label %skewed
skewed:
  call void @fail(ptr %ctx, i64 {ERROR_CODE["stride"]}, i64 %site, i32 %mask, {V64} %strides)
  br label %out
out:
  %go = phi i32 [0, %0], [0, %differ], [0, %misaligned], [0, %skewed], [%mask, %strided]
  ret i32 %go
}}
"""


def source() -> str:
    """What every kernel may call without asking."""
    return CHECKS + _copy_rows("wb_read_rows", False) + _copy_rows("wb_write_rows", True)


@functools.cache
def _by_name() -> dict[str, Product]:
    return {PREFIX + product.name: product for product in products()}


def later(name: str) -> str | None:
    """The module that defines a function which is only made when a kernel calls it, or None."""
    found = _by_name().get(name)
    return multiply(found) if found else None

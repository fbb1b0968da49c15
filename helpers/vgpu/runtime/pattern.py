"""The pattern of offsets that a memory instruction saw last: how it is learned, and compared with the next."""

from __future__ import annotations

from helpers.vgpu.base.context import PATTERN, PHASES, PLACES
from helpers.vgpu.runtime.text import V1, V32, V64, broadcast, ramp, site, splat

# What an access check answers: the good lanes in the low 32 bits, the shape of the pattern above.
# RUN: lane i has element i of a row; SAME: all lanes one element; WINDOW: all within 128 bytes of shared memory;
# HALVES: lanes 0 to 15 a row, the others another, as where a block is 16 threads wide; SHARED_ELEMENT: of a store that
# is counted, where lanes have an element in common (a bit that no other shape has).
ANY, RUN, SAME, WINDOW, SHARED_ELEMENT, HALVES = 0, 1, 2, 3, 4, 8


def compare_pattern(kind: str) -> str:
    """IR that compares %where (a vector of `kind`) under %mask with the pattern a site has seen last.

    Sets %diff, the offsets from lane 0, %first64, and %c_pattern, %c_mask and %c_bits: whether the offsets of the
    active lanes, the lanes themselves and the low bits of the address are the same.
    """
    v = f"<32 x {kind}>"
    return f"""
  %first = extractelement {v} %where, i32 0
  {broadcast("firsts", kind, "%first")}
  %diff = sub {v} %where, %firsts
  %pp = getelementptr i8, ptr %site, i64 {PATTERN}
  %known = load {v}, ptr %pp, align 64
  %equal = icmp eq {v} %diff, %known
  %equal_bits = bitcast {V1} %equal to i32
  %differ = xor i32 %equal_bits, -1
  %wrong = and i32 %differ, %mask
  %c_pattern = icmp eq i32 %wrong, 0
  {site("mp", "mask")}
  %known_mask = load i64, ptr %mp
  %mask64 = zext i32 %mask to i64
  %c_mask = icmp eq i64 %known_mask, %mask64
  %first64 = {"add i64 %first, 0" if kind == "i64" else "zext i32 %first to i64"}
  %size_1 = sub i32 %size, 1
  %bit_mask32 = or i32 %size_1, 3
  %bit_mask = zext i32 %bit_mask32 to i64
  %low_bits = and i64 %first64, %bit_mask
  {site("bp", "bits")}
  %known_bits = load i64, ptr %bp
  %c_bits = icmp eq i64 %low_bits, %known_bits"""


def lowest(kind: str) -> str:
    """IR that sets %lowest, the lowest address of the pattern: that of lane 0, %first, and %low, the distance from it.

    Lane 0 may be off and then has any number at all, so that the sum has to wrap around like the distance.
    """
    if kind == "i64":
        return "%lowest = add i64 %first, %low"
    return """%low32 = trunc i64 %low to i32
  %lowest32 = add i32 %first, %low32
  %lowest = zext i32 %lowest32 to i64"""


def learn(kind: str, strange: str, windows: bool = False) -> str:
    """Keep the pattern of %where under %mask: all its lanes are good and aligned, relative to %base with %span.

    `strange` ends the function where there is none to keep: lane 0 is off and so far away that distances from it wrap.
    """
    v = f"<32 x {kind}>"
    bits = kind[1:]
    widen = "%least64 = sext i32 %least to i64\n  %most64 = sext i32 %most to i64"
    if kind == "i64":
        widen = "%least64 = add i64 %least, 0\n  %most64 = add i64 %most, 0"
    halves = ", ".join(f"i32 {lane + 16 * (lane > 15)}" for lane in range(32))
    twice = ", ".join(f"i32 {lane % 16}" for lane in range(32))
    window = f"%shape1 = add i64 0, {ANY}"
    if kind == "i32" and windows:
        window = f"""{broadcast("leasts", "i32", "%least")}
  %from_least = sub {V32} %diff, %leasts
  %places = lshr {V32} %from_least, {splat("i32", 2)}
  %plp = getelementptr i8, ptr %site, i64 {PLACES}
  store {V32} %places, ptr %plp, align 64
  %near = icmp ult i64 %extent, 125
  %words = icmp eq i32 %size, 4
  %fits = and i1 %near, %words
  %shape1 = select i1 %fits, i64 {WINDOW}, i64 {ANY}"""
    return f"""
  {compare_pattern(kind)}
  %lanes = bitcast i32 %mask to {V1}
  %for_least = select {V1} %lanes, {v} %diff, {v} {splat(kind, (1 << (int(bits) - 1)) - 1)}
  %least = call {kind} @llvm.vector.reduce.smin.v32{kind}({v} %for_least)
  %for_most = select {V1} %lanes, {v} %diff, {v} {splat(kind, -(1 << (int(bits) - 1)))}
  %most = call {kind} @llvm.vector.reduce.smax.v32{kind}({v} %for_most)
  {widen}
  %extent = sub i64 %most64, %least64
  %measured = icmp ule i64 %extent, %span
  br i1 %measured, label %usual, label %strange
strange:
  {strange}
usual:
  %room = sub i64 %span, %extent
  %c1 = and i1 %c_pattern, %c_mask
  %same = and i1 %c1, %c_bits
  {site("lp", "low")}
  store i64 %least64, ptr %lp
  {site("rp", "room")}
  store i64 %room, ptr %rp
  %php = getelementptr i8, ptr %site, i64 {PHASES}
  br i1 %same, label %learned, label %new
new:
  store {v} %diff, ptr %pp, align 64
  store i64 %mask64, ptr %mp
  store i64 %low_bits, ptr %bp
  call void @llvm.memset.p0.i64(ptr %php, i8 0, i64 32, i1 false)
  %pop = call i32 @llvm.ctpop.i32(i32 %mask)
  %pop64 = zext i32 %pop to i64
  {site("acp", "active")}
  store i64 %pop64, ptr %acp
  %full = icmp eq i32 %mask, -1
  {broadcast("sizes", "i32", "%size")}
  %ramp32 = mul {V32} %sizes, {ramp("i32", 1)}
  %ramp = {f"zext {V32} %ramp32 to {V64}" if kind == "i64" else f"add {V32} %ramp32, zeroinitializer"}
  %in_run = icmp eq {v} %diff, %ramp
  %run_bits = bitcast {V1} %in_run to i32
  %all_run = icmp eq i32 %run_bits, -1
  %is_run = and i1 %full, %all_run
  %to_half = extractelement {v} %diff, i32 16
  {broadcast("to_halves", kind, "%to_half")}
  %starts = shufflevector {v} zeroinitializer, {v} %to_halves, <32 x i32> <{halves}>
  %from_starts = sub {v} %diff, %starts
  %half_ramp = shufflevector {v} %ramp, {v} poison, <32 x i32> <{twice}>
  %in_half = icmp eq {v} %from_starts, %half_ramp
  %half_bits = bitcast {V1} %in_half to i32
  %all_half = icmp eq i32 %half_bits, -1
  %is_half = and i1 %full, %all_half
  %zero = icmp eq {v} %diff, zeroinitializer
  %zero_bits = bitcast {V1} %zero to i32
  %nonzero = xor i32 %zero_bits, -1
  %other = and i32 %nonzero, %mask
  %all_same = icmp eq i32 %other, 0
  {window}
  %shape2 = select i1 %is_half, i64 {HALVES}, i64 %shape1
  %shape3 = select i1 %all_same, i64 {SAME}, i64 %shape2
  %shape = select i1 %is_run, i64 {RUN}, i64 %shape3
  {site("shp", "shape")}
  store i64 %shape, ptr %shp
  br label %learned
learned:
  %word = lshr i64 %first64, 2
  %phase = and i64 %word, 7
  %cp = getelementptr i32, ptr %php, i64 %phase"""


REDUCTIONS = "".join(
    f"declare i{b} @llvm.vector.reduce.s{word}.v32i{b}(<32 x i{b}>)\n" for b in (32, 64) for word in ("min", "max")
)

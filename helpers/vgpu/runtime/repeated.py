"""Requests whose pattern comes again, and the shortest way through those that have a plain shape.

A load or store of 4 or 8 bytes a lane first asks whether its site has seen a row, one element for all lanes, or a
window of shared memory, and sees it again. Then it is counted and done here, without a call and with no vector kept in
memory, so that the function needs no frame; whatever else there is goes to the function called @far_….
"""

from __future__ import annotations

from helpers.vgpu.base.context import PHASES, PLACES
from helpers.vgpu.runtime.pattern import HALVES, RUN, SAME, WINDOW, compare_pattern, lowest
from helpers.vgpu.runtime.text import V32, broadcast, bump, get, get_pointer, site


def touched_from(write: str) -> str:
    """IR that sets %touched: where the site's allocation begins in the map of sectors read, or written (also atomics)."""
    return f"""{get_pointer("reads", "reads")}
  {get_pointer("writes", "writes")}
  %is_write = icmp ne i32 {write}, 0
  %map = select i1 %is_write, ptr %writes, ptr %reads
  {site("touch_p", "touch")}
  %touch = load i64, ptr %touch_p
  %touched = getelementptr i8, ptr %map, i64 %touch"""


def fits(kind: str, counted: bool, base: str) -> str:
    """IR that sets %fits: does the pattern of %where (a vector of `kind`) come again, within the memory of the site?

    `base` sets the scalar %base of the space, to which addresses are relative. Sets %lowest, the lowest address,
    %from_base, its distance, the %room for it, and what has been %learnt of the phase.
    """
    return f"""
  {compare_pattern(kind)}
  {base}
  {site("lp", "low")}
  %low = load i64, ptr %lp
  {lowest(kind)}
  %from_base = sub i64 %lowest, %base
  {site("rp", "room")}
  %room = load i64, ptr %rp
  %c_room = icmp ule i64 %from_base, %room
  %c1 = and i1 %c_pattern, %c_mask
  %c2 = and i1 %c_room, %c_bits
  %c3 = and i1 %c1, %c2
  %word = lshr i64 %first64, 2
  %phase = and i64 %word, 7
  %php = getelementptr i8, ptr %site, i64 {PHASES}
  %cp = getelementptr i32, ptr %php, i64 %phase
  %learnt = load i32, ptr %cp
  %c_count = icmp ne i32 %learnt, 0
  %fits = and i1 %c3, {"%c_count" if counted else "true"}"""


BASE = {"global": f"{site('basep', 'base')}\n  %base = load i64, ptr %basep", "shared": "%base = add i64 0, 0"}


def tally(space: str) -> str:
    """IR that counts a request whose pattern fits; %units are its sectors or wavefronts."""
    made = "call i32 @llvm.ctpop.i32(i32 %learnt)" if space == "global" else "add i32 %learnt, 0"
    requests, units = ("requests", "sectors") if space == "global" else ("shared_requests", "shared_wavefronts")
    return f"""
  %units = {made}
  %units64 = zext i32 %units to i64
  {site("ap", "active")}
  %active = load i64, ptr %ap
  {bump(requests, "1", "rq")}
  {bump(units, "%units64", "sc")}
  {bump("lanes", "%active", "ln")}"""


def mark_from_lowest(rule: str) -> str:
    """IR that sets %lowest_p, the place of the lowest address's sector in the map of those touched."""
    return f"""{touched_from(rule)}
  %sector = lshr i64 %from_base, 5
  %lowest_p = getelementptr i8, ptr %touched, i64 %sector"""


def mark_row(size: str) -> str:
    """IR that marks the sectors of a row: as many as an element has bytes (`size`, i64), or one more."""
    return f"""call void @llvm.memset.p0.i64(ptr %lowest_p, i8 1, i64 {size}, i1 false)
  %to_last = sub i64 %units64, 1
  %last_p = getelementptr i8, ptr %lowest_p, i64 %to_last
  store i8 1, ptr %last_p"""


# 32 neighbouring words of shared memory, permuted in registers: far cheaper than a gather, where AVX-512 has it.
_WINDOW = f"""
window:
  %a = load <16 x i32>, ptr %p, align 4
  %q = getelementptr i8, ptr %p, i64 64
  %b = load <16 x i32>, ptr %q, align 4
  %ip = getelementptr i8, ptr %site, i64 {PLACES}
  %i0 = load <16 x i32>, ptr %ip, align 64
  %iq = getelementptr i8, ptr %ip, i64 64
  %i1 = load <16 x i32>, ptr %iq, align 64
  %r0 = call <16 x i32> @llvm.x86.avx512.vpermi2var.d.512(<16 x i32> %a, <16 x i32> %i0, <16 x i32> %b)
  %r1 = call <16 x i32> @llvm.x86.avx512.vpermi2var.d.512(<16 x i32> %a, <16 x i32> %i1, <16 x i32> %b)
  %near = shufflevector <16 x i32> %r0, <16 x i32> %r1, <32 x i32> <{", ".join(f"i32 {i}" for i in range(32))}>
  ret {V32} %near"""


def _ahead(bits: int, *starts: str) -> str:
    """IR that asks for what this site may want next: as far from the rows that start here as these from the last ones.

    The CPU takes all sites for one stream of loads, since one function serves them, and does not guess it.
    """
    tag = starts[0].strip("%")
    text = f"""{site(f"{tag}_last_p", "last")}
  %{tag}_last = load i64, ptr %{tag}_last_p
  store i64 %first64, ptr %{tag}_last_p
  %{tag}_step = sub i64 %first64, %{tag}_last"""
    for start in starts:
        text += f"\n  {start}_next = getelementptr i8, ptr {start}, i64 %{tag}_step"
        for line in range(0, 4 * bits // len(starts), 64):
            text += f"""
  {start}_{line} = getelementptr i8, ptr {start}_next, i64 {line}
  call void @llvm.prefetch.p0(ptr {start}_{line}, i32 0, i32 3, i32 1)"""
    return text


def _begin(space: str, counted: bool, bits: int, shapes: tuple[int, ...], rule: int) -> str:
    """IR that goes on at %run, %same … if the site's pattern has one of these shapes and comes again; or to %far.

    Then it is counted, and %p is the lowest address.
    """
    marks = counted and space == "global"
    seen = " ".join(f"i64 {shape}, label %plain" for shape in shapes)
    ways = " ".join(f"i64 {shape}, label %{_LABELS[shape]}" for shape in shapes if shape != RUN)
    return f"""
  {site("shape_p", "shape")}
  %shape = load i64, ptr %shape_p
  switch i64 %shape, label %far [ {seen} ]
plain:
  %size = add i32 0, {bits // 8}
  {fits("i64" if space == "global" else "i32", counted, BASE[space])}
  br i1 %fits, label %hit, label %far
hit:
  {tally(space) if counted else ""}
  {mark_from_lowest(str(rule)) if marks else ""}
  {_place("p", space, "%lowest")}
  switch i64 %shape, label %run [ {ways} ]"""


_LABELS = {RUN: "run", SAME: "same", WINDOW: "window", HALVES: "halves"}


def _place(name: str, space: str, offset: str) -> str:
    """IR that makes a pointer of an address or, in shared memory, an offset (i64)."""
    if space == "global":
        return f"%{name} = inttoptr i64 {offset} to ptr"
    return f"""{get(f"{name}_own", "shared_base")}
  %{name}_at = add i64 %{name}_own, {offset}
  %{name} = inttoptr i64 %{name}_at to ptr"""


def _halves(space: str, counted: bool, bits: int) -> str:
    """IR that sets %p0 and %p1, where the two rows begin, and marks what they touch."""
    size, kind = bits // 8, "i64" if space == "global" else "i32"
    second = "%second = add i64 %first, %to_half"
    if space == "shared":
        second = "%second32 = add i32 %first, %to_half\n  %second = zext i32 %second32 to i64"
    marks = []
    for half, start in enumerate(("%first64", "%second")):
        marks.append(f"""%from{half} = sub i64 {start}, %base
  %sector{half} = lshr i64 %from{half}, 5
  %begin{half} = getelementptr i8, ptr %touched, i64 %sector{half}
  call void @llvm.memset.p0.i64(ptr %begin{half}, i8 1, i64 {size // 2}, i1 false)
  %until{half} = add i64 %from{half}, {15 * size}
  %last_sector{half} = lshr i64 %until{half}, 5
  %end{half} = getelementptr i8, ptr %touched, i64 %last_sector{half}
  store i8 1, ptr %end{half}""")
    mark = "\n  ".join(marks) if counted and space == "global" else ""
    return f"""%to_half_p = getelementptr {kind}, ptr %pp, i64 16
  %to_half = load {kind}, ptr %to_half_p
  {second}
  {mark}
  {_place("p0", space, "%first64")}
  {_place("p1", space, "%second")}"""


def load(space: str, counted: bool, bits: int, windows: bool, given: str) -> str:
    """IR of the body of a load; `given` are its arguments as a call passes them on."""
    v, half, name = f"<32 x i{bits}>", f"<16 x i{bits}>", f"{'c' if counted else 'p'}_{space}_load{bits}"
    near, marks = windows and space == "shared" and bits == 32, counted and space == "global"
    whole = ", ".join(f"i32 {lane}" for lane in range(32))
    return f"""{_begin(space, counted, bits, (RUN, SAME, HALVES, WINDOW) if near else (RUN, SAME, HALVES), 0)}
run:
  {mark_row(str(bits // 8)) if marks else ""}
  {_ahead(bits, "%p") if space == "global" else ""}
  %row = load {v}, ptr %p, align {bits // 8}
  ret {v} %row
same:
  {"store i8 1, ptr %lowest_p" if marks else ""}
  %x = load i{bits}, ptr %p, align {bits // 8}
  {broadcast("xs", f"i{bits}", "%x")}
  ret {v} %xs
halves:
  {_halves(space, counted, bits)}
  {_ahead(bits, "%p0", "%p1") if space == "global" else ""}
  %h0 = load {half}, ptr %p0, align {bits // 8}
  %h1 = load {half}, ptr %p1, align {bits // 8}
  %both = shufflevector {half} %h0, {half} %h1, <32 x i32> <{whole}>
  ret {v} %both
{_WINDOW if near else ""}
far:
  %r = tail call {v} @far_{name}({given})
  ret {v} %r"""


def store(space: str, counted: bool, bits: int, given: str) -> str:
    """IR of the body of a store of %value."""
    v, half, name = f"<32 x i{bits}>", f"<16 x i{bits}>", f"{'c' if counted else 'p'}_{space}_store{bits}"
    marks = counted and space == "global"
    low, high = (", ".join(f"i32 {start + lane}" for lane in range(16)) for start in (0, 16))
    return f"""{_begin(space, counted, bits, (RUN, HALVES), 1)}
run:
  {mark_row(str(bits // 8)) if marks else ""}
  store {v} %value, ptr %p, align {bits // 8}
  ret void
halves:
  {_halves(space, counted, bits)}
  %v0 = shufflevector {v} %value, {v} poison, <16 x i32> <{low}>
  %v1 = shufflevector {v} %value, {v} poison, <16 x i32> <{high}>
  store {half} %v0, ptr %p0, align {bits // 8}
  store {half} %v1, ptr %p1, align {bits // 8}
  ret void
far:
  tail call void @far_{name}({given})
  ret void"""

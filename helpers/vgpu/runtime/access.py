"""The runtime's memory accesses: bounds and alignment checked, sectors and wavefronts counted, lanes moved.

Kernels repeat themselves: a site nearly always sees the pattern of offsets (relative to lane 0) that it saw
last time. So the pattern is remembered with its extent and its counts, and the common path compares 32 offsets,
checks one address and adds to three counters. Everything else is the slow path.
"""

from __future__ import annotations

from helpers.vgpu.base.context import ERROR_CODE
from helpers.vgpu.runtime import count as runtime_count
from helpers.vgpu.runtime import overwrites, repeated
from helpers.vgpu.runtime import slow as runtime_slow
from helpers.vgpu.runtime.pattern import RUN, SAME
from helpers.vgpu.runtime.repeated import BASE, fits, mark_from_lowest, mark_row, tally
from helpers.vgpu.runtime.text import V1, V32, V64, broadcast, bump, context, site

_OFFSETS = {"global": V64, "shared": V32}  # addresses of 32 lanes, by space

# ---------------------------------------------------------------- the common path


def _remembered(space: str, counted: bool) -> str:
    """IR up to a branch to %hit or %miss: does the pattern of %where fit the memory of the site? Then it is counted."""
    return f"""
  {fits("i64" if space == "global" else "i32", counted, BASE[space])}
  br i1 %fits, label %hit, label %miss
hit:
  {site("sh", "shape")}
  %shape = load i64, ptr %sh
  %high = shl i64 %shape, 32
  %answer = or i64 %high, %mask64
  {tally(space) if counted else ""}"""


# Mark the sectors of a pattern, whose first lanes %learnt has; where there are two, they are those of the lowest and of
# the highest address.
_MARK = f"""
  {mark_from_lowest("%rule")}
  %row = icmp eq i64 %shape, {RUN}
  br i1 %row, label %mark_row, label %no_row
mark_row:
  %row_size = zext i32 %size to i64
  {mark_row("%row_size")}
  br label %marked
no_row:
  %few = icmp ule i32 %units, 2
  br i1 %few, label %mark_ends, label %mark_each
mark_ends:
  {site("spanp", "span")}
  %span = load i64, ptr %spanp
  %extent = sub i64 %span, %room
  %to_highest = add i64 %from_base, %extent
  %highest = lshr i64 %to_highest, 5
  %highest_p = getelementptr i8, ptr %touched, i64 %highest
  store i8 1, ptr %lowest_p
  store i8 1, ptr %highest_p
  br label %marked
mark_each:
  {broadcast("bases", "i64", "%base")}
  %off = sub {V64} %where, %bases
  call void @touch(ptr %ctx, ptr %site, {V64} %off, i32 %learnt, i32 %rule)
  br label %marked
marked:"""


def _check(space: str, counted: bool) -> str:
    name = f"{'c' if counted else 'p'}_{space}"
    arguments = f"ptr %ctx, ptr %site, {_OFFSETS[space]} %where, i32 %mask, i32 %size, i32 %rule"
    return f"""
define i64 @wb_{name}({arguments}) {{
  {_remembered(space, counted)}
  {_MARK if counted and space == "global" else ""}
  ret i64 %answer
miss:
  %slow = call i64 @slow_{name}({arguments})
  ret i64 %slow
}}
"""


def _local_access(counted: bool) -> str:
    prefix = "wb_c" if counted else "wb_p"
    count = f"""
  %some = icmp ne i32 %good, 0
  br i1 %some, label %work, label %leave
work:
  %n = call i32 @local_sectors({V64} %within, i32 %good, i32 %size)
  %n64 = zext i32 %n to i64
  {bump("local_requests", "1", "lr")}
  {bump("local_sectors", "%n64", "ls")}
  br label %leave
leave:"""
    return f"""
define i64 @{prefix}_local(ptr %ctx, ptr %site, {V64} %within, i32 %mask, i32 %size, i32 %rule) {{
  {context("lp", "local_bytes")}
  %have = load i64, ptr %lp
  %size64 = zext i32 %size to i64
  %room = sub i64 %have, %size64
  %enough = icmp uge i64 %have, %size64
  {broadcast("rooms", "i64", "%room")}
  %out = icmp ugt {V64} %within, %rooms
  %outbits0 = bitcast {V1} %out to i32
  %outbits = select i1 %enough, i32 %outbits0, i32 -1
  %bad = and i32 %outbits, %mask
  %fine = icmp eq i32 %bad, 0
  br i1 %fine, label %checked, label %failed
failed:
  %id = call i64 @site_id(ptr %ctx, ptr %site)
  call void @fail(ptr %ctx, i64 {ERROR_CODE["bounds"]}, i64 %id, i32 %bad, {V64} %within)
  br label %checked
checked:
  %right = xor i32 %bad, -1
  %good = and i32 %mask, %right
  {count if counted else ""}
  %answer = zext i32 %good to i64
  ret i64 %answer
}}
"""


def _entry_points(counted: bool, windows: bool) -> str:
    """Checks fused with a move of 4 or 8 bytes a lane."""
    letter = "c" if counted else "p"
    parts = []
    for space, kind in _OFFSETS.items():
        arguments = f"ptr %ctx, ptr %site, {kind} %where, i32 %mask"
        if space == "shared":
            place = f"""{context("sbase", "shared_base")}
  %sb = load i64, ptr %sbase
  {broadcast("sbs", "i64", "%sb")}
  %wide = zext {V32} %where to {V64}
  %addr = add {V64} %wide, %sbs"""
        else:
            place = f"%addr = add {V64} %where, zeroinitializer"
        for bits in (32, 64):
            v, name = f"<32 x i{bits}>", f"{letter}_{space}_%s{bits}"
            check = f"%answer = call i64 @wb_{letter}_{space}({arguments}, i32 {bits // 8}"
            move = f"call void @move_store{bits}({V64} %addr, {v} %value, i64 %answer)"
            if counted:
                move = f"call void @move_told_store{bits}(ptr %site, {V64} %addr, {v} %value, i64 %answer)"
            value = f"{v} %value"
            parts.append(f"""
define {v} @wb_{name % "load"}({arguments}) {{
  {repeated.load(space, counted, bits, windows, arguments)}
}}

define internal {v} @far_{name % "load"}({arguments}) noinline {{
  {check}, i32 0)
  {place}
  %r = call {v} @move_load{bits}({V64} %addr, i64 %answer)
  ret {v} %r
}}

define void @wb_{name % "store"}({arguments}, {value}) {{
  {repeated.store(space, counted, bits, f"{arguments}, {value}")}
}}

define internal void @far_{name % "store"}({arguments}, {value}) noinline {{
  {check}, i32 1)
  {place}
  {move}
  ret void
}}
""")
    return "".join(parts)


# ---------------------------------------------------------------- moving the data


def _moves(bits: int) -> str:
    """Load and store lanes of one width, given the answer of an access check."""
    v = f"<32 x i{bits}>"
    choose = f"""
  %mask = trunc i64 %answer to i32
  %shape64 = lshr i64 %answer, 32
  %shape = trunc i64 %shape64 to i32
  %a0 = extractelement {V64} %addr, i32 0
  %p = inttoptr i64 %a0 to ptr"""
    load = f"""{{
  {choose}
  switch i32 %shape, label %apart [ i32 {RUN}, label %together  i32 {SAME}, label %one ]
together:
  %whole = load {v}, ptr %p, align {bits // 8}
  ret {v} %whole
one:
  ; The lanes agree, but lane 0 may not be among them: ask the first that is.
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %af = extractelement {V64} %addr, i32 %first
  %fp = inttoptr i64 %af to ptr
  %x = load i{bits}, ptr %fp, align {bits // 8}
  {broadcast("xs", f"i{bits}", "%x")}
  ret {v} %xs
apart:
  %m = bitcast i32 %mask to {V1}
  %ps = inttoptr {V64} %addr to <32 x ptr>
  %g = call {v} @llvm.masked.gather.v32i{bits}.v32p0(<32 x ptr> %ps, i32 {bits // 8}, {V1} %m, {v} zeroinitializer)
  ret {v} %g
}}
"""

    def store(last: str) -> str:
        return f"""{{
  {choose}
  %run = icmp eq i32 %shape, {RUN}
  br i1 %run, label %together, label %apart
together:
  store {v} %value, ptr %p, align {bits // 8}
  ret void
apart:
  %m = bitcast i32 %mask to {V1}
  %ps = inttoptr {V64} %addr to <32 x ptr>
  call void @llvm.masked.scatter.v32i{bits}.v32p0({v} %value, <32 x ptr> %ps, i32 {bits // 8}, {V1} %m)
  {last}ret void
}}
"""

    told = store(f"{overwrites.tell(bits)}\n  ")
    return f"""
define {v} @wb_load{bits}({V64} %addr, i64 %answer) {load}
define void @wb_store{bits}({V64} %addr, {v} %value, i64 %answer) {store("")}
define internal {v} @move_load{bits}({V64} %addr, i64 %answer) alwaysinline {load}
define internal void @move_store{bits}({V64} %addr, {v} %value, i64 %answer) alwaysinline {store("")}
define void @wb_told_store{bits}(ptr %site, {V64} %addr, {v} %value, i64 %answer) {told}
define internal void @move_told_store{bits}(ptr %site, {V64} %addr, {v} %value, i64 %answer) alwaysinline {told}
define i{bits} @wb_once{bits}(i64 %addr, i64 %answer) {{
  %mask = trunc i64 %answer to i32
  %any = icmp ne i32 %mask, 0
  br i1 %any, label %read, label %none
read:
  %p = inttoptr i64 %addr to ptr
  %x = load i{bits}, ptr %p, align {bits // 8}
  ret i{bits} %x
none:
  ret i{bits} 0
}}
"""


def source(avx512: bool) -> str:
    """All of it; `avx512` allows instructions that only AVX-512 has."""
    parts = [runtime_count.source(), overwrites.source(), runtime_slow.source(avx512)]
    if avx512:
        parts.append("declare <16 x i32> @llvm.x86.avx512.vpermi2var.d.512(<16 x i32>, <16 x i32>, <16 x i32>)")
    for counted in (True, False):
        parts += [_check(space, counted) for space in _OFFSETS]
        parts += [_local_access(counted), _entry_points(counted, avx512)]
    parts += [_moves(bits) for bits in (8, 16, 32, 64)]
    return "\n".join(parts)

"""The runtime's memory accesses: bounds and alignment checked, sectors and wavefronts counted, lanes moved.

Kernels repeat themselves: a site nearly always sees the pattern of offsets (relative to lane 0) that it saw
last time. So the pattern is remembered with its extent and its counts, and the common path compares 32 offsets,
checks one address and adds to three counters. Everything else is the slow path.
"""

from __future__ import annotations

from helpers.vgpu.base.context import ERROR_CODE, PHASES, PLACES
from helpers.vgpu.runtime import count as runtime_count
from helpers.vgpu.runtime import overwrites
from helpers.vgpu.runtime import slow as runtime_slow
from helpers.vgpu.runtime.count import touched_from
from helpers.vgpu.runtime.pattern import RUN, SAME, WINDOW, compare_pattern, lowest
from helpers.vgpu.runtime.text import V1, V32, V64, broadcast, bump, context, site

# ---------------------------------------------------------------- the common path


def _remembered(kind: str, counted: bool, load: str) -> str:
    """IR up to a branch to %hit or %miss: does the pattern of %where (a vector of `kind`) fit the memory of the site?

    `load` names the scalar base of the space: addresses are relative to it.
    """
    return f"""
  {compare_pattern(kind)}
  {load}
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
  %c4 = {"and i1 %c3, %c_count" if counted else "and i1 %c3, true"}
  br i1 %c4, label %hit, label %miss
hit:
  {site("sh", "shape")}
  %shape = load i64, ptr %sh
  %high = shl i64 %shape, 32
  %answer = or i64 %high, %mask64"""


def _tally(requests: str, units: str) -> str:
    return f"""
  %count64 = zext i32 %units to i64
  {site("ap", "active")}
  %active = load i64, ptr %ap
  {bump(requests, "1", "rq")}
  {bump(units, "%count64", "sc")}
  {bump("lanes", "%active", "ln")}"""


# Mark the sectors of a pattern, whose first lanes %learnt has. A row has as many as an element has bytes, or one more;
# where there are two, they are those of the lowest and of the highest address.
_TOUCH = f"""
  {context("rdp", "reads")}
  %rd = load i64, ptr %rdp
  %watch = icmp ne i64 %rd, 0
  br i1 %watch, label %mark, label %leave
mark:
  {touched_from("%rule")}
  %sector = lshr i64 %from_base, 5
  %lowest_p = getelementptr i8, ptr %touched, i64 %sector
  %row = icmp eq i64 %shape, {RUN}
  br i1 %row, label %mark_row, label %no_row
mark_row:
  %row_size = zext i32 %size to i64
  call void @llvm.memset.p0.i64(ptr %lowest_p, i8 1, i64 %row_size, i1 false)
  %to_last = sub i64 %count64, 1
  %last_p = getelementptr i8, ptr %lowest_p, i64 %to_last
  store i8 1, ptr %last_p
  br label %leave
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
  br label %leave
mark_each:
  {broadcast("bases", "i64", "%base")}
  %off = sub {V64} %where, %bases
  call void @touch(ptr %ctx, ptr %site, {V64} %off, i32 %learnt, i32 %rule)
  br label %leave
leave:"""


def _check_global(counted: bool) -> str:
    letter = "c" if counted else "p"
    base = f"""{site("basep", "base")}
  %base = load i64, ptr %basep"""
    return f"""
define internal i64 @check_{letter}_global(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule) alwaysinline {{
  {_remembered("i64", counted, base)}
  {"%units = call i32 @llvm.ctpop.i32(i32 %learnt)" if counted else ""}
  {_tally("requests", "sectors") if counted else ""}
  {_TOUCH if counted else ""}
  ret i64 %answer
miss:
  %slow = call i64 @slow_{letter}_global(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule)
  ret i64 %slow
}}
"""


def _check_shared(counted: bool) -> str:
    letter = "c" if counted else "p"
    return f"""
define internal i64 @check_{letter}_shared(ptr %ctx, ptr %site, {V32} %where, i32 %mask, i32 %size, i32 %rule) alwaysinline {{
  {_remembered("i32", counted, "%base = add i64 0, 0")}
  {"%units = add i32 %learnt, 0" if counted else ""}
  {_tally("shared_requests", "shared_wavefronts") if counted else ""}
  ret i64 %answer
miss:
  %slow = call i64 @slow_{letter}_shared(ptr %ctx, ptr %site, {V32} %where, i32 %mask, i32 %size, i32 %rule)
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


# 32 neighbouring words of shared memory, permuted in registers: far cheaper than a gather, where AVX-512 has it.
_WINDOW = f"""
  {context("wsb", "shared_base")}
  %wbase = load i64, ptr %wsb
  %first = extractelement {V32} %where, i32 0
  {site("wlp", "low")}
  %low = load i64, ptr %wlp
  {lowest("i32")}
  %w2 = add i64 %wbase, %lowest
  %wp = inttoptr i64 %w2 to ptr
  %a = load <16 x i32>, ptr %wp, align 4
  %wq = getelementptr i8, ptr %wp, i64 64
  %b = load <16 x i32>, ptr %wq, align 4
  %ip = getelementptr i8, ptr %site, i64 {PLACES}
  %i0 = load <16 x i32>, ptr %ip, align 64
  %iq = getelementptr i8, ptr %ip, i64 64
  %i1 = load <16 x i32>, ptr %iq, align 64
  %r0 = call <16 x i32> @llvm.x86.avx512.vpermi2var.d.512(<16 x i32> %a, <16 x i32> %i0, <16 x i32> %b)
  %r1 = call <16 x i32> @llvm.x86.avx512.vpermi2var.d.512(<16 x i32> %a, <16 x i32> %i1, <16 x i32> %b)
  %near_r = shufflevector <16 x i32> %r0, <16 x i32> %r1, <32 x i32> <{", ".join(f"i32 {i}" for i in range(32))}>
  ret {V32} %near_r
"""


def _entry_points(counted: bool, windows: bool) -> str:
    """Checks by themselves, and checks fused with a move of 4 or 8 bytes a lane."""
    letter = "c" if counted else "p"
    parts = []
    for space, kind in (("global", V64), ("shared", V32)):
        arguments = f"ptr %ctx, ptr %site, {kind} %where, i32 %mask"
        names = ("wb", "again") if counted else ("wb",)
        for name in names:
            internal, never = ("internal ", " noinline") if name == "again" else ("", "")
            parts.append(f"""
define {internal}i64 @{name}_{letter}_{space}({arguments}, i32 %size, i32 %rule){never} {{
  %answer = call i64 @check_{letter}_{space}(ptr %ctx, ptr %site, {kind} %where, i32 %mask, i32 %size, i32 %rule)
  ret i64 %answer
}}
""")
        if space == "shared":
            place = f"""{context("sbase", "shared_base")}
  %sb = load i64, ptr %sbase
  {broadcast("sbs", "i64", "%sb")}
  %wide = zext {V32} %where to {V64}
  %addr = add {V64} %wide, %sbs"""
        else:
            place = f"%addr = add {V64} %where, zeroinitializer"
        for bits in (32, 64):
            v = f"<32 x i{bits}>"
            load = f"""{place}
  %r = call {v} @move_load{bits}({V64} %addr, i64 %answer)
  ret {v} %r"""
            if windows and space == "shared" and bits == 32:
                load = f"""%shape = lshr i64 %answer, 32
  %window = icmp eq i64 %shape, {WINDOW}
  br i1 %window, label %near, label %far
near:
{_WINDOW}
far:
  {load}"""
            check = f"%answer = call i64 @check_{letter}_{space}(ptr %ctx, ptr %site, {kind} %where, i32 %mask, i32 {bits // 8}"
            move = f"call void @move_store{bits}({V64} %addr, {v} %value, i64 %answer)"
            if counted:
                move = f"call void @move_told_store{bits}(ptr %site, {V64} %addr, {v} %value, i64 %answer)"
            parts.append(f"""
define {v} @wb_{letter}_{space}_load{bits}({arguments}) {{
  {check}, i32 0)
  {load}
}}

define void @wb_{letter}_{space}_store{bits}({arguments}, {v} %value) {{
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
        parts += [_check_global(counted), _check_shared(counted)]
        parts += [_local_access(counted), _entry_points(counted, avx512)]
    parts += [_moves(bits) for bits in (8, 16, 32, 64)]
    return "\n".join(parts)

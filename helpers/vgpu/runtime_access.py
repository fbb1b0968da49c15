"""The runtime's memory accesses: bounds and alignment checked, sectors and wavefronts counted, lanes moved.

Kernels repeat themselves: a site nearly always sees the pattern of offsets (relative to lane 0) that it saw
last time. So the pattern is remembered with its extent and its counts, and the common path compares 32 offsets,
checks one address and adds to three counters. Everything else is the slow path.

Rules of the counts (NVIDIA "CUDA C++ Programming Guide", device memory accesses and shared memory): a global
request moves 32-byte sectors, each counted once; shared memory has 32 banks of 4 bytes, a request needs as many
wavefronts as the fullest bank has distinct words, and 8- and 16-byte accesses are served in 2 and 4 parts.
"""

from __future__ import annotations

from helpers.vgpu.context import ERROR_CODE, PATTERN, PHASES, PLACES
from helpers.vgpu.runtime_text import V1, V8, V32, V64, broadcast, bump, context, ramp, site, splat

# What an access check answers: the good lanes in the low 32 bits, the shape of the pattern above.
# RUN: lane i has element i of a row; SAME: all lanes one element; WINDOW: all within 128 bytes of shared memory.
ANY, RUN, SAME, WINDOW = 0, 1, 2, 3

# Which allocation an address lies in: a binary search over the sorted table, done when a site leaves the
# allocation it used last. Shared and local memory are windows of the generic address space.
LOOKUP = f"""
define internal i1 @place(ptr %ctx, ptr %site, i64 %addr, i64 %size) noinline {{
  {context("sbp", "shared_base")}
  %sb = load i64, ptr %sbp
  {context("ssp", "shared_bytes")}
  %ss = load i64, ptr %ssp
  %so = sub i64 %addr, %sb
  %inshared = icmp ult i64 %so, %ss
  br i1 %inshared, label %found_shared, label %try_local
found_shared:
  br label %settle
try_local:
  {context("lbp", "local_base")}
  %lb = load i64, ptr %lbp
  {context("lnp", "local_bytes")}
  %ln = load i64, ptr %lnp
  {context("wsp", "warps")}
  %ws = load i64, ptr %wsp
  %threads = shl i64 %ws, 5
  %all = mul i64 %ln, %threads
  %lo = sub i64 %addr, %lb
  %inlocal = icmp ult i64 %lo, %all
  br i1 %inlocal, label %found_local, label %search
found_local:
  br label %settle
search:
  {context("stp", "starts")}
  %starts = load ptr, ptr %stp
  {context("enp", "ends")}
  %ends = load ptr, ptr %enp
  {context("cp", "allocations")}
  %count = load i64, ptr %cp
  br label %loop
loop:
  %low = phi i64 [0, %search], [%low2, %step]
  %high = phi i64 [%count, %search], [%high2, %step]
  %more = icmp ult i64 %low, %high
  br i1 %more, label %step, label %after
step:
  %sum = add i64 %low, %high
  %mid = lshr i64 %sum, 1
  %sp = getelementptr i64, ptr %starts, i64 %mid
  %start = load i64, ptr %sp
  %right = icmp ule i64 %start, %addr
  %mid1 = add i64 %mid, 1
  %low2 = select i1 %right, i64 %mid1, i64 %low
  %high2 = select i1 %right, i64 %high, i64 %mid
  br label %loop
after:
  %none = icmp eq i64 %low, 0
  br i1 %none, label %miss, label %check
check:
  %index = sub i64 %low, 1
  %isp = getelementptr i64, ptr %starts, i64 %index
  %is = load i64, ptr %isp
  %iep = getelementptr i64, ptr %ends, i64 %index
  %ie = load i64, ptr %iep
  %length = sub i64 %ie, %is
  %offset = sub i64 %addr, %is
  %inside = icmp ult i64 %offset, %length
  br i1 %inside, label %found_global, label %miss
found_global:
  {context("tp", "touch_offsets")}
  %touches = load ptr, ptr %tp
  %top = getelementptr i64, ptr %touches, i64 %index
  %touch = load i64, ptr %top
  br label %settle
settle:
  %base = phi i64 [%sb, %found_shared], [%lb, %found_local], [%is, %found_global]
  %bytes = phi i64 [%ss, %found_shared], [%all, %found_local], [%length, %found_global]
  %space = phi i64 [1, %found_shared], [2, %found_local], [0, %found_global]
  %touched = phi i64 [0, %found_shared], [0, %found_local], [%touch, %found_global]
  %fits = icmp uge i64 %bytes, %size
  br i1 %fits, label %store, label %miss
store:
  %span = sub i64 %bytes, %size
  {site("b", "base")}
  store i64 %base, ptr %b
  {site("s", "span")}
  store i64 %span, ptr %s
  {site("k", "space")}
  store i64 %space, ptr %k
  {site("t", "touch")}
  store i64 %touched, ptr %t
  {site("m", "mask")}
  store i64 -1, ptr %m
  %from = sub i64 %addr, %base
  %whole = icmp ule i64 %from, %span
  ret i1 %whole
miss:
  ret i1 false
}}
"""

# The number of distinct keys among the active lanes.
DISTINCT = f"""
define internal i32 @distinct({V64} %keys, i32 %mask) noinline {{
  %buffer = alloca {V64}, align 64
  store {V64} %keys, ptr %buffer
  br label %loop
loop:
  %rest = phi i32 [%mask, %0], [%rest2, %step]
  %n = phi i32 [0, %0], [%n2, %step]
  %done = icmp eq i32 %rest, 0
  br i1 %done, label %out, label %step
step:
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %p = getelementptr i64, ptr %buffer, i32 %lane
  %key = load i64, ptr %p
  {broadcast("all", "i64", "%key")}
  %same = icmp eq {V64} %keys, %all
  %bits = bitcast {V1} %same to i32
  %others = xor i32 %bits, -1
  %rest2 = and i32 %rest, %others
  %n2 = add i32 %n, 1
  br label %loop
out:
  ret i32 %n
}}
"""

# Wavefronts of one request: for each part of the warp that is served together, the largest number of distinct
# words in one bank. With %every set (atomics) equal words count too, since their updates follow one another.
WAVEFRONTS = f"""
define internal i32 @wavefronts({V32} %offsets, i32 %mask, i32 %size, i32 %every) noinline {{
  %buffer = alloca {V32}, align 64
  %table = alloca [1024 x i32], align 64
  %count = alloca [32 x i32], align 64
  store {V32} %offsets, ptr %buffer
  %sw = lshr i32 %size, 2
  %words = call i32 @llvm.umax.i32(i32 %sw, i32 1)
  %lanes = udiv i32 32, %words
  br label %part
part:
  %p0 = phi i32 [0, %0], [%p1, %part_end]
  %total = phi i32 [0, %0], [%total1, %part_end]
  %p_done = icmp uge i32 %p0, 32
  br i1 %p_done, label %out, label %part_begin
part_begin:
  call void @llvm.memset.p0.i64(ptr %count, i8 0, i64 128, i1 false)
  %p1 = add i32 %p0, %lanes
  br label %lane
lane:
  %l = phi i32 [%p0, %part_begin], [%l1, %lane_end]
  %most = phi i32 [0, %part_begin], [%most2, %lane_end]
  %l_done = icmp uge i32 %l, %p1
  br i1 %l_done, label %part_end, label %lane_begin
lane_begin:
  %l1 = add i32 %l, 1
  %bit = lshr i32 %mask, %l
  %active = trunc i32 %bit to i1
  %bp = getelementptr i32, ptr %buffer, i32 %l
  %offset = load i32, ptr %bp
  %word0 = lshr i32 %offset, 2
  br i1 %active, label %word, label %lane_end
word:
  %w = phi i32 [0, %lane_begin], [%w1, %word_end]
  %most1 = phi i32 [%most, %lane_begin], [%most3, %word_end]
  %w_done = icmp uge i32 %w, %words
  br i1 %w_done, label %lane_end, label %word_begin
word_begin:
  %w1 = add i32 %w, 1
  %word_index = add i32 %word0, %w
  %bank = and i32 %word_index, 31
  %cp = getelementptr i32, ptr %count, i32 %bank
  %c = load i32, ptr %cp
  %row = shl i32 %bank, 5
  br label %search
search:
  %k = phi i32 [0, %word_begin], [%k1, %search_next]
  %k_done = icmp uge i32 %k, %c
  br i1 %k_done, label %append, label %search_step
search_step:
  %ti = add i32 %row, %k
  %tp = getelementptr i32, ptr %table, i32 %ti
  %t = load i32, ptr %tp
  %equal = icmp eq i32 %t, %word_index
  %distinct_only = icmp eq i32 %every, 0
  %hit = and i1 %equal, %distinct_only
  br i1 %hit, label %word_end, label %search_next
search_next:
  %k1 = add i32 %k, 1
  br label %search
append:
  %ai = add i32 %row, %c
  %ap = getelementptr i32, ptr %table, i32 %ai
  store i32 %word_index, ptr %ap
  %c1 = add i32 %c, 1
  store i32 %c1, ptr %cp
  %most4 = call i32 @llvm.umax.i32(i32 %most1, i32 %c1)
  br label %word_end
word_end:
  %most3 = phi i32 [%most1, %search_step], [%most4, %append]
  br label %word
lane_end:
  %most2 = phi i32 [%most, %lane_begin], [%most1, %word]
  br label %lane
part_end:
  %total1 = add i32 %total, %most
  br label %part
out:
  ret i32 %total
}}
"""

# The sectors an access touches, marked in a map of bytes: distinct ones are counted at the end.
TOUCH = f"""
define internal void @touch(ptr %ctx, ptr %site, {V64} %offsets, i32 %mask, i32 %write) noinline {{
  {context("rp", "reads")}
  %r = load i64, ptr %rp
  {context("wp", "writes")}
  %w = load i64, ptr %wp
  %is_write = icmp ne i32 %write, 0 ; an atomic counts as a write
  %map = select i1 %is_write, i64 %w, i64 %r
  {site("tp", "touch")}
  %t = load i64, ptr %tp
  %start = add i64 %map, %t
  {broadcast("starts", "i64", "%start")}
  %sector = lshr {V64} %offsets, {splat("i64", 5)}
  %where = add {V64} %starts, %sector
  %pointers = inttoptr {V64} %where to <32 x ptr>
  %m = bitcast i32 %mask to {V1}
  call void @llvm.masked.scatter.v32i8.v32p0({V8} {splat("i8", 1)}, <32 x ptr> %pointers, i32 1, {V1} %m)
  ret void
}}
"""

# Local memory is laid out so that the same word of the 32 lanes is contiguous, as on a GPU: a request for the
# same variable is coalesced. `%within` are byte offsets within each thread's own area.
LOCAL = f"""
define internal i32 @local_sectors({V64} %within, i32 %mask, i32 %size) {{
  %word = lshr {V64} %within, {splat("i64", 2)}
  %line = shl {V64} %word, {splat("i64", 2)}
  %key = add {V64} %line, <{", ".join(f"i64 {lane // 8}" for lane in range(32))}>
  %n = call i32 @distinct({V64} %key, i32 %mask)
  %sw = lshr i32 %size, 2
  %words = call i32 @llvm.umax.i32(i32 %sw, i32 1)
  %total = mul i32 %n, %words
  ret i32 %total
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


# ---------------------------------------------------------------- the common path


def _remembered(kind: str, counted: bool, load: str) -> str:
    """IR up to a branch to %hit or %miss: does the pattern of %where (a vector of `kind`) fit the memory of the site?

    `load` names the scalar base of the space: addresses are relative to it.
    """
    v = f"<32 x {kind}>"
    return f"""
  %first = extractelement {v} %where, i32 0
  {broadcast("firsts", kind, "%first")}
  %diff = sub {v} %where, %firsts
  %pp = getelementptr i8, ptr %site, i64 {PATTERN}
  %known = load {v}, ptr %pp, align 64
  %equal = icmp eq {v} %diff, %known
  %bits = bitcast {V1} %equal to i32
  %differ = xor i32 %bits, -1
  %wrong = and i32 %differ, %mask
  %c_pattern = icmp eq i32 %wrong, 0
  {site("mp", "mask")}
  %known_mask = load i64, ptr %mp
  %mask64 = zext i32 %mask to i64
  %c_mask = icmp eq i64 %known_mask, %mask64
  %first64 = {"add i64 %first, 0" if kind == "i64" else "zext i32 %first to i64"}
  {load}
  {site("lp", "low")}
  %low = load i64, ptr %lp
  %lowest = add i64 %first64, %low
  %from_base = sub i64 %lowest, %base
  {site("rp", "room")}
  %room = load i64, ptr %rp
  %c_room = icmp ule i64 %from_base, %room
  {site("bp", "bits")}
  %known_bits = load i64, ptr %bp
  %size_1 = sub i32 %size, 1
  %bit_mask32 = or i32 %size_1, 3
  %bit_mask = zext i32 %bit_mask32 to i64
  %low_bits = and i64 %first64, %bit_mask
  %c_bits = icmp eq i64 %low_bits, %known_bits
  %c1 = and i1 %c_pattern, %c_mask
  %c2 = and i1 %c_room, %c_bits
  %c3 = and i1 %c1, %c2
  %word = lshr i64 %first64, 2
  %phase = and i64 %word, 7
  %php = getelementptr i8, ptr %site, i64 {PHASES}
  %cp = getelementptr i32, ptr %php, i64 %phase
  %count = load i32, ptr %cp
  %c_count = icmp ne i32 %count, 0
  %c4 = {"and i1 %c3, %c_count" if counted else "and i1 %c3, true"}
  br i1 %c4, label %hit, label %miss
hit:
  {site("sh", "shape")}
  %shape = load i64, ptr %sh
  %high = shl i64 %shape, 32
  %answer = or i64 %high, %mask64"""


def _tally(requests: str, units: str) -> str:
    return f"""
  %count64 = zext i32 %count to i64
  {site("ap", "active")}
  %active = load i64, ptr %ap
  {bump(requests, "1", "rq")}
  {bump(units, "%count64", "sc")}
  {bump("lanes", "%active", "ln")}"""


def _check_global(counted: bool) -> str:
    letter = "c" if counted else "p"
    touch = f"""
  {context("rdp", "reads")}
  %rd = load i64, ptr %rdp
  %watch = icmp ne i64 %rd, 0
  br i1 %watch, label %mark, label %leave
mark:
  {broadcast("bases", "i64", "%base")}
  %off = sub {V64} %where, %bases
  call void @touch(ptr %ctx, ptr %site, {V64} %off, i32 %mask, i32 %rule)
  br label %leave
leave:"""
    base = f"""{site("basep", "base")}
  %base = load i64, ptr %basep"""
    return f"""
define internal i64 @check_{letter}_global(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule) alwaysinline {{
  {_remembered("i64", counted, base)}
  {_tally("requests", "sectors") if counted else ""}
  {touch if counted else ""}
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
  {_tally("shared_requests", "shared_wavefronts") if counted else ""}
  ret i64 %answer
miss:
  %slow = call i64 @slow_{letter}_shared(ptr %ctx, ptr %site, {V32} %where, i32 %mask, i32 %size, i32 %rule)
  ret i64 %slow
}}
"""


# ---------------------------------------------------------------- the slow path


def _learn(kind: str, windows: bool = False) -> str:
    """Keep the pattern of %where under %mask: all its lanes are good and aligned, relative to %base with %span."""
    v = f"<32 x {kind}>"
    bits = kind[1:]
    widen = "%least64 = sext i32 %least to i64\n  %most64 = sext i32 %most to i64"
    if kind == "i64":
        widen = "%least64 = add i64 %least, 0\n  %most64 = add i64 %most, 0"
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
  %first = extractelement {v} %where, i32 0
  {broadcast("firsts", kind, "%first")}
  %diff = sub {v} %where, %firsts
  %lanes = bitcast i32 %mask to {V1}
  %for_least = select {V1} %lanes, {v} %diff, {v} {splat(kind, (1 << (int(bits) - 1)) - 1)}
  %least = call {kind} @llvm.vector.reduce.smin.v32{kind}({v} %for_least)
  %for_most = select {V1} %lanes, {v} %diff, {v} {splat(kind, -(1 << (int(bits) - 1)))}
  %most = call {kind} @llvm.vector.reduce.smax.v32{kind}({v} %for_most)
  {widen}
  %extent = sub i64 %most64, %least64
  %room = sub i64 %span, %extent
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
  %c_bits = icmp eq i64 %low_bits, %known_bits
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
  %zero = icmp eq {v} %diff, zeroinitializer
  %zero_bits = bitcast {V1} %zero to i32
  %nonzero = xor i32 %zero_bits, -1
  %other = and i32 %nonzero, %mask
  %all_same = icmp eq i32 %other, 0
  {window}
  %shape0 = select i1 %all_same, i64 {SAME}, i64 %shape1
  %shape = select i1 %is_run, i64 {RUN}, i64 %shape0
  {site("shp", "shape")}
  store i64 %shape, ptr %shp
  br label %learned
learned:
  %word = lshr i64 %first64, 2
  %phase = and i64 %word, 7
  %cp = getelementptr i32, ptr %php, i64 %phase"""


def _slow_global(counted: bool) -> str:
    letter = "c" if counted else "p"
    count = f"""
  %keys = lshr {V64} %off, {splat("i64", 5)}
  %count = call i32 @distinct({V64} %keys, i32 %mask)
  store i32 %count, ptr %cp
  %again = call i64 @again_c_global(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule)
  ret i64 %again"""
    elsewhere = f"""
  %space32 = trunc i64 %space to i32
  %is_shared = icmp eq i32 %space32, 1
  br i1 %is_shared, label %in_shared, label %in_local
in_shared:
  %off32 = trunc {V64} %off to {V32}
  %is_atomic = icmp eq i32 %rule, 2
  %every = zext i1 %is_atomic to i32
  %nw = call i32 @wavefronts({V32} %off32, i32 %good, i32 %size, i32 %every)
  %nw64 = zext i32 %nw to i64
  {bump("shared_requests", "1", "sr")}
  {bump("shared_wavefronts", "%nw64", "sw")}
  %popx = call i32 @llvm.ctpop.i32(i32 %good)
  %popx64 = zext i32 %popx to i64
  {bump("lanes", "%popx64", "lnx")}
  br label %done_elsewhere
in_local:
  {context("lnp", "local_bytes")}
  %lbytes = load i64, ptr %lnp
  {broadcast("lb", "i64", "%lbytes")}
  %within = urem {V64} %off, %lb
  %nl = call i32 @local_sectors({V64} %within, i32 %good, i32 %size)
  %nl64 = zext i32 %nl to i64
  {bump("local_requests", "1", "lr")}
  {bump("local_sectors", "%nl64", "ls")}
  br label %done_elsewhere
done_elsewhere:"""
    return f"""
define internal i64 @slow_{letter}_global(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule) noinline {{
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %nobody, label %look
nobody:
  ret i64 0
look:
  {site("bsp", "base")}
  {site("spp", "span")}
  %base0 = load i64, ptr %bsp
  %span0 = load i64, ptr %spp
  {broadcast("bases0", "i64", "%base0")}
  {broadcast("spans0", "i64", "%span0")}
  %off0 = sub {V64} %where, %bases0
  %out0 = icmp ugt {V64} %off0, %spans0
  %out0bits = bitcast {V1} %out0 to i32
  %bad0 = and i32 %out0bits, %mask
  %inside0 = icmp eq i32 %bad0, 0
  br i1 %inside0, label %placed, label %search
search:
  %size64 = zext i32 %size to i64
  %lane = call i32 @llvm.cttz.i32(i32 %bad0, i1 true)
  %a = extractelement {V64} %where, i32 %lane
  %ok = call i1 @place(ptr %ctx, ptr %site, i64 %a, i64 %size64)
  %base1 = load i64, ptr %bsp
  %span1 = load i64, ptr %spp
  {broadcast("bases1", "i64", "%base1")}
  {broadcast("spans1", "i64", "%span1")}
  %off1 = sub {V64} %where, %bases1
  %out1 = icmp ugt {V64} %off1, %spans1
  %out1bits = bitcast {V1} %out1 to i32
  %bad1 = and i32 %out1bits, %mask
  %inside1 = icmp eq i32 %bad1, 0
  %fine1 = and i1 %inside1, %ok
  br i1 %fine1, label %placed, label %mixed
mixed:
  %m = call i64 @mixed_{letter}(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule)
  ret i64 %m
placed:
  %base = phi i64 [%base0, %look], [%base1, %search]
  %span = phi i64 [%span0, %look], [%span1, %search]
  %off = phi {V64} [%off0, %look], [%off1, %search]
  %size_m1 = sub i32 %size, 1
  %size_m1_64 = zext i32 %size_m1 to i64
  {broadcast("align", "i64", "%size_m1_64")}
  %odd = and {V64} %where, %align
  %isodd = icmp ne {V64} %odd, zeroinitializer
  %oddbits = bitcast {V1} %isodd to i32
  %crooked = and i32 %oddbits, %mask
  %straight = icmp eq i32 %crooked, 0
  %rightbits = xor i32 %crooked, -1
  %good = and i32 %mask, %rightbits
  br i1 %straight, label %aligned, label %misaligned
misaligned:
  %id = call i64 @site_id(ptr %ctx, ptr %site)
  call void @fail(ptr %ctx, i64 {ERROR_CODE["alignment"]}, i64 %id, i32 %crooked, {V64} %where)
  %goodm = zext i32 %good to i64
  ret i64 %goodm
aligned:
  {site("kp", "space")}
  %space = load i64, ptr %kp
  %isglobal = icmp eq i64 %space, 0
  br i1 %isglobal, label %global, label %elsewhere
elsewhere:
  {elsewhere if counted else ""}
  %goode = zext i32 %good to i64
  ret i64 %goode
global:
  {_learn("i64")}
  {count if counted else f"%mask64b = zext i32 %mask to i64{chr(10)}  ret i64 %mask64b"}
}}

define internal i64 @mixed_{letter}(ptr %ctx, ptr %site, {V64} %addr, i32 %mask, i32 %size, i32 %rule) noinline cold {{
  ; Lanes in several allocations, or some outside all: each lane is looked up by itself.
  %size64 = zext i32 %size to i64
  br label %loop
loop:
  %rest = phi i32 [%mask, %0], [%rest1, %next]
  %good = phi i32 [0, %0], [%good1, %next]
  %lost = phi i32 [0, %0], [%lost1, %next]
  %done = icmp eq i32 %rest, 0
  br i1 %done, label %report, label %step
step:
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %rest_1 = sub i32 %rest, 1
  %rest1 = and i32 %rest, %rest_1
  %bit = shl i32 1, %lane
  %a = extractelement {V64} %addr, i32 %lane
  %ok = call i1 @place(ptr %ctx, ptr %site, i64 %a, i64 %size64)
  br i1 %ok, label %found, label %missing
missing:
  %lost2 = or i32 %lost, %bit
  br label %next
found:
  %size_1 = sub i64 %size64, 1
  %odd = and i64 %a, %size_1
  %straight = icmp eq i64 %odd, 0
  br i1 %straight, label %fine, label %crooked
crooked:
  %cid = call i64 @site_id(ptr %ctx, ptr %site)
  call void @fail(ptr %ctx, i64 {ERROR_CODE["alignment"]}, i64 %cid, i32 %bit, {V64} %addr)
  br label %next
fine:
  %good2 = or i32 %good, %bit
  {_mixed_touch() if counted else "br label %next"}
next:
  %good1 = phi i32 [%good, %missing], [%good, %crooked], [%good2, %fine]{", [%good2, %mark]" if counted else ""}
  %lost1 = phi i32 [%lost2, %missing], [%lost, %crooked], [%lost, %fine]{", [%lost, %mark]" if counted else ""}
  br label %loop
report:
  %any = icmp ne i32 %lost, 0
  br i1 %any, label %bad, label %count
bad:
  %id = call i64 @site_id(ptr %ctx, ptr %site)
  call void @fail(ptr %ctx, i64 {ERROR_CODE["bounds"]}, i64 %id, i32 %lost, {V64} %addr)
  br label %count
count:
  {_mixed_count() if counted else ""}
  ; The next request starts with a fresh look-up.
  {site("s", "span")}
  store i64 0, ptr %s
  {site("b", "base")}
  store i64 -1, ptr %b
  {site("fm", "mask")}
  store i64 -1, ptr %fm
  %good64 = zext i32 %good to i64
  ret i64 %good64
}}
"""


def _mixed_touch() -> str:
    return f"""{site("xb", "base")}
  %xbase = load i64, ptr %xb
  {broadcast("xbases", "i64", "%xbase")}
  %xoff = sub {V64} %addr, %xbases
  {site("xk", "space")}
  %xspace = load i64, ptr %xk
  {context("rdp", "reads")}
  %rd = load i64, ptr %rdp
  %watch0 = icmp ne i64 %rd, 0
  %watch1 = icmp eq i64 %xspace, 0
  %watch = and i1 %watch0, %watch1
  br i1 %watch, label %mark, label %next
mark:
  call void @touch(ptr %ctx, ptr %site, {V64} %xoff, i32 %bit, i32 %rule)
  br label %next"""


def _mixed_count() -> str:
    return f"""%keys = lshr {V64} %addr, {splat("i64", 5)}
  %n = call i32 @distinct({V64} %keys, i32 %good)
  %n64 = zext i32 %n to i64
  {bump("requests", "1", "rq")}
  {bump("sectors", "%n64", "sc")}
  %pop = call i32 @llvm.ctpop.i32(i32 %good)
  %pop64 = zext i32 %pop to i64
  {bump("lanes", "%pop64", "ln")}"""


def _slow_shared(counted: bool, windows: bool) -> str:
    letter = "c" if counted else "p"
    count = f"""
  %is_atomic = icmp eq i32 %rule, 2
  %every = zext i1 %is_atomic to i32
  %count = call i32 @wavefronts({V32} %where, i32 %mask, i32 %size, i32 %every)
  ; What a shared access costs does not depend on where its pattern starts.
  {broadcast("counts", "i32", "%count").replace("<32 x i32> zeroinitializer", "<8 x i32> zeroinitializer")}
  store <8 x i32> %counts, ptr %php
  %again = call i64 @again_c_shared(ptr %ctx, ptr %site, {V32} %where, i32 %mask, i32 %size, i32 %rule)
  ret i64 %again"""
    return f"""
define internal i64 @slow_{letter}_shared(ptr %ctx, ptr %site, {V32} %where, i32 %mask, i32 %size, i32 %rule) noinline {{
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %nobody, label %look
nobody:
  ret i64 0
look:
  {context("sbp", "shared_bytes")}
  %have = load i64, ptr %sbp
  %size64 = zext i32 %size to i64
  %span = sub i64 %have, %size64
  %wide = zext {V32} %where to {V64}
  {broadcast("spans", "i64", "%span")}
  %out = icmp sgt {V64} %wide, %spans
  %outbits = bitcast {V1} %out to i32
  %bad = and i32 %outbits, %mask
  %size_m1 = sub i32 %size, 1
  {broadcast("align", "i32", "%size_m1")}
  %odd = and {V32} %where, %align
  %isodd = icmp ne {V32} %odd, zeroinitializer
  %oddbits = bitcast {V1} %isodd to i32
  %crooked = and i32 %oddbits, %mask
  %faulty = or i32 %bad, %crooked
  %fine = icmp eq i32 %faulty, 0
  br i1 %fine, label %good, label %failed
failed:
  %id = call i64 @site_id(ptr %ctx, ptr %site)
  %isbad = icmp ne i32 %bad, 0
  %code = select i1 %isbad, i64 {ERROR_CODE["bounds"]}, i64 {ERROR_CODE["alignment"]}
  %which = select i1 %isbad, i32 %bad, i32 %crooked
  call void @fail(ptr %ctx, i64 %code, i64 %id, i32 %which, {V64} %wide)
  %right = xor i32 %faulty, -1
  %rest = and i32 %mask, %right
  %rest64 = zext i32 %rest to i64
  ret i64 %rest64
good:
  {_learn("i32", windows)}
  {count if counted else f"%mask64b = zext i32 %mask to i64{chr(10)}  ret i64 %mask64b"}
}}
"""


# 32 neighbouring words of shared memory, permuted in registers: far cheaper than a gather, where AVX-512 has it.
_WINDOW = f"""
  {context("wsb", "shared_base")}
  %wbase = load i64, ptr %wsb
  %wf = extractelement {V32} %where, i32 0
  %wf64 = zext i32 %wf to i64
  {site("wlp", "low")}
  %wlow = load i64, ptr %wlp
  %w1 = add i64 %wbase, %wf64
  %w2 = add i64 %w1, %wlow
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
            parts.append(f"""
define {v} @wb_{letter}_{space}_load{bits}({arguments}) {{
  {check}, i32 0)
  {load}
}}

define void @wb_{letter}_{space}_store{bits}({arguments}, {v} %value) {{
  {check}, i32 1)
  {place}
  call void @move_store{bits}({V64} %addr, {v} %value, i64 %answer)
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
    store = f"""{{
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
  ret void
}}
"""
    return f"""
define {v} @wb_load{bits}({V64} %addr, i64 %answer) {load}
define void @wb_store{bits}({V64} %addr, {v} %value, i64 %answer) {store}
define internal {v} @move_load{bits}({V64} %addr, i64 %answer) alwaysinline {load}
define internal void @move_store{bits}({V64} %addr, {v} %value, i64 %answer) alwaysinline {store}
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


REDUCTIONS = "".join(
    f"declare i{b} @llvm.vector.reduce.s{word}.v32i{b}(<32 x i{b}>)\n" for b in (32, 64) for word in ("min", "max")
)


def source(avx512: bool) -> str:
    """All of it; `avx512` allows instructions that only AVX-512 has."""
    parts = [REDUCTIONS, LOOKUP, DISTINCT, WAVEFRONTS, TOUCH, LOCAL]
    if avx512:
        parts.append("declare <16 x i32> @llvm.x86.avx512.vpermi2var.d.512(<16 x i32>, <16 x i32>, <16 x i32>)")
    for counted in (True, False):
        parts += [_check_global(counted), _check_shared(counted), _slow_global(counted), _slow_shared(counted, avx512)]
        parts += [_local_access(counted), _entry_points(counted, avx512)]
    parts += [_moves(bits) for bits in (8, 16, 32, 64)]
    return "\n".join(parts)

"""The code every kernel calls: memory access with checks and counts, atomics, shuffles and the block loop.

It is LLVM IR written once for all kernels, so that it is compiled once a process and kernels stay small. A lane
vector has 32 elements; a mask is an i32 with one bit a lane. Each access function comes twice: `wb_c…` counts,
`wb_p…` (plain) only checks.

Rules that the counts follow (NVIDIA "CUDA C++ Programming Guide", device memory accesses and shared memory):
a global request moves 32-byte sectors, each counted once; shared memory has 32 banks of 4 bytes, a request needs
as many wavefronts as the fullest bank has distinct words, and 8- and 16-byte accesses are served in 2 and 4 parts.
"""

from __future__ import annotations

from helpers.vgpu.context import (
    DONE,
    ERROR_CODE,
    FAILED,
    LAUNCH_SLOT,
    OUT_OF_FUEL,
    PC_BARRIER_SHIFT,
    PC_DONE,
    PC_WAIT,
    SITE_SLOT,
    SLOT,
    WAITING,
)

V64, V32, V16, V8, V1 = (f"<32 x i{b}>" for b in (64, 32, 16, 8, 1))
FULL = -1


def splat(kind: str, value) -> str:
    return "<" + ", ".join([f"{kind} {value}"] * 32) + ">"


def ramp(kind: str, step: int) -> str:
    return "<" + ", ".join(f"{kind} {lane * step}" for lane in range(32)) + ">"


def context(name: str, slot: str) -> str:
    return f"%{name} = getelementptr i64, ptr %ctx, i64 {SLOT[slot]}"


def site(name: str, slot: str) -> str:
    return f"%{name} = getelementptr i64, ptr %site, i64 {SITE_SLOT[slot]}"


def broadcast(name: str, kind: str, scalar: str) -> str:
    return (
        f"%{name}_i = insertelement <32 x {kind}> poison, {kind} {scalar}, i32 0\n"
        f"  %{name} = shufflevector <32 x {kind}> %{name}_i, <32 x {kind}> poison, <32 x i32> zeroinitializer"
    )


def bump(slot: str, amount: str, tag: str) -> str:
    """Add to a counter of the site."""
    return f"""{site(tag + "_p", slot)}
  %{tag}_o = load i64, ptr %{tag}_p
  %{tag}_n = add i64 %{tag}_o, {amount}
  store i64 %{tag}_n, ptr %{tag}_p"""


DECLARATIONS = f"""
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.umin.i64(i64, i64)
declare i32 @llvm.umax.i32(i32, i32)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @llvm.vector.reduce.umin.v32i32({V32})
declare i32 @llvm.vector.reduce.umax.v32i32({V32})
declare i64 @llvm.vector.reduce.or.v32i64({V64})
""" + "".join(
    f"declare <32 x i{b}> @llvm.masked.gather.v32i{b}.v32p0(<32 x ptr>, i32, {V1}, <32 x i{b}>)\n"
    f"declare void @llvm.masked.scatter.v32i{b}.v32p0(<32 x i{b}>, <32 x ptr>, i32, {V1})\n"
    for b in (8, 16, 32, 64)
)

FAIL = f"""
define internal void @fail(ptr %ctx, i64 %code, i64 %id, i32 %lanes, {V64} %addr) noinline cold {{
  {context("e", "error")}
  %old = load i64, ptr %e
  %first = icmp eq i64 %old, 0
  br i1 %first, label %note, label %out
note:
  store i64 %code, ptr %e
  {context("s", "error_site")}
  store i64 %id, ptr %s
  %l = call i32 @llvm.cttz.i32(i32 %lanes, i1 false)
  %l64 = zext i32 %l to i64
  {context("lp", "error_lane")}
  store i64 %l64, ptr %lp
  %lane = and i32 %l, 31
  %a = extractelement {V64} %addr, i32 %lane
  {context("ap", "error_address")}
  store i64 %a, ptr %ap
  {context("wp", "warp")}
  %w = load i64, ptr %wp
  {context("ewp", "error_warp")}
  store i64 %w, ptr %ewp
  {context("bp", "block")}
  %b = load i64, ptr %bp
  {context("ebp", "error_block")}
  store i64 %b, ptr %ebp
  {context("fp", "fuel")}
  store i64 0, ptr %fp
  br label %out
out:
  ret void
}}

define internal i64 @site_id(ptr %ctx, ptr %site) {{
  {context("p", "sites")}
  %first = load i64, ptr %p
  %here = ptrtoint ptr %site to i64
  %d = sub i64 %here, %first
  %id = lshr i64 %d, 8
  ret i64 %id
}}
"""

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
  {site("m", "memo_mask")}
  store i64 0, ptr %m
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

# Remember the last pattern of offsets (relative to the first active lane) at a site: kernels repeat themselves,
# and the number of sectors or wavefronts depends on the pattern only, given the phase within a sector.
MEMO = f"""
define internal i32 @remember(ptr %ctx, ptr %site, {V32} %offsets, i32 %mask, i32 %size, i32 %rule) {{
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %one = extractelement {V32} %offsets, i32 %first
  {broadcast("ones", "i32", "%one")}
  %diff = sub {V32} %offsets, %ones
  %phase = and i32 %one, 31
  %phase64 = zext i32 %phase to i64
  %mask64 = zext i32 %mask to i64
  {site("mm", "memo_mask")}
  %om = load i64, ptr %mm
  {site("mp", "memo_phase")}
  %op = load i64, ptr %mp
  %dp = getelementptr i8, ptr %site, i64 128
  %od = load {V32}, ptr %dp, align 64
  %same = icmp eq {V32} %od, %diff
  %bits = bitcast {V1} %same to i32
  %differ = xor i32 %bits, -1
  %wrong = and i32 %differ, %mask
  %c1 = icmp eq i32 %wrong, 0
  %c2 = icmp eq i64 %om, %mask64
  %c3 = icmp eq i64 %op, %phase64
  %c12 = and i1 %c1, %c2
  %hit = and i1 %c12, %c3
  {site("mc", "memo_count")}
  br i1 %hit, label %known, label %work
known:
  %old = load i64, ptr %mc
  %old32 = trunc i64 %old to i32
  ret i32 %old32
work:
  %sectors_wanted = icmp eq i32 %rule, 0
  br i1 %sectors_wanted, label %sectors, label %banks
sectors:
  %wide = zext {V32} %offsets to {V64}
  %keys = lshr {V64} %wide, {splat("i64", 5)}
  %ns = call i32 @distinct({V64} %keys, i32 %mask)
  br label %keep
banks:
  %every = sub i32 %rule, 1
  %nw = call i32 @wavefronts({V32} %offsets, i32 %mask, i32 %size, i32 %every)
  br label %keep
keep:
  %n = phi i32 [%ns, %sectors], [%nw, %banks]
  store i64 %mask64, ptr %mm
  store i64 %phase64, ptr %mp
  store {V32} %diff, ptr %dp, align 64
  %n64 = zext i32 %n to i64
  store i64 %n64, ptr %mc
  ret i32 %n
}}

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


def _global_access(counted: bool) -> str:
    """Check (and count) a request to global or generic memory: the mask of good lanes, bit 32 set if contiguous.

    `rule` is 0 for a load, 1 for a store, 2 for an atomic.
    """
    prefix = "wb_c" if counted else "wb_p"
    run_count = f"""
  %phase = and i32 %low, 31
  %bytes32 = shl i32 %size, 5
  %reach = add i32 %phase, %bytes32
  %reach31 = add i32 %reach, 31
  %run_sectors = lshr i32 %reach31, 5
  br label %tally"""
    some_count = f"""
  %any = icmp ne i32 %good, 0
  br i1 %any, label %some_work, label %nobody2
nobody2:
  ret i64 0
some_work:
  %some_sectors = call i32 @remember(ptr %ctx, ptr %site, {V32} %off32, i32 %good, i32 %size, i32 0)
  br label %tally"""
    tally = f"""
tally:
  %sectors = phi i32 [%run_sectors, %run_count], [%some_sectors, %some_work]
  %flag = phi i64 [4294967296, %run_count], [0, %some_work]
  %s64 = zext i32 %sectors to i64
  {bump("requests", "1", "rq")}
  {bump("sectors", "%s64", "sc")}
  %pop = call i32 @llvm.ctpop.i32(i32 %good)
  %pop64 = zext i32 %pop to i64
  {bump("lanes", "%pop64", "ln")}
  {context("rdp", "reads")}
  %rd = load i64, ptr %rdp
  %watch = icmp ne i64 %rd, 0
  br i1 %watch, label %mark, label %leave
mark:
  call void @touch(ptr %ctx, ptr %site, {V64} %off, i32 %good, i32 %rule)
  br label %leave
leave:
  %good64 = zext i32 %good to i64
  %answer = or i64 %good64, %flag
  ret i64 %answer
"""
    if not counted:
        run_count = some_count = "br label %tally"
        tally = """
tally:
  %flag = phi i64 [4294967296, %run_count], [0, %some_count]
  %good64 = zext i32 %good to i64
  %answer = or i64 %good64, %flag
  ret i64 %answer
"""
    other = f"""
  %k32 = trunc i64 %space2 to i32
  %is_shared = icmp eq i32 %k32, 1
  br i1 %is_shared, label %in_shared, label %in_local
in_shared:
  %isatomic = icmp eq i32 %rule, 2
  %srule = select i1 %isatomic, i32 2, i32 1
  %nw = call i32 @remember(ptr %ctx, ptr %site, {V32} %off32, i32 %good, i32 %size, i32 %srule)
  %nw64 = zext i32 %nw to i64
  {bump("shared_requests", "1", "sr")}
  {bump("shared_wavefronts", "%nw64", "sw")}
  %popx = call i32 @llvm.ctpop.i32(i32 %good)
  %popx64 = zext i32 %popx to i64
  {bump("lanes", "%popx64", "lnx")}
  %goodx = zext i32 %good to i64
  ret i64 %goodx
in_local:
  {context("lnp", "local_bytes")}
  %lbytes = load i64, ptr %lnp
  {broadcast("lb", "i64", "%lbytes")}
  %within = urem {V64} %off, %lb
  %nl = call i32 @local_sectors({V64} %within, i32 %good, i32 %size)
  %nl64 = zext i32 %nl to i64
  {bump("local_requests", "1", "lr")}
  {bump("local_sectors", "%nl64", "ls")}
  %goody = zext i32 %good to i64
  ret i64 %goody
"""
    if not counted:
        other = "%goodz = zext i32 %good to i64\n  ret i64 %goodz"
    return f"""
define i64 @{prefix}_global(ptr %ctx, ptr %site, {V64} %addr, i32 %mask, i32 %size, i32 %rule) {{
  {site("bp", "base")}
  %base = load i64, ptr %bp
  {site("sp", "span")}
  %span = load i64, ptr %sp
  {broadcast("bases", "i64", "%base")}
  {broadcast("spans", "i64", "%span")}
  %off0 = sub {V64} %addr, %bases
  %out = icmp ugt {V64} %off0, %spans
  %outbits = bitcast {V1} %out to i32
  %bad = and i32 %outbits, %mask
  %inside = icmp eq i32 %bad, 0
  br i1 %inside, label %checked, label %look
look:
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %nobody, label %look1
nobody:
  ret i64 0
look1:
  %size64 = zext i32 %size to i64
  %lane = call i32 @llvm.cttz.i32(i32 %bad, i1 true)
  %a = extractelement {V64} %addr, i32 %lane
  %ok = call i1 @place(ptr %ctx, ptr %site, i64 %a, i64 %size64)
  %base2 = load i64, ptr %bp
  %span2 = load i64, ptr %sp
  {broadcast("bases2", "i64", "%base2")}
  {broadcast("spans2", "i64", "%span2")}
  %off2 = sub {V64} %addr, %bases2
  %out2 = icmp ugt {V64} %off2, %spans2
  %outbits2 = bitcast {V1} %out2 to i32
  %bad2 = and i32 %outbits2, %mask
  %inside2 = icmp eq i32 %bad2, 0
  %fine = and i1 %inside2, %ok
  br i1 %fine, label %checked, label %mixed
mixed:
  %m = call i64 @{prefix}_mixed(ptr %ctx, ptr %site, {V64} %addr, i32 %mask, i32 %size, i32 %rule)
  ret i64 %m
checked:
  %off = phi {V64} [%off0, %0], [%off2, %look1]
  %off32 = trunc {V64} %off to {V32}
  %size_1 = sub i32 %size, 1
  {broadcast("sizes", "i32", "%size_1")}
  %odd = and {V32} %off32, %sizes
  %isodd = icmp ne {V32} %odd, zeroinitializer
  %oddbits = bitcast {V1} %isodd to i32
  %crooked = and i32 %oddbits, %mask
  %straight = icmp eq i32 %crooked, 0
  br i1 %straight, label %aligned, label %misaligned
misaligned:
  %id = call i64 @site_id(ptr %ctx, ptr %site)
  call void @fail(ptr %ctx, i64 {ERROR_CODE["alignment"]}, i64 %id, i32 %crooked, {V64} %addr)
  br label %aligned
aligned:
  %rightbits = xor i32 %crooked, -1
  %good = and i32 %mask, %rightbits
  {site("kp", "space")}
  %space2 = load i64, ptr %kp
  %isglobal = icmp eq i64 %space2, 0
  br i1 %isglobal, label %global, label %other
other:
  {other}
global:
  %low = extractelement {V32} %off32, i32 0
  {broadcast("lows", "i32", "%low")}
  %diff = sub {V32} %off32, %lows
  {broadcast("size_all", "i32", "%size")}
  %expect = mul {V32} %size_all, {ramp("i32", 1)}
  %inrun = icmp eq {V32} %diff, %expect
  %runbits = bitcast {V1} %inrun to i32
  %both = and i32 %runbits, %good
  %run = icmp eq i32 %both, -1
  br i1 %run, label %run_count, label %some_count
run_count:
  {run_count}
some_count:
  {some_count}
{tally}
}}

define internal i64 @{prefix}_mixed(ptr %ctx, ptr %site, {V64} %addr, i32 %mask, i32 %size, i32 %rule) noinline cold {{
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
  {f'''{site("xb", "base")}
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
  br label %next''' if counted else "br label %next"}
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
  {f'''%keys = lshr {V64} %addr, {splat("i64", 5)}
  %n = call i32 @distinct({V64} %keys, i32 %good)
  %n64 = zext i32 %n to i64
  {bump("requests", "1", "rq")}
  {bump("sectors", "%n64", "sc")}
  %pop = call i32 @llvm.ctpop.i32(i32 %good)
  %pop64 = zext i32 %pop to i64
  {bump("lanes", "%pop64", "ln")}''' if counted else ""}
  ; The next request starts with a fresh look-up.
  {site("s", "span")}
  store i64 0, ptr %s
  {site("b", "base")}
  store i64 -1, ptr %b
  %good64 = zext i32 %good to i64
  ret i64 %good64
}}
"""


def _shared_access(counted: bool) -> str:
    prefix = "wb_c" if counted else "wb_p"
    run = f"""
  %low = extractelement {V32} %off, i32 0
  {broadcast("lows", "i32", "%low")}
  %diff = sub {V32} %off, %lows
  %inrun = icmp eq {V32} %diff, {ramp("i32", 4)}
  %runbits = bitcast {V1} %inrun to i32
  %four = icmp eq i32 %size, 4
  %runmask = and i32 %runbits, %good
  %allrun = icmp eq i32 %runmask, -1
  %run = and i1 %four, %allrun
  %flag0 = zext i1 %run to i64
  %flag = shl i64 %flag0, 32
  %good64 = zext i32 %good to i64
  %answer = or i64 %good64, %flag
"""
    counting = f"""
  %some = icmp ne i32 %good, 0
  br i1 %some, label %work, label %leave
work:
  %atomic = icmp ugt i32 %rule, 1
  %alone = xor i1 %atomic, true
  %quick = and i1 %run, %alone
  br i1 %quick, label %tally, label %pattern
pattern:
  %banks = select i1 %atomic, i32 2, i32 1
  %nw = call i32 @remember(ptr %ctx, ptr %site, {V32} %off, i32 %good, i32 %size, i32 %banks)
  br label %tally
tally:
  %n = phi i32 [1, %work], [%nw, %pattern]
  %n64 = zext i32 %n to i64
  {bump("shared_requests", "1", "rq")}
  {bump("shared_wavefronts", "%n64", "wf")}
  %pop = call i32 @llvm.ctpop.i32(i32 %good)
  %pop64 = zext i32 %pop to i64
  {bump("lanes", "%pop64", "ln")}
  br label %leave
leave:
  ret i64 %answer
"""
    return f"""
define i64 @{prefix}_shared(ptr %ctx, ptr %site, {V32} %off, i32 %mask, i32 %size, i32 %rule) {{
  {context("sp", "shared_bytes")}
  %have64 = load i64, ptr %sp
  %have = trunc i64 %have64 to i32
  %room = sub i32 %have, %size
  %enough = icmp uge i32 %have, %size
  {broadcast("rooms", "i32", "%room")}
  %out = icmp ugt {V32} %off, %rooms
  %outbits0 = bitcast {V1} %out to i32
  %outbits = select i1 %enough, i32 %outbits0, i32 -1
  %bad = and i32 %outbits, %mask
  %size_1 = sub i32 %size, 1
  {broadcast("sizes", "i32", "%size_1")}
  %odd = and {V32} %off, %sizes
  %isodd = icmp ne {V32} %odd, zeroinitializer
  %oddbits = bitcast {V1} %isodd to i32
  %crooked = and i32 %oddbits, %mask
  %wrong = or i32 %bad, %crooked
  %fine = icmp eq i32 %wrong, 0
  br i1 %fine, label %checked, label %failed
failed:
  %id = call i64 @site_id(ptr %ctx, ptr %site)
  %isbad = icmp ne i32 %bad, 0
  %code = select i1 %isbad, i64 {ERROR_CODE["bounds"]}, i64 {ERROR_CODE["alignment"]}
  %lanes = select i1 %isbad, i32 %bad, i32 %crooked
  %wide = zext {V32} %off to {V64}
  call void @fail(ptr %ctx, i64 %code, i64 %id, i32 %lanes, {V64} %wide)
  br label %checked
checked:
  %right = xor i32 %wrong, -1
  %good = and i32 %mask, %right
  {run}
  {counting if counted else "ret i64 %answer"}
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


def _moves(bits: int) -> str:
    """Load and store lanes of one width, given the answer of an access check."""
    v = f"<32 x i{bits}>"
    return f"""
define {v} @wb_load{bits}({V64} %addr, i64 %answer) {{
  %mask = trunc i64 %answer to i32
  %high = lshr i64 %answer, 32
  %run = icmp ne i64 %high, 0
  br i1 %run, label %together, label %apart
together:
  %a0 = extractelement {V64} %addr, i32 0
  %p = inttoptr i64 %a0 to ptr
  %whole = load {v}, ptr %p, align {bits // 8}
  ret {v} %whole
apart:
  %m = bitcast i32 %mask to {V1}
  %ps = inttoptr {V64} %addr to <32 x ptr>
  %g = call {v} @llvm.masked.gather.v32i{bits}.v32p0(<32 x ptr> %ps, i32 {bits // 8}, {V1} %m, {v} zeroinitializer)
  ret {v} %g
}}

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

define void @wb_store{bits}({V64} %addr, {v} %value, i64 %answer) {{
  %mask = trunc i64 %answer to i32
  %high = lshr i64 %answer, 32
  %run = icmp ne i64 %high, 0
  br i1 %run, label %together, label %apart
together:
  %a0 = extractelement {V64} %addr, i32 0
  %p = inttoptr i64 %a0 to ptr
  store {v} %value, ptr %p, align {bits // 8}
  ret void
apart:
  %m = bitcast i32 %mask to {V1}
  %ps = inttoptr {V64} %addr to <32 x ptr>
  call void @llvm.masked.scatter.v32i{bits}.v32p0({v} %value, <32 x ptr> %ps, i32 {bits // 8}, {V1} %m)
  ret void
}}
"""


ATOMIC_OPS = {  # name -> (LLVM types, atomicrmw operation)
    "add": (("i32", "i64"), "add"), "fadd": (("float", "double"), "fadd"),
    "smin": (("i32", "i64"), "min"), "smax": (("i32", "i64"), "max"),
    "umin": (("i32", "i64"), "umin"), "umax": (("i32", "i64"), "umax"),
    "and": (("i32", "i64"), "and"), "or": (("i32", "i64"), "or"), "xor": (("i32", "i64"), "xor"),
    "exch": (("i32", "i64"), "xchg"), "inc": (("i32",), "uinc_wrap"), "dec": (("i32",), "udec_wrap"),
    "fmin": (("float", "double"), "fmin"), "fmax": (("float", "double"), "fmax"),
    "hadd": (("half",), "fadd"),
}  # fmt: skip


def _atomic(name: str, kind: str, operation: str) -> str:
    bits = {"float": 32, "double": 64, "half": 16}.get(kind) or int(kind[1:])
    return _lane_by_lane(
        f"{name}_{bits}", bits, (),
        f"""%x = load {kind}, ptr %vp
  %old = atomicrmw {operation} ptr %p, {kind} %x monotonic
  store {kind} %old, ptr %vp
  br label %loop""",
    )  # fmt: skip


def _compare_and_swap(bits: int) -> str:
    return _lane_by_lane(
        f"cas_{bits}", bits, ("expected",),
        f"""%ep = getelementptr i{bits}, ptr %buffer_expected, i32 %lane
  %e = load i{bits}, ptr %ep
  %x = load i{bits}, ptr %vp
  %pair = cmpxchg ptr %p, i{bits} %e, i{bits} %x monotonic monotonic
  %old = extractvalue {{ i{bits}, i1 }} %pair, 0
  store i{bits} %old, ptr %vp
  br label %loop""",
    )  # fmt: skip


# bfloat16 has no addition of its own on CPUs: add in float, round to nearest even, swap if nobody was faster.
ADD_BFLOAT = """%xb = load i16, ptr %vp
  %x32 = zext i16 %xb to i32
  %xs = shl i32 %x32, 16
  %x = bitcast i32 %xs to float
  %first = load i16, ptr %p
  br label %try
try:
  %seen = phi i16 [%first, %step], [%old, %try]
  %s32 = zext i16 %seen to i32
  %ss = shl i32 %s32, 16
  %s = bitcast i32 %ss to float
  %sum = fadd float %s, %x
  %bits = bitcast float %sum to i32
  %up = lshr i32 %bits, 16
  %odd = and i32 %up, 1
  %near = add i32 %bits, 32767
  %rounded = add i32 %near, %odd
  %short32 = lshr i32 %rounded, 16
  %short = trunc i32 %short32 to i16
  %isnan = fcmp uno float %sum, %sum
  %new = select i1 %isnan, i16 32767, i16 %short
  %pair = cmpxchg ptr %p, i16 %seen, i16 %new monotonic monotonic
  %old = extractvalue { i16, i1 } %pair, 0
  %won = extractvalue { i16, i1 } %pair, 1
  br i1 %won, label %keep, label %try
keep:
  store i16 %old, ptr %vp
  br label %loop"""


def _lane_by_lane(name: str, bits: int, more: tuple[str, ...], step: str) -> str:
    """An atomic: the active lanes take their turns in order; `step` works on the pointers %p and %vp."""
    v = f"<32 x i{bits}>"
    parameters = "".join(f"{v} %{m}, " for m in more)
    buffers = "".join(
        f"  %buffer_{m} = alloca {v}, align 64\n  store {v} %{m}, ptr %buffer_{m}\n" for m in more
    )
    return f"""
define {v} @wb_atom_{name}({V64} %addr, {parameters}{v} %value, i32 %mask) {{
begin:
  %as = alloca {V64}, align 64
  %vs = alloca {v}, align 64
  store {V64} %addr, ptr %as
  store {v} %value, ptr %vs
{buffers}  br label %enter
enter:
  br label %loop_head
loop:
  br label %loop_head
loop_head:
  %rest = phi i32 [%mask, %enter], [%rest1, %loop]
  %done = icmp eq i32 %rest, 0
  br i1 %done, label %out, label %step
step:
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %rest_1 = sub i32 %rest, 1
  %rest1 = and i32 %rest, %rest_1
  %ap = getelementptr i64, ptr %as, i32 %lane
  %a = load i64, ptr %ap
  %p = inttoptr i64 %a to ptr
  %vp = getelementptr i{bits}, ptr %vs, i32 %lane
  {step}
out:
  %result = load {v}, ptr %vs
  ret {v} %result
}}
"""


# A shuffle: lane i gets the value of lane source[i]; sources are already in range.
PERMUTE = f"""
define {V32} @wb_permute({V32} %value, {V32} %source) {{
  %buffer = alloca {V32}, align 64
  store {V32} %value, ptr %buffer
  %wide = zext {V32} %source to {V64}
  %bytes = shl {V64} %wide, {splat("i64", 2)}
  %b = ptrtoint ptr %buffer to i64
  {broadcast("bs", "i64", "%b")}
  %where = add {V64} %bs, %bytes
  %ps = inttoptr {V64} %where to <32 x ptr>
  %r = call {V32} @llvm.masked.gather.v32i32.v32p0(<32 x ptr> %ps, i32 4, {V1} {splat("i1", "true")}, {V32} zeroinitializer)
  ret {V32} %r
}}

define {V32} @wb_match({V64} %value, i32 %mask) {{
  %values = alloca {V64}, align 64
  %result = alloca {V32}, align 64
  store {V64} %value, ptr %values
  store {V32} zeroinitializer, ptr %result
  br label %loop
loop:
  %rest = phi i32 [%mask, %0], [%rest1, %step]
  %done = icmp eq i32 %rest, 0
  br i1 %done, label %out, label %step
step:
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %rest_1 = sub i32 %rest, 1
  %rest1 = and i32 %rest, %rest_1
  %p = getelementptr i64, ptr %values, i32 %lane
  %x = load i64, ptr %p
  {broadcast("xs", "i64", "%x")}
  %same = icmp eq {V64} %value, %xs
  %bits = bitcast {V1} %same to i32
  %found = and i32 %bits, %mask
  %rp = getelementptr i32, ptr %result, i32 %lane
  store i32 %found, ptr %rp
  br label %loop
out:
  %r = load {V32}, ptr %result
  ret {V32} %r
}}
"""


def _divide_64(signed: bool) -> str:
    """64-bit division: operands that fit 32 bits go through float64, which is exact for them."""
    name, op = ("wb_div_s64", "sdiv") if signed else ("wb_div_u64", "udiv")
    if signed:
        narrow = f"""
  %ta = trunc {V64} %a to {V32}
  %sa = sext {V32} %ta to {V64}
  %xa = xor {V64} %sa, %a
  %tb = trunc {V64} %b to {V32}
  %sb = sext {V32} %tb to {V64}
  %xb = xor {V64} %sb, %b
  %both = or {V64} %xa, %xb
  %high = call i64 @llvm.vector.reduce.or.v32i64({V64} %both)"""
        convert = ("sitofp", "fptosi")
        guard = f"""
  %least = icmp eq i64 %x, {-(1 << 63)}
  %minus = icmp eq i64 %y, -1
  %trap = and i1 %least, %minus
  %y1 = select i1 %trap, i64 1, i64 %y"""
    else:
        narrow = f"""
  %both = or {V64} %a, %b
  %any = call i64 @llvm.vector.reduce.or.v32i64({V64} %both)
  %high = lshr i64 %any, 32"""
        convert = ("sitofp", "fptosi")
        guard = "\n  %y1 = add i64 %y, 0"
    source = V32 if signed else V64
    operands = ("%ta", "%tb") if signed else ("%a", "%b")
    return f"""
define {V64} @{name}({V64} %a, {V64} %b) {{
{narrow}
  %small = icmp eq i64 %high, 0
  br i1 %small, label %fast, label %slow
fast:
  %fa = {convert[0]} {source} {operands[0]} to <32 x double>
  %fb = {convert[0]} {source} {operands[1]} to <32 x double>
  %q = fdiv <32 x double> %fa, %fb
  %r = {convert[1]} <32 x double> %q to {V64}
  ret {V64} %r
slow:
  %xs = alloca {V64}, align 64
  %ys = alloca {V64}, align 64
  store {V64} %a, ptr %xs
  store {V64} %b, ptr %ys
  br label %loop
loop:
  %i = phi i64 [0, %slow], [%i1, %loop]
  %xp = getelementptr i64, ptr %xs, i64 %i
  %x = load i64, ptr %xp
  %yp = getelementptr i64, ptr %ys, i64 %i
  %y0 = load i64, ptr %yp
  %yz = icmp eq i64 %y0, 0
  %y = select i1 %yz, i64 1, i64 %y0
{guard}
  %z = {op} i64 %x, %y1
  store i64 %z, ptr %xp
  %i1 = add i64 %i, 1
  %end = icmp eq i64 %i1, 32
  br i1 %end, label %out, label %loop
out:
  %result = load {V64}, ptr %xs
  ret {V64} %result
}}
"""


# The block loop: takes blocks off the launch's counter and runs their warps in turn until all are done. Barriers
# open when every live lane of the block waits. Returns OUT_OF_FUEL now and then, and goes on where it stopped.
DRIVER = f"""
define i32 @wb_run_blocks(ptr %ctx) {{
entry:
  {context("launch_p", "launch")}
  %launch = load ptr, ptr %launch_p
  {context("run_p", "run_warp")}
  %run = load ptr, ptr %run_p
  {context("warps_p", "warps")}
  %warps = load i64, ptr %warps_p
  {context("states_p", "states")}
  %states = load ptr, ptr %states_p
  {context("bytes_p", "state_bytes")}
  %bytes = load i64, ptr %bytes_p
  {context("in_p", "in_block")}
  {context("warp_p", "warp")}
  {context("fuel_p", "fuel")}
  {context("slice_p", "fuel_slice")}
  {context("error_p", "error")}
  {context("slices_p", "slices")}
  {context("block_p", "block")}
  %in = load i64, ptr %in_p
  %resume = icmp ne i64 %in, 0
  br i1 %resume, label %round, label %fetch

fetch:
  %next_p = getelementptr i64, ptr %launch, i64 {LAUNCH_SLOT["next_block"]}
  %block = atomicrmw add ptr %next_p, i64 1 monotonic
  %blocks_p = getelementptr i64, ptr %launch, i64 {LAUNCH_SLOT["blocks"]}
  %blocks = load i64, ptr %blocks_p
  %stop_p = getelementptr i64, ptr %launch, i64 {LAUNCH_SLOT["stop_block"]}
  %stop = load atomic i64, ptr %stop_p monotonic, align 8
  %last = call i64 @llvm.umin.i64(i64 %blocks, i64 %stop)
  %left = icmp ult i64 %block, %last
  br i1 %left, label %begin, label %finished
finished:
  ret i32 {DONE}

begin:
  store i64 %block, ptr %block_p
  store i64 1, ptr %in_p
  {context("gx_p", "nctaid_x")}
  %gx = load i64, ptr %gx_p
  {context("gy_p", "nctaid_y")}
  %gy = load i64, ptr %gy_p
  %x = urem i64 %block, %gx
  %yz = udiv i64 %block, %gx
  %y = urem i64 %yz, %gy
  %z = udiv i64 %yz, %gy
  {context("x_p", "ctaid_x")}
  store i64 %x, ptr %x_p
  {context("y_p", "ctaid_y")}
  store i64 %y, ptr %y_p
  {context("z_p", "ctaid_z")}
  store i64 %z, ptr %z_p
  {context("sb_p", "shared_base")}
  %sb = load ptr, ptr %sb_p
  {context("ss_p", "shared_bytes")}
  %ss = load i64, ptr %ss_p
  call void @llvm.memset.p0.i64(ptr %sb, i8 -1, i64 %ss, i1 false)
  {context("fp_p", "first_pcs")}
  %first = load ptr, ptr %fp_p
  br label %prepare
prepare:
  %pw = phi i64 [0, %begin], [%pw1, %prepare]
  %po = mul i64 %pw, %bytes
  %ps = getelementptr i8, ptr %states, i64 %po
  %pf = shl i64 %pw, 7
  %pfp = getelementptr i8, ptr %first, i64 %pf
  call void @llvm.memcpy.p0.p0.i64(ptr %ps, ptr %pfp, i64 128, i1 false)
  %turn_p = getelementptr i8, ptr %ps, i64 128
  store i64 0, ptr %turn_p
  %pw1 = add i64 %pw, 1
  %prepared = icmp eq i64 %pw1, %warps
  br i1 %prepared, label %round, label %prepare

round:
  br label %each
each:
  %w = phi i64 [0, %round], [%w1, %each_end]
  %live = phi i64 [0, %round], [%live1, %each_end]
  %starved = phi i64 [0, %round], [%starved1, %each_end]
  %wdone = icmp eq i64 %w, %warps
  br i1 %wdone, label %round_end, label %each_run
each_run:
  store i64 %w, ptr %warp_p
  %slice = load i64, ptr %slice_p
  store i64 %slice, ptr %fuel_p
  %so = mul i64 %w, %bytes
  %state = getelementptr i8, ptr %states, i64 %so
  %status = call i32 %run(ptr %state, ptr %ctx)
  %w1 = add i64 %w, 1
  %alive = icmp ne i32 %status, {DONE}
  %alive64 = zext i1 %alive to i64
  %live1 = add i64 %live, %alive64
  %out = icmp eq i32 %status, {OUT_OF_FUEL}
  %out64 = zext i1 %out to i64
  %starved1 = add i64 %starved, %out64
  %error = load i64, ptr %error_p
  %failed = icmp ne i64 %error, 0
  br i1 %failed, label %fail, label %each_end
each_end:
  br label %each
fail:
  store i64 0, ptr %in_p
  ret i32 {FAILED}

round_end:
  %over = icmp eq i64 %live, 0
  br i1 %over, label %block_end, label %going
block_end:
  store i64 0, ptr %in_p
  br label %fetch
going:
  {context("ba_p", "barriers")}
  %gathered = load ptr, ptr %ba_p
  %opened = call i64 @open_barriers(ptr %states, i64 %bytes, i64 %warps, ptr %gathered)
  %moved = or i64 %opened, %starved
  %stuck = icmp eq i64 %moved, 0
  br i1 %stuck, label %deadlock, label %go
deadlock:
  call void @fail(ptr %ctx, i64 {ERROR_CODE["deadlock"]}, i64 0, i32 1, {V64} zeroinitializer)
  store i64 0, ptr %in_p
  ret i32 {FAILED}
go:
  %anystarved = icmp ne i64 %starved, 0
  br i1 %anystarved, label %tick, label %round
tick:
  %slices = load i64, ptr %slices_p
  %slices1 = sub i64 %slices, 1
  store i64 %slices1, ptr %slices_p
  %pause = icmp sle i64 %slices1, 0
  br i1 %pause, label %rest, label %round
rest:
  ret i32 {OUT_OF_FUEL}
}}

define internal i64 @open_barriers(ptr %states, i64 %bytes, i64 %warps, ptr %gathered) {{
  ; A barrier opens when no live lane of the block is anywhere else: find the lowest and highest waiting lane.
entry:
  br label %scan
scan:
  %w = phi i64 [0, %entry], [%w1, %scan]
  %low = phi i32 [{PC_DONE}, %entry], [%low2, %scan]
  %high = phi i32 [0, %entry], [%high2, %scan]
  %o = mul i64 %w, %bytes
  %p = getelementptr i8, ptr %states, i64 %o
  %pcs = load {V32}, ptr %p, align 64
  %least = call i32 @llvm.vector.reduce.umin.v32i32({V32} %pcs)
  %gone = icmp eq {V32} %pcs, {splat("i32", PC_DONE)}
  %alive = select {V1} %gone, {V32} zeroinitializer, {V32} %pcs
  %greatest = call i32 @llvm.vector.reduce.umax.v32i32({V32} %alive)
  %lc = icmp ult i32 %least, %low
  %low2 = select i1 %lc, i32 %least, i32 %low
  %hc = icmp ugt i32 %greatest, %high
  %high2 = select i1 %hc, i32 %greatest, i32 %high
  %w1 = add i64 %w, 1
  %end = icmp eq i64 %w1, %warps
  br i1 %end, label %judge, label %scan
judge:
  %lowid = lshr i32 %low2, {PC_BARRIER_SHIFT}
  %highid = lshr i32 %high2, {PC_BARRIER_SHIFT}
  %waits = icmp uge i32 %low2, {PC_WAIT}
  %same = icmp eq i32 %lowid, %highid
  %open = and i1 %waits, %same
  br i1 %open, label %free, label %closed
closed:
  ret i64 0
free:
  %f = phi i64 [0, %judge], [%f1, %free]
  %fo = mul i64 %f, %bytes
  %fp = getelementptr i8, ptr %states, i64 %fo
  %fpcs = load {V32}, ptr %fp, align 64
  %fgone = icmp eq {V32} %fpcs, {splat("i32", PC_DONE)}
  %fnext = and {V32} %fpcs, {splat("i32", (1 << PC_BARRIER_SHIFT) - 1)}
  %fnew = select {V1} %fgone, {V32} %fpcs, {V32} %fnext
  store {V32} %fnew, ptr %fp, align 64
  %f1 = add i64 %f, 1
  %fend = icmp eq i64 %f1, %warps
  br i1 %fend, label %opened, label %free
opened:
  ; What reducing barriers gathered becomes readable, and gathering starts anew.
  %results = getelementptr i8, ptr %gathered, i64 256
  call void @llvm.memcpy.p0.p0.i64(ptr %results, ptr %gathered, i64 256, i1 false)
  call void @llvm.memset.p0.i64(ptr %gathered, i8 0, i64 256, i1 false)
  ret i64 1
}}
"""


# Calls out of a kernel (printf, assert): up to four vectors of arguments are laid in the context's `host_data`.
HOST = f"""
define void @wb_host(ptr %ctx, i64 %code, i32 %mask, {V64} %a, {V64} %b, {V64} %c, {V64} %d) {{
  {context("dp", "host_data")}
  %data = load ptr, ptr %dp
  store {V64} %a, ptr %data, align 64
  %d1 = getelementptr i8, ptr %data, i64 256
  store {V64} %b, ptr %d1, align 64
  %d2 = getelementptr i8, ptr %data, i64 512
  store {V64} %c, ptr %d2, align 64
  %d3 = getelementptr i8, ptr %data, i64 768
  store {V64} %d, ptr %d3, align 64
  {context("hp", "host")}
  %h = load ptr, ptr %hp
  %stop = call i64 %h(ptr %ctx, i64 %code, i32 %mask)
  %bad = icmp ne i64 %stop, 0
  br i1 %bad, label %fail, label %out
fail:
  call void @fail(ptr %ctx, i64 %stop, i64 %code, i32 %mask, {V64} %a)
  br label %out
out:
  ret void
}}

define void @wb_fail(ptr %ctx, i64 %code, i64 %id, i32 %mask) {{
  call void @fail(ptr %ctx, i64 %code, i64 %id, i32 %mask, {V64} zeroinitializer)
  ret void
}}
"""


def source() -> str:
    """The whole runtime as LLVM IR."""
    parts = [DECLARATIONS, FAIL, LOOKUP, DISTINCT, WAVEFRONTS, MEMO, LOCAL, PERMUTE, DRIVER, HOST]
    for counted in (True, False):
        parts += [_global_access(counted), _shared_access(counted), _local_access(counted)]
    parts += [_moves(bits) for bits in (8, 16, 32, 64)]
    for name, (kinds, operation) in ATOMIC_OPS.items():
        parts += [_atomic(name, kind, operation) for kind in kinds]
    parts += [_compare_and_swap(bits) for bits in (16, 32, 64)]
    parts.append(_lane_by_lane("badd_16", 16, (), ADD_BFLOAT))
    parts += [_divide_64(True), _divide_64(False)]
    return "\n".join(parts)

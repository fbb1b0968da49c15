"""What the runtime counts and looks up: allocations, sectors, wavefronts, touched memory.

Rules (NVIDIA "CUDA C++ Programming Guide", device memory accesses and shared memory): a global request moves
32-byte sectors, each counted once; shared memory has 32 banks of 4 bytes, a request needs as many wavefronts as the
fullest bank has distinct words, and 8- and 16-byte accesses are served in 2 and 4 parts (`helpers/vgpu/storage/banks.py` lays
the wavefronts out).
"""

from __future__ import annotations

from helpers.vgpu.runtime.text import V32, V64, context, each_group, each_lane, get_pointer, site, splat
from helpers.vgpu.storage.banks import BANK_BYTES, BANKS


def touched_from(write: str) -> str:
    """IR that sets %touched: where the site's allocation begins in the map of sectors read, or written (also atomics)."""
    return f"""{get_pointer("reads", "reads")}
  {get_pointer("writes", "writes")}
  %is_write = icmp ne i32 {write}, 0
  %map = select i1 %is_write, ptr %writes, ptr %reads
  {site("touch_p", "touch")}
  %touch = load i64, ptr %touch_p
  %touched = getelementptr i8, ptr %map, i64 %touch"""


# Which allocation an address lies in: a binary search over the sorted table, done when a site leaves the
# allocation it used last. Shared and local memory are windows of the generic address space.
LOOKUP = f"""
define i1 @place(ptr %ctx, ptr %site, i64 %addr, i64 %size) noinline {{
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
  br i1 %inlocal, label %found_local, label %try_heap
found_local:
  br label %settle
try_heap:
  {context("hbp", "heap")}
  %hb = load i64, ptr %hbp
  {context("hnp", "heap_bytes")}
  %hn = load i64, ptr %hnp
  %ho = sub i64 %addr, %hb
  %inheap = icmp ult i64 %ho, %hn
  br i1 %inheap, label %in_heap, label %search
in_heap:
  %placed = call i1 @place_in_heap(ptr %ctx, ptr %site, i64 %addr, i64 %size)
  ret i1 %placed
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

# The active lanes whose key no lower lane has, and how many they are: the number of distinct keys.
DISTINCT = f"""
define internal i32 @first_lanes({V64} %keys, i32 %mask) noinline {{
  {each_group("%keys", "%mask", "0", "step", carried="%firsts = phi i32 [0, %0], [%firsts1, %step]")}
  %first = shl i32 1, %lane
  %firsts1 = or i32 %firsts, %first
  br label %loop
out:
  ret i32 %firsts
}}

define internal i32 @distinct({V64} %keys, i32 %mask) {{
  %firsts = call i32 @first_lanes({V64} %keys, i32 %mask)
  %n = call i32 @llvm.ctpop.i32(i32 %firsts)
  ret i32 %n
}}
"""

# Wavefronts of one request: for each part of the warp that is served together, the largest number of distinct
# words in one bank. With %every set (atomics) equal words count too, since their updates follow one another.
WAVEFRONTS = f"""
define internal i32 @wavefronts({V32} %offsets, i32 %mask, i32 %size, i32 %every) noinline {{
  %buffer = alloca {V32}, align 64
  %table = alloca [{32 * BANKS} x i32], align 64
  %count = alloca [{BANKS} x i32], align 64
  store {V32} %offsets, ptr %buffer
  %sw = udiv i32 %size, {BANK_BYTES}
  %words = call i32 @llvm.umax.i32(i32 %sw, i32 1)
  %lanes = udiv i32 32, %words
  br label %part
part:
  %p0 = phi i32 [0, %0], [%p1, %part_end]
  %total = phi i32 [0, %0], [%total1, %part_end]
  %p_done = icmp uge i32 %p0, 32
  br i1 %p_done, label %out, label %part_begin
part_begin:
  call void @llvm.memset.p0.i64(ptr %count, i8 0, i64 {4 * BANKS}, i1 false)
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
  %word0 = udiv i32 %offset, {BANK_BYTES}
  br i1 %active, label %word, label %lane_end
word:
  %w = phi i32 [0, %lane_begin], [%w1, %word_end]
  %most1 = phi i32 [%most, %lane_begin], [%most3, %word_end]
  %w_done = icmp uge i32 %w, %words
  br i1 %w_done, label %lane_end, label %word_begin
word_begin:
  %w1 = add i32 %w, 1
  %word_index = add i32 %word0, %w
  %bank = and i32 %word_index, {BANKS - 1}
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

# The sectors that lanes touch, marked in a map of bytes: distinct ones are counted at the end. What the lanes write is
# kept in memory, since LLVM makes 32 tests of a scatter of bytes.
TOUCH = f"""
define internal void @touch(ptr %ctx, ptr %site, {V64} %offsets, i32 %mask, i32 %write) noinline {{
  {touched_from("%write")}
  %sectors = lshr {V64} %offsets, {splat("i64", 5)}
  %kept = alloca {V64}, align 64
  store {V64} %sectors, ptr %kept, align 64
  {each_lane("%mask", "0", "step")}
  %kept_p = getelementptr i64, ptr %kept, i32 %lane
  %sector = load i64, ptr %kept_p
  %byte = getelementptr i8, ptr %touched, i64 %sector
  store i8 1, ptr %byte
  br label %loop
out:
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


def source() -> str:
    return "\n".join([LOOKUP, DISTINCT, WAVEFRONTS, TOUCH, LOCAL])

"""The code every kernel calls: memory access with checks and counts, atomics, shuffles and the block loop.

It is LLVM IR written once for all kernels, so that it is compiled once a process and kernels stay small. A lane
vector has 32 elements; a mask is an i32 with one bit a lane. Each access function comes twice: `wb_c…` counts,
`wb_p…` (plain) only checks.
"""

from __future__ import annotations

from helpers.vgpu.context import (
    ARRIVED,
    BARRIER_BYTES,
    DONE,
    ERROR_CODE,
    EXPECTED,
    FAILED,
    LAUNCH_SLOT,
    NAMED,
    OUT_OF_FUEL,
    PC_BARRIER_SHIFT,
    PC_DONE,
    PC_WAIT,
)
from helpers.vgpu.runtime import access as runtime_access
from helpers.vgpu.runtime import asynchronous as runtime_asynchronous
from helpers.vgpu.runtime import directed as runtime_directed
from helpers.vgpu.runtime import lanes as runtime_lanes
from helpers.vgpu.runtime import mbarrier as runtime_mbarrier
from helpers.vgpu.runtime import tensor as runtime_tensor
from helpers.vgpu.runtime import texture as runtime_texture
from helpers.vgpu.runtime.text import FAIL, V1, V32, V64, broadcast, context, splat

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
  {context("bar_p", "barriers")}
  %bar = load ptr, ptr %bar_p
  call void @llvm.memset.p0.i64(ptr %bar, i8 0, i64 {BARRIER_BYTES}, i1 false)
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
  call void @note_slice(ptr %ctx, i32 %status)
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
  {context("loose_p", "loose_barriers")}
  %loose = load i64, ptr %loose_p
  %whole = call i64 @open_barriers(ptr %states, i64 %bytes, i64 %warps, ptr %gathered, i64 %loose)
  %named_p = getelementptr i8, ptr %gathered, i64 {NAMED}
  %named = load i64, ptr %named_p
  %try_named = icmp ne i64 %named, 0
  br i1 %try_named, label %by_name, label %judged
by_name:
  %some = call i64 @open_named(ptr %states, i64 %bytes, i64 %warps, ptr %gathered)
  br label %judged
judged:
  %parts = phi i64 [0, %going], [%some, %by_name]
  %opened = or i64 %whole, %parts
  %moved = or i64 %opened, %starved
  %stuck = icmp eq i64 %moved, 0
  br i1 %stuck, label %deadlock, label %go
deadlock:
  call void @fail(ptr %ctx, i64 {ERROR_CODE["deadlock"]}, i64 0, i32 1, {V64} zeroinitializer)
  store i64 0, ptr %in_p
  ret i32 {FAILED}
go:
  %verdict = call i32 @judge_round(ptr %ctx, i64 %opened, i64 %starved)
  switch i32 %verdict, label %round [ i32 1, label %tick  i32 2, label %fail ]
tick:
  %slices = load i64, ptr %slices_p
  %slices1 = sub i64 %slices, 1
  store i64 %slices1, ptr %slices_p
  %pause = icmp sle i64 %slices1, 0
  br i1 %pause, label %rest, label %round
rest:
  ret i32 {OUT_OF_FUEL}
}}

define internal i64 @open_named(ptr %states, i64 %bytes, i64 %warps, ptr %gathered) noinline {{
  ; Barriers with a count of threads (`bar.sync 1, 64`): each opens by itself when so many have come. A warp all of
  ; whose live lanes wait counts as 32.
entry:
  br label %barrier
barrier:
  %id = phi i64 [0, %entry], [%id1, %barrier_end]
  %opened = phi i64 [0, %entry], [%opened1, %barrier_end]
  %ids_done = icmp eq i64 %id, 16
  br i1 %ids_done, label %out, label %look
out:
  ret i64 %opened
look:
  %slot = shl i64 %id, 3
  %eo = add i64 %slot, {EXPECTED}
  %ep = getelementptr i8, ptr %gathered, i64 %eo
  %expected = load i64, ptr %ep
  %ao = add i64 %slot, {ARRIVED}
  %ap = getelementptr i8, ptr %gathered, i64 %ao
  %arrived = load i64, ptr %ap
  %used = icmp ne i64 %expected, 0
  %id32 = trunc i64 %id to i32
  %code = add i32 %id32, {PC_WAIT >> PC_BARRIER_SHIFT}
  {broadcast("codes", "i32", "%code")}
  br i1 %used, label %count, label %barrier_next
count:
  %w = phi i64 [0, %look], [%w1, %count]
  %n = phi i64 [%arrived, %look], [%n1, %count]
  %o = mul i64 %w, %bytes
  %p = getelementptr i8, ptr %states, i64 %o
  %pcs = load {V32}, ptr %p, align 64
  %where = lshr {V32} %pcs, {splat("i32", PC_BARRIER_SHIFT)}
  %here = icmp eq {V32} %where, %codes
  %here_bits = bitcast {V1} %here to i32
  %gone = icmp eq {V32} %pcs, {splat("i32", PC_DONE)}
  %gone_bits = bitcast {V1} %gone to i32
  %either = or i32 %here_bits, %gone_bits
  %everyone = icmp eq i32 %either, -1
  %anyone = icmp ne i32 %here_bits, 0
  %full = and i1 %everyone, %anyone
  %pop = call i32 @llvm.ctpop.i32(i32 %here_bits)
  %pop1 = select i1 %full, i32 32, i32 %pop
  %pop64 = zext i32 %pop1 to i64
  %n1 = add i64 %n, %pop64
  %w1 = add i64 %w, 1
  %counted = icmp eq i64 %w1, %warps
  br i1 %counted, label %judge, label %count
judge:
  %enough = icmp uge i64 %n1, %expected
  br i1 %enough, label %free, label %barrier_next
free:
  %f = phi i64 [0, %judge], [%f1, %free]
  %fo = mul i64 %f, %bytes
  %fp = getelementptr i8, ptr %states, i64 %fo
  %fpcs = load {V32}, ptr %fp, align 64
  %fwhere = lshr {V32} %fpcs, {splat("i32", PC_BARRIER_SHIFT)}
  %fhere = icmp eq {V32} %fwhere, %codes
  %fnext = and {V32} %fpcs, {splat("i32", (1 << PC_BARRIER_SHIFT) - 1)}
  %fnew = select {V1} %fhere, {V32} %fnext, {V32} %fpcs
  store {V32} %fnew, ptr %fp, align 64
  %f1 = add i64 %f, 1
  %fend = icmp eq i64 %f1, %warps
  br i1 %fend, label %freed, label %free
freed:
  store i64 0, ptr %ap
  br label %barrier_end
barrier_next:
  br label %barrier_end
barrier_end:
  %opened1 = phi i64 [1, %freed], [%opened, %barrier_next]
  %id1 = add i64 %id, 1
  br label %barrier
}}

define internal i64 @open_barriers(ptr %states, i64 %bytes, i64 %warps, ptr %gathered, i64 %loose) {{
  ; A barrier opens when no live lane of the block is anywhere else: find the lowest and highest waiting lane.
  ; Lanes of one warp must wait at the same instruction, unless the kernel uses barriers made for divergent lanes.
entry:
  br label %scan
scan:
  %w = phi i64 [0, %entry], [%w1, %scan]
  %low = phi i32 [{PC_DONE}, %entry], [%low2, %scan]
  %high = phi i32 [0, %entry], [%high2, %scan]
  %parted = phi i1 [false, %entry], [%parted2, %scan]
  %o = mul i64 %w, %bytes
  %p = getelementptr i8, ptr %states, i64 %o
  %pcs = load {V32}, ptr %p, align 64
  %least = call i32 @llvm.vector.reduce.umin.v32i32({V32} %pcs)
  %gone = icmp eq {V32} %pcs, {splat("i32", PC_DONE)}
  %alive = select {V1} %gone, {V32} zeroinitializer, {V32} %pcs
  %greatest = call i32 @llvm.vector.reduce.umax.v32i32({V32} %alive)
  %some = icmp ne i32 %greatest, 0
  %apart = icmp ne i32 %least, %greatest
  %torn = and i1 %some, %apart
  %parted2 = or i1 %parted, %torn
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
  %meet = and i1 %waits, %same
  %strict = icmp eq i64 %loose, 0
  %wrong = and i1 %parted2, %strict
  %right = xor i1 %wrong, true
  %open = and i1 %meet, %right
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


def source(avx512: bool) -> str:
    """The whole runtime as LLVM IR, for a CPU with or without AVX-512."""
    parts = [runtime_access.source(avx512), runtime_lanes.source(), runtime_mbarrier.loop_source()]
    parts += [runtime_tensor.source(), runtime_texture.source()]
    return "\n".join([DECLARATIONS, FAIL, DRIVER, HOST, *parts])


def later(function: str) -> str | None:
    """The module of a function that is made only when a kernel calls it, or None."""
    makers = (runtime_tensor, runtime_directed, runtime_lanes, runtime_asynchronous)
    return next((text for maker in makers if (text := maker.later(function))), None)

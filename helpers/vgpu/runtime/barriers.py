"""How the barriers of a block open, in LLVM IR."""

from __future__ import annotations

from helpers.vgpu.base.context import ARRIVED, EXPECTED, PC_BARRIER_SHIFT, PC_DONE, PC_WAIT, REDUCES
from helpers.vgpu.runtime.text import V1, V32, broadcast, splat

BARRIERS = f"""
define internal i64 @open_named(ptr %ctx, ptr %states, i64 %bytes, i64 %warps, ptr %gathered) noinline {{
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
  br i1 %enough, label %tell, label %barrier_next
tell:
  call void @wb_s_named(ptr %ctx, i64 %id)
  br label %free
free:
  %f = phi i64 [0, %tell], [%f1, %free]
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

define void @wb_put_lanes(ptr %state, i32 %mask, i32 %target) noinline {{
  ; The lanes of a mask wait at a segment.
  %pcs = load {V32}, ptr %state, align 64
  %lanes = bitcast i32 %mask to {V1}
  {broadcast("targets", "i32", "%target")}
  %new = select {V1} %lanes, {V32} %targets, {V32} %pcs
  store {V32} %new, ptr %state, align 64
  ret void
}}

define internal i64 @open_barriers(ptr %states, i64 %bytes, i64 %warps, ptr %gathered, i64 %loose) {{
  ; A barrier opens when no live lane of the block is anywhere else: find the lowest and highest waiting lane.
  ; Lanes of one warp must wait at the same instruction, unless the kernel uses barriers made for divergent lanes.
  ; Nearly always all lanes of the block wait at one instruction, which is seen without that.
entry:
  %pc = load i32, ptr %states, align 64
  %at_barrier = icmp sge i32 %pc, {PC_WAIT}
  %not_done = icmp ne i32 %pc, {PC_DONE}
  %perhaps = and i1 %at_barrier, %not_done
  {broadcast("one_pc", "i32", "%pc")}
  br i1 %perhaps, label %compare, label %apart_from
compare:
  %cw = phi i64 [0, %entry], [%cw1, %compare]
  %unlike = phi {V32} [zeroinitializer, %entry], [%unlike1, %compare]
  %co = mul i64 %cw, %bytes
  %cp = getelementptr i8, ptr %states, i64 %co
  %cpcs = load {V32}, ptr %cp, align 64
  %cx = xor {V32} %cpcs, %one_pc
  %unlike1 = or {V32} %unlike, %cx
  %cw1 = add i64 %cw, 1
  %cend = icmp eq i64 %cw1, %warps
  br i1 %cend, label %compared, label %compare
compared:
  %others = icmp ne {V32} %unlike1, zeroinitializer
  %other_bits = bitcast {V1} %others to i32
  %together = icmp eq i32 %other_bits, 0
  %onward = and {V32} %one_pc, {splat("i32", (1 << PC_BARRIER_SHIFT) - 1)}
  br i1 %together, label %release, label %apart_from
release:
  %rw = phi i64 [0, %compared], [%rw1, %release]
  %ro = mul i64 %rw, %bytes
  %rp = getelementptr i8, ptr %states, i64 %ro
  store {V32} %onward, ptr %rp, align 64
  %rw1 = add i64 %rw, 1
  %rend = icmp eq i64 %rw1, %warps
  br i1 %rend, label %opened, label %release
apart_from:
  br label %scan
scan:
  %w = phi i64 [0, %apart_from], [%w1, %scan]
  %low = phi i32 [{PC_DONE}, %apart_from], [%low2, %scan]
  %high = phi i32 [0, %apart_from], [%high2, %scan]
  %parted = phi i1 [false, %apart_from], [%parted2, %scan]
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
  %reduces_p = getelementptr i8, ptr %gathered, i64 {REDUCES}
  %reduces = load i64, ptr %reduces_p
  %plain = icmp eq i64 %reduces, 0
  br i1 %plain, label %out, label %publish
publish:  ; what reducing barriers gathered becomes readable, and gathering starts anew
  %results = getelementptr i8, ptr %gathered, i64 256
  call void @llvm.memcpy.p0.p0.i64(ptr %results, ptr %gathered, i64 256, i1 false)
  call void @llvm.memset.p0.i64(ptr %gathered, i8 0, i64 256, i1 false)
  br label %out
out:
  ret i64 1
}}
"""

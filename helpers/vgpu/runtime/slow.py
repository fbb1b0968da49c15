"""The uncommon path of a memory access: look the address up, check every lane, count, and learn the pattern."""

from __future__ import annotations

from helpers.vgpu.base.context import ERROR_CODE
from helpers.vgpu.runtime.overwrites import UNSURE, answer
from helpers.vgpu.runtime.pattern import REDUCTIONS, learn
from helpers.vgpu.runtime.text import V1, V32, V64, broadcast, bump, context, each_lane, site, splat


def _compare_with_allocation(n: int) -> str:
    """IR that compares %where with the allocation the site knows, which is asked twice: %offN, %badN and %insideN."""
    return f"""%base{n} = load i64, ptr %bsp
  %span{n} = load i64, ptr %spp
  {broadcast(f"bases{n}", "i64", f"%base{n}")}
  {broadcast(f"spans{n}", "i64", f"%span{n}")}
  %off{n} = sub {V64} %where, %bases{n}
  %out{n} = icmp ugt {V64} %off{n}, %spans{n}
  %out{n}bits = bitcast {V1} %out{n} to i32
  %bad{n} = and i32 %out{n}bits, %mask
  %inside{n} = icmp eq i32 %bad{n}, 0"""


def _slow_global(counted: bool) -> str:
    letter = "c" if counted else "p"
    count = f"""
  %keys = lshr {V64} %off, {splat("i64", 5)}
  %first_lanes = call i32 @first_lanes({V64} %keys, i32 %mask)
  store i32 %first_lanes, ptr %cp
  %count = call i32 @llvm.ctpop.i32(i32 %first_lanes)
  ; Lanes that have a sector each share no element.
  %lanes_asking = call i32 @llvm.ctpop.i32(i32 %mask)
  %crowded = icmp ult i32 %count, %lanes_asking
  %doubtful = and i1 %storing, %crowded
  br i1 %doubtful, label %doubt, label %ask
doubt:
  call void @learn_shared_elements(ptr %site, {V64} %off, i32 %mask)
  br label %ask
ask:
  %again = call i64 @wb_c_global(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule)
  ret i64 %again"""
    strange = f"""%far = call i64 @mixed_{letter}(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule)
  ret i64 %far"""
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
    carried = """%good = phi i32 [0, %0], [%good1, %next]
  %lost = phi i32 [0, %0], [%lost1, %next]"""
    return f"""
define internal i64 @slow_{letter}_global(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule) noinline {{{UNSURE if counted else ""}
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %nobody, label %look
nobody:
  ret i64 0
look:
  {context("hbp", "heap")}
  %hb = load i64, ptr %hbp
  {context("hnp", "heap_bytes")}
  %hn = load i64, ptr %hnp
  %one = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %aone = extractelement {V64} %where, i32 %one
  %ho = sub i64 %aone, %hb
  %inheap = icmp ult i64 %ho, %hn
  br i1 %inheap, label %heap, label %elsewhere_than_heap
heap:
  %hdone = call i1 @heap_{letter}(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule)
  %hanswer = zext i32 %mask to i64
  br i1 %hdone, label %hout, label %mixed
hout:
  {answer("%hanswer", counted)}
elsewhere_than_heap:
  {site("bsp", "base")}
  {site("spp", "span")}
  {_compare_with_allocation(0)}
  br i1 %inside0, label %placed, label %search
search:
  %size64 = zext i32 %size to i64
  %lane = call i32 @llvm.cttz.i32(i32 %bad0, i1 true)
  %a = extractelement {V64} %where, i32 %lane
  %ok = call i1 @place(ptr %ctx, ptr %site, i64 %a, i64 %size64)
  {_compare_with_allocation(1)}
  %fine1 = and i1 %inside1, %ok
  br i1 %fine1, label %placed, label %mixed
mixed:
  %m = call i64 @mixed_{letter}(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule)
  ret i64 %m
placed:
  %base = phi i64 [%base0, %elsewhere_than_heap], [%base1, %search]
  %span = phi i64 [%span0, %elsewhere_than_heap], [%span1, %search]
  %off = phi {V64} [%off0, %elsewhere_than_heap], [%off1, %search]
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
  {answer("%goode", counted)}
global:
  {learn("i64", strange)}
  {count if counted else f"%mask64b = zext i32 %mask to i64{chr(10)}  ret i64 %mask64b"}
}}

define internal i64 @mixed_{letter}(ptr %ctx, ptr %site, {V64} %addr, i32 %mask, i32 %size, i32 %rule) noinline cold {{{UNSURE if counted else ""}
  ; Lanes in several allocations, or some outside all: each lane is looked up by itself.
  %size64 = zext i32 %size to i64
  {each_lane("%mask", "0", "next", done="report", carried=carried)}
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
  {answer("%good64", counted)}
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
  br i1 %storing, label %doubt, label %ask
doubt:
  call void @learn_shared_elements(ptr %site, {V64} %wide, i32 %mask)
  br label %ask
ask:
  %again = call i64 @wb_c_shared(ptr %ctx, ptr %site, {V32} %where, i32 %mask, i32 %size, i32 %rule)
  ret i64 %again"""
    strange_count = f"""%far_atomic = icmp eq i32 %rule, 2
  %far_every = zext i1 %far_atomic to i32
  %far_count = call i32 @wavefronts({V32} %where, i32 %mask, i32 %size, i32 %far_every)
  %far_count64 = zext i32 %far_count to i64
  %far_pop = call i32 @llvm.ctpop.i32(i32 %mask)
  %far_pop64 = zext i32 %far_pop to i64
  {bump("shared_requests", "1", "fr")}
  {bump("shared_wavefronts", "%far_count64", "fw")}
  {bump("lanes", "%far_pop64", "fl")}"""
    strange = f"""{strange_count if counted else ""}
  %far_mask = zext i32 %mask to i64
  {answer("%far_mask", counted)}"""
    return f"""
define internal i64 @slow_{letter}_shared(ptr %ctx, ptr %site, {V32} %where, i32 %mask, i32 %size, i32 %rule) noinline {{{UNSURE if counted else ""}
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
  {learn("i32", strange, windows)}
  {count if counted else f"%mask64b = zext i32 %mask to i64{chr(10)}  ret i64 %mask64b"}
}}
"""


def source(avx512: bool) -> str:
    """All of it; `avx512` lets patterns be marked that only AVX-512 serves faster."""
    parts = [REDUCTIONS]
    for counted in (True, False):
        parts += [_slow_global(counted), _slow_shared(counted, avx512)]
    return "\n".join(parts)

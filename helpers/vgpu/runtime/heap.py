"""The heap of kernels, as compiled code sees it: whose an address is, accesses of a warp, calls of `malloc` and `free`.

A site never remembers a pattern in the heap, because any thread may free a piece at any time: every lane of every
access is looked up in the heap's tables (`helpers.vgpu.storage.heap` says what is in them).
"""

from __future__ import annotations

from helpers.vgpu.runtime.text import V1, V32, V64, broadcast, bump, get, get_pointer, site, splat
from helpers.vgpu.storage.heap import GRAIN

_GRAIN_BITS = GRAIN.bit_length() - 1

_FORGET = f"""{site("fb", "base")}
  store i64 -1, ptr %fb
  {site("fs", "span")}
  store i64 0, ptr %fs
  {site("fm", "mask")}
  store i64 -1, ptr %fm"""

# The lanes of %mask whose whole access lies in one live piece.
LANES = f"""
define internal i32 @heap_lanes(ptr %ctx, {V64} %where, i32 %mask, i64 %size) {{
  {get("hb", "heap")}
  {get("hn", "heap_bytes")}
  {get("owners", "heap_owners")}
  {get("ends", "heap_ends")}
  {broadcast("hbs", "i64", "%hb")}
  {broadcast("hns", "i64", "%hn")}
  {broadcast("ows", "i64", "%owners")}
  {broadcast("ens", "i64", "%ends")}
  {broadcast("sizes", "i64", "%size")}
  %off = sub {V64} %where, %hbs
  %within = icmp ult {V64} %off, %hns
  %lanes = bitcast i32 %mask to {V1}
  %ask = and {V1} %within, %lanes
  %grain = lshr {V64} %off, {splat("i64", _GRAIN_BITS)}
  %ob = shl {V64} %grain, {splat("i64", 2)}
  %oa = add {V64} %ob, %ows
  %op = inttoptr {V64} %oa to <32 x ptr>
  %owner = call {V32} @llvm.masked.gather.v32i32.v32p0(<32 x ptr> %op, i32 4, {V1} %ask, {V32} zeroinitializer)
  %owned = icmp ne {V32} %owner, zeroinitializer
  %first = zext {V32} %owner to {V64}
  %before = sub {V64} %first, {splat("i64", 1)}
  %eb = shl {V64} %before, {splat("i64", 3)}
  %ea = add {V64} %eb, %ens
  %ep = inttoptr {V64} %ea to <32 x ptr>
  %end = call {V64} @llvm.masked.gather.v32i64.v32p0(<32 x ptr> %ep, i32 8, {V1} %owned, {V64} zeroinitializer)
  %starts = icmp ult {V64} %where, %end
  %room = sub {V64} %end, %where
  %fits = icmp uge {V64} %room, %sizes
  %good = and {V1} %starts, %fits
  %bits = bitcast {V1} %good to i32
  ret i32 %bits
}}

define internal i1 @place_in_heap(ptr %ctx, ptr %site, i64 %addr, i64 %size) noinline {{
  ; The whole heap is one area as far as offsets go; what may be touched in it is asked for each lane.
  {broadcast("all", "i64", "%addr")}
  %bits = call i32 @heap_lanes(ptr %ctx, {V64} %all, i32 1, i64 %size)
  %good = icmp ne i32 %bits, 0
  br i1 %good, label %found, label %miss
found:
  {get("hb", "heap")}
  {get("hn", "heap_bytes")}
  {get("ht", "heap_touch")}
  %span = sub i64 %hn, %size
  {site("b", "base")}
  store i64 %hb, ptr %b
  {site("s", "span")}
  store i64 %span, ptr %s
  {site("k", "space")}
  store i64 0, ptr %k
  {site("t", "touch")}
  store i64 %ht, ptr %t
  {site("m", "mask")}
  store i64 -1, ptr %m
  ret i1 true
miss:
  ret i1 false
}}
"""


def _access(counted: bool) -> str:
    """Whether all of a warp's lanes may go on, and are counted; where one may not, `mixed` says which and why."""
    letter = "c" if counted else "p"
    count = f"""
  {get("hb", "heap")}
  {broadcast("hbs", "i64", "%hb")}
  %off = sub {V64} %where, %hbs
  %keys = lshr {V64} %off, {splat("i64", 5)}
  %n = call i32 @distinct({V64} %keys, i32 %mask)
  %n64 = zext i32 %n to i64
  {bump("requests", "1", "rq")}
  {bump("sectors", "%n64", "sc")}
  %pop = call i32 @llvm.ctpop.i32(i32 %mask)
  %pop64 = zext i32 %pop to i64
  {bump("lanes", "%pop64", "ln")}
  {get("rd", "reads")}
  %watch = icmp ne i64 %rd, 0
  br i1 %watch, label %mark, label %out
mark:
  {get("ht", "heap_touch")}
  {site("t", "touch")}
  store i64 %ht, ptr %t
  call void @touch(ptr %ctx, ptr %site, {V64} %off, i32 %mask, i32 %rule)
  br label %out
out:"""
    return f"""
define internal i1 @heap_{letter}(ptr %ctx, ptr %site, {V64} %where, i32 %mask, i32 %size, i32 %rule) noinline {{
  {_FORGET}
  %size64 = zext i32 %size to i64
  %good = call i32 @heap_lanes(ptr %ctx, {V64} %where, i32 %mask, i64 %size64)
  %size_1 = sub i64 %size64, 1
  {broadcast("align", "i64", "%size_1")}
  %odd = and {V64} %where, %align
  %straight = icmp eq {V64} %odd, zeroinitializer
  %straight_bits = bitcast {V1} %straight to i32
  %fine = and i32 %good, %straight_bits
  %wrong0 = xor i32 %fine, -1
  %wrong = and i32 %wrong0, %mask
  %whole = icmp eq i32 %wrong, 0
  br i1 %whole, label %right, label %bad
bad:
  ret i1 false
right:
  {count if counted else ""}
  ret i1 true
}}
"""


# The host allocates and frees. It answers in the first vector of `host_data`, and gives the code of an error with the
# lanes that made it above.
CALL = f"""
define {V64} @wb_heap(ptr %ctx, i64 %code, i64 %id, i32 %mask, {V64} %a, {V64} %b) {{
  {get_pointer("data", "host_data")}
  store {V64} %a, ptr %data, align 64
  %d1 = getelementptr i8, ptr %data, i64 256
  store {V64} %b, ptr %d1, align 64
  {get_pointer("h", "host")}
  %sited = shl i64 %id, 8
  %asked = or i64 %sited, %code
  %stop = call i64 %h(ptr %ctx, i64 %asked, i32 %mask)
  %bad = icmp ne i64 %stop, 0
  br i1 %bad, label %fail, label %out
fail:
  %error = and i64 %stop, 4294967295
  %wrong64 = lshr i64 %stop, 32
  %wrong = trunc i64 %wrong64 to i32
  call void @fail(ptr %ctx, i64 %error, i64 %id, i32 %wrong, {V64} %a)
  br label %out
out:
  %answer = load {V64}, ptr %data, align 64
  ret {V64} %answer
}}
"""


def source() -> str:
    return LANES + _access(True) + _access(False) + CALL

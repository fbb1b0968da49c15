"""Stores in which lanes of a warp overwrite one another: one of the lanes wins, and what the others stored is lost.

Whether lanes share an element is found when a pattern is learnt: then its shape is SHARED_ELEMENT. Only what stores
such a pattern compares values, and counts if lanes that share an element store different bits.
"""

from __future__ import annotations

from helpers.vgpu.runtime.pattern import RUN, SHARED_ELEMENT
from helpers.vgpu.runtime.text import V1, V64, broadcast, bump, each_group, site

STORE = 1  # the rule of an access that stores
UNSURE = f"""
  %storing = icmp eq i32 %rule, {STORE}
  %unsure = select i1 %storing, i64 {SHARED_ELEMENT << 32}, i64 0"""
"""What an answer without a learnt pattern has for its shape: the addresses of a store have to be compared."""


def answer(name: str, counted: bool) -> str:
    """IR that returns the lanes in `name`, of an access without a learnt pattern; where it counts, after `UNSURE`."""
    if not counted:
        return f"ret i64 {name}"
    return f"{name}_unsure = or i64 {name}, %unsure\n  ret i64 {name}_unsure"


LEARN = f"""
define internal void @learn_shared_elements(ptr %site, {V64} %where, i32 %mask) noinline {{
  {site("shape_p", "shape")}
  %shape = load i64, ptr %shape_p
  %run = icmp eq i64 %shape, {RUN}
  br i1 %run, label %out, label %look
look:
  %n = call i32 @distinct({V64} %where, i32 %mask)
  %pop = call i32 @llvm.ctpop.i32(i32 %mask)
  %fewer = icmp ult i32 %n, %pop
  br i1 %fewer, label %note, label %out
note:
  store i64 {SHARED_ELEMENT}, ptr %shape_p
  br label %out
out:
  ret void
}}
"""

# A store of several elements a lane is asked about each and counts once: the requests tell whether it has counted.
TELL = f"""
define internal void @tell_overwritten(ptr %site, {V64} %where, {V64} %stored, i32 %mask) noinline {{
  {each_group("%where", "%mask", "0", "next")}
  %one = extractelement {V64} %stored, i32 %lane
  {broadcast("ones", "i64", "%one")}
  %other = icmp ne {V64} %stored, %ones
  %other_bits = bitcast {V1} %other to i32
  %lost = and i32 %other_bits, %group
  %none = icmp eq i32 %lost, 0
  br i1 %none, label %next, label %found
next:
  br label %loop
found:
  {site("gp", "requests")}
  %global = load i64, ptr %gp
  {site("sp", "shared_requests")}
  %shared = load i64, ptr %sp
  {site("lp", "local_requests")}
  %local = load i64, ptr %lp
  %both = add i64 %global, %shared
  %now = add i64 %both, %local
  {site("tp", "overwritten_at")}
  %told = load i64, ptr %tp
  %new = icmp ne i64 %told, %now
  br i1 %new, label %count, label %out
count:
  store i64 %now, ptr %tp
  {bump("overwritten", "1", "ow")}
  br label %out
out:
  ret void
}}
"""


def tell(bits: int) -> str:
    """IR at the end of a store of `bits` a lane, %value at %addr: count it if lanes lose what they stored."""
    wide = f"%wide = zext <32 x i{bits}> %value to {V64}" if bits < 64 else f"%wide = add {V64} %value, zeroinitializer"
    return f"""
  %may_lose = icmp eq i32 %shape, {SHARED_ELEMENT}
  br i1 %may_lose, label %tell, label %kept
tell:
  {wide}
  call void @tell_overwritten(ptr %site, {V64} %addr, {V64} %wide, i32 %mask)
  br label %kept
kept:"""


def source() -> str:
    return LEARN + TELL

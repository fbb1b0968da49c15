"""Small pieces of LLVM IR text that the runtime's files share."""

from __future__ import annotations

from helpers.vgpu.base.context import SITE_SLOT, SLOT
from helpers.vgpu.runtime.value import V1, V8, V16, V32, V64  # noqa: F401


def splat(kind: str, value) -> str:
    return "<" + ", ".join([f"{kind} {value}"] * 32) + ">"


def ramp(kind: str, step: int) -> str:
    return "<" + ", ".join(f"{kind} {lane * step}" for lane in range(32)) + ">"


def context(name: str, slot: str) -> str:
    return f"%{name} = getelementptr i64, ptr %ctx, i64 {SLOT[slot]}"


def get(name: str, slot: str) -> str:
    """Load a slot of the context into %name."""
    return f"{context(f'{name}_at', slot)}\n  %{name} = load i64, ptr %{name}_at"


def get_pointer(name: str, slot: str) -> str:
    return f"{context(f'{name}_at', slot)}\n  %{name} = load ptr, ptr %{name}_at"


def site(name: str, slot: str) -> str:
    return f"%{name} = getelementptr i64, ptr %site, i64 {SITE_SLOT[slot]}"


def broadcast(name: str, kind: str, scalar: str) -> str:
    return (
        f"%{name}_i = insertelement <32 x {kind}> poison, {kind} {scalar}, i32 0\n"
        f"  %{name} = shufflevector <32 x {kind}> %{name}_i, <32 x {kind}> poison, <32 x i32> zeroinitializer"
    )


def each_lane(lanes: str, start: str, last: str, done: str = "out", carried: str = "") -> str:
    """IR that begins a loop over the lanes of a mask, the lowest first: the block %step has the %lane whose turn it is.

    `start` is the block that this stands in, `last` the one that goes back to %loop, `done` where it goes in the end.
    `carried` holds the phis of what else goes round.
    """
    return f"""{_turns(lanes, start, last, done, carried)}
  %rest_1 = sub i32 %rest, 1
  %rest1 = and i32 %rest, %rest_1"""


def each_group(values: str, lanes: str, start: str, last: str, done: str = "out", carried: str = "") -> str:
    """The same for groups of lanes with equal values (i64): in %step, %value is theirs and %group its lanes.

    The values are kept in memory: LLVM would store all 32 of them again for each one that it takes out.
    """
    return f"""%values_kept = alloca {V64}, align 64
  store {V64} {values}, ptr %values_kept
  {_turns(lanes, start, last, done, carried)}
  %value_p = getelementptr i64, ptr %values_kept, i32 %lane
  %value = load i64, ptr %value_p
  {broadcast("value_everywhere", "i64", "%value")}
  %same = icmp eq {V64} {values}, %value_everywhere
  %same_bits = bitcast {V1} %same to i32
  %group = and i32 %same_bits, %rest
  %others = xor i32 %same_bits, -1
  %rest1 = and i32 %rest, %others"""


def _turns(lanes: str, start: str, last: str, done: str, carried: str) -> str:
    return f"""br label %loop
loop:
  %rest = phi i32 [{lanes}, %{start}], [%rest1, %{last}]
  {carried}
  %none_left = icmp eq i32 %rest, 0
  br i1 %none_left, label %{done}, label %step
step:
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)"""


def bump(slot: str, amount: str, tag: str) -> str:
    """Add to a counter of the site; requests to global memory are counted for the warp whose turn it is, too."""
    text = f"""{site(tag + "_p", slot)}
  %{tag}_o = load i64, ptr %{tag}_p
  %{tag}_n = add i64 %{tag}_o, {amount}
  store i64 %{tag}_n, ptr %{tag}_p"""
    return (
        text
        if slot != "requests"
        else f"""{text}
  {get(tag + "_asked", "asked")}
  %{tag}_asked_n = add i64 %{tag}_asked, {amount}
  store i64 %{tag}_asked_n, ptr %{tag}_asked_at"""
    )

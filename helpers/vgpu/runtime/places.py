"""Places for resident blocks, and the dice of a random schedule, in LLVM IR."""

from __future__ import annotations

from helpers.vgpu.base.context import BARRIER_BYTES, CLOCK, HEADER, LAUNCH_SLOT, PLACE, PLACE_BYTES, PLACE_SLOT, TURN
from helpers.vgpu.runtime.text import context, get, get_pointer

_names = iter(range(1 << 30))


def _put(slot: str, value) -> str:
    pointer = f"put{next(_names)}"
    return f"{context(pointer, slot)}\n  store i64 {value}, ptr %{pointer}"


def _copy_place() -> str:
    """Bring what %record says of a place into the context."""
    lines = []
    for index, slot in enumerate(PLACE):
        lines += [
            f"%field{index}_p = getelementptr i64, ptr %record, i64 {index}",
            f"%field{index} = load i64, ptr %field{index}_p",
            _put(slot, f"%field{index}"),
        ]
    return "\n  ".join(lines)


def _keep_in_record(slots: dict[str, str]) -> str:
    lines = []
    for slot, value in slots.items():
        lines += [
            f"%keep_{slot} = getelementptr i64, ptr %record, i64 {PLACE_SLOT[slot]}",
            f"store i64 {value}, ptr %keep_{slot}",
        ]
    return "\n  ".join(lines)


PLACES = f"""
define internal ptr @record_of(ptr %ctx, i64 %index) alwaysinline {{
  {get_pointer("table", "place_table")}
  %offset = mul i64 %index, {PLACE_BYTES}
  %record = getelementptr i8, ptr %table, i64 %offset
  ret ptr %record
}}

define internal void @enter_place(ptr %ctx, i64 %index) noinline {{
  %record = call ptr @record_of(ptr %ctx, i64 %index)
  {_put("place", "%index")}
  {_copy_place()}
  call void @wb_s_enter(ptr %ctx)
  ret void
}}

define internal i64 @next_place(ptr %ctx, i64 %from, i1 %free) noinline {{
  ; The next place after `from`, round the table, that is free or (free: false) that is taken; there must be one.
entry:
  {get("places", "places")}
  br label %step
step:
  %at = phi i64 [%from, %entry], [%next, %step]
  %at1 = add i64 %at, 1
  %end = icmp uge i64 %at1, %places
  %next = select i1 %end, i64 0, i64 %at1
  %record = call ptr @record_of(ptr %ctx, i64 %next)
  %block_p = getelementptr i64, ptr %record, i64 {PLACE_SLOT["block"]}
  %block = load i64, ptr %block_p
  %is_free = icmp slt i64 %block, 0
  %found = icmp eq i1 %is_free, %free
  br i1 %found, label %out, label %step
out:
  ret i64 %next
}}

define internal i64 @blocks_end(ptr %launch) alwaysinline {{
  %blocks_p = getelementptr i64, ptr %launch, i64 {LAUNCH_SLOT["blocks"]}
  %blocks = load i64, ptr %blocks_p
  %stop_p = getelementptr i64, ptr %launch, i64 {LAUNCH_SLOT["stop_block"]}
  %stop = load atomic i64, ptr %stop_p monotonic, align 8
  %last = call i64 @llvm.umin.i64(i64 %blocks, i64 %stop)
  ret i64 %last
}}

define internal void @begin_block(ptr %ctx, i64 %number) noinline {{
entry:
  {get_pointer("order", "order")}
  %shuffled = icmp ne ptr %order, null
  br i1 %shuffled, label %look_up, label %known
look_up:
  %entry_p = getelementptr i64, ptr %order, i64 %number
  %chosen = load i64, ptr %entry_p
  br label %known
known:
  %block = phi i64 [%number, %entry], [%chosen, %look_up]
  {get("gx", "nctaid_x")}
  {get("gy", "nctaid_y")}
  %x = urem i64 %block, %gx
  %yz = udiv i64 %block, %gx
  %y = urem i64 %yz, %gy
  %z = udiv i64 %yz, %gy
  {get("place", "place")}
  %record = call ptr @record_of(ptr %ctx, i64 %place)
  {_keep_in_record({"block": "%block", "ctaid_x": "%x", "ctaid_y": "%y", "ctaid_z": "%z"})}
  {_put("block", "%block")}
  {_put("ctaid_x", "%x")}
  {_put("ctaid_y", "%y")}
  {_put("ctaid_z", "%z")}
  {_put("progress", 1)}
  {get("in", "in_block")}
  %in1 = add i64 %in, 1
  store i64 %in1, ptr %in_at
  {get_pointer("sb", "shared_base")}
  {get("ss", "shared_bytes")}
  call void @llvm.memset.p0.i64(ptr %sb, i8 -1, i64 %ss, i1 false)
  {get("zeroed", "zeroed_shared")}
  call void @llvm.memset.p0.i64(ptr %sb, i8 0, i64 %zeroed, i1 false)
  {get_pointer("bar", "barriers")}
  call void @llvm.memset.p0.i64(ptr %bar, i8 0, i64 {BARRIER_BYTES}, i1 false)
  {get_pointer("first", "first_pcs")}
  {get_pointer("states", "states")}
  {get("bytes", "state_bytes")}
  {get("warps", "warps")}
  {get("cleared", "zeroed_state")}
  {get_pointer("lb", "local_base")}
  {get("ln", "local_bytes")}
  %lanes = shl i64 %warps, 5
  %local = mul i64 %ln, %lanes
  call void @llvm.memset.p0.i64(ptr %lb, i8 -1, i64 %local, i1 false)
  br label %prepare
prepare:
  %pw = phi i64 [0, %known], [%pw1, %prepare]
  %po = mul i64 %pw, %bytes
  %ps = getelementptr i8, ptr %states, i64 %po
  %pf = shl i64 %pw, 7
  %pfp = getelementptr i8, ptr %first, i64 %pf
  call void @llvm.memcpy.p0.p0.i64(ptr %ps, ptr %pfp, i64 128, i1 false)
  %turn_p = getelementptr i8, ptr %ps, i64 {TURN}
  store i64 0, ptr %turn_p
  %clock_p = getelementptr i8, ptr %ps, i64 {CLOCK}
  store i64 0, ptr %clock_p
  %registers = getelementptr i8, ptr %ps, i64 {HEADER}
  call void @llvm.memset.p0.i64(ptr %registers, i8 0, i64 %cleared, i1 false)
  %pw1 = add i64 %pw, 1
  %prepared = icmp eq i64 %pw1, %warps
  br i1 %prepared, label %out, label %prepare
out:
  ret void
}}
"""

# A random schedule: in each turn a warp has a few segments' time, and perhaps only some of its lanes may run.
RANDOM = f"""
define internal i64 @draw(ptr %ctx) noinline {{
  ; xorshift64*, Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled"
  {get("s0", "random")}
  %a = lshr i64 %s0, 12
  %s1 = xor i64 %s0, %a
  %b = shl i64 %s1, 25
  %s2 = xor i64 %s1, %b
  %c = lshr i64 %s2, 27
  %s3 = xor i64 %s2, %c
  store i64 %s3, ptr %s0_at
  %m = mul i64 %s3, 2685821657736338717
  %r = lshr i64 %m, 16
  ret i64 %r
}}

define internal i1 @random_turn(ptr %ctx, ptr %state) noinline {{
  ; Set fuel, lanes and whose turn it is; true where the warp is passed over this time.
  %r = call i64 @draw(ptr %ctx)
  %dice = and i64 %r, 3
  %unlucky = icmp eq i64 %dice, 0
  {get("visited", "visited")}
  %calm = icmp eq i64 %visited, 0
  %skip = and i1 %unlucky, %calm
  %kind = lshr i64 %r, 2
  %kind3 = and i64 %kind, 3
  %width = mul i64 %kind3, 3
  %span = shl i64 2, %width
  %most = sub i64 %span, 1
  %long = lshr i64 %r, 8
  %some = and i64 %long, %most
  %fuel = add i64 %some, 1
  {_put("fuel", "%fuel")}
  %way = lshr i64 %r, 20
  %turn = and i64 %way, 127
  %turn_p = getelementptr i8, ptr %state, i64 {TURN}
  store i64 %turn, ptr %turn_p
  %set = call i64 @draw(ptr %ctx)
  %how = lshr i64 %r, 5
  %how3 = and i64 %how, 3
  %by_half = icmp eq i64 %how3, 1
  %scattered = icmp eq i64 %how3, 2
  %turns = and i64 %set, 31
  %half = shl i64 281470681808895, %turns
  %half1 = lshr i64 %half, 16
  %half2 = and i64 %half1, 4294967295
  %bits = and i64 %set, 4294967295
  %l0 = select i1 %by_half, i64 %half2, i64 4294967295
  %lanes = select i1 %scattered, i64 %bits, i64 %l0
  {_put("lanes", "%lanes")}
  ret i1 %skip
}}
"""

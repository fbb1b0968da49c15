"""The runtime's part of textures and surfaces: handles looked up team by team, sectors counted, addresses made.

Lanes that name one handle are a team; nearly always that is the whole warp. What reads a texel is compiled for the
texture (`lower.sampling`) and called through its descriptor.
"""

from __future__ import annotations

from helpers.vgpu.base.context import ERROR_CODE, TEXTURE_KEYS, TEXTURE_RESULTS
from helpers.vgpu.runtime.text import V1, V32, V64, broadcast, bump, context, each_group
from helpers.vgpu.storage.textures import CLAMP_OUTSIDE, FIELD, TRAP_OUTSIDE

_SLOTS = 512  # of the hash table; at most 8 texels a lane go in

# How many distinct numbers, all ones not counted, there are among n.
DISTINCT = f"""
define internal i32 @distinct_keys(ptr %keys, i32 %n) noinline {{
entry:
  %seen = alloca [{_SLOTS} x i32], align 64
  call void @llvm.memset.p0.i64(ptr %seen, i8 -1, i64 {4 * _SLOTS}, i1 false)
  br label %each
each:
  %i = phi i32 [0, %entry], [%i1, %next]
  %found = phi i32 [0, %entry], [%found1, %next]
  %done = icmp uge i32 %i, %n
  br i1 %done, label %out, label %take
take:
  %kp = getelementptr i32, ptr %keys, i32 %i
  %key = load i32, ptr %kp
  %none = icmp eq i32 %key, -1
  br i1 %none, label %next, label %hash
hash:
  %mixed = mul i32 %key, -1640531527
  %start = lshr i32 %mixed, {32 - _SLOTS.bit_length() + 1}
  br label %probe
probe:
  %at = phi i32 [%start, %hash], [%at1, %occupied]
  %sp = getelementptr i32, ptr %seen, i32 %at
  %old = load i32, ptr %sp
  %same = icmp eq i32 %old, %key
  br i1 %same, label %next, label %other
other:
  %free = icmp eq i32 %old, -1
  br i1 %free, label %new, label %occupied
occupied:
  %at0 = add i32 %at, 1
  %at1 = and i32 %at0, {_SLOTS - 1}
  br label %probe
new:
  store i32 %key, ptr %sp
  br label %next
next:
  %more = phi i32 [0, %take], [0, %probe], [1, %new]
  %found1 = add i32 %found, %more
  %i1 = add i32 %i, 1
  br label %each
out:
  ret i32 %found
}}
"""


def _field(name: str, slot: str) -> str:
    return f"%{name}_p = getelementptr i64, ptr %desc, i64 {FIELD[slot]}\n  %{name} = load i64, ptr %{name}_p"


_SAME_CODE = "%fits = icmp eq i64 %have, %code"
# Three codes a geometry: the first is that of surfaces.
_SAME_FAMILY = """%family = urem i64 %have, 3
  %first = icmp eq i64 %family, 1
  %is_surface = zext i1 %first to i64
  %fits = icmp eq i64 %is_surface, %surface"""


def _teams(last: str, fits: str = _SAME_CODE) -> str:
    """IR up to a team, %group, and its descriptor %desc, of the right code; %bad where there is none, %end after all.

    `last` names the block that each round ends in.
    """
    return f"""
  br label %teams
teams:
  {each_group("%handles", "%mask", "teams", last, done="end")}
  {context("count_p", "texture_count")}
  %known = load i64, ptr %count_p
  %near = icmp ult i64 %value, %known
  br i1 %near, label %look, label %bad
look:
  {context("table_p", "textures")}
  %table = load ptr, ptr %table_p
  %entry_p = getelementptr ptr, ptr %table, i64 %value
  %desc = load ptr, ptr %entry_p
  %there = icmp ne ptr %desc, null
  br i1 %there, label %check, label %bad
check:
  {_field("have", "code")}
  {fits}
  br i1 %fits, label %use, label %bad"""


_OPEN = f"""
  {context("data_p", "texture_data")}
  %data = load ptr, ptr %data_p
  %results = getelementptr i8, ptr %data, i64 {TEXTURE_RESULTS}
  %keys = getelementptr i8, ptr %data, i64 {TEXTURE_KEYS}
  %counting = icmp ne i32 %count, 0"""

# What the message needs besides the lane: all lanes' coordinates.
_FAIL = f"""
  store {V32} %a, ptr %data, align 64
  %b_p = getelementptr i8, ptr %data, i64 128
  store {V32} %b, ptr %b_p, align 64
  %c_p = getelementptr i8, ptr %data, i64 256
  store {V32} %c, ptr %c_p, align 64
  %id = call i64 @site_id(ptr %ctx, ptr %site)
  call void @fail(ptr %ctx, i64 {ERROR_CODE["texture"]}, i64 %id, i32 %failing, {V64} %handles)"""

_CLEAR = "\n".join(
    f"  %clear{n} = getelementptr i8, ptr %results, i64 {128 * n}\n"
    f"  store {V32} zeroinitializer, ptr %clear{n}, align 64"
    for n in range(4)
)

READ = f"""
define void @wb_texture(ptr %ctx, ptr %site, {V64} %handles, i32 %mask, i64 %code, i64 %slot, {V32} %a, {V32} %b,
    {V32} %c, i32 %count) {{
  {_OPEN}
  {_CLEAR}
  %used_keys = select i1 %counting, ptr %keys, ptr null
  {_teams("next")}
use:
  %f_p = getelementptr ptr, ptr %desc, i64 %slot
  %f = load ptr, ptr %f_p
  %made = icmp ne ptr %f, null
  br i1 %made, label %read, label %bad
read:
  %n = call i32 %f(ptr %desc, i32 %group, {V32} %a, {V32} %b, {V32} %c, ptr %results, ptr %used_keys)
  br i1 %counting, label %tally, label %next
tally:
  %sectors32 = call i32 @distinct_keys(ptr %keys, i32 %n)
  %sectors = zext i32 %sectors32 to i64
  {bump("sectors", "%sectors", "sc")}
  br label %next
next:
  br label %loop
bad:
  %failing = phi i32 [%group, %step], [%group, %look], [%group, %check], [%group, %use]
  {_FAIL}
  ret void
end:
  %some = icmp ne i32 %mask, 0
  %asked = and i1 %some, %counting
  %one = zext i1 %asked to i64
  {bump("requests", "%one", "rq")}
  ret void
}}
"""


def _limit(axis: str, most: str) -> str:
    """IR that clamps %AXIS0 to 0…most where %clamps, and says in %AXIS_in whether it lies there."""
    return f"""
  {broadcast(f"{axis}_most", "i32", most)}
  %{axis}_floor = call {V32} @llvm.smax.v32i32({V32} %{axis}0, {V32} zeroinitializer)
  %{axis}_held = call {V32} @llvm.smin.v32i32({V32} %{axis}_floor, {V32} %{axis}_most)
  %{axis} = select i1 %clamps, {V32} %{axis}_held, {V32} %{axis}0
  %{axis}_up = icmp sge {V32} %{axis}, zeroinitializer
  %{axis}_down = icmp sle {V32} %{axis}, %{axis}_most
  %{axis}_in = and {V1} %{axis}_up, %{axis}_down"""


# A surface access: host addresses of the lanes, and which of them may go on. x is in bytes.
SURFACE = f"""
declare {V32} @llvm.smax.v32i32({V32}, {V32})
declare {V32} @llvm.smin.v32i32({V32}, {V32})
define i64 @wb_surface(ptr %ctx, ptr %site, {V64} %handles, i32 %mask, i64 %code, i32 %size, i32 %mode, {V32} %a,
    {V32} %b, {V32} %c, i32 %count) {{
  %x0 = add {V32} %a, zeroinitializer
  %y0 = add {V32} %b, zeroinitializer
  %z0 = add {V32} %c, zeroinitializer
  %clamps = icmp eq i32 %mode, {CLAMP_OUTSIDE}
  %traps = icmp eq i32 %mode, {TRAP_OUTSIDE}
  %good_p = alloca i32
  store i32 0, ptr %good_p
  {_OPEN}
  store {V64} zeroinitializer, ptr %results, align 64
  {_teams("next")}
use:
  {_field("width", "width")}
  {_field("texel", "texel_bytes")}
  {_field("height", "height")}
  {_field("depth", "depth")}
  {_field("row", "row_bytes")}
  {_field("slice", "slice_bytes")}
  {_field("base", "address")}
  {_field("tile", "tile")}
  %bytes64 = mul i64 %width, %texel
  %bytes = trunc i64 %bytes64 to i32
  %x_last = sub i32 %bytes, %size
  %height32 = trunc i64 %height to i32
  %y_last = sub i32 %height32, 1
  %depth32 = trunc i64 %depth to i32
  %z_last = sub i32 %depth32, 1
  {_limit("x", "%x_last")}
  {_limit("y", "%y_last")}
  {_limit("z", "%z_last")}
  %xy_in = and {V1} %x_in, %y_in
  %in = and {V1} %xy_in, %z_in
  %in_bits = bitcast {V1} %in to i32
  %inside = and i32 %in_bits, %group
  %not_in = xor i32 %in_bits, -1
  %outside = and i32 %not_in, %group
  %size_1 = sub i32 %size, 1
  {broadcast("align", "i32", "%size_1")}
  %odd = and {V32} %x, %align
  %crooked = icmp ne {V32} %odd, zeroinitializer
  %crooked_bits = bitcast {V1} %crooked to i32
  %misaligned = and i32 %crooked_bits, %inside
  %stopped = select i1 %traps, i32 %outside, i32 0
  %wrong = or i32 %misaligned, %stopped
  %fine = icmp eq i32 %wrong, 0
  br i1 %fine, label %go, label %bad
go:
  %x64 = zext {V32} %x to {V64}
  %y64 = zext {V32} %y to {V64}
  %z64 = zext {V32} %z to {V64}
  {broadcast("rows", "i64", "%row")}
  {broadcast("slices", "i64", "%slice")}
  {broadcast("bases", "i64", "%base")}
  %by_row = mul {V64} %y64, %rows
  %by_slice = mul {V64} %z64, %slices
  %o1 = add {V64} %x64, %by_row
  %o2 = add {V64} %o1, %by_slice
  %where = add {V64} %o2, %bases
  %lanes = bitcast i32 %inside to {V1}
  %old = load {V64}, ptr %results, align 64
  %new = select {V1} %lanes, {V64} %where, {V64} %old
  store {V64} %new, ptr %results, align 64
  %good0 = load i32, ptr %good_p
  %good1 = or i32 %good0, %inside
  store i32 %good1, ptr %good_p
  br i1 %counting, label %tally, label %next
tally:
  ; Blocks of 16 bytes by two rows, or runs of 32 bytes in one dimension.
  %shift = sub i64 5, %tile
  {broadcast("shifts", "i64", "%shift")}
  {broadcast("tiles", "i64", "%tile")}
  %kx = lshr {V64} %x64, %shifts
  %ky = lshr {V64} %y64, %tiles
  %round = shl i64 1, %shift
  %round_1 = sub i64 %round, 1
  %padded = add i64 %bytes64, %round_1
  %per_row = lshr i64 %padded, %shift
  %high = add i64 %height, %tile
  %rows_in = lshr i64 %high, %tile
  {broadcast("per_rows", "i64", "%per_row")}
  {broadcast("rows_ins", "i64", "%rows_in")}
  %kz = mul {V64} %z64, %rows_ins
  %kyz = add {V64} %ky, %kz
  %krow = mul {V64} %kyz, %per_rows
  %key = add {V64} %krow, %kx
  %sectors32 = call i32 @distinct({V64} %key, i32 %inside)
  %sectors = zext i32 %sectors32 to i64
  {bump("sectors", "%sectors", "sc")}
  br label %next
next:
  br label %loop
bad:
  %failing = phi i32 [%group, %step], [%group, %look], [%group, %check], [%wrong, %use]
  {_FAIL}
  ret i64 0
end:
  %some = icmp ne i32 %mask, 0
  %asked = and i1 %some, %counting
  %one = zext i1 %asked to i64
  {bump("requests", "%one", "rq")}
  %good = load i32, ptr %good_p
  %answer = zext i32 %good to i64
  ret i64 %answer
}}
"""

# One field of each lane's descriptor (`txq`, `suq`): the sizes that a handle has.
QUERY = f"""
define {V32} @wb_texture_query(ptr %ctx, ptr %site, {V64} %handles, i32 %mask, i64 %slot, i64 %surface) {{
  {context("data_p", "texture_data")}
  %data = load ptr, ptr %data_p
  %a = add {V32} zeroinitializer, zeroinitializer
  %b = add {V32} zeroinitializer, zeroinitializer
  %c = add {V32} zeroinitializer, zeroinitializer
  %result_p = alloca {V32}, align 64
  store {V32} zeroinitializer, ptr %result_p, align 64
  {_teams("next", _SAME_FAMILY)}
use:
  %v_p = getelementptr i64, ptr %desc, i64 %slot
  %v = load i64, ptr %v_p
  %v32 = trunc i64 %v to i32
  {broadcast("values", "i32", "%v32")}
  %lanes = bitcast i32 %group to {V1}
  %old = load {V32}, ptr %result_p, align 64
  %new = select {V1} %lanes, {V32} %values, {V32} %old
  store {V32} %new, ptr %result_p, align 64
  br label %next
next:
  br label %loop
bad:
  %failing = phi i32 [%group, %step], [%group, %look], [%group, %check]
  {_FAIL}
  ret {V32} zeroinitializer
end:
  %result = load {V32}, ptr %result_p, align 64
  ret {V32} %result
}}
"""


def source() -> str:
    """All of it."""
    return "\n".join([DISTINCT, READ, SURFACE, QUERY])

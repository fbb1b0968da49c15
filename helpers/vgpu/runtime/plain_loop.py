"""The block loop of launches in which no warp asks memory whether it may go on: one block after the other, in order."""

from __future__ import annotations

from helpers.vgpu.base.context import DONE, NAMED, OUT_OF_FUEL
from helpers.vgpu.runtime.loop_parts import ENDS, ROUNDS, open_named, spend_slice, take_block
from helpers.vgpu.runtime.text import context, get, get_pointer

PLAIN_LOOP = f"""
define i32 @wb_run_plain(ptr %ctx) {{
entry:
  {get_pointer("launch", "launch")}
  {get_pointer("run", "run_warp")}
  {get_pointer("states", "states")}
  {get_pointer("gathered", "barriers")}
  {get("warps", "warps")}
  {get("bytes", "state_bytes")}
  {get("slice", "fuel_slice")}
  {get("loose", "loose_barriers")}
  {context("in_p", "in_block")}
  {context("warp_p", "warp")}
  {context("fuel_p", "fuel")}
  {context("error_p", "error")}
  {context("slices_p", "slices")}
  %size = mul i64 %warps, %bytes
  %end = getelementptr i8, ptr %states, i64 %size
  %named_p = getelementptr i8, ptr %gathered, i64 {NAMED}
  %in = load i64, ptr %in_p
  %resume = icmp ne i64 %in, 0
  br i1 %resume, label %round, label %fetch
fetch:
  {take_block(none="finished")}
finished:
  ret i32 {DONE}
begin:
  call void @begin_block(ptr %ctx, i64 %number)
  br label %round

round:
  %rounds = phi i64 [{ROUNDS}, %entry], [{ROUNDS}, %begin], [%rounds1, %again], [{ROUNDS}, %tick]
  br label %turn
turn:
  %w = phi i64 [0, %round], [%w1, %ran]
  %state = phi ptr [%states, %round], [%state1, %ran]
  %going = phi i32 [0, %round], [%going1, %ran]
  %starved = phi i1 [false, %round], [%starved1, %ran]
  store i64 %w, ptr %warp_p
  store i64 %slice, ptr %fuel_p
  %status = call i32 %run(ptr %state, ptr %ctx)
  %error = load i64, ptr %error_p
  %failed = icmp ne i64 %error, 0
  br i1 %failed, label %fail, label %ran
ran:
  %w1 = add i64 %w, 1
  %state1 = getelementptr i8, ptr %state, i64 %bytes
  %going1 = or i32 %going, %status
  %out = icmp eq i32 %status, {OUT_OF_FUEL}
  %starved1 = or i1 %starved, %out
  %all = icmp eq ptr %state1, %end
  br i1 %all, label %round_end, label %turn
round_end:
  %over = icmp eq i32 %going1, {DONE}
  br i1 %over, label %block_end, label %open
block_end:
  store i64 0, ptr %in_p
  br label %fetch
open:
  %whole = call i64 @open_barriers(ptr %states, i64 %bytes, i64 %warps, ptr %gathered, i64 %loose)
  %named = load i64, ptr %named_p
  {open_named("open")}
  %none = icmp eq i64 %opened, 0
  br i1 %starved1, label %tick, label %all_wait
all_wait:
  br i1 %none, label %deadlock, label %again
again:
  %rounds1 = sub i64 %rounds, 1
  %many = icmp slt i64 %rounds1, 0
  br i1 %many, label %tick, label %round
tick:
  {spend_slice("", "round")}
{ENDS}
}}
"""

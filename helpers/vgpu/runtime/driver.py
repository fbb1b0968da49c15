"""The block loop, in LLVM IR: takes blocks off the launch's counter and runs their warps in turn until all are done.

A worker runs one block to its end and then takes the next, as long as no block waits for another. One whose warps
all wait for memory to change is set aside in its place, and the next place has its turn: a block that is resident
there already, or a new one if the launcher left a place free. Barriers open when every live lane of a block waits.
The loop returns OUT_OF_FUEL now and then, IDLE when it went round all resident blocks and none could go on; called
again, it goes on where it stopped.
"""

from __future__ import annotations

from helpers.vgpu.base.context import DONE, IDLE, NAMED, OUT_OF_FUEL, PLACE_SLOT, SPUN
from helpers.vgpu.runtime.loop_parts import ENDS, ROUNDS, if_blocks_are_left, open_named, spend_slice, take_block
from helpers.vgpu.runtime.plain_loop import PLAIN_LOOP
from helpers.vgpu.runtime.text import context, get, get_pointer

PATIENCE = 4  # rounds in which a block's warps only ask memory again and again before the next block has its turn
LOOP = f"""
define i32 @wb_run_blocks(ptr %ctx) {{
entry:
  {get_pointer("launch", "launch")}
  {get_pointer("run", "run_warp")}
  {get("warps", "warps")}
  {get("bytes", "state_bytes")}
  {context("in_p", "in_block")}
  {context("warp_p", "warp")}
  {context("fuel_p", "fuel")}
  {context("slice_p", "fuel_slice")}
  {context("error_p", "error")}
  {context("slices_p", "slices")}
  {context("progress_p", "progress")}
  {context("moved_p", "moved")}
  {context("visited_p", "visited")}
  {context("ahead_p", "ahead")}
  {context("spun_p", "spun")}
  {context("patience_p", "patience")}
  {context("states_p", "states")}
  {context("random_p", "random")}
  %random = load i64, ptr %random_p
  %shuffles = icmp ne i64 %random, 0
  %in = load i64, ptr %in_p
  %resume = icmp ne i64 %in, 0
  br i1 %resume, label %resumed, label %fetch
resumed:
  {context("let_in_p", "let_in")}
  %let_in = load i64, ptr %let_in_p
  store i64 0, ptr %let_in_p
  %go_round = icmp eq i64 %let_in, 0
  br i1 %go_round, label %round, label %let_others_in
let_others_in:  ; this block has asked memory for long: a new one has its turn, or one that is resident
  {get("lplaces", "places")}
  %lroom = icmp ult i64 %in, %lplaces
  br i1 %lroom, label %new_block, label %change
change:
  {get("left_here", "place")}
  %lnext = call i64 @next_place(ptr %ctx, i64 %left_here, i1 false)
  call void @enter_place(ptr %ctx, i64 %lnext)
  br label %round

fetch:  ; the place in use is free
  {take_block(none="none")}
none:
  %others = load i64, ptr %in_p
  %alone = icmp eq i64 %others, 0
  br i1 %alone, label %finished, label %hop
finished:
  ret i32 {DONE}
begin:
  call void @begin_block(ptr %ctx, i64 %number)
  call void @wb_s_begin(ptr %ctx)
  br label %round

round:
  %states = load ptr, ptr %states_p
  br i1 %shuffles, label %rotate, label %each
rotate:
  %drawn = call i64 @draw(ptr %ctx)
  %rotation = urem i64 %drawn, %warps
  br label %each
each:
  %n = phi i64 [0, %round], [0, %rotate], [%n1, %each_end]
  %start = phi i64 [0, %round], [%rotation, %rotate], [%start, %each_end]
  %live = phi i64 [0, %round], [0, %rotate], [%live1, %each_end]
  %starved = phi i64 [0, %round], [0, %rotate], [%starved1, %each_end]
  %waiting = phi i64 [0, %round], [0, %rotate], [%waiting1, %each_end]
  %wdone = icmp eq i64 %n, %warps
  br i1 %wdone, label %round_end, label %each_run
each_run:
  %wr = add i64 %n, %start
  %over_end = icmp uge i64 %wr, %warps
  %wless = sub i64 %wr, %warps
  %w = select i1 %over_end, i64 %wless, i64 %wr
  %n1 = add i64 %n, 1
  store i64 %w, ptr %warp_p
  %so = mul i64 %w, %bytes
  %state = getelementptr i8, ptr %states, i64 %so
  br i1 %shuffles, label %by_chance, label %in_order
by_chance:
  %skip = call i1 @random_turn(ptr %ctx, ptr %state)
  br i1 %skip, label %passed, label %go_on
in_order:
  %slice = load i64, ptr %slice_p
  store i64 %slice, ptr %fuel_p
  br label %go_on
go_on:
  %before = load i64, ptr %progress_p
  %status = call i32 %run(ptr %state, ptr %ctx)
  %stalled = call i64 @note_slice(ptr %ctx, i32 %status)
  %alive = icmp ne i32 %status, {DONE}
  %alive64 = zext i1 %alive to i64
  %livea = add i64 %live, %alive64
  %out = icmp eq i32 %status, {OUT_OF_FUEL}
  %out64 = zext i1 %out to i64
  %starveda = add i64 %starved, %out64
  %waits = icmp uge i32 %status, {SPUN}
  %waits64 = zext i1 %waits to i64
  %waitinga = add i64 %waiting, %waits64
  %error = load i64, ptr %error_p
  %failed = icmp ne i64 %error, 0
  br i1 %failed, label %fail, label %ran
ran:
  %special = or i1 %out, %waits
  br i1 %special, label %note, label %each_end
note:
  %progress0 = load i64, ptr %progress_p
  %worked = or i64 %progress0, %out64
  %in_vain = icmp ne i64 %stalled, 0
  %progress1 = select i1 %in_vain, i64 %before, i64 %worked
  store i64 %progress1, ptr %progress_p
  %spins = icmp eq i32 %status, {SPUN}
  %spins64 = zext i1 %spins to i64
  %spun0 = load i64, ptr %spun_p
  %spun1 = or i64 %spun0, %spins64
  store i64 %spun1, ptr %spun_p
  %patience0 = load i64, ptr %patience_p
  %patience1 = sub i64 %patience0, %spins64
  store i64 %patience1, ptr %patience_p
  br label %each_end
each_end:
  %live1 = phi i64 [%livea, %ran], [%livea, %note], [%liveb, %passed]
  %starved1 = phi i64 [%starveda, %ran], [%starveda, %note], [%starvedb, %passed]
  %waiting1 = phi i64 [%waitinga, %ran], [%waitinga, %note], [%waiting, %passed]
  br label %each

round_end:
  %over = icmp eq i64 %live, 0
  br i1 %over, label %block_end, label %going
block_end:
  %had = load i64, ptr %in_p
  %have = sub i64 %had, 1
  store i64 %have, ptr %in_p
  %single = icmp eq i64 %have, 0
  br i1 %single, label %fetch, label %leave_place
leave_place:
  store i64 1, ptr %progress_p
  {get("left_place", "place")}
  %left_record = call ptr @record_of(ptr %ctx, i64 %left_place)
  %left_block = getelementptr i64, ptr %left_record, i64 {PLACE_SLOT["block"]}
  store i64 -1, ptr %left_block
  br label %hop
going:
  {get_pointer("gathered", "barriers")}
  {get("loose", "loose_barriers")}
  %whole = call i64 @open_barriers(ptr %states, i64 %bytes, i64 %warps, ptr %gathered, i64 %loose)
  %all_met = icmp ne i64 %whole, 0
  br i1 %all_met, label %met, label %count_met
met:
  call void @wb_s_opened(ptr %ctx)
  br label %count_met
count_met:
  %named_p = getelementptr i8, ptr %gathered, i64 {NAMED}
  %named = load i64, ptr %named_p
  {open_named("count_met")}
  %slow = or i64 %starved, %waiting
  %all_fast = icmp eq i64 %slow, 0
  br i1 %all_fast, label %fast, label %unhurried
fast:
  %stuck = icmp eq i64 %opened, 0
  br i1 %stuck, label %deadlock, label %again
again:
  br i1 %shuffles, label %progressed, label %count_rounds
count_rounds:  ; a loop whose every round passes a barrier burns no fuel between two of them
  {context("rounds_p", "rounds")}
  %rounds0 = load i64, ptr %rounds_p
  %rounds1 = sub i64 %rounds0, 1
  %many = icmp slt i64 %rounds1, 0
  %rounds2 = select i1 %many, i64 {ROUNDS}, i64 %rounds1
  store i64 %rounds2, ptr %rounds_p
  br i1 %many, label %tick, label %round
unhurried:
  %moved = or i64 %opened, %starved
  %none_moved = icmp eq i64 %moved, 0
  br i1 %none_moved, label %waits_for_others, label %moving
moving:
  %opened_now = icmp ne i64 %opened, 0
  br i1 %opened_now, label %progressed, label %look_up
progressed:
  store i64 1, ptr %progress_p
  br label %look_up
look_up:  ; perhaps all warps wait for an mbarrier
  %verdict = call i32 @judge_round(ptr %ctx, i64 %opened, i64 %starved, i64 %waiting)
  switch i32 %verdict, label %next_round [ i32 1, label %tick  i32 2, label %fail  i32 3, label %waits_for_others ]
tick:
  {spend_slice("", "next_round")}
next_round:
  br i1 %shuffles, label %wander, label %round

waits_for_others:
  ; Warps that wait for nothing but memory are patient; those that try again and again may be waiting for each other.
  %spun = load i64, ptr %spun_p
  %tried = icmp ne i64 %spun, 0
  %patience2 = load i64, ptr %patience_p
  %patience = sub i64 %patience2, 1
  store i64 %patience, ptr %patience_p
  %hopeful = icmp sgt i64 %patience, 0
  %try_again = and i1 %tried, %hopeful
  br i1 %try_again, label %tick, label %aside
aside:
  %rounds = mul i64 %warps, {PATIENCE}
  store i64 %rounds, ptr %patience_p
  %progress = load i64, ptr %progress_p
  store i64 0, ptr %progress_p
  %moved0 = load i64, ptr %moved_p
  %moved1 = or i64 %moved0, %progress
  store i64 %moved1, ptr %moved_p
  %still = icmp eq i64 %progress, 0
  %visited0 = load i64, ptr %visited_p
  %visited1 = add i64 %visited0, 1
  %visited = select i1 %still, i64 %visited1, i64 0
  %ahead = load i64, ptr %ahead_p
  %ahead1 = select i1 %still, i64 %ahead, i64 0
  store i64 %ahead1, ptr %ahead_p
  store i64 %visited, ptr %visited_p
  %occupied = load i64, ptr %in_p
  {get("places", "places")}
  %room = icmp ult i64 %occupied, %places
  br i1 %room, label %more, label %look_round
more:
  {if_blocks_are_left("given", "open_place", "look_round")}
open_place:
  {get("here", "place")}
  %free = call i64 @next_place(ptr %ctx, i64 %here, i1 true)
  call void @enter_place(ptr %ctx, i64 %free)
  br label %fetch
look_round:
  %all_seen = icmp uge i64 %visited, %occupied
  br i1 %all_seen, label %idle, label %hop
idle:
  store i64 0, ptr %visited_p
  ret i32 {IDLE}
hop:
  {get("current", "place")}
  %taken = call i64 @next_place(ptr %ctx, i64 %current, i1 false)
  call void @enter_place(ptr %ctx, i64 %taken)
  {spend_slice("hop_", "round")}

passed:
  {context("skipped_p", "skipped")}
  %skipped0 = load i64, ptr %skipped_p
  %skipped1 = add i64 %skipped0, 1
  store i64 %skipped1, ptr %skipped_p
  %liveb = add i64 %live, 1
  %starvedb = add i64 %starved, 1
  br label %each_end
wander:
  ; A random schedule turns to another block now and then, as long as all goes well.
  %quiet = load i64, ptr %visited_p
  %calm = icmp eq i64 %quiet, 0
  br i1 %calm, label %toss, label %round
toss:
  %coin = call i64 @draw(ptr %ctx)
  %coin3 = and i64 %coin, 3
  %stay = icmp eq i64 %coin3, 0
  br i1 %stay, label %round, label %elsewhere
elsewhere:
  {get("wplaces", "places")}
  %woccupied = load i64, ptr %in_p
  %wroom = icmp ult i64 %woccupied, %wplaces
  %fresh = icmp eq i64 %coin3, 1
  %wopen = and i1 %wroom, %fresh
  br i1 %wopen, label %new_block, label %jump
new_block:
  {if_blocks_are_left("wgiven", "open_place", "else_jump")}
else_jump:
  br i1 %shuffles, label %jump, label %change
jump:
  %jumps = load i64, ptr %random_p
  %jdrawn = lshr i64 %jumps, 8
  {get("jplaces", "places")}
  %jfrom = urem i64 %jdrawn, %jplaces
  %jto = call i64 @next_place(ptr %ctx, i64 %jfrom, i1 false)
  call void @enter_place(ptr %ctx, i64 %jto)
  br label %round
{ENDS}
}}
"""
DRIVER = LOOP + PLAIN_LOOP

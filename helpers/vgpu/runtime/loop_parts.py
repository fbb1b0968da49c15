"""What the two block loops have in common, in LLVM IR: %launch, %states, %slices_p and so on are set in both."""

from __future__ import annotations

from helpers.vgpu.base.context import ERROR_CODE, FAILED, LAUNCH_SLOT, OUT_OF_FUEL
from helpers.vgpu.runtime.text import V64

ROUNDS = 4096  # times that the barriers of blocks open before the loop looks up

# How both loops end before all is done: a pause, warps that wait for what cannot come, a fault.
ENDS = f"""rest:
  ret i32 {OUT_OF_FUEL}
deadlock:
  call void @fail(ptr %ctx, i64 {ERROR_CODE["deadlock"]}, i64 0, i32 1, {V64} zeroinitializer)
  br label %fail
fail:
  store i64 0, ptr %in_p
  ret i32 {FAILED}"""


def take_block(none: str) -> str:
    """Take the %number of the launch's next block and go to %begin, or to `none` where there is none."""
    return f"""%next_p = getelementptr i64, ptr %launch, i64 {LAUNCH_SLOT["next_block"]}
  %number = atomicrmw add ptr %next_p, i64 1 monotonic
  %last = call i64 @blocks_end(ptr %launch)
  %left = icmp ult i64 %number, %last
  br i1 %left, label %begin, label %{none}"""


def if_blocks_are_left(tag: str, then: str, otherwise: str) -> str:
    """Whether there are blocks that nobody has taken yet."""
    return f"""%{tag}_p = getelementptr i64, ptr %launch, i64 {LAUNCH_SLOT["next_block"]}
  %{tag} = load atomic i64, ptr %{tag}_p monotonic, align 8
  %{tag}_limit = call i64 @blocks_end(ptr %launch)
  %{tag}_left = icmp ult i64 %{tag}, %{tag}_limit
  br i1 %{tag}_left, label %{then}, label %{otherwise}"""


def open_named(start: str) -> str:
    """Open what named barriers can be opened; %opened says whether any barrier was, %whole whether one of all lanes."""
    return f"""%try_named = icmp ne i64 %named, 0
  br i1 %try_named, label %by_name, label %judged
by_name:
  %parts = call i64 @open_named(ptr %ctx, ptr %states, i64 %bytes, i64 %warps, ptr %gathered)
  br label %judged
judged:
  %some = phi i64 [0, %{start}], [%parts, %by_name]
  %opened = or i64 %whole, %some"""


def spend_slice(tag: str, go_on: str) -> str:
    """Count one slice of this call's; after the last the host looks at the clock."""
    return f"""%{tag}slices = load i64, ptr %slices_p
  %{tag}slices1 = sub i64 %{tag}slices, 1
  store i64 %{tag}slices1, ptr %slices_p
  %{tag}pause = icmp sle i64 %{tag}slices1, 0
  br i1 %{tag}pause, label %rest, label %{go_on}"""

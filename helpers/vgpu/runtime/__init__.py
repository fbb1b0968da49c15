"""The code every kernel calls: memory access with checks and counts, atomics, shuffles and the block loop.

It is LLVM IR written once for all kernels, so that it is compiled once a process and kernels stay small. A lane
vector has 32 elements; a mask is an i32 with one bit a lane. Each access function comes twice: `wb_c…` counts,
`wb_p…` (plain) only checks. What the sanitizer adds is in `shadow`: `wb_s…`.
"""

from __future__ import annotations

from helpers.vgpu.runtime import access as runtime_access
from helpers.vgpu.runtime import asynchronous as runtime_asynchronous
from helpers.vgpu.runtime import directed as runtime_directed
from helpers.vgpu.runtime import heap as runtime_heap
from helpers.vgpu.runtime import lanes as runtime_lanes
from helpers.vgpu.runtime import mbarrier as runtime_mbarrier
from helpers.vgpu.runtime import shadow as runtime_shadow
from helpers.vgpu.runtime import tensor as runtime_tensor
from helpers.vgpu.runtime import texture as runtime_texture
from helpers.vgpu.runtime.barriers import BARRIERS
from helpers.vgpu.runtime.driver import DRIVER
from helpers.vgpu.runtime.follow import FOLLOW
from helpers.vgpu.runtime.text import FAIL, V1, V32, V64, context

DECLARATIONS = f"""
declare i32 @llvm.cttz.i32(i32, i1)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.umin.i64(i64, i64)
declare i32 @llvm.umax.i32(i32, i32)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @llvm.vector.reduce.umin.v32i32({V32})
declare i32 @llvm.vector.reduce.umax.v32i32({V32})
declare i64 @llvm.vector.reduce.or.v32i64({V64})
""" + "".join(
    f"declare <32 x i{b}> @llvm.masked.gather.v32i{b}.v32p0(<32 x ptr>, i32, {V1}, <32 x i{b}>)\n"
    f"declare void @llvm.masked.scatter.v32i{b}.v32p0(<32 x i{b}>, <32 x ptr>, i32, {V1})\n"
    for b in (8, 16, 32, 64)
)

# Calls out of a kernel (printf, assert): up to four vectors of arguments are laid in the context's `host_data`.
HOST = f"""
define void @wb_host(ptr %ctx, i64 %code, i32 %mask, {V64} %a, {V64} %b, {V64} %c, {V64} %d) {{
  {context("dp", "host_data")}
  %data = load ptr, ptr %dp
  store {V64} %a, ptr %data, align 64
  %d1 = getelementptr i8, ptr %data, i64 256
  store {V64} %b, ptr %d1, align 64
  %d2 = getelementptr i8, ptr %data, i64 512
  store {V64} %c, ptr %d2, align 64
  %d3 = getelementptr i8, ptr %data, i64 768
  store {V64} %d, ptr %d3, align 64
  {context("hp", "host")}
  %h = load ptr, ptr %hp
  %stop = call i64 %h(ptr %ctx, i64 %code, i32 %mask)
  %bad = icmp ne i64 %stop, 0
  br i1 %bad, label %fail, label %out
fail:
  call void @fail(ptr %ctx, i64 %stop, i64 %code, i32 %mask, {V64} %a)
  br label %out
out:
  ret void
}}

define void @wb_fail(ptr %ctx, i64 %code, i64 %id, i32 %mask) {{
  call void @fail(ptr %ctx, i64 %code, i64 %id, i32 %mask, {V64} zeroinitializer)
  ret void
}}
"""


def source(avx512: bool) -> str:
    """The whole runtime as LLVM IR, for a CPU with or without AVX-512."""
    parts = [runtime_access.source(avx512), runtime_lanes.source(), runtime_mbarrier.loop_source()]
    parts += [runtime_tensor.source(), runtime_texture.source(), runtime_shadow.hooks()]
    return "\n".join([DECLARATIONS, FAIL, DRIVER, BARRIERS, HOST, FOLLOW, runtime_heap.source(), *parts])


def later(function: str) -> str | None:
    """The module of a function that is made only when a kernel calls it, or None."""
    makers = (runtime_tensor, runtime_directed, runtime_lanes, runtime_asynchronous)
    return next((text for maker in makers if (text := maker.later(function))), None)

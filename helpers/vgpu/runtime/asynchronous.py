"""The part of the runtime that is compiled when the first kernel copies asynchronously or uses an mbarrier."""

from __future__ import annotations

from functools import cache

from helpers.vgpu.runtime import async_copy, bulk_copy, mbarrier
from helpers.vgpu.runtime.text import V32, V64

FUNCTIONS = ("wb_copy_", "wb_c_copy", "wb_p_copy", "wb_barrier_", "wb_bulk")
DECLARATIONS = f"""
declare i32 @llvm.cttz.i32(i32, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @fail(ptr, i64, i64, i32, {V64})
declare i64 @site_id(ptr, ptr)
declare i1 @place(ptr, ptr, i64, i64)
declare void @wb_s_landed(ptr, ptr, i32)
declare void @wb_s_arrived(ptr, i64, i64)
declare void @wb_s_bulk(ptr, i64, i64)
""" + "".join(
    f"declare i64 @wb_{letter}_{space}(ptr, ptr, {lanes}, i32, i32, i32)\n"
    for letter in "cp"
    for space, lanes in (("global", V64), ("shared", V32))
)


def later(function: str) -> str | None:
    """The LLVM IR that has a function of this part, or None if it is no such function."""
    return _source() if function.startswith(FUNCTIONS) else None


@cache
def _source() -> str:
    return DECLARATIONS + async_copy.source() + mbarrier.source() + bulk_copy.source()

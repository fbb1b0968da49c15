"""The code every kernel calls: memory access with checks and counts, atomics, shuffles and the block loop.

It is LLVM IR written once for all kernels, so that it is compiled once a process and kernels stay small. A lane
vector has 32 elements; a mask is an i32 with one bit a lane. Each access function comes twice: `wb_c…` counts,
`wb_p…` (plain) only checks. What the sanitizer adds is in `shadow`: `wb_s…`.
"""

from __future__ import annotations

from vgpu.runtime import (
    access,
    async_copy,
    barriers,
    bulk_copy,
    bulk_moves,
    bulk_queue,
    cluster,
    directed,
    driver,
    follow,
    heap,
    host,
    lanes,
    mbarrier,
    places,
    replay,
    shadow,
    tensor,
    tensor_memory,
    texture,
    umma,
    warpgroup,
)


def source(vectors: str) -> str:
    """The whole runtime as LLVM IR; `demand` takes from it what a kernel calls.

    vectors: what the CPU has of "avx512", "avx2" and "".
    """
    parts = (
        driver, places, barriers, replay, host, follow, heap, tensor, warpgroup, texture, async_copy, mbarrier, cluster,
        tensor_memory,
    )  # fmt: skip
    written = [access.source(vectors == "avx512"), shadow.hooks(), lanes.source(vectors)]
    return "\n".join([*written, *(part.source() for part in (*parts, bulk_copy, bulk_moves, bulk_queue))])


def later(function: str, vectors: str) -> str | None:
    """The module of a function that is made only when a kernel calls it, or None; `vectors` as for `source`."""
    found = tensor.later(function) or warpgroup.later(function, vectors) or umma.later(function)
    return found or directed.later(function, vectors)

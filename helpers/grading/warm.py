"""What the process that runs kernels does once before it is forked: it runs one of each language, in every way.

The kernels are PTX, as students' are by then: so this process needs none of NVIDIA's compilers, and stays small.
"""

from __future__ import annotations

import numpy as np

from helpers.checking.evidence import replay_as_json, replayed_as_json
from helpers.checking.exercise import Case, Out
from helpers.checking.kernel_as_json import Portable
from helpers.checking.trial import Blank, Here, Trial

THREADS = 64
PTX = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry warm(PARAMETERS)
{
    .shared .align 4 .b8 tile[256];
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [OUT];
    ld.param.u64 %rd2, [IN];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd2, %rd2, %rd3;
    add.s64 %rd1, %rd1, %rd3;
    ld.global.f32 %f1, [%rd2];
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, tile;
    add.s32 %r4, %r3, %r2;
    st.shared.f32 [%r4], %f1;
    bar.sync 0;
    xor.b32 %r5, %r2, 4;
    add.s32 %r5, %r5, %r3;
    ld.shared.f32 %f2, [%r5];
    setp.lt.u32 %p, %r1, 64;
    mov.b32 %r6, %f2;
    shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1;
    @%p st.global.b32 [%rd1], %r7;
    ret;
}
"""
C_PARAMETERS = ".param .u64 p0, .param .u64 p1"
NUMBA_PARAMETERS = ", ".join(f".param .u64 p{number}" for number in range(14))  # an array's data is the fifth of seven
KERNELS = (
    Portable("warm", "warm", PTX.replace("PARAMETERS", C_PARAMETERS).replace("OUT", "p0").replace("IN", "p1"), "cuda",
             'extern "C" __global__ void warm(float* y, const float* x) {}', 1, variables={}),
    Portable("warm", "warm", PTX.replace("PARAMETERS", NUMBA_PARAMETERS).replace("OUT", "p4").replace("IN", "p11"),
             "numba", "", 1, types=["float32[1C]", "float32[1C]"], variables={}),
)  # fmt: skip


def runner() -> None:
    """Run both kernels, counted, followed and under the sanitizer; and a program of stream work."""
    x = np.arange(THREADS, dtype=np.float32)
    for kernel in KERNELS:
        for follow in (None, (0, 0)):
            seen = Here(kernel).run(Trial((Blank(x.dtype, x.shape), x), (1,), (THREADS,), True, follow))
            if seen.output is None or not np.array_equal(seen.output, x) or seen.findings:
                raise RuntimeError(f"a kernel that is right does not run: {seen}")
    nothing: dict[str, list] = {"buffers": [], "kernels": [], "queues": [], "graphs": [], "steps": []}
    replayed_as_json(replay_as_json(nothing, Case("warm", (x, Out(x)))))

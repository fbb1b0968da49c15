"""An unwritten read is a mistake where its value matters, not where a compiler read ahead and dropped what it got."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.standins import cupy as cp
from vgpu.tools.sanitize import sanitize

HEAD = r"""
#define SHARED(x, p) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "l"(__cvta_generic_to_shared(p)) : "memory")
#define LOCAL(x, p) asm volatile("ld.local.u32 %0, [%1];" : "=r"(x) : "l"(__cvta_generic_to_local(p)) : "memory")
#define KEEP(p) asm volatile("st.local.u32 [%0], %1;" :: "l"(__cvta_generic_to_local(p)), "r"(t) : "memory")
#define PAIR(x, y, p) asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) \
    : "l"(__cvta_generic_to_shared(p)) : "memory")
#define PICK(d, x, y, c) asm volatile("{.reg .pred p; setp.ne.s32 p, %3, 0; selp.b32 %0, %1, %2, p;}" \
    : "=r"(d) : "r"(x), "r"(y), "r"(c))
#define BOTH(d, x, c) asm volatile("{.reg .pred p, q; setp.ne.s32 p, %2, 0; setp.gt.s32 q, %1, 3; and.pred p, p, q;" \
    "@p bra one; mov.u32 %0, 2; bra end; one: mov.u32 %0, 1; end: }" : "=r"(d) : "r"(x), "r"(c))
#define BOTH_AT_ONCE(d, x, c) asm volatile("{.reg .pred p, q; setp.gt.s32 q, %1, 3; setp.ne.and.s32 p, %2, 0, q;" \
    "@p bra one; mov.u32 %0, 2; bra end; one: mov.u32 %0, 1; end: }" : "=r"(d) : "r"(x), "r"(c))
__device__ __noinline__ int deep(int n, int x) { return n == 0 ? x : deep(n - 1, x) + 1; }
"""
RIGHT = {
    "dropped by a choice": "LOCAL(x, a + 1); PICK(x, x, 7, n); out[t] = x;",
    "dropped after arithmetic": "SHARED(x, s + 1); x = x * 3 + t; PICK(x, x, 7, n); out[t] = x;",
    "wanted in a branch that nobody takes": "LOCAL(x, a + 1); if (n) out[t] = x;",
    "never wanted": "SHARED(x, s + 1); LOCAL(y, a + 1); out[t] = 1;",
    "one of two elements": "s[2 * t] = t; __syncwarp(); PAIR(x, y, s + 2 * t); out[t] = x;",
    "beside a condition that does not hold": "LOCAL(x, a + 1); BOTH(y, x, n); out[t] = y;",
    "beside a condition in one instruction": "LOCAL(x, a + 1); BOTH_AT_ONCE(y, x, n); out[t] = y;",
    "bits that a mask drops": 'SHARED(x, s + 1); asm volatile("and.b32 %0, %0, %1;" : "+r"(x) : "r"(n)); out[t] = x;',
    "copied with its neighbours": "KEEP(a); LOCAL(x, a); LOCAL(y, a + 1); a[2] = x; a[3] = y; LOCAL(x, a + 2);"
    "out[t] = x;",
    "overwritten in time": "LOCAL(x, a + 1); __syncthreads(); if (!n) x = t; out[t] = x;",
    "of global memory, dropped": 'float f = fresh[t]; asm volatile("" : "+f"(f)); if (n) real[t] = f;',
}
WRONG = {
    "stored": "LOCAL(x, a + 1); out[t] = x;",
    "stored after arithmetic": "SHARED(x, s + 1); out[t] = x * 3 + 1;",
    "a choice that takes it": "LOCAL(x, a + 1); PICK(x, 7, x, n); out[t] = x;",
    "a choice made by it": "LOCAL(x, a + 1); PICK(x, 7, 8, x); out[t] = x;",
    "a branch": "LOCAL(x, a + 1); if (x > 3) out[t] = 1;",
    "a branch on two conditions": "LOCAL(x, a + 1); BOTH(y, x, n + 1); out[t] = y;",
    "a branch on two conditions in one instruction": "LOCAL(x, a + 1); BOTH_AT_ONCE(y, x, n + 1); out[t] = y;",
    "bits that a mask keeps": "SHARED(x, s + 1); out[t] = x & 1;",
    "an address": "LOCAL(x, a + 1); out[x & 31] = 1;",
    "the other of two elements": "s[2 * t] = t; __syncwarp(); PAIR(x, y, s + 2 * t); out[t] = y;",
    "across a barrier": "LOCAL(x, a + 1); __syncthreads(); out[t] = x;",
    "round a loop": "LOCAL(x, a + 1); y = 0; for (int i = 0; i <= t; i++) { int z = y; y = x; x = z; } out[t] = x + y;",
    "sent to others": "SHARED(x, s + 1); out[t] = __shfl_xor_sync(~0u, x, 1);",
    "given to an atomic": "LOCAL(x, a + 1); atomicAdd(out, x);",
    "given to a function that calls itself": "LOCAL(x, a + 1); out[t] = deep(t & 3, x);",
    "printed": 'LOCAL(x, a + 1); printf("%d", x);',
    "copied, and then used": "LOCAL(x, a + 1); KEEP(a + 2); a[2] = x; LOCAL(y, a + 2); out[t] = y;",
    "of global memory": "float f = fresh[t]; real[t] = f * 2;",
}


def module():
    kernels = []
    for number, body in enumerate((*RIGHT.values(), *WRONG.values())):
        kernels.append(f"""extern "C" __global__ void k{number}(int* out, float* real, const float* fresh, int n) {{
            __shared__ int s[64]; int a[8], t = threadIdx.x, x, y; (void)x; (void)y; (void)a; (void)s;
            {body}
        }}""")
    return cp.RawModule(code=HEAD + "\n".join(kernels))


@pytest.fixture(scope="module")
def kernels():
    made = module()
    return {name: made.get_function(f"k{number}") for number, name in enumerate((*RIGHT, *WRONG))}


def findings(kernel):
    # A NaN of ones in memory is what nobody has written.
    return sanitize(
        kernel, 1, 32, (cp.zeros(64, np.int32), cp.zeros(64, np.float32), cp.empty(64, np.float32), np.int32(0))
    )


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_read_ahead_and_dropped_is_no_mistake(kernels, name):
    found = findings(kernels[name])
    assert not list(found), repr(found)


@pytest.mark.parametrize("name", WRONG)
def test_what_matters_is_told_with_the_line_of_the_read(kernels, name):
    found = list(findings(kernels[name]))
    assert [f.kind for f in found] == ["uninitialised"], repr(found)
    assert found[0].line == kernel_line(name)


def kernel_line(name: str) -> int:
    return HEAD.count("\n") + 4 * [*RIGHT, *WRONG].index(name) + 3

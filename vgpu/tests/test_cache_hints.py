"""Advice for caches changes nothing: loads, stores and atomics that carry it, and instructions that are only that."""

import numpy as np
import pytest

POLICIES = [
    "createpolicy.fractional.L2::evict_last.b64 %0, 1.0;",
    "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %0, 0.5;",
    "createpolicy.cvt.L2.b64 %0, 0x10F0000000000000;",
]
LOADS = [
    "ld.global.nc.f32", "ld.global.nc.L2::64B.f32", "ld.global.nc.L2::128B.f32", "ld.global.L2::256B.f32",
    "ld.global.nc.L1::no_allocate.L2::64B.f32", "ld.global.L1::evict_last.f32", "ld.global.L1::evict_first.f32",
    "ld.global.nc.L1::evict_unchanged.f32", "ld.relaxed.gpu.global.L1::no_allocate.f32", "ld.global.ca.f32",
    "ld.global.cg.f32", "ld.global.cs.f32", "ld.global.lu.f32", "ld.global.cv.f32", "ld.volatile.global.f32",
]  # fmt: skip
ADVICE = [
    "prefetch.global.L1 [%0];", "prefetch.global.L2 [%0];", "prefetch.L2 [%0];",
    "prefetch.global.L2::evict_last [%0];", "prefetchu.L1 [%0];", "applypriority.global.L2::evict_normal [%0], 128;",
    "cp.async.bulk.prefetch.L2.global [%0], 128;",
]  # fmt: skip


def run(engine, body, **options):
    """What a kernel of 32 threads makes of x (0 … 127) with `body`, which may use the index i."""
    source = f'extern "C" __global__ void k(float* x) {{ int i = threadIdx.x; {body} }}'
    x = np.arange(128, dtype=np.float32)
    engine.c(source, "k", arch="compute_90", **options)(1, 32, x)
    return x


@pytest.mark.parametrize("load", LOADS)
def test_loads_with_hints(engine, load):
    x = run(engine, f'float t; asm volatile("{load} %0, [%1];" : "=f"(t) : "l"(x + i)); x[i + 32] = 2 * t;')
    np.testing.assert_array_equal(x[32:64], 2 * np.arange(32))


@pytest.mark.parametrize("call", ["__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv"])
def test_loads_by_cuda_names(engine, call):
    x = run(engine, f"float4 v = {call}((const float4*)x + i % 8); x[i + 64] = v.x + v.y + v.z + v.w;")
    np.testing.assert_array_equal(x[64:96], 16 * (np.arange(32) % 8) + 6)


@pytest.mark.parametrize("call", ["__stwb", "__stcg", "__stcs", "__stwt"])
def test_stores_by_cuda_names(engine, call):
    x = run(engine, f"{call}(x + 64 + i, (float)(i * i));")
    np.testing.assert_array_equal(x[64:96], np.arange(32) ** 2)


@pytest.mark.parametrize("policy", POLICIES)
def test_accesses_that_carry_a_policy(engine, policy):
    x = run(
        engine,
        f"""unsigned long long p; float4 v; float t;
        asm volatile("{policy}" : "=l"(p));
        asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.f32 {{%0,%1,%2,%3}}, [%4], %5;"
            : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(x + 4 * (i % 8)), "l"(p));
        asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" :: "l"(x + 32 + i), "f"(v.w), "l"(p));
        asm volatile("atom.global.add.L2::cache_hint.f32 %0, [%1], %2, %3;"
            : "=f"(t) : "l"(x + 32 + i), "f"(v.x), "l"(p) : "memory");
        asm volatile("red.global.add.L2::cache_hint.f32 [%0], %1, %2;"
            :: "l"(x + 64 + i), "f"(t), "l"(p) : "memory");""",
    )
    first = 4 * (np.arange(32) % 8)
    np.testing.assert_array_equal(x[32:64], first + 3 + first)
    np.testing.assert_array_equal(x[64:96], 64 + np.arange(32) + first + 3)


@pytest.mark.parametrize("advice", ADVICE)
def test_advice_alone_changes_nothing_and_keeps_the_address(engine, advice):
    """In a loop: an address that an instruction only looks at must outlive it."""
    x = run(
        engine,
        f"""float* p = x + i; float s = 0;
        for (int n = 0; n < (int)x[3]; n++) {{ asm volatile("{advice}" :: "l"(x)); s += p[32 * n]; }}
        x[i + 96] = s;""",
    )
    np.testing.assert_array_equal(x[96:], 3 * np.arange(32) + 96)

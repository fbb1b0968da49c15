"""Nothing that a kernel can read tells one run of it from another: plain, counted, followed, watched or interpreted."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu import cp, reference
from vgpu.base.errors import Unsupported
from vgpu.base.schedule import scheduled
from vgpu.launch.launch import launch
from vgpu.tools.sanitize import sanitize

GRID, BLOCK, DYNAMIC = 5, 48, 40
WIDE = ("gridid", "clock64", "globaltimer")
NARROW = (
    "clock", "clock_hi", "globaltimer_lo", "globaltimer_hi", "smid", "nsmid", "warpid", "nwarpid", "envreg1", "envreg2",
    "dynamic_smem_size", "total_smem_size",
)  # fmt: skip
CLOCK = 'asm volatile("mov.u64 %0, %%clock64;" : "=l"(v));'
# What a kernel can ask for, and how: `v` is the answer.
ASKED = {
    **{name: f'asm volatile("mov.u64 %0, %%{name};" : "=l"(v));' for name in WIDE},
    **{
        name: f'asm volatile("{{ .reg .u32 t; mov.u32 t, %%{name}; cvt.u64.u32 %0, t; }}" : "=l"(v));'
        for name in NARROW
    },
    "a clock in an arm that some take": "if (i % 3) " + CLOCK,
    "a clock after what nobody executes": "if (i > 99) " + CLOCK + CLOCK,
    "a register that nobody wrote": 'asm volatile("{ .reg .u64 t; mov.u64 %0, t; }" : "=l"(v));',
    "one that comes round": """asm volatile("{ .reg .u64 t; .reg .pred p; .reg .u32 n; mov.u32 n, 0;\\n"
        "again: add.u64 t, t, 7; add.u32 n, n, 1; setp.lt.u32 p, n, 3; @p bra again; mov.u64 %0, t; }" : "=l"(v));""",
    "shared memory": "v = whole[i];",
    "dynamic shared memory": "v = more[i % 10];",
    "local memory": 'asm volatile("{ .local .align 8 .b64 t[4]; ld.local.u64 %0, [t+8]; st.local.u64 [t+8], %1; }" '
    ': "=l"(v) : "l"(v));',
    "what lies in front of the local memory in use": """long long mine[3]; mine[i % 3] = i;
        v = ((volatile long long*)mine)[(i + 1) % 3];""",
    "a lane beyond the block": "v = __shfl_sync(0xffffffff, i + 1, 31 - i % 2);",
    "printf": 'v = printf(i % 2 ? "" : "%d %d", i, i);',
    "malloc": "void* p = malloc(i == 7 ? 1ull << 40 : 64); v = p != 0; free(p);",
    "where shared memory begins": "v = (unsigned long long)whole % 1024;",
    "where arrays begin": "v = (unsigned long long)out % 256;",
}
CLOCKS = [at for at, name in enumerate(ASKED) if "clock" in name or "timer" in name]
KERNEL = f"""
extern "C" __global__ void ask(unsigned long long* out) {{
    __shared__ __align__(1024) unsigned int whole[64];
    extern __shared__ unsigned int more[];
    int i = threadIdx.x;
    unsigned long long v;
    {
    "".join(
        f"{{ v = 5; {code} out[(blockIdx.x * {BLOCK} + i) * {len(ASKED)} + {at}] = v; }}"
        for at, code in enumerate(ASKED.values())
    )
}
    __syncthreads();
    whole[i] = more[i % 10] = 3;
}}
"""


@pytest.fixture(scope="module")
def kernel():
    return cp.RawKernel(KERNEL, "ask")


def launched(kernel, **how) -> np.ndarray:
    out = cp.zeros((GRID * BLOCK, len(ASKED)), "uint64")
    prepared = kernel.prepare((out,), grid=GRID, block=BLOCK)
    launch(prepared.kernel, GRID, BLOCK, prepared.params, prepared.arrays, DYNAMIC, **how)
    return out.get()


@pytest.fixture(scope="module")
def plain(kernel):
    return launched(kernel, threads=1)


def same(found: np.ndarray, plain: np.ndarray, but=()) -> None:
    told = {name for at, name in enumerate(ASKED) if at not in but and (found[:, at] != plain[:, at]).any()}
    assert not told


@pytest.mark.parametrize(
    "how", [{"threads": 3}, {"observe": True}, {"observe": True, "watched": (2, 1)}, {"observe": True, "threads": 4}]
)
def test_compiled_code_of_every_kind_reads_the_same(kernel, plain, how, capsys):
    same(launched(kernel, **how), plain)


def test_a_random_schedule_changes_clocks_alone(kernel, plain, capsys):
    """Lanes that are parted read a clock one after the other."""
    with scheduled("random", seed=5):
        same(launched(kernel), plain, CLOCKS)


def test_the_sanitizer_shows_the_kernel_what_it_sees_elsewhere(kernel, plain, capsys):
    out = cp.zeros((GRID * BLOCK, len(ASKED)), "uint64")
    sanitize(kernel, GRID, BLOCK, (out,), shared_bytes=DYNAMIC)
    same(out.get(), plain)


def test_the_interpreter_reads_the_same(kernel, plain):
    out = cp.zeros((GRID * BLOCK, len(ASKED)), "uint64")
    prepared = kernel.prepare((out,), grid=GRID, block=BLOCK)
    reference.run(prepared.kernel, None, GRID, BLOCK, prepared.params, shared_bytes=DYNAMIC, output=lambda text: None)
    same(out.get(), plain)


@pytest.mark.parametrize("name", ["envreg3", "pm0", "aggr_smem_size", "reserved_smem_cap", "current_graph_exec"])
def test_what_has_no_one_answer_is_refused(name):
    kind, letter, wide = ("u64", "l", "long long") if name == "current_graph_exec" else ("u32", "r", "int")
    code = f'asm volatile("mov.{kind} %0, %%{name};" : "={letter}"(v));'
    source = f'extern "C" __global__ void k(unsigned long long* out) {{ unsigned {wide} v; {code} *out = v; }}'
    with pytest.raises(Unsupported, match=name):
        cp.RawKernel(source, "k")((1,), (1,), (cp.zeros(1, "uint64"),))

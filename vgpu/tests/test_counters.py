"""Counters against values worked out by hand; the corpus holds those of its kernels against a naive count."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from vgpu import reference
from vgpu.compile import cuda_c_to_ptx
from vgpu.launch import launch
from vgpu.standins import numba_cuda as cuda
from vgpu.storage import memory

SECTOR = 32


def array(n, dtype=np.float32) -> np.ndarray:
    """Device memory, so that a test knows where an array begins."""
    data = memory.array(n, dtype)
    data[:] = 0
    return data


def copy_kernel(engine, kind="float"):
    return engine.c(f"""
        extern "C" __global__ void copy(const {kind}* in, {kind}* out, int stride, int offset) {{
            int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride + offset;
            out[i] = in[i];
        }}""")


# (element type, NumPy type, stride, offset, sectors one warp's request moves)
COPIES = [
    ("float", "f4", 1, 0, 4), ("float", "f4", 2, 0, 8), ("float", "f4", 4, 0, 16), ("float", "f4", 8, 0, 32),
    ("float", "f4", 32, 0, 32), ("float", "f4", 1, 1, 5), ("float", "f4", 1, 7, 5), ("float", "f4", 1, 8, 4),
    ("float", "f4", 0, 0, 1), ("float", "f4", 0, 5, 1), ("double", "f8", 1, 0, 8), ("double", "f8", 1, 1, 9),
    ("short", "i2", 1, 0, 2), ("short", "i2", 1, 1, 3), ("char", "i1", 1, 0, 1), ("char", "i1", 1, 31, 2),
    ("char", "i1", 32, 0, 32), ("long long", "i8", 3, 0, 24),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "dtype", "stride", "offset", "sectors"), COPIES)
def test_sectors_of_a_strided_copy(compiled, kind, dtype, stride, offset, sectors):
    size = 64 * max(stride, 1) + offset + 1
    data, out = array(size, dtype), array(size, dtype)
    counters = copy_kernel(compiled, kind)(1, 32, data, out, stride, offset, observe=True)
    nbytes = np.dtype(dtype).itemsize
    assert counters["global_load_requests"] == counters["global_store_requests"] == 1
    assert counters["global_load_sectors"] == counters["global_store_sectors"] == sectors
    assert counters["global_load_bytes"] == counters["global_store_bytes"] == 32 * nbytes


def test_an_access_to_several_spaces_is_a_request_to_each(compiled):
    """And what a site moved in shared memory hides none of its bytes in global memory."""
    kernel = compiled.c("""extern "C" __global__ void k(const float* in, float* out, float* scratch) {
        __shared__ float s[32];
        int i = threadIdx.x;
        volatile float local[2];
        local[i % 2] = i;
        local[0] = s[i] = i;
        volatile const float* from = i < 8 ? in + i : i < 20 ? s + i : local;
        out[i] = *from;
        volatile float* to = s + i;
        #pragma unroll 1
        for (int k = 0; k < 2; ++k) {
            *to = 1;
            to = scratch + i;
        }
    }""")
    found = kernel(1, 32, array(32), array(32), array(32), observe=True)
    assert (found["global_load_requests"], found["global_load_sectors"], found["global_load_bytes"]) == (1, 1, 32)
    assert (found["shared_load_requests"], found["local_load_requests"]) == (1, 1)
    assert (found["global_store_requests"], found["global_store_bytes"]) == (2, 256)
    assert found["shared_store_requests"] == 2


@pytest.mark.parametrize(("kind", "sectors"), [("float2", 8), ("float4", 16), ("double2", 16), ("uchar4", 4)])
def test_sectors_of_vector_accesses(compiled, kind, sectors):
    data, out = array(32 * 16, np.uint8), array(32 * 16, np.uint8)
    counters = copy_kernel(compiled, kind)(1, 32, data, out, 1, 0, observe=True)
    width = {"float2": 8, "float4": 16, "double2": 16, "uchar4": 4}[kind]
    assert counters["global_load_requests"] == 1
    assert counters["global_load_sectors"] == counters["global_store_sectors"] == sectors
    assert counters["global_load_bytes"] == 32 * width


def test_requests_count_warps_and_partial_warps(compiled):
    data, out = array(200), array(200)
    counters = copy_kernel(compiled)(2, 80, data, out, 1, 0, observe=True)
    # Two blocks of 2½ warps: the second block begins at byte 320, a multiple of 32, and half warps move 2 sectors.
    assert counters["global_load_requests"] == 6
    assert counters["global_load_sectors"] == 2 * (4 + 4 + 2)
    assert counters["global_load_bytes"] == 160 * 4
    assert counters.warps == 6


def test_lanes_that_do_nothing_move_nothing(compiled):
    kernel = compiled.c("""
        extern "C" __global__ void some(const float* in, float* out, int n) {
            int i = threadIdx.x;
            if (i < n) out[i] = in[i];
        }""")
    data, out = array(64), array(64)
    for n, sectors in ((0, 0), (1, 1), (8, 1), (9, 2), (32, 4), (33, 5)):
        counters = kernel(1, 64, data, out, n, observe=True)
        assert counters["global_load_requests"] == -(-n // 32)
        assert counters["global_load_sectors"] == sectors
        assert counters["global_store_bytes"] == 4 * n


def test_footprint_is_what_is_touched_at_least_once(compiled):
    kernel = compiled.c("""
        extern "C" __global__ void three(const float* in, float* out) {
            int i = threadIdx.x;
            out[i] = in[i] + in[i + 1] + in[i + 2];
        }""")
    data, out = array(100), array(100)
    counters = kernel(1, 64, data, out, observe=True)
    assert counters.footprint.read_bytes == 9 * SECTOR, "66 floats lie in 9 sectors, however often they are read"
    assert counters.footprint.written_bytes == 8 * SECTOR


# ---------------------------------------------------------------- shared memory


def shared_kernel(engine, kind: str, index: str, words: int):
    return engine.c(f"""
        extern "C" __global__ void touch(float* out, int zero) {{
            __shared__ {kind} s[{words}];
            int i = threadIdx.x;
            s[i] = {kind}();
            __syncthreads();
            {kind} v = s[{index}];
            if (zero) *({kind}*)out = v;
        }}""")


# (type, index, wavefronts of one warp's load): bank conflicts, broadcasts, and the phases of wide accesses
PATTERNS = [
    ("float", "i", 1), ("float", "i * 2", 2), ("float", "i * 3", 1), ("float", "i * 4", 4), ("float", "i * 8", 8),
    ("float", "i * 16", 16), ("float", "i * 32", 32), ("float", "i * 33", 1), ("float", "0", 1), ("float", "i / 2", 1),
    ("float", "31 - i", 1), ("float", "i % 4 * 32", 4), ("double", "i", 2), ("double", "i * 2", 4), ("double", "0", 2),
    ("float4", "i", 4), ("float4", "i * 2", 8), ("char", "i", 1), ("char", "i * 4", 1), ("char", "i * 128", 32),
    ("short", "i * 2", 1), ("short", "i * 4", 2),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "index", "wavefronts"), PATTERNS)
def test_wavefronts_follow_the_banks(compiled, kind, index, wavefronts):
    words = {"float4": 1024, "char": 4096}.get(kind, 2048)
    counters = shared_kernel(compiled, kind, index, words)(1, 32, array(32), 1, observe=True)
    assert counters["shared_load_requests"] == 1
    assert counters["shared_load_wavefronts"] == wavefronts


@pytest.mark.parametrize(("padding", "wavefronts"), [(0, 32), (1, 1), (2, 2), (4, 4), (16, 16)])
def test_transpose_reads_columns_of_the_tile(compiled, padding, wavefronts):
    kernel = compiled.c(f"""
        extern "C" __global__ void transpose(const float* in, float* out) {{
            __shared__ float tile[32][32 + {padding}];
            for (int j = threadIdx.y; j < 32; j += blockDim.y)
                tile[j][threadIdx.x] = in[j * 32 + threadIdx.x];
            __syncthreads();
            for (int j = threadIdx.y; j < 32; j += blockDim.y)
                out[j * 32 + threadIdx.x] = tile[threadIdx.x][j];
        }}""")
    data, out = array(1024), array(1024)
    data[:] = np.arange(1024)
    counters = kernel(1, (32, 8), data, out, observe=True)
    np.testing.assert_array_equal(out.reshape(32, 32), data.reshape(32, 32).T)
    assert counters["shared_store_requests"] == counters["shared_load_requests"] == 32
    assert counters["shared_store_wavefronts"] == 32
    assert counters["shared_load_wavefronts"] == 32 * wavefronts
    assert counters["shared_load_conflicts"] == 32 * (wavefronts - 1)
    assert counters["global_load_sectors"] == counters["global_store_sectors"] == 32 * 4
    assert counters["barriers"] == 8, "one for each warp"


def test_atomics_are_counted_where_they_go(compiled):
    kernel = compiled.c("""
        extern "C" __global__ void count(int* total, int* apart) {
            __shared__ int s[32];
            s[threadIdx.x % 32] = 0;
            __syncthreads();
            atomicAdd(&s[0], 1);
            atomicAdd(&s[threadIdx.x % 32], 1);
            atomicAdd(&apart[threadIdx.x], 1);
            __syncthreads();
            if (threadIdx.x == 0) atomicAdd(total, s[0]);
        }""")
    total, apart = array(1, np.int32), array(64, np.int32)
    counters = kernel(1, 64, total, apart, observe=True)
    assert total[0] == 64 + 2
    assert counters["shared_atomic_requests"] == 4
    assert counters["global_atomic_requests"] == 2 + 1
    assert counters["global_atomic_sectors"] == 2 * 4 + 1
    assert counters["global_load_requests"] == counters["global_store_requests"] == 0


def test_constant_and_local_accesses_are_kept_apart(compiled):
    kernel = compiled.c("""
        __constant__ float table[64];
        extern "C" __global__ void use(const int* pick, float* out) {
            float mine[16];
            for (int k = 0; k < 16; ++k) mine[(k * 5 + pick[0]) % 16] = k;
            out[threadIdx.x] = mine[pick[threadIdx.x] & 15] + table[pick[threadIdx.x]];
        }""")
    counters = kernel(1, 32, array(32, np.int32), array(32), observe=True)
    assert counters["constant_load_requests"] == 1
    assert counters["local_store_requests"] == 16
    assert counters["local_load_requests"] == 1
    # Local memory is interleaved by thread, so that a warp's word of one index is 128 bytes in a row.
    assert counters["local_load_sectors"] == 4
    assert counters["global_store_requests"] == 1


# ---------------------------------------------------------------- control flow and arithmetic


def test_divergence_and_active_lanes(compiled):
    kernel = compiled.c("""
        extern "C" __global__ void split(int* out, int limit) {
            int v = threadIdx.x;
            if (v < limit) { for (int k = 0; k < 20; ++k) v = v * v + out[k]; }
            else { for (int k = 0; k < 20; ++k) v = v * 3 - out[k]; }
            out[100 + threadIdx.x] = v;
        }""")

    def run(limit):
        return kernel(1, 32, array(200, np.int32), limit, observe=True)

    together, apart = run(32), run(16)
    assert together["divergent_branches"] == 0
    assert apart["divergent_branches"] == 1
    assert apart["instructions"] > together["instructions"], "both sides are executed, one after the other"
    assert together["thread_instructions"] == 32 * together["instructions"]
    assert apart["thread_instructions"] < 32 * apart["instructions"]


def test_floating_point_operations_are_counted_per_thread(compiled):
    kernel = compiled.c("""
        #include <cuda_fp16.h>
        extern "C" __global__ void work(float* f, double* d, __half2* h) {
            int i = threadIdx.x;
            if (i < 20) f[i] = fmaf(f[i], f[i + 1], f[i]) * 3.0f;
            d[i] = d[i] + 1.5;
            h[i] = __hfma2(h[i], h[i], h[i]);
        }""")
    counters = kernel(1, 32, array(64), array(64, np.float64), array(64, np.uint32), observe=True)
    assert counters["flops_fp32"] == 20 * 3
    assert counters["flops_fp64"] == 32
    assert counters["flops_fp16"] == 32 * 4, "two halves, two operations each"


def test_counts_belong_to_the_line_that_caused_them(compiled):
    source = """__device__ float twice(float v) { return v + v; }
extern "C" __global__ void lines(const float* a, const float* b, float* out) {
    int i = threadIdx.x;
    float x = a[i * 2];
    float y = b[i];
    x = twice(x);
    out[i] = x * y;
}"""
    counters = compiled.c(source)(1, 64, array(200), array(200), array(200), observe=True)
    by_line = {line: dict(counts) for line, counts in counters.lines.items()}
    assert by_line[4]["global_load_requests"] == 2 and by_line[4]["global_load_sectors"] == 16
    assert by_line[5]["global_load_sectors"] == 8
    assert by_line[1]["flops_fp32"] == 64, "the addition stands on line 1, although it was inlined"
    assert by_line[7]["global_store_sectors"] == 8 and by_line[7]["flops_fp32"] == 64
    assert all(all(counts.values()) for counts in by_line.values()), "counts of 0 are left out"
    for key in counters.total:
        assert sum(counts.get(key, 0) for counts in by_line.values()) == counters[key], key


def test_code_from_headers_belongs_to_the_line_that_uses_it(compiled):
    source = """#include <cuda_fp16.h>
extern "C" __global__ void lines(const __half* a, float* out) {
    int i = threadIdx.x;
    __half x = a[i];
    x = __hadd(x, x);
    out[i] = __half2float(x);
}"""
    counters = compiled.c(source)(1, 32, array(64, np.float16), array(64), observe=True)
    assert set(counters.lines) <= set(range(2, 8))
    assert counters.lines[5]["flops_fp16"] == 32
    assert counters.lines[4]["global_load_sectors"] == 2


@pytest.mark.filterwarnings("ignore:Host array used in CUDA kernel")
def test_python_lines_are_the_users(compiled):
    def lines(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i * 2]

    first = lines.__code__.co_firstlineno
    counters = compiled.py(lines)(2, 64, array(256), array(128), observe=True)
    store = counters.lines[first + 3]
    assert store["global_load_requests"] == 4 and store["global_load_sectors"] == 4 * 8
    assert store["global_store_sectors"] == 4 * 4
    assert set(counters.lines) <= {first, first + 1, first + 2, first + 3}


# ---------------------------------------------------------------- the same counts in every run

BUSY = """
    extern "C" __global__ void busy(const float* in, const int* pick, float* out, int* bins, int n) {
        __shared__ float tile[3][40];
        __shared__ double wide[64];
        int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
        float v = 0;
        for (int k = 0; k < pick[i % n] % 7; ++k) {
            v += in[(i * (k + 1) + pick[i % n]) % n];
            if (v > 3) { v -= in[k]; continue; }
            tile[k % 3][(t * 5 + k) % 40] = v;
        }
        wide[(t * 3) % 64] = v;
        __syncthreads();
        v += tile[t % 3][t % 40] + wide[63 - t % 64];
        atomicAdd(&bins[pick[i % n] % 16], 1);
        if (i < n) out[i] = v;
    }"""


def busy_arguments():
    random = np.random.default_rng(4)
    data, out = array(150), array(200)
    pick, bins = array(150, np.int32), array(16, np.int32)
    data[:], pick[:] = random.random(150), random.integers(0, 100, 150)
    return data, pick, out, bins, 150


def test_counts_do_not_depend_on_the_threads(compiled):
    kernel = compiled.c(BUSY)
    one, many = (kernel(7, 96, *busy_arguments(), observe=True, threads=n) for n in (1, 5))
    assert one.total == many.total
    assert {line: dict(c) for line, c in one.lines.items()} == {line: dict(c) for line, c in many.lines.items()}
    assert one.footprint == many.footprint


def test_observing_changes_no_result(compiled):
    kernel, plain, watched = compiled.c(BUSY), busy_arguments(), busy_arguments()
    assert kernel(3, 72, *plain) is None
    kernel(3, 72, *watched, observe=True)
    np.testing.assert_array_equal(plain[3], watched[3])


def test_counters_answer_to_both_names_and_know_their_neighbours(compiled):
    counters = copy_kernel(compiled)(1, 32, array(64), array(64), 1, 0, observe=True)
    assert counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == counters["global_load_sectors"] == 4
    with pytest.raises(KeyError, match="global_load_sectors"):
        counters["global_load_sector"]


REWRITTEN = {
    "a barrier that reduces": "x[threadIdx.x] = __syncthreads_count(x[threadIdx.x] > 3);",
    "a guarded return": (
        'asm volatile("{.reg .pred p; setp.gt.s32 p, %0, 20; @p ret;}" :: "r"(threadIdx.x)); x[threadIdx.x] = 7;'
    ),
    "a call that stays a call": "x[threadIdx.x] = squared(x[threadIdx.x]);",
}


@pytest.mark.parametrize("body", REWRITTEN.values(), ids=REWRITTEN)
def test_instructions_that_the_compiler_rewrites_count_once(body):
    text = f"""__device__ __noinline__ int squared(int a) {{ return a * a + 1; }}
extern "C" __global__ void k(int* x) {{ {body} }}"""
    kernel = launch.load(cuda_c_to_ptx(text).ptx, language="cuda")["k"]
    x = memory.array(32, np.int32)
    x[:] = np.arange(32)
    params = [struct.pack("<Q", memory.owner(x).address)]
    steps = reference.run(kernel, None, 1, 32, params)
    assert launch.launch(kernel, 1, 32, params, observe=True)["instructions"] == steps


def test_each_loop_that_waits_counts_within_another_loop(compiled):
    """Warps that meet by waiting for a counter in every round of a loop wait once a round."""
    kernel = compiled.c("""extern "C" __global__ void k(int* out) {
        __shared__ int arrived[4];
        if (threadIdx.x < 4) arrived[threadIdx.x] = 0;
        __syncthreads();
        #pragma unroll 1
        for (int round = 0; round < 4; ++round) {
            atomicAdd(&arrived[round], 1);
            while (atomicAdd(&arrived[round], 0) < 64) { }
        }
        out[threadIdx.x] = 1;
    }""")
    found = kernel(1, 64, array(64, np.int32), observe=True)
    assert 4 * 2 <= found["waits"] <= 5 * 2


def test_divisions_and_special_functions_are_counted(compiled):
    kernel = compiled.c("""
        extern "C" __global__ void mixed(float* x, int* n, double* d) {
            int i = threadIdx.x;
            n[i] = n[i] / (i + 1) + n[i] % (i + 3) + n[i] / 7;
            if (i < 8) x[i] = rsqrtf(x[i]) + __sinf(x[i]) + __fdividef(1.0f, x[i] + 2.0f);
            d[i] = d[i] / 3.7;
        }""")
    found = kernel(1, 64, array(64), np.full(64, 100, np.int32), np.ones(64), observe=True)
    # By 7 the compiler multiplies instead; doubles have no special function of their own here.
    assert found["integer_divisions"] == 2 * 2
    assert found["special_functions"] == 3 * 8


def test_products_are_counted_per_thread_as_many_as_an_instruction_has(compiled):
    kernel = compiled.c("""
        #include <cuda_fp16.h>
        extern "C" __global__ void products(float* f, __half2* h, int* n) {
            *f = fmaf(f[0], f[1], 1.0f) * 3.0f;
            *h = __hmul2(h[0], h[1]);
            *n = __dp4a(n[0], n[1], __dp2a_lo(n[2], n[3], n[4] * n[5]));
        }""")
    found = kernel(1, 20, array(2), array(2, np.uint32), array(6, np.int32), observe=True)
    assert found["float_products"] == 20 * (1 + 1 + 2)
    assert found["integer_products"] == 20 * (4 + 2 + 1)


def test_a_store_without_a_line_counts_where_its_instructions_do():
    from vgpu.standins import cupy as cp
    from vgpu.tools.profile import profile

    # The compiler merges both assignments into one store, which it gives line 0.
    kernel = cp.RawKernel(
        """extern "C" __global__
        void halve(float* x, int n) {
            int i = threadIdx.x;
            if (x[i] < n)
                x[i] = x[i] / 2;
            else
                x[i] = 0;
        }""",
        "halve",
    )
    found = profile(kernel, 1, 32, (cp.zeros(32, np.float32), np.int32(3)), device="A100")
    (line,) = (line for line in found.lines if line["global_store_requests"])
    assert line.number == 4 and line["global_store_sectors"] == 4


@pytest.mark.parametrize(
    ("file", "store", "end", "lines"),
    [("", "", "", {1: 4}), ('.file 1 "kernel.cu"', ".loc 1 7 0", ".loc 1 9 0", {7: 3, 9: 1})],
)
def test_what_has_no_line_counts_in_the_first(file, store, end, lines):
    """PTX by hand may have no `.loc` at all, and is counted all the same."""
    text = f""".version 8.0
.target sm_80
.address_size 64
{file}
.visible .entry k(.param .u64 out) {{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 7;
    {store}
    st.global.u32 [%rd1], %r1;
    {end}
    ret;
}}"""
    out = array(8, np.int32)
    given = [struct.pack("<Q", out.ctypes.data)]
    kernel = launch.load(text, language="cuda", filename="kernel.cu")["k"]
    counted = launch.launch(kernel, 1, 32, given, observe=True)
    assert {line: counts["instructions"] for line, counts in counted.lines.items()} == lines
    assert counted["global_store_requests"] == counted.lines[min(lines)]["global_store_requests"] == 1

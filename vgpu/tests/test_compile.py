"""The compilers: PTX with the user's lines, the assembler's numbers, and errors that point and explain."""

from __future__ import annotations

import gc
import re
import threading
import weakref

import numpy as np
import pytest

from vgpu import compile, ptx
from vgpu.base.errors import CompileError
from vgpu.compile import cuda_c_to_ptx, entries, remedies, resources
from vgpu.hardware.gpus import GPUS
from vgpu.ptx.verify import verify

SAXPY = """extern "C" __global__ void saxpy(const float *x, float *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""


def ptx_lines(ptx: str) -> set[int]:
    """The source lines that the PTX names."""
    return {int(line) for line in re.findall(r"^\s*\.loc\s+\d+ (\d+)", ptx, re.MULTILINE)} - {0}


# --- CUDA C -------------------------------------------------------------------------------------------------


def test_ptx_names_its_file_its_kernel_and_its_lines():
    compiled = cuda_c_to_ptx(SAXPY, name="saxpy.cu")
    assert entries(compiled.ptx) == ("saxpy",)
    assert re.findall(r'\.file\s+1 "(.*)"', compiled.ptx) == ["saxpy.cu"]
    assert ptx_lines(compiled.ptx) == {1, 3, 4, 5, 6}
    assert ".target sm_80" in compiled.ptx
    assert repr(compiled).endswith("entries=['saxpy'])")


def test_ptx_does_not_depend_on_the_working_directory(tmp_path, monkeypatch):
    first = cuda_c_to_ptx(SAXPY + "// one", name="here.cu").ptx
    monkeypatch.chdir(tmp_path)
    assert cuda_c_to_ptx(SAXPY + "// two", name="here.cu").ptx == first


def test_compiling_again_is_free():
    assert cuda_c_to_ptx(SAXPY) is cuda_c_to_ptx(SAXPY)
    assert cuda_c_to_ptx(SAXPY) is not cuda_c_to_ptx(SAXPY, options=("--use_fast_math",))


@pytest.mark.parametrize("arch", ["compute_75", "sm_80", "compute_90", "compute_120"])
def test_architectures(arch):
    assert f".target sm_{arch.split('_')[1]}" in cuda_c_to_ptx(SAXPY, arch=arch).ptx


@pytest.mark.parametrize(
    "capability, name",
    [((7, 0), "compute_75"), ((7, 5), "compute_75"), ((8, 9), "compute_89"), ((12, 0), "compute_120")],
)
def test_older_gpus_are_compiled_for_the_oldest_that_cuda_knows(capability, name):
    assert compile.architecture(capability) == name


def test_options_reach_the_compiler():
    source = 'extern "C" __global__ void k(float *x) { x[0] = N * sqrtf(x[1]); }'
    assert "sqrt.rn.f32" in cuda_c_to_ptx(source, options=["-DN=3"]).ptx
    assert "sqrt.approx" in cuda_c_to_ptx(source, options=["-DN=3", "--use_fast_math"]).ptx


@pytest.mark.parametrize(
    "header",
    ["cuda_fp16.h", "cuda_bf16.h", "mma.h", "cooperative_groups.h", "cuda/std/cstdint", "cub/block/block_reduce.cuh"],
)
def test_headers_are_found(header):
    source = f'#include <{header}>\nextern "C" __global__ void k(int *x) {{ x[0] = 1; }}'
    assert entries(cuda_c_to_ptx(source).ptx) == ("k",)


def test_templates_are_named_by_their_expressions():
    source = "template <typename T> __global__ void scale(T *x, T a) { x[threadIdx.x] *= a; }"
    compiled = cuda_c_to_ptx(source, name_expressions=["scale<float>", "scale<double>"])
    assert set(compiled.lowered) == {"scale<float>", "scale<double>"}
    assert set(compiled.lowered.values()) == set(entries(compiled.ptx))


def test_functions_without_a_mark_are_device_functions():
    source = 'float twice(float v) { return 2 * v; }\nextern "C" __global__ void k(float *x) { *x = twice(*x); }'
    assert entries(cuda_c_to_ptx(source).ptx) == ("k",)


KERNEL = "__global__ void k(float *x, int n)\n{\n    int i = threadIdx.x;\n    %s\n}\n"
C_ERRORS = {
    # what stands in line 4, and its line → the compiler's words, the remedy's
    "x[i] = 1": (4, 'expected a ";"', "A statement ends in a semicolon."),
    "x[j] = 1;": (4, 'identifier "j" is undefined', "Declare `j` before this line"),
    "__half h;": (4, 'identifier "__half" is undefined', "#include <cuda_fp16.h>"),
    "uint32_t u;": (4, 'identifier "uint32_t" is undefined', "<cuda/std/cstdint>"),
    "int *p = x;": (4, "cannot be used to initialize", "The types differ"),
    "i = threadIdx.w;": (4, 'no member "w"', "`threadIdx`, `float4`"),
    "blockDim.x = 3;": (4, "expression must be a modifiable lvalue", "stands left of `=`"),
    "\n#include <vector>": (5, 'cannot open source file "vector"', "arrays and loops"),
    "if (i < n) {": (2, 'expected a "}"', "never closed"),
}


@pytest.mark.parametrize("statement", C_ERRORS)
def test_cuda_c_errors_point_at_the_line_and_say_what_mends_it(statement):
    line, words, remedy = C_ERRORS[statement]
    source = KERNEL % statement
    with pytest.raises(CompileError) as raised:
        cuda_c_to_ptx(source, name="mine.cu")
    assert raised.value.line == line
    message = str(raised.value)
    assert message.startswith(f"mine.cu, line {line}: ")
    assert words in message and remedy in message
    assert f"{line} | {source.splitlines()[line - 1].strip()}" in message


def test_the_caret_stands_under_the_mistake():
    with pytest.raises(CompileError) as raised:
        cuda_c_to_ptx(KERNEL % "\tx[i] = y[i];", name="mine.cu")
    _, _, shown, caret, *_ = str(raised.value).splitlines()
    assert shown[caret.index("^")] == "y"


def test_a_kernel_that_returns_something():
    with pytest.raises(CompileError, match=r"write `__global__ void`") as raised:
        cuda_c_to_ptx("\n__global__ int k() { return 1; }")
    assert raised.value.line == 2


def test_several_errors_show_the_first_and_list_the_others():
    with pytest.raises(CompileError) as raised:
        cuda_c_to_ptx(KERNEL % "x[a] = 1;\n    x[b] = 2;")
    assert raised.value.line == 4
    assert 'line 5: identifier "b" is undefined' in str(raised.value)


def test_an_unknown_option():
    with pytest.raises(CompileError, match="NVRTC knows other options"):
        cuda_c_to_ptx(SAXPY, options=["--no-such-option"])


def test_every_remedy_can_be_written_out():
    for pattern, remedy in (*remedies.REMEDIES, *remedies.HEADERS):
        groups = re.compile(pattern).groups
        assert remedy.format(*["thing"] * groups).strip().endswith((".", "`.", "…"))


# What a user types that kernels lack → a word of the fix, and what to write instead, which must compile.
CURES = (
    ("", "x[0] = INFINITY;", "cuda/std/cmath", "#include <cuda/std/cmath>", "x[0] = INFINITY + NAN;"),
    ("", "x[0] = M_PI;", "CUDART_PI", "#include <math_constants.h>", "x[0] = CUDART_PI + CUDART_PI_F;"),
    ("", "x[0] = FLT_MAX;", "numeric_limits", "#include <cuda/std/limits>",
     "x[0] = cuda::std::numeric_limits<float>::max();"),
    ("", "x[0] = INT_MAX;", "cuda/std/climits", "#include <cuda/std/climits>", "x[0] = INT_MAX;"),
    ("", "uint i = 0; x[i] = 1;", "unsigned int", "using uint = unsigned int;", "uint i = 0; x[i] = 1;"),
    ("", "x[0] = __shfl_down(x[0], 1);", "__shfl_down_sync", "", "x[0] = __shfl_down_sync(0xffffffff, x[0], 1);"),
    ("", "x[0] = rand();", "cp.random", "", ""),
    ("", "cudaMalloc(&x, 4);", "cp.zeros", "", ""),
    ("texture<float, 2> t;", "", "cudaTextureObject_t", "", "cudaTextureObject_t t = 0; x[0] = t;"),
    ("__device__ void f() { extern __shared__ int s[]; s[0] = 1; }", "extern __shared__ float s[]; x[0] = s[0];",
     "reinterpret_cast", "",
     "extern __shared__ __align__(16) unsigned char raw[]; float* s = reinterpret_cast<float*>(raw); x[0] = s[0];"),
    ("", "float4 a{}, b{}; x[0] = (a + b).x;", "operator+",
     "__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, 0, 0); }",
     "float4 a{}, b{}; x[0] = (a + b).x;"),
    ("", "x[0] = std::max(x[1], x[2]);", "without `std::`", "", "x[0] = max(x[1], x[2]);"),
    ("", "std::memcpy(x, x + 1, 4);", "without `std::`", "", "memcpy(x, x + 1, 4);"),
    ("", "std::vector<float> v;", "arrays and loops", "", "float v[4]; v[1] = x[0]; x[1] = v[1];"),
    ("", "cuda::std::array<int, 2> a{};", "cuda/std/", "#include <cuda/std/array>", "cuda::std::array<int, 2> a{};"),
    ("", "cg::sync(cg::this_thread_block());", "cooperative_groups.h",
     "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;", "cg::sync(cg::this_thread_block());"),
    ("#include <cooperative_groups.h>", "auto add = cooperative_groups::plus<int>();", "cooperative_groups/reduce.h",
     "#include <cooperative_groups/reduce.h>", "auto add = cooperative_groups::plus<int>();"),
    ("#include <cooperative_groups.h>", "cooperative_groups::this_cluster();", 'device("H100")', "", ""),
    ("__global__ void __cluster_dims__(2) f() {}", "", 'device("H100")', "", ""),
    ("", "x[0] = __half2float(__float2half(x[0]));", "cuda_fp16.h", "#include <cuda_fp16.h>",
     "x[0] = __half2float(__float2half(x[0]));"),
    ("", "__nv_fp8_e4m3 q(x[0]);", "cuda_fp8.h", "#include <cuda_fp8.h>", "__nv_fp8_e4m3 q(x[0]);"),
    ("", "long long n = 2; x[0] = min(n, 1);", "`min(n, (int)m)`", "", "long long n = 2; x[0] = min((int)n, 1);"),
    ("#include <cuda_fp16.h>", "__half a = x[0]; x[0] = a * 2;", "__float2half(2.0f)", "#include <cuda_fp16.h>",
     "__half a = x[0]; x[0] = a * __float2half(2.0f);"),
    ("", "__shared__ float s[int(x[0])];", "extern __shared__", "", "extern __shared__ float s[]; x[0] = s[0];"),
    ("", "x[0] = x[0]**2;", "powf", "", "x[0] = powf(x[0], 2.0f);"),
    ("", "x[0] = True;", "`true`", "", "x[0] = true;"),
    ("__device__ void f(int* restrict x) {}", "", "`__restrict__`", "__device__ void f(int* __restrict__ x) {}", ""),
    ("", "std::swap(x[0], x[1]);", "cuda::std::swap", "#include <cuda/std/utility>", "cuda::std::swap(x[0], x[1]);"),
    ("#include <limits>", "", "cuda/std/limits", "#include <cuda/std/limits>", ""),
    ("#include <type_traits>", "", "cuda/std/type_traits", "#include <cuda/std/type_traits>", ""),
    ("#include <string.h>", "memset(x, 0, 4);", "Remove", "", "memset(x, 0, 4);"),
    ("#include <stddef.h>", "size_t n = 1; x[n] = 1;", "Remove", "", "size_t n = 1; x[n] = 1;"),
    ("#include <helper_math.h>", "", "samples", "", ""),
    ("#include <helper_cuda.h>", "", "Remove", "", ""),
    ("#include <cublas_v2.h>", "", "CuPy's functions", "", ""),
    ("#include <cuda.h>", "", "Remove", "", ""),
    ("#include <cub/cub.cuh>", "", "cub/block/block_reduce.cuh", "#include <cub/block/block_reduce.cuh>", ""),
    ("#include <thrust/device_vector.h>", "", "belong to the host", "#include <cub/block/block_radix_sort.cuh>", ""),
    ("#include <thrust/complex.h>", "", "cuda/std/complex", "#include <cuda/std/complex>",
     "x[0] = cuda::std::complex<float>(x[0], 1).imag();"),
)  # fmt: skip


@pytest.mark.parametrize(("before", "body", "word", "cured_before", "cured"), CURES)
def test_what_kernels_lack_is_told_with_a_cure_that_works(before, body, word, cured_before, cured):
    source = '%s\nextern "C" __global__ void k(float* x) { %s }'
    with pytest.raises(CompileError) as raised:
        cuda_c_to_ptx(source % (before, body), options=["-std=c++17"])
    assert word in str(raised.value)
    assert cuda_c_to_ptx(source % (cured_before, cured), options=["-std=c++17"]).ptx


# --- resources ----------------------------------------------------------------------------------------------

TILE = """extern "C" __global__ void tile(float *x)
{
    __shared__ float t[32][33];
    t[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    x[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void table(int *x, int i)
{
    int local[64];
    for (int k = 0; k < 64; k++) local[x[k] & 63] = k;
    x[0] = local[i & 63];
}
extern "C" __global__ void greedy(float *x, int n)
{
    float sum[8][8] = {};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) sum[i][j] += x[16 * k + i] * x[16 * k + 8 + j];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) x[8 * i + j] = sum[i][j];
}
extern "C" __global__ void shout(float *x) { printf("%f", x[0]); }
"""
ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_shared_memory_declared_outside_the_kernel_counts(arch):
    source = (
        'extern __shared__ float d[]; __shared__ float s[100]; extern "C" __global__ void k(float *x)'
        " { s[threadIdx.x] = x[0]; d[threadIdx.x] = 1; __syncthreads(); x[threadIdx.x] = s[31] + d[3]; }"
    )
    assert resources(source, "cuda", arch).shared_bytes == 400


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_resources_of_known_kernels(arch):
    ptx = cuda_c_to_ptx(TILE, arch="compute_75").ptx
    tile, table, greedy, shout = (resources(ptx, arch=arch, entry=e) for e in ("tile", "table", "greedy", "shout"))
    assert {r.arch for r in (tile, table, greedy, shout)} == {arch}
    assert tile.shared_bytes == 32 * 33 * 4
    assert (tile.local_bytes, table.shared_bytes) == (0, 0)
    assert table.local_bytes == 64 * 4
    assert shout.local_bytes == 8
    assert 40 <= greedy.registers <= 255 and greedy.spill_store_bytes == 0
    assert 8 <= tile.registers < 32


def test_a_register_limit_makes_the_kernel_spill():
    ptx = cuda_c_to_ptx(TILE).ptx
    limited = resources(ptx, entry="greedy", max_registers=32)
    assert limited.registers == 32
    assert limited.spill_store_bytes > 0 and limited.spill_load_bytes > 0
    assert 0 < limited.local_bytes <= limited.spill_store_bytes


def test_what_a_called_function_spills_is_the_kernels():
    """Else values that have no room in registers could go where no budget finds them."""
    text = """
        __device__ __noinline__ float many(const float* x, int n) {
            float b[40], sum = 0;
            #pragma unroll
            for (int j = 0; j < 40; ++j) b[j] = x[j];
            for (int k = 0; k < n; ++k)
                #pragma unroll
                for (int j = 0; j < 40; ++j) b[j] = b[j] * x[k] + b[(j + 7) % 40];
            #pragma unroll
            for (int j = 0; j < 40; ++j) sum += b[j];
            return sum;
        }
        extern "C" __global__ void calls(const float* x, float* out, int n) { out[threadIdx.x] = many(x, n); }
        extern "C" __global__ void other(float* out) { out[threadIdx.x] = 1; }"""
    code = cuda_c_to_ptx(text).ptx
    assert resources(code, entry="calls", max_registers=32).spill_store_bytes > 0
    assert resources(code, entry="calls").spill_store_bytes == 0


def test_source_and_ptx_give_the_same_numbers():
    ptx = cuda_c_to_ptx(TILE, arch="compute_86").ptx
    assert resources(TILE, "cuda", "sm_86", "tile") == resources(ptx, "ptx", "sm_86", "tile")


def test_ptx_of_a_newer_gpu_is_assembled_for_an_older_one_as_long_as_that_works():
    ptx = cuda_c_to_ptx(TILE, arch="compute_90").ptx
    assert resources(ptx, arch="sm_75", entry="tile").shared_bytes == 4224
    copying = '#include <cuda_pipeline.h>\nextern "C" __global__ void k(int4 *x) { __shared__ int4 s;' + (
        " __pipeline_memcpy_async(&s, x, 16); __pipeline_commit(); __pipeline_wait_prior(0); x[1] = s; }"
    )
    with pytest.raises(CompileError, match="cannot be assembled for sm_75"):
        resources(cuda_c_to_ptx(copying).ptx, arch="sm_75")


def test_resources_refuse_what_they_cannot_know():
    ptx = cuda_c_to_ptx(TILE).ptx
    with pytest.raises(KeyError, match="say which kernel"):
        resources(ptx)
    with pytest.raises(KeyError, match="no kernel 'nobody'"):
        resources(ptx, entry="nobody")
    with pytest.raises(CompileError, match="not for sm_70"):
        resources(ptx, arch="sm_70", entry="tile")
    with pytest.raises(ValueError, match="written like"):
        resources(ptx, arch="ampere", entry="tile")


def test_resources_are_kept():
    ptx = cuda_c_to_ptx(TILE).ptx
    assert resources(ptx, entry="tile") is resources(ptx, entry="tile")


# --- Python -------------------------------------------------------------------------------------------------


def scale(x, a):
    i = cuda.grid(1)  # noqa: F821
    if i < x.size:
        x[i] *= a


@pytest.fixture(scope="module", autouse=True)
def real_cuda():
    """Let `scale` find the real `numba.cuda`, as it would on a machine with a GPU."""
    from vgpu.compile import numba_adapter

    globals()["cuda"] = numba_adapter.cuda
    return numba_adapter


def test_python_becomes_a_kernel_with_lines():
    compiled = compile.numba_to_ptx(scale, "void(float32[::1], float32)")
    first = scale.__code__.co_firstlineno
    assert entries(compiled.ptx) == (compiled.entry_name,)
    assert ptx_lines(compiled.ptx) == {first, first + 1, first + 2, first + 3}
    assert compiled.filename == scale.__code__.co_filename
    assert compiled.first_line == first and compiled.source[3].strip() == "x[i] *= a"
    # An array of one dimension is seven parameters, a number one.
    assert compiled.ptx.count("\t.param .u64") == 7 and compiled.ptx.count("\t.param .f32") == 1
    assert "ptx" not in repr(compiled)


def test_forms_of_a_signature(real_cuda):
    types = real_cuda.types
    by_text = compile.numba_to_ptx(scale, "void(float32[::1], float32)")
    assert compile.numba_to_ptx(scale, (types.float32[::1], types.float32)) is by_text
    assert compile.numba_to_ptx(scale, types.void(types.float32[::1], types.float32)) is by_text


@pytest.mark.parametrize("capability, target", [((7, 0), 75), ((8, 0), 80), ((9, 0), 90), ((12, 0), 120)])
def test_python_for_any_gpu(capability, target):
    compiled = compile.numba_to_ptx(scale, "void(float64[:], float64)", cc=capability)
    assert re.search(rf"\.target sm_{target}\b", compiled.ptx)
    assert 8 <= resources(compiled.ptx, arch=f"sm_{target}").registers <= 40


def test_fast_maths_reaches_numba():
    def root(x):
        x[0] = math.sqrt(x[0]) / x[1]

    import math

    assert "sqrt.rn.f32" in compile.numba_to_ptx(root, "void(float32[::1])").ptx
    assert "sqrt.approx.ftz.f32" in compile.numba_to_ptx(root, "void(float32[::1])", fastmath=True).ptx


def test_launch_bounds_reach_the_assembler():
    assert ".maxntid 128" in compile.numba_to_ptx(scale, "void(float32[::1], float32)", launch_bounds=(128,)).ptx


def test_the_modelled_gpu_is_told_to_this_thread_only(real_cuda):
    import numba.cuda.dispatcher as dispatcher

    seen = []

    def ask():
        try:
            seen.append(dispatcher.get_current_device().compute_capability)
        except Exception as error:
            seen.append(type(error).__name__)

    with real_cuda.modelled((9, 0)):
        with real_cuda.modelled((7, 0)):
            ask()
        ask()
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    ask()
    assert seen[:2] == [(7, 5), (9, 0)]
    assert (9, 0) not in seen[2:] and len(seen) == 4


def test_what_is_kept_of_a_function_does_not_keep_the_function():
    def once(x):
        if x.size == 1:
            raise KeyError("one")
        x[0] = x[1]

    compiled, gone = compile.numba_to_ptx(once, "void(float32[::1])", debug=True, opt=False), weakref.ref(once)
    del once
    gc.collect()
    assert gone() is None and compiled.exception(1)[:2] == (KeyError, ("one",))


def test_a_changed_numba_is_named_with_the_version_that_fits(real_cuda):
    with pytest.raises(ImportError, match=rf"numba-cuda {re.escape(real_cuda.PINNED)}.*math: nothing_like_this"):
        real_cuda._load({"math": ("nothing_like_this",)})
    with pytest.raises(ImportError, match="no_such_module"):
        real_cuda._load({"no_such_module": ()})
    with pytest.raises(ImportError, match=r"fractions: Fraction\.nothing_like_this"):
        real_cuda._load({"fractions": ("Fraction.numerator", "Fraction.nothing_like_this")})


def test_the_version_relied_on_is_the_one_pinned(real_cuda, root):
    pins = dict(
        line.split("==") for line in (root / "constraints.txt").read_text().splitlines() if line.count("==") == 1
    )
    assert pins["numba-cuda"] == real_cuda.PINNED


def test_what_numba_links_is_inlined_and_keeps_its_lines():
    def halves(x, y):
        i = cuda.grid(1)  # noqa: F821
        y[i] = x[i] * x[i] + x[i]

    compiled = compile.numba_to_ptx(halves, "void(float16[::1], float16[::1])")
    first = halves.__code__.co_firstlineno
    assert {first, first + 1, first + 2} <= ptx_lines(compiled.ptx)
    assert ".extern" not in compiled.ptx and "call" not in compiled.ptx
    assert "mul.f16" in compiled.ptx and "add.f16" in compiled.ptx
    assert compiled.filename == __file__
    assert resources(compiled.ptx).local_bytes == 0


def test_reshaping_is_linked_too():
    def reshape(x, y):
        y[0, 0] = x.reshape(2, 2)[1, 1]

    assert ".extern" not in compile.numba_to_ptx(reshape, "void(float32[::1], float32[:, ::1])").ptx


def test_functions_of_other_libraries_are_refused():
    from vgpu.compile import numba_adapter

    foreign = numba_adapter.cuda.declare_device("somewhere_else", "float32(float32)")

    def calls(x):
        x[0] = foreign(x[0])

    with pytest.raises(NotImplementedError, match="somewhere_else"):
        compile.numba_to_ptx(calls, "void(float32[::1])")


def test_types_of_arguments(real_cuda):
    array = np.zeros((4, 6), np.float32)
    layouts = [
        real_cuda.array_type(a).layout for a in (array, array.T, array[:, ::2], np.broadcast_to(array[0], (3, 6)))
    ]
    assert layouts == ["C", "F", "A", "A"]
    assert real_cuda.typeof(3) == real_cuda.types.int64
    assert real_cuda.typeof(np.float32(3)) == real_cuda.types.float32


NEWER = {  # instructions that the GPU that kernels are compiled for at first doesn't have → what the remedy says
    'unsigned short q; asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;" : "=h"(q) : "f"(x[0])); x[0] = q;':
        'call device("RTX 4090") first',
    'unsigned q; asm volatile("{.reg .pred p; elect.sync %0|p, -1;}" : "=r"(q)); x[0] = q;':
        'call device("H100") first',
    'float q; asm volatile("redux.sync.min.f32 %0, %1, -1;" : "=f"(q) : "f"(x[0])); x[0] = q;':
        'call device("B200") first, and compile CUDA C with -arch=sm_100a: RawKernel(…, options=("-arch=sm_100a",))',
}  # fmt: skip


@pytest.mark.parametrize("body", NEWER)
def test_the_remedy_for_an_instruction_of_a_newer_gpu_works(body):
    source, words = f'extern "C" __global__ void k(float* x) {{ {body} }}', NEWER[body]

    def verified(arch: str, options=()) -> None:
        module = ptx.parse(cuda_c_to_ptx(source, arch=arch, options=options).ptx)
        verify(module, module.kernels["k"])

    with pytest.raises(ptx.PTXSyntaxError, match=re.escape(words)):
        verified("compute_80")
    gpu, options = re.search(r'device\("([^"]*)"\)', words), re.findall('"(-arch=[^"]+)"', words)
    verified(compile.architecture(GPUS[gpu[1]].compute_capability), options)

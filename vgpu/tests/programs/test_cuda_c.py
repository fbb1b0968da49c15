"""Whole CUDA C++ programs: split, compiled, run; what they are told of errors; kernels launched by themselves."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import pytest

from vgpu.programs.command import STOPPED
from vgpu.programs.cuda_c import build
from vgpu.programs.cuda_c.split import CannotSplit, Split
from vgpu.programs.cuda_c.text import items, masked

COMPILER = pytest.mark.skipif(build.compiler() is None, reason="needs a C++ compiler: install g++ or clang++")

PROGRAM = """\
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#include "own.cuh"

#define CHECK(call)                                                        \\
    do {                                                                   \\
        cudaError_t status = (call);                                       \\
        if (status != cudaSuccess) {                                       \\
            printf("%s\\n", cudaGetErrorString(status));                    \\
            exit(3);                                                       \\
        }                                                                  \\
    } while (0)

__constant__ float scale[2];
__device__ int calls;

struct Line {
    float slope;
    int n;
    __host__ __device__ float at(float x) const { return slope * x; }
    __device__ float fast(float x) const { return __expf(x); }  // the host has no __expf
};

class OnHost {  // kernels know nothing of it
    std::vector<float> kept;
public:
    explicit OnHost(int n) : kept(n) {}
    float *data() { return kept.data(); }
};

namespace {
template <typename T, int OFFSET> __global__ static void apply(const T *__restrict__ x, T *y, Line line) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < line.n) {
        y[i] = own_twice(line.at(x[i])) * scale[1] + OFFSET + (T)0 * (T)line.fast(0);
        atomicAdd(&calls, 1);
    }
}
}  // namespace

__global__ void __launch_bounds__(64) hello(int64_t who) {
    if (threadIdx.x == 0) printf("block %d of %lld { <<< \\n", blockIdx.x, (long long)who);
}

/* hello<<<1, 1>>>(0); */
int main(int argc, char **argv) {
    const int n = 1'000;
    OnHost h(n);
    for (int i = 0; i < n; ++i) h.data()[i] = i;
    float *x, *y, both[] = {0, 0.5f};
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc((void **)&y, n * sizeof(float)));
    CHECK(cudaMemcpyToSymbol(scale, both, sizeof both));
    CHECK(cudaMemcpy(x, h.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    hello<<<2, 64>>>(7);
    apply<float, 4><<<dim3((n + 127) / 128), 128, 0, stream>>>(x, y, Line{3.0f, n});
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(h.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost));
    int counted, wrong = 0;
    CHECK(cudaMemcpyFromSymbol(&counted, calls, sizeof counted));
    for (int i = 0; i < n; ++i) wrong += h.data()[i] != 3.0f * i + 4;
    printf("%d wrong, %d calls, %s\\n", wrong, counted, argc > 1 ? argv[1] : "no argument");
    cudaFree(x);
    cudaFree(y);
    exit(argc > 2 ? atoi(argv[2]) : 0);
}
"""
OWN = "\ufeff#pragma once\n__device__ float own_twice(float x) { return 2 * x; }\n"
BEYOND = """\
#include <stdio.h>
__global__ void fill(float *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
int main() {
    float *x;
    cudaMalloc(&x, 100 * sizeof(float));
    fill<<<1, 128>>>(x);
    printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
    fill<<<1, 2048>>>(x);
    printf("%s\\n", cudaGetErrorString(cudaGetLastError()));
}
"""
MANAGED = """\
#include <cstdio>
__managed__ int total = 5;
namespace counts { __device__ __managed__ int each[2] = {1, 2}; }
__global__ void add(int n) { total += n; counts::each[1] += total; }
int main() {
    add<<<1, 1>>>(10);
    cudaDeviceSynchronize();
    total *= 2;
    add<<<1, 1>>>(1);
    cudaDeviceSynchronize();
    printf("%d %d %d\\n", total, counts::each[0], counts::each[1]);
}
"""
INTEGERS = """\
#include <cstdint>
#include <cstdio>
#include <cuda_awbarrier.h>
#include <cuda/std/cstdint>
__global__ void add(uint64_t *x, uint64_t n) { *x += n; }
__global__ void add(uint32_t *x, uint32_t n) { *x += 2 * n; }
template <typename T> __global__ void name(T *x) { *x = 1; }
template <> __global__ void name<uint64_t>(uint64_t *x) { *x = 2; }
template <typename T> struct Is { enum { value = 0 }; };
template <> struct Is<long> { enum { value = 1 }; };
template <> struct Is<long long> { enum { value = 2 }; };
__host__ __device__ void types(uint64_t *x) {
    const int found[] = {
        Is<int64_t>::value, Is<int_fast16_t>::value, Is<int_least64_t>::value, Is<intptr_t>::value,
        Is<intmax_t>::value, Is<cuda::std::int64_t>::value, Is<decltype(min(int64_t(), 1L))>::value,
    };
    for (int i = 0; i < 7; ++i) x[i] = found[i];
}
__global__ void in_kernel(uint64_t *x) {
    __shared__ nvcuda::experimental::awbarrier barrier;
    init(&barrier, 1);
    barrier.arrive_and_wait();
    types(x);
}
int main() {
    uint64_t *x, on_host[7];
    uint32_t *y;
    cudaMallocManaged(&x, 7 * sizeof *x);
    cudaMallocManaged(&y, sizeof *y);
    *x = *y = 1;
    add<<<1, 1>>>(x, 1);
    add<<<1, 1>>>(y, 1u);
    cudaDeviceSynchronize();
    printf("%d %d", (int)*x, (int)*y);
    name<<<1, 1>>>(x);
    name<<<1, 1>>>(y);
    cudaDeviceSynchronize();
    printf(" %d %d", (int)*x, (int)*y);
    in_kernel<<<1, 1>>>(x);
    cudaDeviceSynchronize();
    types(on_host);
    for (int i = 0; i < 7; ++i) printf(" %d", x[i] == on_host[i]);
}
"""
WIDE = """\
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdint>
#include <cstdio>
#include <cuda/barrier>
__global__ void square(const uint64_t *in, uint64_t *high) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ alignas(16) uint64_t kept[2];
    auto block = cooperative_groups::this_thread_block();
    if (block.thread_rank() == 0) init(&barrier, block.size());
    block.sync();
    cuda::memcpy_async(block, kept, in, sizeof(kept), barrier);
    barrier.arrive_and_wait();
    unsigned __int128 product = (unsigned __int128)kept[0] * kept[1];
    if (block.thread_rank() == 0) *high = product >> 64;
}
int main() {
    uint64_t *x;
    cudaMallocManaged(&x, 3 * sizeof *x);
    x[0] = x[1] = 5ull << 40;
    square<<<1, 32>>>(x, x + 2);
    cudaDeviceSynchronize();
    printf("%llu", (unsigned long long)x[2]);
}
"""
REFUSED = """\
#include <thread>
__global__ void fill(int *x, int by) { x[threadIdx.x + by] = 1; }
int main() {
    int *x;
    cudaMalloc(&x, 32 * sizeof *x);
    for (int i = 0; i < 2; ++i) fill<<<1, 2048>>>(x, 0);
    fill<<<0, 32>>>(x, 0);
    std::thread([=] { fill<<<1, 32>>>(x, 1); }).join();
    cudaFree(x);
    cudaFree(x);
    return 3;
}
"""
ROWS = """\
#include <cstdio>
__device__ int scale;
__global__ void multiply(int *p, size_t pitch, int width) {
    if (threadIdx.x < width) p[blockIdx.x * pitch / 4 + threadIdx.x] *= scale;
}
int main() {
    const int width = 5, height = 3, two = 2;
    int in[width * height], out[width * height], *p, wrong = 0;
    for (int i = 0; i < width * height; ++i) in[i] = i;
    size_t pitch;
    cudaMallocPitch(&p, &pitch, 4 * width, height);
    cudaMemset2D(p, pitch, 0, 4 * width, height);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMemcpy2DAsync(p, pitch, in, 4 * width, 4 * width, height, cudaMemcpyHostToDevice, stream);
    cudaMemcpyToSymbolAsync(scale, &two, 4, 0, cudaMemcpyHostToDevice, stream);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    multiply<<<height, 32, 0, stream>>>(p, pitch, width);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    for (int i = 0; i < 3; ++i) cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy2D(out, 4 * width, p, pitch, 4 * width, height, cudaMemcpyDeviceToHost);
    for (int i = 0; i < width * height; ++i) wrong += out[i] != 8 * in[i];
    printf("%d %s\\n", wrong, cudaGetErrorName(cudaMemcpy2D(p, width, in, width, 4 * width, height,
                                                           cudaMemcpyHostToDevice)));
}
"""
COOPERATIVE = """\
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void sum(int *parts, int *total) {
    parts[blockIdx.x] = blockIdx.x;
    cg::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int i = 0; i < gridDim.x; ++i) *total += parts[i];
}
int main() {
    int *parts, *total;
    cudaMallocManaged(&parts, 4 * 8);
    cudaMallocManaged(&total, 4);
    *total = 0;
    void *arguments[] = {&parts, &total};
    cudaLaunchCooperativeKernel(sum, 8, 32, arguments);
    cudaDeviceSynchronize();
    int blocks;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, 32, 0);
    cudaDeviceProp found;
    cudaGetDeviceProperties(&found, 0);
    printf("%d %d %d\\n", *total, blocks, found.multiProcessorCount);
}
"""
POINTERS = """\
#include <cstdio>
#include <memory>
class Managed {
public:
    void *operator new(size_t n) {
        void *p;
        cudaMallocManaged(&p, n);
        return p;
    }
    void operator delete(void *p) { cudaFree(p); }
};
struct Pair : public Managed {
    int a, b;
};
__global__ void first(Pair *p) { p->a = 1; }
__global__ void second(Pair *p) { p->b = 2; }
__global__ void third(Pair &p, const int &by) { p.a += by; }
typedef void (*Kernel)(Pair *);
int main() {
    Kernel kernels[] = {first, second}, last = second;
    std::unique_ptr<Pair> pair(new Pair());
    for (int i = 0; i < 2; ++i) kernels[i]<<<1, 1>>>(pair.get());
    (*last)<<<1, 1>>>(pair.get());
    int *by;
    cudaMallocManaged(&by, sizeof *by);
    *by = 10;
    third<<<1, 1>>>(*pair, *by);
    cudaDeviceSynchronize();
    printf("%d %d\\n", pair->a, pair->b);
}
"""
AS_NVCC = """\
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <list>
#include <cub/cub.cuh>
#include <cuComplex.h>
#define INLINE_DEVICE __device__ __forceinline__
#define HOST __host__
#define DEVICE __device__
#define LAUNCH(TYPE, VALUE) \\
    fill<TYPE> \\
        <<<grid, 32>>>(x, VALUE)

template <typename T> int length(const std::list<T> &values);
template <typename T> int length(const std::list<T> &values) { return values.size(); }
template <typename T> struct Twice {
    static __device__ T of(T x) { return 2 * x; }
    __host__ T on_host() const { return T(); }
};
struct Both {
    HOST DEVICE int of(int x) const { return 10 * x; }
};
INLINE_DEVICE int sum(int value) {  // the host has no CUB
    using Reduce = cub::BlockReduce<int, 32>;
    __shared__ typename Reduce::TempStorage parts;
    return Reduce(parts).Sum(value);
}
template <typename T> __global__ void fill(int *x, T value) {
    x[0] = sum(Twice<T>::of(std::abs(value))) + (std::numeric_limits<short>::max() == SHRT_MAX);
}
template <> __global__ void fill<char>(int *x, char value) { x[0] = value + 1; }
template <typename... A> __global__ void add(int *x, A... values) { x[0] = (values + ...); }
static __global__ void real(int *x, cuFloatComplex z, ulong more) {
    register float first = cuCrealf(z);
    x[0] = first + more + (ssize_t(-1) < 0 && M_SQRT1_2 < M_PI_4 ? 0 : 100);
}

int main() {
    int *x, grid = 1;
    assert(cudaMallocManaged(&x, 4) == cudaSuccess);
    LAUNCH(int, -3);
    printf("%d ", *x);
    LAUNCH(char, 4);
    printf("%d ", *x);
    add << <1, 1 >> > (x, 1, 2.5f, (short)3);
    printf("%d ", *x);
    real<<<1, 1>>>(x, make_cuFloatComplex(7, 0), length(std::list<int>{5}));
    printf("%d %d\\n", *x, Both().of(3));
}
"""
SEVERAL = {
    "main.cu": """\
#include <cstdio>
__constant__ int by[1];
namespace { __global__ void hidden(int *x) { *x += 1; } }
static __global__ void add(int *x) { *x += by[0]; }
__global__ void last(int *x) { *x *= 2; }
void elsewhere(int *x);
int named(const char *text);
extern __global__ void far(int *x);
int main(int argc, char **argv) {
    int *x, value = 100;
    cudaMalloc(&x, sizeof *x);
    cudaMemset(x, 0, sizeof *x);
    cudaMemcpyToSymbol(by, &value, sizeof value);
    add<<<1, 1>>>(x);
    hidden<<<1, 1>>>(x);
    elsewhere(x);
    far<<<1, 1>>>(x);
    cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost);
    printf("%d %d\\n", value, named(argv[1]));
}
""",
    "other.cu": """\
__constant__ int by[1];
namespace { __global__ void hidden(int *x) { *x += 2; } }
static __global__ void add(int *x) { *x += by[0]; }
__global__ void far(int *x) { *x *= 2; }
void elsewhere(int *x) {
    int value = 1000;
    cudaMemcpyToSymbol(by, &value, sizeof value);
    add<<<1, 1>>>(x);
    hidden<<<1, 1>>>(x);
}
""",
    "plain.cpp": """\
#include "plain.h"
#include <cstring>
#include <cuda_runtime.h>
int named(const char *text) { int n = 0; cudaGetDeviceCount(&n); return n + (int)strlen(text) + MORE; }
""",
    "plain.h": "#define MORE 10\n",
}
MACROS = """\
#include <cstdio>
#include <type_traits>
#include <utility>  // std::pair
#define LAUNCH(kernel, T, ...)                   \\
    do {                                         \\
        kernel<T><<<dim3(1), 1>>>(__VA_ARGS__);  \\
        cudaDeviceSynchronize();                 \\
    } while (0)
template <int N> __device__ int sum(int x) { return x + sum<N - 1>(x); }
template <> __device__ int sum<0>(int x) { return 0; }
__device__ int seven() { return 7; }
typedef int (*Function)();
template <typename T, int N> struct alignas(sizeof(T) * N) Aligned { T values[N]; };
__device__ Function called = seven;
#ifdef __CUDACC__
__device__ int given() { return 3; }
#endif
template <typename T> __global__ void write(T *x, std::pair<int, int> both) {
    if constexpr (std::is_same_v<T, int>) x[0] = given();
    Aligned<int, 2> aligned = {{called(), sum<5>(both.second)}};
    x[1] = aligned.values[0] + aligned.values[1];
}
int main() {
    int *x;
    cudaMallocManaged(&x, 8);
    LAUNCH(write, int, x, std::make_pair(1, 2));
    printf("%d %d\\n", x[0], x[1]);
}
"""
KERNEL = """\
template <typename T> __global__ void scale(T *x, T by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
"""


@pytest.fixture
def vgpu(tmp_path):
    """Runs `python -m vgpu` on a .cu file: (exit status, stdout, stderr)."""

    def run(verb, program, *arguments, options=()):
        (tmp_path / "program.cu").write_text(program)
        (tmp_path / "own.cuh").write_text(OWN, encoding="utf-8")
        command = [sys.executable, "-W", "ignore", "-m", "vgpu", verb, *options, "program.cu", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    return run


# ---------------------------------------------------------------- reading C++


def test_what_looks_like_code_is_blank_and_lines_stay():
    source = 'int a; // {\n/* ( \n */ char b = \'{\'; const char *c = "}\\"{"; R"x(\n{)x";\n#define D {\nint e;'
    text = masked(source)
    assert len(text) == len(source) and text.count("\n") == source.count("\n")
    assert not set("{}()") & set(text) and "int e;" in text


def test_functions_types_and_variables_are_told_apart():
    found = [(item.kind, item.name if item.kind == "function" else "") for item in items(PROGRAM)]
    assert [kind for kind, _ in found].count("type") == 2
    assert [name for kind, name in found if kind == "function"] == ["apply", "hello", "main"]
    assert [kind for kind, _ in found].count("other") == 2


@pytest.mark.parametrize(
    ("declaration", "kind"),
    [
        ("template <int N, typename T = float> __global__ void k(T (&x)[N]);", "function"),
        ("static inline __host__ __device__ int f(int x) { return x > 1 ? x : 1; }", "function"),
        ("std::vector<std::pair<int, int>> v(3);", "function"),  # as C++ itself could read it
        ("int table[] = {1, 2, 3};", "other"),
        ("const float *p = f(2), q{1};", "other"),
        ("enum class E { a, b };", "type"),
        ("typedef struct { int x; } S;", "type"),
        ("using F = void (*)(int);", "type"),
        ("typedef void (*F)(int);", "type"),
        ("struct S { void f() { } } s;", "type"),
        ("bool operator==(const S &a, const S &b) { return true; }", "function"),
    ],
)
def test_declarations(declaration, kind):
    (found,) = items(declaration)
    assert (found.kind, found.end) == (kind, len(declaration))


def test_long_classes_take_no_longer_than_their_length():
    """Comparisons look like angles that nothing closes; templates of thousands of lines have hundreds."""
    members = "\n".join(f"    __device__ bool less{n}(int a) {{ return a < b && f(a); }}" for n in range(4000))
    begun = time.process_time()
    program = Split(f"struct S {{\n{members}\n    int b;\n}};\n__global__ void k(S s) {{ }}\n")
    assert time.process_time() - begun < 15, "it takes one second; at each bracket, all before it was searched"
    assert program.kernels == ("k",) and program.host.count("{ __builtin_trap(); }") == 4000


def test_the_halves_have_the_lines_of_the_whole():
    program = Split(PROGRAM)
    device = program.device("apply<float, 4>")
    assert device.count("\n") == PROGRAM.count("\n") and program.host.count("\n") == PROGRAM.count("\n")
    line = next(n for n, text in enumerate(PROGRAM.splitlines()) if "atomicAdd" in text)
    assert "atomicAdd" in device.splitlines()[line]
    assert "std::vector" not in device and "struct Line" in device and "vgpu_main" not in device
    assert "<<<" not in masked(program.host) and "atomicAdd" not in program.host


def test_a_bracket_that_is_not_closed():
    with pytest.raises(CannotSplit, match=r"the \{ in line 2 isn't closed"):
        Split("int x;\nint main() {\n")


# ---------------------------------------------------------------- running


@COMPILER
def test_parameters_without_names_get_some():
    """As in CuTe's examples, whose kernels take layouts that only their types say something of."""
    program = Split(
        "#include <cute/tensor.hpp>\n#include <cutlass/util/print_error.hpp>\n"
        "template <class A, class B>\n__global__ void k(A const*, B  , const Pair<A, B>&, int n, float *x) {}\n"
        "__global__ void none(void) {}\nint main() { none<<<1, 1>>>(); }\n"
    )
    named = "A const* vgpu_given_0, B vgpu_given_1, const Pair<A, B>& vgpu_given_2, int n, float *x"
    assert named in re.sub(r"\s+(?=vgpu_given)", " ", re.sub(r"\s+,", ",", program.host))
    assert "none(void)" in program.host
    device = program.device()
    assert "#include <cute/tensor.hpp>" in device and "#include <cutlass/util" not in device


def test_a_program_runs_unchanged(vgpu):
    status, shown, errors = vgpu("run", PROGRAM, "given", "5")
    assert errors == "" and status == 5
    assert shown == "block 0 of 7 { <<< \nblock 1 of 7 { <<< \n0 wrong, 1000 calls, given\n"


@COMPILER
def test_profiles_and_findings_name_the_lines_of_the_file(vgpu, tmp_path):
    status, _, _ = vgpu("profile", PROGRAM, options=("--json", "out.json"))
    found = {each["kernel"]: each for each in json.loads((tmp_path / "out.json").read_text())}
    assert status == 0 and set(found) == {"hello", "apply<float, 4>"}
    line = next(n for n, text in enumerate(PROGRAM.splitlines(), 1) if "atomicAdd" in text)
    (counted,) = [each for each in found["apply<float, 4>"]["lines"] if each["line"] == line]
    assert counted["global_atomic_requests"] == 32
    status, shown, _ = vgpu("sanitize", BEYOND)
    assert status == 1
    assert re.search(r"out of bounds.*\n.*`x\[100\]`, but `x` has 100 elements.*\n  line 3: x\[", shown)


@COMPILER
def test_the_program_is_told_of_faults_as_by_cuda(vgpu):
    status, shown, errors = vgpu("run", BEYOND)
    assert (status, shown) == (0, "cudaErrorIllegalAddress\nan illegal memory access was encountered\n")
    assert "OutOfBounds" in errors and "line 3: x[blockIdx.x * blockDim.x + threadIdx.x] = 1;" in errors


@COMPILER
def test_cooperative_launches_managed_memory_and_properties(vgpu):
    status, shown, errors = vgpu("run", COOPERATIVE, options=("--gpu", "H100"))
    assert (status, errors, shown) == (0, "", "28 32 132\n")


@COMPILER
def test_managed_variables(vgpu):
    assert vgpu("run", MANAGED) == (0, "31 1 48\n", "")


@COMPILER
def test_integers_of_64_bits_are_the_same_types_in_both_halves(vgpu):
    assert vgpu("run", INTEGERS) == (0, "2 3 2 1 1 1 1 1 1 1 1", "")


@COMPILER
def test_integers_of_128_bits_and_headers_that_declare_integers(vgpu):
    assert vgpu("run", WIDE) == (0, str(25 << 16), "")


@COMPILER
def test_refused_calls_are_errors_and_threads_of_the_program_are_watched(vgpu, tmp_path):
    status, shown, _ = vgpu("sanitize", REFUSED, options=("--json", "out.json"))
    assert status == 3 and shown.endswith("4 errors in 1 kernel and 3 calls of CUDA's runtime\n")
    host, kernel = json.loads((tmp_path / "out.json").read_text())
    too_many, none, freed = host["findings"]
    assert too_many["what"].startswith("fill: the block size in x is 2048") and too_many["count"] == 2
    assert none["what"].startswith("fill: the grid size in x is 0") and freed["what"].startswith("cudaErrorInvalidVal")
    assert kernel["kernel"] == "fill" and [each["kind"] for each in kernel["findings"]] == ["out_of_bounds"]


@COMPILER
def test_rows_are_one_copy_and_a_graph_is_one_however_often_it_is_launched(vgpu, tmp_path):
    status, shown, errors = vgpu("trace", ROWS, options=("--json", "out.json"))
    assert status == 0 and shown.startswith("0 cudaErrorInvalidPitchValue\n") and "graphs were launched" not in shown
    assert errors.startswith("CUDARuntimeError: cudaErrorInvalidPitchValue: rows of 20 bytes are more than the pitch")
    found = [
        (each["name"], each["tid"] == "stream 1")
        for each in json.loads((tmp_path / "out.json").read_text())["traceEvents"] if each["pid"] != "host"
    ]  # fmt: skip
    assert found == [
        ("memset 60 bytes", False), ("H2D 60 bytes", True), ("H2D 4 bytes", True),
        *[("multiply (3 blocks)", True)] * 3, ("D2H 60 bytes", False),
    ]  # fmt: skip


@COMPILER
def test_pointers_to_kernels_and_types_of_both_halves(vgpu):
    assert vgpu("run", POINTERS) == (0, "11 2\n", "")


@COMPILER
def test_kernels_may_be_written_as_for_nvcc(vgpu):
    assert vgpu("run", AS_NVCC) == (0, "193 5 6 8 30\n", "")


@COMPILER
def test_a_program_is_stopped_after_its_time_and_what_it_did_is_reported(vgpu, tmp_path):
    endless = POINTERS.replace("int main() {", "int main() { for (;;) first<<<1, 1>>>(0);").replace("p->a = 1", "")
    status, _, said = vgpu("profile", endless, options=["--seconds", "3", "--json", "report.json"])
    assert status == STOPPED == 124 and "Stopped after 3 s of CPU time." in said
    (kernel,) = json.loads((tmp_path / "report.json").read_text())
    assert kernel["kernel"] == "first" and kernel["launches"] > 1


@COMPILER
def test_a_program_of_several_files_and_what_is_compiled_again(tmp_path, monkeypatch):
    for name, text in SEVERAL.items():
        (tmp_path / name).write_text(text)
    script, log = tmp_path / "compiler", tmp_path / "log"
    script.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {build.compiler()} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    monkeypatch.setenv("VGPU_CACHE", str(tmp_path / "cache"))

    start = "import sys; from vgpu.base import on_disk; from vgpu.programs.command import main\n"
    start += "on_disk.SETTLED = -10**9; sys.exit(main())"  # nothing in a test is two seconds old

    def run(*options):
        log.write_text("")
        command = [sys.executable, "-W", "ignore", "-c", start, "run", *options, "main.cu", "other.cu", "plain.cpp"]
        done = subprocess.run([*command, "--", "abc"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout, len(log.read_text().splitlines())

    assert run() == ("2206 14\n", 8)  # three files, four of the runtime, the link
    assert run() == ("2206 14\n", 0)
    (tmp_path / "plain.h").write_text("#define MORE 20\n")
    assert run() == ("2206 24\n", 2)
    assert run("-std=c++20", "-DUNUSED=1") == ("2206 24\n", 4)


@COMPILER
def test_macros_that_launch_the_standard_library_in_kernels_and_specialisations(vgpu):
    assert vgpu("run", MACROS) == (0, "3 17\n", "")


@COMPILER
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("int main() { return nothing; }", "error: ‘nothing’ was not declared|undeclared identifier 'nothing'"),
        (
            "__global__ void k(int *x) { *x = nothing; }\nint main() { }",
            r'line 1: identifier "nothing" is undefined\n\n +1 \| __global__ void k',
        ),
        ("#include <cusparse.h>\nint main() {}", "cusparse.h: No such .*\n(.*\n)*Of CUDA's libraries vgpu has cuBLAS"),
        ("texture<float, 1> x;\nint main() {}", "Texture references left CUDA with version 12"),
        ("void far(int);\nint main() { far(1); }", "calls far, which vgpu doesn't have: .* vgpu run a.cu b.cpp"),
        ("__global__ void k(int *x) {}", "program.cu has no main. Its kernels are k; launch one: vgpu profile"),
    ],
)  # fmt: skip
def test_what_cannot_be_compiled_says_why(vgpu, program, words):
    status, shown, errors = vgpu("run", program)
    assert (status, shown) == (1, "") and re.search(words, errors), errors
    assert "Traceback" not in errors


def test_a_kernel_alone(vgpu):
    options = ["--kernel", "scale<float>", "--grid", "1", "--block", "8"]
    for given in ("float32[5]=range", "3", "5"):
        options += ["--arg", given]
    assert vgpu("run", KERNEL, options=options) == (0, "[ 0.  3.  6.  9. 12.]\n", "")
    status, shown, _ = vgpu("profile", KERNEL, options=options)
    assert status == 0 and "Profile of" in shown and "x[i] *= by;" in shown


def test_as_many_arguments_as_the_kernel_takes(vgpu):
    status, _, errors = vgpu("run", KERNEL, options=["--kernel", "scale<float>", "--arg", "3"])
    assert status == 1 and errors == "program.cu: scale<float> takes 3 arguments, and 1 were given.\n"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("float33[5]", "'float33' in 'float33[5]' is no type"),
        (
            "float32[5]=full",
            "'full' in 'float32[5]=full' is no way to fill an array: random, range, zeros, or a number",
        ),
        ("five", "'five' isn't understood: an argument is a number (1000), or an array as type[size]=fill"),
    ],
)
def test_an_argument_that_is_not_understood(given, words):
    from vgpu.base.errors import ArgumentError
    from vgpu.programs.kernels import argument

    with pytest.raises(ArgumentError, match=re.escape(words)):
        argument(given, None)

"""Right answers to the exercises of chapter 00, by other routes than the solution."""

ROWS = [
    (
        "ch00.relu",
        "int index arithmetic",
        """@cuda.jit
def relu(x, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= x.shape[0]:
        return
    v = x[i]
    out[i] = v if v > 0 else 0""",
    ),
    (
        "ch00.relu",
        "grid stride",
        """import numpy as np

@cuda.jit
def relu(x, out):
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        out[i] = max(x[i], np.float32(0))""",
    ),
    (
        "ch00.relu",
        "device function",
        """@cuda.jit(device=True)
def pos(v):
    return (v + abs(v)) / 2
@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = pos(x[i])""",
    ),
    (
        "ch00.relu",
        "bool product",
        """@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * (x[i] > 0)""",
    ),
    (
        "ch00.relu",
        "selp",
        """import numpy as np

@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = cuda.selp(x[i] > 0, x[i], np.float32(0))""",
    ),
    (
        "ch00.relu",
        "lambda math.fmax",
        """import math

f = cuda.jit(device=True)(lambda v: math.fabs(v)*0.5+0.5*v)
@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = f(x[i])""",
    ),
    (
        "ch00.leaky",
        "gridstride",
        """extern "C" __global__ void leaky_relu(const float* x, float* out, float slope, int n) {
    for (int i = blockIdx.x*blockDim.x+threadIdx.x; i < n; i += blockDim.x*gridDim.x) {
    float v = x[i]; out[i] = v * (v > 0 ? 1.f : slope); } }""",
    ),
    (
        "ch00.leaky",
        "fmax+fmin",
        """extern "C" __global__ void leaky_relu(const float* x, float* out, float slope, int n) {
    int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return; out[i] = fmaxf(x[i],
    0.f) + slope * fminf(x[i], 0.f); }""",
    ),
    (
        "ch00.leaky",
        "template",
        """template<typename T> __device__ __forceinline__ T f(T v, T s) { return v > T(0) ? v : s * v; }
extern "C" __global__ void leaky_relu(const float* __restrict__ x, float* __restrict__ out,
    float slope, int n) { unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) out[i] = f(__ldg(x+i), slope); }""",
    ),
    (
        "ch00.leaky",
        "bool arith",
        """extern "C" __global__ void leaky_relu(const float* x, float* out, float slope, int n) {
    const size_t i = (size_t)blockIdx.x*blockDim.x+threadIdx.x; if (i < (size_t)n) {
    bool p = x[i] >= 0.0f; out[i] = p*x[i] + (!p)*slope*x[i]; } }""",
    ),
    (
        "ch00.leaky",
        "double",
        """extern "C" __global__ void leaky_relu(const float* x, float* out, float slope, int n) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if (i < n) out[i] = x[i] > 0.0 ? x[i] : (double)slope * x[i]; }""",
    ),
    (
        "ch00.leaky",
        "cg",
        """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void leaky_relu(const float* x, float* out, float slope, int n) {
    auto g = cg::this_grid(); for (auto i = g.thread_rank(); i < n;
    i += g.size()) out[i] = x[i] > 0 ? x[i] : slope*x[i]; }""",
    ),
    (
        "ch00.clocks",
        "step by step",
        """def clocks(launch, kernel, launches):
    launched = done = 0
    for _ in range(launches):
        launched += launch
        done = max(launched, done) + kernel
    return launched, done""",
    ),
    (
        "ch00.clocks",
        "two cases, a list",
        """def clocks(launch, kernel, launches):
    if kernel > launch:
        return [launch * launches, launch + launches * kernel]
    return [launch * launches, launches * launch + kernel]""",
    ),
    (
        "ch00.typical",
        "statistics",
        """import statistics
def typical(times, warmup):
    return statistics.median(times[warmup:])""",
    ),
    (
        "ch00.typical",
        "np",
        """import numpy as np

def typical(times, warmup):
    return np.median(times[warmup:])""",
    ),
    (
        "ch00.typical",
        "np float",
        """import numpy as np

def typical(times, warmup=0):
    return float(np.median(np.array(times)[warmup:]))""",
    ),
    (
        "ch00.typical",
        "percentile",
        """import numpy as np

def typical(times, warmup):
    return np.percentile(times[warmup:], 50)""",
    ),
    (
        "ch00.typical",
        "if even",
        """def typical(times, warmup):
    t = sorted(times[warmup:]); n = len(t)
    return t[n//2] if n % 2 else (t[n//2-1]+t[n//2])/2""",
    ),
    (
        "ch00.typical",
        "heapq",
        """import heapq
def typical(times, warmup):
    c = times[warmup:]
    h = heapq.nsmallest(len(c)//2+1, c)
    return h[-1] if len(c) % 2 else sum(h[-2:])/2""",
    ),
]

"""Right answers to the exercises of chapter 09 by routes other than the solution's: all of them pass."""

ROWS = [
    # key, which way, the whole source
    (
        "ch09.block",
        "next and min",
        """from helpers import gpus, occupancy
def smallest_block(registers, floats, names, wanted):
    def worst(t):
        return min(occupancy(registers, floats * 4 * t, t, gpus.find(n)).fraction for n in names)

    return next((t for t in range(32, 1025, 32) if worst(t) >= wanted), 0)
""",
    ),
    (
        "ch09.block",
        "vgpu.hardware.occupancy module and while",
        """import helpers
from helpers import occupancy as occ
def smallest_block(registers, floats, names, wanted):
    threads = 32
    while threads <= 1024:
        ok = True
        for name in names:
            row = helpers.gpus.find(name)
            if occ(registers, threads * floats * 4, threads, row).fraction < wanted:
                ok = False
                break
        if ok:
            return threads
        threads += 32
    return 0
""",
    ),
    (
        "ch09.block",
        "warps, numpy",
        """import numpy as np
from helpers import occupancy, gpus
def smallest_block(registers, floats, names, wanted):
    rows = [gpus.find(n) for n in names]
    for warps in range(1, 33):
        t = warps * 32
        f = np.array([occupancy(registers, t * floats * np.dtype(np.float32).itemsize, t, r).fraction for r in rows])
        if np.all(f >= wanted):
            return t
    return 0
""",
    ),
    (
        "ch09.block",
        "device by name string",
        """from helpers import gpus, occupancy
def smallest_block(registers, floats, names, wanted):
    best = 0
    for threads in range(1024, 0, -32):
        if all(occupancy(registers, 4 * floats * threads, threads, gpus.find(n)).fraction >= wanted for n in names):
            best = threads
    return best
""",
    ),
    (
        "ch09.spread",
        "Welford float32",
        """import numpy as np
@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    mean = np.float32(0)
    m2 = np.float32(0)
    for k in range(64):
        v = x[k, i]
        d = v - mean
        mean += d / np.float32(k + 1)
        m2 += d * (v - mean)
    out[i] = m2 / np.float32(64)
""",
    ),
    (
        "ch09.spread",
        "float32 two sums",
        """import numpy as np
@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        s = np.float32(0)
        q = np.float32(0)
        for k in range(x.shape[0]):
            v = x[k, i]
            s += v
            q = cuda.fma(v, v, q)
        m = s / np.float32(64)
        out[i] = q / np.float32(64) - m * m
""",
    ),
    (
        "ch09.spread",
        "device function and tuple",
        """@cuda.jit(device=True)
def add(acc, v):
    return acc[0] + v, acc[1] + v * v
@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        acc = (0.0, 0.0)
        for k in range(64):
            acc = add(acc, x[k, i])
        out[i] = acc[1] / 64 - (acc[0] / 64) ** 2
""",
    ),
    (
        "ch09.spread",
        "column slice",
        """@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        squares = 0.0
        for v in x[:, i]:
            total += v
            squares += v * v
        mean = total / 64
        out[i] = squares / 64 - mean * mean
""",
    ),
    (
        "ch09.early",
        "named scalars, whole path and tail",
        """extern "C" __global__ void four(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    if (i + 3 * all < n) {
        float a0 = x[i], a1 = x[i + all], a2 = x[i + 2 * all], a3 = x[i + 3 * all];
        float b0 = y[i], b1 = y[i + all], b2 = y[i + 2 * all], b3 = y[i + 3 * all];
        out[i] = 3 * a0 + b0; out[i + all] = 3 * a1 + b1;
        out[i + 2 * all] = 3 * a2 + b2; out[i + 3 * all] = 3 * a3 + b3;
    } else
        for (int k = i; k < n; k += all) out[k] = 3 * x[k] + y[k];
}
""",
    ),
    (
        "ch09.early",
        "float4 loads",
        """extern "C" __global__ void four(const float* x, const float* y, float* out, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 a = *reinterpret_cast<const float4*>(x + i), b = *reinterpret_cast<const float4*>(y + i);
        *reinterpret_cast<float4*>(out + i) = make_float4(3 * a.x + b.x, 3 * a.y + b.y, 3 * a.z + b.z, 3 * a.w + b.w);
    } else
        for (int k = i; k < n; ++k) out[k] = 3 * x[k] + y[k];
}
""",
    ),
    (
        "ch09.early",
        "restrict, simple loop unrolled",
        """extern "C" __global__ void four(const float* __restrict__ x, const float* __restrict__ y,
                                float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[4] = {}, w[4] = {};
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        int at = i + k * all;
        v[k] = at < n ? __ldg(x + at) : 0.f; w[k] = at < n ? __ldg(y + at) : 0.f;
    }
    #pragma unroll
    for (int k = 0; k < 4; ++k) { int at = i + k * all; if (at < n) out[at] = fmaf(3.f, v[k], w[k]); }
}
""",
    ),
    (
        "ch09.early",
        "template with min and lambda",
        """template <int N> __device__ void run(const float* x, const float* y, float* out, int n) {
    const int start = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    float a[N], b[N];
    auto clamp = [=](int k) { int at = start + k * step; return at < n ? at : 0; };
    #pragma unroll
    for (int k = 0; k < N; ++k) a[k] = x[clamp(k)];
    #pragma unroll
    for (int k = 0; k < N; ++k) b[k] = y[clamp(k)];
    #pragma unroll
    for (int k = 0; k < N; ++k) if (start + k * step < n) out[start + k * step] = 3.0f * a[k] + b[k];
}
extern "C" __global__ void four(const float* x, const float* y, float* out, int n) { run<4>(x, y, out, n); }
""",
    ),
    (
        "ch09.early",
        "block tiles of 512",
        """extern "C" __global__ void four(const float* x, const float* y, float* out, int n) {
    int base = blockIdx.x * 512 + threadIdx.x;
    float a[4], b[4];
    #pragma unroll
    for (int k = 0; k < 4; k++) { a[k] = x[min(base + 128 * k, n - 1)]; b[k] = y[min(base + 128 * k, n - 1)]; }
    #pragma unroll
    for (int k = 0; k < 4; k++) { int i = base + 128 * k; if (i < n) out[i] = 3 * a[k] + b[k]; }
}
""",
    ),
    (
        "ch09.spread",
        "shifted by the first value, in a loop whose length the compiler does not know",
        """@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < x.shape[1]:
        base = x[0, i]
        s, q = 0.0, 0.0
        for k in range(1, x.shape[0]):
            d = x[k, i] - base
            s += d
            q += d * d
        out[i] = (q - s * s / 64) / 64
""",
    ),
    (
        "ch09.resident",
        "a list of limits, rounded with math.ceil",
        """import math
from helpers import gpus
def resident(registers, shared_bytes, threads, name):
    gpu = gpus.find(name)
    warps = math.ceil(threads / gpu.warp_size)
    limits = [gpu.warps_per_sm // warps, gpu.blocks_per_sm]
    units = math.ceil(registers * gpu.warp_size / gpu.register_granularity)
    quarter = gpu.registers_per_sm // gpu.partitions_per_sm
    limits.append(quarter // (units * gpu.register_granularity) * gpu.partitions_per_sm // warps)
    units = math.ceil((shared_bytes + gpu.shared_reserved) / gpu.shared_granularity)
    limits.append(gpu.shared_per_sm // (units * gpu.shared_granularity))
    return min(limits)
""",
    ),
    (
        "ch09.resident",
        "the helper",
        """from helpers import gpus, occupancy
def resident(registers, shared_bytes, threads, name):
    return occupancy(registers, shared_bytes, threads, gpus.find(name)).blocks_per_sm
""",
    ),
    (
        "ch09.profiled",
        "warps instead of threads",
        """from helpers import gpus, occupancy
def estimated(blocks, threads, registers, shared_bytes, name):
    gpu = gpus.find(name)
    held = occupancy(registers, shared_bytes, threads, gpu)
    launched = blocks * threads / 32 / gpu.sms / gpu.warps_per_sm
    return 100 * min(launched, held.fraction)
""",
    ),
    (
        "ch09.flight",
        "step by step",
        """from helpers import gpus, occupancy
def elements(wanted, registers, threads, itemsize, name):
    warps = occupancy(registers, 0, threads, gpus.find(name)).warps_per_sm
    count = 1
    while count * warps * 32 * itemsize < wanted:
        count += 1
    return count
""",
    ),
    (
        "ch09.flight",
        "math.ceil",
        (
            (
                "    return (wanted + at_once - 1) // at_once",
                """    import math

    return math.ceil(wanted / at_once)""",
            ),
        ),
    ),
    (
        "ch09.profiled",
        "warps in place of threads",
        """from helpers import gpus, occupancy


def estimated(blocks, threads, registers, shared_bytes, name):
    gpu = gpus.find(name)
    fits = occupancy(registers, shared_bytes, threads, gpu).blocks_per_sm
    blocks_here = min(fits, blocks / gpu.sms)
    return 100.0 * (blocks_here * threads / 32) / (gpu.threads_per_sm / 32)""",
    ),
    (
        "ch09.early",
        "the loop of the start, with __restrict__",
        """
extern "C" __global__
void four(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    #pragma unroll 4
    for (int k = i; k < n; k += all) out[k] = 3 * x[k] + y[k];
}
""",
    ),
    (
        "ch09.early",
        "guarded loads, then guarded stores",
        """
extern "C" __global__
void four(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[4], w[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k)
        if (i + k * all < n) {
            v[k] = x[i + k * all];
            w[k] = y[i + k * all];
        }
    #pragma unroll
    for (int k = 0; k < 4; ++k)
        if (i + k * all < n) out[i + k * all] = 3 * v[k] + w[k];
}
""",
    ),
]

"""Wrong answers to the exercises of chapter 09, each written out whole."""

ROWS = [
    # key, what is wrong, source, name of the mistake
    (
        "ch09.block",
        "every count of threads",
        """from helpers import gpus, occupancy
def smallest_block(registers, floats, names, wanted):
    for t in range(1, 1025):
        if all(occupancy(registers, 4 * floats * t, t, gpus.find(n)).fraction >= wanted for n in names):
            return t
    return 0
""",
        "a part of a warp",
    ),
    (
        "ch09.block",
        "returns None",
        """from helpers import gpus, occupancy
def smallest_block(registers, floats, names, wanted):
    for t in range(32, 1025, 32):
        if all(occupancy(registers, 4 * floats * t, t, gpus.find(n)).fraction >= wanted for n in names):
            return t
""",
        "no answer is an answer, too",
    ),
    (
        "ch09.block",
        "prints",
        """from helpers import gpus, occupancy
def smallest_block(registers, floats, names, wanted):
    for t in range(32, 1025, 32):
        if all(occupancy(registers, 4 * floats * t, t, gpus.find(n)).fraction >= wanted for n in names):
            print(t)
            break
""",
        "it returns nothing",
    ),
    (
        "ch09.block",
        "percent",
        """from helpers import gpus, occupancy
def smallest_block(registers, floats, names, wanted):
    for t in range(32, 1025, 32):
        if all(occupancy(registers, 4 * floats * t, t, gpus.find(n)).fraction >= 100 * wanted for n in names):
            return t
    return 0
""",
        "no block is ever enough",
    ),
    (
        "ch09.block",
        "list of per-GPU answers",
        """from helpers import gpus, occupancy
def smallest_block(registers, floats, names, wanted):
    def smallest(gpu):
        sizes = range(32, 1025, 32)
        return next((t for t in sizes if occupancy(registers, 4 * floats * t, t, gpu).fraction >= wanted), 0)

    return max(smallest(gpus.find(n)) for n in names)
""",
        "each GPU by itself",
    ),
    (
        "ch09.spread",
        "std instead of variance",
        """import math
@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        t, q = 0.0, 0.0
        for k in range(64):
            t += x[k, i]
            q += x[k, i] * x[k, i]
        out[i] = math.sqrt(q / 64 - (t / 64) ** 2)
""",
        "a root too many",
    ),
    (
        "ch09.spread",
        "x[i, k]",
        """@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        t, q = 0.0, 0.0
        for k in range(64):
            t += x[i, k]
            q += x[i, k] * x[i, k]
        out[i] = q / 64 - (t / 64) ** 2
""",
        "an index has gone astray",
    ),
    (
        "ch09.spread",
        "not divided",
        """@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        t, q = 0.0, 0.0
        for k in range(64):
            t += x[k, i]
            q += x[k, i] * x[k, i]
        out[i] = q - t * t / 64
""",
        "the sum is not divided",
    ),
    (
        "ch09.spread",
        "mean of squares minus mean (not squared)",
        """@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        t, q = 0.0, 0.0
        for k in range(64):
            t += x[k, i]
            q += x[k, i] * x[k, i]
        out[i] = q / 64 - t / 64
""",
        "the mean is not squared",
    ),
    (
        "ch09.spread",
        "returns the mean",
        """@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        t = 0.0
        for k in range(64):
            t += x[k, i]
        out[i] = t / 64
""",
        "the mean is no variance",
    ),
    (
        "ch09.spread",
        "sign swapped",
        """@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        t, q = 0.0, 0.0
        for k in range(64):
            t += x[k, i]
            q += x[k, i] * x[k, i]
        out[i] = (t / 64) ** 2 - q / 64
""",
        "the wrong way round",
    ),
    (
        "ch09.spread",
        "one thread for all columns",
        """@cuda.jit
def spread(x, out):
    if cuda.grid(1) == 0:
        for i in range(out.size):
            t, q = 0.0, 0.0
            for k in range(64):
                v = x[k, i]
                t += v
                q += v * v
            out[i] = q / 64 - (t / 64) ** 2
""",
        "a lane alone asks for values",
    ),
    (
        "ch09.early",
        "x + y swapped",
        """extern "C" __global__ void four(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[4], w[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) { int at = min(i + k * all, n - 1); v[k] = x[at]; w[k] = y[at]; }
    #pragma unroll
    for (int k = 0; k < 4; ++k) if (i + k * all < n) out[i + k * all] = v[k] + 3 * w[k];
}
""",
        "the factor belongs to x",
    ),
    (
        "ch09.early",
        "returns early when i + 3 all >= n",
        """extern "C" __global__ void four(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    if (i + 3 * all >= n) return;
    float a0 = x[i], a1 = x[i + all], a2 = x[i + 2 * all], a3 = x[i + 3 * all];
    float b0 = y[i], b1 = y[i + all], b2 = y[i + 2 * all], b3 = y[i + 3 * all];
    out[i] = 3 * a0 + b0; out[i + all] = 3 * a1 + b1; out[i + 2 * all] = 3 * a2 + b2; out[i + 3 * all] = 3 * a3 + b3;
}
""",
        "the last threads give up",
    ),
    (
        "ch09.early",
        "2x instead of 3x",
        """extern "C" __global__ void four(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[4], w[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) { int at = min(i + k * all, n - 1); v[k] = x[at]; w[k] = y[at]; }
    #pragma unroll
    for (int k = 0; k < 4; ++k) if (i + k * all < n) out[i + k * all] = v[k] + w[k];
}
""",
        "the factor is missing",
    ),
]

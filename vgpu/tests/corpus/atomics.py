"""Atomics: every operation, and what is built of them."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

import numpy as np

from vgpu.tests.corpus.row import c

f4, f8, i4, u4, i8, u8 = np.float32, np.float64, np.int32, np.uint32, np.int64, np.uint64


@c(
    """
    __device__ float atomicMaxFloat(float* address, float value) {
        int* as_int = (int*)address; int old = *as_int, assumed;
        do { assumed = old; old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed)))); } while (assumed != old);
        return __int_as_float(old);
    }
    __device__ double atomicMulDouble(double* address, double value) {
        unsigned long long* p = (unsigned long long*)address; unsigned long long old = *p, assumed;
        do { assumed = old; old = atomicCAS(p, assumed, __double_as_longlong(value * __longlong_as_double(assumed))); } while (assumed != old);
        return __longlong_as_double(old);
    }
    extern "C" __global__ void k(const float* in, float* top, double* product, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) { atomicMaxFloat(top, in[i]); atomicMulDouble(product, 1.0 + in[i] * 0.01); }
    }""",
    3, 100, rtol=1e-12, counts=False,  # how often a loop goes round depends on who comes between
)  # fmt: skip
def compare_and_swap_loops(random):
    x = random.normal(size=271).astype(f4) - f4(5)
    return (x, np.full(1, -np.inf, f4), np.ones(1), i4(271)), {
        1: [x.max()],
        2: [(1 + (x * 1.0).astype(f8) * 0.01).prod()],
    }


@c(
    """
    extern "C" __global__ void k(const long long* in, long long* out, unsigned long long* total, unsigned* wrap, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        atomicMin(out, in[i]); atomicMax(out + 1, in[i]); atomicAdd(total, (unsigned long long)in[i]);
        atomicXor(total + 1, (unsigned long long)in[i]); atomicAnd(total + 2, (unsigned long long)in[i]); atomicOr(total + 3, (unsigned long long)in[i]);
        atomicInc(wrap, 16); atomicDec(wrap + 1, 16); atomicSub((int*)wrap + 2, 2); atomicExch(wrap + 3, 9u);
    }""",
    3, 64,
)  # fmt: skip
def wide_and_wrapping_atomics(random):
    x = random.integers(-(2**62), 2**62, 177)
    bits = x.view(u8)
    fold = lambda f: f.reduce(bits)
    dec = 5
    for _ in range(177):
        dec = 16 if dec == 0 or dec > 16 else dec - 1
    start = np.array([3, 5, 1000, 0], u4)
    return (x, np.array([2**63 - 1, -(2**63)]), np.array([0, 0, 2**64 - 1, 0], u8), start, i4(177)), {
        1: [x.min(), x.max()],
        2: [fold(np.add), fold(np.bitwise_xor), fold(np.bitwise_and), fold(np.bitwise_or)],
        3: [(3 + 177) % 17, dec, 1000 - 354, 9]}  # fmt: skip


@c(
    """
    __device__ unsigned retired = 0;
    extern "C" __global__ void k(const float* in, volatile float* partial, float* out, int n) {
        __shared__ float s[128]; __shared__ bool last;
        int t = threadIdx.x;
        float v = 0;
        for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += in[i];
        s[t] = v; __syncthreads();
        for (int d = blockDim.x / 2; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
        if (t == 0) {
            partial[blockIdx.x] = s[0];
            __threadfence();
            last = atomicInc(&retired, gridDim.x) == gridDim.x - 1;
        }
        __syncthreads();
        if (last && t == 0) { float sum = 0; for (int b = 0; b < gridDim.x; ++b) sum += partial[b]; *out = sum; retired = 0; }
    }""",
    7, 128, rtol=1e-5,
)  # fmt: skip
def last_block_finishes(random):
    x = random.random(5001).astype(f4)
    return (x, np.zeros(7, f4), np.zeros(1, f4), i4(5001)), {2: [x.sum(dtype=f8)]}


@c(
    """
    struct Lock { int state; __device__ void lock() { while (atomicCAS(&state, 0, 1) != 0); __threadfence(); } __device__ void unlock() { __threadfence(); atomicExch(&state, 0); } };
    __device__ Lock locks[4];
    extern "C" __global__ void k(int* table, const int* keys, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int key = keys[i] & 3;
        bool done = false;
        while (!done) {
            if (atomicCAS(&locks[key].state, 0, 1) == 0) { volatile int* t = table; t[key] = t[key] + 1; __threadfence(); locks[key].unlock(); done = true; }
        }
        if (threadIdx.x == 0) { locks[0].lock(); ((volatile int*)table)[4]++; locks[0].unlock(); }
    }""",
    4, 64,
)  # fmt: skip
def spin_locks(random):
    x = random.integers(0, 4, 250).astype(i4)
    return (np.zeros(5, i4), x, i4(250)), {0: [*np.bincount(x, minlength=4), 4]}


@c(
    """
    extern "C" __global__ void k(const unsigned* keys, unsigned* table_keys, int* values, int capacity, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        unsigned key = keys[i], slot = (key * 2654435761u) % capacity;
        while (true) {
            unsigned old = atomicCAS(&table_keys[slot], 0xffffffffu, key);
            if (old == 0xffffffffu || old == key) { atomicAdd(&values[key], 1); return; }
            slot = (slot + 1) % capacity;
        }
    }""",
    4, 100,
)  # fmt: skip
def open_addressing_hash_table(random):
    x = random.integers(0, 60, 390).astype(u4)
    return (x, np.full(61, 0xFFFFFFFF, u4), np.zeros(60, i4), i4(61), i4(390)), {2: np.bincount(x, minlength=60)}


@c(
    """
    extern "C" __global__ void k(const unsigned char* in, unsigned* histogram, int n) {
        __shared__ unsigned bins[4][64];
        for (int i = threadIdx.x; i < 256; i += blockDim.x) (&bins[0][0])[i] = 0;
        __syncthreads();
        unsigned* mine = bins[threadIdx.x / 32 % 4];
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
            unsigned word = ((const unsigned*)in)[i];
            for (int b = 0; b < 4; ++b, word >>= 8) atomicAdd(&mine[(word & 0xff) >> 2], 1u);
        }
        if (blockIdx.x == 0 && threadIdx.x < n % 4) atomicAdd(&mine[in[n - 1 - threadIdx.x] >> 2], 1u);
        __syncthreads();
        if (threadIdx.x < 64) atomicAdd(&histogram[threadIdx.x], bins[0][threadIdx.x] + bins[1][threadIdx.x] + bins[2][threadIdx.x] + bins[3][threadIdx.x]);
    }""",
    3, 128,
)  # fmt: skip
def histogram_of_words(random):
    x = random.integers(0, 256, 4099).astype(np.uint8)
    return (x, np.zeros(64, u4), i4(4099)), {1: np.bincount(x >> 2, minlength=64)}


@c(
    """
    extern "C" __global__ void k(int* i, unsigned* u, unsigned long long* w, float* f, double* d, int* order) {
        int t = blockIdx.x * blockDim.x + threadIdx.x;
        __shared__ int s[2];
        if (threadIdx.x < 2) s[threadIdx.x] = 0;
        __syncthreads();
        atomicAdd(&s[threadIdx.x & 1], t);
        atomicMax(&i[0], t * 37 % 101); atomicMin(&i[1], -(t * 37 % 101)); atomicSub(&i[2], 2);
        atomicAnd(&u[0], ~(1u << t % 20)); atomicOr(&u[1], 1u << t % 20); atomicXor(&u[2], 1u << t % 3);
        atomicInc(&u[3], 10); atomicDec(&u[4], 10);
        atomicAdd(&w[0], 1ull << 33); atomicMax(&w[1], (unsigned long long)t << 40);
        atomicAdd(f, 0.5f); atomicAdd(d, 0.25);
        order[atomicAdd(&i[3], 1)] = t;
        int old = atomicAdd(&i[4], 0), seen;
        do { seen = old; old = atomicCAS(&i[4], seen, seen + 3); } while (old != seen);
        __syncthreads();
        if (threadIdx.x < 2) atomicAdd(&i[5 + threadIdx.x], s[threadIdx.x]);
        if (t == 0) w[2] = atomicExch(&w[3], 77ull);
    }""",
    2, 48, check=True,
)  # fmt: skip
def atomics_of_every_kind(random):
    t = np.arange(96)
    toggled = sum(1 << b for b in range(3) if np.count_nonzero(t % 3 == b) % 2)
    most = (t * 37 % 101).max()
    start = (
        np.zeros(7, i4),
        np.array([0xFFFFFFFF, 0, 0, 0, 0], u4),
        np.array([0, 0, 0, 5], u8),
        np.zeros(1, f4),
        np.zeros(1),
        np.full(96, -1, i4),
    )
    return start, {
        0: [most, -most, -192, 96, 288, t[::2].sum(), t[1::2].sum()],
        1: [0xFFF00000, 0x000FFFFF, toggled, 96 % 11, (-96) % 11],
        2: [96 << 33, 95 << 40, 5, 77], 3: [48], 4: [24], 5: lambda order: sorted(order) == t.tolist()}  # fmt: skip


@c(
    """
    extern "C" __global__ void k(const int* in, unsigned* out) {
        __shared__ unsigned up, down, sums[4]; __shared__ int least, most; __shared__ float total;
        int t = threadIdx.x, v = in[t];
        if (t < 4) sums[t] = 0;
        if (t == 0) { up = 3; down = 2; least = 1 << 30; most = -least; total = 0; }
        __syncthreads();
        atomicInc(&up, 9); atomicDec(&down, 9); atomicMin(&least, v); atomicMax(&most, v); atomicAdd(&total, 0.5f);
        unsigned seen, old = atomicAdd(&sums[t & 3], 0);
        do { seen = old; old = atomicCAS(&sums[t & 3], seen, seen + v); } while (old != seen);
        __syncthreads();
        if (t < 4) out[t] = sums[t];
        if (t == 0) { out[4] = up; out[5] = down; out[6] = least; out[7] = most; out[8] = total; }
    }""",
    1, 75,
)  # fmt: skip
def atomics_on_shared_memory(random):
    v = random.integers(-50, 50, 75).astype(i4)
    sums = np.bincount(np.arange(75) % 4, weights=v).astype(i4)
    wanted = [*sums, (3 + 75) % 10, (2 - 75) % 10, v.min(), v.max(), 37]
    return (v, np.zeros(9, u4)), {1: np.array(wanted, i4).view(u4)}

"""Whole kernels in CUDA C++, against NumPy, on the compiled engine and on the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest

RANDOM = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def same_numbers_for_both_engines():
    """Every test starts from the same random numbers."""
    global RANDOM
    RANDOM = np.random.default_rng(3)


def floats(*shape) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float32)


def zeros(*shape, dtype=np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


# ---------------------------------------------------------------- moving data


def test_saxpy(engine):
    kernel = engine.c("""
        extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = a * x[i] + y[i];
        }""")
    x, y = floats(300), floats(300)
    expected = np.float32(2.5) * x + y
    kernel(5, 64, 300, 2.5, x, y)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("stride", [1, 2, 7, 32])
def test_strided_copy(engine, stride):
    kernel = engine.c("""
        extern "C" __global__ void copy(const double* in, double* out, int stride) {
            int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
            out[i] = in[i];
        }""")
    data, out = RANDOM.normal(size=64 * stride), np.full(64 * stride, -1.0)
    expected = np.where(np.arange(64 * stride) % stride == 0, data, -1.0)
    kernel(2, 32, data, out, stride)
    np.testing.assert_array_equal(out, expected)


def test_arrays_of_structures_and_structures_of_arrays(engine):
    source = """
        struct Particle { float x, y; int kind; double mass; };
        extern "C" __global__ void split(const Particle* in, float* x, float* y, int* kind, double* mass) {
            int i = threadIdx.x;
            Particle p = in[i];
            x[i] = p.x; y[i] = p.y; kind[i] = p.kind; mass[i] = p.mass;
        }"""
    layout = np.dtype([("x", "f4"), ("y", "f4"), ("kind", "i4"), ("mass", "f8")], align=True)
    particles = np.zeros(50, layout)
    for name in layout.names:
        particles[name] = RANDOM.normal(size=50) * 100
    out = [zeros(50), zeros(50), zeros(50, dtype=np.int32), zeros(50, dtype=np.float64)]
    engine.c(source)(1, 50, particles, *out)
    for name, column in zip(layout.names, out, strict=True):
        np.testing.assert_array_equal(column, particles[name])


@pytest.mark.parametrize(("rows", "columns"), [(32, 32), (33, 17), (40, 70)])
def test_tiled_transpose(engine, rows, columns):
    kernel = engine.c("""
        extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
            __shared__ float tile[16][17];
            int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
            for (int j = 0; j < 16; j += 8)
                if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
            __syncthreads();
            x = blockIdx.y * 16 + threadIdx.x; y = blockIdx.x * 16 + threadIdx.y;
            for (int j = 0; j < 16; j += 8)
                if (x < rows && y + j < columns) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
        }""")
    data, out = floats(rows, columns), zeros(columns, rows)
    kernel((-(-columns // 16), -(-rows // 16)), (16, 8), data, out, rows, columns)
    np.testing.assert_array_equal(out, data.T)


@pytest.mark.parametrize("n", [16, 21])
def test_tiled_matrix_product(engine, n):
    kernel = engine.c("""
        #define T 16
        extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
            __shared__ float as[T][T], bs[T][T];
            int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
            float sum = 0;
            for (int t = 0; t < (n + T - 1) / T; ++t) {
                int k = t * T + threadIdx.x, l = t * T + threadIdx.y;
                as[threadIdx.y][threadIdx.x] = row < n && k < n ? a[row * n + k] : 0;
                bs[threadIdx.y][threadIdx.x] = l < n && col < n ? b[l * n + col] : 0;
                __syncthreads();
                for (int i = 0; i < T; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
                __syncthreads();
            }
            if (row < n && col < n) c[row * n + col] = sum;
        }""")
    a, b, c = floats(n, n), floats(n, n), zeros(n, n)
    side = -(-n // 16)
    kernel((side, side), (16, 16), a, b, c, n)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


def test_vector_loads_of_every_width(engine):
    kernel = engine.c("""
        extern "C" __global__ void vectors(const float4* f4, const float2* f2, const uchar4* b4, const short2* s2,
                                const double2* d2, const int4* i4, float4* out, double2* wide, int4* ints) {
            int i = threadIdx.x;
            float4 a = f4[i]; float2 b = f2[i]; uchar4 c = b4[i]; short2 d = s2[i];
            out[i] = make_float4(a.x + b.x, a.y + b.y, a.z + c.x + d.x, a.w + c.w + d.y);
            double2 e = d2[i];
            wide[i] = make_double2(e.y, e.x);
            int4 g = i4[i];
            ints[i] = make_int4(g.w, g.z, g.y, g.x);
        }""")
    f4, f2, d2 = floats(37, 4), floats(37, 2), RANDOM.normal(size=(37, 2))
    b4 = RANDOM.integers(0, 256, (37, 4), dtype=np.uint8)
    s2 = RANDOM.integers(-999, 999, (37, 2), dtype=np.int16)
    i4 = RANDOM.integers(-(2**31), 2**31, (37, 4), dtype=np.int32)
    out, wide, ints = zeros(37, 4), zeros(37, 2, dtype=np.float64), zeros(37, 4, dtype=np.int32)
    kernel(1, 37, f4, f2, b4, s2, d2, i4, out, wide, ints)
    expected = f4 + np.stack([f2[:, 0], f2[:, 1], b4[:, 0] + s2[:, 0], b4[:, 3] + s2[:, 1]], 1).astype(np.float32)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(wide, d2[:, ::-1])
    np.testing.assert_array_equal(ints, i4[:, ::-1])


@pytest.mark.parametrize(
    ("grid", "block"), [(3, 40), ((2, 3), (5, 7)), ((2, 1, 2), (3, 4, 5)), ((1, 1, 3), (1, 1, 33))]
)
def test_grids_of_one_to_three_dimensions(engine, grid, block):
    kernel = engine.c("""
        extern "C" __global__ void where(int* out) {
            int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
            int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
            int size = blockDim.x * blockDim.y * blockDim.z;
            out[block * size + thread] = threadIdx.x | threadIdx.y << 6 | threadIdx.z << 12 | block << 20;
        }""")
    shape = lambda size: (size if isinstance(size, tuple) else (size,)) + (1,) * 2
    blocks, threads = int(np.prod(grid)), int(np.prod(block))
    out = np.full(blocks * threads, -1, np.int32)
    kernel(grid, block, out)
    x, y = shape(block)[:2]
    t, b = np.arange(blocks * threads) % threads, np.arange(blocks * threads) // threads
    np.testing.assert_array_equal(out, t % x | (t // x % y) << 6 | (t // (x * y)) << 12 | b << 20)


# ---------------------------------------------------------------- memory spaces


def test_dynamic_shared_memory(engine):
    kernel = engine.c("""
        extern __shared__ int scratch[];
        extern "C" __global__ void reverse(int* data) {
            __shared__ int other[3];
            if (threadIdx.x < 3) other[threadIdx.x] = 1000 * threadIdx.x;
            scratch[threadIdx.x] = data[threadIdx.x];
            __syncthreads();
            data[threadIdx.x] = scratch[blockDim.x - 1 - threadIdx.x] + other[threadIdx.x % 3];
        }""")
    data = np.arange(96, dtype=np.int32)
    kernel(1, 96, data, shared_bytes=96 * 4)
    np.testing.assert_array_equal(data, np.arange(96)[::-1] + 1000 * (np.arange(96) % 3))


def test_constant_and_global_variables(engine):
    kernel = engine.c("""
        __constant__ float weights[5] = {1, 2, 4, 8, 16};
        __constant__ int offset = 3;
        __device__ const float* pointer = weights + 2;
        __device__ int tally;
        extern "C" __global__ void weigh(const int* choice, float* out, int* count) {
            int i = threadIdx.x;
            out[i] = weights[choice[i]] + offset + pointer[0];
            atomicAdd(&tally, 1);
            __syncthreads();
            if (i == 0) *count = tally;
        }""")
    choice, out, count = RANDOM.integers(0, 5, 70, dtype=np.int32), zeros(70), zeros(1, dtype=np.int32)
    kernel(1, 70, choice, out, count)
    np.testing.assert_array_equal(out, 2.0**choice + 3 + 4)
    assert count[0] % 70 == 0 and count[0] > 0


def test_local_arrays_with_computed_indices(engine):
    kernel = engine.c("""
        extern "C" __global__ void sort(int* data) {
            int values[7];
            for (int k = 0; k < 7; ++k) values[k] = data[threadIdx.x * 7 + k];
            for (int i = 1; i < 7; ++i) {
                int v = values[i], j = i;
                while (j > 0 && values[j - 1] > v) { values[j] = values[j - 1]; --j; }
                values[j] = v;
            }
            for (int k = 0; k < 7; ++k) data[threadIdx.x * 7 + k] = values[(k + threadIdx.x) % 7];
        }""")
    data = RANDOM.integers(-50, 50, (40, 7), dtype=np.int32)
    expected = np.array([np.roll(np.sort(row), -i % 7) for i, row in enumerate(data)])
    kernel(1, 40, data)
    np.testing.assert_array_equal(data, expected)


def test_generic_pointers_find_their_space(engine):
    kernel = engine.c("""
        __device__ __noinline__ int sum(const int* p, int n) {
            int s = 0;
            for (int i = 0; i < n; ++i) s += p[i];
            return s;
        }
        __device__ __noinline__ void fill(int* p, int n, int v) { for (int i = 0; i < n; ++i) p[i] = v + i; }
        __constant__ int fixed[4] = {1, 10, 100, 1000};
        extern "C" __global__ void anywhere(int* global, int* out) {
            __shared__ int shared[4];
            int local[4];
            fill(local, 4, threadIdx.x);
            if (threadIdx.x == 0) fill(shared, 4, 7);
            __syncthreads();
            const int* pick = threadIdx.x % 4 == 0 ? local : threadIdx.x % 4 == 1 ? shared :
                              threadIdx.x % 4 == 2 ? global : fixed;
            out[threadIdx.x] = sum(pick, 4);
        }""")
    data, out = np.array([5, 6, 7, 8], np.int32), zeros(64, dtype=np.int32)
    kernel(1, 64, data, out)
    i = np.arange(64)
    np.testing.assert_array_equal(out, np.choose(i % 4, [4 * i + 6, 34, 26, 1111]))


def test_structures_are_passed_by_value(engine):
    kernel = engine.c("""
        struct Line { float slope; double start; int power[3]; };
        __device__ __noinline__ Line steeper(Line line, int by) {
            line.slope *= by;
            line.power[by % 3] += 5;
            return line;
        }
        extern "C" __global__ void evaluate(Line line, float* out) {
            Line mine = steeper(line, threadIdx.x % 4);
            out[threadIdx.x] = mine.slope * threadIdx.x + mine.start + line.power[threadIdx.x % 3]
                               + mine.power[(threadIdx.x + 1) % 3];
        }""")
    line = np.zeros((), np.dtype([("slope", "f4"), ("start", "f8"), ("power", "i4", 3)], align=True))
    line["slope"], line["start"], line["power"] = 0.5, 3.0, [1, 10, 100]
    out = zeros(60)
    kernel(1, 60, line.tobytes(), out)
    i = np.arange(60)
    powers = np.array([[1, 10, 100]] * 60)
    powers[i, i % 4 % 3] += 5
    np.testing.assert_array_equal(out, 0.5 * (i % 4) * i + 3 + 10.0 ** (i % 3) + powers[i, (i + 1) % 3])


# ---------------------------------------------------------------- warps and blocks


def test_block_reduction_with_shuffles(engine):
    kernel = engine.c("""
        extern "C" __global__ void reduce(const float* in, float* out, int n) {
            __shared__ float partial[32];
            float sum = 0;
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
            for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
            if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
            __syncthreads();
            if (threadIdx.x < 32) {
                sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
                for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
                if (threadIdx.x == 0) atomicAdd(out, sum);
            }
        }""")
    data, out = floats(1000), zeros(1)
    kernel(2, 128, data, out, 1000)
    np.testing.assert_allclose(out[0], data.sum(), rtol=1e-4, atol=1e-4)


def test_shuffles_of_every_kind(engine):
    kernel = engine.c("""
        extern "C" __global__ void shuffle(const int* in, int* out, double* wide) {
            int v = in[threadIdx.x], lane = threadIdx.x;
            out[lane] = __shfl_sync(~0u, v, (lane * 7 + 3) % 32);
            out[32 + lane] = __shfl_up_sync(~0u, v, 3);
            out[64 + lane] = __shfl_down_sync(~0u, v, 5, 16);
            out[96 + lane] = __shfl_xor_sync(~0u, v, 9);
            out[128 + lane] = __shfl_sync(~0u, v, lane + 3, 8);
            out[160 + lane] = __shfl_up_sync(~0u, v, lane % 4, 8);
            wide[lane] = __shfl_xor_sync(~0u, v * 0.5, 1);
        }""")
    data, out, wide = RANDOM.integers(0, 1000, 32, dtype=np.int32), zeros(6, 32, dtype=np.int32), zeros(32, dtype="f8")
    kernel(1, 32, data, out, wide)
    lane = np.arange(32)
    within = lambda source, width: np.where(source // width == lane // width, source, lane)
    sources = [
        (lane * 7 + 3) % 32, np.where(lane >= 3, lane - 3, lane), within(lane + 5, 16), lane ^ 9,
        lane // 8 * 8 + (lane + 3) % 8, within(lane - lane % 4, 8),
    ]  # fmt: skip
    np.testing.assert_array_equal(out, data[np.array(sources)])
    np.testing.assert_array_equal(wide, data[lane ^ 1] * 0.5)


def test_votes_ballots_and_matches(engine):
    kernel = engine.c("""
        extern "C" __global__ void ask(const int* in, unsigned* out) {
            int i = threadIdx.x, v = in[i];
            out[i] = __ballot_sync(~0u, v > 3);
            out[32 + i] = __any_sync(~0u, v == 7) | __all_sync(~0u, v < 9) << 1;
            out[64 + i] = __match_any_sync(~0u, v);
            int same; out[96 + i] = __match_all_sync(~0u, 5, &same) ^ same;
            if (i & 1) out[128 + i] = __activemask(); else out[128 + i] = __ballot_sync(0x55555555, v & 1);
            out[160 + i] = __reduce_add_sync(~0u, v) + __reduce_max_sync(~0u, v) * 1000;
            out[192 + i] = __match_any_sync(~0u, (long long)v << 40);
            out[224 + i] = __match_all_sync(~0u, v, &same) + same;
        }""")
    data, out = RANDOM.integers(0, 8, 32, dtype=np.int32), zeros(8, 32, dtype=np.uint32)
    kernel(1, 32, data, out)
    lane = np.arange(32)
    bits = lambda flags: int(sum(1 << int(i) for i in np.flatnonzero(flags)))
    assert set(out[0]) == {bits(data > 3)}
    assert set(out[1]) == {int((data == 7).any()) | 2}
    same = [bits(data == v) for v in data]
    assert out[2].tolist() == same
    assert set(out[3]) == {0xFFFFFFFF ^ 1}
    assert set(out[4][1::2]) == {0xAAAAAAAA}
    assert set(out[4][::2]) == {bits((data & 1 == 1) & (lane % 2 == 0))}
    assert set(out[5]) == {data.sum() + data.max() * 1000}
    assert out[6].tolist() == same
    assert set(out[7]) == {0}


def test_barriers_that_count_and_vote(engine):
    kernel = engine.c("""
        extern "C" __global__ void count(const int* in, int* out) {
            int v = in[threadIdx.x];
            out[threadIdx.x] = __syncthreads_count(v > 2);
            out[100 + threadIdx.x] = __syncthreads_and(v >= 0) + 2 * __syncthreads_or(v == 1000);
        }""")
    data, out = RANDOM.integers(0, 6, 100, dtype=np.int32), zeros(2, 100, dtype=np.int32)
    kernel(1, 100, data, out)
    assert set(out[0]) == {np.count_nonzero(data > 2)}
    assert set(out[1]) == {1}


def test_block_scan_in_shared_memory(engine):
    kernel = engine.c("""
        extern "C" __global__ void scan(int* data) {
            __shared__ int s[2][128];
            int i = threadIdx.x, now = 0;
            s[0][i] = data[i];
            for (int d = 1; d < 128; d *= 2) {
                __syncthreads();
                s[!now][i] = s[now][i] + (i >= d ? s[now][i - d] : 0);
                now = !now;
            }
            __syncthreads();
            data[i] = s[now][i];
        }""")
    data = RANDOM.integers(-9, 9, 128, dtype=np.int32)
    expected = np.cumsum(data)
    kernel(1, 128, data)
    np.testing.assert_array_equal(data, expected)


def test_atomics_of_every_kind(engine):
    kernel = engine.c("""
        extern "C" __global__ void atomics(int* i, unsigned* u, unsigned long long* w, float* f, double* d,
                                          int* order) {
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
            int old = i[4], seen;
            do { seen = old; old = atomicCAS(&i[4], seen, seen + 3); } while (old != seen);
            __syncthreads();
            if (threadIdx.x < 2) atomicAdd(&i[5 + threadIdx.x], s[threadIdx.x]);
            if (t == 0) w[2] = atomicExch(&w[3], 77ull);
        }""")
    i = zeros(7, dtype=np.int32)
    u = np.array([0xFFFFFFFF, 0, 0, 0, 0], np.uint32)
    w = np.array([0, 0, 0, 5], np.uint64)
    f, d, order = zeros(1), zeros(1, dtype=np.float64), np.full(96, -1, np.int32)
    kernel(2, 48, i, u, w, f, d, order)
    t = np.arange(96)
    assert i.tolist() == [
        (t * 37 % 101).max(), -(t * 37 % 101).max(), -192, 96, 288, t[::2].sum(), t[1::2].sum()
    ]  # fmt: skip
    toggled = sum(1 << b for b in range(3) if np.count_nonzero(t % 3 == b) % 2)
    assert u.tolist() == [0xFFF00000, 0x000FFFFF, toggled, 96 % 11, (-96) % 11]
    assert w.tolist() == [96 << 33, 95 << 40, 5, 77]
    assert f[0] == 48 and d[0] == 24 and sorted(order) == t.tolist()


def test_histogram(engine):
    kernel = engine.c("""
        extern "C" __global__ void histogram(const unsigned char* data, int n, int* bins) {
            __shared__ int mine[16];
            if (threadIdx.x < 16) mine[threadIdx.x] = 0;
            __syncthreads();
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                atomicAdd(&mine[data[i] >> 4], 1);
            __syncthreads();
            if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
        }""")
    data, bins = RANDOM.integers(0, 256, 1500, dtype=np.uint8), zeros(16, dtype=np.int32)
    kernel(3, 64, data, 1500, bins)
    np.testing.assert_array_equal(bins, np.bincount(data >> 4, minlength=16))


# ---------------------------------------------------------------- printing


def test_printf_reads_only_what_the_kernel_may_read(engine, capsys):
    """A kernel may hand on any number as a pointer to text, and texts without an end."""
    kernel = engine.c(r"""
        extern "C" __global__ void odd(const char* x) {
            printf("%s|%s|", (const char*)8, x + 3);
        }""")
    kernel(1, 1, np.frombuffer(b"abcdefgh", np.uint8).copy())
    assert capsys.readouterr().out == "(no readable string)|defgh|"


def test_printf(engine, capsys):
    kernel = engine.c(r"""
        extern "C" __global__ void speak(float x, const int* v) {
            if (threadIdx.x < 2) printf("thread %d of %d: %5.2f|%-6s|%c|%x|%lld|100%%\n", threadIdx.x, blockDim.x,
                                        x, threadIdx.x ? "one" : "zero", 'a' + threadIdx.x, v[0], 1ll << 40);
            if (threadIdx.x == 31) printf("end\n");
        }""")
    kernel(1, 32, 3.14159, np.array([255], np.int32))
    assert capsys.readouterr().out == (
        "thread 0 of 32:  3.14|zero  |a|ff|1099511627776|100%\n"
        "thread 1 of 32:  3.14|one   |b|ff|1099511627776|100%\n"
        "end\n"
    )

"""Kernels after well-known patterns of GPU programs, written for this test and compared with NumPy, on both engines."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.vgpu.storage import heap

f4, i4, u4 = np.float32, np.int32, np.uint32


@pytest.fixture(autouse=True)
def fresh_heap():
    heap.reset()
    yield
    heap.reset()


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(f4)


def integers(n, top=1000, seed=0):
    return np.random.default_rng(seed).integers(0, top, n).astype(i4)


# ---------------------------------------------------------------- objects and memory in kernels


def test_containers_and_vectors_made_in_the_kernel(engine):
    """A stack and a vector of C++ behind one interface, made by one thread and used by the block."""
    out = np.zeros(128, i4)
    engine.c("""
        template <class T> struct Container {
            virtual ~Container() {}
            virtual void push(T value) = 0;
            virtual bool pop(T& value) = 0;
        };
        template <class T> struct Vector : Container<T> {
            Vector(int most) : last(-1), data(new T[most]) {}
            ~Vector() override { delete[] data; }
            void push(T value) override { data[atomicAdd(&last, 1) + 1] = value; }
            bool pop(T& value) override {
                int at = atomicSub(&last, 1);
                if (at < 0) return false;
                value = data[at];
                return true;
            }
            int last; T* data;
        };
        template <class T> struct Pair : Container<T> {
            T one;
            void push(T value) override { one = value; }
            bool pop(T& value) override { value = one; return true; }
        };
        extern "C" __global__ void k(int* out) {
            __shared__ Container<int>* box;
            if (threadIdx.x == 0) box = blockIdx.x ? (Container<int>*)new Pair<int> : new Vector<int>(blockDim.x);
            __syncthreads();
            if (blockIdx.x == 0 || threadIdx.x == 0) box->push(threadIdx.x + 7);
            __syncthreads();
            int value = -1;
            box->pop(value);
            out[blockIdx.x * blockDim.x + threadIdx.x] = value;
            __syncthreads();
            if (threadIdx.x == 0) delete box;
        }""")(2, 64, out)
    np.testing.assert_array_equal(np.sort(out[:64]), np.arange(64) + 7)
    assert (out[64:] == 7).all() and not heap.current().live()


def test_objects_placed_in_shared_memory(engine):
    out = np.zeros(64, f4)
    engine.c("""
        struct Particle {
            float x, v;
            Particle(float x, float v) : x(x), v(v) {}
            void step(float dt) { x += v * dt; }
        };
        extern "C" __global__ void k(float* out) {
            __shared__ __align__(alignof(Particle)) unsigned char room[64 * sizeof(Particle)];
            Particle* mine = new (room + threadIdx.x * sizeof(Particle)) Particle(threadIdx.x, 2);
            for (int i = 0; i < 4; i++) mine->step(0.5f);
            __syncthreads();
            out[threadIdx.x] = ((Particle*)room)[63 - threadIdx.x].x;
            mine->~Particle();
        }""")(1, 64, out)
    np.testing.assert_array_equal(out, (np.arange(64) + 4)[::-1])


def test_a_queue_of_work_whose_items_are_allocated(engine):
    """Each thread splits its interval into pieces on the heap; another launch's threads take them off a list."""
    source = """
        struct Work { int from, to; Work* next; };
        extern "C" __global__ void split(Work** list, int n, int parts) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= parts) return;
            Work* work = new Work{i * n / parts, (i + 1) * n / parts, nullptr};
            unsigned long long* place = (unsigned long long*)list;
            unsigned long long seen = *place, old;
            do {
                old = seen;
                work->next = (Work*)old;
                __threadfence();
                seen = atomicCAS(place, old, (unsigned long long)work);
            } while (seen != old);
        }"""
    other = """
        struct Work { int from, to; Work* next; };
        extern "C" __global__ void run(Work** list, const int* data, int* sum) {
            for (Work* work = *list; work;) {
                for (int i = work->from + threadIdx.x; i < work->to; i += blockDim.x) atomicAdd(sum, data[i]);
                Work* next = work->next;
                __syncthreads();
                if (threadIdx.x == 0) delete work;
                work = next;
            }
        }"""
    data, kept, total = integers(1000, seed=4), np.zeros(1, np.int64), np.zeros(1, i4)
    engine.c(source)(2, 32, kept, 1000, 37)
    engine.c(other)(1, 64, kept, data, total)
    assert total[0] == data.sum() and not heap.current().live()


def test_sparse_rows_that_grow(engine):
    """Rows as arrays that double when they are full, as `realloc` would."""
    out, lengths = np.zeros((32, 40), i4), np.zeros(32, i4)
    engine.c("""
        extern "C" __global__ void k(int* out, int* lengths) {
            int room = 2, n = 0, i = threadIdx.x;
            int* row = (int*)malloc(room * sizeof(int));
            for (int j = 0; j <= i; j++) {
                if (n == room) {
                    int* larger = (int*)malloc(2 * room * sizeof(int));
                    memcpy(larger, row, room * sizeof(int));
                    free(row);
                    row = larger;
                    room *= 2;
                }
                row[n++] = i * j;
            }
            lengths[i] = n;
            for (int j = 0; j < n; j++) out[i * 40 + j] = row[j];
            free(row);
        }""")(1, 32, out, lengths)
    expected = np.zeros((32, 40), i4)
    for i in range(32):
        expected[i, : i + 1] = i * np.arange(i + 1)
    np.testing.assert_array_equal(out, expected)
    assert (lengths == np.arange(32) + 1).all() and heap.current().in_use == 0


# ---------------------------------------------------------------- the language: overloads, templates, pointers


def test_overloaded_kernels_and_device_functions(engine):
    a, b, out = integers(64), floats(64), np.zeros(64, f4)
    engine.c("""
        __device__ float part(int x) { return 2 * x; }
        __device__ float part(float x) { return x / 2; }
        __device__ float part(int2 x) { return x.x - x.y; }
        __device__ float part(const float* x) { return *x; }
        extern "C" __global__ void k(const int* a, const float* b, float* out) {
            int i = threadIdx.x;
            out[i] = part(a[i]) + part(b[i]) + part(make_int2(i, 1)) + part(b + i);
        }""")(1, 64, a, b, out)
    np.testing.assert_allclose(out, 2 * a + b / 2 + np.arange(64) - 1 + b, rtol=1e-6)


def test_sobel_by_a_table_of_function_pointers(engine):
    image = integers(20 * 24, 256, seed=2).reshape(20, 24)
    source = """
        typedef int (*Point)(int, int, float);
        __device__ int thresholded(int dx, int dy, float t) { return abs(dx) + abs(dy) > t ? 255 : 0; }
        __device__ int magnitude(int dx, int dy, float t) { return min(255, (int)(t * (abs(dx) + abs(dy)))); }
        __device__ int direction(int dx, int dy, float) { return (dx > 0) + 2 * (dy > 0); }
        __device__ Point table[3] = {thresholded, magnitude, direction};
        extern "C" __global__ void k(const int* in, int* out, int w, int h, int which, float t) {
            int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
            if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
            auto at = [&](int i, int j) { return in[(y + j) * w + x + i]; };
            int dx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
            int dy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
            out[y * w + x] = table[which](dx, dy, t);
        }"""
    i = image.astype(int)
    dx = (i[:-2, 2:] + 2 * i[1:-1, 2:] + i[2:, 2:]) - (i[:-2, :-2] + 2 * i[1:-1, :-2] + i[2:, :-2])
    dy = (i[2:, :-2] + 2 * i[2:, 1:-1] + i[2:, 2:]) - (i[:-2, :-2] + 2 * i[:-2, 1:-1] + i[:-2, 2:])
    total = abs(dx) + abs(dy)
    wanted = (255 * (total > 400), np.minimum(255, (0.25 * total).astype(int)), (dx > 0) + 2 * (dy > 0))
    kernel = engine.c(source)
    for which, t in enumerate((400.0, 0.25, 0.0)):
        out = np.zeros((20, 24), i4)
        kernel((2, 3), (16, 8), image, out, 24, 20, which, t)
        np.testing.assert_array_equal(out[1:-1, 1:-1], wanted[which])


def test_matrix_product_with_template_tiles(engine):
    a, b, out = floats(48, 32), floats(32, 64, seed=1), np.zeros((48, 64), f4)
    engine.c("""
        template <int TILE, typename T> __device__ void product(const T* a, const T* b, T* c, int n, int m) {
            __shared__ T as[TILE][TILE], bs[TILE][TILE + 1];
            int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
            T sum = 0;
            for (int start = 0; start < n; start += TILE) {
                as[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
                bs[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * m + column];
                __syncthreads();
                #pragma unroll
                for (int k = 0; k < TILE; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
                __syncthreads();
            }
            c[row * m + column] = sum;
        }
        extern "C" __global__ void k(const float* a, const float* b, float* c, int n, int m) {
            product<16>(a, b, c, n, m);
        }""")((4, 3), (16, 16), a, b, out, 32, 64)
    np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ("float", "int", "double", "unsigned char"))
def test_dynamic_shared_memory_by_type(engine, kind):
    dtype = {"float": f4, "int": i4, "double": np.float64, "unsigned char": np.uint8}[kind]
    data = (integers(96, 50) + 1).astype(dtype)
    out = np.zeros(96, dtype)
    engine.c(
        """
        template <class T> struct Shared {
            static __device__ T* get() { extern __shared__ __align__(8) char raw[]; return (T*)raw; }
        };
        template <class T> __device__ void work(const T* in, T* out) {
            T* tile = Shared<T>::get();
            tile[threadIdx.x] = in[threadIdx.x];
            __syncthreads();
            out[threadIdx.x] = tile[(threadIdx.x + 1) % blockDim.x] + T(2) * tile[threadIdx.x];
        }
        extern "C" __global__ void k(const KIND* in, KIND* out) { work<KIND>(in, out); }""".replace("KIND", kind)
    )(1, 96, data, out, shared_bytes=96 * data.itemsize)
    np.testing.assert_array_equal(out, np.roll(data, -1) + 2 * data)


def test_inline_ptx(engine):
    out = np.zeros((64, 4), u4)
    engine.c("""
        extern "C" __global__ void k(unsigned* out) {
            unsigned lane, warp, wide, carry = threadIdx.x * 0x9e3779b9u;
            asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
            asm("{ .reg .pred p; setp.gt.u32 p, %1, 15; selp.u32 %0, 1, 0, p; }" : "=r"(warp) : "r"(lane));
            asm("{ .reg .u64 t; mul.wide.u32 t, %1, %2; shr.u64 t, t, 32; cvt.u32.u64 %0, t; }"
                : "=r"(wide) : "r"(carry), "r"(0x10001u));
            asm("bfind.u32 %0, %1;" : "=r"(carry) : "r"(carry | 1));
            ((uint4*)out)[threadIdx.x] = make_uint4(lane, warp, wide, carry);
        }""")(1, 64, out)
    lane = np.arange(64) % 32
    x = (np.arange(64, dtype=np.uint64) * 0x9E3779B9) & 0xFFFFFFFF
    bits = [(int(v) | 1).bit_length() - 1 for v in x]
    np.testing.assert_array_equal(out, np.stack([lane, lane > 15, (x * 0x10001) >> np.uint64(32), bits], axis=1))


# ---------------------------------------------------------------- warps and blocks together


def test_votes(engine):
    data, out = integers(128, 3, seed=7), np.zeros((128, 4), u4)
    engine.c("""
        extern "C" __global__ void k(const int* in, unsigned* out) {
            int i = threadIdx.x;
            unsigned all = __activemask();
            out[4 * i] = __any_sync(all, in[i] == 2);
            out[4 * i + 1] = __all_sync(all, in[i] < 2 || i < 64);
            out[4 * i + 2] = __popc(__ballot_sync(all, in[i] & 1));
            out[4 * i + 3] = __syncthreads_count(in[i] == 0);
        }""")(1, 128, data, out)
    rows = data.reshape(4, 32)
    first = [(rows == 2).any(1), ((rows < 2) | (np.arange(128).reshape(4, 32) < 64)).all(1), (rows & 1).sum(1)]
    for column, value in enumerate(first):
        np.testing.assert_array_equal(out[:, column], np.repeat(value, 32))
    assert (out[:, 3] == (data == 0).sum()).all()


def test_the_last_block_sums_what_all_left(engine):
    data, out = floats(3000), np.zeros(2, f4)
    engine.c("""
        __device__ unsigned arrived;
        __device__ float partial[16];
        __device__ float whole(float x) {
            __shared__ float s[128];
            s[threadIdx.x] = x;
            __syncthreads();
            for (int step = 64; step; step /= 2) {
                if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
                __syncthreads();
            }
            float result = s[0];
            __syncthreads();
            return result;
        }
        extern "C" __global__ void k(const float* in, float* out, int n) {
            __shared__ bool last;
            float sum = 0;
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
            sum = whole(sum);
            if (threadIdx.x == 0) {
                partial[blockIdx.x] = sum;
                __threadfence();
                last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
            }
            __syncthreads();
            if (!last) return;
            sum = whole(threadIdx.x < gridDim.x ? ((volatile float*)partial)[threadIdx.x] : 0.f);
            if (threadIdx.x == 0) { out[0] = sum; out[1] = arrived; }
        }""")(7, 128, data, out, 3000)
    np.testing.assert_allclose(out, [data.sum(dtype=np.float64), 0], rtol=1e-4, atol=1e-3)


def test_filter_with_atomics_of_a_warp(engine):
    data, out, count = integers(500, 10, seed=9), np.zeros(500, i4), np.zeros(1, i4)
    engine.c("""
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        __device__ int grow(int* counter) {
            auto here = cg::coalesced_threads();
            int base;
            if (here.thread_rank() == 0) base = atomicAdd(counter, here.size());
            return here.shfl(base, 0) + here.thread_rank();
        }
        extern "C" __global__ void k(const int* in, int* out, int* count, int n) {
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                if (in[i] > 6) out[grow(count)] = in[i];
        }""")(2, 96, data, out, count, 500)
    kept = data[data > 6]
    assert count[0] == len(kept)
    np.testing.assert_array_equal(np.sort(out[: len(kept)]), np.sort(kept))


def test_partitions_of_a_warp(engine):
    data, out = integers(64, 100, seed=3), np.zeros(4, i4)
    engine.c(
        """
        #include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        namespace cg = cooperative_groups;
        extern "C" __global__ void k(const int* in, int* out) {
            auto warp = cg::tiled_partition<32>(cg::this_thread_block());
            int value = in[cg::this_grid().thread_rank()];
            auto odd = cg::binary_partition(warp, bool(value & 1));
            int sum = cg::reduce(odd, value, cg::plus<int>());
            if (odd.thread_rank() == 0) {
                atomicAdd(&out[value & 1], sum);
                atomicAdd(&out[2 + (value & 1)], odd.size());
            }
        }""",
        options=("-std=c++17",),
    )(1, 64, data, out)
    odd = data & 1 == 1
    np.testing.assert_array_equal(out, [data[~odd].sum(), data[odd].sum(), (~odd).sum(), odd.sum()])


def test_labelled_partitions(engine):
    data, out = integers(96, 5, seed=8), np.zeros(96, i4)
    engine.c(
        """
        #include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        namespace cg = cooperative_groups;
        extern "C" __global__ void k(const int* in, int* out) {
            auto warp = cg::tiled_partition<32>(cg::this_thread_block());
            auto same = cg::labeled_partition(warp, in[threadIdx.x]);
            out[threadIdx.x] = same.size() * 100 + cg::reduce(same, (int)warp.thread_rank(), cg::greater<int>());
        }""",
        options=("-std=c++17",),
    )(1, 96, data, out)
    expected = []
    for row in data.reshape(3, 32):
        expected += [(row == v).sum() * 100 + np.flatnonzero(row == v)[-1] for v in row]
    np.testing.assert_array_equal(out, expected)


def test_conjugate_gradients_in_one_cooperative_launch(engine):
    n = 64
    a = np.diag(np.full(n, 4.0)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    b, x = floats(n, seed=5), np.zeros(n, f4)
    rows, columns = np.nonzero(a)
    starts = np.searchsorted(rows, np.arange(n + 1)).astype(i4)
    r, p, ap, dots = b.copy(), b.copy(), np.zeros(n, f4), np.zeros(64, np.float64)
    engine.c("""
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        __device__ void dot(const float* a, const float* b, double* out, int n, cg::grid_group grid) {
            double sum = 0;
            for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += (double)a[i] * b[i];
            for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
            if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
            grid.sync();
        }
        extern "C" __global__ void k(const int* starts, const int* columns, const float* values, float* x, float* r,
                                     float* p, float* ap, double* dots, int n, int rounds) {
            cg::grid_group grid = cg::this_grid();
            dot(r, r, dots, n, grid);
            for (int round = 0; round < rounds; round++) {
                for (int i = grid.thread_rank(); i < n; i += grid.size()) {
                    float sum = 0;
                    for (int j = starts[i]; j < starts[i + 1]; j++) sum += values[j] * p[columns[j]];
                    ap[i] = sum;
                }
                grid.sync();
                dot(p, ap, dots + 2 * round + 1, n, grid);
                float alpha = dots[2 * round] / dots[2 * round + 1];
                for (int i = grid.thread_rank(); i < n; i += grid.size()) {
                    x[i] += alpha * p[i];
                    r[i] -= alpha * ap[i];
                }
                grid.sync();
                dot(r, r, dots + 2 * round + 2, n, grid);
                float beta = dots[2 * round + 2] / dots[2 * round];
                for (int i = grid.thread_rank(); i < n; i += grid.size()) p[i] = r[i] + beta * p[i];
                grid.sync();
            }
        }""")(
        2, 32, starts, columns.astype(i4), a[rows, columns].astype(f4), x, r, p, ap, dots, n, 20, cooperative=True
    )
    np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-3, atol=1e-4)


def test_scan_by_shuffles(engine):
    data, out = integers(256, 100, seed=6), np.zeros(256, i4)
    engine.c("""
        extern "C" __global__ void k(const int* in, int* out) {
            __shared__ int sums[32];
            int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, value = in[threadIdx.x];
            #pragma unroll
            for (int d = 1; d < 32; d *= 2) { int n = __shfl_up_sync(~0u, value, d, 32); if (lane >= d) value += n; }
            if (lane == 31) sums[warp] = value;
            __syncthreads();
            if (warp == 0) {
                int s = lane < blockDim.x / 32 ? sums[lane] : 0;
                for (int d = 1; d < 32; d *= 2) { int n = __shfl_up_sync(~0u, s, d); if (lane >= d) s += n; }
                sums[lane] = s;
            }
            __syncthreads();
            out[threadIdx.x] = value + (warp ? sums[warp - 1] : 0);
        }""")(1, 256, data, out)
    np.testing.assert_array_equal(out, np.cumsum(data))


def test_bitonic_sort_in_shared_memory(engine):
    keys, values = integers(256, 10_000, seed=12), np.arange(256, dtype=i4)
    before = keys.copy()
    engine.c("""
        __device__ void order(int& ka, int& va, int& kb, int& vb, bool up) {
            if ((ka > kb) == up) { int t = ka; ka = kb; kb = t; t = va; va = vb; vb = t; }
        }
        extern "C" __global__ void k(int* keys, int* values) {
            __shared__ int sk[256], sv[256];
            for (int i = threadIdx.x; i < 256; i += blockDim.x) { sk[i] = keys[i]; sv[i] = values[i]; }
            for (int size = 2; size <= 256; size <<= 1)
                for (int stride = size / 2; stride; stride >>= 1) {
                    __syncthreads();
                    int pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
                    bool up = !(threadIdx.x & (size / 2)) || size == 256;
                    order(sk[pos], sv[pos], sk[pos + stride], sv[pos + stride], up);
                }
            __syncthreads();
            for (int i = threadIdx.x; i < 256; i += blockDim.x) { keys[i] = sk[i]; values[i] = sv[i]; }
        }""")(1, 128, keys, values)
    np.testing.assert_array_equal(keys, np.sort(before))
    np.testing.assert_array_equal(before[values], keys)


def test_histogram_with_one_table_a_warp(engine):
    data, out = np.random.default_rng(4).integers(0, 256, 4096).astype(np.uint8), np.zeros(256, u4)
    engine.c("""
        __device__ void add(unsigned* table, unsigned word) {
            for (int b = 0; b < 32; b += 8) atomicAdd(table + (word >> b & 255), 1);
        }
        extern "C" __global__ void k(const unsigned* in, unsigned* out, int words) {
            __shared__ unsigned tables[4 * 256];
            for (int i = threadIdx.x; i < 1024; i += blockDim.x) tables[i] = 0;
            __syncthreads();
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
                add(tables + 256 * (threadIdx.x / 32), in[i]);
            __syncthreads();
            for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
                unsigned sum = 0;
                for (int w = 0; w < 4; w++) sum += tables[256 * w + bin];
                atomicAdd(out + bin, sum);
            }
        }""")(3, 128, data, out, 1024)
    np.testing.assert_array_equal(out, np.bincount(data, minlength=256))


# ---------------------------------------------------------------- numerics


def test_options_by_black_and_scholes(engine):
    rng = np.random.default_rng(2)
    s, k, t = (
        rng.uniform(5, 30, 100).astype(f4),
        rng.uniform(1, 100, 100).astype(f4),
        rng.uniform(0.25, 10, 100).astype(f4),
    )
    calls, puts, r, v = np.zeros(100, f4), np.zeros(100, f4), 0.02, 0.3
    engine.c("""
        __device__ inline float below(float d) {
            const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
            float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
            float c = 0.39894228f * __expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
            return d > 0 ? 1.0f - c : c;
        }
        extern "C" __global__ __launch_bounds__(128) void price(float* __restrict__ calls, float* __restrict__ puts,
                const float* __restrict__ s, const float* __restrict__ x, const float* __restrict__ t,
                float r, float v, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            float root = sqrtf(t[i]), d1 = __fdividef(__logf(s[i] / x[i]) + (r + 0.5f * v * v) * t[i], v * root);
            float d2 = d1 - v * root, discount = __expf(-r * t[i]);
            calls[i] = s[i] * below(d1) - x[i] * discount * below(d2);
            puts[i] = x[i] * discount * (1 - below(d2)) - s[i] * (1 - below(d1));
        }""")(1, 128, calls, puts, s, k, t, r, v, 100)
    below = np.vectorize(lambda d: 0.5 * (1 + math.erf(d / math.sqrt(2))))
    d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
    d2, discount = d1 - v * np.sqrt(t), np.exp(-r * t)
    np.testing.assert_allclose(calls, s * below(d1) - k * discount * below(d2), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(puts, k * discount * below(-d2) - s * below(-d1), rtol=1e-3, atol=1e-3)


def test_walsh_transform(engine):
    data, out = floats(128), np.zeros(128, f4)
    engine.c("""
        extern "C" __global__ void k(const float* in, float* out, int log2n) {
            extern __shared__ float s[];
            int n = 1 << log2n;
            for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = in[i];
            int pos = threadIdx.x;
            for (int stride = n >> 2; stride > 0; stride >>= 2) {
                int lo = pos & (stride - 1), i0 = ((pos - lo) << 2) + lo;
                int i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
                __syncthreads();
                float a = s[i0], b = s[i1], c = s[i2], d = s[i3], t = a;
                a += c; c = t - c; t = b; b += d; d = t - d; t = a;
                s[i0] = a + b; s[i1] = t - b; s[i2] = c + d; s[i3] = c - d;
            }
            if (log2n & 1) {
                __syncthreads();
                for (int p = threadIdx.x; p < n / 2; p += blockDim.x) {
                    float a = s[2 * p], b = s[2 * p + 1];
                    s[2 * p] = a + b; s[2 * p + 1] = a - b;
                }
            }
            __syncthreads();
            for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = s[i];
        }""")(1, 32, data, out, 7, shared_bytes=512)
    h = np.array([[1.0]])
    for _ in range(7):
        h = np.block([[h, h], [h, -h]])
    np.testing.assert_allclose(out, h @ data, rtol=1e-4, atol=1e-4)


def test_quasirandom_numbers(engine):
    directions = (1 << np.arange(31, -1, -1, dtype=np.uint64)).astype(u4)
    out = np.zeros(200, f4)
    engine.c("""
        extern "C" __global__ void k(const unsigned* v, float* out, int n) {
            __shared__ unsigned mine[32];
            if (threadIdx.x < 32) mine[threadIdx.x] = v[threadIdx.x];
            __syncthreads();
            for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
                unsigned gray = i ^ (i >> 1), x = 0;
                for (int k = 0; k < __ffs(__brev(gray)) + 32 && gray >> k; k++) if (gray >> k & 1) x ^= mine[k];
                out[i] = (float)x * 2.3283064e-10f;
            }
        }""")(2, 64, directions, out, 200)
    i = np.arange(200)
    gray = i ^ i >> 1
    expected = [int(f"{g:032b}"[::-1], 2) / 2**32 for g in gray.tolist()]
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-7)


def test_many_bodies_in_tiles(engine):
    bodies = np.random.default_rng(0).uniform(-1, 1, (96, 4)).astype(f4)
    bodies[:, 3] = 1
    out = np.zeros((96, 4), f4)
    engine.c("""
        __device__ float3 pull(float4 a, float4 b, float3 sum) {
            float3 r = make_float3(b.x - a.x, b.y - a.y, b.z - a.z);
            float d = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f;
            float s = b.w * rsqrtf(d * d * d);
            return make_float3(sum.x + r.x * s, sum.y + r.y * s, sum.z + r.z * s);
        }
        extern "C" __global__ void k(const float4* bodies, float4* out, int n) {
            __shared__ float4 tile[32];
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            float4 me = bodies[i];
            float3 sum = {0, 0, 0};
            for (int start = 0; start < n; start += 32) {
                tile[threadIdx.x] = bodies[start + threadIdx.x];
                __syncthreads();
                #pragma unroll 8
                for (int j = 0; j < 32; j++) sum = pull(me, tile[j], sum);
                __syncthreads();
            }
            out[i] = make_float4(sum.x, sum.y, sum.z, 0);
        }""")(3, 32, bodies, out, 96)
    p = bodies[:, :3].astype(float)
    r = p[None] - p[:, None]
    d = (r**2).sum(-1) + 0.01
    np.testing.assert_allclose(out[:, :3], (r / d[..., None] ** 1.5).sum(1), rtol=1e-3, atol=1e-3)


def test_numbers_of_half_precision(engine):
    a, b = floats(2, 64).astype(np.float16)
    out = np.zeros(2, f4)
    engine.c("""
        #include <cuda_fp16.h>
        extern "C" __global__ void k(const half2* a, const half2* b, float* out) {
            __shared__ half2 s[32];
            s[threadIdx.x] = __hmul2(a[threadIdx.x], b[threadIdx.x]);
            __syncthreads();
            for (int step = 16; step; step /= 2) {
                if (threadIdx.x < step) s[threadIdx.x] = __hadd2(s[threadIdx.x], s[threadIdx.x + step]);
                __syncthreads();
            }
            if (threadIdx.x) return;
            out[0] = __low2float(s[0]) + __high2float(s[0]);
            out[1] = __half2float(__hmax(a[0].x, b[0].x));
        }""")(1, 32, a, b, out)
    np.testing.assert_allclose(out, [(a.astype(f4) * b.astype(f4)).sum(), max(a[0], b[0])], rtol=2e-2, atol=2e-2)


def test_products_of_bytes_and_of_words_in_parts(engine):
    a, b = integers(64, 1 << 30, seed=1), integers(64, 1 << 30, seed=2)
    out = np.zeros((64, 4), i4)
    engine.c("""
        extern "C" __global__ void k(const int* a, const int* b, int4* out) {
            int i = threadIdx.x;
            int x = a[i], y = b[i];
            out[i] = make_int4(__dp4a(x, y, 7), __vadd4(x, y), __byte_perm(x, y, 0x5140), __mulhi(x, y));
        }""")(1, 64, a, b, out)
    x, y = (v.view(np.int8).reshape(64, 4).astype(int) for v in (a, b))
    words = lambda parts: np.ascontiguousarray(parts & 255, np.uint8).view(i4).ravel()
    added = words(x + y)
    permuted = words(np.concatenate([x, y], axis=1)[:, [0, 4, 1, 5]])
    high = (a.astype(np.int64) * b) >> 32
    np.testing.assert_array_equal(out, np.stack([7 + (x * y).sum(1), added, permuted, high], axis=1))


def test_a_stencil_in_three_dimensions(engine):
    grid = floats(8, 12, 34)
    out = np.zeros_like(grid)
    engine.c("""
        #define R 2
        __constant__ float weight[R + 1] = {0.5f, 0.2f, 0.05f};
        extern "C" __global__ void k(const float* in, float* out, int nx, int ny, int nz) {
            __shared__ float tile[4 + 2 * R][32 + 2 * R];
            int x = blockIdx.x * 30 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, plane = nx * ny;
            int tx = threadIdx.x + R, ty = threadIdx.y + R;
            bool work = x >= R && x < nx - R && y >= R && y < ny - R && threadIdx.x < 30;
            float column[2 * R + 1];
            int at = y * nx + x;
            auto read = [&](int i, int j, int z) {
                return i >= 0 && i < nx && j >= 0 && j < ny ? in[z * plane + j * nx + i] : 0.f;
            };
            for (int k = 0; k < 2 * R; k++) column[k + 1] = read(x, y, k);
            for (int z = R; z < nz - R; z++) {
                for (int k = 0; k < 2 * R; k++) column[k] = column[k + 1];
                column[2 * R] = read(x, y, z + R);
                __syncthreads();
                if (threadIdx.y < R) {
                    tile[threadIdx.y][tx] = read(x, y - R, z);
                    tile[threadIdx.y + 4 + R][tx] = read(x, y + 4, z);
                }
                if (threadIdx.x < R) {
                    tile[ty][threadIdx.x] = read(x - R, y, z);
                    tile[ty][threadIdx.x + 32 + R] = read(x + 32, y, z);
                }
                tile[ty][tx] = column[R];
                __syncthreads();
                if (!work) continue;
                float sum = weight[0] * column[R];
                for (int k = 1; k <= R; k++)
                    sum += weight[k] * (column[R - k] + column[R + k] + tile[ty - k][tx] + tile[ty + k][tx]
                                        + tile[ty][tx - k] + tile[ty][tx + k]);
                out[z * plane + at] = sum;
            }
        }""")((2, 3), (32, 4), grid, out, 34, 12, 8)
    g, expected = grid.astype(float), np.zeros(grid.shape)
    inner = tuple(slice(2, n - 2) for n in grid.shape)
    expected[inner] = 0.5 * g[inner]
    for k, w in ((1, 0.2), (2, 0.05)):
        for axis in range(3):
            expected[inner] += w * (np.roll(g, k, axis) + np.roll(g, -k, axis))[inner]
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


def test_launches_by_kernels_are_refused_in_words():
    from helpers.vgpu.base.errors import VirtualGPUError
    from helpers.vgpu.standins import cupy as cp

    source = """
        __global__ void child(int* out) { *out = 1; }
        extern "C" __global__ void k(int* out) { child<<<1, 1>>>(out); }"""
    with pytest.raises(VirtualGPUError, match="launch"):
        cp.RawKernel(source, "k", options=("-rdc=true",))((1,), (1,), (cp.zeros(1, np.int32),))

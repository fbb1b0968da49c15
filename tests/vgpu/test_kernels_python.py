"""Kernels in Numba's Python, against NumPy, on the compiled engine and on the reference interpreter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import float32, int32

from helpers.vgpu.standins import numba_cuda as cuda

# Host arrays are what these tests are about, not what Numba would advise.
pytestmark = pytest.mark.filterwarnings("ignore:Host array used in CUDA kernel")
TILE, PADDED = 8, 9
WEIGHTS = np.array([1, 2, 4, 8], np.float32)


def numbers(*shape) -> np.ndarray:
    return np.random.default_rng(6).normal(size=shape).astype(np.float32)


def whole(n, low=-50, high=50, dtype=np.int32) -> np.ndarray:
    return np.random.default_rng(7).integers(low, high, n).astype(dtype)


def test_saxpy(engine):
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = a * x[i] + y[i]

    x, y = numbers(200), numbers(200)
    expected = np.float32(2) * x + y
    engine.py(saxpy)(4, 64, np.float32(2), x, y)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


def test_strided_views(engine):
    def copy(source, target):
        i, j = cuda.grid(2)
        if i < target.shape[0] and j < target.shape[1]:
            target[i, j] = source[i, j]

    data = numbers(20, 30)
    target = np.zeros((10, 10), np.float32)
    engine.py(copy)((2, 2), (8, 8), cuda.to_device(data)[::2, 5:25:2], target)
    np.testing.assert_array_equal(target, data[::2, 5:25:2])


def test_three_dimensions(engine):
    def where(out):
        x, y, z = cuda.grid(3)
        if x < out.shape[0] and y < out.shape[1] and z < out.shape[2]:
            out[x, y, z] = x * 100 + y * 10 + z

    out = np.zeros((5, 4, 3), np.int32)
    engine.py(where)((2, 2, 2), (3, 2, 2), out)
    np.testing.assert_array_equal(out, np.fromfunction(lambda x, y, z: x * 100 + y * 10 + z, out.shape))


def test_grid_stride_loops(engine):
    def fill(out):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            out[i] += i * 0.5

    out = np.zeros(333, np.float64)
    engine.py(fill)(2, 32, out)
    np.testing.assert_array_equal(out, np.arange(333) * 0.5)


def test_tiled_transpose_and_product(engine):
    def transpose(a, out):
        tile = cuda.shared.array((TILE, PADDED), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        i, j = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
        if i < a.shape[0] and j < a.shape[1]:
            tile[y, x] = a[i, j]
        cuda.syncthreads()
        i, j = cuda.blockIdx.x * TILE + y, cuda.blockIdx.y * TILE + x
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = tile[x, y]

    def matmul(a, b, c):
        sa = cuda.shared.array((TILE, TILE), float32)
        sb = cuda.shared.array((TILE, TILE), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        i, j = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
        total = float32(0)
        for t in range((a.shape[1] + TILE - 1) // TILE):
            k, m = t * TILE + x, t * TILE + y
            sa[y, x] = a[i, k] if i < a.shape[0] and k < a.shape[1] else 0
            sb[y, x] = b[m, j] if m < b.shape[0] and j < b.shape[1] else 0
            cuda.syncthreads()
            for q in range(TILE):
                total += sa[y, q] * sb[q, x]
            cuda.syncthreads()
        if i < c.shape[0] and j < c.shape[1]:
            c[i, j] = total

    a, b = numbers(11, 13), numbers(13, 10)
    out, c = np.zeros((13, 11), np.float32), np.zeros((11, 10), np.float32)
    engine.py(transpose)((2, 2), (TILE, TILE), a, out)
    engine.py(matmul)((2, 2), (TILE, TILE), a, b, c)
    np.testing.assert_array_equal(out, a.T)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


def test_reduction_with_shuffles_and_dynamic_shared_memory(engine):
    def reduce(data, out):
        partial = cuda.shared.array(0, float32)
        total = float32(0)
        for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
            total += data[i]
        for shift in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, shift)
        if cuda.laneid == 0:
            partial[cuda.threadIdx.x // 32] = total
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            for w in range(cuda.blockDim.x // 32):
                cuda.atomic.add(out, 0, partial[w])

    data, out = numbers(500), np.zeros(1, np.float32)
    engine.py(reduce)(2, 96, data, out, shared_bytes=12)
    np.testing.assert_allclose(out[0], data.sum(), rtol=1e-4, atol=1e-4)


def test_atomics(engine):
    def atomics(i, f, histogram):
        t = cuda.grid(1)
        cuda.atomic.add(i, 0, t)
        cuda.atomic.max(i, 1, t * 37 % 101)
        cuda.atomic.min(i, 2, -t)
        cuda.atomic.add(f, 0, 0.5)
        cuda.atomic.max(f, 1, t * 1.5)
        cuda.atomic.add(histogram, t % 5, 1)
        cuda.atomic.cas(i, 3, 0, 9)
        cuda.atomic.exch(i, 4, 77)

    i, f, histogram = np.zeros(5, np.int32), np.zeros(2, np.float64), np.zeros(5, np.int64)
    engine.py(atomics)(2, 48, i, f, histogram)
    t = np.arange(96)
    assert i.tolist() == [t.sum(), (t * 37 % 101).max(), -95, 9, 77]
    assert f.tolist() == [48, 95 * 1.5]
    np.testing.assert_array_equal(histogram, np.bincount(t % 5))


def test_local_and_constant_arrays(engine):
    def polynomial(x, out):
        weights = cuda.const.array_like(WEIGHTS)
        powers = cuda.local.array(4, float32)
        i = cuda.grid(1)
        powers[0] = 1
        for k in range(1, 4):
            powers[k] = powers[k - 1] * x[i]
        total = float32(0)
        for k in range(4):
            total += weights[(k + i) % 4] * powers[(k * 3) % 4]
        out[i] = total

    x, out = numbers(64), np.zeros(64, np.float32)
    engine.py(polynomial)(2, 32, x, out)
    i = np.arange(64)
    expected = sum(WEIGHTS[(k + i) % 4] * x.astype(np.float64) ** (k * 3 % 4) for k in range(4))
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


def test_device_functions_and_divergence(engine):
    @cuda.jit(device=True)
    def steps_of(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    def collatz(data, out):
        i = cuda.grid(1)
        if i >= data.size:
            return
        if data[i] < 1:
            out[i] = -1
            return
        out[i] = steps_of(data[i])

    def expected(n):
        steps = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps if n == 1 else -1

    data, out = whole(50, -4, 30), np.zeros(50, np.int32)
    engine.py(collatz)(2, 32, data, out)
    assert out.tolist() == [expected(int(n)) for n in data]


def test_votes_and_ballots(engine):
    def ask(data, out):
        i = cuda.threadIdx.x
        v = data[i]
        out[0, i] = cuda.ballot_sync(0xFFFFFFFF, v > 0)
        out[1, i] = cuda.all_sync(0xFFFFFFFF, v > -100)
        out[2, i] = cuda.any_sync(0xFFFFFFFF, v > 100)
        out[3, i] = cuda.match_any_sync(0xFFFFFFFF, v)
        out[4, i] = cuda.popc(v) + cuda.clz(v) * 100
        out[5, i] = cuda.syncthreads_count(1 if v > 10 else 0)
        out[6, i] = cuda.shfl_xor_sync(0xFFFFFFFF, v, 5)
        out[7, i] = cuda.shfl_up_sync(0xFFFFFFFF, v, 2)

    data, out = whole(32, 0, 20), np.zeros((8, 32), np.int64)
    engine.py(ask)(1, 32, data, out)
    lane = np.arange(32)
    bits = lambda flags: sum(1 << int(i) for i in np.flatnonzero(flags))
    assert set(out[0] & 0xFFFFFFFF) == {bits(data > 0)}
    assert set(out[1]) == {1} and set(out[2]) == {0}
    assert (out[3] & 0xFFFFFFFF).tolist() == [bits(data == v) for v in data]
    assert out[4].tolist() == [v.bit_count() + (32 - v.bit_length()) * 100 for v in data.tolist()]
    assert set(out[5]) == {np.count_nonzero(data > 10)}
    np.testing.assert_array_equal(out[6], data[lane ^ 5])
    np.testing.assert_array_equal(out[7], data[np.where(lane < 2, lane, lane - 2)])


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
def test_arithmetic_of_every_width(engine, dtype):
    def arithmetic(a, b, out):
        i = cuda.grid(1)
        x, y = a[i], b[i]
        out[0, i] = x + y
        out[1, i] = x * y
        out[2, i] = x // y
        out[3, i] = x % y
        out[4, i] = min(x, y) - max(x, y)
        out[5, i] = abs(x)

    low = 0 if dtype[0] == "u" else -9
    a, b = whole(64, low, 10, dtype), whole(64, 1, 9, dtype)
    out = np.zeros((6, 64), dtype)
    engine.py(arithmetic)(2, 32, a, b, out)
    expected = [a + b, a * b, a // b, a % b, np.minimum(a, b) - np.maximum(a, b), np.abs(a)]
    np.testing.assert_array_equal(out, np.array(expected).astype(dtype))


def test_mathematics(engine):
    def functions(x, out):
        i = cuda.grid(1)
        v = x[i]
        out[0, i] = math.sqrt(abs(v))
        out[1, i] = math.sin(v) + math.cos(v)
        out[2, i] = math.exp(v)
        out[3, i] = math.log(abs(v) + 1)
        out[4, i] = math.tanh(v)
        out[5, i] = math.floor(v) + math.ceil(v)
        out[6, i] = v**3
        out[7, i] = math.erf(v)

    for dtype, precision in ((np.float32, 1e-5), (np.float64, 1e-12)):
        x = np.linspace(-3, 3, 64).astype(dtype)
        out = np.zeros((8, 64), dtype)
        engine.py(functions)(2, 32, x, out)
        v = x.astype(np.float64)
        expected = [np.sqrt(np.abs(v)), np.sin(v) + np.cos(v), np.exp(v), np.log(np.abs(v) + 1), np.tanh(v),
                    np.floor(v) + np.ceil(v), v**3, [math.erf(t) for t in v]]  # fmt: skip
        np.testing.assert_allclose(out, np.array(expected), rtol=precision, atol=precision)


def test_half_precision(engine):
    def halves(a, b, out):
        i = cuda.grid(1)
        out[i] = a[i] * b[i] + a[i]

    a, b = numbers(64).astype(np.float16), numbers(64).astype(np.float16)[::-1].copy()
    out = np.zeros(64, np.float16)
    engine.py(halves)(2, 32, a, b, out)
    np.testing.assert_allclose(out, a.astype("f8") * b + a, rtol=2e-3, atol=2e-3)


def test_records_and_complex_numbers(engine):
    particle = np.dtype([("x", "f4"), ("count", "i4")], align=True)

    def update(particles, z):
        i = cuda.grid(1)
        particles[i].x *= 2
        particles[i].count += i
        z[i] = z[i] * z[i] + 1

    particles = np.zeros(32, particle)
    particles["x"], particles["count"] = numbers(32), 5
    z = (numbers(32) + 1j * numbers(32)[::-1]).astype(np.complex128)
    before, square = particles.copy(), z * z + 1
    engine.py(update)(1, 32, particles, z)
    np.testing.assert_array_equal(particles["x"], before["x"] * 2)
    np.testing.assert_array_equal(particles["count"], 5 + np.arange(32))
    np.testing.assert_allclose(z, square, rtol=1e-12)


def test_printing(engine, capsys):
    def speak(x):
        if cuda.threadIdx.x == 2:
            print("thread", cuda.threadIdx.x, "has", x[2], x.size)

    engine.py(speak)(1, 32, whole(4, 3, 4))
    assert capsys.readouterr().out == "thread 2 has 3 4\n"


def test_breaks_continues_and_early_returns(engine):
    def walk(data, out):
        i = cuda.grid(1)
        total = int32(0)
        for k in range(data[i]):
            if k % 3 == i % 3:
                continue
            if k > 20:
                break
            for m in range(k):
                if m * m > data[i]:
                    break
                total += m
        out[i] = total

    def expected(i, limit):
        total = 0
        for k in range(limit):
            if k % 3 == i % 3:
                continue
            if k > 20:
                break
            for m in range(k):
                if m * m > limit:
                    break
                total += m
        return total

    data, out = whole(64, 0, 40), np.zeros(64, np.int32)
    engine.py(walk)(2, 32, data, out)
    assert out.tolist() == [expected(i, int(v)) for i, v in enumerate(data)]

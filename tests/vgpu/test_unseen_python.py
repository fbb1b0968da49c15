"""Numba kernels as people write them, against NumPy at awkward sizes."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pytest

from helpers.vgpu.base.errors import VirtualGPUError
from helpers.vgpu.standins import numba_cuda as cuda

pytestmark = pytest.mark.filterwarnings("ignore:.*Host array used in CUDA kernel", "ignore:.*Grid size")

random = np.random.default_rng(11)
f4, i4, u4 = np.float32, np.int32, np.uint32


def test_heat_equation_with_ping_pong():
    @cuda.jit
    def step(old, new, k):
        y, x = cuda.grid(2)
        h, w = old.shape
        if 0 < y < h - 1 and 0 < x < w - 1:
            new[y, x] = old[y, x] + k * (old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1] - 4 * old[y, x])

    a = random.random((19, 33))
    old, new = cuda.to_device(a), cuda.to_device(a)
    for _ in range(5):
        step[(3, 5), (8, 8)](old, new, 0.1)
        old, new = new, old
        b = a.copy()
        inner = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1]
        b[1:-1, 1:-1] = a[1:-1, 1:-1] + 0.1 * inner
        a = b
    np.testing.assert_allclose(old.copy_to_host(), a)


def test_three_dimensions_and_negative_indices():
    @cuda.jit
    def kernel(a, out):
        i, j, k = cuda.grid(3)
        if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
            out[-1 - i, j, k] = a[i, -1 - j, k] + a.ndim + a.size

    a = random.normal(size=(5, 7, 9))
    out = np.zeros_like(a)
    kernel[(2, 2, 3), (4, 4, 4)](a, out)
    np.testing.assert_array_equal(out, a[::-1, ::-1] + 3 + a.size)


def test_slices_and_views_in_kernels():
    @cuda.jit(device=True)
    def total(row):
        s = 0.0
        for v in row:
            s += v
        return s

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            row = a[i]
            out[i, 0] = total(row)
            out[i, 1] = total(row[1:-1])
            out[i, 2] = total(row[::2])
            out[i, 3] = total(a[i, 2:5])
            out[i, 4] = len(row)

    a = random.normal(size=(13, 8))
    out = np.zeros((13, 5))
    kernel[1, 32](a, out)
    want = [a.sum(1), a[:, 1:-1].sum(1), a[:, ::2].sum(1), a[:, 2:5].sum(1), np.full(13, 8)]
    np.testing.assert_allclose(out, np.stack(want, 1))


def test_tuples_in_and_out():
    @cuda.jit(device=True)
    def polar(x, y):
        return math.hypot(x, y), math.atan2(y, x)

    @cuda.jit
    def kernel(points, offset, out):
        i = cuda.grid(1)
        if i < len(points):
            r, angle = polar(points[i, 0] - offset[0], points[i, 1] - offset[1])
            out[i, 0], out[i, 1] = r, angle
            out[i, 0], out[i, 1] = out[i, 1], out[i, 0]

    p = random.normal(size=(70, 2))
    out = np.zeros((70, 2))
    kernel[2, 64](p, (0.5, -1.0), out)
    d = p - [0.5, -1.0]
    np.testing.assert_allclose(out, np.stack([np.arctan2(d[:, 1], d[:, 0]), np.hypot(d[:, 0], d[:, 1])], 1))


class Box(NamedTuple):
    low: float
    high: float
    steps: int


def test_named_tuples_flags_and_none():
    @cuda.jit
    def kernel(x, box, extra, flag, out):
        i = cuda.grid(1)
        if i < x.size:
            v = min(max(x[i], box.low), box.high) * box.steps
            if flag:
                v += extra[0] + extra[1][0]
            out[i] = v

    x, out = random.normal(size=50), np.zeros(50)
    for flag in (True, np.bool_(False)):
        kernel[1, 64](x, Box(-0.5, 0.5, 3), (1, (2.5,)), flag, out)
        np.testing.assert_allclose(out, np.clip(x, -0.5, 0.5) * 3 + 3.5 * flag)
    with pytest.raises(VirtualGPUError, match=r"`extra` is a NoneType.*flag"):
        kernel[1, 64](x, Box(-0.5, 0.5, 3), None, True, out)


def test_records_with_nested_arrays():
    particle = np.dtype([("position", f4, (3,)), ("mass", np.float64), ("kind", np.int8)], align=True)

    @cuda.jit
    def kernel(p, dt):
        i = cuda.grid(1)
        if i < p.size:
            for axis in range(3):
                p[i].position[axis] += dt * (axis + 1)
            p[i]["mass"] *= 2
            p.kind[i] += 1

    data = np.zeros(21, particle)
    data["position"], data["mass"], data["kind"] = random.normal(size=(21, 3)), random.random(21), np.arange(21)
    want = data.copy()
    want["position"] += f4(0.5) * np.array([1, 2, 3], f4)
    want["mass"] *= 2
    want["kind"] += 1
    kernel[1, 32](data, f4(0.5))
    for field in particle.names:
        np.testing.assert_allclose(data[field], want[field], rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_julia_set_in_complex_numbers(dtype):
    @cuda.jit
    def julia(z, c, out, limit):
        for i in range(cuda.grid(1), z.size, cuda.gridsize(1)):
            v, n = z[i], 0
            while n < limit and v.real * v.real + v.imag * v.imag < 4:
                v = v * v + c
                n += 1
            out[i] = n
            z[i] = v.conjugate() if n == limit else v

    z = (random.uniform(-1.5, 1.5, 203) + 1j * random.uniform(-1.5, 1.5, 203)).astype(dtype)
    c = dtype(-0.4 + 0.6j)
    want = []
    for v in z:
        n = 0
        while n < 30 and v.real * v.real + v.imag * v.imag < 4:
            v, n = v * v + c, n + 1
        want.append(n)
    out = np.zeros(203, i4)
    julia[2, 64](z, c, out, 30)
    assert np.count_nonzero(out != want) <= (2 if dtype is np.complex64 else 0)


def test_the_math_module():
    names = ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "expm1", "log1p", "sqrt",
             "erf", "erfc", "gamma", "lgamma", "fabs", "floor", "ceil"]  # fmt: skip
    namespace = {"math": math, "cuda": cuda}
    body = "\n".join(f"        out[i, {j}] = math.{name}(x[i])" for j, name in enumerate(names))
    exec(f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n{body}", namespace)
    x = random.uniform(0.05, 0.95, 67)
    out = np.zeros((67, len(names)))
    cuda.jit(namespace["kernel"])[2, 64](x, out)
    want = [[getattr(math, name)(float(v)) for name in names] for v in x]
    np.testing.assert_allclose(out, want, rtol=1e-13, atol=1e-15)


def test_more_mathematics_and_builtins():
    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i, 0] = math.pow(a[i], b[i])
            out[i, 1] = a[i] ** 2 + b[i] ** 0.5
            out[i, 2] = math.fmod(a[i], b[i])
            out[i, 3] = a[i] % b[i]
            out[i, 4] = a[i] // b[i]
            out[i, 5] = math.copysign(a[i], -1.0)
            out[i, 6] = abs(-a[i]) + round(b[i]) + int(a[i])
            out[i, 7] = math.isnan(a[i]) + 2 * math.isinf(b[i])
            out[i, 8] = math.radians(a[i]) + math.degrees(b[i])
            out[i, 9] = max(a[i], b[i], 1.0) - min(a[i], b[i])
            out[i, 10] = math.log2(a[i]) + math.log10(b[i]) + math.log(a[i])
            m, e = math.frexp(a[i])
            out[i, 11] = math.ldexp(m, e + 1)
            out[i, 12] = math.pi + math.e + math.inf * 0 if b[i] < 0 else math.tau
            fraction, whole = math.modf(a[i])
            out[i, 13] = fraction + 10 * whole

    a, b = random.uniform(0.1, 9, 45), random.uniform(0.1, 4, 45)
    out = np.zeros((45, 14))
    kernel[1, 64](a, b, out)
    want = [a**b, a**2 + b**0.5, np.fmod(a, b), a % b, a // b, -a, a + np.round(b) + a.astype(int), 0 * a,
            np.radians(a) + np.degrees(b), np.maximum(np.maximum(a, b), 1) - np.minimum(a, b),
            np.log2(a) + np.log10(b) + np.log(a), 2 * a, 0 * a + math.tau,
            np.modf(a)[0] + 10 * np.modf(a)[1]]  # fmt: skip
    np.testing.assert_allclose(out, np.stack(want, 1), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_integers_by_pythons_rules(dtype):
    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i, 0] = a[i] // b[i]
            out[i, 1] = a[i] % b[i]
            out[i, 2] = (a[i] << 1) ^ (b[i] >> 1)
            out[i, 3] = a[i] * b[i] + ~a[i]
            out[i, 4] = a[i] & b[i] | 1
            q, r = divmod(a[i], b[i])
            out[i, 5] = q * b[i] + r - a[i]

    limits = np.iinfo(dtype)
    a = random.integers(limits.min, limits.max, 99, dtype=dtype, endpoint=True)
    b = random.integers(limits.min, limits.max, 99, dtype=dtype, endpoint=True) >> dtype(3)
    b[b == 0] = 5
    b[b == limits.max] = 1  # -1 read as unsigned
    out = np.zeros((99, 6), dtype)
    kernel[2, 64](a, b, out)
    with np.errstate(over="ignore"):
        want = [a // b, a % b, (a << 1) ^ (b >> 1), a * b + ~a, a & b | 1, 0 * a]
    for column, wanted in enumerate(want):
        np.testing.assert_array_equal(out[:, column], wanted.astype(dtype))


def test_boolean_arrays_and_masks():
    @cuda.jit
    def kernel(x, mask, out):
        i = cuda.grid(1)
        if i < x.size:
            mask[i] = x[i] > 0 and not (x[i] > 1 or i % 7 == 0)
            out[i] = x[i] if mask[i] else -1.0

    x, mask, out = random.normal(size=90), np.zeros(90, bool), np.zeros(90)
    kernel[3, 32](x, mask, out)
    want = (x > 0) & ~((x > 1) | (np.arange(90) % 7 == 0))
    np.testing.assert_array_equal(mask, want)
    np.testing.assert_array_equal(out, np.where(want, x, -1))


def test_float16_arithmetic():
    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] * b[i] + a[i] if a[i] > b[i] else a[i] - b[i]

    a, b = random.normal(size=(2, 77)).astype(np.float16)
    out = np.zeros(77, np.float16)
    kernel[3, 32](a, b, out)
    np.testing.assert_allclose(out, np.where(a > b, a * b + a, a - b), rtol=4e-3, atol=2e-3)


def test_atomics_of_every_kind():
    @cuda.jit
    def kernel(x, k, total, extreme, bits, table):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(total, 0, x[i])
            cuda.atomic.sub(total, 1, x[i])
            cuda.atomic.max(extreme, 0, x[i])
            cuda.atomic.min(extreme, 1, x[i])
            cuda.atomic.nanmax(extreme, 2, x[i])
            cuda.atomic.add(table, (k[i], k[i] % 3), 1)
            cuda.atomic.or_(bits, 0, u4(1) << u4(k[i]))
            cuda.atomic.xor(bits, 1, u4(i))
            cuda.atomic.and_(bits, 2, ~u4(k[i] << 8))
            cuda.atomic.inc(bits, 3, u4(9))
            cuda.atomic.dec(bits, 4, u4(9))
            cuda.atomic.exch(bits, 5, u4(77))

    x, k = random.normal(size=213), random.integers(0, 9, 213)
    total, extreme = np.zeros(2), np.array([-9.0, 9.0, np.nan])
    bits, table = np.array([0, 0, 0xFFFFFFFF, 0, 0, 0], u4), np.zeros((9, 3), i4)
    kernel[4, 64](x, k, total, extreme, bits, table)
    np.testing.assert_allclose(total, [x.sum(), -x.sum()])
    np.testing.assert_array_equal(extreme, [x.max(), x.min(), x.max()])
    np.testing.assert_array_equal(table[np.arange(9), np.arange(9) % 3], np.bincount(k, minlength=9))
    gone = np.bitwise_or.reduce(k << 8)
    assert bits.tolist() == [sum({1 << v for v in k.tolist()}), np.bitwise_xor.reduce(np.arange(213)),
                             0xFFFFFFFF & ~gone, 213 % 10, -213 % 10, 77]  # fmt: skip


def test_compare_and_swap():
    @cuda.jit
    def maximum_by_swapping(x, out):
        i = cuda.grid(1)
        if i < x.size:
            old = out[0]
            while old < x[i]:
                seen = cuda.atomic.cas(out, 0, old, x[i])
                if seen == old:
                    break
                old = seen

    @cuda.jit
    def first_only(out, winner):
        if cuda.atomic.compare_and_swap(out, -1, cuda.grid(1)) == -1:
            cuda.atomic.add(winner, 0, 1)

    x = random.integers(0, 10**9, 500)
    out = np.zeros(1, np.int64)
    maximum_by_swapping[4, 128](x, out)
    assert out[0] == x.max()
    taken, winner = np.full(1, -1, i4), np.zeros(1, i4)
    first_only[3, 33](taken, winner)
    assert winner[0] == 1 and 0 <= taken[0] < 99


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float16, np.float32, np.int64, np.complex128, np.bool_])
def test_shared_memory_of_many_types(dtype):
    import numba

    kind = numba.from_dtype(np.dtype(dtype))

    @cuda.jit
    def reverse(x, out):
        tile = cuda.shared.array(48, dtype=kind)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        if i < x.size:
            tile[t] = x[i]
        cuda.syncthreads()
        other = cuda.blockDim.x - 1 - t
        if cuda.blockIdx.x * cuda.blockDim.x + other < x.size and i < out.size:
            out[i] = tile[other]

    x = random.integers(0, 100, 96).astype(dtype)
    out = np.zeros(96, dtype)
    reverse[2, 48](x, out)
    np.testing.assert_array_equal(out, x.reshape(2, 48)[:, ::-1].ravel())


def test_dynamic_shared_memory_in_two_arrays():
    import numba

    @cuda.jit
    def kernel(x, k, out):
        values = cuda.shared.array(0, dtype=numba.float32)
        keys = cuda.shared.array(0, dtype=numba.int32)[40:]
        t = cuda.threadIdx.x
        values[t] = x[t]
        keys[t] = k[t]
        cuda.syncthreads()
        out[t] = values[keys[t]]

    x, k = random.normal(size=40).astype(f4), random.permutation(40).astype(i4)
    out = np.zeros(40, f4)
    kernel[1, 40, 0, 320](x, k, out)
    np.testing.assert_array_equal(out, x[k])


def test_tiled_matrix_product_with_edges():
    import numba

    size = 8

    @cuda.jit
    def product(a, b, c):
        sa = cuda.shared.array((size, size), numba.float64)
        sb = cuda.shared.array((size, size), numba.float64)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = 0.0
        for tile in range((a.shape[1] + size - 1) // size):
            sa[ty, tx] = a[y, tx + tile * size] if y < a.shape[0] and tx + tile * size < a.shape[1] else 0.0
            sb[ty, tx] = b[ty + tile * size, x] if x < b.shape[1] and ty + tile * size < b.shape[0] else 0.0
            cuda.syncthreads()
            for j in range(size):
                total += sa[ty, j] * sb[j, tx]
            cuda.syncthreads()
        if y < c.shape[0] and x < c.shape[1]:
            c[y, x] = total

    a, b = random.normal(size=(13, 21)), random.normal(size=(21, 18))
    c = np.zeros((13, 18))
    product[(3, 2), (size, size)](a, b, c)
    np.testing.assert_allclose(c, a @ b)


def test_warp_intrinsics():
    @cuda.jit
    def kernel(x, out, words):
        i = cuda.grid(1)
        lane = cuda.laneid
        v = x[i]
        s = v
        for d in (16, 8, 4, 2, 1):
            s += cuda.shfl_xor_sync(0xFFFFFFFF, s, d)
        out[i, 0] = s
        out[i, 1] = cuda.shfl_up_sync(0xFFFFFFFF, v, 1)
        out[i, 2] = cuda.shfl_down_sync(0xFFFFFFFF, v, 2)
        out[i, 3] = cuda.shfl_sync(0xFFFFFFFF, v, 31 - lane)
        words[i, 0] = cuda.ballot_sync(0xFFFFFFFF, v > 0)
        words[i, 1] = cuda.popc(cuda.ballot_sync(0xFFFFFFFF, v > 0) & cuda.lanemask_lt())
        words[i, 2] = cuda.any_sync(0xFFFFFFFF, v > 2) + 2 * cuda.all_sync(0xFFFFFFFF, v > -9)
        words[i, 3] = cuda.match_any_sync(0xFFFFFFFF, i % 5)
        words[i, 4] = cuda.ffs(i) + cuda.clz(i) + cuda.popc(i)
        words[i, 5] = cuda.brev(u4(i))
        words[i, 6] = cuda.selp(i % 2 == 0, 10, 20)
        words[i, 7] = cuda.activemask()

    x = random.normal(size=64)
    out, words = np.zeros((64, 4)), np.zeros((64, 8), u4)
    kernel[1, 64](x, out, words)
    w, i, lane = x.reshape(2, 32), np.arange(64), np.arange(64) % 32
    np.testing.assert_allclose(out[:, 0], np.repeat(w.sum(1), 32))
    np.testing.assert_array_equal(out[:, 1], np.where(lane == 0, x, np.roll(x, 1)))
    np.testing.assert_array_equal(out[:, 2], np.where(lane >= 30, x, np.roll(x, -2)))
    np.testing.assert_array_equal(out[:, 3], w[:, ::-1].ravel())
    ballots = np.repeat(((w > 0) * (1 << np.arange(32))).sum(1), 32)
    np.testing.assert_array_equal(words[:, 0], ballots)
    np.testing.assert_array_equal(
        words[:, 1], [(b & (1 << j) - 1).bit_count() for b, j in zip(ballots.tolist(), lane.tolist(), strict=True)]
    )
    np.testing.assert_array_equal(words[:, 2], np.repeat((w > 2).any(1), 32) + 2)
    same = ((i % 5).reshape(2, 32)[:, :, None] == (i % 5).reshape(2, 32)[:, None]) * (1 << np.arange(32))
    np.testing.assert_array_equal(words[:, 3], same.sum(2).ravel())
    want = [(int(n) & -int(n)).bit_length() + 64 - int(n).bit_length() + int(n).bit_count() for n in i]
    assert (words[:, 4] == want).all() or (words[:, 4] == np.array(want) - 32).all()
    np.testing.assert_array_equal(words[:, 5], [int(f"{n:032b}"[::-1], 2) for n in i])
    np.testing.assert_array_equal(words[:, 6], np.where(i % 2 == 0, 10, 20))
    assert (words[:, 7] == 0xFFFFFFFF).all()


def test_barriers_that_vote():
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.syncthreads_count(int(x[t] > 0))
        out[t, 1] = cuda.syncthreads_and(int(x[t] > -100))
        out[t, 2] = cuda.syncthreads_or(int(x[t] > 100))

    x, out = random.normal(size=75), np.zeros((75, 3), i4)
    kernel[1, 75](x, out)
    np.testing.assert_array_equal(out != 0, np.tile([True, True, False], (75, 1)))
    assert (out[:, 0] == (x > 0).sum()).all()

    @cuda.jit
    def wrong(x, out):
        out[0, 0] = cuda.syncthreads_count(x[0] > 0)

    with pytest.raises(VirtualGPUError, match=r"syncthreads_count\(int\(") as caught:
        wrong[1, 32](x, out)
    assert "takes integers only" in str(caught.value)


def test_device_functions_and_closures():
    def make(scale, table):
        @cuda.jit(device=True, inline=True)
        def inner(x):
            return x * scale

        @cuda.jit
        def kernel(x, out):
            lookup = cuda.const.array_like(table)
            i = cuda.grid(1)
            if i < x.size:
                out[i] = inner(x[i]) + lookup[i % 3, 1]

        return kernel

    x, table = random.normal(size=50), random.normal(size=(3, 2))
    for scale in (2.0, -3):
        out = np.zeros(50)
        make(scale, table)[2, 32](x, out)
        np.testing.assert_allclose(out, x * scale + table[np.arange(50) % 3, 1])


def test_local_arrays_and_insertion_sort():
    import numba

    @cuda.jit
    def medians(image, out):
        y, x = cuda.grid(2)
        window = cuda.local.array(9, numba.float32)
        if 1 <= y < image.shape[0] - 1 and 1 <= x < image.shape[1] - 1:
            n = 0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    v = image[y + dy, x + dx]
                    j = n
                    while j > 0 and window[j - 1] > v:
                        window[j] = window[j - 1]
                        j -= 1
                    window[j] = v
                    n += 1
            out[y, x] = window[4]

    a = random.normal(size=(17, 22)).astype(f4)
    out = a.copy()
    medians[(3, 3), (8, 8)](a, out)
    want = a.copy()
    want[1:-1, 1:-1] = np.median([a[1 + y : 16 + y, 1 + x : 21 + x] for y in (-1, 0, 1) for x in (-1, 0, 1)], axis=0)
    np.testing.assert_array_equal(out, want)


def test_loops_with_everything():
    @cuda.jit
    def collatz(out, limit):
        for start in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            n, steps = start + 1, 0
            while True:
                if n == 1:
                    break
                if steps >= limit:
                    steps = -1
                    break
                if n % 2:
                    n = 3 * n + 1
                    steps += 1
                    continue
                n //= 2
                steps += 1
            else:
                steps = -2
            for k in range(5, 0, -2):
                steps += k if start % 3 == 0 else 0
            out[start] = steps

    out = np.zeros(131, i4)
    collatz[2, 32](out, 100)

    def expected(start):
        n, steps = start + 1, 0
        while n != 1 and steps < 100:
            n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
        steps = -1 if n != 1 else steps
        return steps + (9 if start % 3 == 0 else 0)

    assert out.tolist() == [expected(s) for s in range(131)]


def test_monte_carlo_with_xoroshiro():
    cuda.activate()
    from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

    @cuda.jit
    def pi(states, n, out):
        i = cuda.grid(1)
        hits = 0
        for _ in range(n):
            x = xoroshiro128p_uniform_float32(states, i)
            y = xoroshiro128p_uniform_float32(states, i)
            if x * x + y * y <= 1:
                hits += 1
        out[i] = 4.0 * hits / n

    states = create_xoroshiro128p_states(96, seed=1)
    out = np.zeros(96, f4)
    pi[3, 32](states, 300, out)
    assert abs(out.mean() - math.pi) < 0.03 and out.std() > 0


def test_messages_stay_the_same_when_numba_compiled_for_the_cpu():
    import numba

    @numba.njit
    def for_the_cpu(n):
        return np.zeros(n).sum()

    @cuda.jit
    def kernel(x):
        x[0] = np.zeros(3)[0]

    assert for_the_cpu(3) == 0
    with pytest.raises(VirtualGPUError, match=r"`numpy.zeros` makes an array"):
        kernel[1, 1](np.zeros(3))


def test_forall_streams_and_events():
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    x = random.normal(size=1001)
    stream = cuda.stream()
    begin, end = cuda.event(), cuda.event()
    there = cuda.to_device(x, stream=stream)
    begin.record(stream)
    double.forall(x.size, stream=stream)(there)
    double[8, 128, stream](there)
    end.record(stream)
    stream.synchronize()
    np.testing.assert_array_equal(there.copy_to_host(stream=stream), 4 * x)
    assert cuda.event_elapsed_time(begin, end) >= 0


def test_explicit_signatures_and_strides():
    @cuda.jit("void(float32[:, ::1], float32[::1, :], int32)")
    def kernel(c, f, n):
        i, j = cuda.grid(2)
        if i < c.shape[0] and j < c.shape[1]:
            f[i, j] = c[i, j] + n

    a = random.normal(size=(9, 14)).astype(f4)
    out = np.zeros((9, 14), f4, order="F")
    kernel[(2, 2), (8, 8)](a, out, 3)
    np.testing.assert_array_equal(out, a + f4(3))


def test_strided_and_transposed_views():
    @cuda.jit
    def copy(a, out):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            out[i, j] = a[i, j]

    there = cuda.to_device(random.normal(size=(12, 15)))
    host = there.copy_to_host()
    for view, wanted in ((there.T, host.T), (there[::2, 1:], host[::2, 1:]), (there[3:, ::3], host[3:, ::3])):
        out = np.zeros(wanted.shape)
        copy[(4, 4), (4, 4)](view, out)
        np.testing.assert_array_equal(out, wanted)


def test_block_reduction_and_a_second_kernel():
    import numba

    @cuda.jit
    def partial(x, out):
        s = cuda.shared.array(128, numba.float32)
        t = cuda.threadIdx.x
        acc = f4(0)
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            acc += x[i]
        s[t] = acc
        cuda.syncthreads()
        d = cuda.blockDim.x // 2
        while d > 0:
            if t < d:
                s[t] += s[t + d]
            cuda.syncthreads()
            d //= 2
        if t == 0:
            out[cuda.blockIdx.x] = s[0]

    x = cuda.to_device(random.random(10007).astype(f4))
    part, out = cuda.device_array(6, f4), cuda.device_array(1, f4)
    partial[6, 128](x, part)
    partial[1, 128](part, out)
    np.testing.assert_allclose(out.copy_to_host()[0], x.copy_to_host().sum(dtype=float), rtol=1e-5)


def test_enumerations_and_global_constants():
    @cuda.jit
    def kernel(out, colour):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = (
                WEIGHTS[i % 3] * FACTOR + np.float64(np.pi) + Colour.blue.value + (1 if colour == Colour.red else 0)
            )

    out = np.zeros(10)
    kernel[1, 16](out, Colour.red)
    np.testing.assert_allclose(out, np.array(WEIGHTS)[np.arange(10) % 3] * FACTOR + np.pi + 4)

    @cuda.jit
    def wrong(out):
        out[0] = Plain.blue

    with pytest.raises(VirtualGPUError, match=r"(?s)`Plain` is a class.*IntEnum"):
        wrong[1, 1](out)


def test_swapping_arrays_choosing_and_ternaries():
    @cuda.jit
    def kernel(a, b, n):
        i = cuda.grid(1)
        source, target = a, b
        for step in range(n):
            if i < a.size:
                target[i] = source[i] + (step if i % 2 else -step)
            cuda.syncthreads()
            source, target = target, source

    a, b = np.zeros(40), np.zeros(40)
    kernel[1, 64](a, b, 4)
    np.testing.assert_array_equal(a, np.where(np.arange(40) % 2, 6, -6))


def test_the_whole_grid_meets():
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        x[i] = i
        cuda.cg.this_grid().sync()
        y[i] = x[x.size - 1 - i]

    x, y = np.zeros(64), np.zeros(64)
    kernel[2, 32](x, y)
    np.testing.assert_array_equal(y, np.arange(64)[::-1])


FACTOR, WEIGHTS = 2.5, (0.25, 0.5, 1.0)


class Colour(IntEnum):
    red = 1
    blue = 3


class Plain:
    blue = 3


def if_on_an_array(x):
    if x > 0:
        x[0] = 1


def random_numbers(x):
    x[0] = np.random.rand()


def moved_slices(x):
    x[2:4] = x[4:6]


def dictionary(x):
    d = {}
    d[1] = x[0]


@pytest.mark.parametrize(
    ("function", "says"),
    [(if_on_an_array, "`if` or `while` is given a whole array"), (random_numbers, "cuda.random"),
     (moved_slices, "loop over the elements"), (dictionary, "dictionaries")],
)  # fmt: skip
def test_mistakes_in_kernels(function, says):
    with pytest.raises(VirtualGPUError) as raised:
        cuda.jit(function)[1, 32](np.zeros(8))
    assert says in str(raised.value) and raised.value.line > function.__code__.co_firstlineno


def test_mistakes_at_launches():
    @cuda.jit
    def kernel(x):
        x[0] = 1

    frozen = np.zeros(4)
    frozen.setflags(write=False)
    for says, launch in (
        ("without names", lambda: kernel[1, 1](x=np.zeros(4))),
        ("may only be read", lambda: kernel[1, 1](frozen)),
        ("Python objects", lambda: kernel[1, 1](np.array([1, None]))),
    ):
        with pytest.raises(VirtualGPUError, match=says):
            launch()

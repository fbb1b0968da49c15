"""Kernels as people write them in Numba's Python, at awkward sizes."""

import math
from enum import IntEnum

import numba
import numpy as np

from vgpu.standins import numba_cuda as cuda
from vgpu.tests.corpus.row import py

f4, i4, u4 = np.float32, np.int32, np.uint32
FACTOR, WEIGHTS = 2.5, (0.25, 0.5, 1.0)
SIZE = 8


class Colour(IntEnum):
    red = 1
    blue = 3


# ---------------------------------------------------------------- arrays and what they hold


@py((2, 2, 3), (4, 4, 4), check=True)
def three_dimensions_and_negative_indices(random):
    def kernel(a, out):
        i, j, k = cuda.grid(3)
        if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
            out[-1 - i, j, k] = a[i, -1 - j, k] + a.ndim + a.size

    a = random.normal(size=(5, 7, 9))
    return kernel, (a, np.zeros_like(a)), {1: a[::-1, ::-1] + 3 + a.size}


@py(1, 32, rtol=1e-12)
def slices_and_views(random):
    @cuda.jit(device=True)
    def total(row):
        s = 0.0
        for v in row:
            s += v
        return s

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
    wanted = [a.sum(1), a[:, 1:-1].sum(1), a[:, ::2].sum(1), a[:, 2:5].sum(1), np.full(13, 8)]
    return kernel, (a, np.zeros((13, 5))), {1: np.stack(wanted, 1)}


@py(2, 64, rtol=1e-12)
def tuples_in_and_out(random):
    @cuda.jit(device=True)
    def polar(x, y):
        return math.hypot(x, y), math.atan2(y, x)

    def kernel(points, offset, out):
        i = cuda.grid(1)
        if i < len(points):
            r, angle = polar(points[i, 0] - offset[0], points[i, 1] - offset[1])
            out[i, 0], out[i, 1] = r, angle
            out[i, 0], out[i, 1] = out[i, 1], out[i, 0]

    p = random.normal(size=(70, 2))
    d = p - [0.5, -1.0]
    wanted = np.stack([np.arctan2(d[:, 1], d[:, 0]), np.hypot(d[:, 0], d[:, 1])], 1)
    return kernel, (p, (0.5, -1.0), np.zeros((70, 2))), {2: wanted}


@py(1, 32, rtol=1e-6)
def records_with_nested_arrays(random):
    def kernel(p, dt):
        i = cuda.grid(1)
        if i < p.size:
            for axis in range(3):
                p[i].position[axis] += dt * (axis + 1)
            p[i]["mass"] *= 2
            p.kind[i] += 1

    data = np.zeros(21, np.dtype([("position", f4, (3,)), ("mass", np.float64), ("kind", np.int8)], align=True))
    data["position"], data["mass"], data["kind"] = random.normal(size=(21, 3)), random.random(21), np.arange(21)
    wanted = data.copy()
    wanted["position"] += f4(0.5) * np.array([1, 2, 3], f4)
    wanted["mass"] *= 2
    wanted["kind"] += 1
    return kernel, (data, f4(0.5)), {0: wanted}


@py(3, 32)
def boolean_arrays_and_masks(random):
    def kernel(x, mask, out):
        i = cuda.grid(1)
        if i < x.size:
            mask[i] = x[i] > 0 and not (x[i] > 1 or i % 7 == 0)
            out[i] = x[i] if mask[i] else -1.0

    x = random.normal(size=90)
    wanted = (x > 0) & ~((x > 1) | (np.arange(90) % 7 == 0))
    return kernel, (x, np.zeros(90, bool), np.zeros(90)), {1: wanted, 2: np.where(wanted, x, -1)}


# ---------------------------------------------------------------- numbers


KINDS = (np.int8, np.uint8, np.int16, np.uint16, i4, u4, np.int64, np.uint64, f4, np.float64)


@py(2, 64, check=True)
def numbers_by_pythons_rules(random):
    @cuda.jit(device=True)
    def divided(a, b, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i, 0] = a[i] // b[i]
            out[i, 1] = a[i] % b[i]
            out[i, 2] = a[i] * b[i] + a[i]
            out[i, 3] = min(a[i], b[i])

    @cuda.jit(device=True)
    def whole(a, b, out):
        i = cuda.grid(1)
        divided(a, b, out)
        if i < a.size:
            out[i, 4] = (a[i] << 1) ^ (b[i] >> 1)
            out[i, 5] = ~a[i] & b[i] | 1
            q, r = divmod(a[i], b[i])
            out[i, 6] = q * b[i] + r - a[i]

    def kernel(a, b, c, d, e, f, g, h, x, y):
        whole(a[0], a[1], a[2])
        whole(b[0], b[1], b[2])
        whole(c[0], c[1], c[2])
        whole(d[0], d[1], d[2])
        whole(e[0], e[1], e[2])
        whole(f[0], f[1], f[2])
        whole(g[0], g[1], g[2])
        whole(h[0], h[1], h[2])
        divided(x[0], x[1], x[2])
        divided(y[0], y[1], y[2])

    arguments, outs = [], []
    for dtype in KINDS:
        if issubclass(dtype, np.floating):
            a, b = random.integers(-90, 90, (2, 99)).astype(dtype)
            b[b == 0] = 7
        else:
            limits = np.iinfo(dtype)
            a, b = random.integers(limits.min, limits.max, (2, 99), dtype=dtype, endpoint=True)
            b >>= dtype(3)
            b[b == 0] = 5
            b[b == limits.max] = 1  # -1 read as unsigned
        with np.errstate(over="ignore"):
            wanted = [a // b, a % b, a * b + a, np.minimum(a, b)]
            if a.dtype.kind != "f":
                wanted += [(a << 1) ^ (b >> 1), ~a & b | 1, a * 0]
        outs.append((cuda.to_device(np.zeros((99, len(wanted)), dtype)), np.stack(wanted, 1)))
        arguments.append((cuda.to_device(a), cuda.to_device(b), outs[-1][0]))

    def right(found):
        return all((out.copy_to_host() == wanted).all() for out, wanted in outs)

    return kernel, tuple(arguments), {0: right}


NAMES = ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "expm1", "log1p", "sqrt", "erf",
         "erfc", "gamma", "lgamma", "fabs", "floor", "ceil"]  # fmt: skip


@py(2, 64, rtol=1e-13, atol=1e-15, long=True)
def the_math_module(random):
    namespace = {"math": math, "cuda": cuda}
    body = "\n".join(f"        out[i, {j}] = math.{name}(x[i])" for j, name in enumerate(NAMES))
    exec(f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n{body}", namespace)
    x = random.uniform(0.05, 0.95, 67)
    wanted = [[getattr(math, name)(float(v)) for name in NAMES] for v in x]
    return namespace["kernel"], (x, np.zeros((67, len(NAMES)))), {1: wanted}


@py(1, 64, rtol=1e-12, long=True)
def more_mathematics_and_builtins(random):
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i, 0] = math.pow(a[i], b[i])
            out[i, 1] = a[i] ** 2 + b[i] ** 0.5
            out[i, 2] = math.fmod(a[i], b[i])
            out[i, 3] = cuda.fma(a[i], b[i], a[i])
            out[i, 4] = cuda.cbrt(a[i])
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
    wanted = [a**b, a**2 + b**0.5, np.fmod(a, b), a * b + a, np.cbrt(a), -a, a + np.round(b) + a.astype(int), 0 * a,
              np.radians(a) + np.degrees(b), np.maximum(np.maximum(a, b), 1) - np.minimum(a, b),
              np.log2(a) + np.log10(b) + np.log(a), 2 * a, 0 * a + math.tau,
              np.modf(a)[0] + 10 * np.modf(a)[1]]  # fmt: skip
    return kernel, (a, b, np.zeros((45, 14))), {2: np.stack(wanted, 1)}


@py(2, 64)
def julia_set_in_complex_numbers(random):
    def kernel(z, c, out, limit):
        for i in range(cuda.grid(1), z.size, cuda.gridsize(1)):
            v, n = z[i], 0
            while n < limit and v.real * v.real + v.imag * v.imag < 4:
                v = v * v + c
                n += 1
            out[i] = n
            z[i] = v.conjugate() if n == limit else v

    z = random.uniform(-1.5, 1.5, 203) + 1j * random.uniform(-1.5, 1.5, 203)
    c, wanted = -0.4 + 0.6j, []
    for v in z:
        n = 0
        while n < 30 and v.real * v.real + v.imag * v.imag < 4:
            v, n = v * v + c, n + 1
        wanted.append(n)
    return kernel, (z, c, np.zeros(203, i4), 30), {2: wanted}


@py(3, 32, rtol=4e-3, atol=2e-3)
def arithmetic_of_float16(random):
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] * b[i] + a[i] if a[i] > b[i] else a[i] - b[i]

    a, b = random.normal(size=(2, 77)).astype(np.float16)
    return kernel, (a, b, np.zeros(77, np.float16)), {2: np.where(a > b, a * b + a, a - b)}


# ---------------------------------------------------------------- threads together


@py(4, 64, check=True, rtol=1e-12)
def atomics_in_python(random):
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
    bits, table = np.array([0, 0, 0xFFFFFFFF, 0, 0, 0], u4), np.zeros((9, 3), i4)
    counts = table.copy()
    counts[np.arange(9), np.arange(9) % 3] = np.bincount(k, minlength=9)
    wanted = [sum({1 << v for v in k.tolist()}), np.bitwise_xor.reduce(np.arange(213)),
              0xFFFFFFFF & ~np.bitwise_or.reduce(k << 8), 213 % 10, -213 % 10, 77]  # fmt: skip
    given = (x, k, np.zeros(2), np.array([-9.0, 9.0, np.nan]), bits, table)
    return kernel, given, {2: [x.sum(), -x.sum()], 3: [x.max(), x.min(), x.max()], 4: wanted, 5: counts}


@py(4, 128, counts=False)
def compare_and_swap(random):
    def kernel(x, out, taken, winner):
        i = cuda.grid(1)
        if cuda.atomic.compare_and_swap(taken, -1, i) == -1:
            cuda.atomic.add(winner, 0, 1)
        if i < x.size:
            old = cuda.atomic.add(out, 0, 0)
            while old < x[i]:
                seen = cuda.atomic.cas(out, 0, old, x[i])
                if seen == old:
                    break
                old = seen

    x = random.integers(0, 10**9, 500)
    given = (x, np.zeros(1, np.int64), np.full(1, -1, i4), np.zeros(1, i4))
    return kernel, given, {1: [x.max()], 2: lambda taken: 0 <= taken[0] < 512, 3: [1]}


@py(2, 48)
def shared_memory_of_many_types(random):
    float16 = numba.from_dtype(np.dtype(np.float16))

    def kernel(a, b, c, x, y, z):
        small = cuda.shared.array(48, numba.int8)
        half = cuda.shared.array(48, float16)
        wide = cuda.shared.array(48, numba.complex128)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        small[t], half[t], wide[t] = a[i], b[i], c[i]
        cuda.syncthreads()
        other = cuda.blockDim.x - 1 - t
        x[i], y[i], z[i] = small[other], half[other], wide[other]

    every = [random.integers(0, 100, 96).astype(dtype) for dtype in (np.int8, np.float16, np.complex128)]
    wanted = [x.reshape(2, 48)[:, ::-1].ravel() for x in every]
    return kernel, (*every, *(x * 0 for x in every)), dict(enumerate(wanted, 3))


@py(1, 40, shared=320, check=True)
def dynamic_shared_memory_in_two_arrays(random):
    def kernel(x, k, out):
        values = cuda.shared.array(0, dtype=numba.float32)
        keys = cuda.shared.array(0, dtype=numba.int32)[40:]
        t = cuda.threadIdx.x
        values[t] = x[t]
        keys[t] = k[t]
        cuda.syncthreads()
        out[t] = values[keys[t]]

    x, k = random.normal(size=40).astype(f4), random.permutation(40).astype(i4)
    return kernel, (x, k, x * 0), {2: x[k]}


@py((3, 2), (SIZE, SIZE), rtol=1e-12, check=True)
def tiled_matrix_product_with_edges(random):
    def kernel(a, b, c):
        sa = cuda.shared.array((SIZE, SIZE), numba.float64)
        sb = cuda.shared.array((SIZE, SIZE), numba.float64)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = 0.0
        for tile in range((a.shape[1] + SIZE - 1) // SIZE):
            sa[ty, tx] = a[y, tx + tile * SIZE] if y < a.shape[0] and tx + tile * SIZE < a.shape[1] else 0.0
            sb[ty, tx] = b[ty + tile * SIZE, x] if x < b.shape[1] and ty + tile * SIZE < b.shape[0] else 0.0
            cuda.syncthreads()
            for j in range(SIZE):
                total += sa[ty, j] * sb[j, tx]
            cuda.syncthreads()
        if y < c.shape[0] and x < c.shape[1]:
            c[y, x] = total

    a, b = random.normal(size=(13, 21)), random.normal(size=(21, 18))
    return kernel, (a, b, np.zeros((13, 18))), {2: a @ b}


@py(1, 64, rtol=1e-12, check=True)
def warp_intrinsics(random):
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
        words[i, 3] = cuda.match_any_sync(0xFFFFFFFF, i4(i % 5))
        words[i, 4] = cuda.ffs(u4(i)) + cuda.clz(u4(i)) + cuda.popc(u4(i))
        words[i, 5] = cuda.brev(u4(i))
        words[i, 6] = cuda.selp(i % 2 == 0, 10, 20)
        words[i, 7] = cuda.activemask()
        words[i, 8] = cuda.eq_sync(0xFFFFFFFF, v > 30) + 2 * cuda.eq_sync(0xFFFFFFFF, lane > 3)

    x = random.normal(size=64)
    w, i, lane = x.reshape(2, 32), np.arange(64), np.arange(64) % 32
    moved = [np.repeat(w.sum(1), 32), np.where(lane == 0, x, np.roll(x, 1)), np.where(lane >= 30, x, np.roll(x, -2)),
             w[:, ::-1].ravel()]  # fmt: skip
    ballots = np.repeat(((w > 0) * (1 << np.arange(32))).sum(1), 32)
    below = [(b & (1 << j) - 1).bit_count() for b, j in zip(ballots.tolist(), lane.tolist(), strict=True)]
    same = ((i % 5).reshape(2, 32)[:, :, None] == (i % 5).reshape(2, 32)[:, None]) * (1 << np.arange(32))
    bits = [(n & -n).bit_length() + 32 - n.bit_length() + n.bit_count() for n in range(64)]
    words = [ballots, below, np.repeat((w > 2).any(1), 32) + 2, same.sum(2).ravel(), bits,
             [int(f"{n:032b}"[::-1], 2) for n in range(64)], np.where(i % 2 == 0, 10, 20),
             i * 0 + 0xFFFFFFFF, i * 0 + 1]  # fmt: skip
    return kernel, (x, np.zeros((64, 4)), np.zeros((64, 9), u4)), {1: np.stack(moved, 1), 2: np.stack(words, 1)}


@py(1, 75)
def barriers_that_vote_in_python(random):
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.syncthreads_count(int(x[t] > 0))
        out[t, 1] = cuda.syncthreads_and(int(x[t] > -100)) != 0
        out[t, 2] = cuda.syncthreads_or(int(x[t] > 100))

    x = random.normal(size=75)
    return kernel, (x, np.zeros((75, 3), i4)), {1: np.tile([(x > 0).sum(), 1, 0], (75, 1))}


@py(2, 32, cooperative=True, check=True, counts=False)
def the_whole_grid_meets(random):
    def kernel(x, y):
        i = cuda.grid(1)
        x[i] = i
        cuda.cg.this_grid().sync()
        y[i] = x[x.size - 1 - i]

    return kernel, (np.zeros(64), np.zeros(64)), {1: np.arange(64)[::-1]}


@py(6, 128, rtol=1e-5)
def block_reduction(random):
    def kernel(x, out):
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
            cuda.atomic.add(out, 0, s[0])

    x = random.random(2007).astype(f4)
    return kernel, (x, np.zeros(1, f4)), {1: [x.sum(dtype=float)]}


# ---------------------------------------------------------------- functions, loops and names


@py(2, 32, rtol=1e-12)
def closures_and_constant_arrays(random):
    scale, table = -3, np.random.default_rng(5).normal(size=(3, 2))

    @cuda.jit(device=True, inline=True)
    def inner(x):
        return x * scale

    def kernel(x, out):
        lookup = cuda.const.array_like(table)
        i = cuda.grid(1)
        if i < x.size:
            out[i] = inner(x[i]) + lookup[i % 3, 1]

    x = random.normal(size=50)
    return kernel, (x, np.zeros(50)), {1: x * scale + table[np.arange(50) % 3, 1]}


@cuda.jit(device=True, inline="never")
def distance(a, b):
    if a > b:
        return a - b
    return b - a


@cuda.jit(device=True)
def apply(f, v):
    return f(v) + 1


@cuda.jit(device=True)
def square(v):
    return v * v


@cuda.jit(device=True)
def triple(v):
    return 3 * v


@py(2, 32, check=True)
def functions_that_are_not_inlined_or_are_arguments(random):
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = distance(i, 20) * 10000 + apply(square, i) + apply(triple, i)

    return kernel, (np.zeros(50, i4),), {0: [abs(i - 20) * 10000 + i * i + 3 * i + 2 for i in range(50)]}


@py((3, 3), (8, 8), check=True)
def medians_by_sorting_a_local_array(random):
    def kernel(image, out):
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
    wanted = a.copy()
    wanted[1:-1, 1:-1] = np.median([a[1 + y : 16 + y, 1 + x : 21 + x] for y in (-1, 0, 1) for x in (-1, 0, 1)], axis=0)
    return kernel, (a, a.copy()), {1: wanted}


@py(2, 32)
def loops_with_everything(random):
    def kernel(out, limit):
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

    def expected(start):
        n, steps = start + 1, 0
        while n != 1 and steps < 100:
            n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
        return (-1 if n != 1 else steps) + (9 if start % 3 == 0 else 0)

    return kernel, (np.zeros(131, i4), 100), {0: [expected(s) for s in range(131)]}


@py(1, 16, rtol=1e-12)
def enumerations_and_global_constants(random):
    def kernel(out, colour):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = WEIGHTS[i % 3] * FACTOR + np.float64(np.pi) + Colour.blue.value + (colour == Colour.red)

    return kernel, (np.zeros(10), Colour.red), {0: np.array(WEIGHTS)[np.arange(10) % 3] * FACTOR + np.pi + 4}


@py(1, 64)
def arrays_that_are_swapped(random):
    def kernel(a, b, n):
        i = cuda.grid(1)
        source, target = a, b
        for step in range(n):
            if i < a.size:
                target[i] = source[i] + (step if i % 2 else -step)
            cuda.syncthreads()
            source, target = target, source

    return kernel, (np.zeros(40), np.zeros(40), 4), {0: np.where(np.arange(40) % 2, 6, -6)}

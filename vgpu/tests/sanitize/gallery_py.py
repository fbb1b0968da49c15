"""Classic mistakes in Numba CUDA, each with its correct twin.

A case is a function `make(wrong)` that gives the kernel and its arguments; the lines that a finding must name end
in `#!`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from vgpu.standins import numba_cuda as cuda

f4, i4 = np.float32, np.int32


@dataclass(frozen=True)
class Case:
    """One mistake: `make(wrong)` gives (kernel, arguments)."""

    name: str
    kind: str
    grid: tuple
    block: tuple
    make: Callable
    options: dict = field(default_factory=dict)


CASES: list[Case] = []


def case(kind, block, grid=1, **options):
    """Enter the decorated maker into the table."""

    def enter(make):
        CASES.append(Case(make.__name__, kind, grid, block, make, options))
        return make

    return enter


def floats(n):
    return cuda.to_device(np.arange(1, n + 1, dtype=f4))


def zeros(n, dtype=f4):
    return cuda.to_device(np.zeros(n, dtype))


@case("race_read_write", 128)
def neighbours_without_a_barrier(wrong):
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(128, f4)
        t = cuda.threadIdx.x
        s[t] = x[t]  #!
        if not wrong:
            cuda.syncthreads()
        out[t] = s[(t + 1) % 128]  #!

    return kernel, (floats(128), zeros(128))


@case("race_read_write", 128)
def reduction_without_a_barrier_in_the_loop(wrong):
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(128, f4)
        t = cuda.threadIdx.x
        s[t] = x[t]
        cuda.syncthreads()
        stride = 64
        while stride > 0:
            if t < stride:
                s[t] += s[t + stride]  #!
            if not wrong:
                cuda.syncthreads()
            stride //= 2
        if t == 0:
            out[0] = s[0] if not wrong else 0

    return kernel, (floats(128), zeros(1))


@case("race_read_write", (16, 16), (2, 2))
def tiled_matmul_without_the_second_barrier(wrong):
    @cuda.jit
    def kernel(a, b, c):
        left = cuda.shared.array((16, 16), f4)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        x, y = cuda.grid(2)
        total = f4(0)
        for tile in range(2):
            left[ty, tx] = a[y, tile * 16 + tx]  #!
            cuda.syncthreads()
            for k in range(16):
                total += left[ty, k] * b[tile * 16 + k, x]  #!
            if not wrong:
                cuda.syncthreads()
        c[y, x] = total

    a, b = (cuda.to_device(np.random.default_rng(i).normal(size=(32, 32)).astype(f4)) for i in (0, 1))
    return kernel, (a, b, cuda.to_device(np.zeros((32, 32), f4)))


@case("race_read_write", 32)
def warp_reduction_without_syncwarp(wrong):
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(64, f4)
        t = cuda.threadIdx.x
        s[t] = x[t]
        s[t + 32] = x[t + 32]
        cuda.syncwarp()
        for step in (32, 16, 8, 4, 2, 1):
            other = s[t + step] if t < step else f4(0)  #!
            if not wrong:
                cuda.syncwarp()
            s[t] += other  #!
            if not wrong:
                cuda.syncwarp()
        if t == 0:
            out[0] = s[0]

    return kernel, (floats(64), zeros(1))


@case("race_lanes", 32)
def every_lane_writes_the_result(wrong):
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(1, f4)
        t = cuda.threadIdx.x
        if not wrong:
            if t == 0:
                s[0] = x[0]
        else:
            s[0] = x[t]  #!
        cuda.syncthreads()
        out[t] = s[0]

    return kernel, (floats(32), zeros(32))


@case("race_read_write", 256)
def histogram_without_atomics(wrong):
    @cuda.jit
    def kernel(bins, out):
        s = cuda.shared.array(8, i4)
        t = cuda.threadIdx.x
        if t < 8:
            s[t] = 0
        cuda.syncthreads()
        if not wrong:
            cuda.atomic.add(s, bins[t], 1)
        else:
            s[bins[t]] += 1  #!
        cuda.syncthreads()
        if t < 8:
            out[t] = s[t]

    return kernel, (cuda.to_device(np.arange(256, dtype=i4) % 8), zeros(8, i4))


@case("out_of_bounds", 64, 2)
def no_guard(wrong):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if not wrong:
            if i < x.size:
                out[i] = 2 * x[i]
        else:
            out[i] = 2 * x[i]  #!

    return kernel, (floats(100), zeros(100))


@case("out_of_bounds", 50)
def stencil_without_its_borders(wrong):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if not wrong:
            if 0 < i < x.size - 1:
                out[i] = x[i - 1] + x[i + 1]
        else:
            out[i] = x[i - 100] + x[i]  #!

    return kernel, (floats(50), zeros(50))


@case("overrun", 32)
def one_element_too_far(wrong):
    @cuda.jit
    def kernel(x, out):
        first = cuda.shared.array(32, f4)
        second = cuda.shared.array(32, f4)
        t = cuda.threadIdx.x
        first[t] = x[t]
        second[t] = -x[t]
        cuda.syncthreads()
        if not wrong:
            out[t] = first[(t + 1) % 32] + second[t]
        else:
            out[t] = first[t + 1] + second[t]  #!

    return kernel, (floats(32), zeros(32))


@case("barrier_divergent", 64)
def barriers_in_both_arms(wrong):
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(64, f4)
        t = cuda.threadIdx.x
        if not wrong:
            s[t] = x[t] if t % 2 else -x[t]
            cuda.syncthreads()
        else:
            if t % 2:
                s[t] = x[t]
                cuda.syncthreads()  #!
            else:
                s[t] = -x[t]
                cuda.syncthreads()
        out[t] = s[63 - t]

    return kernel, (floats(64), zeros(64))


@case("barrier_ended", 64)
def early_return(wrong):
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(64, f4)
        t = cuda.threadIdx.x
        n = x.size
        if wrong and t >= n:
            return
        if t < n:
            s[t] = x[t]
        cuda.syncthreads()  #!
        if t < n:
            out[t] = s[n - 1 - t]

    return kernel, (floats(50), zeros(50))


@case("mask_absent", 32)
def full_mask_in_a_branch(wrong):
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        if t < 16:
            value = x[t]
            mask = 0xFFFFFFFF if wrong else 0xFFFF
            for step in (8, 4, 2, 1):
                value += cuda.shfl_xor_sync(mask, value, step)  #!
            out[t] = value
        cuda.syncthreads()
        if t >= 16:
            out[t] = out[t - 16]

    return kernel, (floats(32), zeros(32))


@case("mask_self", 32)
def vote_of_others(wrong):
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = cuda.ballot_sync(0x7FFFFFFF if wrong else 0xFFFFFFFF, x[t] > 3)  #!

    return kernel, (floats(32), zeros(32, np.uint32))


@case("uninitialised", 64)
def halo_never_filled(wrong):
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(66, f4)
        t = cuda.threadIdx.x
        s[t + 1] = x[t]
        if not wrong and t < 2:
            s[65 * t] = 0
        cuda.syncthreads()
        out[t] = s[t] + s[t + 2]  #!

    return kernel, (floats(64), zeros(64))


@case("uninitialised", 32)
def sums_on_fresh_memory(wrong):
    @cuda.jit
    def kernel(x, sums):
        t = cuda.threadIdx.x
        sums[t] += x[t]  #!

    return kernel, (floats(32), cuda.device_array(32, f4) if wrong else zeros(32))


@case("race_atomic", 64)
def reset_beside_an_atomic(wrong):
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(1, i4)
        t = cuda.threadIdx.x
        if t == 40:
            s[0] = 0  #!
        if not wrong:
            cuda.syncthreads()
        cuda.atomic.max(s, 0, x[t])  #!
        cuda.syncthreads()
        if t == 0:
            out[0] = s[0]

    return kernel, (cuda.to_device(np.arange(64, dtype=i4)), zeros(1, i4))


@case("race_read_write", 32, 4, races_in_global=True)
def blocks_add_to_one_number(wrong):
    @cuda.jit
    def kernel(x, out):
        if cuda.threadIdx.x == 0:
            if not wrong:
                cuda.atomic.add(out, 0, x[cuda.blockIdx.x])
            else:
                out[0] += x[cuda.blockIdx.x]  #!

    return kernel, (floats(4), zeros(1))


@case("race_read_write", 64, 2, races_in_global=True)
def blur_in_place(wrong):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if 0 < i < x.size - 1:
            out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3  #!

    x = cuda.to_device(np.arange(128, dtype=f4) ** 2)
    return kernel, (x, x if wrong else zeros(128))


@case("race_read_write", 32, 8, races_in_global=True)
def last_block_without_a_fence(wrong):
    @cuda.jit
    def kernel(x, partial, done, out):
        b = cuda.blockIdx.x
        if cuda.threadIdx.x == 0:
            partial[b] = 2 * x[b]  #!
            if not wrong:
                cuda.threadfence()
            if cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1:
                total = f4(0)
                for i in range(cuda.gridDim.x):
                    total += partial[i]  #!
                out[0] = total

    return kernel, (floats(8), zeros(8), zeros(1, i4), zeros(1))


@case("race_read_write", 64)
def scan_in_place(wrong):
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(64, f4)
        t = cuda.threadIdx.x
        s[t] = x[t]
        cuda.syncthreads()
        step = 1
        while step < 64:
            other = s[t - step] if t >= step else f4(0)  #!
            if not wrong:
                cuda.syncthreads()
            s[t] += other  #!
            cuda.syncthreads()
            step *= 2
        out[t] = s[t]

    return kernel, (floats(64), zeros(64))


@case("race_read_write", (32, 8))
def transpose_without_a_barrier(wrong):
    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((32, 33), f4)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        for row in range(ty, 32, 8):
            tile[row, tx] = x[row, tx]  #!
        if not wrong:
            cuda.syncthreads()
        for row in range(ty, 32, 8):
            out[row, tx] = tile[tx, row]  #!

    x = cuda.to_device(np.arange(1024, dtype=f4).reshape(32, 32))
    return kernel, (x, cuda.to_device(np.zeros((32, 32), f4)))

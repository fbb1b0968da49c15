"""Warps: shuffles, votes, matches, reductions and groups of lanes."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

from __future__ import annotations

import numpy as np

from vgpu.tests.corpus.row import c

f4, f8, i4, u4 = np.float32, np.float64, np.int32, np.uint32


@c(
    """
    extern "C" __global__ void k(const int* in, int* out) {
        int i = threadIdx.x, v = in[i]; int* o = out + i * 8; unsigned all = 0xffffffff;
        o[0] = __shfl_sync(all, v, 3, 8); o[1] = __shfl_up_sync(all, v, 2, 16); o[2] = __shfl_down_sync(all, v, 5, 8);
        o[3] = __shfl_xor_sync(all, v, 6, 4); o[4] = __shfl_sync(all, v, i + 1); o[5] = __shfl_xor_sync(all, v, 31);
        long long w = __shfl_sync(all, (long long)v << 33, 31 - i % 32); o[6] = (int)(w >> 33);
        o[7] = __shfl_down_sync(all, v, 1, 2);
    }""",
    1, 64,
)  # fmt: skip
def shuffles_of_narrow_width(random):
    v = random.integers(-1000, 1000, 64).astype(i4)
    i = np.arange(64)
    base = i & ~31

    def take(source, ok):
        return v[np.where(ok, source, i)]

    want = [
        v[(i & ~7) + 3], take(i - 2, (i & 15) >= 2), take(i + 5, (i & 7) + 5 < 8),
        take(i ^ 6, (i ^ 6) % 32 < (i % 32 & ~3) + 4), v[base + (i + 1) % 32], v[i ^ 31], v[base + 31 - i % 32],
        take(i + 1, i % 2 == 0),
    ]  # fmt: skip
    return (v, np.zeros((64, 8), i4)), {1: np.stack(want, 1)}


@c(
    """
    __device__ int counter;
    extern "C" __global__ void k(const int* in, int* out, int* total, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
        bool keep = i < n && in[i] % 3 == 0;
        unsigned mask = __ballot_sync(0xffffffff, keep);
        int base = 0;
        if (lane == 0 && mask) base = atomicAdd(total, __popc(mask));
        base = __shfl_sync(0xffffffff, base, 0);
        if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
    }""",
    1, 128,
)  # fmt: skip
def ballot_compaction(random):
    x = random.integers(0, 100, 120).astype(i4)
    kept = x[x % 3 == 0]
    # One block's warps may come in any order: what is compared is made insensitive to it by equal values below.
    x[:] = np.where(x % 3 == 0, 3, x)
    want = np.full(120, -1, i4)
    want[: len(kept)] = 3
    return (x, np.full(120, -1, i4), np.zeros(1, i4), i4(120)), {1: want, 2: [len(kept)]}


@c(
    """
    __device__ int aggregated(int* p) {
        unsigned active = __activemask();
        int leader = __ffs(active) - 1, lane = threadIdx.x & 31, old = 0;
        if (lane == leader) old = atomicAdd(p, __popc(active));
        return __shfl_sync(active, old, leader) + __popc(active & ((1u << lane) - 1));
    }
    extern "C" __global__ void k(const int* in, int* out, int* count, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n && in[i] > 0) out[aggregated(count)] = 1;
    }""",
    4, 96,
)  # fmt: skip
def warp_aggregated_atomics(random):
    x = random.integers(-5, 5, 333).astype(i4)
    n = int((x > 0).sum())
    return (x, np.zeros(333, i4), np.zeros(1, i4), i4(333)), {1: (np.arange(333) < n).astype(i4), 2: [n]}


@c(
    """
    extern "C" __global__ void k(const int* keys, int* count, unsigned* sum, int* extremes) {
        int i = threadIdx.x, key = keys[i];
        unsigned peers = __match_any_sync(0xffffffff, key);
        if (__ffs(peers) - 1 == i % 32) atomicAdd(&count[key], __popc(peers));
        sum[i] = __reduce_add_sync(0xffffffff, (unsigned)key);
        extremes[2 * i] = __reduce_min_sync(0xffffffff, key - 3);
        extremes[2 * i + 1] = __reduce_max_sync(0xffffffff, key - 3);
        int uniform; __match_all_sync(0xffffffff, key >> 10, &uniform);
        if (!uniform) count[0] = -1;
    }""",
    1, 64,
)  # fmt: skip
def match_and_reduce(random):
    x = random.integers(0, 7, 64).astype(i4)
    warp = x.reshape(2, 32)
    low_high = np.stack([np.repeat(warp.min(1) - 3, 32), np.repeat(warp.max(1) - 3, 32)], 1)
    return (x, np.zeros(7, i4), np.zeros(64, u4), np.zeros((64, 2), i4)), {
        1: np.bincount(x, minlength=7), 2: np.repeat(warp.sum(1), 32), 3: low_high}  # fmt: skip


@c(
    """
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    template <int size> __device__ float tile_sum(cg::thread_block_tile<size> tile, float v) {
        for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
        return v;
    }
    extern "C" __global__ void k(const float* in, float* sums, int* ranks, int n) {
        cg::thread_block block = cg::this_thread_block();
        auto tile = cg::tiled_partition<16>(block);
        int i = block.group_index().x * block.size() + block.thread_rank();
        float v = tile_sum<16>(tile, i < n ? in[i] : 0);
        if (tile.thread_rank() == 0) sums[i / 16] = v;
        __shared__ int last;
        if (block.thread_rank() == block.size() - 1) last = block.thread_rank();
        block.sync();
        ranks[i] = tile.meta_group_rank() * 1000 + tile.thread_rank() + last * 100000 + (tile.any(i == 3) ? 1 << 30 : 0);
    }""",
    3, 64, rtol=1e-5, atol=1e-5,
)  # fmt: skip
def cooperative_tiles(random):
    x = random.normal(size=180).astype(f4)
    padded = np.zeros(192, f4)
    padded[:180] = x
    i = np.arange(192)
    ranks = i % 64 // 16 * 1000 + i % 16 + 63 * 100000 + np.where(i < 16, 1 << 30, 0)
    return (x, np.zeros(12, f4), np.zeros(192, i4), i4(180)), {1: padded.reshape(12, 16).sum(1), 2: ranks}


@c(
    """
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int* in, int* sums, int* most, int n) {
        auto warp = cg::tiled_partition<32>(cg::this_thread_block());
        int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0;
        int total = cg::reduce(warp, v, cg::plus<int>()), top = cg::reduce(warp, v, cg::greater<int>());
        if (warp.thread_rank() == 0) { atomicAdd(sums, total); atomicMax(most, top); }
        if (v > 50) { auto active = cg::coalesced_threads(); if (active.thread_rank() == 0) atomicAdd(sums + 1, active.size()); }
    }""",
    2, 96,
)  # fmt: skip
def cooperative_reduce(random):
    x = random.integers(0, 100, 170).astype(i4)
    return (x, np.zeros(2, i4), np.zeros(1, i4), i4(170)), {1: [x.sum(), (x > 50).sum()], 2: [x.max()]}


@c(
    """
    extern "C" __global__ void k(const int* in, int* out, double* wide) {
        int v = in[threadIdx.x], lane = threadIdx.x;
        out[lane] = __shfl_sync(~0u, v, (lane * 7 + 3) % 32);
        out[32 + lane] = __shfl_up_sync(~0u, v, 3);
        out[64 + lane] = __shfl_down_sync(~0u, v, 5, 16);
        out[96 + lane] = __shfl_xor_sync(~0u, v, 9);
        out[128 + lane] = __shfl_sync(~0u, v, lane + 3, 8);
        out[160 + lane] = __shfl_up_sync(~0u, v, lane % 4, 8);
        wide[lane] = __shfl_xor_sync(~0u, v * 0.5, 1);
    }""",
    1, 32, check=True,
)  # fmt: skip
def shuffles_of_every_kind(random):
    data, lane = random.integers(0, 1000, 32, dtype=i4), np.arange(32)
    within = lambda source, width: np.where(source // width == lane // width, source, lane)
    sources = [(lane * 7 + 3) % 32, np.where(lane >= 3, lane - 3, lane), within(lane + 5, 16), lane ^ 9,
               lane // 8 * 8 + (lane + 3) % 8, within(lane - lane % 4, 8)]  # fmt: skip
    return (data, np.zeros((6, 32), i4), np.zeros(32)), {1: data[np.array(sources)], 2: data[lane ^ 1] * 0.5}


@c(
    """
    extern "C" __global__ void k(const int* in, unsigned* out) {
        int i = threadIdx.x, v = in[i];
        out[i] = __ballot_sync(~0u, v > 3);
        out[32 + i] = __any_sync(~0u, v == 7) | __all_sync(~0u, v < 9) << 1;
        out[64 + i] = __match_any_sync(~0u, v);
        int same; out[96 + i] = __match_all_sync(~0u, 5, &same) ^ same;
        if (i & 1) out[128 + i] = __activemask(); else out[128 + i] = __ballot_sync(0x55555555, v & 1);
        out[160 + i] = __reduce_add_sync(~0u, v) + __reduce_max_sync(~0u, v) * 1000;
        out[192 + i] = __match_any_sync(~0u, (long long)v << 40);
        out[224 + i] = __match_all_sync(~0u, v, &same) + same;
    }""",
    1, 32, check=True,
)  # fmt: skip
def votes_ballots_and_matches(random):
    data, lane = random.integers(0, 8, 32, dtype=i4), np.arange(32)
    bits = lambda flags: int(sum(1 << int(i) for i in np.flatnonzero(flags)))
    same = [bits(data == v) for v in data]
    arms = np.where(lane % 2, 0xAAAAAAAA, bits((data & 1 == 1) & (lane % 2 == 0)))
    rows = [bits(data > 3), int((data == 7).any()) | 2, same, 0xFFFFFFFF ^ 1, arms, data.sum() + data.max() * 1000,
            same, 0]  # fmt: skip
    return (data, np.zeros((8, 32), u4)), {1: np.stack([np.broadcast_to(row, 32) for row in rows])}


@c(
    """
    extern "C" __global__ void k(const int* in, unsigned* out) {
        int i = threadIdx.x, v = in[i]; unsigned tile = 0xffu << (i & 24), *o = out + 8 * i; int same;
        o[0] = __reduce_add_sync(tile, v); o[1] = __reduce_min_sync(tile, v); o[2] = __ballot_sync(tile, v > 3);
        o[3] = __any_sync(tile, v > 8); o[4] = __all_sync(tile, v > 1); o[5] = __match_any_sync(tile, v);
        o[6] = __match_all_sync(tile, v / 100, &same) + same;
        if (i & 8) o[7] = __reduce_xor_sync(tile, v); else o[7] = __ballot_sync(tile, v & 1);
    }""",
    1, 64,
)  # fmt: skip
def tiles_of_a_warp_answer_for_themselves(random):
    v = random.integers(0, 10, 64).astype(i4)
    tiles, shift = v.reshape(8, 8), np.arange(8)[:, None] % 4 * 8
    bits = lambda said: ((said << np.arange(8)).sum(1)[:, None] << shift).ravel()
    alike = (tiles[:, :, None] == tiles[:, None]) << np.arange(8)
    columns = [tiles.sum(1), tiles.min(1), bits(tiles > 3), (tiles > 8).any(1), (tiles > 1).all(1),
               (alike.sum(2) << shift).ravel(), (255 << shift.ravel()) + 1,
               np.where(np.arange(8) % 2, np.bitwise_xor.reduce(tiles, 1), bits(tiles & 1))]  # fmt: skip
    return (v, np.zeros((64, 8), u4)), {1: np.stack([np.repeat(x, 64 // len(x)) for x in columns], 1)}


GROUPS = """
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int* in, int* out) {
        auto warp = cg::tiled_partition<32>(cg::this_thread_block());
        int i = cg::this_grid().thread_rank(), value = in[i], n = N;
        auto odd = cg::binary_partition(warp, bool(value & 1));
        int sum = cg::reduce(odd, value, cg::plus<int>());
        if (odd.thread_rank() == 0) { atomicAdd(&out[n + (value & 1)], sum); atomicAdd(&out[n + 2 + (value & 1)], odd.size()); }
        auto same = cg::labeled_partition(warp, value % 5);
        out[i] = same.size() * 100 + cg::reduce(same, (int)warp.thread_rank(), cg::greater<int>());
        if (value > 60) {
            auto here = cg::coalesced_threads();
            int base;
            if (here.thread_rank() == 0) base = atomicAdd(&out[n + 4], here.size());
            atomicAdd(&out[n + 5], here.shfl(base, 0) + here.thread_rank());
        }
    }"""


@c(GROUPS.replace("= N", "= 96"), 1, 96)
def groups_made_of_what_lanes_hold(random):
    data = random.integers(0, 100, 96).astype(i4)
    odd, labels, more = data & 1 == 1, data % 5, (data > 60).sum()
    threads = []
    for row in labels.reshape(3, 32):
        threads += [(row == v).sum() * 100 + np.flatnonzero(row == v)[-1] for v in row]
    sums = [data[~odd].sum(), data[odd].sum(), (~odd).sum(), odd.sum(), more, more * (more - 1) // 2]
    return (data, np.zeros(102, i4)), {1: np.array([*threads, *sums])}


def _pairs(arch: str) -> None:
    @c(
        """
        #include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        namespace cg = cooperative_groups;
        extern "C" __global__ void k(const int* in, int* out) {
            __shared__ cg::block_tile_memory<256> scratch;
            __shared__ int after[256];
            cg::thread_block block = cg::this_thread_block(scratch);
            auto pair = cg::tiled_partition<64>(block);
            int i = block.thread_rank(), v = in[i];
            after[i] = v; pair.sync();
            int sum = cg::reduce(pair, v, cg::plus<int>()), most = cg::reduce(pair, v, cg::greater<int>());
            out[4 * i] = sum; out[4 * i + 1] = most;
            out[4 * i + 2] = pair.shfl(v, 40) + pair.any(v > 95) + 2 * pair.all(v >= 0);
            out[4 * i + 3] = after[i ^ 32] + 1000 * pair.meta_group_rank();
        }""",
        1, 256, arch=arch, counts=False, name=f"tiles_of_several_warps_in_{arch}",
    )  # fmt: skip
    def make(random):
        """Groups of 64 threads: from 8.0 on, through shared memory that the system reserves."""
        x = random.integers(0, 100, 256).astype(i4)
        pairs = x.reshape(4, 64)
        columns = [
            np.repeat(column, 64) for column in (pairs.sum(1), pairs.max(1), pairs[:, 40] + (pairs > 95).any(1) + 2)
        ]
        last = x[np.arange(256) ^ 32] + 1000 * (np.arange(256) // 64)
        return (x, np.zeros((256, 4), i4)), {1: np.stack([*columns, last], 1)}


for arch in ("compute_75", "compute_80"):
    _pairs(arch)

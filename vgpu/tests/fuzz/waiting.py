"""Pieces of random kernels in which threads wait for one another: copies, mbarriers, votes, barriers, locks, flags.

All 64 threads of a block come by each piece, whatever they did before. What a piece leaves behind does not depend on
the order in which threads, warps and blocks run, so that a schedule that changes the result is a fault of ours.
"""

from __future__ import annotations

import random

from vgpu.tests import random_kernels
from vgpu.tests.test_mbarrier import ASM

COPY = """
__device__ void copy4(void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(to)), "l"(from) : "memory"); }
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n> __device__ void landed() { asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory"); }
__device__ void copies_arrive(u64* b) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(b)) : "memory"); }
__device__ void lock(int* key) { while (atomicCAS(key, 0, 1) != 0) { } __threadfence_block(); }
__device__ void unlock(int* key) { __threadfence_block(); atomicExch(key, 0); }
"""
# ID is a number of its own for each piece, WORD an index into `in` and PLACE that of words that only this piece uses.
PIECES = (
    # copies in two groups
    """{ __shared__ unsigned s[2][64];
    copy4(&s[0][t], in + WORD); commit(); copy4(&s[1][t], in + (63 - t)); commit();
    c += n; landed<1>(); a += s[0][t]; landed<0>(); __syncthreads();
    b ^= s[1][(t + ID) & 63] + s[0][(t * 5) & 63]; }""",
    # copies by the lanes that a branch chooses
    """{ __shared__ unsigned s[64]; s[t] = d; if (a & 1) copy4(&s[t], in + WORD); commit(); landed<0>();
    __syncthreads(); d += s[(t + 9) & 63]; }""",
    # copies that arrive at an mbarrier
    """{ __shared__ unsigned s[64]; __shared__ u64 m; if (t == 0) init(&m, 64); __syncthreads();
    copy4(&s[t], in + WORD); copies_arrive(&m); wait(&m, 0); b += s[(t * 3 + ID) & 63]; }""",
    # an mbarrier in phases: all arrive, all wait
    """{ __shared__ unsigned s[64]; __shared__ u64 m; if (t == 0) init(&m, 64); __syncthreads();
    #pragma unroll 1
    for (int i = 0; i < 4; ++i) { s[t] = a; arrive(&m); wait(&m, 0); c += s[(t + i) & 63]; arrive(&m);
    wait(&m, 1); } }""",
    # a warp that fills and a warp that empties
    """{ __shared__ unsigned s[2][32]; __shared__ u64 full[2], empty[2];
    if (t < 2) { init(&full[t], 32); init(&empty[t], 32); } __syncthreads();
    #pragma unroll 1
    for (int i = 0; i < 5; ++i) { int k = i & 1;
        if (w == 0) { if (i > 1) wait(&empty[k], (i / 2 - 1) & 1); s[k][lane] = b + i; arrive(&full[k]); }
        else { wait(&full[k], (i / 2) & 1); d += s[k][31 - lane]; arrive(&empty[k]); } } }""",
    # one lane gives, the others of its warp take
    """{ __shared__ unsigned s[2]; __shared__ u64 full[2], empty[2];
    if (lane == 0) { init(&full[w], 1); init(&empty[w], 31); } __syncwarp();
    #pragma unroll 1
    for (int i = 0; i < 3; ++i) {
        if (lane == ID % 32) { if (i) wait(&empty[w], (i - 1) & 1); s[w] = c + i; arrive(&full[w]); }
        else { wait(&full[w], i & 1); a += s[w]; arrive(&empty[w]); } } __syncwarp(); }""",
    # votes, matches and shuffles of those whom a branch left together
    """{ unsigned m = __ballot_sync(~0u, (a >> 2) & 1); if ((a >> 2) & 1) { b += __shfl_sync(m, c, __ffs(m) - 1);
    if (lane & 1) d += 3; __syncwarp(m); b ^= __popc(__ballot_sync(m, d & 1)); }
    else { c += __reduce_max_sync(~m, d); a += __popc(__match_any_sync(~m, b & 3)); } __syncwarp(); }""",
    # barriers with a count, each warp its own and then one for both
    """{ __shared__ unsigned s[64]; s[t] = a; if (w == 0) asm volatile("bar.sync 1, 32;" ::: "memory");
    else asm volatile("bar.sync 2, 32;" ::: "memory"); b += s[t ^ 1];
    __shared__ unsigned more[32]; if (w) { more[lane] = c; asm volatile("bar.arrive 3, 64;" ::: "memory"); }
    else { asm volatile("bar.sync 3, 64;" ::: "memory"); d ^= more[31 - lane]; } __syncthreads(); }""",
    # a barrier that lanes reach by different ways
    """{ __shared__ unsigned s[64]; s[t] = b; if (c & 1) { a += 5; asm volatile("barrier.sync 4;" ::: "memory"); }
    else { d += 7; asm volatile("barrier.sync 4;" ::: "memory"); } c += s[63 - t]; __syncthreads(); }""",
    # sums under a lock that lanes of both warps want
    """{ __shared__ int key; __shared__ volatile unsigned sum; if (t == 0) { key = 0; sum = n; } __syncthreads();
    if (b & 3) { lock(&key); sum += a; unlock(&key); } __syncthreads(); d += sum; __syncthreads(); }""",
    # sums by atomics, in shared memory and between blocks
    """{ __shared__ unsigned s[5]; if (t < 5) s[t] = 0; __syncthreads();
    atomicAdd(&s[a & 3], b); atomicMax(&s[4], c & 7); __syncthreads(); d += s[ID & 3] ^ s[4];
    if (t == ID % 64) atomicAdd(&out[PLACE], s[1] & 255u); __syncthreads(); }""",
    # a relay of flags from lane to lane of a warp
    """{ __shared__ unsigned turn[2]; __shared__ volatile unsigned s[2]; if (lane == 0) { turn[w] = 0; s[w] = u; }
    __syncwarp(); while (atomicAdd(&turn[w], 0u) != ((lane * 5 + ID) & 31)) { } __threadfence_block();
    s[w] = s[w] * 3u + a; b += s[w]; __threadfence_block(); atomicExch(&turn[w], ((lane * 5 + ID) & 31) + 1);
    __syncwarp(); }""",
    # a flag from one warp to the other, with a sleep
    """{ __shared__ volatile unsigned flag, s; if (t == 0) flag = 0; __syncthreads();
    if (t == 63) { s = a; __threadfence_block(); flag = 1; }
    else if (t == 3) { while (flag == 0) __nanosleep(40); __threadfence_block(); b += s; } __syncthreads(); }""",
    # each block hands a sum to the next
    """{ __shared__ unsigned carry; if (t == 0) { unsigned sum = n;
    if (blockIdx.x) { while (atomicAdd(&out[PLACE + blockIdx.x - 1], 0u) == 0) { } __threadfence();
        sum = ((volatile unsigned*)out)[PLACE + 5 + blockIdx.x - 1]; }
    sum = sum * 3u + blockIdx.x; ((volatile unsigned*)out)[PLACE + 5 + blockIdx.x] = sum; __threadfence();
    atomicExch(&out[PLACE + blockIdx.x], 1u); carry = sum; } __syncthreads(); c += carry; __syncthreads(); }""",
    # the blocks that come later set a flag for those before them
    """{ if (t == 40) { volatile unsigned* flags = out + PLACE;
    if (blockIdx.x + 1 < gridDim.x) while (flags[blockIdx.x + 1] == 0) { }
    __threadfence(); flags[blockIdx.x] = 1; } __syncthreads(); a += 3; }""",
)


def source(seed: int) -> str:
    """A kernel as `random_kernels.source(seed, wide=True)` writes it, with pieces of ours where all threads meet."""
    chance = random.Random(seed)
    number = 0

    def piece(text: str) -> str:
        nonlocal number
        number += 1
        word = chance.choice(("t", "((a + t) & 63)", "(b & 63)"))
        place = f"gridDim.x * blockDim.x + {16 * number}"  # the first 16 words and those from 256 on are taken
        return text.replace("PLACE", place).replace("WORD", word).replace("ID", str(number + 2))

    meetings = ["\n    ".join(piece(chance.choice(PIECES)) for _ in range(3)) for _ in range(2)]
    return ASM + COPY + random_kernels.source(seed, wide=True, meetings=meetings)

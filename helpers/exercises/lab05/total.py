"""The sum of an array, whatever the launch."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import COALESCED, LOADS_SHARED_OUT
from helpers.checking.exercise import Case, Exercise, Mistake, Out, numbers, plural
from helpers.exercises.lab05.budgets import ATOMICS_A_BLOCK, ENDED, STORES_A_WARP

WARP = 32
LAUNCHES = ((1, 1, 32), (31, 2, 32), (97, 1, 96), (1000, 3, 128), (1021, 4, 320), (5000, 2, 1024))
ADDED = "for (int w = 1; w < blockDim.x / 32; ++w) sum += s[w];"
SHUFFLES = "for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);"


def _case(n: int, blocks: int, threads: int, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    name = f"{plural(n, 'element')}, {plural(blocks, 'block')} of {threads}"
    wanted = Out(np.array([x.sum()], np.float32), initial=np.zeros(1, np.float32))
    return Case(name, (x, wanted, np.int32(n)), (blocks,), (threads,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    drawn = zip(dice.integers(2, 3000, 2), dice.integers(1, 6, 2), strict=True)
    sizes = [(1, 2), *((int(n), int(b)) for n, b in drawn)]
    cases = [_case(n, b, WARP * int(dice.integers(1, 33)), int(dice.integers(1, 10**6))) for n, b in sizes]
    # Counted with whole warps for each block, so that a block may as well have elements that lie side by side: else its
    # warps would begin within a sector.
    blocks, warps, rounds = (int(dice.integers(*band)) for band in ((6, 11), (3, 6), (24, 36)))
    return [*cases, _case(blocks * WARP * rounds, blocks, WARP * warps, int(dice.integers(1, 10**6)))]


EXERCISE = Exercise(
    key="lab05.total",
    title="the sum of an array by any launch, in CUDA C",
    language="cuda", name="total",
    cases=lambda: [_case(*launch) for launch in LAUNCHES],
    measured=lambda: _case(8192, 8, 128), drawn=_drawn,
    sanitize=True, also_wrong=ENDED, shared_out=True,
    budgets=(COALESCED, STORES_A_WARP, ATOMICS_A_BLOCK, LOADS_SHARED_OUT),
    hints=(
        "The loop is done. What is left has three steps: lanes, warps, blocks.",
        "Five __shfl_down_sync, by 16, 8, 4, 2 and 1, leave a warp's sum in lane 0, which stores it to s[t / 32].",
        "After __syncthreads(), thread 0 adds s[0] to s[blockDim.x / 32 - 1] and calls atomicAdd(out, …) once.",
    ),
    why="A sum is associative, so each level may add what lies nearest: a thread its own elements without any help, a "
    "warp its lanes through registers, a block its warps through shared memory, the grid its blocks through one "
    "address. Every level is some 32 times smaller than the one below, so only the first costs anything: the loads. "
    "Nothing here depends on the launch, so you are free to choose it for the GPU, with as many blocks as fill it and "
    "no more.",
    stretch="load float4, four floats at once. Which counters change, and which budget notices?",
    mistakes=(
        Mistake(
            "room for a few warps only",
            "A block may have 1,024 threads, which are 32 warps: so many sums need a place.",
            (("s[32]", "s[4]"), ("s[32]", "s[8]"), ("s[32]", "s[16]")),
        ),
        Mistake(
            "added without an atomic",
            "Several blocks change out[0], and += reads, adds and writes: atomicAdd does it in one piece. What = "
            "stores takes the place of what others have found.",
            (("atomicAdd(out, sum)", "*out += sum"), ("atomicAdd(out, sum)", "*out = sum")),
        ),
        Mistake(
            "lane 0 knows only itself",
            "Each warp's first lane stored its own sum. Before that, the other 31 have to reach it by shuffles.",
            ((SHUFFLES, ""),),
        ),
        Mistake(
            "shuffles by other distances",
            "Some lanes came to lane 0 several times, or not at all, or took the place of its sum. It takes five "
            "__shfl_down_sync, which bring what higher lanes have, by 16, 8, 4, 2 and 1, and each time what comes is "
            "added. (A shuffle by 32 leads out of the warp, and so brings a lane its own value again.)",
            (("d = 16", "d = 8"), ("d > 0", "d > 1"), ("sum, d)", "sum, 1)"), ("d = 16", "d = 32"),
             ("shfl_down", "shfl_up"), ("sum += __shfl", "sum = __shfl"), ("sum, d)", "sum, 16)"),
             ("int d = 16; d > 0; d /= 2", "int d = 1; d < 32; ++d"), (SHUFFLES, SHUFFLES.replace("d /= 2", "--d"))),
        ),
        Mistake(
            "some warps are never added",
            "Only the first of a block's warps have come together. A shuffle stays within its warp, so the sums of the "
            "others still have to be added. How many there are is up to the launch: blockDim.x / 32, at most 32.",
            ((ADDED, ""), ("w < blockDim.x / 32", "w < min(4u, blockDim.x / 32)"),
             ("w < blockDim.x / 32", "w < min(8u, blockDim.x / 32)"),
             ("w < blockDim.x / 32", "w < blockDim.x / 32 - 1"), ("w = 1; w", "w = 2; w")),
        ),
        Mistake(
            "lanes taken for warps",
            "The lanes of the first warp stored their sums, and no other warp did. t % 32 is the lane, t / 32 the "
            "warp: lane 0 of each warp stores to s[t / 32].",
            (("if (t % 32 == 0) s[t / 32]", "if (t / 32 == 0) s[t]"),),
        ),
        Mistake(
            "the first warp counts twice",
            "Thread 0 has the sum of its own warp in a register already, and adds s[0] to it. Begin at s[1], or at 0.",
            (("int w = 1", "int w = 0"),),
        ),
        Mistake(
            "every thread adds to the result",
            "The result is as many times too large as threads add the same sum to it. One thread of the block adds.",
            ((("if (t == 0) {", "{ sum = 0;"), ("int w = 1", "int w = 0")),
             (("shfl_down", "shfl_xor"), ("if (t % 32 == 0) s[t / 32] = sum;", "atomicAdd(out, sum);"),
              ("if (t == 0)", "if (false)"))),
        ),
        Mistake(
            "elements that several blocks add",
            "Blocks have added each other's elements. A thread begins at its place in the grid, blockIdx.x * "
            "blockDim.x + t, and goes on by the threads of the grid, not of the block: gridDim.x * blockDim.x.",
            (("i += gridDim.x * blockDim.x", "i += blockDim.x"), ("i = blockIdx.x * blockDim.x + t", "i = t")),
        ),
        Mistake(
            "one block alone",
            "Only what one block has found is in out[0]. Each block adds its part, and atomicAdd adds: what an "
            "exchange stores takes the place of what others had left.",
            (("if (t == 0)", "if (t == 0 && blockIdx.x == 0)"),),
        ),
        Mistake(
            "whole numbers only",
            "An int cuts off fractions whenever something is stored to it. The sum is a float, and so is s.",
            (("float sum", "int sum"), ("__shared__ float s", "__shared__ int s"), ("sum, d)", "(int)sum, d)")),
        ),
        Mistake(
            "right for powers of two only",
            "Half of 96 is 48, then 24, 12, 6, 3, and half of 3 is 1: the third sum of 3 is never added. Shuffles "
            "halve 32, which is a power of two; the sums of the warps may be any number.",
            ("__shared__ float a[1024]; a[t] = sum;\nfor (int d = blockDim.x / 2; d > 0; d /= 2) { __syncthreads(); "
             "if (t < d) a[t] += a[t + d]; }\nif (t == 0) atomicAdd(out, a[0]);",),
        ),
    ),
)  # fmt: skip

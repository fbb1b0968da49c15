"""The largest element and its place, in one number that an atomic can change."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out

BLOCK, BLOCKS = 128, 4
LOWEST = np.iinfo(np.int64).min
LOOP = "    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):\n"
KEY = "np.int64(x[i]) << 32 | (0x7FFFFFFF - i)"
BEST = f"cuda.atomic.max(best, 0, {KEY})"


def _case(name: str, x) -> Case:
    x = np.asarray(x, np.int32)
    best = ((x.astype(np.int64) << 32) | (0x7FFFFFFF - np.arange(x.size))).max()
    return Case(name, (x, Out(np.array([best]), initial=np.array([LOWEST]))), (BLOCKS,), (BLOCK,))


def _cases() -> list[Case]:
    dice = np.random.default_rng(6)
    return [
        _case("1 element", [-5]),
        _case("97 elements below zero", -dice.integers(2, 90, 97)),
        _case("1,000 elements, many of them equal", dice.integers(-9, 10, 1000)),
        _case("1,021 elements, the last is the largest", [*range(1021)]),
        _case("600 elements, all equal", [7] * 600),
    ]


EXERCISE = Exercise(
    key="ch06.argmax",
    title="the largest element and its place, in Numba",
    language="numba",
    name="argmax",
    cases=_cases,
    measured=lambda: _cases()[3],
    budgets=(
        Budget(
            "global atomic requests for 4 blocks",
            lambda profile: profile["global_update_requests"],
            BLOCKS,
            "Find the best of the block in shared memory first; then one thread compares it with the best of all.",
            "global_atomic_requests",
        ),
    ),
    sanitize=True,
    also_wrong=("barrier_ended",),
    hints=(
        "Two numbers cannot change in one atomic. One number that holds both can.",
        "np.int64(x[i]) << 32 | (0x7FFFFFFF - i) is larger for larger x[i], and among equals for smaller i.",
        "A shared array of one int64: thread 0 sets it to -(1 << 63); barrier; all use cuda.atomic.max on it in a "
        "grid-stride loop; barrier; thread 0 uses cuda.atomic.max on out.",
    ),
    solution="""
import numpy as np

@cuda.jit
def argmax(x, out):
    best = cuda.shared.array(1, "int64")
    if cuda.threadIdx.x == 0:
        best[0] = -(1 << 63)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.max(best, 0, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.max(out, 0, best[0])
""",
    why="An atomic changes one word. Value and place in one 64-bit word change together, so the place belongs to "
    "the value. The order of the halves does the rest: values are compared first, and 2³¹ - 1 - i makes the "
    "first of equals the largest. The block agrees in shared memory, and only one thread of it asks the GPU.",
    stretch="each thread can keep its own best in a register during the loop. How many shared atomics are left?",
    equivalent=(
        (("x == 0:\n        best", "y == 0:\n        best"), "all set the same"),
        (("x == 0:\n        best", "x == 1:\n        best"), "whichever thread sets it"),
        (("x == 0:\n        cuda", "x == 1:\n        cuda"), "whichever thread asks"),
        (("1 << 63", "1 << 62"), "below every key, too"), (("array(1,", "array(2,"), "an element more than is used"),
    ),
    mistakes=(
        Mistake(
            "the last block wins",
            "Each block stores its own best over that of the others. cuda.atomic.max keeps the larger of the two.",
            (("cuda.atomic.max(out, 0, best[0])", "out[0] = best[0]"),),
        ),
        Mistake(
            "compared, then stored",
            "Between `if key > out[0]` and the store others may store a larger key, which is then lost. "
            "cuda.atomic.max does both in one piece.",
            (
                f"{LOOP}        key = {KEY}\n        if key > out[0]:\n            out[0] = key",
                ("cuda.atomic.max(out, 0, best[0])", "out[0] = max(out[0], best[0])"),
            ),
        ),
        Mistake(
            "a barrier is missing",
            "The block's best is set, then compared with, then read. Between each of these stands a barrier.",
            (("63)\n    cuda.syncthreads()", "63)"), ("i))\n    cuda.syncthreads()", "i))"),
             ("    cuda.syncthreads()\n", "")),
        ),
        Mistake(
            "zero is taken for the least",
            "With all elements below zero the best is below zero, too. Start from the lowest 64-bit number.",
            (("-(1 << 63)", "0"),),
        ),
        Mistake(
            "the last of equals",
            "With the index itself in the lower half the larger index wins among equals. The first place is asked for: "
            "store 2³¹ - 1 - i.",
            (("(0x7FFFFFFF - i)", "i"),),
        ),
        Mistake(
            "half of the key",
            "Asked is the whole key: the value, shifted left by 32 bits, and below it its place, as 2³¹ - 1 - i.",
            ((KEY, "x[i]"), (KEY, "np.int64(x[i]) << 32"), (KEY, "0x7FFFFFFF - i"), (KEY, "i"), ("0x7FFFFFFF", "0")),
        ),
        Mistake(
            "the place stands above the value",
            "The upper half decides. Put the value there, shifted left by 32 bits, and the place below it.",
            ((KEY, "np.int64(i) << 32 | x[i]"),),
        ),
        Mistake(
            "another lower half",
            "The lower half is 0x7FFFFFFF - i, which has 31 bits.",
            (("0x7FFFFFFF", "0xFFFFFFFF"),),
        ),
        Mistake(
            "added to the best",
            "cuda.atomic.add adds each block's key to what is there. The larger of the two is wanted: cuda.atomic.max.",
            (("atomic.max(out", "atomic.add(out"),),
        ),
        Mistake(
            "one element a thread",
            "512 threads looked at 512 elements and stopped. Step on by cuda.gridsize(1) until x.size.",
            ((LOOP, "    i = cuda.grid(1)\n    if i < x.size:\n"),),
        ),
        Mistake(
            "every thread asks global memory",
            "Right, and one request for each warp and round. Let a block agree on its best first.",
            (f"{LOOP}        {BEST.replace('best', 'out')}",),
        ),
    ),
)  # fmt: skip

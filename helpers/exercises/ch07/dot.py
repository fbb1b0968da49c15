"""A dot product: products at the leaves, and then the sum of a block."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, numbers, plural
from helpers.exercises.ch07 import budgets
from helpers.exercises.ch07.budgets import BLOCK, BLOCKS

RANGE = "range(cuda.grid(1), x.size, cuda.gridsize(1))"
ADD = "cuda.atomic.add(out, 0, s[0] + s[1] + s[2] + s[3])"
SHUFFLES = "    for d in (16, 8, 4, 2, 1):\n        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)\n"


def _case(n: int) -> Case:
    x, y = numbers(n, seed=n), numbers(n, seed=n + 1)
    wanted = np.array([np.dot(x.astype(np.float64), y)], np.float32)
    return Case(plural(n, "element"), (x, y, Out(wanted, initial=np.zeros(1, np.float32))), (BLOCKS,), (BLOCK,))


EXERCISE = Exercise(
    key="ch07.dot",
    title="a dot product, in Numba",
    language="numba",
    name="dot",
    cases=lambda: [_case(n) for n in (1, 31, 97, 512, 1021, 4096)],
    measured=lambda: _case(8192),
    budgets=budgets.DOT,
    sanitize=True,
    hints=(
        "A product and a loop for each thread; the rest is the sum of a block.",
        "total += x[i] * y[i] for i from cuda.grid(1) in steps of cuda.gridsize(1); then shuffles within the warp.",
        "Lane 0 of each warp stores to s[t // 32]; cuda.syncthreads(); thread 0 adds s[0] to s[3] and calls "
        "cuda.atomic.add(out, 0, …) once.",
    ),
    solution="""
@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(4, "float32")
    t, total = cuda.threadIdx.x, 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i] * y[i]
    for d in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
    if t % 32 == 0:
        s[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, s[0] + s[1] + s[2] + s[3])
""",
    why="A dot product is a sum with a product at the leaves: all of the ladder applies. Each thread adds many "
    "products by itself, five shuffles make one sum a warp, shared memory one a block, and four blocks make "
    "four atomics, whatever the length. `0.0` makes the running sum a double here: more exact, and slower on "
    "GPUs with few units for doubles.",
    stretch="keep the running sum in single precision (np.float32) and compare counters and result.",
    equivalent=(
        (("array(4,", "array(5,"), "room that is not used"),
        (("if t == 0", "if t == 1"), "whichever thread adds"),
        (("t // 32", "t // 31"), "the same for 0, 32, 64 and 96"),
    ),
    mistakes=(
        Mistake(
            "added without an atomic",
            "Several threads change out[0], and nothing keeps one from undoing what another has done. `+=` reads, adds "
            "and writes; `=` forgets the others: cuda.atomic.add(out, 0, …).",
            (("cuda.atomic.add(out, 0, ", "out[0] += ("), ("cuda.atomic.add(out, 0, ", "out[0] = (")),
        ),
        Mistake(
            "one element a thread",
            "512 threads multiplied 512 pairs and stopped. Step on by cuda.gridsize(1) until x.size.",
            ((f"    for i in {RANGE}:", "    i = cuda.grid(1)\n    if i < x.size:"),),
        ),
        Mistake(
            "only the last product of each thread",
            "A thread has several products, and `=` forgets those before: add them up with +=.",
            (("total += x", "total = x"),),
        ),
        Mistake(
            "steps of a block",
            "Thread cuda.grid(1) goes on by all threads of the grid, cuda.gridsize(1). By cuda.blockDim.x it meets "
            "elements that another block has already.",
            (("cuda.gridsize(1)", "cuda.blockDim.x"),),
        ),
        Mistake(
            "four times too much",
            "There are four blocks of four warps. Either each block adds all pairs: begin at cuda.grid(1). Or each "
            "warp adds the sum of the block: thread 0 alone may.",
            ((RANGE, "range(t, x.size, cuda.blockDim.x)"), ("if t == 0", "if t % 32 == 0")),
        ),
        Mistake(
            "every thread adds the same sum",
            "The sum of the block is to be added once: `if t == 0:` ahead of the atomic.",
            (("if t == 0", "if t >= 0"), ("if t == 0", "if t < 32")),
        ),
        Mistake(
            "the fractions are lost",
            'The sums are floats, and something on their way holds whole numbers: shared memory of "int32", say.',
            (('"float32"', '"int32"'),),
        ),
        Mistake(
            "the sum of one warp",
            "A shuffle stays within its warp, so thread 0 knows the sum of 32 threads only. The other three warps have "
            "sums of their own.",
            (("s[0] + s[1] + s[2] + s[3]", "total"),),
        ),
        Mistake(
            "lane 0 knows only itself",
            "Lane 0 adds its own product. Before that, the other 31 have to reach it: 16, 8, 4, 2, 1 by "
            "cuda.shfl_down_sync.",
            ((SHUFFLES, ""),),
        ),
        Mistake(
            "a step is missing",
            "Half of the threads never get through to the result. 32 lanes take the steps 16, 8, 4, 2 and 1; then "
            "there are the sums of four warps.",
            (("16, 8, 4", "8, 4"), ("2, 1)", "2)"), (" + s[2] + s[3]", "")),
        ),
        Mistake(
            "an atomic for each thread or warp",
            "Right, and many ask for one address. Add up within the block first; one thread of it goes on.",
            (
                (("if t == 0", "if t % 32 == 0"), ("s[0] + s[1] + s[2] + s[3]", "total")),
                f"    for i in {RANGE}:\n        cuda.atomic.add(out, 0, x[i] * y[i])",
            ),
        ),
        Mistake(
            "lanes are not on neighbouring elements",
            "Right, but each thread has elements of its own side by side, so that the lanes of a warp are a sector or "
            "more apart. Begin at cuda.grid(1) and go on by cuda.gridsize(1).",
            ((f"    for i in {RANGE}", "    m = (x.size + 511) // 512\n    first = m * cuda.grid(1)\n"
              "    for i in range(first, min(x.size, first + m))"),),
        ),
        Mistake(
            "one lane of many works",
            "Right, with one element a request. Let every thread of the grid begin at cuda.grid(1) and go on by "
            "cuda.gridsize(1).",
            (
                "    if cuda.grid(1) == 0:\n        total = 0.0\n        for i in range(x.size):\n"
                "            total += x[i] * y[i]\n        out[0] = total",
                (RANGE, "range(cuda.blockIdx.x, x.size if t == 0 else 0, 4)"),
            ),
        ),
    ),
)  # fmt: skip

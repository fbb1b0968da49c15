"""A grid-stride loop: fewer threads than elements, and each comes round again."""

from __future__ import annotations

from dataclasses import replace

from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, numbers, plural
from helpers.checking.measures import sectors_per_request

GRID, BLOCK = 2, 64
RANGE = "range(cuda.grid(1), x.size, cuda.gridsize(1))"
LOOP = f"    for i in {RANGE}:"


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    return Case(f"{plural(n, 'element')}, {GRID * BLOCK} threads", (x, Out(x * x)), (GRID,), (BLOCK,))


EXERCISE = Exercise(
    key="ch02.stride",
    title="a grid-stride loop in Numba",
    language="numba",
    name="square",
    cases=lambda: [_case(n) for n in (1, 63, 64, 127, 128, 129, 257, 1000)],
    measured=lambda: _case(4096),
    budgets=(
        Budget(
            "stores per element",
            lambda profile: profile["global_write_bytes"] / (4 * 4096),
            1.0,
            "Each element is written more than once: the threads repeat each other's work. Step by the number of "
            "threads in the whole grid, cuda.gridsize(1).",
            "global_store_requests",
        ),
        Budget(
            "sectors per load request",
            sectors_per_request("read"),
            4.2,
            "The lanes of a warp read far apart in the same step. Let neighbouring threads take neighbouring elements.",
        ),
        Budget(
            "load requests for 4,096 floats",
            lambda profile: profile["global_read_requests"],
            132,
            "32 lanes load together: 4,096 floats need 128 requests of full warps.",
            "global_load_requests",
        ),
        replace(SHARED_OUT, at_most=1.5),
    ),
    hints=(
        "There are fewer threads than elements: each has to come round again.",
        "Start at cuda.grid(1); the next free element is as many further on as there are threads in the grid.",
        "for i in range(cuda.grid(1), x.size, cuda.gridsize(1)): …",
    ),
    solution="""
@cuda.jit
def square(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i] * x[i]
""",
    why="The loop's condition is the guard: range stops before x.size. All threads step by the whole grid, so each "
    "element has exactly one owner and a warp's lanes stay neighbours.",
    stretch="launch it with one block of one thread. Why is that a good way to hunt a bug?",
    mistakes=(
        Mistake(
            "one element a thread",
            "128 threads wrote 128 elements, and stopped. A loop lets each thread go on: `for i in range(start, "
            "x.size, step)`.",
            ((LOOP, "    i = cuda.grid(1)\n    if i < x.size:"),),
        ),
        Mistake(
            "every block begins at the front",
            "threadIdx counts within one block, so block 1 begins where block 0 does. Start at cuda.grid(1).",
            (("cuda.grid(1)", "cuda.threadIdx.x"),),
        ),
        Mistake(
            "a fixed number of turns",
            "However many elements there are, a thread stops after as many. Go on while i < x.size.",
            tuple(f"    for r in range({turns}):\n        i = {index}\n        if i < x.size:\n"
                  "            out[i] = x[i] * x[i]"
                  for turns in (2, 4, 8)
                  for index in ("cuda.grid(1) + r * cuda.gridsize(1)", f"{turns} * cuda.grid(1) + r")),
        ),
        Mistake(
            "the step is too long",
            "Between two turns of the loop elements are left out: step by the number of threads there are, "
            "cuda.gridsize(1).",
            (("cuda.gridsize(1)", "2 * cuda.gridsize(1)"), ("cuda.gridsize(1)", "cuda.gridsize(1) + 1")),
        ),
        Mistake(
            "every thread does everything",
            "The loop begins at 0 and steps by 1 in every thread, so each element is written 128 times. Start at "
            "cuda.grid(1) and step by cuda.gridsize(1).",
            ((RANGE, "range(x.size)"),),
        ),
        Mistake(
            "the step is too short",
            "With a step of one block, block 1 does again what block 0 did. Right, but twice the work: the step is "
            "the whole grid, cuda.gridsize(1).",
            (
                ("cuda.gridsize(1)", "cuda.blockDim.x"),
                (("cuda.grid(1)", "cuda.threadIdx.x"), ("cuda.gridsize(1)", "cuda.blockDim.x")),
            ),
        ),
        Mistake(
            "each thread has a run of its own",
            "One run a thread suits a CPU core. Here the 32 lanes of a warp load together, so in each step they should "
            "read neighbours. Chapter 04 counts what it costs.",
            (
                ((LOOP, "    run = (x.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)\n"
                  "    first = run * cuda.grid(1)\n    for i in range(first, min(first + run, x.size)):"),),
            ),
        ),
        Mistake(
            "few threads do all the work",
            "Every element comes out right, once, and many lanes or warps only watch. All threads of the grid should "
            "take their share: start at cuda.grid(1).",
            (
                "    if cuda.grid(1) == 0:\n        for i in range(x.size):\n            out[i] = x[i] * x[i]",
                "    if cuda.blockIdx.x == 0:\n        for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):\n"
                "            out[i] = x[i] * x[i]",
                "    if cuda.threadIdx.x < 32:\n        first = 32 * cuda.blockIdx.x + cuda.threadIdx.x\n"
                "        for i in range(first, x.size, 64):\n            out[i] = x[i] * x[i]",
            ),
        ),
        Mistake(
            "doubled, not squared",
            "x[i] * 2 is not x[i] * x[i], though both are 4 where x[i] is 2.",
            (("x[i] * x[i]", "x[i] * 2"),),
        ),
    ),
)  # fmt: skip

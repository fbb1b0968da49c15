"""Two formulas, for even and odd elements: which threads should have them?"""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.exercises.ch08.budgets import at_most_idle, at_most_instructions

BLOCK = 128
WHICH = "    even = t < half\n"
OWN = "    i = cuda.blockIdx.x * cuda.blockDim.x + (2 * t if even else 2 * (t - half) + 1)\n"
GRID = (("    t, half = cuda.threadIdx.x, cuda.blockDim.x // 2\n", ""), (WHICH, ""), (OWN, "    i = cuda.grid(1)\n"))
ODD = """        else:
            for k in range(64):
                v = np.float32(1.01) * v - np.float32(1)
"""


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    v, even = x.astype(np.float64), np.arange(n) % 2 == 0
    for _ in range(64):
        v = np.where(even, 0.99 * v + 1.0, 1.01 * v - 1.0)
    return Case(plural(n, "element"), (x, Out(v.astype(np.float32))), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch08.sides",
    title="two formulas, whole warps, in Numba",
    language="numba",
    name="sides",
    cases=lambda: [_case(n) for n in (1, 2, 31, 64, 97, 128, 1021)],
    measured=lambda: _case(2048),
    budgets=(
        at_most_idle(0.5),
        at_most_instructions("2,048 elements", 9_500, "The work of one side, once, is enough."),
    ),
    sanitize=True,
    hints=(
        "You may choose which thread looks after which element. The kernel's i need not be cuda.grid(1).",
        "Threads 0 to 63 of a block are two whole warps. Which 64 of the block's 128 elements should they have?",
        "even = t < half, with half = cuda.blockDim.x // 2. The element is the block's first one, plus 2 * t if even, "
        "else plus 2 * (t - half) + 1.",
    ),
    solution="""
import numpy as np

@cuda.jit
def sides(x, out):
    t, half = cuda.threadIdx.x, cuda.blockDim.x // 2
    even = t < half
    i = cuda.blockIdx.x * cuda.blockDim.x + (2 * t if even else 2 * (t - half) + 1)
    if i < x.size:
        v = x[i]
        if even:
            for k in range(64):
                v = np.float32(0.99) * v + np.float32(1)
        else:
            for k in range(64):
                v = np.float32(1.01) * v - np.float32(1)
        out[i] = v
""",
    why="The branch is still there, but each warp agrees on it: warps 0 and 1 of a block have the even elements, warps "
    "2 and 3 the odd ones. The price is the stride of 2: a load moves 8 sectors where it moved 4. With two "
    "neighbouring warps on the same sectors, a cache makes up for much of that.",
    stretch="keep the loads coalesced too: load into shared memory first, then let each warp pick its side there.",
    mistakes=(
        Mistake(
            "no guard",
            "The grid is made of whole blocks, so the last one may have threads for which there is no element. Compare "
            "the element with x.size, not the thread: which threads are too many depends on how they are shared out.",
            (("if i < x.size", "if True"), ("i < x.size", "cuda.grid(1) < x.size"), ("i < x.size", "i <= x.size")),
        ),
        Mistake(
            "the sides are swapped",
            "Elements 0, 2, 4, … want the formula with 0.99, and 1, 3, 5, … that with 1.01.",
            (("if even:", "if not even:"), (*GRID, ("if even:", "if i % 2 == 1:"))),
        ),
        Mistake(
            "one formula for all",
            "All elements have the same formula now. Even and odd ones have each their own; which threads they belong "
            "to is what you may choose.",
            (("if even:", "if True:"), ("if even:", "if False:")),
        ),
        Mistake(
            "one side goes through both loops",
            "The even elements have both formulas, one after the other: the second loop belongs into the else.",
            ((ODD, "        for k in range(64):\n            v = np.float32(1.01) * v - np.float32(1)\n"),),
        ),
        Mistake(
            "the side follows the thread, not the element",
            "Whole warps now take one side each, and that is the idea. But which formula an element gets is decided by "
            "the element: give the first half of the block the even elements, the second the odd ones.",
            (
                (*GRID, ("if even:", "if cuda.threadIdx.x < cuda.blockDim.x // 2:")),
                (*GRID, ("if even:", "if i // 32 % 2 == 0:")),
                (*GRID, ("if even:", "if cuda.blockIdx.x % 2 == 0:")),
            ),
        ),
        Mistake(
            "only one side is written",
            "The elements of one side have no thread any more, some of them or all. A block of 128 threads still looks "
            "after 128 elements.",
            (
                (*GRID, ("i = cuda", "i = 2 * cuda"), ("if even:", "if i % 2 == 0:")),
                ("        out[i] = v", "            out[i] = v"),
                (" + 1)\n", ")\n"), (ODD, ""),
            ),
        ),
        Mistake(
            "both sides meet in one warp",
            "The result is right, but in every warp some lanes wait while others work. The warp is threads 0 to 31, 32 "
            "to 63, and so on: all 32 of them should take the same side.",
            (
                (*GRID, ("if even:", "if i % 2 == 0:")),
                ((WHICH, "    even = t % 32 < 16\n"), ("(2 * t if even else 2 * (t - half) + 1)",
                  "t // 32 * 32 + 2 * (t % 16) + (t % 32 // 16)")),
            ),
        ),
        Mistake(
            "every lane computes both sides",
            "No lane is idle, and half of what they compute is thrown away. Selecting pays for short sides only.",
            (
                """    i = cuda.grid(1)
    if i < x.size:
        even, odd = x[i], x[i]
        for k in range(64):
            even = np.float32(0.99) * even + np.float32(1)
            odd = np.float32(1.01) * odd - np.float32(1)
        out[i] = even if i % 2 == 0 else odd""",
            ),
        ),
    ),
)  # fmt: skip

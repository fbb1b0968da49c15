"""Each row above its least: what is set, changed and read in turn by all threads of a block."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, plural
from helpers.exercises.lab04.budgets import BARRIERS_A_ROW, BLOCK, QUEUE_OF_A_ROW, ROWS_A_BLOCK, WITHOUT_ATOMIC, loads

SIZES = ((1, 1, 1), (3, 31, 1), (5, 97, 2), (7, 128, 3), (4, 501, 2))
MIN = "cuda.atomic.min(least, 0, mine)"
OWN = ("x.shape[1], cuda.blockDim.x", "min(128, x.shape[1]), cuda.blockDim.x")


def _case(rows: int, n: int, blocks: int = 2, seed: int = 0, lift: int = 0) -> Case:
    x = np.random.default_rng(seed or n).integers(-99, 100, (rows, n), np.int32)
    x += (lift + 300 * (np.arange(rows) % 3 - 1)).astype(np.int32)[:, None]
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}, {plural(blocks, 'block')}"
    return Case(name, (x, Out(x - x.min(axis=1, keepdims=True))), (blocks,), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(1, int(dice.integers(2, 128)), 1), (int(dice.integers(3, 9)), int(dice.integers(129, 400)), 2)]
    blocks = int(dice.integers(2, 4))
    sizes.append((ROWS_A_BLOCK * blocks, 8 * int(dice.integers(60, 90)), blocks))
    return [_case(*size, int(dice.integers(1, 10**6)), int(dice.integers(-500, 500))) for size in sizes]


EXERCISE = Exercise(
    key="lab04.lower",
    title="each row above its least, in Numba",
    language="numba", name="lower",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(ROWS_A_BLOCK * 2, 640, 2), drawn=_drawn,
    sanitize=True, shared_out=True,
    budgets=(
        BARRIERS_A_ROW,
        QUEUE_OF_A_ROW,
        loads(2.1, "Every element is needed twice, once to compare and once to subtract, by lanes that read "
              "neighbours."),
    ),
    hints=(
        "Follow least[0] through two rows of one block: who writes it, who reads it, and what stands between?",
        "It is set by thread 0, changed by all, read by all, and set again. Between each two of these, all must meet.",
        "In the loop over rows: thread 0 sets; barrier; each thread compares its elements in a register, then one "
        "cuda.atomic.min; barrier; subtract; barrier.",
    ),
    why="A loop turns the end of a round into the neighbour of its beginning: what is read last and what is written "
    "first meet there, and no line of the source shows it. Whether a result suffers depends on how far one warp is "
    "ahead of another. One barrier for each change of roles is enough, and each can be named by the pair that it keeps "
    "apart. Comparing in registers first leaves one atomic a thread.",
    stretch="one barrier less: use least[0] and least[1] in turn. Why are two enough, and what must be set when?",
    equivalent=(
        (("if t == 0:", "if t == 1:"), "any thread may set it"),
        *(((f"{name} = 2**31 - 1", f"{name} = {number}"), "above all elements that there are") for number in
          ("3**31 - 1", "2**31 - 2", "2**30 - 1") for name in ("least[0]", "mine")),
    ),
    mistakes=(
        Mistake(
            "an index beyond its row or column",
            "x and out are (rows, elements): x[row, i], the row first, with row < x.shape[0] and i < x.shape[1].",
            (("min(mine, x[row, i])", "min(mine, x[i, row])"), ("out[row, i] = x[row, i]", "out[i, row] = x[i, row]")),
        ),
        Mistake(
            "compared without an atomic",
            WITHOUT_ATOMIC[1],
            ((MIN, "least[0] = min(least[0], mine)"), (MIN, "if mine < least[0]:\n            least[0] = mine")),
        ),
        Mistake(
            "the next row begins too soon",
            "A fast warp begins the next row and sets least[0] anew, while a slow one still reads the old value. One "
            "more meeting, between reading and setting again.",
            (("cuda.syncthreads()  # read", "# read"), ("cuda.syncthreads()  # read", "cuda.syncwarp()  # read"),
             ("cuda.syncthreads()  # read", "cuda.threadfence_block()  # read"),
             (("cuda.syncthreads()  # read", "# read"), (MIN, ""),
              ("mine = min(mine, x[row, i])", "cuda.atomic.min(least, 0, x[row, i])"))),
        ),
        Mistake(
            "the least is never set again",
            "A block's second row is compared with the least of its first one. Set it again for each row.",
            (("if t == 0:", "if t == 0 and row == cuda.blockIdx.x:"),),
        ),
        Mistake(
            "the search begins too low",
            "Where all elements are above what least[0] begins with, nothing is ever less than that. Begin with the "
            "greatest number there is, 2**31 - 1; one more is no int32 and becomes the smallest.",
            (("2**31 - 1", "0"), ("2**31 - 1", "99"), ("2**31 - 1", "2**31"), ("2**31 - 1", "100"),
             (("least[0] = 2**31 - 1", "least[0] = 0"),)),
        ),
        Mistake(
            "one thread's least",
            "What was subtracted is the least of what one thread has seen. Each of the 128 threads has seen a part of "
            "the row, and has to compare with least[0], by an atomic; and all subtract least[0].",
            (("- least[0]", "- mine"), (MIN, f"if t == 0:\n            {MIN}"),
             (MIN, "if t == 0:\n            least[0] = mine")),
        ),
        Mistake(
            "not the least is subtracted",
            "What becomes 0 in each row is not its least: it is x[row, i] - least[0], and least[0] comes from "
            "cuda.atomic.min.",
            ((("atomic.min", "atomic.max"), ("min(mine", "max(mine"), ("2**31 - 1", "-(2**31)")),
             (("atomic.min", "atomic.add"), ("min(mine, x[row, i])", "mine + x[row, i]"), ("2**31 - 1", "0")),
             ("] - least", "] + least")),
        ),
        Mistake(
            "some of a row is left out",
            "A block does its rows alone and to their end, which may be further than 128: thread t takes elements t, t "
            "+ blockDim.x, … as long as they are less than x.shape[1].",
            (OWN, ("range(t, x.shape[1], cuda.blockDim.x)", "range(cuda.grid(1), x.shape[1], cuda.gridsize(1))")),
        ),
        Mistake(
            "every block does all rows",
            "Right, but rows are done more than once: a block begins with row blockIdx.x, and goes on in steps of "
            "gridDim.x.",
            (("cuda.blockIdx.x, x.shape[0], cuda.gridDim.x", "x.shape[0]"),),
        ),
    ),
)  # fmt: skip

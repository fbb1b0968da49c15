"""Each block's share of the whole, divided by the block that is done last."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, plural
from helpers.exercises.lab04.budgets import BLOCK, NO_ORDER, NOBODY_LAST, TICKETS, WITHOUT_ATOMIC, loads, one_ticket

SIZES = ((1, 1), (97, 1), (97, 3), (200, 2), (1000, 3), (1021, 5))
DRAW, BY_BLOCK = "atomicAdd(tickets, 1) == gridDim.x - 1", "parts[blockIdx.x] = sum"
FENCES = "__threadfence();"
LOOP = "for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)"
QUOTIENT = "(float)parts[t] / total"


def _case(n: int, blocks: int, seed: int = 0) -> Case:
    x = np.random.default_rng(seed or n).integers(1, 10, n, np.int32)
    owner = np.arange(n) // BLOCK % blocks
    wanted = (np.bincount(owner, weights=x, minlength=blocks) / x.sum()).astype(np.float32)
    arguments = (x, np.zeros(blocks, np.int32), np.zeros(1, np.int32), Out(wanted), np.int32(n))
    return Case(f"{plural(n, 'element')}, {plural(blocks, 'block')}", arguments, (blocks,), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(int(dice.integers(2, 128)), 1), (int(dice.integers(2, 128)), int(dice.integers(2, 5)))]
    sizes.append((int(dice.integers(300, 900)), int(dice.integers(2, 4))))
    sizes.append((int(dice.integers(7000, 9000)), int(dice.integers(4, 9))))
    return [_case(*size, int(dice.integers(1, 10**6))) for size in sizes]


EXERCISE = Exercise(
    key="lab04.shares",
    title="each block's share of the whole, in CUDA C",
    language="cuda", name="shares",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(8000, 6), drawn=_drawn,
    sanitize=True, shared_out=True,
    budgets=(
        one_ticket("One ticket a block is all that has to be drawn."),
        loads(1.2, "Each block loads its own elements; the last one loads the other blocks' sums, and no elements."),
    ),
    hints=(
        "The ticket says who is last. Does it also say that what the others have written can be seen?",
        "A fence (__threadfence) before the ticket, by the thread that has written the part; another one after it, "
        "before parts of other blocks are read.",
        "Thread 0: parts[blockIdx.x] = sum; __threadfence(); last = atomicAdd(tickets, 1) == gridDim.x - 1; "
        "__threadfence(); then __syncthreads(), and if (last) all threads read parts.",
    ),
    why="An atomic makes one word safe, and says nothing of any other. The fence before it makes what was written "
    "earlier visible first; the fence after it keeps later loads from being early (the sanitizer takes that one for "
    "granted, CUDA's memory model does not). Between two blocks the ticket carries the order; within the block a "
    "barrier hands it on to threads that have drawn no ticket. So a second launch is saved, and no block ever waits "
    "for another, which might not have begun.",
    stretch="let the last block put the ticket back to 0, so that the next launch needs no fresh array. Is a fence "
    "missing?",
    equivalent=(
        (("if (t == 0) {", "if (t == 1) {"), "any thread may do it for the block"),
        ((f"{BY_BLOCK};", "parts[blockIdx.x] += sum;"), "parts holds zeros, and nobody else adds there"),
    ),
    mistakes=(
        Mistake(
            *NOBODY_LAST,
            (("gridDim.x - 1", "gridDim.x"),
             ("atomicAdd(&sum, mine)", "if (blockIdx.x * blockDim.x >= n) return; atomicAdd(&sum, mine)")),
        ),
        Mistake(
            *TICKETS,
            ((("if (t == 0) {", f"if (t == 0) {BY_BLOCK}; __threadfence(); {{"), (f"        {BY_BLOCK};", ""),
              ("gridDim.x - 1", "gridDim.x * blockDim.x - 1")),),
        ),
        Mistake(*WITHOUT_ATOMIC, (("atomicAdd(&sum, mine)", "sum += mine"),)),
        Mistake(
            *NO_ORDER,
            (("atomicAdd(tickets, 1)", "tickets[0]++"), (FENCES, ""), (DRAW, "atomicAdd(tickets, 1) == 0"),
             (DRAW, "blockIdx.x == gridDim.x - 1")),
        ),
        Mistake(
            "another quotient",
            "A share is the block's part by the total of all parts, parts[b] / total: a fraction, and all of them add "
            "up to 1. The total goes over all blocks.",
            ((QUOTIENT, "parts[t]"), ("(float)parts", "100.0f * parts"), ("/ total", "/ n"),
             (QUOTIENT, "(float)total / parts[t]"), ("b < gridDim.x", "b < gridDim.x - 1"), ("int b = 0", "int b = 1"),
             ("total += parts[b]", "total = max(total, parts[b])"), ("total += parts[b]", "total = parts[b]")),
        ),
        Mistake(
            "the sum of one thread",
            "The part of a block is what its thread 0 has added up alone. All 128 threads have added up something: "
            "bring their sums together in shared memory first.",
            ((BY_BLOCK, "parts[blockIdx.x] = mine"), ("atomicAdd(&sum, mine)", "if (t == 0) sum = mine")),
        ),
        Mistake(
            "elements of other blocks",
            "A grid-stride loop was asked for: a block begins at element blockIdx.x * blockDim.x + threadIdx.x, and "
            "goes on in steps of gridDim.x * blockDim.x. So element i belongs to block i / 128 % gridDim.x.",
            (("i += gridDim.x * blockDim.x", "i += blockDim.x"), ("i = blockIdx.x * blockDim.x + t", "i = t"),
             (LOOP, "int each = (n + gridDim.x - 1) / gridDim.x; for (int i = blockIdx.x * each + t; "
              "i < min(n, (blockIdx.x + 1) * each); i += blockDim.x)")),
        ),
        Mistake(
            "only some shares are written",
            "The last block writes the shares of all blocks, and not only its own. All of its threads have to know "
            "that it is the last: what one of them has learnt from the ticket goes through shared memory.",
            (("t < gridDim.x)", "t == 0)"),),
        ),
    ),
)  # fmt: skip

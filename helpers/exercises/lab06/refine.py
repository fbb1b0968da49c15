"""A costly path for few elements: the block collects them, and all its threads work them off."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, seeds
from helpers.exercises.lab06.budgets import idle, instructions

BLOCK, TILE = 128, 1024
ZERO = "if (threadIdx.x == 0) count = 0;"
NOTE = "list[atomicAdd(&count, 1)] = i;"
WORK = "for (int k = threadIdx.x; k < count; k += blockDim.x) out[list[k]] = costly(x[list[k]]);"
EACH = "for (int k = 0; k < count; ++k) out[list[k]] = costly(x[list[k]]);"
IN_PLACE = "for (int i = first + threadIdx.x; i < end; i += blockDim.x)"


def _case(n: int, limit: float = 6.5, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    v = x.astype(np.float64)
    for _ in range(32):
        v = 0.9 * v + 0.25
    arguments = (x, Out(np.where(x > limit, v, x).astype(np.float32)), np.int32(n), np.float32(limit))
    name = f"{plural(n, 'element')}, {(x > limit).sum():,} of them above {limit:g}"
    return Case(name, arguments, (cover(n, TILE),), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [(dice.integers(2, 100), 0), (dice.integers(300, 1000), -9), (dice.integers(1100, 2100), 7.75)]
    drawn += [(dice.integers(3500, 6000), dice.choice([6.25, 6.5, 6.75]))]
    return [_case(int(n), float(limit), seed) for (n, limit), seed in zip(drawn, seeds(dice, 4), strict=True)]


EXERCISE = Exercise(
    key="lab06.refine",
    title="rare work, collected by the block, in CUDA C",
    language="cuda",
    name="refine",
    cases=lambda: [
        _case(n, limit)
        for n, limit in ((1, -9), (97, 6.5), (128, 9), (1000, 0), (1024, -9), (2500, 6.5))
    ],
    measured=lambda: _case(5000),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    also_wrong=("barrier_ended",),
    budgets=(
        idle(14, most=75),
        instructions(75, "A costly element in each warp makes every warp pay the full price. Collect them first."),
        SHARED_OUT,
    ),
    hints=(
        "First pass: each thread looks at eight elements, 128 apart; cheap ones are stored, costly ones noted. "
        "Second pass: the notes are shared out.",
        "int at = atomicAdd(&count, 1); list[at] = i; gives every costly element a place. Their order does not matter.",
        "for (int k = threadIdx.x; k < count; k += blockDim.x) out[list[k]] = costly(x[list[k]]); between two "
        "barriers and the end.",
    ),
    why="One element in twelve is costly, so hardly any warp of 32 is without one, and each pays the full price. "
    "In the list costly elements stand side by side, and full warps work them off; what is wasted is at most one "
    "warp a block. The order of the list varies from run to run, and the result does not: each element goes to its "
    "own place. The price is a barrier or two, an atomic for each rare element, and stores that are no longer "
    "neighbours.",
    stretch="let one lane ask for the places of its whole warp, by __ballot_sync and __popc, as chapter 08 does.",
    equivalent=(
        (("threadIdx.x == 0", "threadIdx.y == 0"), "all threads store the same 0"),
        (("threadIdx.x == 0", "threadIdx.x == 1"), "any one thread may set the count to 0"),
    ),
    mistakes=(
        Mistake("more of the list is read than was written",
            "What nobody has written to the list is no index. A place on it is what atomicAdd returns, which is the "
            "count before; and it ends where the count says: k < count.",
            (("k < count", "k <= count"), ("k < count", "k < 1024"),
             (NOTE, "{ atomicAdd(&count, 1); list[count] = i; }"))),
        Mistake("shared memory that nobody has written",
            "Somebody reads an element of shared memory that no thread has written: the count begins with what was "
            "there before, unless one thread sets it to 0; the list ends where the count says.",
            ((ZERO, ""), (f"{ZERO}\n    __syncthreads();", ""))),
        Mistake("the list is too short",
            "A block has 1,024 elements, and all of them may be above the limit.",
            (("list[1024]", "list[128]"),)),
        Mistake("blocks that meet each other's elements",
            "Two threads store to one element of out. A block has x[blockIdx.x * 1024] to the 1,023 behind it, and "
            "what the list holds says which of all n elements is meant.",
            (("= i;", "= i - first;"), ("out[list[k]]", "out[k]"))),
        Mistake("threads that never come to the barrier",
            "Some threads have ended while others wait at a barrier. CUDA promises nothing then: all threads of the "
            "block come to it. Guard the work, not the barrier.",
            (("else out[i] = v;", "else { out[i] = v; return; }"),)),
        Mistake("the wrong ones are refined",
            "Elements above the limit are refined. The others stay as they are, also those that equal it.",
            (("v > limit", "true"), ("v > limit", "v >= limit"), ("v > limit", "v < limit"),
             ("v > limit", "v <= limit"))),
        Mistake("fractions are cut off",
            "An int cuts off fractions. Elements are floats.",
            (("float v = x[i]", "int v = x[i]"),)),
        Mistake("the index is refined",
            "The list holds indices: costly takes x[list[k]], not list[k].",
            (("x[list[k]]", "list[k]"),)),
        Mistake("stored by the place on the list",
            "Results stand side by side, in the places of other elements. Each belongs where its element is: note "
            "i, and store to out[list[k]].",
            (("out[list[k]]", "out[first + k]"),)),
        Mistake("only what is rare is written",
            "Elements up to the limit have to be stored too, as they are.",
            (("else out[i] = v;", ""),)),
        Mistake("the list is not worked off to its end",
            "Elements above the limit have no result. What is on the list goes through costly and is stored to out, "
            "all of it: the list may be longer than the block has threads.",
            ((WORK, ""), (WORK, "int k = threadIdx.x; if (k < count) out[list[k]] = costly(x[list[k]]);"))),
        Mistake("the last elements have no thread",
            "What was written is right, and the end is missing. A block has x[blockIdx.x * 1024] to the 1,023 "
            "behind it, eight for each thread; the last element is x[n - 1].",
            (("i < end", "i < end - (end == n)"),
             (("= blockIdx.x * 1024", "= blockIdx.x * blockDim.x"), ("first + 1024", "first + 128")))),
        Mistake("most lanes wait",
            "The result is right. But nearly every warp has a lane or two with costly work among 30 that wait; or "
            "one lane works off alone what was collected.",
            (f"{IN_PLACE} out[i] = x[i] > limit ? costly(x[i]) : x[i];", (WORK, f"if (threadIdx.x == 0) {EACH}"))),
        Mistake("one warp works the list off",
            "The result is right. But one warp of four does the costly work, and three wait or have ended. All "
            "threads share the list: from threadIdx.x on, by blockDim.x.",
            ((WORK, "if (threadIdx.x < 32) " + WORK.replace("blockDim.x", "32")),)),
        Mistake("more work than there is",
            "The result is right, but costly work is done for elements that do not need it, or for the same ones by "
            "several threads: of the list, thread t takes from t = threadIdx.x on, by blockDim.x.",
            (f"{IN_PLACE} {{ float v = costly(x[i]); out[i] = x[i] > limit ? v : x[i]; }}",
             ("k += blockDim.x", "++k"), (WORK, EACH))),
    ),
)  # fmt: skip

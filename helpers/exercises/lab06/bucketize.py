"""The bucket of each element: how many edges are not above it, by comparisons that are added."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, seeds, thread_1d
from helpers.checking.measures import per_warp
from helpers.exercises.lab06.budgets import idle, instructions

BLOCK = 128
LOOP = "for (int j = 0; j < m; ++j) k += edges[j] <= x[i];"
GUARD = "if (i >= n) return;"
NEAR = "__shared__ float near[32]; if (threadIdx.x < m) near[threadIdx.x] = edges[threadIdx.x]; __syncthreads();"
STORE = "\n    out[i] = k;"
ATOMIC = "if (edges[j] <= x[i]) atomicAdd(&out[i], 1)"


def _case(n: int, edges: int, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    limits = np.sort(numbers(edges, seed=edges + (seed or n)))
    wanted = Out(np.searchsorted(limits, x, side="right").astype(np.int32))
    name = f"{plural(n, 'element')}, {plural(edges, 'edge')}"
    return Case(name, (x, limits, wanted, np.int32(n), np.int32(edges)), (cover(n, BLOCK),), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    shapes = [dice.integers(2, 40, 2), dice.integers(40, 90, 2), (dice.integers(130, 400), 2)]
    shapes += [(dice.integers(1500, 2500), dice.integers(24, 40))]
    return [_case(*map(int, shape), seed) for shape, seed in zip(shapes, seeds(dice, 4), strict=True)]


EXERCISE = Exercise(
    key="lab06.bucketize",
    title="the bucket of each element, in CUDA C",
    language="cuda",
    name="bucketize",
    cases=lambda: [_case(*shape) for shape in ((1, 1), (31, 5), (97, 16), (128, 1), (257, 33))],
    measured=lambda: _case(2000, 32),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    thread_of=thread_1d,
    budgets=(
        idle(6, most=300),
        Budget(
            "divergent branches per warp",
            per_warp("divergent_branches"),
            4,
            "A branch diverges if lanes of one warp part at it.",
            "divergent_branches",
        ),
        instructions(300, "A few instructions an edge are enough, for all 32 lanes together."),
    ),
    hints=(
        "The bucket is a number: how many edges are at most x?",
        "In C a comparison is 0 or 1, so it can be added. The loop has m rounds for everybody.",
        "int k = 0; for (int j = 0; j < m; ++j) k += edges[j] <= x[i]; out[i] = k;",
    ),
    why="A count of comparisons has no branch: each is 0 or 1 in a register and is added. All lanes go through the "
    "same rounds, read the same edge in one sector, and none waits. The loop that stopped early was no shorter for "
    "its warp, since it ran until the last of 32 lanes was done. With thousands of edges a binary search is better, "
    "with the same number of halvings for every lane.",
    stretch="halve instead: five rounds for 32 edges, with the same rounds for all lanes. From how many edges on "
    "is it shorter?",
    mistakes=(
        Mistake("the shared array is too short",
            "There may be more edges than the shared array has places, and more than the block has threads. They "
            "can as well be read where they are: all lanes ask for the same one.",
            (((GUARD, f"{NEAR} {GUARD}"), ("edges[j]", "near[j]")),)),
        Mistake("an edge that does not exist",
            "It is not for want of a guard that some thread reaches outside. Edges are edges[0] to edges[m - 1], "
            "and a thread's element is x[i].",
            (("j < m", "j <= m"), ("j < m", "j < 32"), ("edges[j] <= x[i]", "edges[i] <= x[j]"))),
        Mistake("nothing is counted yet",
            "Every element came out in bucket 0: no edge has been looked at.",
            ((LOOP, ""),)),
        Mistake("edges count from below only",
            "An element that equals an edge is in the bucket above it: count edges that are <= x.",
            (("<= x[i]", "< x[i]"),)),
        Mistake("counted from the other side",
            "You count the edges above an element. The bucket is the number of edges that are not.",
            (("<= x[i]", "> x[i]"), ("<= x[i]", ">= x[i]"))),
        Mistake("out does not begin at 0",
            "out is added to, and holds anything before: here -1. Count in a variable that begins at 0, and store "
            "it once.",
            (((LOOP, LOOP.replace("k +=", "out[i] +=")), (STORE, "")),)),
        Mistake("one too few",
            "Every bucket but 0 is one too low. Edges are counted from edges[0] on; and their number is asked for, "
            "not the place of the last one.",
            (("j = 0", "j = 1"), ("k += edges[j] <= x[i]", "if (edges[j] <= x[i]) k = j"))),
        Mistake("the last edge is left out",
            "Elements beyond the last edge are in bucket m, so all m edges have to be looked at.",
            (("j < m", "j < m - 1"),)),
        Mistake("beyond the last edge nothing is stored",
            "An element that no edge is above comes to the end of the loop, and has a bucket too: m.",
            (((LOOP, "for (; k < m; ++k) if (edges[k] > x[i]) { out[i] = k; return; }"), (STORE, "")),)),
        Mistake("only the last comparison counts",
            "Each comparison takes the place of the one before. Add it to the count.",
            (("k += edges", "k = edges"),)),
        Mistake("fractions are cut off",
            "x[i] is a float. An int cuts off its fraction, and 2.75 is no longer above 2.5.",
            ((LOOP, "int v = x[i]; " + LOOP.replace("x[i]", "v")),)),
        Mistake("lanes that leave the loop one by one",
            "The result is right, but a lane that has found its bucket waits for the last one of its warp. Let all "
            "lanes look at the same edges, and add up what they find.",
            ((LOOP, "while (k < m && edges[k] <= x[i]) ++k;"),
             (LOOP, "for (int j = 0; j < m; ++j) { if (edges[j] > x[i]) break; ++k; }"),
             (LOOP, "for (k = m; k > 0 && edges[k - 1] > x[i];) --k;"))),
        Mistake("a branch at every edge",
            "The result is right, but at edge after edge some lanes of a warp have something to do that others have "
            "not. A comparison is 0 or 1: add it in all lanes.",
            (((LOOP, "out[i] = 0; " + LOOP.replace("k += edges[j] <= x[i]", ATOMIC)), (STORE, "")),)),
        Mistake("more than a look at each edge",
            "The result is right, and hardly a lane is idle, but a warp executes far more than a load, a comparison "
            "and a sum for each edge.",
            (((GUARD, "for (i = 0; i < n; ++i) {"), (STORE, STORE + " }")),)),
    ),
)  # fmt: skip

"""An element averaged with its left neighbour, three times, in place: which pairs of accesses need a barrier?"""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, ROUNDS = 128, 3


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    rows = np.zeros((cover(n, BLOCK), BLOCK), np.float32)
    rows.ravel()[:n] = x
    for _ in range(ROUNDS):
        rows[:, 1:] = (rows[:, 1:] + rows[:, :-1]) / 2
    return Case(plural(n, "element"), (x, Out(rows.ravel()[:n].copy())), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch06.smooth",
    title="mend the missing barriers, in Numba",
    language="numba",
    name="smooth",
    cases=lambda: [_case(n) for n in (1, 31, 97, 128, 131, 1000)],
    sanitize=True,
    also_wrong=("barrier_ended",),
    hints=(
        "Which thread writes s[t - 1], and when? Look for every pair of a write and a read of one element.",
        "Three pairs: the load and the first round; a round's reads and its writes; its writes and the next "
        "round's reads.",
        "cuda.syncthreads() after the load, after `left = …`, and after the write at the end of the loop, each "
        "outside any `if`.",
    ),
    solution="""
@cuda.jit
def smooth(x, out):
    s = cuda.shared.array(128, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    for _ in range(3):
        left = s[t - 1] if t > 0 else s[t]
        cuda.syncthreads()
        s[t] = (s[t] + left) / 2
        cuda.syncthreads()
    if i < x.size:
        out[i] = s[t]
""",
    why="In-place work needs two barriers a round: one so that everybody has read the old values before anybody "
    "writes, one so that everybody has written before anybody reads again. Threads beyond the end carry a zero "
    "along rather than leave, so that all of the block reaches every barrier.",
    stretch="use two shared arrays in turn, reading one and writing the other: how many barriers a round are left?",
    equivalent=(
        (("array(128", "array(129"), "an element more than is used"),
        (("x.size else 0", "x.size else 1"), "elements behind the last have no right neighbour"),
    ),
    mistakes=(
        Mistake(
            "no barrier at all",
            "A thread reads what its left neighbour writes, and nothing says who comes first. That neighbour may be "
            "in another warp, so a warp's own barrier will not do: the whole block has to wait. Look for each pair of "
            "a write and a read that must not change places.",
            ((("        cuda.syncthreads()\n", ""), ("    cuda.syncthreads()\n", "")),),
        ),
        Mistake(
            "threads that never come to the barrier",
            "Threads without an element end, or skip the loop, while others wait at its barriers. The result is right "
            "here, and yet CUDA promises nothing: a barrier wants the whole block. Guard the work only.",
            (
                (("s[t] = x[i] if i < x.size else 0", "if i >= x.size:\n        return\n    s[t] = x[i]"),),
                ("for _ in range(3)", "for _ in range(3 if i < x.size else 0)"),
            ),
        ),
        Mistake(
            "the first thread has no left neighbour",
            "s[t - 1] of thread 0 is s[-1], the last element. The first of a block is averaged with itself.",
            ((" if t > 0 else s[t]", ""),),
        ),
        Mistake(
            "the neighbour on the right",
            "Averaged with s[t + 1], results depend on what comes behind an element. The left neighbour is s[t - 1].",
            (("s[t - 1] if t > 0", "s[t + 1] if t < 127"),),
        ),
        Mistake(
            "another number of rounds",
            "Each element is averaged three times. Every round takes the results of the one before, for all elements.",
            (("range(3)", "range(1)"), ("range(3)", "range(2)"), ("range(3)", "range(4)")),
        ),
        Mistake(
            "added up, and not averaged",
            "A round makes the mean of an element and its left neighbour: their sum, halved.",
            (("(s[t] + left) / 2", "s[t] + left"), ("(s[t] + left) / 2", "s[t] + left / 2")),
        ),
    ),
)  # fmt: skip

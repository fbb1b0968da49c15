"""The step from each element to the next: a map with a neighbour, and a guard at both ends."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import per_warp
from helpers.exercises.lab01.budgets import IDLE_LANES, of_the_warp

BLOCK = 64
BEFORE = "(i > 0 ? x[i - 1] : 0.0f)"


def _case(n: int, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    wanted = Out(np.diff(x, prepend=np.float32(0)))
    return Case(plural(n, "element"), (x, wanted, np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [*dice.integers(2, 600, 3), dice.integers(2500, 4000)]
    return [_case(int(n), int(dice.integers(1, 10**6))) for n in sizes]


EXERCISE = Exercise(
    key="lab01.steps",
    title="the step from each element to the next, in CUDA C",
    language="cuda",
    name="steps",
    cases=lambda: [_case(n) for n in (1, 31, 64, 97, 128, 1021)],
    measured=lambda: _case(3001),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    thread_of=thread_1d,
    budgets=(
        IDLE_LANES,
        Budget(
            "loads of the first warp",
            of_the_warp("load"),
            3,
            "Each thread needs two elements: its own and the one before.",
            "global_load_requests",
            of="warp",
        ),
        Budget(
            "store requests per warp",
            per_warp("global_write_requests"),
            1.1,
            "Each thread writes one element, once.",
            "global_store_requests",
        ),
    ),
    hints=(
        "Two threads in the grid are special: those with no element at all, and the one without an element before "
        "its own.",
        "if (i < n) keeps the first kind out. For the other, choose a value: i > 0 ? x[i - 1] : 0.",
        "if (i < n) out[i] = x[i] - (i > 0 ? x[i - 1] : 0.0f);",
    ),
    why="A map has one owner for each element of the result, so a guard asks first whether that element exists. "
    "Reading a neighbour needs a guard as well, and one that chooses a value instead of leaving: thread 0 still has an "
    "element to write. Only one warp of the grid has lanes that disagree, so the two guards cost next to nothing. The "
    "neighbour's load is one float off, and asks for a fifth sector; chapter 04 counts those.",
    stretch="write the sum of an element and both of its neighbours, with guards at both ends.",
    mistakes=(
        Mistake("the first element has none before it",
            "Before the first element there is 0, so out[0] is x[0]. Thread 0 must not read x[-1], and yet it writes: "
            "its guard chooses a value, and keeps nobody out.",
            (
                (BEFORE, "x[i - 1]"), (("if (i < n) ", ""), (BEFORE, "x[i - 1]")), (BEFORE, "x[max(i - 1, 0)]"),
                (("i < n", "0 < i && i < n"), (BEFORE, "x[i - 1]")),
            )),
        Mistake("the step to the next element",
            "x[i + 1] comes behind x[i], and the step to it is one place too early. out[i] looks back, to x[i - 1].",
            (
                ("x[i - 1]", "x[i + 1]"), "    if (i < n - 1) out[i] = x[i + 1] - x[i];",
                "    if (i < n) out[i] = (i + 1 < n ? x[i + 1] : 0.0f) - x[i];",
                "    if (0 < i && i < n) out[i - 1] = x[i] - x[i - 1];",
            )),
        Mistake("no difference of two neighbours",
            "The step is what lies between an element and the one before, x[i] - x[i - 1]: neither their sum, nor what "
            "lies between two that are further apart.",
            (
                ("x[i] - ", "x[i] + "), ("i > 0 ? x[i - 1]", "i > 1 ? x[i - 2]"),
                ("= x[i] -", "= (i + 1 < n ? x[i + 1] : 0.0f) -"),
            )),
        Mistake("another element is taken for the first",
            "Only x[0] has none before it. Other elements have one, x[i - 1], also where it belongs to another warp or "
            "block, since all of x lies in global memory.",
            (
                ("i > 0", "threadIdx.x > 0"), ("i > 0", "i > 1"),
                "    float own = i < n ? x[i] : 0.0f, before = __shfl_up_sync(0xffffffff, own, 1);\n"
                "    if (i < n) out[i] = own - (i > 0 ? before : 0.0f);",
            )),
        Mistake("only the first element is written",
            "Every thread writes out[0], or only one writes at all. Look for an index that is 0 for all: `i = 0` puts "
            "a 0 into i, and `i == 0` asks.",
            (("i < n", "i == 0"), ("i < n", "i < n && !(i = 0)"))),
        Mistake("what nobody has written is read",
            "`out` holds nothing to begin with, and other threads write to it at the same time. All that is needed is "
            "in x: calculate from that, and store the result at once.",
            (
                ("? x[i - 1]", "? out[i - 1]"),
                "    if (i < n) { atomicAdd(out + i, x[i]); if (i + 1 < n) atomicAdd(out + i + 1, -x[i]); }",
            )),
        Mistake("fractions are lost",
            "x holds floats, and a variable of type int keeps only their whole part: make it a float.",
            ((BEFORE, f"(int){BEFORE}"), ("x[i] -", "(int)x[i] -"), (f"x[i] - {BEFORE}", f"(int)(x[i] - {BEFORE})"))),
        Mistake("few threads do all the work",
            "The result is right, and many lanes only watch. No thread needs a loop here: each has one element.",
            (
                ("if (i < n)", "if (i == 0) for (; i < n; ++i)"),
                ("if (i < n)", "if (i % 32 == 0) for (int end = min(n, i + 32); i < end; ++i)"),
            )),
    ),
)  # fmt: skip

"""Four launches that leave the GPU mostly idle: larger ones, not more streams."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, plural
from helpers.checking.stream_work import GPU, OutOnDevice, microseconds
from helpers.exercises.ch11.budgets import BIG, NO_WAITS, WORK, kernel, kernels, values


def _case(n: int) -> Case:
    x, rounds = values(n), np.int32(180 if n == BIG else 3)
    out = OutOnDevice(x + np.float32(rounds), initial=x)
    return Case(plural(n, "element"), (out, kernel(WORK, "work"), rounds), block=(256,))


BLOCKS = "        blocks = (part.size + 255) // 256\n"
LAUNCH = "        work((blocks,), (256,), (part, np.int32(part.size), rounds), stream=stream)\n"

EXERCISE = Exercise(
    key="ch11.fill",
    title="launches that fill the GPU",
    language="streams",
    name="fill",
    cases=lambda: [_case(n) for n in (4, 124, 4000)],
    measured=lambda: _case(BIG),
    budgets=(
        Budget("kernels that are missing", lambda t: max(0, 1 - kernels(t)), 0, "The kernel is to do the work."),
        NO_WAITS,
        Budget(
            f"modelled µs on {GPU} for 2²⁰ elements",
            microseconds,
            40,
            "Sixteen blocks use 16 of 108 SMs. Give each launch a thread for each of its elements.",
        ),
    ),
    sanitize=True,
    hints=(
        "How many of the A100's 108 SMs does a launch of 16 blocks use at most?",
        "A block has 256 threads. How many blocks does a quarter need, so that each element has a thread?",
        "blocks = (part.size + 255) // 256; work((blocks,), (256,), …)",
    ),
    solution=f"""
def fill(x, work, rounds):
    stream = cp.cuda.Stream(non_blocking=True)
    quarter = x.size // 4
    for k in range(4):
        part = x[k * quarter : (k + 1) * quarter]
{BLOCKS}{LAUNCH}""",
    why="With a thread for each element a single launch fills all SMs. Four streams of small launches use 64 SMs at "
    "most, and they need three further streams for it.",
    stretch="do all of it in one launch. What is gained over four launches, and by whom?",
    equivalent=(((", stream=stream)", ")"), "the default stream is a stream, too"),),
    mistakes=(
        Mistake(
            "the kernel is not launched",
            "Nothing was asked of the GPU: launch work(…) for each quarter.",
            ((LAUNCH, "        pass\n"),),
        ),
        Mistake(
            "more streams instead of larger launches",
            "The four launches run side by side now, but each still uses 16 SMs only. Make each launch larger.",
            (
                ((BLOCKS, "        blocks = 16\n"),
                 (LAUNCH, "        stream = cp.cuda.Stream(non_blocking=True)\n" + LAUNCH)),
            ),
        ),
        Mistake(
            "sixteen blocks as before",
            "A launch of 16 blocks uses 16 SMs at most, and the others are idle. Give it more blocks.",
            ((BLOCKS, "        blocks = 16\n"), (BLOCKS, "        blocks = 27\n")),
        ),
        Mistake(
            "larger blocks instead of more blocks",
            "A block stays on one SM, so 16 blocks use 16 SMs, however many threads they have.",
            (((BLOCKS, "        blocks = 16\n"), ("(256,)", "(1024,)")),),
        ),
        Mistake(
            "one block",
            "A block lives on a single SM, so the other 107 have nothing to do.",
            ((BLOCKS, "        blocks = 1\n"),),
        ),
        Mistake(
            "a part is left out or done twice",
            "There are four quarters, and each element belongs to exactly one of them.",
            (("range(4)", "range(3)"), ("range(4)", "range(1, 4)"), ("(k + 1) * quarter", "(k + 2) * quarter"),
             ("x[k * quarter", "x[0 * quarter")),
        ),
        Mistake(
            "the host waits after each launch",
            "One stream keeps the order by itself. Whoever calls will wait.",
            ((LAUNCH, LAUNCH + "        stream.synchronize()\n"),),
        ),
    ),
)  # fmt: skip

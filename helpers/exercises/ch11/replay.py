"""A loop of small launches as a graph."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, plural
from helpers.checking.stream_work import GPU, OutOnDevice, graphs, microseconds
from helpers.exercises.ch11.budgets import NO_WAITS, kernel, kernels, values

STEPS = 10
HALVE = r"""
extern "C" __global__ void halve(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] / 2 + 1;
}
"""


def _case(n: int, times: int) -> Case:
    x = values(n)
    wanted = x
    for _ in range(STEPS * times):
        wanted = wanted / 2 + 1
    out = OutOnDevice(wanted.astype(np.float32), initial=x)
    arguments = (out, kernel(HALVE, "halve"), times)
    return Case(f"{plural(n, 'element')}, {plural(times, 'time')}", arguments, block=(128,))


LAUNCH = "halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)\n"
BEGIN, TEN = "    stream.begin_capture()\n", f"    for _ in range(10):\n        {LAUNCH}"
END, LOOP = "    graph = stream.end_capture()\n", "    for _ in range(times):\n        graph.launch(stream)\n"

EXERCISE = Exercise(
    key="ch11.replay",
    title="a loop of small launches as a graph",
    language="streams",
    name="replay",
    cases=lambda: [_case(n, times) for n, times in ((1, 1), (97, 2), (1000, 3))],
    measured=lambda: _case(256, 20),
    budgets=(
        Budget(
            "launches of halve that are missing of 200",
            lambda t: max(0, 20 * STEPS - kernels(t)),
            0,
            "It is about launching this kernel, ten times for each of `times`.",
        ),
        NO_WAITS,
        Budget("graphs made for 20 times", graphs, 1, "A graph can be launched as often as you like: make one."),
        Budget(
            f"modelled µs on {GPU} for 20 times",
            microseconds,
            420,
            "200 launches cost the host 200 launch overheads. A graph of ten costs one.",
        ),
    ),
    sanitize=True,
    hints=(
        "What the ten launches do is the same each time: the same kernel, with the same arguments.",
        "stream.begin_capture(); ten launches with stream=stream; graph = stream.end_capture().",
        "Ahead of the loop: capture. In the loop `for _ in range(times)`: graph.launch(stream).",
    ),
    solution="""
def replay(x, halve, times):
    stream = cp.cuda.Stream(non_blocking=True)
    blocks = (x.size + 127) // 128
    stream.begin_capture()
    for _ in range(10):
        halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    for _ in range(times):
        graph.launch(stream)
""",
    why="The ten launches are recorded once, with their arguments and their order. Each replay is one call, so the "
    "host pays one launch overhead where it paid ten. The kernels themselves are none the faster.",
    stretch="what does a single kernel cost that does the ten steps in a loop of its own? Why may it, here?",
    mistakes=(
        Mistake(
            "made without the kernel",
            "The result is right, and made by other means. It is about launching this kernel, ten times for each "
            "of `times`, at the price of few launches.",
            ("    for _ in range(10 * times):\n        x[...] = x / 2 + 1",
             "    x[...] = (x - 2) / 2 ** (10 * times) + 2"),
        ),
        Mistake(
            "replays in several streams",
            "Each replay needs what the last one made, and in another stream nothing makes it wait. One stream for "
            "all of them.",
            (
                (LOOP, "    other = cp.cuda.Stream(non_blocking=True)\n    for k in range(times):\n"
                       "        graph.launch(stream if k % 2 else other)\n"),
                (LOOP, "    for k in range(times):\n        graph.launch(cp.cuda.Stream(non_blocking=True))\n"),
            ),
        ),
        Mistake(
            "the graph is never launched",
            "A capture runs nothing. graph.launch(stream) does, each time you call it.",
            ((LOOP, ""),),
        ),
        Mistake(
            "one launch too few",
            "A capture runs nothing, not even once: after it the graph must be launched `times` times.",
            (("(times)", "(times - 1)"),),
        ),
        Mistake(
            "launched once",
            "The graph holds ten launches, and is to be launched `times` times: in a loop.",
            (("for _ in range(times):\n        ", ""),),
        ),
        Mistake(
            "one replay too many",
            "The ten launches have run once more than asked. What is launched ahead of a capture runs, too.",
            ((BEGIN, TEN + BEGIN), ("(times)", "(times + 1)")),
        ),
        Mistake(
            "`times` times `times`",
            "The loop over `times` stands in the capture and around the launch. One of the two is enough.",
            (("range(10)", "range(10 * times)"),),
        ),
        Mistake(
            "blocks are rounded down",
            "The last elements have no block: (x.size + 127) // 128 rounds up.",
            (("(x.size + 127) // 128", "max(1, x.size // 128)"),),
        ),
        Mistake(
            "too little in the graph",
            "A graph of one launch costs as much as the launch. All ten go into it.",
            ((("for _ in range(10):\n        ", ""), ("(times", "(10 * times")),),
        ),
        Mistake(
            "no graph",
            "200 launches of a kernel that takes less time than asking for it: the host is the bottleneck.",
            (((BEGIN, ""), (END + LOOP, ""), ("(10)", "(10 * times)")),),
        ),
    ),
)  # fmt: skip

"""A loop of the CPU made a kernel: each thread has one turn of it."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import sectors_per_request

BLOCK = 64
MEASURED = 4096
WARP, SECTOR = 32, 32
GUARD = "    i = cuda.grid(1)\n    if i < x.size:"
VALUE = "(x[i] - mean) * scale"
CUT = "min(max(value, -limit), limit)"


def _case(name: str, x: np.ndarray, mean: float, scale: float, limit: float) -> Case:
    wanted = np.clip((x - np.float32(mean)) * np.float32(scale), -limit, limit).astype(np.float32)
    return Case(name, (x, *map(np.float32, (mean, scale, limit)), Out(wanted)), (cover(x.size, BLOCK),), (BLOCK,))


def _sized(n: int, seed: int) -> Case:
    return _case(plural(n, "element"), numbers(n, seed), 0.5, 0.5, 2)


EXERCISE = Exercise(
    key="ch01.standardise",
    title="a loop becomes a kernel",
    language="numba",
    name="standardise",
    cases=lambda: [
        *(_sized(n, seed=n) for n in (1, 31, 64, 97, 128, 1000)),
        _case("97 elements, all alike", np.full(97, 2.5, np.float32), 2.5, 4, 1),
        _case("97 elements, hardly any cut off", numbers(97), 1, 0.125, 1),
    ],
    measured=lambda: _sized(MEASURED, seed=0),
    thread_of=thread_1d,
    budgets=(
        Budget(
            "idle lanes in each instruction", lambda p: WARP - p["lanes_per_instruction"], 4,
            "One instruction works for 32 lanes, if 32 threads come along.", "instructions",
        ),
        Budget(
            "instructions for 32 elements", lambda p: p["instructions"] / (MEASURED / WARP), 120,
            "Each element is computed once, by one thread.", "instructions",
        ),
        Budget(
            "sectors per load request", sectors_per_request("read"), 4.2, "32 neighbouring floats are four sectors.",
        ),
        Budget(
            "load sectors an element", lambda p: p["global_load_sectors"] / MEASURED, 4 / SECTOR,
            "32 neighbouring floats are four sectors.",
        ),
    ),
    hints=(
        "Which element would the loop have reached when this thread's turn came? Ask cuda.grid(1).",
        "The `for` goes; `if i < x.size:` stays in its place. Keep the value in a variable until it is done.",
        "Inside the guard: value = (x[i] - mean) * scale, then out[i] = min(max(value, -limit), limit).",
    ),
    solution="""
@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        value = (x[i] - mean) * scale
        out[i] = min(max(value, -limit), limit)
""",
    why="The grid is the loop: its index comes from cuda.grid(1), its end from the guard. Three operations are one "
    "kernel, so each element is loaded once and stored once, and what lies between stays in a register.",
    stretch="as three kernels, one an operation, how many sectors would move? Profile them, and add up.",
    mistakes=(
        Mistake(
            "cut off before it is scaled",
            "The limits are for the result: subtract, multiply, and only then cut off.",
            ((("(x[i]", "(min(max(x[i], -limit), limit)"), (CUT, "value")),),
        ),
        Mistake(
            "cut off on one side only",
            "min(…, limit) holds the top, max(…, -limit) the bottom. Both are needed.",
            ((CUT, "min(value, limit)"), (CUT, "max(value, -limit)")),
        ),
        Mistake(
            "min and max swapped",
            "Every result is the same limit, whatever x is. max(value, -limit) lifts what is too low, min(…, limit) "
            "lowers what is too high; and the value comes from x.",
            ((CUT, "max(min(value, -limit), limit)"), (CUT, "min(max(value, limit), -limit)")),
        ),
        Mistake(
            "what is beyond a limit is lost",
            "A value above the limit becomes the limit, one below -limit becomes -limit. They are neither 0 nor left "
            "unwritten.",
            (
                (f"out[i] = {CUT}", "if -limit <= value <= limit:\n            out[i] = value"),
                (f"out[i] = {CUT}", "if -limit < value < limit:\n            out[i] = value"),
                (CUT, "value if abs(value) <= limit else 0"), (CUT, "value if abs(value) < limit else 0"),
            ),
        ),
        Mistake(
            "the value is computed in another way",
            "First the mean is taken away from x[i], then the difference is multiplied by scale: "
            "(x[i] - mean) * scale.",
            tuple((VALUE, other) for other in (
                "x[i] * scale - mean", "x[i] - mean * scale", "(x[i] - mean) / scale", "(x[i] + mean) * scale",
                "(mean - x[i]) * scale", "x[i] * scale", "x[i] - mean",
            )),
        ),
        Mistake(
            "never cut off",
            "What is beyond the limit, on either side, should come out as the limit.",
            ((CUT, "value"),),
        ),
        Mistake(
            "one thread does it all",
            "The loop still runs, in one thread alone, of the grid or of its warp. The warp issues every instruction "
            "for 1 lane of 32. Drop the loop: the grid is the loop, and cuda.grid(1) its index.",
            (
                (GUARD, "    for i in range(x.size if cuda.grid(1) == 0 else 0):"),
                (GUARD, "    t = cuda.grid(1)\n    for i in range(t, min(t + 32, x.size) if t % 32 == 0 else 0):"),
            ),
        ),
        Mistake(
            "every thread does everything",
            "All lanes are busy, with the same work: each thread goes through the whole array. Give each thread the "
            "one element that cuda.grid(1) names.",
            ((GUARD, "    for i in range(x.size):"),),
        ),
        Mistake(
            "each thread still has a loop",
            "Right, but threads go through several elements: they do what others do as well, or leave gaps between "
            "one another. The loop goes; give each thread the one element that cuda.grid(1) names.",
            (
                (GUARD, "    for i in range(cuda.grid(1), x.size):"),
                (GUARD, "    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):"),
                (GUARD, "    t = cuda.grid(1)\n    for i in range(4 * t, min(4 * t + 4, x.size)):"),
            ),
        ),
        Mistake(
            "loaded again",
            "Right, but x[i] is loaded once more after a store: the compiler cannot know that out is another array "
            "than x. Keep the value in a variable.",
            ((f"out[i] = {CUT}", "out[i] = min(value, limit)\n        out[i] = max(out[i], -limit) + 0 * x[i]"),),
        ),
    ),
)  # fmt: skip

"""Exercises of the start notebook: a first kernel of one's own in each language."""

from __future__ import annotations

import statistics

import numpy as np

from helpers.exercises import Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.exercises import mistakes as known

BLOCK = 64
SIZES = (1, 31, 64, 97, 128, 1000)


def _relu_cases() -> list[Case]:
    def case(name, x):
        return Case(name, (x, Out(np.maximum(x, 0))), (cover(x.size, BLOCK),), (BLOCK,))

    return [case(plural(n, "element"), numbers(n, seed=n)) for n in SIZES] + [
        case("97 elements, all negative", -np.abs(numbers(97))),
        case("97 elements, all alike", np.full(97, 2.5, np.float32)),
    ]


def _leaky_cases() -> list[Case]:
    def case(name, x, slope):
        wanted = np.where(x > 0, x, np.float32(slope) * x).astype(np.float32)
        arguments = (x, Out(wanted), np.float32(slope), np.int32(x.size))
        return Case(name, arguments, (cover(x.size, BLOCK),), (BLOCK,))

    return [case(f"{plural(n, 'element')}, slope 0.25", numbers(n, seed=n), 0.25) for n in SIZES] + [
        case("97 elements, slope 0", numbers(97), 0.0),
        case("97 elements, slope 2", numbers(97), 2.0),
        case("97 elements, slope -0.5", numbers(97), -0.5),
    ]


def _typical_cases() -> list[Case]:
    def case(name, times, warmup):
        return Case(name, (list(times), warmup), expected=statistics.median(times[warmup:]))

    return [
        case("one run, none to warm up", [3.0], 0),
        case("three runs after one to warm up", [90.0, 3.0, 1.0, 2.0], 1),
        case("an outlier among five", [9.0, 9.0, 2.0, 1.0, 40.0, 3.0, 2.5], 2),
        case("four runs, so that two stand in the middle", [50.0, 1.0, 8.0, 2.0, 4.0], 1),
        case("a warm-up faster than what counts", [0.5, 6.0, 7.0, 5.0, 9.0, 8.0], 1),
        case("no warm-up, unsorted", [5.0, 1.0, 4.0, 2.0, 3.0], 0),
    ]


def _counted(case: Case) -> list[float]:
    times, warmup = case.arguments
    return times[warmup:]


FIRST_BLOCK = Mistake(
    "every block does the work of block 0",
    known.first_block_only,
    "threadIdx starts again at 0 in every block. A thread's place in the whole grid is "
    "blockIdx.x * blockDim.x + threadIdx.x (in Numba: cuda.grid(1)).",
)

NO_GUARD = Mistake(
    "no guard",
    known.out_of_bounds,
    "The grid is made of whole blocks, so the last block has more threads than there are elements left. "
    "Each thread must ask whether its element exists before it touches it.",
)

EXERCISES = (
    Exercise(
        key="ch00.relu",
        title="ReLU in Numba",
        language="numba",
        name="relu",
        cases=_relu_cases,
        thread_of=thread_1d,
        mistakes=(
            FIRST_BLOCK,
            NO_GUARD,
            Mistake(
                "that is the absolute value",
                known.gives(lambda case: np.abs(case.arguments[0])),
                "Negative numbers should become 0; yours come back positive.",
            ),
            Mistake(
                "min for max",
                known.gives(lambda case: np.minimum(case.arguments[0], 0)),
                "What is above 0 became 0, and what is below came through. Take the larger of x[i] and 0.",
            ),
            Mistake(
                "negative numbers come through",
                known.gives(lambda case: case.arguments[0]),
                "The copy works; now replace what is below 0 by 0.",
            ),
            Mistake(
                "negative numbers leave their element unwritten",
                lambda evidence: known.untouched_somewhere(evidence) and not known.tail_missing(evidence),
                "The guard must not depend on the value: an element that should be 0 has to be written too.",
            ),
        ),
        hints=(
            "Which one element belongs to this thread? Ask cuda.grid(1).",
            "One thread, one element: guard with `if i < x.size:`, then assign to out[i].",
            "Inside the guard: out[i] = max(x[i], 0.0).",
        ),
        solution="""
@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(x[i], 0.0)
""",
        why=(
            "cuda.grid(1) is blockIdx.x * blockDim.x + threadIdx.x. The guard keeps the threads of the last "
            "block that "
            "have no element away from memory. max writes every element, so nothing is left of the 0xFF "
            "bytes."
        ),
        stretch="make it clip at 6 as well (ReLU6) without a second if.",
    ),
    Exercise(
        key="ch00.leaky",
        title="leaky ReLU in CUDA C",
        language="cuda",
        name="leaky_relu",
        cases=_leaky_cases,
        thread_of=thread_1d,
        mistakes=(
            FIRST_BLOCK,
            NO_GUARD,
            Mistake(
                "that is max(x, slope * x)",
                known.gives(lambda case: np.maximum(case.arguments[0], case.arguments[2] * case.arguments[0])),
                "max(x, slope * x) is leaky ReLU only while slope is at most 1. Compare x with 0 instead.",
            ),
            Mistake(
                "the slope is not used",
                known.gives(lambda case: np.maximum(case.arguments[0], 0)),
                "That is plain ReLU: below 0 the answer is slope * x.",
            ),
            Mistake(
                "the slope in place of a product",
                known.gives(lambda case: np.where(case.arguments[0] > 0, case.arguments[0], case.arguments[2])),
                "Below 0 you write the slope itself. The answer there is slope * x[i].",
            ),
            Mistake(
                "everything is scaled",
                known.gives(lambda case: case.arguments[2] * case.arguments[0]),
                "Positive numbers stay as they are: choose with x[i] > 0 ? … : ….",
            ),
            Mistake(
                "the slope is on the wrong side",
                known.gives(lambda case: np.where(case.arguments[0] > 0, case.arguments[2], 1) * case.arguments[0]),
                "You scale the positive numbers; the negative ones should be scaled.",
            ),
        ),
        hints=(
            "The index is blockIdx.x * blockDim.x + threadIdx.x; the size comes as the last argument.",
            "Guard with `if (i < n)`. Inside, choose between x[i] and slope * x[i] with ?:.",
            "out[i] = x[i] > 0 ? x[i] : slope * x[i];",
        ),
        solution="""
extern "C" __global__
void leaky_relu(const float* x, float* out, float slope, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] > 0 ? x[i] : slope * x[i];
}
""",
        why=(
            "A C pointer does not know its length, so n travels as an argument and the guard uses it. The "
            "?: compares "
            "with 0, which is right for every slope."
        ),
        stretch="give each channel a slope of its own (PReLU): slopes[i % channels].",
    ),
    Exercise(
        key="ch00.typical",
        title="the typical time",
        language="python",
        name="typical",
        cases=_typical_cases,
        mistakes=(
            Mistake(
                "that is the mean",
                known.gives(lambda case: sum(_counted(case)) / len(_counted(case))),
                "One slow run pulls a mean as far as it likes. The median stays where most runs are.",
            ),
            Mistake(
                "the mean, with the warm-up in it",
                known.gives(lambda case: sum(case.arguments[0]) / len(case.arguments[0])),
                "Two beliefs at once: that the first runs are like the others, and that a mean will do. Drop the first "
                "`warmup` times, then take the median.",
            ),
            Mistake(
                "that is the slowest run",
                known.gives(lambda case: max(_counted(case))),
                "The slowest run says what else the machine had to do, not what is typical.",
            ),
            Mistake(
                "that is the fastest run",
                known.gives(lambda case: min(_counted(case))),
                "The fastest run says what is possible, not what is typical.",
            ),
            Mistake(
                "the warm-up counts",
                known.gives(lambda case: statistics.median(case.arguments[0])),
                "The first `warmup` runs paid for compiling and filling caches: drop them before you take the median.",
            ),
            Mistake(
                "sorted before the warm-up is dropped",
                known.gives(lambda case: statistics.median(sorted(case.arguments[0])[case.arguments[1] :])),
                "Sorting first moves the warm-up runs away from the front, and drops the fastest runs in their place.",
            ),
            Mistake(
                "the middle of the runs as they came",
                known.gives(lambda case: _counted(case)[len(_counted(case)) // 2]),
                "The median is the middle of the *sorted* times.",
            ),
            Mistake(
                "wrong for an even number of runs",
                lambda evidence: all(o.ok == (len(_counted(o.case)) % 2 == 1) for o in evidence.outcomes),
                "With four runs two stand in the middle: the median is half their sum.",
            ),
        ),
        hints=(
            "Which runs count? Slice them off before you do anything else.",
            "Sort what is left and take the middle; of an even number, half the sum of the two in the middle.",
            "statistics.median(times[warmup:]) does both.",
        ),
        solution="""
def typical(times, warmup):
    counted = sorted(times[warmup:])
    middle = len(counted) // 2
    return (counted[middle] + counted[-middle - 1]) / 2
""",
        why=(
            "Warm-up runs are the first ones, so they go before the order is lost by sorting. In a sorted list the "
            "places `middle` and `-middle - 1` are the same for an odd number of runs, and the two in the middle for "
            "an even one."
        ),
        stretch="return the middle half as well, from the first quartile to the third. Why does benchmark show it?",
    ),
)

"""Exercises of the start notebook: a first kernel of one's own in each language."""

from __future__ import annotations

import statistics
from types import SimpleNamespace

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.checking.one_a_thread import FIRST_BLOCK, GAPS, LAST_LEFT_OUT, NO_GUARD, NOTHING_RETURNED, WRONG_INDEX
from helpers.checking.one_a_thread import by_sign as _by_sign

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


def _fixed_slope(evidence) -> bool:
    """What is positive is right, and what is negative is scaled by one number, the same in all cases."""
    factors = []
    for o in evidence.outcomes:
        if o.got is None or (o.wrong & (o.case.arguments[0] > 0)).any():
            return False
        below = o.case.arguments[0] < 0
        factors += list(o.got[below] / o.case.arguments[0][below])
    return bool(factors) and np.allclose(factors, factors[0])


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
        case("six runs after two to warm up, unsorted", [7.0, 8.0, 3.0, 30.0, 2.0, 6.0, 1.0, 9.0], 2),
    ]


def _counted(case: Case) -> list[float]:
    times, warmup = case.arguments
    return times[warmup:]


def _middle_two(times: list[float]) -> float:
    return (times[len(times) // 2] + times[-(len(times) // 2) - 1]) / 2


def _gives_where(has_value, wrong):
    """In every case where `has_value(case)`, the function gives what `wrong(case)` does, in some of them no median."""

    def when(evidence) -> bool:
        seen = [o for o in evidence.outcomes if has_value(o.case)]
        return known.gives(wrong)(SimpleNamespace(outcomes=seen))

    return when


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
            WRONG_INDEX,
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
                lambda e: _by_sign(e) and any((o.case.arguments[0][o.untouched] < 0).any() for o in e.outcomes),
                "The guard must not depend on the value: an element that should be 0 has to be written too.",
            ),
            Mistake(
                "positive numbers leave their element unwritten",
                _by_sign,
                "What is below 0 became 0; what is above it has to be written too, as it is.",
            ),
            Mistake(
                "that is the slope of ReLU",
                known.gives(lambda case: case.arguments[0] > 0),
                "1 above 0 and 0 below is how steep ReLU is. Asked is its value: x[i] itself above 0.",
            ),
            Mistake(
                "clipped at 6 as well",
                known.gives(lambda case: np.clip(case.arguments[0], 0, 6)),
                "That is ReLU6, the way further. Plain ReLU leaves what is above 0 as it is.",
            ),
            Mistake(
                "the fractions are lost",
                known.gives(lambda case: np.maximum(np.trunc(case.arguments[0]), 0)),
                "int() cuts off what is behind the point. The data is float32, and so is the result.",
            ),
            LAST_LEFT_OUT,
            GAPS,
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
            WRONG_INDEX,
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
            Mistake(
                "slope * x is added on both sides",
                known.gives(lambda case: np.maximum(case.arguments[0], 0) + case.arguments[2] * case.arguments[0]),
                "Above 0 that counts x[i] a second time, slope-fold. Only min(x[i], 0) is to be scaled.",
            ),
            Mistake(
                "negative numbers come through",
                known.gives(lambda case: case.arguments[0]),
                "The copy works; below 0 the answer is slope * x[i].",
            ),
            Mistake(
                "a slope of your own",
                _fixed_slope,
                "Below 0 you scale by the same number in every case. The slope comes as an argument, and changes.",
            ),
            Mistake(
                "some numbers leave their element unwritten",
                _by_sign,
                "Only one side of 0 is written. Whatever its sign, each x[i] has an out[i].",
            ),
            LAST_LEFT_OUT,
            GAPS,
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
                "the middle two of the runs as they came",
                known.gives(lambda case: _middle_two(_counted(case))),
                "Two times are averaged as they came. The median is the middle of the *sorted* times.",
            ),
            Mistake(
                "the last runs are dropped",
                known.gives(lambda case: statistics.median(case.arguments[0][: -case.arguments[1] or None])),
                "Warm-up runs come first: times[warmup:] is what follows them.",
            ),
            Mistake(
                "only the warm-up counts",
                _gives_where(
                    lambda case: case.arguments[1],
                    lambda case: statistics.median(case.arguments[0][: case.arguments[1]]),
                ),
                "times[:warmup] are the runs to drop. Those that count are times[warmup:].",
            ),
            Mistake(
                "one run too few is dropped",
                known.gives(lambda case: statistics.median(case.arguments[0][max(case.arguments[1] - 1, 0) :])),
                "The first that counts has the index `warmup`, as the first of all has the index 0: times[warmup:].",
            ),
            Mistake(
                "one run too many is dropped",
                _gives_where(lambda case: len(_counted(case)) > 1, lambda case: statistics.median(_counted(case)[1:])),
                "The first that counts has the index `warmup`, as the first of all has the index 0: times[warmup:].",
            ),
            Mistake(
                "half-way between fastest and slowest",
                known.gives(lambda case: (min(_counted(case)) + max(_counted(case))) / 2),
                "One slow run moves that as far as it likes. The median has as many runs below it as above.",
            ),
            Mistake(
                "wrong for an even number of runs",
                lambda evidence: all(o.ok == (len(_counted(o.case)) % 2 == 1) for o in evidence.outcomes),
                "With an even number of runs two stand in the middle: the median is half their sum.",
            ),
            Mistake(
                "two in the middle of an odd number of runs",
                _gives_where(
                    lambda case: len(_counted(case)) > 1,
                    lambda case: sum(sorted(_counted(case))[(n := len(_counted(case)) // 2) - 1 : n + 1]) / 2,
                ),
                "With an odd number of runs one stands in the middle, and it is the median: no sum is needed.",
            ),
            NOTHING_RETURNED,
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

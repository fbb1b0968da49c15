"""The typical of several times: warm-up dropped, then the median."""

from __future__ import annotations

import statistics

from helpers.checking.exercise import Case, Exercise, Mistake

RUNS = (
    ("one run, none to warm up", [3.0], 0),
    ("three runs after one to warm up", [90.0, 3.0, 1.0, 2.0], 1),
    ("an outlier among five", [9.0, 9.0, 2.0, 1.0, 40.0, 3.0, 2.5], 2),
    ("four runs, so that two stand in the middle", [50.0, 1.0, 8.0, 2.0, 4.0], 1),
    ("a warm-up faster than what counts", [0.5, 6.0, 7.0, 5.0, 9.0, 8.0], 1),
    ("no warm-up, unsorted", [5.0, 0.5, 4.0, 2.5, 3.0], 0),
    ("six runs after two to warm up, unsorted", [7.0, 8.0, 3.0, 30.0, 2.0, 6.0, 1.0, 9.0], 2),
)
SLICE = "times[warmup:]"
MEDIAN = "(counted[middle] + counted[-middle - 1]) / 2"


def _case(name: str, times: list[float], warmup: int) -> Case:
    return Case(name, (list(times), warmup), expected=statistics.median(times[warmup:]))


EXERCISE = Exercise(
    key="ch00.typical",
    title="the typical time",
    language="python",
    name="typical",
    cases=lambda: [_case(*row) for row in RUNS],
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
    why="Warm-up runs are the first ones, so they go before the order is lost by sorting. In a sorted list the places "
    "`middle` and `-middle - 1` are the same for an odd number of runs, and the two in the middle for an even one.",
    stretch="return the middle half as well, from the first quartile to the third. Why does benchmark show it?",
    mistakes=(
        Mistake(
            "that is the mean",
            "One slow run pulls a mean as far as it likes. The median stays where most runs are.",
            ((MEDIAN, "sum(counted) / len(counted)"),),
        ),
        Mistake(
            "the mean, with the warm-up in it",
            "Two beliefs at once: that the first runs are like the others, and that a mean will do. Drop the first "
            "`warmup` times, then take the median.",
            ((MEDIAN, "sum(times) / len(times)"),),
        ),
        Mistake(
            "that is the slowest or the fastest run",
            "The slowest run says what else the machine had to do, the fastest what is possible. Neither is typical.",
            ((MEDIAN, "counted[-1]"), (MEDIAN, "counted[0]"), (MEDIAN, "max(times)"), (MEDIAN, "min(times)")),
        ),
        Mistake(
            "half-way between fastest and slowest",
            "One slow run moves that as far as it likes. The median has as many runs below it as above.",
            ((MEDIAN, "(counted[0] + counted[-1]) / 2"),),
        ),
        Mistake(
            "the warm-up counts",
            "The first `warmup` runs paid for compiling and filling caches: drop them before you take the median.",
            ((SLICE, "times"),),
        ),
        Mistake(
            "sorted before the warm-up is dropped",
            "Sorting first moves the warm-up runs away from the front, and drops the fastest runs in their place.",
            (("sorted(times[warmup:])", "sorted(times)[warmup:]"),),
        ),
        Mistake(
            "not sorted",
            "Here the middle is taken of the runs as they came. The median is the middle of the *sorted* times.",
            (("sorted", "list"), (("sorted", "list"), (MEDIAN, "counted[middle]"))),
        ),
        Mistake(
            "other runs are dropped than the first",
            "Warm-up runs come first, and `warmup` says how many. The first that counts has the index `warmup`, as the "
            "first of all has the index 0: times[warmup:] are those that follow.",
            (
                (SLICE, "times[: len(times) - warmup]"), (SLICE, "times[: -warmup or None]"),
                (SLICE, "times[max(warmup - 1, 0) :]"), (SLICE, "times[:-warmup]"), (SLICE, "times[:warmup]"),
                (f"sorted({SLICE})", "sorted(times[warmup + 1 :]) or [float('nan')]"), (SLICE, "times[warmup + 1 :]"),
                (f"sorted({SLICE})", "sorted(times[:warmup]) or [float('nan')]"), (SLICE, "times[1:]"),
            ),
        ),
        Mistake(
            "wrong for an even number of runs",
            "With an even number of runs two stand in the middle: the median is half their sum.",
            ((MEDIAN, "counted[middle]"), (MEDIAN, "counted[-middle - 1]")),
        ),
        Mistake(
            "two in the middle of an odd number of runs",
            "With an odd number of runs one stands in the middle, and it is the median: no sum is needed.",
            (("-middle - 1", "middle - 1"),),
        ),
    ),
)  # fmt: skip

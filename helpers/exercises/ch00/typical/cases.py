from __future__ import annotations

import statistics

from helpers.checking.exercise import Case

RUNS = (
    ("one run, none to warm up", [3.0], 0),
    ("three runs after one to warm up", [90.0, 3.0, 1.0, 2.0], 1),
    ("an outlier among five", [9.0, 9.0, 2.0, 1.0, 40.0, 3.0, 2.5], 2),
    ("four runs, so that two stand in the middle", [50.0, 1.0, 8.0, 2.0, 4.0], 1),
    ("a warm-up faster than what counts", [0.5, 6.0, 7.0, 5.0, 9.0, 8.0], 1),
    ("no warm-up, unsorted", [5.0, 0.5, 4.0, 2.5, 3.0], 0),
    ("six runs after two to warm up, unsorted", [7.0, 8.0, 3.0, 30.0, 2.0, 6.0, 1.0, 9.0], 2),
)


def _case(name: str, times: list[float], warmup: int) -> Case:
    return Case(name, (list(times), warmup), expected=statistics.median(times[warmup:]))


def cases() -> list[Case]:
    return [_case(*row) for row in RUNS]

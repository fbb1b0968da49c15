from __future__ import annotations

from helpers.checking.exercise import Case

# name, (start, end) of each kernel in ms, (begin, end) of the sample period in ms
GIVEN: tuple[tuple[str, list[tuple[int, int]], tuple[int, int]], ...] = (
    ("one kernel for half of the period", [(100, 600)], (0, 1000)),
    ("nothing runs", [], (0, 500)),
    ("two kernels, one after the other", [(0, 100), (300, 500)], (0, 1000)),
    ("two kernels side by side", [(100, 600), (200, 700)], (0, 1000)),
    ("a short kernel inside a long one", [(0, 800), (100, 200), (400, 900)], (0, 1000)),
    ("one begins before the period and one ends after it", [(50, 250), (900, 1300)], (200, 1000)),
    ("kernels before and after the period", [(0, 100), (300, 350), (600, 900)], (200, 600)),
    ("in no order, one kernel three times over", [(700, 900), (100, 300), (700, 900), (0, 150), (700, 900)], (0, 1250)),
)  # fmt: skip


def _share(kernels: list, period: tuple) -> int:
    begin, end = period
    ran = sum(any(start <= moment < stop for start, stop in kernels) for moment in range(begin, end))
    return round(100 * ran / (end - begin))


def cases() -> list[Case]:
    return [Case(name, (kernels, period), expected=_share(kernels, period)) for name, kernels, period in GIVEN]

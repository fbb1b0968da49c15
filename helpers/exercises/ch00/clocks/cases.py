from __future__ import annotations

from helpers.checking.exercise import Case

GIVEN = (  # name, microseconds of a launch, microseconds of a kernel, launches
    ("one long kernel", 5, 30, 1),
    ("one short kernel", 5, 2, 1),
    ("six long kernels", 5, 30, 6),
    ("six short kernels", 5, 2, 6),
    ("kernels as long as their launches", 4, 4, 3),
    ("two kernels that do nothing", 6, 0, 2),
    ("a thousand kernels, a little longer than their launches", 5, 7, 1000),
)


def _read(launch: int, kernel: int, launches: int) -> tuple[int, int]:
    free = 0
    for number in range(launches):
        free = max(free, (number + 1) * launch) + kernel
    return launches * launch, free


def cases() -> list[Case]:
    return [Case(name, tuple(given), expected=_read(*given)) for name, *given in GIVEN]

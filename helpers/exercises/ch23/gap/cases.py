from __future__ import annotations

from helpers.checking.exercise import Case, plural

TRACES: tuple[tuple[tuple[float, float], ...], ...] = (
    ((0.0, 2.0), (3.0, 2.0), (9.0, 1.0), (12.0, 1.0)),
    ((9.0, 1.0), (0.0, 2.0), (12.0, 1.0), (3.0, 2.0)),
    ((0.0, 10.0), (2.0, 1.0), (11.0, 1.0), (15.0, 1.0)),
    ((5.0, 1.0), (7.0, 1.0)),
    ((4.0, 1.0),),
    (),
    ((1.0, 2.0), (3.0, 1.0), (4.0, 5.0)),
    ((1.0, 8.0), (2.0, 3.0), (10.0, 2.0), (11.0, 4.0), (17.5, 1.0)),
)


def _gap(kernels: tuple[tuple[float, float], ...]) -> tuple[float | None, float]:
    where, longest, busy = None, 0.0, float("inf")
    for number, (start, seconds) in enumerate(sorted(kernels)):
        if start - busy > longest:
            where, longest = busy, start - busy
        busy = max(busy, start + seconds) if number else start + seconds
    return where, longest


def cases() -> list[Case]:
    return [
        Case(f"trace {number}, of {plural(len(kernels), 'kernel')}", (list(kernels),), expected=_gap(kernels))
        for number, kernels in enumerate(TRACES, 1)
    ]

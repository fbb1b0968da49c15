from __future__ import annotations

from helpers.checking.exercise import Case, plural

MACHINES = (
    (20.0, 10.0, 0), (20.0, 10.0, 1), (20.0, 10.0, 2), (20.0, 10.0, 4), (5.0, 10.0, 0), (5.0, 10.0, 1),
    (10.0, 10.0, 0), (10.0, 10.0, 1), (64.0, 4.0, 8), (30.0, 10.0, 2),
)  # fmt: skip
"""Milliseconds to load a batch, milliseconds of a step, workers."""


def _bound(load: float, step: float, workers: int) -> tuple[float, str]:
    each = load / workers if workers else load
    return (max(each, step) if workers else load + step), "loader" if each > step else "step"


def cases() -> list[Case]:
    return [
        Case(f"loading {load:g}, step {step:g}, {plural(workers, 'worker')}", (load, step, workers),
             expected=_bound(load, step, workers))
        for load, step, workers in MACHINES
    ]  # fmt: skip

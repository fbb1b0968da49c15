from __future__ import annotations

from helpers.checking.exercise import Case

ROUNDS = (
    ((10.0, 10.0, 10.0, 10.0, 10.0), (8.0, 7.0, 7.5, 6.0, 9.0)),
    ((10.0, 10.0, 10.0, 10.0, 10.0), (9.0, 10.0, 9.5, 8.0, 9.75)),
    ((10.0, 20.0, 10.0, 40.0, 10.0, 10.0, 10.0, 10.0, 10.0), (8.0, 16.5, 8.25, 30.0, 7.0, 90.0, 8.5, 9.0, 7.5)),
    ((8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0), (7.0, 9.0, 8.0, 6.0, 8.5, 7.5, 9.5, 8.25, 5.0)),
    ((8.0, 4.0, 16.0, 8.0, 32.0), (8.0, 3.0, 16.0, 7.0, 30.0)),
    ((2.0, 2.0, 2.0, 2.0, 2.0), (2.5, 3.0, 2.25, 4.0, 2.75)),
    ((40.0, 10.0, 30.0, 20.0, 50.0), (36.0, 9.5, 24.0, 17.0, 35.0)),
)  # seconds before, seconds after, a round each


def _decision(before: tuple[float, ...], after: tuple[float, ...]) -> tuple[float, float, bool]:
    quotients = sorted(late / early for early, late in zip(before, after, strict=True))
    return quotients[1], quotients[-2], quotients[-2] < 1


def cases() -> list[Case]:
    return [
        Case(f"measurement {number}, of {len(before)} rounds", (list(before), list(after)),
             expected=_decision(before, after))
        for number, (before, after) in enumerate(ROUNDS, 1)
    ]  # fmt: skip

from __future__ import annotations

from helpers.checking.exercise import Case

GIVEN = ((1, 64), (2, 64), (3, 64), (6, 64), (8, 64), (21, 64), (64, 64), (100, 1000), (0, 8), (37, 37))  # most, limit


def _trials(most: int, limit: int) -> list[int]:
    tried, good, bad, batch = [], 0, limit + 1, 1
    while batch <= limit:
        tried.append(batch)
        if batch > most:
            bad = batch
            break
        good, batch = batch, 2 * batch
    while bad - good > 1:
        middle = (good + bad) // 2
        tried.append(middle)
        good, bad = (middle, bad) if middle <= most else (good, middle)
    return tried


def _case(most: int, limit: int) -> Case:
    return Case(f"up to {most} fit, at most {limit} are wanted", (most, limit), expected=_trials(most, limit))


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import loaded_for_needed, stored_for_needed

BLOCK = 64


def _case(fours: np.ndarray) -> Case:
    order = np.argsort(-np.abs(fours), axis=1, kind="stable")
    wanted = fours.copy()
    np.put_along_axis(wanted, order[:, 2:], 0, axis=1)
    count = len(fours)
    arguments = (fours, Out(wanted), np.int32(count))
    return Case(plural(count, "group"), arguments, (cover(count, BLOCK),), (BLOCK,))


def _drawn(count: int) -> np.ndarray:
    return np.clip(numbers((count, 4), seed=count), -2, 2)  # many are equal


def cases() -> list[Case]:
    few = np.array([[1, 2, 3, 4]], np.float32)
    return [_case(few), *(_case(_drawn(count)) for count in (31, 64, 97, 1000))]


def measured() -> Case:
    return _case(_drawn(2048))


MEASURES = {
    "bytes loaded for each byte of the weights": loaded_for_needed,
    "bytes stored for each byte of the result": stored_for_needed,
}

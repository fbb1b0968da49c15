from __future__ import annotations

from helpers.checking.exercise import Case

REQUESTS = (
    (1, 0), (1, 1), (1, 8), (2, 0), (2, 1), (2, 2), (3, 0), (3, 5), (0, 9), (5, 2), (7, 31), (8, 0), (8, 7), (9, 3),
    (32, 0), (100, 1),
)  # fmt: skip


def _case(stride: int, offset: int) -> Case:
    touched = {4 * (lane * stride + offset) // 32 for lane in range(32)}
    return Case(f"stride {stride}, offset {offset}", (stride, offset), expected=len(touched))


def cases() -> list[Case]:
    return [_case(*request) for request in REQUESTS]

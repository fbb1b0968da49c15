from __future__ import annotations

from helpers.checking.exercise import Case

PLACES = (
    (0, 128), (31, 128), (32, 128), (127, 128), (128, 128), (300, 128),
    (49, 48), (80, 48), (95, 48), (96, 48), (33, 33), (65, 33), (99, 100), (1000, 256), (7, 1),
)  # fmt: skip


def _case(i: int, threads: int) -> Case:
    block, thread = divmod(i, threads)
    return Case(f"element {i}, blocks of {threads}", (i, threads), expected=(block, *divmod(thread, 32)))


def cases() -> list[Case]:
    return [_case(*each) for each in PLACES]

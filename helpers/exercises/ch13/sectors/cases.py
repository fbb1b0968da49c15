from __future__ import annotations

from helpers.checking.exercise import Case

GIVEN = (
    # which index x chooses, strides of a, strides of b: in floats, one row further and one column further
    ("row", (256, 1), (256, 1)),
    ("column", (256, 1), (256, 1)),
    ("row", (1, 256), (256, 1)),
    ("column", (256, 1), (1, 256)),
    ("row", (1, 256), (1, 256)),
    ("column", (1, 512), (1, 512)),
    ("row", (3, 1), (90, 1)),
    ("column", (70, 1), (180, 2)),
    ("column", (70, 1), (90, 0)),
    ("row", (8, 1), (8, 1)),
    ("row", (7, 1), (7, 1)),
)


def _average(x: str, a: tuple[int, int], b: tuple[int, int]) -> float:
    apart = (a[0], 0) if x == "row" else (0, b[1])
    return sum(len({4 * lane * each // 32 for lane in range(32)}) for each in apart) / 2


def _case(x: str, a: tuple[int, int], b: tuple[int, int]) -> Case:
    return Case(f"x chooses the {x}, strides {a} and {b}", (x, a, b), expected=_average(x, a, b))


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]

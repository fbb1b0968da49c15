from __future__ import annotations

from helpers.checking.exercise import Case

# name, pixels in, kernel, stride, padding
ROWS = (
    ("one pixel becomes a kernel", 1, 4, 1, 0),
    ("DCGAN's doubling", 4, 4, 2, 1),
    ("an uneven kernel", 7, 3, 2, 1),
    ("a kernel as wide as the stride", 5, 2, 2, 0),
    ("the stride leaves gaps", 3, 2, 3, 0),
    ("the same size", 8, 3, 1, 1),
    ("a wide kernel", 6, 5, 2, 2),
    ("a stride of three, even", 2, 6, 3, 0),
    ("padding more than one", 9, 7, 3, 2),
)


def _case(name: str, n: int, kernel: int, stride: int, padding: int) -> Case:
    return Case(name, (n, kernel, stride, padding), expected=((n - 1) * stride - 2 * padding + kernel,
                                                              kernel % stride == 0))  # fmt: skip


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]

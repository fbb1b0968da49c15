from __future__ import annotations

from helpers.checking.exercise import Case

STACKS: tuple[tuple[str, tuple[int, list[tuple[int, int, int]]]], ...] = (
    ("one 5×5", (28, [(5, 1, 0)])),
    ("one 3×3 of stride 2", (17, [(3, 2, 1)])),
    ("two 3×3", (16, [(3, 1, 1), (3, 1, 1)])),
    ("LeNet at 16 × 16", (16, [(5, 1, 2), (2, 2, 0), (5, 1, 0), (2, 2, 0)])),
    ("the first layers of a ResNet", (224, [(7, 2, 3), (3, 2, 1), (3, 1, 1), (3, 1, 1)])),
    ("no layer at all", (9, [])),
)


def _field(size: int, layers: list[tuple[int, int, int]]) -> tuple[int, int]:
    sees, jump = 1, 1
    for kernel, stride, padding in layers:
        size = (size + 2 * padding - kernel) // stride + 1
        sees = sees + (kernel - 1) * jump
        jump = jump * stride
    return size, sees


def cases() -> list[Case]:
    return [Case(name, arguments, expected=_field(*arguments)) for name, arguments in STACKS]

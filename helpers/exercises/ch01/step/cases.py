from __future__ import annotations

from helpers.checking.exercise import Case

STEPS: tuple[tuple[str, list[int], int, set[int]], ...] = (
    ("one kernel of 20 µs", [20], 5, set()),
    ("four long kernels", [20, 20, 20, 20], 5, set()),
    ("four short kernels", [2, 2, 2, 2], 5, set()),
    ("four long kernels, .item() after each", [20, 20, 20, 20], 5, {0, 1, 2, 3}),
    ("four long kernels, .item() after the second", [20, 20, 20, 20], 5, {1}),
    ("short and long ones", [2, 30, 1, 1, 1, 9], 4, set()),
    ("long, then many short ones", [40, 1, 1, 1, 1, 1, 1, 1], 8, set()),
    ("short and long ones, .item() after the second", [2, 30, 1, 1, 1, 9], 4, {1}),
    ("launches that cost nothing", [3, 4, 5], 0, {0}),
    ("no kernel at all", [], 5, set()),
)


def _case(name: str, kernels: list[int], launch: int, waits: set[int]) -> Case:
    host = gpu = 0
    for number, kernel in enumerate(kernels):
        host += launch
        gpu = max(gpu, host) + kernel
        host = gpu if number in waits else host
    return Case(f"{name}, {launch} µs a launch", (kernels, launch, waits), expected=gpu)


def cases() -> list[Case]:
    return [_case(*row) for row in STEPS]

from __future__ import annotations

from helpers.checking.exercise import Case

EXTRA = {"SGD": 0, "momentum": 1, "Adam": 2}  # numbers in FP32 that the optimiser keeps for each parameter
GIVEN = (  # parameters, optimiser, mixed precision
    (1, "SGD", False), (1, "Adam", False), (1000, "momentum", False), (1000, "SGD", True), (7, "momentum", True),
    (12_345, "Adam", True), (124_439_808, "Adam", False),
)  # fmt: skip


def _case(parameters: int, optimiser: str, mixed: bool) -> Case:
    weights = 2 + 2 + 4 if mixed else 4 + 4
    name = f"{parameters:,} parameters, {optimiser}, {'mixed precision' if mixed else 'FP32'}"
    return Case(name, (parameters, optimiser, mixed), expected=parameters * (weights + 4 * EXTRA[optimiser]))


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]

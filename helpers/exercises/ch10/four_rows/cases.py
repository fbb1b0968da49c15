from __future__ import annotations

from helpers.checking.exercise import Case, Out, cover, numbers

ROWS, BLOCK = 4, 128
COUNTED = (64, 512)  # inputs, outputs
WEIGHTS = COUNTED[0] * COUNTED[1]


def _case(inputs: int, outputs: int) -> Case:
    x, weights = numbers((ROWS, inputs), seed=inputs), numbers((inputs, outputs), seed=outputs + 1)
    name = f"{inputs} to {outputs}"
    return Case(name, (x, weights, Out(x @ weights)), (cover(outputs, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (7, 31), (32, 128), (5, 131), (40, 300), (64, 17))]


def measured() -> Case:
    return _case(*COUNTED)


MEASURES = {
    "bytes loaded for each weight": lambda profile: 32 * profile["global_read_sectors"] / WEIGHTS,
    "FP64 operations": lambda profile: profile["flops_fp64"],
}

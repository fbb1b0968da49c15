from __future__ import annotations

from functools import partial

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers
from helpers.checking.measures import conflicts_per_shared_request

TILE = 16
SHAPES = ((1, 1, 1), (1, 5, 13), (40, 1, 7), (16, 16, 32), (13, 37, 18), (33, 17, 50))


def _case(samples: int, outputs: int, inputs: int, *, seed: int = 0) -> Case:
    dy = numbers((samples, outputs), seed=seed or samples + outputs)
    a = numbers((samples, inputs), seed=(seed or samples + inputs) + 1)
    name = f"{samples} × {outputs} gradients, {samples} × {inputs} inputs"
    return Case(name, (dy, a, Out(dy.T @ a)), (cover(inputs, TILE), cover(outputs, TILE)), (TILE, TILE))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [
        (1, 9, int(dice.integers(2, 40))),
        (int(dice.integers(2, 60)), 1, 3),
        tuple(map(int, dice.integers(17, 50, 3))),
    ]
    whole = tuple(TILE * int(each) for each in dice.integers(3, 6, 3))
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(64, 48, 80)


MEASURES = {
    "bank conflicts per shared request": partial(conflicts_per_shared_request, most=48),
}

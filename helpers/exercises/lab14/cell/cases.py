from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers
from helpers.checking.measures import total
from helpers.exercises.lab14 import shared

SIZES = ((1, 1), (1, 33), (3, 5), (7, 64), (37, 20), (5, 100))
MEASURED = (128, 96)
ACROSS, DOWN, BLOCKS = 32, 4, 2


def _case(batch: int, hidden: int, seed: int = 1) -> Case:
    from_input = shared.sums(batch, 4 * hidden, seed)
    from_state = numbers((batch, 4 * hidden), seed + 1) / 8
    b_ih, b_hh = (numbers(4 * hidden, seed + k) / 8 for k in (2, 3))
    c = numbers((batch, hidden), seed + 4) / 4
    kept = np.concatenate(shared.stepped(from_input + from_state + b_ih + b_hh, c), axis=1).astype(np.float32)
    grid = (cover(hidden, ACROSS), BLOCKS)
    return Case(shared.name(batch, hidden), (from_input, from_state, b_ih, b_hh, c, Out(kept)), grid, (ACROSS, DOWN))


def drawn(dice: np.random.Generator) -> list[Case]:
    return [*(_case(*size) for size in shared.sizes(dice)), _case(*MEASURED, int(dice.integers(1, 10**6)))]


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(*MEASURED)


MEASURES = {
    "FP64 operations": total("flops_fp64"),
}

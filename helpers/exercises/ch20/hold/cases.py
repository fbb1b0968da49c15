from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import sectors_per_request

BLOCK = 128
ROWS, COLUMNS = 32, 128


def _case(batch: int, hidden: int, step: int) -> Case:
    dice = np.random.default_rng(batch * hidden)
    new, old = numbers((batch, hidden), seed=batch), numbers((batch, hidden), seed=batch + 9)
    lengths = dice.integers(1, 2 * step + 3, batch).astype(np.int32)
    lengths[: min(batch, 2)] = (step, step + 1)[: min(batch, 2)]  # the two that tell < from <=
    wanted = np.where((step < lengths)[:, None], new, old)
    arguments = (new, old, lengths, Out(wanted), np.int32(step), np.int32(batch), np.int32(hidden))
    name = f"{plural(batch, 'sequence')} of {plural(hidden, 'unit')}, step {step}"
    return Case(name, arguments, (cover(batch * hidden, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 1, 3), (2, 33, 0), (3, 5, 4), (7, 64, 9), (64, 7, 5), (5, 100, 2))]


def measured() -> Case:
    return _case(ROWS, COLUMNS, 10)


MEASURES = {
    "sectors per store request": sectors_per_request("write"),
    "sectors loaded for 4,096 units": lambda profile: profile["global_read_sectors"],
}

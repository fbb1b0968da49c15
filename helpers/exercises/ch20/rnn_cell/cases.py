from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 128
ROWS, COLUMNS = 32, 128


def _case(batch: int, hidden: int) -> Case:
    xw, hu = (numbers((batch, hidden), seed=batch + k) / 4 for k in (0, 50))
    bias = numbers(hidden, seed=hidden) / 8
    wanted = np.tanh(xw + hu + bias).astype(np.float32)
    size = batch * hidden
    arguments = (xw, hu, bias, Out(wanted), np.int32(batch), np.int32(hidden))
    return Case(f"{plural(batch, 'sequence')} of {plural(hidden, 'unit')}", arguments, (cover(size, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (1, 33), (3, 5), (7, 64), (64, 7), (5, 100))]


def measured() -> Case:
    return _case(ROWS, COLUMNS)


MEASURES = {
    "bytes stored for each hidden unit": lambda profile: profile["global_write_bytes"] / (ROWS * COLUMNS),
    "sectors loaded for 4,096 hidden units": lambda profile: profile["global_read_sectors"],
}

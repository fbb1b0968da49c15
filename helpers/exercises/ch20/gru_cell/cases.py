from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 128
ROWS, COLUMNS = 32, 128


def _case(batch: int, hidden: int) -> Case:
    xw, hu = (numbers((batch, 3 * hidden), seed=batch + k) / 4 for k in (0, 50))
    h_old = numbers((batch, hidden), seed=hidden) / 8
    by_gate = zip(np.split(xw, 3, axis=1), np.split(hu, 3, axis=1), strict=True)
    (x_r, h_r), (x_z, h_z), (x_n, h_n) = by_gate
    r, z = 1 / (1 + np.exp(-(x_r + h_r))), 1 / (1 + np.exp(-(x_z + h_z)))
    wanted = ((1 - z) * np.tanh(x_n + r * h_n) + z * h_old).astype(np.float32)
    arguments = (xw, hu, h_old, Out(wanted), np.int32(batch), np.int32(hidden))
    name = f"{plural(batch, 'sequence')} of {plural(hidden, 'unit')}"
    return Case(name, arguments, (cover(batch * hidden, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (1, 33), (3, 5), (7, 64), (64, 7), (5, 100))]


def measured() -> Case:
    return _case(ROWS, COLUMNS)


MEASURES = {
    "bytes stored for each hidden unit": lambda profile: profile["global_write_bytes"] / (ROWS * COLUMNS),
    "sectors loaded for 4,096 hidden units": lambda profile: profile["global_read_sectors"],
}

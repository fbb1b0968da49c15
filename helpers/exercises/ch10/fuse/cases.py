from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096
GAIN, SHIFT = np.float32(0.25), np.float32(0.5)


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    y = (GAIN * x + SHIFT).astype(np.float32)
    wanted = (y * y * (3 - 2 * y)).astype(np.float32)
    arguments = (x, np.zeros(n, np.float32), Out(wanted), GAIN, SHIFT)
    return Case(plural(n, "element"), arguments, (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 128, 131, 1000, 1021)]


def measured() -> Case:
    return _case(COUNTED)


MEASURES = {
    "bytes stored for each element": lambda profile: profile["global_write_bytes"] / COUNTED,
    "bytes of all sectors for each element": lambda profile: (
        32 * (profile["global_read_sectors"] + profile["global_write_sectors"]) / COUNTED
    ),
    "FP64 operations": lambda profile: profile["flops_fp64"],
}

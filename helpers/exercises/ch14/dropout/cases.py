from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096


def _case(size: int, keep: float) -> Case:
    x, residual = numbers(size, seed=size), numbers(size, seed=size + 1)
    mask = (np.random.default_rng(size).random(size) < keep).astype(np.uint8)
    scale = np.float32(1 / keep)
    wanted = (residual + np.where(mask, x * scale, 0)).astype(np.float32)
    arguments = (x, mask, residual, Out(wanted), np.int32(size), scale)
    return Case(f"{plural(size, 'element')}, {keep:.0%} kept", arguments, (cover(size, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 1.0), (33, 0.5), (128, 0.8), (131, 0.25), (1000, 0.5))]


def measured() -> Case:
    return _case(COUNTED, 0.5)


MEASURES = {
    "bytes stored for each element": lambda profile: profile["global_write_bytes"] / COUNTED,
    "sectors loaded for 4,096 elements": lambda profile: profile["global_read_sectors"],
}

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096


def _case(size: int) -> Case:
    gate, up, d_out = (numbers(size, seed=size + k) for k in range(3))
    g = gate.astype(np.float64)
    s = 1 / (1 + np.exp(-g))
    d_gate, d_up = d_out * up * s * (1 + g * (1 - s)), d_out * g * s
    both = Out(np.stack([d_gate, d_up]).astype(np.float32))
    return Case(plural(size, "element"), (gate, up, d_out, both), (cover(size, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(size) for size in (1, 31, 128, 131, 1000)]


def measured() -> Case:
    return _case(COUNTED)


MEASURES = {
    "sectors loaded for 4,096 elements": lambda profile: profile["global_read_sectors"],
    "bytes stored for each element": lambda profile: profile["global_write_bytes"] / COUNTED,
    "FP64 operations": lambda profile: profile["flops_fp64"],
}

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers

SHAPES = ((16, 16, 16), (16, 64, 16), (32, 48, 32), (48, 80, 64), (64, 64, 16), (16, 112, 48))


def _case(m: int, n: int, depth: int) -> Case:
    a = numbers((m, depth), seed=m).astype(np.float16)
    b = numbers((depth, n), seed=n + 50).astype(np.float16)
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    sizes = (np.int32(m), np.int32(n), np.int32(depth))
    name = f"({m} × {depth}) by ({depth} × {n})"
    return Case(name, (a, b, Out(wanted), *sizes), (cover(n, 64), m // 16), (128,))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(32, 80, 64)


MEASURES = {
    "FLOP of tensor cores for (32 × 64) by (64 × 80)": lambda profile: abs(
        profile["flops_tensor_fp16"] - 2 * 32 * 80 * 64
    ),
}

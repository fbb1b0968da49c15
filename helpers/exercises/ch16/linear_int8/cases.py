from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out


def _case(m: int, n: int, depth: int) -> Case:
    dice = np.random.default_rng(depth + n)
    x = dice.integers(-4, 5, (m, depth)).astype(np.float16)
    w = dice.integers(-127, 128, (n, depth)).astype(np.int8)
    scale = dice.uniform(0.01, 0.1, n).astype(np.float32)
    out = (x.astype(np.float32) @ w.astype(np.float32).T) * scale
    arguments = (x, w, scale, Out(out), np.int32(n), np.int32(depth))
    return Case(f"{m} × {n} results, depth {depth}", arguments, (n // 64, m // 64), (128,))


def cases() -> list[Case]:
    return [_case(64, 64, 64), _case(64, 128, 128), _case(128, 64, 192)]

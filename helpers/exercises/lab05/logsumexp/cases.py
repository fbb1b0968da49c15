from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

WARP = 32


def _case(rows: int, n: int, seed: int = 0) -> Case:
    x = numbers((rows, n), seed=seed or n) + np.float32(200) * (np.arange(rows) % 3 - 1).astype(np.float32)[:, None]
    x[1::4, n // 2] += 150  # so far above the rest that nothing else may be taken out
    most = x.max(axis=1).astype(np.float64)
    wanted = (most + np.log(np.exp(x - most[:, None]).sum(axis=1))).astype(np.float32)
    return Case(f"{plural(rows, 'row')} of {plural(n, 'element')}", (x, Out(wanted)), (cover(rows, 4),), (4 * WARP,))


def drawn(dice: np.random.Generator) -> list[Case]:
    seeds = dice.integers(1, 10**6, 4)
    sizes = [(1, int(dice.integers(2, 32))), (int(dice.integers(5, 12)), int(dice.integers(33, 200))), (3, 32)]
    cases = [_case(*size, seed=int(seed)) for size, seed in zip(sizes, seeds, strict=False)]
    # Whole rounds of a warp in the case that is counted: where lanes end in different rounds, a compiler that unrolls
    # their loop shifts some of them, and sectors are loaded again for it.
    return [*cases, _case(int(dice.integers(5, 9)), WARP * int(dice.integers(20, 30)), int(seeds[-1]))]


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (2, 31), (5, 97), (4, 32), (7, 501))]


def measured() -> Case:
    return _case(6, 1024)

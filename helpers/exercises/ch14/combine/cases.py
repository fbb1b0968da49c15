from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, plural

BLOCK, COUNTED = 64, (256, 8)


def _case(rows: int, pieces: int, low: int = -200, high: int = 200) -> Case:
    dice = np.random.default_rng(rows + pieces)
    m = (dice.integers(low * 4, high * 4, (rows, pieces)) / 4).astype(np.float32)
    m[:, -1] = m[:, 0] + np.float32(0.5)  # near one another, so that both count
    sums = (1 + dice.integers(0, 40, (rows, pieces)) / 4).astype(np.float32)
    largest = m.max(axis=1)
    total = (sums * np.exp(m.astype(np.float64) - largest[:, None])).sum(axis=1).astype(np.float32)
    name = f"{plural(rows, 'row')} of {plural(pieces, 'piece')}"
    return Case(name, (m, sums, Out(np.stack([largest, total], axis=1))), (cover(rows, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(1, 1), _case(1, 2), _case(33, 5, -200, -100), _case(64, 3), _case(130, 7)]


def measured() -> Case:
    return _case(*COUNTED)


MEASURES = {
    "FP64 operations": lambda profile: profile["flops_fp64"],
    "load requests of a warp for each piece": lambda profile: (
        profile["global_read_requests"] / profile.counters.warps / COUNTED[1]
    ),
}

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 64


def _case(queries: int, keys: int) -> Case:
    s, dp = numbers((queries, keys), seed=keys), numbers((queries, keys), seed=keys + 1)
    wide = s.astype(np.float64)
    m = wide.max(axis=1)
    L = m + np.log(np.exp(wide - m[:, None]).sum(axis=1))
    p = np.exp(wide - L[:, None])
    D = (p * dp).sum(axis=1)
    wanted = (p * (dp - D[:, None])).astype(np.float32)
    arguments = (s, L.astype(np.float32), dp, D.astype(np.float32), Out(wanted), np.int32(queries), np.int32(keys))
    name = f"{queries} {'query' if queries == 1 else 'queries'}, {plural(keys, 'key')}"
    return Case(name, arguments, (cover(queries * keys, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 1), (1, 5), (2, 3), (7, 16), (33, 9), (13, 31))]


def measured() -> Case:
    return _case(COUNTED, COUNTED)


MEASURES = {
    "exponentials for each score": lambda profile: profile["special_functions"] / COUNTED**2,
    "bytes of all sectors for each score": lambda profile: (
        32 * (profile["global_read_sectors"] + profile["global_write_sectors"]) / COUNTED**2
    ),
}

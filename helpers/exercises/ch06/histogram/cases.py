from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, plural

BLOCK, BLOCKS = 128, 4


def _case(n: int, bins: int, hot: int | None = None) -> Case:
    values = np.random.default_rng(n).integers(0, bins, n, np.int32)
    if hot is not None:
        values[:] = hot
    wanted = np.bincount(values, minlength=bins).astype(np.int32)
    name = f"{plural(n, 'value')} in {plural(bins, 'bin')}" + ("" if hot is None else ", all in one")
    arguments = (values, Out(wanted, initial=np.zeros(bins, np.int32)), np.int32(n), np.int32(bins))
    return Case(name, arguments, (BLOCKS,), (BLOCK,))


def cases() -> list[Case]:
    return [
        _case(1, 1),
        _case(31, 7),
        _case(1000, 64, hot=5),
        _case(1021, 61),
        _case(916, 64),
        _case(4096, 64),  # of 916, a few threads of the last block have a second value
    ]


def measured() -> Case:
    return _case(8192, 64)


MEASURES = {
    "global atomic requests for 8,192 values": lambda profile: profile["global_update_requests"],
}

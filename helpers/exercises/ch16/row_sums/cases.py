from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural
from helpers.checking.measures import load_requests_for_needed
from vgpu.tools.steps.dependencies import Chain

TILE = 128


def _case(rows: int, tiles: int) -> Case:
    x = numbers((rows, TILE * tiles), seed=rows + tiles)
    name = f"{plural(rows, 'row')} of {plural(tiles, 'tile')}"
    return Case(name, (x, Out(x.sum(1)), np.int32(tiles)), (rows,), (32,))


def waits_alone(chain: Chain) -> int:
    """How often a warp waits for global memory while nothing else that it asked for is in flight."""
    found, under_way = 0, set[int]()
    for number, link in enumerate(chain.links):
        waited = under_way & set(link.needs)
        under_way -= waited
        found += bool(waited) and not under_way
        if link.space == "global" and link.op == "load":
            under_way.add(number)
    return found


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 1), (1, 2), (3, 3), (5, 8), (2, 5))]


def measured() -> Case:
    return _case(4, 16)


MEASURES = {
    "waits of a warp with no other copy in flight": waits_alone,
    "load requests for each 128 bytes": load_requests_for_needed,
    "instructions for 4 rows of 2,048 elements": lambda profile: profile["instructions"],
}

from __future__ import annotations

from helpers.checking.exercise import Case, Out, numbers, plural
from helpers.checking.measures import sectors_per_request

GRID, BLOCK = 2, 64


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    return Case(f"{plural(n, 'element')}, {GRID * BLOCK} threads", (x, Out(x * x)), (GRID,), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 63, 64, 127, 128, 129, 257, 1000)]


def measured() -> Case:
    return _case(4096)


MEASURES = {
    "stores per element": lambda profile: profile["global_write_bytes"] / (4 * 4096),
    "sectors per load request": sectors_per_request("read"),
    "load requests for 4,096 floats": lambda profile: profile["global_read_requests"],
}

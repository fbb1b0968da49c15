from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import sectors_per_request

BLOCK = 64
MEASURED = 4096
WARP = 32


def _case(name: str, x: np.ndarray, mean: float, scale: float, limit: float) -> Case:
    wanted = np.clip((x - np.float32(mean)) * np.float32(scale), -limit, limit).astype(np.float32)
    return Case(name, (x, *map(np.float32, (mean, scale, limit)), Out(wanted)), (cover(x.size, BLOCK),), (BLOCK,))


def _sized(n: int, seed: int) -> Case:
    return _case(plural(n, "element"), numbers(n, seed), 0.5, 0.5, 2)


def cases() -> list[Case]:
    return [
        *(_sized(n, seed=n) for n in (1, 31, 64, 97, 128, 1000)),
        _case("97 elements, all alike", np.full(97, 2.5, np.float32), 2.5, 4, 1),
        _case("97 elements, hardly any cut off", numbers(97), 1, 0.125, 1),
    ]


def measured() -> Case:
    return _sized(MEASURED, seed=0)


thread_of = thread_1d


MEASURES = {
    "idle lanes in each instruction": lambda p: WARP - p["lanes_per_instruction"],
    "instructions for 32 elements": lambda p: p["instructions"] / (MEASURED / WARP),
    "sectors per load request": sectors_per_request("read"),
    "load sectors an element": lambda p: p["global_load_sectors"] / MEASURED,
}

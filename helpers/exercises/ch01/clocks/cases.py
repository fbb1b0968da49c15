from __future__ import annotations

import math

from helpers.checking.exercise import Case, plural

WORK = (
    # chains, steps, lanes, latency
    (1, 100, 64, 4),
    (64, 100, 64, 4),
    (200, 10, 64, 4),
    (256, 10, 64, 4),
    (257, 10, 64, 4),
    (1000, 10, 64, 4),
    (5000, 32, 16, 5),
    (30, 7, 16, 1),
)


def _case(chains: int, steps: int, lanes: int, latency: int) -> Case:
    name = f"{plural(chains, 'chain')} of {steps} steps, {lanes} lanes, {plural(latency, 'clock')} of latency"
    return Case(name, (chains, steps, lanes, latency), expected=steps * max(latency, math.ceil(chains / lanes)))


def cases() -> list[Case]:
    return [_case(*row) for row in WORK]

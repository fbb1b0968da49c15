from __future__ import annotations

from helpers.checking.exercise import Case

# seconds of computing on one rank, bytes, ranks, latency, bytes a second
GIVEN = (
    (0.25, 10**8, 1, 1e-5, 10**9),
    (0.25, 10**8, 2, 1e-5, 10**9),
    (1.0, 4 * 10**8, 4, 0.0, 10**9),
    (0.5, 8 * 10**6, 64, 1e-3, 10**10),
    (0.23, 102_400_000, 256, 6e-6, 6.25 * 10**9),
)


def _case(seconds: float, nbytes: float, ranks: int, latency: float, bandwidth: float, *, strong: bool) -> Case:
    ring = 2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * nbytes / bandwidth
    computing = seconds / ranks if strong else seconds
    name = f"{'strong' if strong else 'weak'}, ranks: {ranks}, {seconds:g} s, {nbytes / 1e6:g} MB, "
    name += f"{1e6 * latency:g} µs, {bandwidth / 1e9:g} GB/s"
    return Case(name, (seconds, nbytes, ranks, latency, bandwidth, strong), expected=computing / (computing + ring))


def cases() -> list[Case]:
    return [_case(*row, strong=strong) for row in GIVEN for strong in (False, True)]

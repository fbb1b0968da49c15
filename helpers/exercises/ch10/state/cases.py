from __future__ import annotations

from helpers.checking.exercise import Case

PEAK, BANDWIDTH = 20e12, 2e12
MEASURED = (  # what, FLOP, bytes, seconds
    ("a large vector", 1e8, 2e9, 1.2e-3),
    ("a large product", 1e11, 1e9, 6e-3),
    ("a tiny vector", 1e4, 1e5, 5e-6),
    ("one block alone", 1e9, 4e9, 40e-3),
    ("many FLOPs, and one SM", 1e12, 1e9, 0.5),
    ("neither is busy for half of the time, both together are", 2e10, 1.8e9, 3e-3),
    ("memory busy for exactly half of the time", 1e8, 2e9, 2e-3),
    ("arithmetic busy for exactly half of the time", 4e10, 1e9, 4e-3),
    ("left of the ridge, many FLOPs all the same", 4e10, 5e9, 3e-3),
    ("right of the ridge, many bytes all the same", 6e10, 5e9, 4e-3),
)


def _state(flops: float, nbytes: float, seconds: float) -> str:
    moving, calculating = nbytes / BANDWIDTH, flops / PEAK
    if max(moving, calculating) < seconds / 2:
        return "latency"
    return "memory" if moving > calculating else "compute"


def _case(name: str, flops: float, nbytes: float, seconds: float) -> Case:
    return Case(name, (flops, nbytes, seconds, PEAK, BANDWIDTH), expected=_state(flops, nbytes, seconds))


def cases() -> list[Case]:
    return [_case(*row) for row in MEASURED]

from __future__ import annotations

from helpers.checking.exercise import Case
from vgpu.hardware import gpus

MOVES = (  # what, FLOP, bytes, the old GPU, the new one
    ("saxpy", 2 * 2**24, 12 * 2**24, "T4", "A100"),
    ("polynomial of degree 64", 128 * 2**24, 8 * 2**24, "T4", "A100"),
    ("polynomial of degree 64", 128 * 2**24, 8 * 2**24, "A100", "H100"),
    ("product of 1024 × 1024", 2 * 1024**3, 12 * 1024**2, "V100", "RTX 4090"),
    ("saxpy", 2 * 2**24, 12 * 2**24, "A100", "RTX 4090"),
    ("saxpy", 2 * 2**24, 12 * 2**24, "T4", "T4"),
)
IMAGINARY = (  # what, FLOP, bytes, (peak, bandwidth) of the old one and of the new one, how many times as fast
    ("right on the ridge, units 4 times as fast", 1e12, 1e11, (1e13, 1e12), (4e13, 1e12), 1.0),
    ("right on the ridge, memory 4 times as fast", 1e12, 1e11, (1e13, 1e12), (1e13, 4e12), 1.0),
    ("memory-bound first, compute-bound then", 1e12, 2e11, (1e13, 1e12), (2e13, 8e12), 4.0),
)


def _faster(flops: float, nbytes: float, old: tuple[float, float], new: tuple[float, float]) -> float:
    before, after = (max(flops / peak, nbytes / bandwidth) for peak, bandwidth in (old, new))
    return before / after


def _case(what: str, flops: int, nbytes: int, *names: str) -> Case:
    rows = [gpus.find(name) for name in names]
    old, new = ((row.fp32_flops, row.memory_bandwidth) for row in rows)
    given = (flops, nbytes, old, new)
    return Case(f"{what}, {names[0]} to {names[1]}", given, expected=_faster(*given))


def cases() -> list[Case]:
    return [
        *(_case(*move) for move in MOVES),
        *(Case(name, tuple(given), expected=gain) for name, *given, gain in IMAGINARY),
    ]

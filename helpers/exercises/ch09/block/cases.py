from __future__ import annotations

from helpers.checking.exercise import Case, plural
from vgpu.hardware import gpus
from vgpu.hardware.occupancy import occupancy

NEEDS = (  # registers and floats of a thread, GPUs, the fraction that is wanted
    (24, 0, ("T4", "RTX 3090", "H100"), 0.75),
    (24, 16, ("T4", "RTX 3090", "H100"), 1.0),
    (24, 16, ("A100", "RTX 4090", "B200"), 1.0),
    (64, 12, ("T4", "RTX 3090", "H100"), 0.5),
    (24, 80, ("T4", "RTX 3090", "H100"), 0.75),
    (72, 8, ("T4", "RTX 3090", "H100"), 0.75),
)


def _smallest(registers: int, floats: int, names: tuple[str, ...], wanted: float) -> int:
    for threads in range(32, 1025, 32):
        held = (occupancy(registers, 4 * floats * threads, threads, gpus.find(name)).fraction for name in names)
        if min(held) >= wanted:
            return threads
    return 0


def _case(registers: int, floats: int, names: tuple[str, ...], wanted: float) -> Case:
    name = f"{registers} registers, {plural(floats, 'float')} a thread, {wanted:.0%} on {', '.join(names)}"
    given = (registers, floats, names, wanted)
    return Case(name, given, expected=_smallest(*given))


def cases() -> list[Case]:
    return [_case(*need) for need in NEEDS]

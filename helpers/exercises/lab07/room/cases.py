from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case
from vgpu.hardware import gpus
from vgpu.hardware.gpus import GPU
from vgpu.hardware.occupancy import occupancy

MOST_REGISTERS, MOST_KIB = 255, 228


def _blocks(registers: int, kib: int, threads: int, gpu: GPU) -> int:
    return occupancy(registers, 1024 * kib, threads, gpu).blocks_per_sm


def _room(registers: int, kib: int, threads: int, gpu: GPU) -> tuple[int, int]:
    held = _blocks(registers, kib, threads, gpu)
    if not held:
        return 0, 0
    most = max(r for r in range(registers, MOST_REGISTERS + 1) if _blocks(r, kib, threads, gpu) == held)
    return most, max(k for k in range(kib, MOST_KIB + 1) if _blocks(registers, k, threads, gpu) == held)


def _case(registers: int, kib: int, threads: int, name: str) -> Case:
    gpu = gpus.find(name)
    what = f"{registers} registers, {kib} KiB, {threads} threads on {name}"
    return Case(what, (registers, kib, threads, gpu), expected=_room(registers, kib, threads, gpu))


def drawn(dice: np.random.Generator) -> list[Case]:
    found = [
        _case(int(dice.integers(16, 120)), int(dice.integers(0, 40)), 32 * int(dice.integers(1, 17)), str(name))
        for name in dice.choice(list(gpus.GPUS), 6)
    ]
    return [*found, _case(int(dice.integers(100, 255)), 0, 1024, "A100")]


def cases() -> list[Case]:
    return [
        _case(*needs)
        for needs in (
            (56, 0, 256, "A100"),
            (33, 20, 128, "A100"),
            (40, 7, 96, "RTX 4090"),
            (24, 30, 64, "H100"),
            (61, 3, 512, "T4"),
            (200, 0, 512, "A100"),
            (30, 60, 64, "A100"),
        )
    ]

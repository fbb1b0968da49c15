from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, cover, plural
from vgpu.hardware import gpus
from vgpu.hardware.gpus import GPU
from vgpu.hardware.occupancy import occupancy


def _launch(registers: int, floats: int, n: int, gpu: GPU) -> tuple[int, int]:
    held = {threads: occupancy(registers, 4 * floats * threads, threads, gpu) for threads in range(32, 1025, 32)}
    threads = max(held, key=lambda size: held[size].warps_per_sm)  # the first, and so the smallest, of the best
    return threads, min(held[threads].blocks_per_sm * gpu.sms, cover(n, threads))


def _case(registers: int, floats: int, n: int, name: str) -> Case:
    gpu = gpus.find(name)
    what = f"{registers} registers, {plural(floats, 'float')} a thread, {plural(n, 'element')} on {name}"
    return Case(what, (registers, floats, n, gpu), expected=_launch(registers, floats, n, gpu))


def _names(dice: np.random.Generator, count: int) -> list[str]:
    return [str(name) for name in dice.choice(list(gpus.GPUS), count)]


def drawn(dice: np.random.Generator) -> list[Case]:
    return [
        _case(int(dice.integers(16, 150)), int(dice.integers(0, 33)), int(10 ** dice.uniform(1, 7)), name)
        for name in _names(dice, 8)
    ] + [_full_blocks(dice)]


def _full_blocks(dice: np.random.Generator) -> Case:
    """So few elements that they are less than a wave, and as many as whole blocks have threads."""
    needs, name = (int(dice.integers(16, 60)), int(dice.integers(0, 9))), _names(dice, 1)[0]
    threads, blocks = _launch(*needs, 10**7, gpus.find(name))
    return _case(*needs, threads * int(dice.integers(2, max(3, min(blocks, 40)))), name)


def cases() -> list[Case]:
    return [
        _case(*needs)
        for needs in (
            (24, 0, 10**6, "A100"),
            (40, 16, 10**6, "RTX 4090"),
            (72, 8, 10**7, "H100"),
            (50, 20, 5000, "T4"),
            (36, 3, 97, "B200"),
            (32, 60, 10**5, "L4"),
            (90, 12, 10**6, "RTX 3090"),
            (32, 0, 1, "A100"),
            (24, 0, 6400, "A100"),
        )
    ]

from __future__ import annotations

from typing import Any

from helpers.checking.exercise import Case, plural
from vgpu.hardware import gpus
from vgpu.hardware.occupancy import occupancy

WANTED = (  # bytes under way in an SM, registers of a thread, threads of a block, bytes of an element, GPU
    (16384, 56, 256, 4, "A100"),
    (32768, 32, 128, 4, "H100"),
    (65536, 24, 128, 2, "B200"),
    (12288, 24, 256, 4, "V100"),
    (16384, 40, 96, 8, "A100"),
    (10000, 24, 1024, 1, "RTX 4090"),
    (8192, 24, 32, 4, "T4"),
    (1000, 24, 256, 4, "RTX 3090"),
    (8193, 32, 128, 4, "H100"),
)


def _elements(wanted: int, registers: int, threads: int, itemsize: int, name: str) -> int:
    at_once = occupancy(registers, 0, threads, gpus.find(name)).blocks_per_sm * threads * itemsize
    return -(-wanted // at_once)


def _case(*launch: Any) -> Case:
    wanted, registers, threads, itemsize, name = launch
    said = f"{wanted:,} bytes, {registers} registers, blocks of {threads}, {plural(itemsize, 'byte')} each on {name}"
    return Case(said, launch, expected=_elements(*launch))


def cases() -> list[Case]:
    return [_case(*launch) for launch in WANTED]

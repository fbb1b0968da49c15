from __future__ import annotations

from helpers.checking.exercise import Case, plural
from vgpu.hardware import gpus
from vgpu.hardware.occupancy import occupancy

KERNELS = (  # registers of a thread, bytes of shared memory, threads of a block, GPU
    (56, 0, 256, "A100"),
    (24, 0, 32, "A100"),
    (33, 0, 256, "A100"),
    (40, 0, 96, "A100"),
    (32, 32768, 256, "A100"),
    (37, 8192, 1024, "RTX 3090"),
    (24, 0, 80, "RTX 4090"),
    (32, 10800, 64, "T4"),
    (128, 40960, 128, "B200"),
    (96, 0, 1024, "H100"),
    (24, 0, 513, "A100"),
    (32, 19968, 128, "A100"),
    (32, 19969, 128, "A100"),
)


def _case(registers: int, shared_bytes: int, threads: int, name: str) -> Case:
    held = occupancy(registers, shared_bytes, threads, gpus.find(name))
    said = f"{registers} registers, {plural(shared_bytes, 'byte')} shared, {threads} threads on {name}"
    return Case(said, (registers, shared_bytes, threads, name), expected=held.blocks_per_sm)


def cases() -> list[Case]:
    return [_case(*kernel) for kernel in KERNELS]

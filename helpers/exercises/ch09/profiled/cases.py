from __future__ import annotations

from typing import Any

from helpers.checking.exercise import Case
from vgpu.hardware import gpus
from vgpu.hardware.occupancy import occupancy

LAUNCHES = (  # blocks, threads of a block, registers of a thread, bytes of shared memory, GPU
    (800, 512, 40, 0, "RTX 5090"),
    (64, 256, 56, 0, "A100"),
    (1000, 256, 56, 0, "A100"),
    (432, 256, 56, 0, "A100"),
    (54, 1024, 32, 0, "A100"),
    (300, 128, 168, 49152, "H100"),
    (7, 64, 24, 0, "T4"),
    (10000, 32, 24, 0, "RTX 3090"),
)


def _estimate(blocks: int, threads: int, registers: int, shared_bytes: int, name: str) -> float:
    gpu = gpus.find(name)
    held = occupancy(registers, shared_bytes, threads, gpu)
    return 100 * min(blocks / gpu.sms, held.blocks_per_sm) * threads / gpu.threads_per_sm


def _case(*launch: Any) -> Case:
    blocks, threads, registers, shared_bytes, name = launch
    shared = f", {shared_bytes:,} bytes shared" if shared_bytes else ""
    said = f"{blocks:,} blocks of {threads}, {registers} registers{shared} on {name}"
    return Case(said, launch, expected=_estimate(*launch))


def cases() -> list[Case]:
    return [_case(*launch) for launch in LAUNCHES]

from __future__ import annotations

import math

from helpers.checking.exercise import Case
from vgpu.hardware import gpus
from vgpu.tools.roofline import peak_flops

IMAGINARY = (
    ("an imaginary GPU with more bandwidth than arithmetic", 1e12, 1e13, 4),
    ("an imaginary GPU with its ridge at 16 FLOP/byte", 16e12, 1e12, 4),
    ("an imaginary GPU with its ridge at 16.5 FLOP/byte", 16.5e12, 1e12, 4),
)
UNITS = (("T4", "fp32", 4), ("A100", "fp32", 4), ("A100", "fp16_tensor", 2), ("H100", "fp16_tensor", 2))


def cases() -> list[Case]:
    rows = [(gpus.find(name), unit, itemsize) for name, unit, itemsize in UNITS]
    real = [(f"{row.name}, {unit}", peak_flops(row, unit), row.memory_bandwidth, size) for row, unit, size in rows]
    return [_case(*given) for given in (*IMAGINARY, *real)]


def _case(name: str, peak: float, bandwidth: float, itemsize: int) -> Case:
    width = 2 ** max(0, math.ceil(math.log2(itemsize * peak / bandwidth)))
    return Case(name, (peak, bandwidth, itemsize), expected=width)

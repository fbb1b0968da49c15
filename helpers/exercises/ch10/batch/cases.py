from __future__ import annotations

import math

from helpers.checking.exercise import Case
from vgpu.hardware import gpus
from vgpu.tools.roofline import peak_flops

LAYERS = (  # inputs, outputs, bytes of a number, GPU, units
    (1024, 4096, 2, "A100", "fp16_tensor"),
    (4096, 4096, 2, "H100", "fp16_tensor"),
    (4096, 14336, 1, "H100", "fp8_tensor"),
    (1024, 4096, 4, "A100", "fp32"),
    (64, 64, 2, "A100", "fp16_tensor"),
    (4096, 16, 4, "T4", "fp32"),
    (10, 2000, 4, "A100", "fp32"),
)


def _smallest(inputs: int, outputs: int, itemsize: int, ridge: float) -> int:
    weights = inputs * outputs
    gain = 2 * weights - ridge * itemsize * (inputs + outputs)
    return math.ceil(ridge * itemsize * weights / gain) if gain > 0 else 0


def _case(inputs: int, outputs: int, itemsize: int, name: str, units: str) -> Case:
    row = gpus.find(name)
    peak, bandwidth = peak_flops(row, units), row.memory_bandwidth
    given = (inputs, outputs, itemsize, peak, bandwidth)
    expected = _smallest(inputs, outputs, itemsize, peak / bandwidth)
    return Case(f"{inputs} to {outputs}, {units} of {name}", given, expected=expected)


IMAGINARY = (
    Case("64 to 64, exactly on a ridge of 16", (64, 64, 2, 16e12, 1e12), expected=32),
    Case("64 to 64, with far more bandwidth than arithmetic", (64, 64, 4, 1e12, 4e12), expected=1),
)


def cases() -> list[Case]:
    return [*(_case(*layer) for layer in LAYERS), *IMAGINARY]

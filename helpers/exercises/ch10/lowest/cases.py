from __future__ import annotations

from helpers.checking.exercise import Case
from vgpu.hardware import gpus
from vgpu.tools.roofline import peak_flops

UNITS = ("fp32", "fp64", "fp16_tensor")
ELEMENTS = 2**20
COUNTED: tuple[tuple[str, str, dict[str, int], int], ...] = (  # what, GPU, FLOP of each kind and bytes for an element
    ("a polynomial of degree 64 in FP32", "T4", {"fp32": 128}, 8),
    ("the same in FP64", "T4", {"fp32": 0, "fp64": 128}, 8),
    ("one operation in twenty is FP64", "T4", {"fp32": 608, "fp64": 32}, 8),
    ("one operation in twenty is FP64", "A100", {"fp32": 608, "fp64": 32}, 8),
    ("a transpose", "A100", {}, 8),
    ("a narrow product on tensor cores", "A100", {"fp16_tensor": 800}, 8),
    ("a wide product on tensor cores", "A100", {"fp16_tensor": 4000, "fp32": 60}, 8),
    ("a wide product, with more work on its results", "A100", {"fp16_tensor": 4000, "fp32": 300}, 8),
    (
        "three kinds of units, each busy nearly as long as the memory",
        "A100",
        {"fp16_tensor": 1200, "fp32": 72, "fp64": 36},
        8,
    ),
)


def _lowest(flops: dict[str, int], peaks: dict[str, float], nbytes: float, bandwidth: float) -> str:
    times = {"memory": nbytes / bandwidth, **{unit: count / peaks[unit] for unit, count in flops.items()}}
    return max(times, key=times.__getitem__)


def _case(what: str, name: str, counts: dict[str, int], nbytes: int) -> Case:
    row = gpus.find(name)
    flops = {unit: count * ELEMENTS for unit, count in counts.items()}
    peaks = {unit: peak_flops(row, unit) for unit in UNITS}
    given = (flops, peaks, nbytes * ELEMENTS, row.memory_bandwidth)
    return Case(f"{what}, {name}", given, expected=_lowest(*given))


def cases() -> list[Case]:
    return [_case(*row) for row in COUNTED]

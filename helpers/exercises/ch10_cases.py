"""Cases and budgets of the exercises on the roofline, and how mistakes show in them."""

from __future__ import annotations

import math

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Case, Out, cover, numbers, plural
from helpers.hardware import gpus
from helpers.results.roofline import peak_flops

BLOCK, COUNTED = 128, 4096
SIZES = (1, 31, 128, 131, 1000, 1021)
GAIN, SHIFT = np.float32(0.25), np.float32(0.5)
PRODUCTS = (
    (1, 1, 1, 4),
    (13, 37, 5, 8),
    (512, 512, 512, 4),
    (512, 512, 512, 2),
    (4096, 1, 4096, 2),
    (1, 4096, 4096, 2),
)
UNITS = (("T4", "fp32", 4), ("A100", "fp32", 4), ("A100", "fp16_tensor", 2), ("H100", "fp16_tensor", 2))


def product_case(rows: int, inner: int, columns: int, itemsize: int) -> Case:
    name = f"({rows} × {inner}) by ({inner} × {columns}), {plural(itemsize, 'byte')} each"
    arguments = (rows, inner, columns, itemsize)
    return Case(name, arguments, expected=intensity_of(*arguments))


def intensity_of(rows: int, inner: int, columns: int, itemsize: int) -> float:
    return 2 * rows * inner * columns / (itemsize * (rows * inner + inner * columns + rows * columns))


def product_of(formula):
    """A product's intensity by another formula of (rows, inner, columns, itemsize)."""
    return known.gives(lambda case: formula(*case.arguments))


def first_map(x: np.ndarray) -> np.ndarray:
    return (GAIN * x + SHIFT).astype(np.float32)


def second_map(y: np.ndarray) -> np.ndarray:
    return (y * y * (3 - 2 * y)).astype(np.float32)


def maps_of(formula):
    """What comes out where the maps are made of x, gain and shift in another way."""
    return known.gives(lambda case: formula(case.arguments[0], GAIN, SHIFT))


def fuse_case(n: int) -> Case:
    x = numbers(n, seed=n)
    arguments = (x, np.zeros(n, np.float32), Out(second_map(first_map(x))), GAIN, SHIFT)
    return Case(plural(n, "element"), arguments, (cover(n, BLOCK),), (BLOCK,))


def tile_cases() -> list[Case]:
    given = [
        ("an imaginary GPU with more bandwidth than arithmetic", 1e12, 1e13, 4),
        ("an imaginary GPU with its ridge at 16 FLOP/byte", 16e12, 1e12, 4),
        ("an imaginary GPU with its ridge at 16.5 FLOP/byte", 16.5e12, 1e12, 4),
    ]
    for name, unit, itemsize in UNITS:
        row = gpus.find(name)
        given.append((f"{name}, {unit}", peak_flops(row, unit), row.memory_bandwidth, itemsize))
    return [Case(name, given_to, expected=tile_of(*given_to)) for name, *given_to in map(tuple, given)]


def power_of(least: float) -> int:
    """The smallest power of two that is at least so much, and at least 1."""
    return 2 ** max(0, math.ceil(math.log2(least)))


def tile_of(peak: float, bandwidth: float, itemsize: int) -> int:
    return power_of(itemsize * peak / bandwidth)


def tiles_of(formula):
    """A tile by another formula of (peak, bandwidth, itemsize)."""
    return known.gives(lambda case: formula(*case.arguments))


def grown(short):
    """The first power of two that is no longer `short(width, peak, bandwidth, itemsize)`, as far as 2 ** 20."""
    powers = [2**n for n in range(21)]
    return tiles_of(lambda *given: next((width for width in powers if not short(width, *given)), powers[-1]))


def one_for_all(evidence) -> bool:
    return len(evidence.outcomes) > 1 and len({repr(o.got) for o in evidence.outcomes if o.error is None}) == 1


STORED = Budget(
    "bytes stored for each element",
    lambda profile: profile["global_write_bytes"] / COUNTED,
    4,
    "One float32 is the result. Whatever else is stored could have stayed in a register.",
    "global_store_sectors",
)
MOVED = Budget(
    "bytes of all sectors for each element",
    lambda profile: 32 * (profile["global_read_sectors"] + profile["global_write_sectors"]) / COUNTED,
    8.2,
    "4 bytes come and 4 go, if neighbouring lanes take neighbouring elements.",
    "global_load_sectors",
)
DOUBLE = Budget(
    "FP64 operations",
    lambda profile: profile["flops_fp64"],
    0,
    "A Python number such as 3 or 0.5 makes Numba calculate in float64. Write np.float32(3).",
    "flops_fp64",
)

from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, numbers, plural
from helpers.checking.measures import load_requests_for_needed, loaded_for_needed

THREADS, GPU = 128, "A100"
Shape = tuple[int, int, int, int, int]


def _case(rows: int, columns: int, offset: int, stride: int, blocks: int, eps: float = 0.5, seed: int = 0) -> Case:
    """x is a slice: row r begins at offset + r * stride of its storage, where all between the rows is NaN."""
    seed = seed or rows + columns
    x, residual, weight = (
        numbers(size, seed=seed + k) for k, size in enumerate(((rows, columns),) * 2 + ((columns,),))
    )
    storage = np.full(offset + (rows - 1) * stride + columns + 3, np.nan, np.float32)
    storage[offset + stride * np.arange(rows)[:, None] + np.arange(columns)] = x
    total = x.astype(np.float64) + residual
    scale = 1 / np.sqrt((total**2).mean(axis=1, keepdims=True) + np.float32(eps))
    wanted = np.stack([total, total * scale * weight]).astype(np.float32)
    sizes = np.int64(offset), np.int64(stride), np.int32(rows), np.int32(columns), np.float32(eps)
    name = f"{plural(rows, 'row')} of {plural(columns, 'column')}, offset {offset}, stride {stride}"
    return Case(name, (storage, residual, weight, Out(wanted), *sizes), (blocks,), (THREADS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd, even = 1 + 2 * int(dice.integers(0, 200)), 4 * int(dice.integers(5, 200))
    rows = int(dice.integers(7, 12))
    shapes: tuple[Shape, ...] = (
        (rows, even, int(dice.integers(1, 4)), even + 4 * int(dice.integers(1, 9)), 3),
        (rows, even, 4 * int(dice.integers(0, 9)), even + int(dice.integers(1, 4)), 2),
        (rows, odd, 0, 4 * odd, 4),
        (4 * int(dice.integers(5, 7)), 2048, 4 * int(dice.integers(1, 9)), 2048 + 4 * int(dice.integers(9, 99)), 4),
    )
    return [_case(*shape, 0.25, int(dice.integers(1, 10**6))) for shape in shapes]


SHAPES: tuple[Shape, ...] = (
    (1, 1, 0, 1, 1),
    (3, 5, 1, 7, 4),
    (7, 64, 4, 68, 2),
    (5, 132, 1, 136, 2),
    (4, 132, 8, 135, 1),
    (3, 97, 0, 100, 2),
    (6, 2048, 2048, 6144, 3),
)


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(24, 2048, 2048, 6144, 4)


def _wide_loads(profile: Cost) -> float:
    """Load requests for each 512 bytes, 16 for every lane, of the inputs."""
    return 4 * load_requests_for_needed(profile)


MEASURES = {
    "bytes loaded per byte needed": loaded_for_needed,
    "load requests per 512 bytes": _wide_loads,
    "registers a thread": lambda profile: profile.on(GPU).resources.registers,
    "bytes of local memory a thread": lambda profile: profile.on(GPU).resources.local_bytes,
}

"""What a kernel of the corpus is: its source, its inputs, its launch, and what NumPy says it leaves."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HEAD = 'extern "C" __global__ void k(const int* in, int* out) {\n    int i = threadIdx.x;\n'


@dataclass(frozen=True)
class Row:
    """One kernel, called `k` in CUDA C and in PTX.

    `make(random)` gives the arguments and {index of an argument: what it must hold}; for a kernel in Python the kernel
    comes first. What an argument must hold is an array, or a function that says of an array whether it is right.
    `variants` are (grid, block) of further launches or anything else that `make` takes as its second argument.
    """

    name: str
    feature: str
    make: Callable
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    source: str | None = None
    shared: int = 0
    rtol: float = 0.0
    atol: float = 0.0
    options: tuple[str, ...] = ("-std=c++17",)
    arch: str = "compute_80"
    gpu: str = ""  # the modelled GPU that has the feature; empty for the usual one
    cooperative: bool = False
    check: bool = False  # in the quick tier: one row a feature
    long: bool = False  # many steps of common instructions: interpreted and counted in the exhaustive tier only
    counts: bool = True  # both engines count alike; not where threads wait for one another
    in_order: bool = False  # wants lanes to meet again with no barrier between: a random schedule need not let them
    apart: tuple[str, ...] = ()  # beginnings of counters that they do not: a generic pointer counts as what it may be


ROWS: list[Row] = []
_MODULES = (
    "language", "arithmetic", "memory", "control", "warps", "atomics", "barriers", "sorting", "grids", "algebra",
    "called", "allocating", "in_python",
)  # fmt: skip


def rows() -> list[Row]:
    """All rows, in the order of their features."""
    for name in _MODULES:
        importlib.import_module(f"vgpu.tests.corpus.{name}")
    assert len({row.name for row in ROWS}) == len(ROWS), "two rows have one name"
    return ROWS


def _enter(make: Callable, grid, block, **options) -> Callable:
    feature = Path(make.__code__.co_filename).stem
    ROWS.append(Row(options.pop("name", make.__name__), feature, make, grid, block, **options))
    return make


def c(source: str, grid, block, **options) -> Callable:
    """Enter the decorated `make` under its name, with the CUDA C or PTX of the kernel `k`."""
    return lambda make: _enter(make, grid, block, source=source, **options)


def py(grid, block, **options) -> Callable:
    """Enter the decorated `make(random)`, which gives a function in Python, its arguments and what they must hold."""
    return lambda make: _enter(make, grid, block, **options)


def integers(n: int, low: int = 0, high: int = 100, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, n).astype(np.int32)


def each_thread(body: str, threads: int = 64, data=None, **options) -> Callable:
    """Enter a kernel of `in[i]` and `out[i]` for each thread `i` of a block.

    The decorated function says what thread `i` writes that reads `v`; it is called with both and, if it takes three
    arguments, with all data. `body` is put behind the kernel's head where it says HEAD.
    """
    data = integers(threads) if data is None else data

    def enter(answer):
        def make(random):
            every = (data.tolist(),) if answer.__code__.co_argcount == 3 else ()
            wanted = [answer(i, int(data[i % len(data)]), *every) for i in range(threads)]
            return (data.copy(), np.zeros(np.size(wanted), np.int32)), {1: np.ravel(wanted)}

        feature = Path(answer.__code__.co_filename).stem
        ROWS.append(Row(answer.__name__, feature, make, 1, threads, body.replace("HEAD", HEAD), **options))
        return answer

    return enter

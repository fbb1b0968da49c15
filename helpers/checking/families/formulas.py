"""A small search: by which index of blockIdx, threadIdx, blockDim and gridDim were just these elements written?

Each axis of the result has an index of its own. A formula is found where in every case, right or wrong, the elements
that were written are those that it gives.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from helpers.checking.examine import Evidence, Outcome
from helpers.checking.families.family import as_matrices, asked, left

# How an index is written, and what it is, of blockIdx b, threadIdx t, blockDim n and gridDim g.
Formula = Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]
INDICES: dict[str, Formula] = {
    "threadIdx.{x}": lambda b, t, n, g: t,
    "blockIdx.{x}": lambda b, t, n, g: b,
    "blockIdx.{x} + threadIdx.{x}": lambda b, t, n, g: b + t,
    "blockIdx.{x} * threadIdx.{x}": lambda b, t, n, g: b * t,
    "blockDim.{x} + threadIdx.{x}": lambda b, t, n, g: n + t,
    "blockIdx.{x} * blockDim.{x}": lambda b, t, n, g: b * n,
    "blockIdx.{x} * gridDim.{x} + threadIdx.{x}": lambda b, t, n, g: b * g + t,
    "threadIdx.{x} * blockDim.{x} + blockIdx.{x}": lambda b, t, n, g: t * n + b,
    "gridDim.{x} * blockDim.{x} + threadIdx.{x}": lambda b, t, n, g: g * n + t,
    "(blockIdx.{x} + 1) * blockDim.{x} + threadIdx.{x}": lambda b, t, n, g: (b + 1) * n + t,
    "blockIdx.{x} * blockDim.{x} + threadIdx.{x} + 1": lambda b, t, n, g: b * n + t + 1,
    "2 * (blockIdx.{x} * blockDim.{x} + threadIdx.{x})": lambda b, t, n, g: 2 * (b * n + t),
    "blockIdx.{x} * blockDim.{x} + threadIdx.{x}": lambda b, t, n, g: b * n + t,
    "blockIdx.{x} * (blockDim.{x} - 1) + threadIdx.{x}": lambda b, t, n, g: b * (n - 1) + t,
}
OWN = "blockIdx.{x} * blockDim.{x} + threadIdx.{x}"
WIDTHS = (1, 2, 4, 8)
"""Elements that a thread may write side by side."""


def of_written(evidence: Evidence, cases: list[Outcome]) -> str | None:
    """The formulas of what was written, in words; None where there is none."""
    seen = [o for o in evidence.outcomes if o.error is None]
    if len(seen) < len(evidence.outcomes) or not cases or not evidence.exercise.asks_for_a_kernel:
        return None
    if len(cases[0].case.block) > 1:
        return _of_matrix(seen)
    for width, (words, formula) in product(WIDTHS, INDICES.items()):
        if all(_agree(o, _covered(o, 0, width, formula, o.wrong.size)) for o in seen):
            found = words.format(x="x")
            return found if width == 1 else f"{width} * ({found}) and the {width - 1} after it"
    for told, shapes in as_matrices(seen):
        for words, formula in INDICES.items():
            if all(
                _agree(o, np.tile(_covered(o, 0, 1, formula, w), h)) for o, (h, w) in zip(seen, shapes, strict=True)
            ):
                return f"{words.format(x='x')} of each row{told}"
    return None


def _agree(o: Outcome, reached: np.ndarray) -> bool:
    """Whether just the elements that were reached are written, of those that are to be."""
    return bool(((reached == ~left(o).ravel()) | ~asked(o).ravel()).all())


def first_block(evidence: Evidence, cases: list[Outcome]) -> str | None:
    """Whether just the first block's elements were written, one or several a thread."""
    own = INDICES["threadIdx.{x}"]
    if not cases or len(cases[0].case.block) > 1 or any(o.case.grid[0] == 1 for o in cases):
        return None
    for width in WIDTHS:
        if all(_agree(o, _covered(o, 0, width, own, o.wrong.size)) for o in cases):
            o = cases[0]
            count = min(o.wrong.size, width * o.case.block[0])
            return f"With {o.case.name}, the first {count:,} elements are right, and no others are written."
    return None


def _of_matrix(seen: list[Outcome]) -> str | None:
    for told, shapes in as_matrices(seen):
        for (row, of_row), (column, of_column) in product(INDICES.items(), INDICES.items()):
            if all(_agree(o, _outer(o, of_row, of_column, shape)) for o, shape in zip(seen, shapes, strict=True)):
                return f"in row {row.format(x='y')} and column {column.format(x='x')}{told}"
    return None


def _outer(o: Outcome, of_row: Formula, of_column: Formula, shape: tuple[int, ...]) -> np.ndarray:
    return np.outer(_covered(o, 1, 1, of_row, shape[0]), _covered(o, 0, 1, of_column, shape[1])).ravel()


def _covered(o: Outcome, axis: int, width: int, formula: Formula, size: int) -> np.ndarray:
    """Which of `size` elements the threads' indices along one axis of the launch reach."""
    blocks, n = o.case.grid[axis], o.case.block[axis]
    b, t = np.divmod(np.arange(blocks * n), n)
    first = width * formula(b, t, n, blocks)
    places = (first[:, None] + np.arange(width)).ravel()
    reached = np.zeros(size, bool)
    reached[places[(places >= 0) & (places < size)]] = True
    return reached

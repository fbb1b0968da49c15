"""Count the kernels of the ladders, model their times, and set them beside what was published.

A kernel is run where its counts are the same for every block (or grow evenly with the depth of the product), on as
few blocks as show that, and its counts are multiplied up: `tests/models/test_time_model.py` runs whole problems and
finds the same counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from helpers.workbook.authoring.validation.hardware import HARDWARE
from helpers.workbook.authoring.validation.kernels import ELEMENTWISE, MATMULS, REDUCTIONS, TRANSPOSES
from helpers.workbook.authoring.validation.ladders import LADDERS, Ladder
from vgpu.hardware.time_model import Model, model_time
from vgpu.tools.profile import profile

if TYPE_CHECKING:
    from vgpu.hardware.occupancy import Occupancy
    from vgpu.standins import cupy

TABLE = Path(__file__).with_name("TABLE.md")


@dataclass(frozen=True)
class Counted:
    """Counts of a whole launch, as `model_time` wants them."""

    total: Mapping[str, int]
    footprint: SimpleNamespace
    grid: tuple[int, int, int]
    warps: int


@dataclass(frozen=True)
class Row:
    """One kernel of a ladder: the published and the modelled figure in the ladder's unit, and what bounds it."""

    kernel: str
    published: float
    modelled: float
    ratio: float  # modelled time over published time: below 1 the model is optimistic
    bound: str


def _kernel(source: str) -> cupy.RawKernel:
    from vgpu.standins import cupy

    return cupy.RawKernel(source, "kernel")


def _zeros(shape: int | tuple[int, int], dtype: type[np.generic]) -> cupy.ndarray:
    from vgpu.standins import cupy

    return cupy.zeros(shape, dtype)


def _whole(total: Mapping[str, int], read: int, written: int, blocks: int, threads: int) -> Counted:
    footprint = SimpleNamespace(read_bytes=read, written_bytes=written)
    return Counted(dict(total), footprint, (blocks, 1, 1), blocks * math.ceil(threads / 32))


@cache
def transpose(name: str, size: int, gpu: str) -> list[tuple[Counted, Occupancy]]:
    """(counts, occupancy) of one kernel over a square of `size`: run on 8 x 8 tiles, the rest is alike."""
    side = min(size, 256)
    args = (_zeros((side, side), np.float32), _zeros((side, side), np.float32), np.int32(side))
    found = profile(_kernel(TRANSPOSES[name]), (side // 32, side // 32), (32, 8), args, device=HARDWARE[gpu])
    times = (size // side) ** 2
    total = {key: value * times for key, value in found.total.items()}
    return [(_whole(total, 4 * size**2, 4 * size**2, (size // 32) ** 2, 256), found.occupancy)]


@cache
def reduction(name: str, size: int, threads: int, most: int, gpu: str) -> list[tuple[Counted, Occupancy]]:
    """(counts, occupancy) of every launch that a sum of `size` elements takes, the last one with one block.

    most: blocks of the step with many elements a thread; 0: no limit, and two elements.
    """
    source, each = REDUCTIONS[name]
    kernel, launches, left = _kernel(f"#define THREADS {threads}\n" + source), [], size
    while left > 1:
        blocks = math.ceil(left / ((each or 2) * threads))
        blocks = blocks if each else min(most or blocks, blocks)
        sample = min(blocks, 64)
        length = left * sample // blocks
        args = (_zeros(length, np.int32), _zeros(sample, np.int32), np.int32(length))
        found = profile(kernel, sample, threads, args, device=HARDWARE[gpu])
        total = {key: value * blocks // sample for key, value in found.total.items()}
        launches.append((_whole(total, 4 * left, 4 * blocks, blocks, threads), found.occupancy))
        left = blocks
    return launches


@cache
def elementwise(name: str, size: int, threads: int, gpu: str) -> list[tuple[Counted, Occupancy]]:
    """(counts, occupancy) of one kernel over `size` elements: run on 64 blocks, the rest is alike."""
    source, each, itemsize = ELEMENTWISE[name]
    blocks, sample = size // each // threads, 64
    dtype = np.float32 if itemsize == 4 else np.float16
    arrays = [_zeros(sample * threads * each, dtype) for _ in range(3)]
    args = (*arrays, np.int32(sample * threads))
    found = profile(_kernel(source), sample, threads, args, device=HARDWARE[gpu])
    total = {key: value * blocks // sample for key, value in found.total.items()}
    return [(_whole(total, 2 * itemsize * size, itemsize * size, blocks, threads), found.occupancy)]


@cache
def matmul(name: str, size: int, gpu: str) -> list[tuple[Counted, Occupancy]]:
    """(counts, occupancy) of one kernel for square matrices: run on 2 x 2 blocks at two depths, which fixes a line."""
    source, tile, threads = MATMULS[name]
    kernel, side, runs = _kernel(source), 2 * tile, []
    shallow, deep = 64, 128
    for depth in (shallow, deep):
        matrices = [_zeros(shape, np.float32) for shape in ((side, depth), (depth, side), (side, side))]
        a, b, c = matrices
        args = (*map(np.int32, (side, side, depth)), np.float32(1), a, b, np.float32(1), c)
        runs.append(profile(kernel, (2, 2), threads, args, device=HARDWARE[gpu]))
    less, more = (run.total for run in runs)
    blocks, steps = (size // tile) ** 2, (size - shallow) // (deep - shallow)
    total = {key: (less[key] + steps * (more[key] - less[key])) * blocks // 4 for key in less}
    return [(_whole(total, 3 * 4 * size**2, 4 * size**2, blocks, math.prod(np.atleast_1d(threads))), runs[0].occupancy)]


def launches(ladder: Ladder, name: str) -> list[tuple[Counted, Occupancy]]:
    """(counts, occupancy) of each launch of a row."""
    if ladder.family == "transpose":
        return transpose(name, ladder.size, ladder.gpu)
    if ladder.family == "reduction":
        return reduction(name, ladder.size, ladder.threads, ladder.blocks, ladder.gpu)
    if ladder.family == "reduction, one pass":
        return reduction(name, ladder.size, ladder.threads, ladder.blocks, ladder.gpu)[:1]
    if ladder.family == "elementwise":
        return elementwise(name, ladder.size, ladder.threads, ladder.gpu)
    return matmul(name, ladder.size, ladder.gpu)


def models(ladder: Ladder, name: str) -> list[Model]:
    """The modelled launches of a row."""
    gpu = HARDWARE[ladder.gpu]
    return [model_time(counts, occupancy, gpu) for counts, occupancy in launches(ladder, name)]


def rows(ladder: Ladder) -> list[Row]:
    """A ladder's rows, modelled."""
    found = []
    for name, published in ladder.rows:
        each = models(ladder, name)
        seconds = sum(model.seconds for model in each)
        scale = (lambda t: t * 1e3) if ladder.unit == "ms" else (lambda t: ladder.amount / t / 1e9)
        real = published / 1e3 if ladder.unit == "ms" else ladder.amount / published / 1e9
        found.append(Row(name, published, scale(seconds), seconds / real, each[0].bound))
    return found


def published_ladder(name: str) -> list[Row]:
    """The rows of the ladder of that name, such as "reduction, RTX 3080": published times beside modelled ones.

    Our own kernels, written after the published descriptions, are counted on a few blocks and modelled for the whole
    problem; `TABLE.md` has all ladders with their sources. Raises ValueError for a name that no ladder has.
    """
    ladders = {ladder.name: ladder for ladder in LADDERS}
    if name not in ladders:
        raise ValueError(f"there is no published ladder {name!r}; there are: {', '.join(ladders)}")
    return rows(ladders[name])


def kendall(pairs: list[tuple[float, float]]) -> float:
    """Kendall's tau-b of two orders: 1 the same, -1 the reverse; pairs that tie within 1 % count for neither."""
    agree = disagree = ties_left = ties_right = 0
    for i, (a, b) in enumerate(pairs):
        for c, d in pairs[:i]:
            left, right = (
                0 if abs(x - y) <= 0.01 * max(x, y) else math.copysign(1, x - y) for x, y in ((a, c), (b, d))
            )
            agree += left * right > 0
            disagree += left * right < 0
            ties_left += left == 0 and right != 0
            ties_right += right == 0 and left != 0
    decided = math.sqrt((agree + disagree + ties_left) * (agree + disagree + ties_right))
    return (agree - disagree) / decided if decided else 0.0


def factor(ratios: list[float]) -> float:
    """The geometric mean of how many times too long or too short the modelled times are, 1 for none."""
    return math.exp(sum(abs(math.log(ratio)) for ratio in ratios) / len(ratios))


def bias(ratios: list[float]) -> float:
    """The geometric mean of modelled over published time."""
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))


def markdown() -> str:
    """The whole table, with errors and rank correlations: the same text on every machine."""
    from helpers.workbook.authoring.validation.text import page

    return page([(ladder, rows(ladder)) for ladder in LADDERS])

"""Explorers that go through the steps of one block: trees, scans, interleavings, and the grid of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, slider, steps
from helpers.pictures.widgets.explorer import OF_A_KERNEL, Explorer
from vgpu.base.errors import VirtualGPUError
from vgpu.standins.calls import launch
from vgpu.standins.twins import twin
from vgpu.tools.steps.interleaving import SEEDS, interleavings

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from vgpu.tools.prepare import Dimensions, Grid
    from vgpu.tools.steps.dataflow import DataFlow

THREADS = (8, 16, 32, 64)
MOST_ADDING = 128


def tree(
    kernel: Any,
    *,
    threads: Sequence[int] = THREADS,
    start: int = 32,
    arguments: Callable[[int], tuple] | None = None,
    shared_bytes: int = 0,
    dtype: DTypeLike = np.float32,
) -> Explorer:
    """The reduction tree that a kernel builds, step by step, for several versions and block sizes.

    `kernel`, in either language, or a mapping from short names to kernels. Each runs as one block on the virtual GPU
    with `kernel(x, out, n)`, `n` numbers for `n` threads, or with `arguments(n)`. Any operation of two values counts:
    sums, products, maxima. threads: the sizes to choose from, at most 128; start: the first of them that is shown.
    """
    return explorer(
        "tree", kernel, plots.reduction_tree, threads, start, arguments, shared_bytes, dtype, most=MOST_ADDING
    )


def explorer(
    name: str, kernel: Any, draw_flow: Callable[..., Picture], sizes: Sequence[int], start: int,
    arguments: Callable[[int], tuple] | None, shared_bytes: int, dtype: DTypeLike, noun: str = "threads", *, most: int,
) -> Explorer:  # fmt: skip
    """The controls that the explorers of trees and of scans share: version, size and step."""
    from vgpu.tools.steps.dataflow import dataflow

    versions, sizes = checked.versions(kernel), checked.options(noun, sizes)
    if not 1 <= min(sizes) <= max(sizes) <= most:
        raise ValueError(f"{noun} are from 1 to {most}, so that each has its column; got {', '.join(map(str, sizes))}")
    if arguments is not None:
        checked.called("arguments", arguments)
    given = arguments or (lambda n: numbered(n, dtype))

    @lru_cache
    def flow(version: str, size: int) -> DataFlow:
        return dataflow(versions[version], 1, size, given(size), shared_bytes=shared_bytes)

    def rounds(version: str, size: int) -> int:
        try:
            return len(flow(version, size).rounds)
        except OF_A_KERNEL:
            return 1  # what is wrong is said in place of the picture

    first = next(iter(versions))
    version = dropdown("version", first, versions)
    size = choice(noun, start if start in sizes else sizes[0], sizes)
    step = steps("step", 0, rounds(first, size.value))
    step.value = step.max  # so that a page without widgets shows the whole tree

    def fit() -> None:
        step.max = rounds(version.value, size.value)

    def draw(step: int, **chosen: Any) -> Picture:
        version, size = chosen.get("version", first), chosen.get("size", sizes[0])
        found = flow(version, size)
        return draw_flow(found, min(step, len(found.rounds)), prefix=f"{version}, " if version else "")

    controls = {"version": version} if len(versions) > 1 else {}
    controls |= {"size": size} if len(sizes) > 1 else {}
    return Explorer(name, draw, controls | {"step": step}, fit=fit)


def numbered(n: int, dtype: DTypeLike) -> tuple:
    """`(x, out, n)`: n small numbers that change from one to the next, and as many zeros."""
    from vgpu.standins import cupy as cp

    x = np.arange(n) * 5 % 9 + 1
    return cp.asarray(x, dtype), cp.zeros(n, dtype), np.int32(n)


SIZES = (4, 8, 16, 32)
MOST_SCANNED = 32


def scan(
    kernel: Any,
    *,
    elements: Sequence[int] = SIZES,
    start: int = 16,
    arguments: Callable[[int], tuple] | None = None,
    shared_bytes: int = 0,
    dtype: DTypeLike = np.float32,
) -> Explorer:
    """The scan that a kernel computes, step by step, for several versions and sizes.

    `kernel`, in either language, or a mapping from short names to kernels. Each runs as one block of `n` threads on the
    virtual GPU with `kernel(x, out, n)`, or with `arguments(n)`. elements: the sizes to choose from, at most 32; start:
    the first of them that is shown.
    """
    return explorer(
        "scan", kernel, plots.scan_steps, elements, start, arguments, shared_bytes, dtype, "elements", most=MOST_SCANNED
    )


def schedules(
    kernel: Any,
    grid: Grid,
    block: Dimensions | None,
    args: Sequence,
    *,
    threads: Sequence[int] | None = None,
    seeds: Iterable[int] = SEEDS,
    block_index: Dimensions = 0,
    shared_bytes: int = 0,
) -> Explorer:
    """Two interleavings of one block beside each other, with a slider over their steps.

    The kernel, in either language, is run on the virtual GPU in order and under each of `seeds`; what differs can be
    chosen. threads: up to three numbers of threads in the block, else two that share an element one of them writes.
    Other arguments as for `record`; the arrays are put back as they were.
    """
    if threads is not None:
        threads = checked.options("threads", threads)
    seeds = checked.options("seeds", seeds)
    try:
        found = interleavings(
            kernel, grid, block, args, threads=threads, seeds=seeds, block_index=block_index, shared_bytes=shared_bytes
        )
    except VirtualGPUError as error:
        return Explorer("schedules", _raises(error), {})
    runs = {run.name: run for run in found.runs}
    names = list(runs)
    other = next((run.name for run in found.runs if repr(run.outcome) != repr(found.runs[0].outcome)), names[-1])
    step = steps("step", 0, max(len(run.rows) for run in found.runs))
    step.value = step.max  # so that a page without widgets shows the whole of both

    def draw(left: str, right: str, step: int) -> Picture:
        return plots.schedule_pair(found, runs[left], runs[right], step)

    return Explorer(
        "schedules",
        draw,
        {
            "left": choice("left schedule", names[0], names),
            "right": choice("right schedule", other, names),
            "step": step,
        },
    )


def _raises(error: VirtualGPUError) -> Callable[[], Picture]:
    def draw() -> Picture:
        raise error

    return draw


def who_is_where(
    kernel: Any, grid: tuple[int, int], block: tuple[int, int], data: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Block number and thread number at each position, as `kernel(blocks, threads, rows, columns)` writes them.

    data: rows and columns of what the kernel is launched over. Within the data the results, of shape (height, width),
    hold what the kernel wrote, and -1 where it wrote nothing. The threads that it kept away stand outside, at the
    places where the same launch writes if the data have no edge there. It runs on the virtual GPU, where a kernel that
    leaves its arrays is stopped with a message.
    """
    rows, columns = data
    side = max(grid[0] * block[0], grid[1] * block[1], rows, columns)
    within, beyond = (np.stack(_written(kernel, grid, block, shape)) for shape in (data, (side, side)))
    came = {tuple(pair) for pair in within.reshape(2, -1).T}
    for place in np.ndindex(side, side):
        if tuple(beyond[(slice(None), *place)]) in came:
            beyond[(slice(None), *place)] = -1
    beyond[:, :rows, :columns] = within
    used = np.argwhere(beyond[0] >= 0)
    height, width = np.maximum(used.max(axis=0, initial=-1) + 1, data)
    return tuple(beyond[:, :height, :width])


def _written(
    kernel: Any, grid: tuple[int, int], block: tuple[int, int], data: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    from vgpu.standins import cupy as cp

    blocks, threads = (cp.full(data[0] * data[1], -1, np.int32) for _ in range(2))
    launch(twin(kernel)[0], grid, block, (blocks, threads, *map(np.int32, data)))
    return cp.asnumpy(blocks).reshape(data), cp.asnumpy(threads).reshape(data)


def thread_grid(kernels: Any, *, columns: int = 20, rows: int = 11, block: tuple[int, int] = (8, 8)) -> Explorer:
    """Threads drawn over data, with sliders for the shape of the data and of a block.

    kernels: one or a mapping from short names to several, in either language, as `kernel(blocks, threads, rows,
    columns)`: a thread that has an element writes its block's number and its own number in the block at
    `row * columns + column` of two flat arrays, and one that has none writes nothing. The grid is the least that
    covers the data with x along the columns. The picture is read back from those arrays.
    """
    versions = checked.versions(kernels)
    first = next(iter(versions))

    def draw(columns: int, rows: int, block_x: int, block_y: int, version: str = first) -> Picture:
        grid = ((columns + block_x - 1) // block_x, (rows + block_y - 1) // block_y)
        blocks, threads = who_is_where(versions[version], grid, (block_x, block_y), (rows, columns))
        return plots.thread_grid(
            blocks, threads, (rows, columns), threads_per_block=block_x * block_y, launched=grid[0] * grid[1]
        )

    if not (isinstance(block, tuple | list) and len(block) == 2):
        raise TypeError(f"block is (x, y), such as (8, 8); got {block!r}")
    powers = (1, 2, 4, 8, 16)
    controls = {"version": dropdown("kernel", first, list(versions))} if len(versions) > 1 else {}
    controls |= {
        "columns": slider("columns (x)", columns, 1, 24),
        "rows": slider("rows (y)", rows, 1, 12),
        "block_x": choice("block x", block[0], (*powers, 32)),
        "block_y": choice("block y", block[1], powers),
    }
    return Explorer("thread_grid", draw, controls)

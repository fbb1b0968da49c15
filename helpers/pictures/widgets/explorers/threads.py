"""A grid of threads laid over the data, as the shapes of block and data change."""

from __future__ import annotations

import numpy as np

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, slider
from helpers.pictures.widgets.explorer import Explorer
from vgpu.standins.calls import launch
from vgpu.standins.twins import twin


def who_is_where(
    kernel, grid: tuple[int, int], block: tuple[int, int], data: tuple[int, int]
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


def _written(kernel, grid, block, data: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    from vgpu.standins import cupy as cp

    blocks, threads = (cp.full(data[0] * data[1], -1, np.int32) for _ in range(2))
    launch(twin(kernel)[0], grid, block, (blocks, threads, *map(np.int32, data)))
    return cp.asnumpy(blocks).reshape(data), cp.asnumpy(threads).reshape(data)


def thread_grid(kernels, *, columns: int = 20, rows: int = 11, block: tuple[int, int] = (8, 8)) -> Explorer:
    """Sliders for the shape of the data and of a block, over the threads that the launch makes.

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

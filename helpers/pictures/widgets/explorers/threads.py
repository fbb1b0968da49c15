"""A grid of threads laid over the data, as the shapes of block and data change."""

from __future__ import annotations

import numpy as np

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets.controls import choice, slider
from helpers.pictures.widgets.explorer import Explorer
from helpers.vgpu.standins.calls import launch
from helpers.vgpu.standins.twins import twin


def who_is_where(kernel, grid: tuple[int, int], block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Block number and thread number at each position, as `kernel(blocks, threads, width)` writes them.

    Both arrays have one element for each thread of the launch, shape (height, width), and start as -1. It runs
    on the virtual GPU, where a kernel that leaves its arrays is stopped with a message.
    """
    from helpers.vgpu.standins import cupy as cp

    shape = (grid[1] * block[1], grid[0] * block[0])
    blocks, threads = cp.full(shape, -1, np.int32), cp.full(shape, -1, np.int32)
    launch(twin(kernel)[0], grid, block, (blocks.ravel(), threads.ravel(), np.int32(shape[1])))
    return cp.asnumpy(blocks), cp.asnumpy(threads)


def thread_grid(kernel, *, columns: int = 20, rows: int = 11, block: tuple[int, int] = (8, 8)) -> Explorer:
    """Sliders for the shape of the data and of a block, over the threads that the launch makes.

    `kernel(blocks, threads, width)`, in either language: each thread writes its block's number and its own
    number in the block at `y * width + x` of two flat arrays. The picture is read back from those arrays.
    """

    def draw(columns: int, rows: int, block_x: int, block_y: int) -> Picture:
        grid = (-(-columns // block_x), -(-rows // block_y))
        blocks, threads = who_is_where(kernel, grid, (block_x, block_y))
        return plots.thread_grid(
            blocks, threads, (rows, columns), threads_per_block=block_x * block_y, launched=grid[0] * grid[1]
        )

    if not (isinstance(block, tuple | list) and len(block) == 2):
        raise TypeError(f"block is (x, y), such as (8, 8); got {block!r}")
    powers = (1, 2, 4, 8, 16)
    return Explorer(
        "thread_grid",
        draw,
        {
            "columns": slider("columns (x)", columns, 1, 24),
            "rows": slider("rows (y)", rows, 1, 12),
            "block_x": choice("block x", block[0], (*powers, 32)),
            "block_y": choice("block y", block[1], powers),
        },
    )

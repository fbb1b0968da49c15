"""The tree of a reduction, step by step: which threads work, which idle along, and which warps have gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, steps
from helpers.pictures.widgets.explorer import OF_A_KERNEL, Explorer

THREADS = (8, 16, 32, 64)
MOST = 128


def tree(
    kernel,
    *,
    threads: Sequence[int] = THREADS,
    start: int = 32,
    arguments: Callable[[int], tuple] | None = None,
    shared_bytes: int = 0,
    dtype=np.float32,
) -> Explorer:
    """A choice of version and of block size, and buttons through the steps of the tree that the kernel really makes.

    `kernel`, in either language, or a mapping from short names to kernels. Each runs as one block on the virtual GPU
    with `kernel(x, out, n)`, `n` numbers for `n` threads, or with `arguments(n)`. Any operation of two values counts:
    sums, products, maxima. threads: the sizes to choose from, at most 128; start: the first of them that is shown.
    """
    return explorer("tree", kernel, plots.reduction_tree, threads, start, arguments, shared_bytes, dtype, most=MOST)


def explorer(
    name: str, kernel, draw_flow: Callable[..., Picture], sizes: Sequence[int], start: int,
    arguments: Callable[[int], tuple] | None, shared_bytes: int, dtype, noun: str = "threads", *, most: int,
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
    def flow(version: str, size: int):
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

    def draw(step: int, **chosen) -> Picture:
        version, size = chosen.get("version", first), chosen.get("size", sizes[0])
        found = flow(version, size)
        return draw_flow(found, min(step, len(found.rounds)), prefix=f"{version}, " if version else "")

    controls = {"version": version} if len(versions) > 1 else {}
    controls |= {"size": size} if len(sizes) > 1 else {}
    return Explorer(name, draw, controls | {"step": step}, fit=fit)


def numbered(n: int, dtype) -> tuple:
    """`(x, out, n)`: n small numbers that change from one to the next, and as many zeros."""
    from vgpu.standins import cupy as cp

    x = np.arange(n) * 5 % 9 + 1
    return cp.asarray(x, dtype), cp.zeros(n, dtype), np.int32(n)

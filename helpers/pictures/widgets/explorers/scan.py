"""A scan step by step: what every element holds after each step, and what was added to what."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from helpers.pictures import plots
from helpers.pictures.widgets.explorer import Explorer
from helpers.pictures.widgets.explorers.tree import explorer

SIZES = (4, 8, 16, 32)
MOST = 32


def scan(
    kernel,
    *,
    elements: Sequence[int] = SIZES,
    start: int = 16,
    arguments: Callable[[int], tuple] | None = None,
    shared_bytes: int = 0,
    dtype=np.float32,
) -> Explorer:
    """A choice of version and of size, and buttons through the steps of the scan that the kernel really makes.

    `kernel`, in either language, or a mapping from short names to kernels. Each runs as one block of `n` threads on the
    virtual GPU with `kernel(x, out, n)`, or with `arguments(n)`. elements: the sizes to choose from, at most 32; start:
    the first of them that is shown.
    """
    return explorer(
        "scan", kernel, plots.scan_steps, elements, start, arguments, shared_bytes, dtype, "elements", most=MOST
    )

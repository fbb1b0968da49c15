"""The one place that decides what `cp`, `cuda` and `triton` are: the real ones on a GPU, their stand-ins elsewhere.

Triton itself is always the real one: without a GPU it is given a driver for the virtual GPU.

The environment variable WARPBOOK_BACKEND overrides the choice: "virtual" counts on the virtual GPU although there
is a real one, "gpu" insists on a real one.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module

from helpers.hardware.device import real_gpu

CHOICES = ("auto", "virtual", "gpu")
MODULES = {
    "cp": {True: "cupy", False: "helpers.vgpu.standins.cupy"},
    "cupyx": {True: "cupyx", False: "helpers.vgpu.standins.cupyx"},
    "cuda": {True: "numba.cuda", False: "helpers.vgpu.standins.numba_cuda"},
    "triton": {True: "triton", False: "helpers.vgpu.standins.triton"},
}


@cache
def on_gpu() -> bool:
    """Whether kernels run on a real GPU: there is one, and WARPBOOK_BACKEND does not say "virtual".

    Errors: ValueError for an unknown value of WARPBOOK_BACKEND, RuntimeError for "gpu" without a GPU.
    """
    wanted = os.environ.get("WARPBOOK_BACKEND", "auto")
    if wanted not in CHOICES:
        raise ValueError(f"WARPBOOK_BACKEND is {wanted!r}; it may be {', '.join(CHOICES)}")
    if wanted == "gpu" and not real_gpu():
        raise RuntimeError("WARPBOOK_BACKEND is 'gpu', but the CUDA driver finds no GPU. Run `warpbook doctor`.")
    return wanted != "virtual" and real_gpu()


@cache
def module(name: str):
    """The module behind "cp", "cupyx", "cuda" or "triton"."""
    real = on_gpu()
    if real and name == "cuda":
        # Lessons launch small grids on purpose; Numba's advice to launch larger ones would only confuse.
        import_module("numba").config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    if name == "triton":
        stand_in = import_module(MODULES[name][False])
        return stand_in.installed() if real else stand_in.activate()
    found = import_module(MODULES[name][real])
    if name == "cuda" and not real:
        found.activate()  # Numba's own modules that launch kernels launch them there, too
    return found

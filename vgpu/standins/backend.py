"""Chooses what `cp`, `cuda`, `triton` and `cute` are: the real ones on a GPU, their stand-ins elsewhere.

Triton and CuTe DSL themselves are always the real ones: without a GPU they are changed to run on the virtual GPU.

A real GPU that the installed packages can't use (an old driver, an old GPU, one that fails) counts as none, and the
reason is printed. VGPU_BACKEND overrides the choice: "virtual" uses the virtual GPU although there is a real one,
"gpu" insists on a real one.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any

from vgpu.hardware import driver
from vgpu.hardware.device import real_gpu

INSTEAD = "Kernels run on the virtual GPU instead: everything works, but no time is measured on a GPU."
MODULES = {
    "cp": {True: "cupy", False: "vgpu.standins.cupy"},
    "cupyx": {True: "cupyx", False: "vgpu.standins.cupyx"},
    "cuda": {True: "numba.cuda", False: "vgpu.standins.numba_cuda"},
    "triton": {True: "triton", False: "vgpu.standins.triton"},
    "cute": {True: "cutlass.cute", False: "vgpu.standins.cute"},
}


@cache
def on_gpu() -> bool:
    """Whether kernels run on a real GPU: there is one that can be used, and VGPU_BACKEND isn't "virtual".

    A GPU that can't be used is reported on stderr, once. Errors: ValueError for an unknown value of
    VGPU_BACKEND, RuntimeError for "gpu" without a usable GPU.
    """
    trouble = driver.trouble()
    if driver.wanted() == "gpu" and not real_gpu():
        reason = trouble or driver.absent()
        raise RuntimeError(f"VGPU_BACKEND is 'gpu', but no GPU can be used. {reason}")
    if trouble:
        print(f"{trouble} {INSTEAD}", file=sys.stderr, flush=True)
    return real_gpu()


@cache
def module(name: str) -> Any:
    """The module behind "cp", "cupyx", "cuda", "triton" or "cute"."""
    real = on_gpu()
    if real and name == "cuda":
        # Small grids are launched on purpose, as in tests; Numba's advice to launch larger ones would only confuse.
        import_module("numba").config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    if name in ("triton", "cute"):
        stand_in = import_module(MODULES[name][False])
        return stand_in.installed() if real else stand_in.activate()
    found = import_module(MODULES[name][real])
    if name == "cuda" and not real:
        found.activate()  # Numba's own modules that launch kernels use it too
    return found

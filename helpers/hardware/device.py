"""What runs the kernels here, and which GPU is modelled.

`device()` says both; `device("A100")` chooses the modelled GPU for everything that follows: compile targets,
occupancy, rooflines and modelled times. It never changes what runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache

from helpers.hardware import gpus
from helpers.hardware.gpus import GPU

_chosen: GPU | None = None
_kept: ContextVar[GPU | None] = ContextVar("modelled GPU", default=None)
_DRIVERS = {"linux": ("libcuda.so.1", "libcuda.so"), "win32": ("nvcuda.dll",)}
# cuDeviceGetAttribute's names for the two halves of the compute capability.
_CAPABILITY_ATTRIBUTES = (75, 76)


@dataclass(frozen=True, repr=False)
class Device:
    """What runs the kernels (`runs_on`), whether that is a real GPU, and the GPU that is modelled."""

    runs_on: str
    real: bool
    models: GPU

    def __repr__(self) -> str:
        return f"Device(runs on={self.runs_on!r}, models={self.models.product!r})"

    def _repr_html_(self) -> str:
        note = (
            "Times are <strong>measured</strong> on it."
            if self.real
            else "Counters are exact; a time for a GPU is <strong>modelled</strong> from its data sheet."
        )
        return (
            f"<p>Kernels run on: <strong>{self.runs_on}</strong>. "
            f"Modelled: <strong>{self.models.product}</strong>. {note}</p>"
        )


def _driver():
    """The CUDA driver library, or None where there is none."""
    for name in _DRIVERS.get(sys.platform, ()):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@cache
def _probe() -> tuple[str, tuple[int, int]] | None:
    """Name and compute capability of the driver's first GPU, or None: no driver, no GPU, or it refuses."""
    driver = _driver()
    if driver is None:
        return None
    count, handle, value = ctypes.c_int(0), ctypes.c_int(0), ctypes.c_int(0)
    # Each call returns 0 when it worked; a missing or unusable GPU shows as another code, not as a crash.
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return None
    if driver.cuDeviceGet(ctypes.byref(handle), 0):
        return None
    name = ctypes.create_string_buffer(128)
    if driver.cuDeviceGetName(name, len(name), handle):
        return None
    capability = []
    for attribute in _CAPABILITY_ATTRIBUTES:
        if driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, handle):
            return None
        capability.append(value.value)
    return name.value.decode(errors="replace"), (capability[0], capability[1])


def real_gpu() -> bool:
    """Whether kernels run on a real GPU: the driver reports one and WARPBOOK_BACKEND is not `virtual`."""
    return os.environ.get("WARPBOOK_BACKEND", "").lower() != "virtual" and _probe() is not None


def current() -> GPU:
    """The modelled GPU: the one chosen, else the real one's row, else WARPBOOK_GPU, else A100."""
    if (kept := _kept.get()) is not None:
        return kept
    if (chosen := _chosen) is not None:
        return chosen
    if "WARPBOOK_GPU" in os.environ:
        return gpus.find(os.environ["WARPBOOK_GPU"])
    return gpus.nearest(*_probe()) if real_gpu() else gpus.find(gpus.DEFAULT)


def device(name: str | GPU | None = None) -> Device:
    """Name what runs and what is modelled; with a name (or a row of `gpus.GPUS`), choose the modelled GPU.

    Names match whatever their case and spacing; an unknown one raises a KeyError that names the nearest.
    """
    global _chosen
    if name is not None:
        _chosen = name if isinstance(name, GPU) else gpus.find(name)
        if _kept.get() is not None:
            _kept.set(_chosen)
    real = real_gpu()
    return Device(_probe()[0] if real else "virtual GPU", real, current())


@contextlib.contextmanager
def kept(gpu: GPU) -> Iterator[None]:
    """Within it this GPU is modelled in this thread, whatever another thread chooses meanwhile."""
    before = _kept.get()
    _kept.set(gpu)
    try:
        yield
    finally:
        _kept.set(before)


def reset() -> None:
    """Forget the choice: model the default GPU again."""
    global _chosen
    _chosen = None


# `from helpers import device` gives the function: what else there is to ask goes with it.
device.current = current
device.real_gpu = real_gpu
device.reset = reset

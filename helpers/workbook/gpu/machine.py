"""The machine that results come from: its GPU, driver, CUDA and packages."""

from __future__ import annotations

import ctypes
import datetime
import platform
import re
from typing import Any

from helpers.workbook import packages
from vgpu.hardware import driver

RELEVANT = re.compile(r"cuda-|cupy|numba|numpy|nvidia-(cu|nvj|nccl)|pytest$|torch$|triton$")
"""The packages whose versions can make a difference to what a GPU does."""
SETTINGS = ("driver_version", "memory.total", "clocks.max.sm", "power.limit", "mig.mode.current")


def describe() -> dict[str, Any]:
    """The GPU, what drives it, the packages, and which of these differ from the project's pins."""
    found = driver.probe() or driver.Found()
    there = {name: each.version for name, each in packages.installed().items() if RELEVANT.match(name)}
    pins = packages.read_pins(packages.PINS.read_text(encoding="utf-8"))
    other = [name for name in sorted(there) if name in pins and not packages.same_version(there[name], pins[name])]
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "device": found.name,
        "compute capability": ".".join(map(str, found.capability)),
        "CUDA": cuda_of_driver(),
        "nvidia-smi": asked_of_smi(),
        "python": platform.python_version(),
        "packages": dict(sorted(there.items())),
        "pinned": {name: pins[name] for name in other},
    }


def asked_of_smi() -> dict[str, str]:
    """The driver's version and the GPU's settings, or why `nvidia-smi` doesn't give them."""
    from helpers.results import smi  # `missing` below needs no package

    try:
        return smi.query(SETTINGS)
    except smi.Unread as problem:
        return {"problem": str(problem)}


def cuda_of_driver() -> str:
    """The newest CUDA release that the driver supports, such as 13.0; empty without a driver."""
    value = ctypes.c_int(0)
    if (library := driver.library()) is None or library.cuDriverGetVersion(ctypes.byref(value)):
        return ""
    return f"{value.value // 1000}.{value.value % 1000 // 10}"


def missing() -> str:
    """Why nothing can be measured here, in a sentence or two; empty where a GPU can be used."""
    if driver.usable():
        return ""
    if driver.wanted() == "virtual":
        return "VGPU_BACKEND=virtual leaves the GPU alone. Unset it to use the GPU."
    found = driver.trouble() or driver.absent()
    return f"{found} Call `warpbook gpu` on a machine with an NVIDIA GPU and driver {driver.NEEDED_DRIVER} or newer."

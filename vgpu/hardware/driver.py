"""The machine's own GPU as its CUDA driver describes it, and whether the installed CUDA packages can use it.

A GPU that they can't use, or that VGPU_BACKEND=virtual leaves alone, is hidden from PyTorch as well: a tensor on
it could not be handed to the virtual GPU.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import runpy
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from vgpu.base.settings import setting

NEEDED_CUDA = (13, 0)
"""What the pinned packages are built for: their PTX and libraries need a driver for CUDA 13.0 or newer."""
NEEDED_DRIVER = 580
"""The first driver branch for that release: https://docs.nvidia.com/cuda/archive/13.0.0/cuda-toolkit-release-notes/"""
NEEDED_CAPABILITY = (7, 5)
"""Turing: CUDA 13 dropped Maxwell, Pascal and Volta, as the same release notes say."""
_LIBRARIES = {"linux": ("libcuda.so.1", "libcuda.so"), "win32": ("nvcuda.dll",)}
# cuDeviceGetAttribute's names for the two halves of the compute capability.
_CAPABILITY_ATTRIBUTES = (75, 76)


@dataclass(frozen=True)
class Found:
    """The driver's first GPU; `trouble` says in a sentence why kernels can't run on it, and is empty if they can."""

    name: str = ""
    capability: tuple[int, int] = (0, 0)
    trouble: str = ""


class Failed(Exception):
    """A call of the driver returned an error; the message is the driver's."""


def library() -> Any:
    """The CUDA driver library, or None where there is none."""
    for name in _LIBRARIES.get(sys.platform, ()):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@cache
def probe() -> Found | None:
    """The first GPU and what's wrong with it, if anything; None without a CUDA driver, or if all GPUs are hidden."""
    driver = None if hidden() else library()
    if driver is None:
        return None
    name, capability = "", (0, 0)
    try:
        _call(driver, "cuInit", 0)
        count, handle = ctypes.c_int(0), ctypes.c_int(0)
        _call(driver, "cuDeviceGetCount", ctypes.byref(count))
        if not count.value:
            raise Failed("no GPU is visible to it")
        _call(driver, "cuDeviceGet", ctypes.byref(handle), 0)
        name = _name(driver, handle)
        capability = _capability(driver, handle)
        trouble = _too_old(name, capability, _version(driver))
        if not trouble:
            _open(driver, handle)
        elif better := _better(driver, count.value):
            trouble += f" The {better} in this machine is new enough: let CUDA_VISIBLE_DEVICES name it alone."
    except (Failed, AttributeError) as problem:  # AttributeError: a library that lacks the function
        which = f"{name} can't be used" if name else "There is an NVIDIA driver, but no GPU that it can use"
        trouble = f"{which}: {problem}."
    return Found(name, capability, trouble)


def _too_old(name: str, capability: tuple[int, int], version: tuple[int, int]) -> str:
    """Why the installed packages can't use a GPU that works."""
    if capability < NEEDED_CAPABILITY:
        return (
            f"{name} has compute capability {_dotted(capability)}. CUDA {NEEDED_CUDA[0]}, which the installed packages "
            f"are built for, needs {_dotted(NEEDED_CAPABILITY)} or higher."
        )
    if version < NEEDED_CUDA:
        return (
            f"The driver of this {name} supports CUDA {_dotted(version)}. The installed packages are built for CUDA "
            f"{_dotted(NEEDED_CUDA)}, which needs driver {NEEDED_DRIVER} or newer."
        )
    return ""


def _better(driver: Any, count: int) -> str:
    """The name of another GPU that isn't too old; empty if there is none."""
    handle = ctypes.c_int(0)
    for ordinal in range(1, count):
        _call(driver, "cuDeviceGet", ctypes.byref(handle), ordinal)
        name = _name(driver, handle)
        if not _too_old(name, _capability(driver, handle), _version(driver)):
            return name
    return ""


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


# -- calls ----------------------------------------------------------------------------------------------


def _call(driver: Any, function: str, *arguments: Any) -> None:
    """Call the driver. Raises Failed with the driver's own words if it returns an error."""
    if code := getattr(driver, function)(*arguments):
        words = ctypes.c_char_p()
        known = getattr(driver, "cuGetErrorString", lambda *_: 1)(code, ctypes.byref(words)) == 0
        text = words.value.decode(errors="replace") if known and words.value else ""
        raise Failed(f"{function} returned error {code}" + (f" ({text})" if text else ""))


def _name(driver: Any, handle: ctypes.c_int) -> str:
    name = ctypes.create_string_buffer(128)
    _call(driver, "cuDeviceGetName", name, len(name), handle)
    return name.value.decode(errors="replace")


def _capability(driver: Any, handle: ctypes.c_int) -> tuple[int, int]:
    value, halves = ctypes.c_int(0), []
    for attribute in _CAPABILITY_ATTRIBUTES:
        _call(driver, "cuDeviceGetAttribute", ctypes.byref(value), attribute, handle)
        halves.append(value.value)
    return halves[0], halves[1]


def _version(driver: Any) -> tuple[int, int]:
    """The newest CUDA release that the driver supports, such as (12, 4): it says 12040."""
    value = ctypes.c_int(0)
    _call(driver, "cuDriverGetVersion", ctypes.byref(value))
    return value.value // 1000, value.value % 1000 // 10


def _open(driver: Any, handle: ctypes.c_int) -> None:
    """Open the GPU's primary context and close it again: memory errors, an exclusive mode and the like show here."""
    context = ctypes.c_void_p()
    _call(driver, "cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
    release = (
        "cuDevicePrimaryCtxRelease_v2"
        if hasattr(driver, "cuDevicePrimaryCtxRelease_v2")
        else "cuDevicePrimaryCtxRelease"
    )
    _call(driver, release, handle)


# -- the choice -----------------------------------------------------------------------------------------

CHOICES = ("auto", "virtual", "gpu")


def wanted() -> str:
    """The value of VGPU_BACKEND, one of CHOICES. Raises ValueError for anything else."""
    chosen = (setting("BACKEND") or "auto").lower()
    if chosen not in CHOICES:
        raise ValueError(f"VGPU_BACKEND is {chosen!r}; it may be {', '.join(CHOICES)}")
    return chosen


def usable() -> Found | None:
    """The GPU that kernels run on; None when they run on the virtual GPU."""
    found = _requested()
    if found and not trouble():
        return found
    if found or wanted() == "virtual":
        os.environ.update(HIDING)
    return None


HIDING = {"CUDA_VISIBLE_DEVICES": "-1", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
"""Hides every GPU from CUDA, and lets PyTorch heed that although `probe` has called the driver in this process."""


def hidden() -> bool:
    """Whether CUDA_VISIBLE_DEVICES hides every GPU: so says CUDA of an empty value and of an index below 0."""
    return os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", HIDING["CUDA_VISIBLE_DEVICES"])


def absent() -> str:
    """Why there is no GPU."""
    return "CUDA_VISIBLE_DEVICES hides every GPU." if hidden() else "This machine has no NVIDIA driver."


def trouble() -> str:
    """Why kernels run on the virtual GPU although there is a driver; empty if there is none, or by choice."""
    found = _requested()
    if not found:
        return ""
    if not found.trouble and wanted() == "auto" and not torch_has_cuda():
        return (
            f"PyTorch is installed without CUDA, so its tensors could not be shared with kernels on this {found.name}. "
            f"Install its build for CUDA {NEEDED_CUDA[0]}, or set VGPU_BACKEND=gpu to do without."
        )
    return found.trouble


def _requested() -> Found | None:
    return None if wanted() == "virtual" else probe()


@cache
def torch_has_cuda() -> bool:
    """Whether PyTorch, which is not imported for this, was built for CUDA; true where it isn't installed."""
    found = importlib.util.find_spec("torch")
    version = Path(found.origin).with_name("version.py") if found and found.origin else None
    return not (version and version.is_file()) or runpy.run_path(str(version)).get("cuda") is not None

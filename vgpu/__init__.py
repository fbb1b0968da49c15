"""A virtual GPU: CUDA C, Numba and Triton kernels, compiled by NVIDIA's compilers to PTX, run and counted on a CPU.

`from vgpu import cp, cuda, triton` gives CuPy, Numba CUDA and Triton: the real ones where there is a GPU that they can
use, else their stand-ins here. `profile`, `sanitize`, `record`, `sass` and the other names below take a kernel, its
grid, block and arguments. Everything is imported when it is first used, so that `import vgpu` costs nothing; README.md
says how the engine works, and which folder does what.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.2.0"

_BACKEND = ("cp", "cupyx", "cuda", "triton")
_MODULES = {
    "cpus": "hardware.cpus",
    "gpus": "hardware.gpus",
    "interconnects": "hardware.interconnects",
    "streams": "tools.streams",
}
_NAMES = {
    "base.schedule": ("scheduled",),
    "hardware.device": ("device", "real_gpu"),
    "hardware.occupancy": ("occupancy",),
    "standins.tensor_map": ("tensor_map",),
    "tools.compare": ("compare",),
    "tools.launch": ("Launch",),
    "tools.profile": ("profile",),
    "tools.roofline": ("roofline",),
    "tools.sanitize": ("sanitize",),
    "tools.sass": ("sass",),
    "tools.steps.arrivals": ("barrier_phases", "copy_groups"),
    "tools.steps.dataflow": ("dataflow",),
    "tools.steps.spaces": ("spaces",),
    "tools.steps.stepper": ("record",),
    "tools.steps.touched": ("touched",),
    "tools.steps.trace": ("trace",),
    "tools.steps.turns": ("turns",),
    "tools.steps.walks": ("walked",),
    "tools.streams.calls": ("calls",),
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted([*_BACKEND, *_MODULES, *_WHERE])


def __getattr__(name: str):
    if name in _BACKEND:
        found = import_module("vgpu.standins.backend").module(name)
    elif name in _MODULES:
        found = import_module(f"vgpu.{_MODULES[name]}")
    elif name in _WHERE:
        found = getattr(import_module(f"vgpu.{_WHERE[name]}"), name)
    else:
        raise AttributeError(f"vgpu has no {name!r}; it has: {', '.join(__all__)}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__

"""A virtual GPU: CUDA C, Numba, Triton and CuTe kernels, compiled to PTX by their own compilers, run on a CPU.

`from vgpu import cp, cuda, triton, cute` gives CuPy, Numba CUDA, Triton and CuTe DSL: the real ones where there is a
GPU that they can use, else their stand-ins here. `profile`, `sanitize`, `record`, `sass` and the other names below take
a kernel, its grid, block and arguments. Everything is imported when it is first used, so that `import vgpu` costs
nothing; README.md says how the engine works, and which folder does what.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from types import ModuleType

from vgpu.base.late import late, members

__version__ = "0.2.0"

_MODULES = {
    "cpus": "hardware.cpus",
    "gpus": "hardware.gpus",
    "interconnects": "hardware.interconnects",
    "streams": "tools.streams",
}
_NAMES = {
    "base.precision": ("fp8_accumulation",),
    "base.schedule": ("scheduled",),
    "compile.cute": ("cute_options",),
    "hardware.device": ("device", "real_gpu"),
    "hardware.occupancy": ("occupancy",),
    "standins.tensor_map": ("im2col_map", "tensor_map"),
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


def _backend(name: str) -> ModuleType:
    return import_module("vgpu.standins.backend").module(name)


__all__, __getattr__, __dir__ = late(
    __name__,
    {name: partial(_backend, name) for name in ("cp", "cupyx", "cuda", "triton", "cute")}
    | {name: partial(import_module, f"vgpu.{module}") for name, module in _MODULES.items()}
    | members(__name__, _NAMES),
)

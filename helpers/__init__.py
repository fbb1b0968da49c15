"""What a Warpbook notebook imports: `from helpers import cp, cuda, profile, check, …`.

Everything is imported when it is first asked for, so that `import helpers` costs nothing.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

# name -> the module that has it; a name that equals its module's is callable there.
_EXPORTS = {
    "Launch": "ladder",
    "benchmark": "timing",
    "check": "check",
    "compare": "compare",
    "cpus": "cpus",
    "dataflow": "vgpu.dataflow",
    "device": "device",
    "diagnose": "diagnose",
    "gpus": "gpus",
    "hint": "check",
    "ladder": "ladder",
    "occupancy": "occupancy",
    "plots": "plots",
    "predict": "predict",
    "probe": "probe",
    "profile": "profile",
    "progress": "progress",
    "record": "vgpu.stepper",
    "reveal": "predict",
    "roofline": "roofline",
    "sanitize": "vgpu.sanitize",
    "sass": "sass",
    "scheduled": "vgpu.schedule",
    "show": "figures",
    "solution": "check",
    "streams": "streams",
    "tensor_map": "tensor_map",
    "trace": "vgpu.trace",
    "widgets": "widgets",
}
_BACKEND = ("cp", "cupyx", "cuda", "triton")
__all__ = sorted([*_EXPORTS, *_BACKEND])


def __getattr__(name: str):
    if name in _BACKEND:
        from helpers.vgpu.standins.backend import module

        found = module(name)
    elif name in _EXPORTS:
        where = import_module(f"helpers.{_EXPORTS[name]}")
        # A module that is called as its own function stays the module: Python itself puts it under this name.
        found = where if where.__name__ == f"helpers.{name}" else getattr(where, name)
    else:
        raise AttributeError(f"helpers has no {name!r}; it has: {', '.join(__all__)}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__

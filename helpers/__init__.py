"""What a Warpbook notebook imports: `from helpers import cp, cuda, profile, check, …`.

Everything is imported when it is first asked for, so that `import helpers` costs nothing.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

_BACKEND = ("cp", "cupyx", "cuda", "triton")
_MODULES = {
    "cpus": "hardware.cpus",
    "digits": "data.digits",
    "gpus": "hardware.gpus",
    "interconnects": "hardware.interconnects",
    "plots": "pictures.plots",
    "ranks": "results.ranks",
    "streams": "results.streams",
    "widgets": "pictures.widgets",
}
_NAMES = {
    "hardware.device": ("device", "real_gpu"),
    "hardware.occupancy": ("occupancy",),
    "vgpu.base.schedule": ("scheduled",),
    "vgpu.standins.tensor_map": ("tensor_map",),
    "results.attention": ("separate_bytes", "tiled_bytes"),
    "results.cache_model": ("cached", "hit_rate"),
    "results.cold_start": ("cold_start",),
    "results.compare": ("compare",),
    "results.diagnose": ("diagnose",),
    "results.dram": ("dram", "dram_at", "fusion_table"),
    "results.growth": ("grown_ladder", "growth"),
    "results.ladder": ("Launch", "ladder"),
    "results.number_formats": ("FORMATS",),
    "results.profile": ("profile",),
    "results.ranks.launcher": ("torchrun",),
    "results.roofline": ("roofline",),
    "results.sanitize": ("sanitize",),
    "results.sass": ("sass",),
    "results.smi": ("during",),
    "results.step_log": ("StepLog",),
    "results.steps.arrivals": ("barrier_phases", "copy_groups"),
    "results.steps.dataflow": ("dataflow",),
    "results.steps.spaces": ("spaces",),
    "results.steps.stepper": ("record",),
    "results.steps.touched": ("touched",),
    "results.steps.trace": ("trace",),
    "results.steps.walks": ("walked",),
    "results.streams.calls": ("calls",),
    "results.steps.turns": ("turns",),
    "results.timing": ("benchmark",),
    "results.torch.caching_allocator": ("CachingAllocator",),
    "results.torch.layers": ("layers",),
    "results.torch.dispatched": ("dispatched",),
    "results.torch.inductor": ("inductor",),
    "results.torch.memory": ("memory_line",),
    "results.torch.operations": ("operations",),
    "results.torch.replay": ("replay", "stretched"),
    "results.warp_scheduler": ("bytes_in_flight", "schedule"),
    "pictures.figures": ("show",),
    "pictures.training": ("training",),
    "checking.check": ("check", "hint", "solution"),
    "checking.predict": ("predict", "reveal"),
    "checking.probe": ("probe",),
    "workbook.authoring.validation.report": ("published_ladder",),
    "workbook.progress": ("progress",),
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted([*_BACKEND, *_MODULES, *_WHERE])


def __getattr__(name: str):
    if name in _BACKEND:
        found = import_module("helpers.vgpu.standins.backend").module(name)
    elif name in _MODULES:
        found = import_module(f"helpers.{_MODULES[name]}")
    elif name in _WHERE:
        found = getattr(import_module(f"helpers.{_WHERE[name]}"), name)
    else:
        raise AttributeError(f"helpers has no {name!r}; it has: {', '.join(__all__)}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__

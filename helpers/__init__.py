"""What a Warpbook notebook imports: `from helpers import cp, cuda, profile, check, …`.

What runs, counts and checks kernels comes from the virtual GPU's package, `vgpu`. Everything is imported when it is
first used, so that `import helpers` costs nothing.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module

try:
    import vgpu
    from vgpu.base.late import late, members
    from vgpu.base.ours import belongs
except ModuleNotFoundError as error:
    if error.name != "vgpu":
        raise
    raise ModuleNotFoundError(
        "The virtual GPU, `vgpu`, is not installed. It comes with this project, in the folder of that name: "
        "call `make environment`, or `python -m pip install --editable ./vgpu`.",
        name="vgpu",
    ) from None

__version__ = "0.1.0"

belongs(__name__)

_MODULES = {
    "files": "data.files",
    "glyphs": "data.glyphs",
    "plots": "pictures.plots",
    "prose": "data.prose",
    "ranks": "results.ranks",
    "repeats": "results.repeats",
    "rivers": "data.rivers",
    "widgets": "pictures.widgets",
}
_NAMES = {
    "models.attention": ("separate_bytes", "tiled_bytes"),
    "models.cache_model": ("cached", "hit_rate"),
    "models.classifiers": ("classifier_cost",),
    "models.dram": ("dram", "dram_at", "fusion_table"),
    "models.growth": ("grown_ladder", "growth"),
    "models.layers": ("layers",),
    "models.number_formats": ("FORMATS",),
    "models.warp_scheduler": ("bytes_in_flight", "schedule"),
    "results.change_log": ("ChangeLog", "Count", "Published", "paired"),
    "results.cold_start": ("cold_start",),
    "results.diagnose": ("diagnose",),
    "results.ladder": ("ladder",),
    "results.ranks.launcher": ("torchrun",),
    "results.smi": ("during",),
    "results.step_log": ("StepLog",),
    "results.timing": ("benchmark",),
    "results.torch.caching_allocator": ("CachingAllocator",),
    "results.torch.dispatched": ("dispatched",),
    "results.torch.inductor": ("inductor",),
    "results.torch.memory": ("memory_line",),
    "results.torch.operations": ("operations",),
    "results.torch.replay": ("replay", "stretched"),
    "results.torch.trace": ("TraceSpan", "readbacks", "trace_spans"),
    "pictures.figures": ("show",),
    "pictures.report": ("report",),
    "pictures.training": ("training",),
    "checking.check": ("check", "hint", "solution"),
    "checking.predict": ("predict", "reveal"),
    "checking.probe": ("probe",),
    "workbook.authoring.validation.report": ("published_ladder",),
    "workbook.progress": ("progress",),
}

__all__, __getattr__, __dir__ = late(
    __name__,
    {name: partial(getattr, vgpu, name) for name in vgpu.__all__}
    | {name: partial(import_module, f"helpers.{module}") for name, module in _MODULES.items()}
    | members(__name__, _NAMES),
)

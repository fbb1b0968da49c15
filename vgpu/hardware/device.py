"""Where kernels run, and which GPU is modelled.

`device()` says both; `device("A100")` chooses the modelled GPU for everything that follows: compile targets,
occupancy, rooflines and modelled times. It never changes what runs.
"""

from __future__ import annotations

import contextlib
import html
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from vgpu.base.settings import setting
from vgpu.hardware import driver, gpus
from vgpu.hardware.gpus import GPU

_chosen: GPU | None = None
_kept: ContextVar[GPU | None] = ContextVar("modelled GPU", default=None)


@dataclass(frozen=True, repr=False)
class Device:
    """Where kernels run (`runs_on`), whether that is a real GPU, and the GPU that is modelled.

    `trouble` says why a GPU that this machine has isn't used; it is empty where there is none, and by choice.
    """

    runs_on: str
    real: bool
    models: GPU
    trouble: str = ""

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
            + (f"<p>{html.escape(self.trouble)}</p>" if self.trouble else "")
        )


def real_gpu() -> bool:
    """Whether kernels run on a real GPU: there is one that can be used, and VGPU_BACKEND is not `virtual`."""
    return driver.usable() is not None


def current() -> GPU:
    """The modelled GPU: the one chosen, else the real one's row, else VGPU_GPU, else A100."""
    if (kept := _kept.get()) is not None:
        return kept
    if (chosen := _chosen) is not None:
        return chosen
    if name := setting("GPU"):
        return gpus.find(name)
    found = driver.usable()
    return gpus.nearest(found.name, found.capability) if found else gpus.find(gpus.DEFAULT)


def device(name: str | GPU | None = None) -> Device:
    """The GPU that runs kernels and the one that is modelled; with a name or a row of `gpus.GPUS`, choose the latter.

    Names match whatever their case and spacing; an unknown one raises a KeyError that names the nearest.
    """
    global _chosen
    if name is not None:
        _chosen = name if isinstance(name, GPU) else gpus.find(name)
        if _kept.get() is not None:
            _kept.set(_chosen)
    found = driver.usable()
    return Device(found.name if found else "virtual GPU", found is not None, current(), driver.trouble())


@contextlib.contextmanager
def kept(gpu: GPU) -> Iterator[None]:
    """Model this GPU in this thread during the `with` block, whatever another thread chooses meanwhile."""
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


# `from vgpu import device` imports the function, so the other functions are its attributes.
for _function in (current, real_gpu, reset):
    setattr(device, _function.__name__, _function)

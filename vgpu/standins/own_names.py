"""The virtual GPU under the names that programs import: `numba.cuda`, `cupy`, `triton`, `cutlass`, `torch.cuda` ….

`install()` makes an unchanged program run here. CuPy is replaced as a whole. Of `numba.cuda` only what the host calls
is replaced, because kernels are compiled by the rest of it. Triton gets a driver, CuTe DSL (`cutlass`) other functions
for its host's code, PyTorch keeps tensors of the device "cuda" in host memory, and `cuda.bindings.driver` answers
without a driver.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from vgpu.standins.cupy.missing import Missing
from vgpu.standins.finders import Execute, found_by_others, loaded_by

REPLACED = {"cupy": "vgpu.standins.cupy", "cupyx": "vgpu.standins.cupyx"}


def _numba_cuda(module: ModuleType) -> None:
    from vgpu.standins import numba_cuda

    numba_cuda.activate()
    for name in numba_cuda.replaced():
        setattr(module, name, getattr(numba_cuda, name))
    devices: Any = importlib.import_module("numba.cuda.cudadrv.devices")
    devices.get_context = numba_cuda.current_context


def _triton(module: ModuleType) -> None:
    from vgpu.standins import triton

    triton.activate()


def _torch(module: ModuleType) -> None:
    from vgpu.standins import torch_cuda

    torch_cuda.activate()


def _cute(module: ModuleType) -> None:
    from vgpu.standins import cute

    cute.activate()


def _driver(module: ModuleType) -> None:
    from vgpu.standins import cuda_driver

    cuda_driver.activate(module)


CHANGED: dict[str, Callable[[ModuleType], None]] = {
    "numba.cuda": _numba_cuda, "triton": _triton, "torch": _torch, "cutlass": _cute,
    "cuda.bindings.driver": _driver,
}  # fmt: skip
"""Modules that stay, and what is done to each when it has been imported."""


def install() -> None:
    """Let all imports from now on find the virtual GPU; what is imported already is changed too."""
    if _FINDER in sys.meta_path:
        return
    sys.meta_path.insert(0, _FINDER)
    for name, change in CHANGED.items():
        if name in sys.modules:
            change(sys.modules[name])


class _Finder:
    """Finds stand-ins for the modules in `REPLACED`, and lets the other finders find those in `CHANGED`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] in REPLACED:
            return ModuleSpec(name, _Replacing(), is_package=True)
        parent, _, member = name.rpartition(".")
        of_stand_in = parent in sys.modules and parent.startswith(tuple(REPLACED.values()))
        if name not in CHANGED and not of_stand_in:
            return None
        spec = found_by_others(self, name, path, target)
        if spec is None and of_stand_in:  # `from cupyx import jit`, `from cupy.linalg import pinv`
            raise ImportError(_why_missing(sys.modules[parent], member))
        return loaded_by(spec, partial(_then, CHANGED[name])) if name in CHANGED else spec


def _why_missing(module: ModuleType, member: str) -> str:
    try:
        getattr(module, member)
    except AttributeError as error:
        return str(error)
    return member


class _Replacing(Loader):
    """Puts the stand-in into `sys.modules`, where Python looks for what it has imported."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = found = stand_in(name)
        vars(found).setdefault("__path__", [])  # so that Python looks for submodules


def stand_in(name: str) -> ModuleType:
    """The module of the virtual GPU for one of CuPy's, such as "cupy.cuda.runtime"; ImportError where there is none."""
    root, *path = name.split(".")
    found: Any = importlib.import_module(REPLACED[root])
    try:
        for part in path:
            found = getattr(found, part)
    except Missing as error:
        raise ModuleNotFoundError(str(error)) from None  # without a name: `from … import …` hides those that have it
    if isinstance(found, ModuleType):
        return found
    made = ModuleType(name, getattr(found, "__doc__", None))  # a namespace that isn't a module: it is made one
    made.__dict__.update({each: getattr(found, each) for each in dir(found) if not each.startswith("__")})
    return made


def _then(change: Callable[[ModuleType], None], execute: Execute) -> Execute:
    def exec_module(module: ModuleType) -> None:
        execute(module)
        change(module)

    return exec_module


_FINDER = _Finder()

"""Numba's own modules that launch kernels (random numbers, ufuncs, reductions), made to use the virtual GPU.

Each has `from numba import cuda`, and then makes arrays and kernels as any user does. While such a module is loaded,
that import gives it the stand-in. So `from numba.cuda.random import …` and `@vectorize(…, target="cuda")` use the
virtual GPU wherever `from vgpu import cuda` does.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec

from vgpu.base import steady
from vgpu.standins.finders import Execute, found_by_others, loaded_by
from vgpu.standins.numba.rebind import STAND_IN

ADOPTED = (  # in the order in which they import one another
    "numba.cuda.random",
    "numba.cuda.kernels.reduction",
    "numba.cuda.vectorizers",
    "numba.cuda.np.ufunc.decorators",
)
_lock = steady.lock(rank=0)


def activate() -> None:
    """Let Numba's modules launch kernels on the virtual GPU from now on, those that are loaded already too."""
    with _lock:
        if _FINDER in sys.meta_path:
            return
        sys.meta_path.insert(0, _FINDER)
        for name in ADOPTED:
            if name in sys.modules:
                importlib.reload(sys.modules[name])


def adopted(name: str) -> types.ModuleType:
    """One of the modules, such as "numba.cuda.random"."""
    activate()
    return importlib.import_module(name)


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    """Python's `import`, except that `from numba import cuda` gives the stand-in."""
    found = builtins.__import__(name, globals, locals, fromlist, level)
    if name == "numba" and fromlist and "cuda" in fromlist:
        return types.SimpleNamespace(**{**vars(found), "cuda": importlib.import_module(STAND_IN)})
    return found


class _AdoptedFinder:
    """Finds the adopted modules through the other finders, and gives them another `import`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in ADOPTED:
            return None
        return loaded_by(found_by_others(self, name, path, target), _executing)


def _executing(execute: Execute) -> Execute:
    def exec_module(module: types.ModuleType) -> None:
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import}
        execute(module)

    return exec_module


_FINDER = _AdoptedFinder()

"""A copy of a user's function for real Numba: names that refer to a stand-in refer to Numba's own objects instead.

Numba looks names up in a function's globals and closure while it compiles. So the copy has the same code object, and
its own globals and cells.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

from vgpu.base.ours import ours
from vgpu.compile import numba_adapter

STAND_IN = "vgpu.standins.numba_cuda"


class Pending:
    """A device function that is being compiled and calls itself: names get its value as soon as there is one."""

    def __init__(self) -> None:
        self._waiting: list[Callable] = []

    def then(self, put: Callable) -> None:
        self._waiting.append(put)

    def settle(self, value) -> None:
        for put in self._waiting:
            put(value)


def rebind(function, capability) -> types.FunctionType:
    """A function with the same code whose `cuda` is `numba.cuda` and whose device functions are Numba's."""
    return with_names(function, lambda value: real(value, capability))


def with_names(function: types.FunctionType, translate: Callable) -> types.FunctionType:
    """A function with the same code whose globals and closure have `translate(value)` in place of each value."""
    have = function.__globals__
    wanted = {name for name in _names(function.__code__) if name in have}
    cells = tuple(_cell(cell, translate) for cell in function.__closure__ or ())
    own = ("__builtins__", "__name__", "__file__", "__package__")
    names: dict[str, Any] = {name: have[name] for name in own if name in have}
    for name in wanted:
        _give(translate(have[name]), functools.partial(names.__setitem__, name))
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells or None)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__, copy.__qualname__, copy.__doc__ = (
        function.__module__,
        function.__qualname__,
        function.__doc__,
    )
    return copy


def _cell(cell, translate: Callable) -> types.CellType:
    made = types.CellType()
    with contextlib.suppress(ValueError):  # a closure variable without a value yet
        _give(translate(cell.cell_contents), functools.partial(setattr, made, "cell_contents"))
    return made


def _give(value, put: Callable) -> None:
    value.then(put) if isinstance(value, Pending) else put(value)


def _names(code: types.CodeType) -> set[str]:
    """All global names used by the code and by functions defined inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def real(value, capability):
    """Numba's own object for `value`, where that is a stand-in; else `value`."""
    if isinstance(value, types.ModuleType):
        return _module(value)
    if isinstance(value, numba_adapter.Dispatcher) and not str(value.py_func.__module__).startswith("numba."):
        # A device function of real Numba, on a machine with a GPU: compiled there without source lines.
        from vgpu.standins.numba.dispatcher import stand_in

        value = stand_in(value)
    as_device_function = getattr(type(value), "as_device_function", None)
    return value if as_device_function is None else as_device_function(value, capability)


def _module(module: types.ModuleType):
    if module.__name__ == STAND_IN:
        return numba_adapter.cuda
    if ours(module.__name__) or getattr(vars(module).get("cuda"), "__name__", None) == STAND_IN:
        # `vgpu.cuda.grid(1)`: a copy of the package for Numba, with the real module in it.
        package = types.ModuleType(module.__name__)
        package.__dict__.update(vars(module))
        if getattr(module, "cuda", None) is sys.modules.get(STAND_IN):
            package.__dict__["cuda"] = numba_adapter.cuda
        return package
    return module


def _seen(value, capability):
    """`real(value)` where Numba finds the value itself; Numba's own device functions stay as they are."""
    if not isinstance(value, types.ModuleType) and not hasattr(type(value), "as_device_function"):
        return value
    found = real(value, capability)
    return value if isinstance(found, Pending) else found


numba_adapter.see_values(_seen)

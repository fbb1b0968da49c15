"""A user's function as real Numba wants it: every name that means a stand-in made to mean the real thing.

Numba looks names up in a function's globals and closure while it compiles. So the code object stays as it is,
and the new function gets globals and cells of its own.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Callable

from vgpu.base.ours import ours
from vgpu.compile import python as compile_numba

STAND_IN = "vgpu.standins.numba_cuda"


class Pending:
    """What a name shall mean as soon as it is there: the device function that is being made, which calls itself."""

    def __init__(self):
        self._waiting: list[Callable] = []

    def then(self, put: Callable) -> None:
        self._waiting.append(put)

    def settle(self, value) -> None:
        for put in self._waiting:
            put(value)


def rebind(function, capability) -> types.FunctionType:
    """A function with the same code whose `cuda` is `numba.cuda` and whose device functions are Numba's."""
    return with_names(function, lambda value: real(value, capability))


def with_names(function, translate: Callable) -> types.FunctionType:
    """A function with the same code that sees `translate(value)` wherever a name of its own means `value`."""
    have = function.__globals__
    wanted = {name for name in _names(function.__code__) if name in have}
    cells = tuple(_cell(cell, translate) for cell in function.__closure__ or ())
    names = {name: have[name] for name in ("__builtins__", "__name__", "__file__", "__package__") if name in have}
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
    with contextlib.suppress(ValueError):  # a name of the closure that has no value yet
        _give(translate(cell.cell_contents), functools.partial(setattr, made, "cell_contents"))
    return made


def _give(value, put: Callable) -> None:
    value.then(put) if isinstance(value, Pending) else put(value)


def _names(code: types.CodeType) -> set[str]:
    """Every name that the code, or a function defined inside it, might look up."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def real(value, capability):
    """What Numba should see where the user wrote `value`."""
    if isinstance(value, types.ModuleType):
        return _module(value)
    if isinstance(value, compile_numba.Dispatcher) and not str(value.py_func.__module__).startswith("numba."):
        # A device function of real Numba, on a machine with a GPU: compiled there without source lines.
        from vgpu.standins.numba.dispatcher import stand_in

        value = stand_in(value)
    as_device_function = getattr(type(value), "as_device_function", None)
    return value if as_device_function is None else as_device_function(value, capability)


def _module(module: types.ModuleType):
    if module.__name__ == STAND_IN:
        return compile_numba.cuda
    if ours(module.__name__) or getattr(vars(module).get("cuda"), "__name__", None) == STAND_IN:
        # `vgpu.cuda.grid(1)`: the package as Numba shall see it, with the real module in it.
        package = types.ModuleType(module.__name__)
        package.__dict__.update(vars(module))
        if getattr(module, "cuda", None) is sys.modules.get(STAND_IN):
            package.cuda = compile_numba.cuda
        return package
    return module


def _seen(value, capability):
    """What Numba should see where it finds `value` itself: of Numba's own device functions nothing is to be made."""
    if not isinstance(value, types.ModuleType) and not hasattr(type(value), "as_device_function"):
        return value
    found = real(value, capability)
    return value if isinstance(found, Pending) else found


compile_numba.see_values(_seen)

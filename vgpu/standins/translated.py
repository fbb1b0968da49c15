"""A program for a real GPU, translated for the virtual GPU by replacing the values of its names.

A function that issues work to a GPU looks up `cp`, `cuda`, its kernels, its helper functions and its classes in its
globals and closure. Its copy has the same code object, and gets the stand-ins, twins of the kernels, copies of the
arrays, and CPU tensors for PyTorch's tensors on the GPU, since the virtual GPU's memory is the host's.
"""

from __future__ import annotations

import types
from importlib import import_module
from typing import Any

from vgpu.base.ours import ours
from vgpu.standins import twins
from vgpu.standins.numba.rebind import with_names

STAND_INS = {
    "cupy": "vgpu.standins.cupy",
    "cupy.cuda": "vgpu.standins.cupy.cuda",
    "cupyx": "vgpu.standins.cupyx",
    "numba.cuda": "vgpu.standins.numba_cuda",
}
"""Modules for a real GPU, and the stand-in of each."""


def to_virtual(value):
    """`value` with everything of a real GPU replaced: modules, kernels, arrays, and functions that name them.

    Lists, tuples and dictionaries are translated recursively; every array is copied once. Classes that are defined in
    the module of the first function, and objects of such classes, are copied attribute by attribute: they are the
    user's own, such as `torch.autograd.Function`s. Everything else is returned unchanged.
    """
    return _Translation().to_virtual(value)


class _Translation:
    """One translation: a value that occurs twice is replaced by the same value."""

    def __init__(self) -> None:
        self._home: str | None = None  # the module whose classes are translated
        self._done: dict[int, Any] = {}
        self._kept: list = []  # keeps the ids in `_done` unique

    def to_virtual(self, value):
        if id(value) not in self._done:
            self._kept.append(value)
            self._done[id(value)] = self._replaced(value)
        return self._done[id(value)]

    def _replaced(self, value):
        if isinstance(value, types.ModuleType):
            return import_module(STAND_INS[value.__name__]) if value.__name__ in STAND_INS else value
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            return type(value)(map(self.to_virtual, value))
        if type(value) is dict:
            return {key: self.to_virtual(each) for key, each in value.items()}
        if _is_torch("device", value) and value.type == "cuda":
            return type(value)("cpu")
        if _is_torch("Tensor", value) and value.device.type == "cuda":
            return value.detach().cpu().requires_grad_(value.requires_grad)
        if self._is_own(value):
            return self._class(value)
        if self._is_own(type(value)):
            return self._object(value)
        kernel, (array,), _ = twins.twin(value, (value,))
        return array if kernel is value else kernel

    def _function(self, function: types.FunctionType):
        if ours(function.__module__):
            return function  # it chooses the real or the virtual GPU itself
        self._home = self._home or function.__module__
        # A function may name itself, so it gets an entry before its names are translated.
        self._done[id(function)] = lambda *args, **named: self._done[id(function)](*args, **named)
        return with_names(function, self.to_virtual)

    def _is_own(self, value) -> bool:
        return isinstance(value, type) and value.__module__ == self._home

    def _class(self, own: type) -> type:
        inner = ("__dict__", "__weakref__", *vars(own).get("__slots__", ()))
        body = {name: value for name, value in vars(own).items() if name not in inner}
        made = type(own)(own.__name__, tuple(map(self.to_virtual, own.__bases__)), body)
        # A method may name its class, so the class gets an entry before its methods are translated.
        self._done[id(own)] = made
        for name, value in body.items():
            if isinstance(value, types.FunctionType):
                setattr(made, name, self.to_virtual(value))
            elif isinstance(value, staticmethod | classmethod):
                setattr(made, name, type(value)(self.to_virtual(value.__func__)))
            elif isinstance(value, property):
                setattr(made, name, property(*map(self.to_virtual, (value.fget, value.fset, value.fdel))))
        return made

    def _object(self, own):
        made = object.__new__(self.to_virtual(type(own)))
        self._done[id(own)] = made
        for name, value in vars(own).items():
            object.__setattr__(made, name, self.to_virtual(value))  # frozen ones allow no other way
        return made


def _is_torch(name: str, value) -> bool:
    """Whether `value` is of PyTorch's class of that name, without importing PyTorch."""
    return any((each.__module__, each.__name__) == ("torch", name) for each in type(value).__mro__)

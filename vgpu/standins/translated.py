"""A program for a real GPU's modules as one for the virtual GPU: what its names mean, replaced.

A function that asks for stream work looks up `cp`, `cuda`, its kernels, its own helper functions and its own classes in
its globals and closure. The code object stays; the copy sees the stand-ins, twins of the kernels, copies of the arrays,
and the CPU's tensors for PyTorch's on the GPU, for there the virtual GPU's memory lies.
"""

from __future__ import annotations

import types
from importlib import import_module

from vgpu.base.ours import ours
from vgpu.standins import twins
from vgpu.standins.numba.rebind import with_names

STAND_INS = {
    "cupy": "vgpu.standins.cupy",
    "cupy.cuda": "vgpu.standins.cupy.cuda",
    "cupyx": "vgpu.standins.cupyx",
    "numba.cuda": "vgpu.standins.numba_cuda",
}
"""Modules of a real GPU, and what stands for each."""


def to_virtual(value):
    """`value` with all that belongs to a real GPU replaced: modules, kernels, arrays, and functions that name them.

    Lists, tuples and dictionaries are gone through; every array gets a copy of its own. Classes are copied where they
    come from the module of the first function that is met, and so are objects of such classes, attribute by attribute:
    a user's own, such as `torch.autograd.Function`s. What is none of these is handed back as it is.
    """
    return _Walk().to_virtual(value)


class _Walk:
    """One replacement: a thing that is met twice is replaced by the same thing."""

    def __init__(self):
        self._home: str | None = None  # the module whose classes are gone through
        self._done: dict[int, object] = {}
        self._kept: list = []  # so that no address in `_done` is used again

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
            return function  # it asks where it runs
        self._home = self._home or function.__module__
        # A function may name itself, so its place is taken before its names are gone through.
        self._done[id(function)] = lambda *args, **named: self._done[id(function)](*args, **named)
        return with_names(function, self.to_virtual)

    def _is_own(self, value) -> bool:
        return isinstance(value, type) and value.__module__ == self._home

    def _class(self, own: type) -> type:
        inner = ("__dict__", "__weakref__", *vars(own).get("__slots__", ()))
        body = {name: value for name, value in vars(own).items() if name not in inner}
        made = type(own)(own.__name__, tuple(map(self.to_virtual, own.__bases__)), body)
        # A method may name its class, so its place is taken before the methods are gone through.
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
    """Whether `value` is of PyTorch's class of that name; asking imports nothing."""
    return any((each.__module__, each.__name__) == ("torch", name) for each in type(value).__mro__)

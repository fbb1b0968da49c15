"""A program for a real GPU's modules as one for the virtual GPU: what its names mean, replaced.

A function that asks for stream work looks up `cp`, `cuda`, its kernels and its own helper functions in its globals
and closure. The code object stays; the copy sees the stand-ins, twins of the kernels and copies of the arrays.
"""

from __future__ import annotations

import types
from importlib import import_module

from helpers.vgpu.standins import twins
from helpers.vgpu.standins.numba.rebind import with_names

STAND_INS = {
    "cupy": "helpers.vgpu.standins.cupy",
    "cupy.cuda": "helpers.vgpu.standins.cupy.cuda",
    "cupyx": "helpers.vgpu.standins.cupyx",
    "numba.cuda": "helpers.vgpu.standins.numba_cuda",
}
"""Modules of a real GPU, and what stands for each."""


def to_virtual(value):
    """`value` with all that belongs to a real GPU replaced: modules, kernels, arrays, and functions that name them.

    Lists, tuples and dictionaries are gone through; every array gets a copy of its own. What is none of these is
    handed back as it is.
    """
    return _Walk().to_virtual(value)


class _Walk:
    """One replacement: a thing that is met twice is replaced by the same thing."""

    def __init__(self):
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
        kernel, (array,), _ = twins.twin(value, (value,))
        return array if kernel is value else kernel

    def _function(self, function: types.FunctionType):
        if str(function.__module__).startswith("helpers."):
            return function  # the workbook's own, which asks where it runs
        # A function may name itself, so its place is taken before its names are gone through.
        self._done[id(function)] = lambda *args, **named: self._done[id(function)](*args, **named)
        return with_names(function, self.to_virtual)

"""A description of everything that the PTX of a Python kernel depends on, as a key for the disk cache.

Numba compiles a function from its bytecode, the values of its closure and its global names (device functions included)
and the types of its arguments. Each value is described as it is when the kernel is compiled. A value of a type without
a row in `_KINDS` makes the kernel not describable, and each process compiles it again.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

LIBRARIES = ("builtins", "cmath", "math", "numba", "numpy", "operator")
"""The contents of these packages change only with their versions (and Python's)."""
_CELLS = re.compile(r".*\bipykernel_\d+")  # the folder in the file names of a notebook's cells, with the process id
_CELLS_FOLDER = "<cells>"


class NotDescribable(Exception):
    """A value without a description that holds in another process."""


def without_process(text: str, filename: str) -> str:
    """A text compiled from this file, without the process id in the file name of a notebook's cell."""
    found = _CELLS.match(filename)
    return text if found is None else text.replace(found[0], _CELLS_FOLDER)


def of_process(text: str, filename: str) -> str:
    """The inverse, in the process that the file belongs to."""
    found = _CELLS.match(filename)
    return text if found is None else text.replace(_CELLS_FOLDER, found[0])


class KernelDescription:
    """Describes functions and values; `device_functions` are the dispatchers that it met on its way.

    dispatcher: Numba's class of device functions; numba: its module of types.
    """

    def __init__(self, dispatcher: type, numba: types.ModuleType):
        self.device_functions: list = []
        self._dispatcher, self._numba = dispatcher, numba
        self._seen: dict[int, int] = {}
        self._attributes: set[str] = set()

    def function(self, function: types.FunctionType) -> list:
        """A function with all that its names mean; of one that is described already, its number."""
        if id(function) in self._seen:
            return ["again", self._seen[id(function)]]
        self._seen[id(function)] = len(self._seen)
        code = function.__code__
        globals_ = {i.argval for i in _instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        self._attributes |= {name for part in _codes(code) for name in part.co_names}
        known = function.__globals__
        return [
            function.__module__, function.__qualname__, self.code(code), self.value(function.__defaults__),
            sorted((name, self.value(value)) for name, value in (function.__kwdefaults__ or {}).items()),
            [[name, self.value(known[name])] for name in sorted(globals_) if name in known],
            [self.cell(cell) for cell in function.__closure__ or ()],
        ]  # fmt: skip

    def code(self, code: types.CodeType) -> list:
        return [
            code.co_code.hex(), [self.constant(constant) for constant in code.co_consts],
            code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
            code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags,
            without_process(code.co_filename, code.co_filename), code.co_firstlineno, code.co_linetable.hex(),
            code.co_exceptiontable.hex(), code.co_qualname,
        ]  # fmt: skip

    def constant(self, constant: object) -> list[Any]:
        if isinstance(constant, types.CodeType):
            return self.code(constant)
        return sorted(map(repr, constant)) if isinstance(constant, frozenset) else self.value(constant)

    def cell(self, cell: types.CellType) -> list:
        try:
            held = cell.cell_contents
        except ValueError:  # a name of the closure that has no value yet
            return ["empty"]
        return self.value(held)

    def value(self, value: Any) -> list[Any]:
        """A value as lists of texts. Raises NotDescribable."""
        if isinstance(value, self._dispatcher):
            return self.device_function(value)
        if isinstance(value, self._numba.Type):
            return self.types([value])
        for kind, describe in _KINDS.items():
            if type(value) is kind:
                return [kind.__name__, describe(self, value)]
        if isinstance(value, np.generic):
            return [repr(value.dtype), value.tobytes().hex()]
        if isinstance(value, enum.Enum):
            return [
                type(value).__qualname__,
                value.name,
                [[member.name, self.value(member.value)] for member in type(value)],
            ]
        if isinstance(value, np.dtype):
            return ["dtype", repr(value)]
        return self.named(value)

    def device_function(self, dispatcher: Any) -> list[Any]:
        if _library(dispatcher.py_func.__module__):
            return self.named(dispatcher)
        self.device_functions.append(dispatcher)
        options = sorted((name, self.value(value)) for name, value in dispatcher.targetoptions.items())
        fixed = None if dispatcher._can_compile else sorted(map(str, dispatcher.overloads))
        return [self.function(dispatcher.py_func), options, fixed]

    def module(self, module: types.ModuleType) -> list:
        """A library by its name; another module by what the function may take of it."""
        if _library(module.__name__):
            return [module.__name__]
        held = vars(module)
        return [[name, self.value(held[name])] for name in sorted(self._attributes & held.keys())]

    def types(self, kinds: Sequence) -> list[str]:
        """The names of Numba's types, where the name identifies the type. Raises NotDescribable."""
        if not all(map(self._plain, kinds)):
            raise NotDescribable("a type whose name does not say all")
        return list(map(str, kinds))

    def _plain(self, kind: Any) -> bool:
        numba = self._numba
        if type(kind) is numba.Array:
            return self._plain(kind.dtype)
        if type(kind) in (numba.UniTuple, numba.Tuple):
            return all(map(self._plain, kind.types))
        return type(kind) in (numba.Integer, numba.Float, numba.Boolean, numba.Complex, numba.Record)

    def named(self, value: Any) -> list[Any]:
        """The name of a value that a library defines: a class, a function, a type of Numba."""
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        found = sys.modules.get(module) if isinstance(module, str) and _library(module) else None
        for part in name.split(".") if isinstance(name, str) else ():
            found = getattr(found, part, None)
        if name is None or found is not value:
            raise NotDescribable(f"a {type(value).__name__} of which no name is known")
        return [module, name]


_KINDS: dict[type, Callable[[KernelDescription, Any], object]] = {
    **dict.fromkeys((type(None), bool, int, float, complex, str, bytes, type(Ellipsis)), lambda d, value: repr(value)),
    tuple: lambda d, value: [d.value(each) for each in value],
    list: lambda d, value: [d.value(each) for each in value],
    np.ndarray: lambda d, value: _array(value),
    types.ModuleType: lambda d, value: d.module(value),
}


def _array(array: np.ndarray) -> list:
    if array.dtype.hasobject:
        raise NotDescribable("an array of objects")
    return [repr(array.dtype), array.shape, array.strides, hashlib.sha256(array.tobytes()).hexdigest()]


def _library(module: str | None) -> bool:
    return str(module).split(".")[0] in LIBRARIES


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _instructions(code: types.CodeType) -> Iterator[dis.Instruction]:
    return (instruction for part in _codes(code) for instruction in dis.get_instructions(part))

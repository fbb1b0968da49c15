"""From Python values to kernel parameters: Numba's calling convention, byte for byte.

An array becomes (0, 0, elements, bytes an element, address, shape …, strides …), each a 64-bit parameter; a
tuple its items one after another; a complex number its two parts; a number itself.
"""

from __future__ import annotations

import functools
import struct
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from vgpu.base.errors import ArgumentError
from vgpu.base.ours import ours
from vgpu.compile.numba_adapter import PerformanceWarning, typeof, types
from vgpu.standins.numba.array import DeviceNDArray
from vgpu.standins.numba.transfer import as_cuda_array, is_cuda_array, to_device
from vgpu.storage.memory import ArrayInfo


@dataclass(frozen=True, eq=False)
class ArgumentHint:
    """`cuda.In`, `cuda.Out` and `cuda.InOut`: in which direction a host array is copied around a launch."""

    value: Any

    copies_in = True
    copies_out = True


class In(ArgumentHint):
    """Copy the host array to the device before the launch only."""

    copies_out = False


class Out(ArgumentHint):
    """Copy the host array back after the launch only."""

    copies_in = False


class InOut(ArgumentHint):
    """Copy the host array both ways, as happens without a hint."""


# Types that a kernel cannot take → what to pass instead.
_INSTEAD = {
    "list": "numpy.array({name}, dtype=numpy.float32), or a tuple when it is short",
    "set": "numpy.array(sorted({name}))",
    "dict": "one array for each thing that the dictionary holds",
    "str": "numbers; a kernel cannot work with text",
    "NoneType": "an array or a number (of no elements, or a flag, where the argument may be missing), and look whether "
    "the call that made `{name}` returns anything",
    "Tensor": "{name}.numpy() (after .detach() and .cpu()), or cuda.to_device({name}.numpy())",
    "DataFrame": "{name}.to_numpy()",
    "Series": "{name}.to_numpy()",
    "range": "its length, and let each thread compute its own value",
    "function": "nothing: call device functions by name inside the kernel",
}


# Kinds of dtype that no kernel takes, in words.
_NO_NUMBERS = {"O": "Python objects"}


def present(value: Any) -> Any:
    """An argument with other libraries' device arrays as `DeviceNDArray`s over the same memory."""
    if isinstance(value, DeviceNDArray | int | float | np.generic):
        return value
    if isinstance(value, tuple):
        items = [present(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, ArgumentHint):
        return type(value)(present(value.value))
    return as_cuda_array(value) if is_cuda_array(value) else value


def type_of(value, name: str, kernel: str):
    """The Numba type of one argument; raises `ArgumentError` that says what to pass instead."""
    value = value.value if isinstance(value, ArgumentHint) else value
    if isinstance(value, DeviceNDArray):
        return value._numba_type_
    simple = value.__class__
    if simple in _SIMPLE and (simple is not int or -(1 << 63) <= value < 1 << 63):
        return _type_by_class(simple)
    kind = type(value).__name__
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype) and (what := _NO_NUMBERS.get(dtype.kind)):
        raise ArgumentError(
            f"`{kernel}`: argument `{name}` is an array of {what} (dtype {dtype}), and kernels work on numbers. Where "
            f"that is what the elements mean, pass {name}.astype(numpy.float32)."
        )
    if kind not in _INSTEAD:
        try:
            return typeof(value)
        except (ValueError, TypeError, NotImplementedError):
            pass
    instead = _INSTEAD.get(kind, "NumPy arrays, device arrays, numbers, or tuples of these").format(name=name)
    raise ArgumentError(f"`{kernel}`: argument `{name}` is a {kind}, which a kernel cannot take. Pass {instead}.")


_SIMPLE = {bool, int, float, complex, *(np.dtype(code).type for code in "?bhilqBHILQfdFD")}
"""Classes all of whose numbers have one type; of int, those that fit into 64 bits with a sign."""


@functools.cache
def _type_by_class(kind: type):
    return typeof(kind())


def mismatch(expected, given) -> str | None:
    """Why a value of Numba type `given` cannot go where the signature says `expected`; None when it can."""
    if expected == given:
        return None
    if isinstance(expected, types.Array):
        if not isinstance(given, types.Array):
            return f"is {given}, not an array"
        if given.dtype != expected.dtype:
            return f"has elements of type {given.dtype}, the signature says {expected.dtype}"
        if given.ndim != expected.ndim:
            return f"has {given.ndim} dimension(s), the signature says {expected.ndim}"
        if expected.layout not in ("A", given.layout):
            return f"has layout {given.layout!r}, the signature asks for {expected.layout!r} (contiguous)"
        if expected.mutable and not given.mutable:
            return "is read-only, and the signature lets the kernel write"
        return None
    if isinstance(expected, types.BaseTuple):
        if not isinstance(given, types.BaseTuple) or len(given) != len(expected):
            return f"is {given}, not a tuple of {len(expected)}"
        return next((why for pair in zip(expected, given, strict=True) if (why := mismatch(*pair))), None)
    if isinstance(expected, types.Integer | types.Boolean) and isinstance(given, types.Integer | types.Boolean):
        return None
    if isinstance(expected, types.Float) and isinstance(given, types.Integer | types.Boolean | types.Float):
        return None
    if isinstance(expected, types.Complex) and isinstance(given, types.Number):
        return None
    if isinstance(expected, types.CPointer) and isinstance(given, types.Integer):
        return None  # an address
    return f"is {given}, the signature says {expected}"


class Packer:
    """Collects the parameters of one launch; `finish()` calls `first`, then copies back what came from the host.

    extensions: objects with a `prepare_args`, as `@cuda.jit(extensions=…)` takes them; the last is asked first.
    """

    def __init__(self, extensions=()):
        self.first: Callable[[], None] = lambda: None
        self._extensions = tuple(reversed(tuple(extensions)))
        self.params: list[bytes] = []
        self.arrays: list[ArrayInfo] = []
        self._after: list = []

    def add(self, expected, value, name: str) -> None:
        """Append the parameters of one argument of Numba type `expected`."""
        for extension in self._extensions:
            expected, value = extension.prepare_args(expected, value, stream=0, retr=self._after)
        _ways(expected.__class__)(self, expected, value, name)

    def add_array(self, expected, value, name: str) -> None:
        self._array(self._to_device(value), name)

    def add_record(self, expected, value, name: str) -> None:
        self._record(self._to_device(value), name)

    def add_items(self, expected, value, name: str) -> None:
        for i, (kind, item) in enumerate(zip(expected, _given(value), strict=True)):
            self.add(kind, item, f"{name}[{i}]")

    def add_member(self, expected, value, name: str) -> None:
        self.add(expected.dtype, _given(value).value, name)

    def add_number(self, expected, value, name: str) -> None:
        self.params += scalar(expected, _given(value))

    def finish(self) -> None:
        """Raise what the kernel raised, or copy back to the host arrays that were given directly."""
        self.first()
        for action in self._after:
            action()

    def _to_device(self, value: Any) -> DeviceNDArray:
        if isinstance(value, DeviceNDArray):
            return value
        hint = value if isinstance(value, ArgumentHint) else InOut(value)
        if isinstance(value := hint.value, DeviceNDArray):
            return value
        device = to_device(value, copy=hint.copies_in)
        if not isinstance(hint.value, np.void) and type(hint) is InOut:
            warnings.warn(
                "Host array used in CUDA kernel will incur copy overhead to/from device.",
                PerformanceWarning,
                stacklevel=_users_frame(),
            )
        if hint.copies_out:
            self._after.append(lambda: _copy_back(device, value))
        return device

    def _array(self, device: DeviceNDArray, name: str) -> None:
        data = device._data
        address = data.ctypes.data
        words = (0, 0, data.size, data.itemsize, address, *data.shape, *data.strides)
        self.params += [word.to_bytes(8, "little", signed=True) for word in words]
        self._note(device, name, address)

    def _record(self, device: DeviceNDArray, name: str) -> None:
        address = device._data.ctypes.data
        self.params.append(struct.pack("<q", address))
        self._note(device, name, address)

    def _note(self, device: DeviceNDArray, name: str, address: int) -> None:
        self.arrays.append(
            ArrayInfo(name, address, device.alloc_size, _dtype_name(device.dtype), device.shape, device.strides)
        )
        # The launch has only addresses, so this keeps the memory until the launch has ended.
        self._after.append(lambda: device)


_dtype_name = functools.lru_cache(maxsize=256)(str)


def _users_frame() -> int:
    """The `stacklevel` of the innermost frame outside this package, for `warnings.warn`."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


def _copy_back(device: DeviceNDArray, value: Any) -> None:
    if isinstance(value, np.void):
        for field in value.dtype.names or ():
            value[field] = device[field]
    elif isinstance(value, np.ndarray) and value.flags.writeable:
        device.copy_to_host(value)


@functools.cache
def _ways(kind: type) -> Callable[[Packer, Any, Any, str], None]:
    """How arguments of a class of Numba types are packed."""
    return next((add for kinds, add in _WAYS if issubclass(kind, kinds)), Packer.add_number)


_WAYS = (
    (types.Array, Packer.add_array),
    (types.Record, Packer.add_record),
    (types.BaseTuple, Packer.add_items),
    (types.EnumMember, Packer.add_member),
)


def _given(value: Any) -> Any:
    return value.value if isinstance(value, ArgumentHint) else value


def scalar(expected, value) -> list[bytes]:
    """The parameters of one number, in the type of the compiled kernel."""
    return _numbers(expected.__class__)(expected, value)


def _complex(expected, value) -> list[bytes]:
    half = "<f" if expected.bitwidth == 64 else "<d"
    number = complex(value)
    return [struct.pack(half, number.real), struct.pack(half, number.imag)]


def _integer(expected, value) -> list[bytes]:
    bits = expected.bitwidth
    return [(int(value) & (1 << bits) - 1).to_bytes(bits // 8, "little")]


def _float(expected, value) -> list[bytes]:
    kind = _FLOATS[expected.bitwidth]
    if isinstance(value, kind):
        return [value.tobytes()]
    # Through NumPy: a number too large for the type becomes infinite instead of raising.
    with np.errstate(over="ignore"):
        return [kind(value).tobytes()]


_FLOATS: dict[int, Any] = {16: np.float16, 32: np.float32, 64: np.float64}


def _refused(expected, value) -> list[bytes]:
    raise ArgumentError(f"a kernel on the virtual GPU cannot take a {expected}; pass arrays and numbers")


@functools.cache
def _numbers(kind: type) -> Callable[[Any, Any], list[bytes]]:
    """What makes the parameters of numbers of a class of Numba types."""
    return next((convert for kinds, convert in _NUMBERS if issubclass(kind, kinds)), _refused)


_NUMBERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, Any], list[bytes]]], ...] = (
    (types.Complex, _complex),
    (types.Boolean, lambda expected, value: [struct.pack("<B", bool(value))]),
    (types.Integer, _integer),
    (types.Float, _float),
    (types.CPointer, lambda expected, value: [(int(value) % (1 << 64)).to_bytes(8, "little")]),
    (
        (types.NPDatetime, types.NPTimedelta),
        lambda expected, value: [struct.pack("<q", int(np.asarray(value).view(np.int64)))],
    ),
)

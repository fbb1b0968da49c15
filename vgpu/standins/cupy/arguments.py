"""From the arguments of a launch to the bytes that the kernel reads, checked against the kernel's declaration.

CuPy on a GPU checks nothing: a Python float for a `float` parameter is passed as the eight bytes of a double, and the
kernel reads half of them. Here the kernel's parameters are known, so such an argument is an error that says what to
pass. Arguments that work on a GPU by luck (a Python int for an `int`) are accepted.
"""

from __future__ import annotations

import functools
import struct
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu.base.errors import ArgumentError
from vgpu.base.words import plural
from vgpu.standins.cupy.convert import from_interface
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.pointer import MemoryPointer
from vgpu.standins.cupy.pools import PinnedMemoryPointer
from vgpu.standins.cupy.texture import SurfaceObject, TextureObject
from vgpu.storage.memory import ArrayInfo

if TYPE_CHECKING:
    from vgpu.ptx import Parameter
    from vgpu.standins.cupy.signature import CParameter

_FIRST_PAGE = 4096  # no array begins below this address
_SPELLINGS = {"f4": "np.float32", "f8": "np.float64", "f2": "np.float16"}


class KernelParameter:
    """One parameter of a kernel: its position from 1, its PTX declaration, and that of the source where known."""

    dtype: np.dtype | None

    def __init__(self, kernel: str, position: int, ptx: Parameter, c: CParameter | None):
        self.kernel, self.position, self.ptx, self.c = kernel, position, ptx, c
        self.nbytes = ptx.nbytes
        self.fitting: set[np.dtype] = set()  # arrays of these dtypes were accepted without a word
        self.by_value = ptx.type == "b8" and ptx.nbytes > 1  # PTX passes structs as bytes
        if c is not None and not c.pointer and not c.vector and c.dtype is not None and c.dtype.itemsize == ptx.nbytes:
            self.dtype = c.dtype
        elif self.by_value:
            self.dtype = None
        else:
            letter = ptx.type[0] if ptx.type[0] in "uf" else "i"
            self.dtype = np.dtype(f"{letter}{ptx.nbytes}")

    @property
    def name(self) -> str:
        return self.c.name if self.c else f"argument {self.position}"

    @property
    def pointer(self) -> bool:
        """Whether an address may go here."""
        return self.c.pointer if self.c else self.nbytes == 8 and self.ptx.type in ("u64", "b64", "s64")

    def __str__(self) -> str:
        what = f"`{self.c}`" if self.c else f"a parameter of {self.nbytes} bytes ({self.ptx.type})"
        return f"argument {self.position} of {self.kernel}, {what}"

    def wrong(self, got: str, fix: str) -> ArgumentError:
        return ArgumentError(f"{self}: {got}. {fix}")


def kernel_parameters(
    name: str, ptx_parameters: Sequence[Parameter], c_parameters: Sequence[CParameter] | None
) -> list[KernelParameter]:
    """The kernel's parameters; those of the source are used only if there are as many as in the PTX."""
    from_source: Sequence[CParameter | None] = c_parameters or ()
    if len(from_source) != len(ptx_parameters):
        from_source = [None] * len(ptx_parameters)
    pairs = zip(ptx_parameters, from_source, strict=True)
    return [KernelParameter(name, position, ptx, c) for position, (ptx, c) in enumerate(pairs, start=1)]


def pack(name: str, parameters: Sequence[KernelParameter], args) -> tuple[list[bytes], list[ArrayInfo]]:
    """The bytes of every parameter, and the layouts of the arrays among the arguments.

    Raises ArgumentError naming the argument, its C type and what to pass instead.
    """
    if not isinstance(args, (tuple, list)):
        raise ArgumentError(
            f"{name}: the arguments are a tuple, and {type(args).__name__} was given. "
            "One argument alone needs a comma: (x,)."
        )
    if len(args) != len(parameters):
        wanted = ", ".join(str(parameter.c or parameter.ptx.type) for parameter in parameters)
        raise ArgumentError(
            f"{name}({wanted}) takes {plural(len(parameters), 'argument')}, and {len(args)} "
            f"{'was' if len(args) == 1 else 'were'} given"
        )
    params, arrays = [], []
    for parameter, arg in zip(parameters, args, strict=True):
        convert = _conversion(arg.__class__)
        if convert is _no_argument and hasattr(arg, "__cuda_array_interface__"):
            arg, convert = from_interface(arg), _array
        params.append(convert(parameter, arg))
        if convert is _array:
            arrays.append(_info(parameter, arg, int.from_bytes(params[-1], "little")))
    return params, arrays


def _info(parameter: KernelParameter, arg: ndarray, address: int) -> ArrayInfo:
    host = arg._host
    return ArrayInfo(parameter.name, address, host.nbytes, _dtype_name(host.dtype), host.shape, host.strides)


@functools.lru_cache(maxsize=256)
def _dtype_name(dtype: np.dtype) -> str:
    return dtype.name


@functools.lru_cache(maxsize=256)
def _conversion(kind: type) -> Callable[[KernelParameter, Any], bytes]:
    """What makes the bytes of a parameter of an argument of this type."""
    return next((convert for kinds, convert in _CONVERSIONS if issubclass(kind, kinds)), _no_argument)


def _no_argument(parameter: KernelParameter, arg) -> bytes:
    fix = "A kernel takes arrays on the device, numbers, and structs as np.void or bytes."
    if hasattr(arg, "__array__"):  # such as a tensor of PyTorch on the CPU
        fix += " Make an array on the device of it: x = cp.asarray(x)."
    raise parameter.wrong(f"{type(arg).__name__} was given", fix)


def _address(parameter: KernelParameter, arg) -> bytes:
    if not parameter.pointer:
        raise parameter.wrong("an address was given", f"Pass a number: {_spell(parameter)}(…).")
    return struct.pack("<Q", int(arg.ptr))


def _handle(parameter: KernelParameter, arg) -> bytes:
    if parameter.nbytes != 8 or (parameter.c and parameter.c.pointer):
        raise parameter.wrong(
            f"a {type(arg).__name__} was given", "Declare the parameter as cudaTextureObject_t in the kernel."
        )
    return struct.pack("<Q", arg.ptr)


def _array(parameter: KernelParameter, arg: ndarray) -> bytes:
    host = arg._host
    if host.dtype not in parameter.fitting:
        _check_array(parameter, arg)
    return host.ctypes.data.to_bytes(8, "little")


def _check_array(parameter: KernelParameter, arg: ndarray) -> None:
    """Raise ArgumentError for an array that the kernel would misread, and warn where it perhaps would."""
    if not parameter.pointer:
        fix = f"Pass a number, such as {_spell(parameter)}({'x.item()' if arg.size == 1 else 'n'})."
        if parameter.c and "Object_t" in str(parameter.c):
            what = "Surface" if "Surface" in str(parameter.c) else "Texture"
            fix = f"Pass a cp.cuda.texture.{what}Object made over a CUDAarray that holds the values."
        raise parameter.wrong("an array was given where the kernel takes a value", fix)
    points_to = parameter.c.dtype if parameter.c else None
    vector = parameter.c is not None and parameter.c.vector
    if points_to is not None and not _reads(points_to, arg.dtype, vector):
        wanted = f"np.{points_to.name}"
        raise parameter.wrong(
            f"an array of {arg.dtype.name} was given, of which the kernel would take each element for "
            f"{'parts of' if arg.dtype.itemsize < points_to.itemsize else 'several'} numbers",
            f"Make the array with dtype={wanted}, convert it with x.astype({wanted}), which is a copy, or change the "
            f"kernel. To have the same bytes read as {points_to.name} on purpose: x.view({wanted}).",
        )
    if points_to is not None and not vector and _reinterpreted(points_to, arg.dtype):
        warnings.warn(
            f"{parameter}: an array of {arg.dtype.name} was given, whose bits the kernel reads as {points_to.name}. If "
            f"that is meant, x.view(np.{points_to.name}) says so; if not, x.astype(np.{points_to.name}) converts.",
            stacklevel=6,
        )
        return
    parameter.fitting.add(arg.dtype)


def _reinterpreted(wanted: np.dtype, given: np.dtype) -> bool:
    """Whether floats are read as integers of their size, or the other way round."""
    return wanted.itemsize == given.itemsize > 1 and "f" in (wanted.kind, given.kind) and wanted.kind != given.kind


def _reads(wanted: np.dtype, given: np.dtype, vector: bool) -> bool:
    """Whether an array of `given` may be passed for a pointer to `wanted`, or to a vector of it. CuPy accepts any.

    Kernels often reinterpret bits on purpose: bytes as uint4, halves as float4, floats as the integers that atomicCAS
    takes. They seldom reinterpret numbers of another size, except as vectors: such an array usually has NumPy's default
    of 64 bits by mistake.
    """
    if given.kind == "c":
        given = np.dtype(f"f{given.itemsize // 2}")
    if given.kind == "V" or 1 in (wanted.itemsize, given.itemsize) or wanted.itemsize == given.itemsize:
        return True
    return vector and not (wanted.kind == given.kind == "f" and given.itemsize > wanted.itemsize)


def _numpy_array(parameter: KernelParameter, arg: np.ndarray) -> bytes:
    if arg.dtype.kind == "V" and arg.size == 1:
        return _struct(parameter, arg)
    raise parameter.wrong(
        "a NumPy array was given, and that is in the host's memory, where a GPU cannot read it",
        "Copy it to the device once, before the launch: x = cp.asarray(x).",
    )


def _struct(parameter: KernelParameter, arg) -> bytes:
    data = arg.tobytes() if hasattr(arg, "tobytes") else bytes(arg)
    if len(data) != parameter.nbytes:
        raise parameter.wrong(
            f"a struct of {len(data)} bytes was given and the kernel takes {parameter.nbytes}",
            "np.dtype([...], align=True) lays fields out as C does.",
        )
    return data


def _null(parameter: KernelParameter, arg: None) -> bytes:
    if not parameter.pointer:
        raise parameter.wrong("None was given", "None stands for a null pointer, and this is none.")
    return bytes(8)


def _bool(parameter: KernelParameter, arg) -> bytes:
    if parameter.nbytes != 1:
        raise parameter.wrong("a bool was given, which is one byte", f"Pass {_spell(parameter)}({bool(arg)}).")
    return struct.pack("?", bool(arg))


def _int(parameter: KernelParameter, arg) -> bytes:
    if parameter.dtype is None or (parameter.c and parameter.c.vector and not parameter.pointer):
        raise parameter.wrong(f"the integer {arg} was given", "Pass the struct as np.void or bytes.")
    if parameter.pointer and parameter.c:
        if 0 < arg < _FIRST_PAGE:
            raise parameter.wrong(f"the number {arg} was given, which is no address", "Pass an array on the device.")
        return struct.pack("<Q", int(arg) & (2**64 - 1))
    if parameter.dtype.kind == "f":
        if isinstance(arg, np.generic):
            got = f"{type(arg).__name__} was given, whose bits would be read as a float"
        else:
            got = f"the integer {arg} was given, whose bits would be read as a float on a GPU"
        raise parameter.wrong(got, f"Pass {_spell(parameter)}({arg}).")
    if isinstance(arg, np.generic) and arg.nbytes < parameter.nbytes:
        got = f"{type(arg).__name__} has {arg.nbytes} bytes and the kernel reads {parameter.nbytes}"
        raise parameter.wrong(got, f"Pass {_spell(parameter)}({arg}).")
    bits = 8 * parameter.nbytes
    lowest, highest = (0, 2**bits - 1) if parameter.dtype.kind in "ub" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not parameter.c:  # PTX does not say whether a parameter has a sign
        lowest, highest = -(2 ** (bits - 1)), 2**bits - 1
    if not lowest <= int(arg) <= highest:
        raise parameter.wrong(
            f"{arg} does not fit into {bits} bits: it goes from {lowest} to {highest}",
            "Declare the parameter as long long in the kernel, or pass a smaller number.",
        )
    return (int(arg) & (2**bits - 1)).to_bytes(parameter.nbytes, "little")


def _float(parameter: KernelParameter, arg) -> bytes:
    given = arg.dtype if isinstance(arg, np.generic) else np.dtype(np.float64)
    if parameter.dtype is not None and not (parameter.pointer and parameter.c) and parameter.dtype == given:
        return np.asarray(arg, given).tobytes()
    if parameter.by_value and parameter.nbytes == given.itemsize == 2:  # __half is a struct of two bytes
        return np.asarray(arg, given).tobytes()
    who = given.name if isinstance(arg, np.generic) else "a Python float, which is a double of 8 bytes,"
    if parameter.pointer and parameter.c:
        raise parameter.wrong(f"{who} was given where the kernel takes a pointer", "Pass an array on the device.")
    raise parameter.wrong(
        f"{who} was given: a GPU would read wrong bits", f"Pass {_spell(parameter)}({_number(parameter, arg)})."
    )


def _number(parameter: KernelParameter, arg):
    whole = parameter.dtype is not None and parameter.dtype.kind in "iu" and arg == arg // 1
    return int(arg) if whole else arg


def _complex(parameter: KernelParameter, arg) -> bytes:
    given = arg.dtype if isinstance(arg, np.generic) else np.dtype(np.complex128)
    if parameter.nbytes != given.itemsize:
        fix = "Pass np.complex64(…) for a float complex, np.complex128(…) for a double one."
        raise parameter.wrong(f"{given.name} was given, {given.itemsize} bytes", fix)
    return np.asarray(arg, given).tobytes()


def _spell(parameter: KernelParameter) -> str:
    """The NumPy name of the parameter's type."""
    if parameter.dtype is None:
        return "np.void"
    if parameter.dtype.kind == "b":
        return "bool"
    return _SPELLINGS.get(parameter.dtype.str[1:], f"np.{parameter.dtype.name}")


# First match wins: bool is an int in Python, and np.float64 is a float.
_CONVERSIONS: tuple[tuple[type | tuple[type, ...], Callable[[KernelParameter, Any], bytes]], ...] = (
    (ndarray, _array),
    ((MemoryPointer, PinnedMemoryPointer), _address),
    ((TextureObject, SurfaceObject), _handle),
    (np.ndarray, _numpy_array),
    ((np.void, bytes, bytearray, memoryview), _struct),
    (type(None), _null),
    ((bool, np.bool), _bool),
    ((int, np.integer), _int),
    ((float, np.floating), _float),
    ((complex, np.complexfloating), _complex),
)

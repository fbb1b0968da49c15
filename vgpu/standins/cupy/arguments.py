"""Arguments of a launch → the bytes the kernel reads, checked against what the kernel declares.

CuPy on a GPU checks nothing: a Python float for a `float` parameter is sent as the eight bytes of a double,
and the kernel reads half of them. Here the kernel's parameters are known, so such an argument is an error
that tells what to pass. What a GPU gets right by luck (a Python int for an `int`) is let through.
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Sequence

import numpy as np

from vgpu.base.errors import ArgumentError
from vgpu.base.words import plural
from vgpu.standins.cupy.convert import from_interface
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.pointer import MemoryPointer
from vgpu.standins.cupy.pools import PinnedMemoryPointer
from vgpu.standins.cupy.signature import CParameter
from vgpu.standins.cupy.texture import SurfaceObject, TextureObject
from vgpu.storage.memory import ArrayInfo

_FIRST_PAGE = 4096  # no array begins below this address
_SPELLINGS = {"f4": "np.float32", "f8": "np.float64", "f2": "np.float16"}


class Slot:
    """One parameter of a kernel: its place, what PTX says of it, and what the source says if known."""

    def __init__(self, kernel: str, position: int, ptx, c: CParameter | None):
        self.kernel, self.position, self.ptx, self.c = kernel, position, ptx, c
        self.nbytes = ptx.nbytes
        self.by_value = ptx.type == "b8" and ptx.nbytes > 1  # PTX hands structs over as bytes
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

    def wrong(self, got: str, mend: str) -> ArgumentError:
        return ArgumentError(f"{self}: {got}. {mend}")


def slots(name: str, ptx_parameters, c_parameters) -> list[Slot]:
    """The kernel's parameters; what the source says is used only when it has as many as the PTX."""
    if c_parameters is None or len(c_parameters) != len(ptx_parameters):
        c_parameters = [None] * len(ptx_parameters)
    pairs = zip(ptx_parameters, c_parameters, strict=True)
    return [Slot(name, position, ptx, c) for position, (ptx, c) in enumerate(pairs, start=1)]


def pack(name: str, places: Sequence[Slot], args) -> tuple[list[bytes], list[ArrayInfo]]:
    """Bytes for every parameter, and what the arrays among the arguments look like.

    Raises ArgumentError naming the argument, its C type and what to pass instead.
    """
    if not isinstance(args, (tuple, list)):
        raise ArgumentError(
            f"{name}: the arguments are a tuple, and {type(args).__name__} was given. "
            "One argument alone needs a comma: (x,)."
        )
    if len(args) != len(places):
        wanted = ", ".join(str(place.c or place.ptx.type) for place in places)
        raise ArgumentError(
            f"{name}({wanted}) takes {plural(len(places), 'argument')}, and {len(args)} "
            f"{'was' if len(args) == 1 else 'were'} given"
        )
    params, arrays = [], []
    for place, arg in zip(places, args, strict=True):
        if not isinstance(arg, ndarray) and hasattr(arg, "__cuda_array_interface__"):
            arg = from_interface(arg)
        if isinstance(arg, ndarray):
            arrays.append(_info(place, arg))
        params.append(_bytes(place, arg))
    return params, arrays


def _info(place: Slot, arg: ndarray) -> ArrayInfo:
    host = arg._host
    return ArrayInfo(place.name, host.ctypes.data, host.nbytes, host.dtype.name, host.shape, host.strides)


def _bytes(place: Slot, arg) -> bytes:
    for kind, convert in _CONVERSIONS:
        if isinstance(arg, kind):
            return convert(place, arg)
    raise place.wrong(
        f"{type(arg).__name__} was given",
        "A kernel takes arrays on the device, numbers, and structs as np.void or bytes.",
    )


def _address(place: Slot, arg) -> bytes:
    if not place.pointer:
        raise place.wrong("an address was given", f"Pass a number: {_spell(place)}(…).")
    return struct.pack("<Q", int(arg.ptr))


def _handle(place: Slot, arg) -> bytes:
    if place.nbytes != 8 or (place.c and place.c.pointer):
        raise place.wrong(
            f"a {type(arg).__name__} was given", "Declare the parameter as cudaTextureObject_t in the kernel."
        )
    return struct.pack("<Q", arg.ptr)


def _array(place: Slot, arg: ndarray) -> bytes:
    if not place.pointer:
        mend = f"Pass a number, such as {_spell(place)}({'x.item()' if arg.size == 1 else 'n'})."
        if place.c and "Object_t" in str(place.c):
            what = "Surface" if "Surface" in str(place.c) else "Texture"
            mend = f"Pass a cp.cuda.texture.{what}Object made over a CUDAarray that holds the values."
        raise place.wrong("an array was given where the kernel takes a value", mend)
    points_to = place.c.dtype if place.c else None
    if points_to is not None and not _reads(points_to, arg.dtype, place.c.vector):
        wanted = f"np.{points_to.name}"
        raise place.wrong(
            f"an array of {arg.dtype.name} was given, of which the kernel would take each element for "
            f"{'parts of' if arg.dtype.itemsize < points_to.itemsize else 'several'} numbers",
            f"Make the array with dtype={wanted}, convert it with x.astype({wanted}), which is a copy, or change the "
            f"kernel. To have the same bytes read as {points_to.name} on purpose: x.view({wanted}).",
        )
    if points_to is not None and not place.c.vector and _reinterpreted(points_to, arg.dtype):
        warnings.warn(
            f"{place}: an array of {arg.dtype.name} was given, whose bits the kernel reads as {points_to.name}. If "
            f"that is meant, x.view(np.{points_to.name}) says so; if not, x.astype(np.{points_to.name}) converts.",
            stacklevel=6,
        )
    return struct.pack("<Q", arg._host.ctypes.data)


def _reinterpreted(wanted: np.dtype, given: np.dtype) -> bool:
    """Whether floats are read as integers of their size, or the other way round."""
    return wanted.itemsize == given.itemsize > 1 and "f" in (wanted.kind, given.kind) and wanted.kind != given.kind


def _reads(wanted: np.dtype, given: np.dtype, vector: bool) -> bool:
    """Whether an array of `given` may lie under a pointer to `wanted`, or to a vector of it: CuPy lets any.

    Bits are read as something else on purpose all the time: bytes as uint4, halves as float4, floats as the integers
    that atomicCAS takes. Numbers of another size are not, but for words that come as vectors; they are NumPy's default
    of 64 bits, which the kernel does not expect.
    """
    if given.kind == "c":
        given = np.dtype(f"f{given.itemsize // 2}")
    if given.kind == "V" or 1 in (wanted.itemsize, given.itemsize) or wanted.itemsize == given.itemsize:
        return True
    return vector and not (wanted.kind == given.kind == "f" and given.itemsize > wanted.itemsize)


def _numpy_array(place: Slot, arg: np.ndarray) -> bytes:
    if arg.dtype.kind == "V" and arg.size == 1:
        return _struct(place, arg)
    raise place.wrong(
        "a NumPy array was given, and that is in the host's memory, where a GPU cannot read it",
        "Copy it to the device once, before the launch: x = cp.asarray(x).",
    )


def _struct(place: Slot, arg) -> bytes:
    data = arg.tobytes() if hasattr(arg, "tobytes") else bytes(arg)
    if len(data) != place.nbytes:
        raise place.wrong(
            f"a struct of {len(data)} bytes was given and the kernel takes {place.nbytes}",
            "np.dtype([...], align=True) lays fields out as C does.",
        )
    return data


def _null(place: Slot, arg: None) -> bytes:
    if not place.pointer:
        raise place.wrong("None was given", "None stands for a null pointer, and this is none.")
    return bytes(8)


def _bool(place: Slot, arg) -> bytes:
    if place.nbytes != 1:
        raise place.wrong("a bool was given, which is one byte", f"Pass {_spell(place)}({bool(arg)}).")
    return struct.pack("?", bool(arg))


def _int(place: Slot, arg) -> bytes:
    if place.dtype is None or (place.c and place.c.vector and not place.pointer):
        raise place.wrong(f"the integer {arg} was given", "Pass the struct as np.void or bytes.")
    if place.pointer and place.c:
        if 0 < arg < _FIRST_PAGE:
            raise place.wrong(f"the number {arg} was given, which is no address", "Pass an array on the device.")
        return struct.pack("<Q", int(arg) & (2**64 - 1))
    if place.dtype.kind == "f":
        if isinstance(arg, np.generic):
            got = f"{type(arg).__name__} was given, whose bits would be read as a float"
        else:
            got = f"the integer {arg} was given, whose bits would be read as a float on a GPU"
        raise place.wrong(got, f"Pass {_spell(place)}({arg}).")
    if isinstance(arg, np.generic) and arg.nbytes < place.nbytes:
        got = f"{type(arg).__name__} has {arg.nbytes} bytes and the kernel reads {place.nbytes}"
        raise place.wrong(got, f"Pass {_spell(place)}({arg}).")
    bits = 8 * place.nbytes
    lowest, highest = (0, 2**bits - 1) if place.dtype.kind in "ub" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not place.c:  # PTX does not say whether a parameter has a sign
        lowest, highest = -(2 ** (bits - 1)), 2**bits - 1
    if not lowest <= int(arg) <= highest:
        raise place.wrong(
            f"{arg} does not fit into {bits} bits: it goes from {lowest} to {highest}",
            "Declare the parameter as long long in the kernel, or pass a smaller number.",
        )
    return (int(arg) & (2**bits - 1)).to_bytes(place.nbytes, "little")


def _float(place: Slot, arg) -> bytes:
    given = arg.dtype if isinstance(arg, np.generic) else np.dtype(np.float64)
    if place.dtype is not None and not (place.pointer and place.c) and place.dtype == given:
        return np.asarray(arg, given).tobytes()
    if place.by_value and place.nbytes == given.itemsize == 2:  # __half is a struct of two bytes
        return np.asarray(arg, given).tobytes()
    who = given.name if isinstance(arg, np.generic) else "a Python float, which is a double of 8 bytes,"
    if place.pointer and place.c:
        raise place.wrong(f"{who} was given where the kernel takes a pointer", "Pass an array on the device.")
    raise place.wrong(f"{who} was given: a GPU would read wrong bits", f"Pass {_spell(place)}({_number(place, arg)}).")


def _number(place: Slot, arg):
    whole = place.dtype is not None and place.dtype.kind in "iu" and arg == arg // 1
    return int(arg) if whole else arg


def _complex(place: Slot, arg) -> bytes:
    given = arg.dtype if isinstance(arg, np.generic) else np.dtype(np.complex128)
    if place.nbytes != given.itemsize:
        mend = "Pass np.complex64(…) for a float complex, np.complex128(…) for a double one."
        raise place.wrong(f"{given.name} was given, {given.itemsize} bytes", mend)
    return np.asarray(arg, given).tobytes()


def _spell(place: Slot) -> str:
    """How to write a number of the parameter's type."""
    if place.dtype is None:
        return "np.void"
    if place.dtype.kind == "b":
        return "bool"
    return _SPELLINGS.get(place.dtype.str[1:], f"np.{place.dtype.name}")


# First match wins: bool is an int in Python, and np.float64 is a float.
_CONVERSIONS = (
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

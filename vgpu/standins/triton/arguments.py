"""From the arguments of a Triton launch to the parameters of its PTX.

A kernel gets only the pointer of a tensor. Tensors in host memory are copied: their whole storage, one copy for all
that share it. What the kernel changed is copied back.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from triton.compiler.errors import CompilationError

from vgpu.base.errors import ArgumentError, LaunchError, Unsupported, VirtualGPUError
from vgpu.ptx.tensor_maps import ELEMENT_TYPES
from vgpu.standins.triton import complaints
from vgpu.storage import memory
from vgpu.storage.memory import ArrayInfo
from vgpu.storage.tensor_map import SWIZZLES, describe

# Triton specialises on addresses that are multiples of 16, so a copy needs the same remainder as its original.
_DIVISIBLE = 16
_INTEGERS = {f"{sign}{bits}": bits // 8 for sign in "iu" for bits in (8, 16, 32, 64)} | {"i1": 1, "u1": 1}
_FLOATS: dict[str, type[np.floating]] = {
    "fp16": np.float16, "fp32": np.float32, "f32": np.float32, "fp64": np.float64
}  # fmt: skip


class Pointer:
    """An array of `cp` or `cuda` that looks like a tensor to Triton: it has `data_ptr()` and `dtype`."""

    def __init__(self, array):
        described = array.__cuda_array_interface__
        self.array, self.address = array, described["data"][0]
        self.dtype, self.shape = np.dtype(described["typestr"]), tuple(described["shape"])
        strides = described.get("strides")
        self.strides = tuple(strides) if strides else np.empty(self.shape, np.dtype(self.dtype)).strides

    def data_ptr(self) -> int:
        return self.address

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.array, name)


def present(value):
    """An argument as Triton takes it: device arrays as `Pointer`s, NumPy's numbers as Python's."""
    if isinstance(value, tuple):
        items = [present(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if hasattr(value, "data_ptr") or isinstance(value, Pointer):
        return value
    return Pointer(value) if hasattr(value, "__cuda_array_interface__") else value


def presenting(run):
    """`JITFunction.run` that also takes the device arrays of `cp` and `cuda`, with errors for wrong arguments."""

    @functools.wraps(run)
    def wrapper(self, *args, **kwargs):
        failure: VirtualGPUError | None
        for name, value in (*zip(self.arg_names, args, strict=False), *kwargs.items()):
            if isinstance(value, np.ndarray | np.generic):
                kind = "array" if isinstance(value, np.ndarray) else "number"
                instead = f"torch.from_numpy({name})" if kind == "array" else f"{name}.item()"
                raise ArgumentError(
                    f"`{self.__name__}`: `{name}` is a NumPy {kind}, which Triton does not take. Pass {instead}."
                )
        try:
            return run(self, *map(present, args), **{name: present(value) for name, value in kwargs.items()})
        except (CompilationError, RuntimeError) as error:
            failure = None if isinstance(error, VirtualGPUError) else complaints.explain(error, self)
            if failure is None:
                raise
        except TypeError as error:
            failure = complaints.misfit(error, self, dict(zip(self.arg_names, args, strict=False)) | kwargs)
            if failure is None:
                raise
        raise failure  # outside of the handlers, so that Triton's error isn't chained to it

    return wrapper


def without_a_grid(kernel, *args, **kwargs):
    """Raise the error for a Triton kernel that is called like an ordinary function."""
    name = kernel.__name__
    raise LaunchError(
        f"`{name}` is a kernel: it needs to know how many programs to launch. Write {name}[(programs,)](…)."
    )


def flattened(
    signature: Iterable, values: Iterable, names: Iterable[str], maps: Iterable[dict] = ()
) -> Iterator[tuple[str, Any, str]]:
    """(type, value, name) of every argument of the compiled kernel: constants are part of its code.

    `maps`: for each `TensorDescriptor` how Triton wants its tensor map, or nothing where kernels take none.
    """
    maps = iter(maps)
    for kind, value, name in zip(signature, values, names, strict=True):
        if isinstance(kind, tuple):
            yield from flattened(kind, value, [f"{name}[{i}]" for i in range(len(kind))])
        elif kind.startswith("tensordesc"):
            yield from _descriptor(kind, value, name, next(maps, None))
        elif kind != "constexpr":
            yield kind, value, name


def _descriptor(kind: str, value: Any, name: str, map_: dict | None) -> Iterator[tuple[str, Any, str]]:
    """The arguments that a `TensorDescriptor` becomes: a tensor map, or on GPUs without them what describes it."""
    if map_ is None:
        yield "*" + kind.partition("<")[2].partition("[")[0], value.base, name
        yield from (("i64", n, name) for n in (*value.shape, *value.strides))
        yield "i1", value.padding == "nan", name
        yield "i1", value.round_f32_to_tf32, name
    else:
        yield "map", (value, map_), name
    yield from (("i32", n, name) for n in value.shape)
    yield from (("i64", n, name) for n in value.strides)


class Packer:
    """Collects the parameters of one launch; `finish()` copies back what the kernel changed in host memory."""

    def __init__(self, kernel: str):
        self.kernel = kernel
        self.params: list[bytes] = []
        self.arrays: list[ArrayInfo] = []
        self._copies: dict[tuple[int, int], _StorageCopy] = {}
        self._keep: list = []

    def add(self, kind: str, value, name: str) -> None:
        """Append the parameter of one argument of Triton type `kind`."""
        if kind[0] == "*":
            self.params.append(self._pointer(value, name))
        elif kind == "map":
            described, wanted = value
            self.params.append(self._map(described, wanted, name))
        else:
            self.params.append(_number(kind, value, name, self.kernel))

    def scratch(self, nbytes: int) -> None:
        """Append a pointer to scratch memory of the compiled code; a null pointer for 0 bytes."""
        address = 0
        if nbytes:
            allocation = memory.allocate(nbytes, label="Triton's scratch memory")
            self._keep.append(allocation)
            address = allocation.address
        self.params.append(struct.pack("<Q", address))

    def finish(self) -> None:
        for copy in self._copies.values():
            copy.put_back()

    def _pointer(self, value, name: str) -> bytes:
        if isinstance(value, int):  # an address that the user took by `tensor.data_ptr()`
            return struct.pack("<Q", value)
        self._keep.append(value)
        address, nbytes, dtype, shape, strides = _span(value)
        if not isinstance(value, Pointer) and nbytes:
            address = self._copied(value, address, name)
        self.arrays.append(ArrayInfo(name, address, nbytes, dtype, shape, strides))
        return struct.pack("<Q", address)

    def _map(self, value, wanted: dict, name: str) -> bytes:
        """A tensor map as Triton's driver has it encoded: no steps, and swizzled as the kernel reads it."""
        (address,) = struct.unpack("<Q", self._pointer(value.base, name))
        size = wanted["elem_size"]
        if wanted["fp4_padded"] or value.round_f32_to_tf32:
            lacking = "pads 4-bit numbers" if wanted["fp4_padded"] else "rounds to TF32 (round_f32_to_tf32=True)"
            raise Unsupported(f"`{self.kernel}`: the tensor map of `{name}` {lacking}, which the virtual GPU can't.")
        try:
            found = describe(
                address, size, value.shape, [step * size for step in value.strides], wanted["block_size"],
                swizzle=SWIZZLES[wanted["swizzle"]],
            )  # fmt: skip
        except ValueError as error:
            raise ArgumentError(f"`{self.kernel}`: no tensor map for `{name}`: {error}") from None
        return replace(found, fills_nan=value.padding == "nan", type=ELEMENT_TYPES[wanted["elem_type"]]).encode()

    def _copied(self, tensor, address: int, name: str) -> int:
        """The address of a tensor's first element in the copy of its storage."""
        tensor = getattr(tensor, "base", tensor)  # what `triton.reinterpret` has wrapped
        if tensor.device.type != "cpu":
            raise LaunchError(
                f"`{self.kernel}`: `{name}` is on {tensor.device}, and on the virtual GPU tensors are on the CPU. Make "
                "them with device=triton.runtime.driver.active.get_active_torch_device()."
            )
        storage = tensor.untyped_storage()
        low, nbytes = storage.data_ptr(), storage.nbytes()
        if (low, nbytes) not in self._copies:
            self._copies[low, nbytes] = _StorageCopy(low, nbytes, name)
        return self._copies[low, nbytes].address + address - low


class _StorageCopy:
    """A tensor's storage in host memory, and its copy on the virtual GPU."""

    def __init__(self, low: int, nbytes: int, label: str):
        shift = low % _DIVISIBLE
        self.allocation = memory.allocate(shift + nbytes, label=label)
        self.low, self.nbytes, self.address = low, nbytes, self.allocation.address + shift
        ctypes.memmove(self.address, low, nbytes)

    def put_back(self) -> None:
        here, there = (_bytes(address, self.nbytes) for address in (self.low, self.address))
        # What did not change stays untouched: a tensor over read-only memory may be an input.
        if not np.array_equal(here, there):
            ctypes.memmove(self.low, self.address, self.nbytes)


def _bytes(address: int, nbytes: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))


def _span(value) -> tuple[int, int, str, tuple[int, ...], tuple[int, ...]]:
    """Address, bytes, NumPy's dtype name, shape and strides in bytes of the data of a tensor or pointer."""
    if isinstance(value, Pointer):
        return (
            value.address,
            value.dtype.itemsize * int(np.prod(value.shape)),
            str(value.dtype),
            value.shape,
            value.strides,
        )
    size, base = value.element_size(), getattr(value, "base", value)
    strides = tuple(size * step for step in value.stride())
    count = int(np.prod(tuple(base.shape)))
    extent = 1 + sum((n - 1) * step for n, step in zip(base.shape, base.stride(), strict=True)) if count else 0
    return value.data_ptr(), extent * size, _dtype(value.dtype, size), tuple(base.shape), strides


@functools.cache
def _dtype(dtype, size: int) -> str:
    """NumPy's name of a tensor's dtype; for bfloat16 and 8-bit floats, which NumPy lacks, an unsigned type's."""
    name = str(dtype).removeprefix("torch.")
    return name if name in np.sctypeDict else f"u{size}"


def _number(kind: str, value, name: str, kernel: str) -> bytes:
    """The parameter of one number: floats in the width of their type, integers modulo theirs."""
    if kind in _INTEGERS:
        size = _INTEGERS[kind]
        return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    if kind in _FLOATS:
        with np.errstate(over="ignore"):
            return _FLOATS[kind](value).tobytes()
    if kind == "bf16":
        bits = int(np.float32(value).view(np.uint32))
        return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    raise Unsupported(f"`{kernel}`: the virtual GPU cannot pass the argument `{name}`, a {kind}.")

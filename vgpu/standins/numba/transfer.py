"""Device arrays made as `numba.cuda` makes them: copies, empty arrays, views of other libraries' memory."""

from __future__ import annotations

import functools
import math

import numpy as np

from vgpu import operations
from vgpu.base.errors import LaunchError, NotContiguous, Unsupported
from vgpu.standins.numba.array import STRIDED, DeviceNDArray, DeviceRecord, MappedNDArray, allocate
from vgpu.standins.numba.host import queue_of
from vgpu.storage import memory


def to_device(obj, stream=0, copy: bool = True, to: DeviceNDArray | None = None) -> DeviceNDArray:
    """Copy an array (or anything NumPy can make one of) to the device; what is there already stays as it is.

    With `to`, copy into that device array instead. Raises NotContiguous for an array with gaps.
    """
    if to is not None:
        to.copy_to_device(obj, stream=stream)
        return to
    if is_cuda_array(obj):
        return obj if isinstance(obj, DeviceNDArray) else as_cuda_array(obj)
    if isinstance(obj, np.void):
        data = allocate((), obj.dtype)
        data[()] = obj
        return DeviceRecord.over(data, stream)
    host = np.asarray(obj)
    if host.dtype.hasobject:
        raise TypeError(
            f"cannot copy a {type(obj).__name__} to the device: its elements are Python objects; make an "
            "array of numbers first, such as numpy.array(values, dtype=numpy.float32)"
        )
    # What `numpy.broadcast_to` repeats moves once, and is repeated there by strides of 0 again.
    shape, strides = host.shape, host.strides
    if repeated := host.size > 1 and 0 in strides:
        host = host[tuple(slice(None, None if step else 1) for step in strides)]
    if not (host.flags.c_contiguous or host.flags.f_contiguous):
        raise NotContiguous(STRIDED)
    data = allocate(host.shape, host.dtype, order="C" if host.flags.c_contiguous else "F")
    if copy:
        fill = functools.partial(np.copyto, data, host)
        operations.copy(queue_of(stream), "H2D", host, data, fill, asynchronous=bool(stream))
    return DeviceNDArray.over(np.lib.stride_tricks.as_strided(data, shape, strides) if repeated else data, stream)


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0) -> DeviceNDArray:
    """An array in device memory, not initialised: on the virtual GPU its bytes are 0xFF (NaN, or -1)."""
    return DeviceNDArray.over(allocate(shape, dtype, order, strides), stream)


def device_array_like(ary, stream=0) -> DeviceNDArray:
    """An uninitialised device array with the shape, dtype and order of `ary`."""
    return device_array(ary.shape, ary.dtype, **_like(ary), stream=stream)


def pinned_array(shape, dtype=np.float64, strides=None, order="C") -> np.ndarray:
    """A host array in pinned memory: copies are faster, and those in a stream need not be waited for."""
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    dtype = np.dtype(dtype)
    steps = strides or (dtype.itemsize,)
    reach = sum((size - 1) * abs(step) for size, step in zip(shape, steps, strict=True)) if strides else 0
    nbytes = reach + dtype.itemsize if strides else math.prod(shape) * dtype.itemsize
    place = memory.allocate(nbytes, kind="pinned")
    np.asarray(place)[:] = 0
    return memory.view(place, shape, dtype, order=order, strides=strides).view(operations.PinnedArray)


def pinned_array_like(ary) -> np.ndarray:
    """A pinned array with the shape, dtype and order of `ary`."""
    return pinned_array(ary.shape, ary.dtype, **_like(ary))


def mapped_array(shape, dtype=np.float64, strides=None, order="C", stream=0, portable=False, wc=False):
    """A host array that kernels can use without a copy."""
    return allocate(shape, dtype, order, strides).view(MappedNDArray)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """A mapped array with the shape, dtype and order of `ary`."""
    return mapped_array(ary.shape, ary.dtype, **_like(ary))


def managed_array(shape, dtype=np.float64, strides=None, order="C", stream=0, attach_global=True):
    """An array that host and kernels share; here it is the same thing as a mapped one."""
    return allocate(shape, dtype, order, strides).view(MappedNDArray)


def is_cuda_array(obj) -> bool:
    """Whether `obj` has the CUDA array interface: device arrays of any library do."""
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync: bool = True) -> DeviceNDArray:
    """A `DeviceNDArray` over the memory of another library's device array; nothing is copied."""
    described = getattr(obj, "__cuda_array_interface__", None)
    if described is None:
        raise TypeError(f"a {type(obj).__name__} has no CUDA array interface; copy it: cuda.to_device(…)")
    return from_cuda_array_interface(described, owner=obj)


def from_cuda_array_interface(desc: dict, owner=None, sync: bool = True) -> DeviceNDArray:
    """A `DeviceNDArray` over the memory that a CUDA array interface describes; `owner` is kept alive."""
    if desc.get("mask") is not None:
        raise Unsupported("Masked device arrays are not supported; fill the masked elements first.")
    address, readonly = desc["data"]
    dtype = np.dtype(desc["descr"]) if "descr" in desc and desc["typestr"][1] == "V" else np.dtype(desc["typestr"])
    shape = tuple(desc["shape"])
    if math.prod(shape) == 0:
        return DeviceNDArray.over(allocate(shape, dtype), owner=owner)
    place = memory.describe(address)
    if place.allocation is None or place.freed or place.offset >= place.allocation.nbytes:
        raise LaunchError(
            "this array does not lie in the virtual GPU's memory: it was freed, or it belongs to a real GPU. "
            "Make it with the same `cp` or `cuda`, or copy it to the host and cuda.to_device() it."
        )
    description = {
        "shape": shape,
        "typestr": dtype.str,
        "strides": desc.get("strides"),
        "data": (address, bool(readonly)),
        "version": 3,
    }
    if dtype.names:
        description["descr"] = dtype.descr
    return DeviceNDArray.over(np.asarray(_Described(description)), owner=owner)


class _Described:
    """What NumPy needs to see to make an array over memory that is not its own."""

    def __init__(self, description: dict):
        self.__array_interface__ = description


def _like(ary) -> dict:
    """The order of an array; for one with gaps, strides without gaps whose dimensions come in the same order."""
    if ary.flags["C_CONTIGUOUS"] or ary.flags["F_CONTIGUOUS"]:
        return {"order": "C" if ary.flags["C_CONTIGUOUS"] else "F"}
    strides, step = [0] * ary.ndim, ary.dtype.itemsize
    for axis in sorted(range(ary.ndim), key=lambda axis: ary.strides[axis]):
        strides[axis], step = step, step * ary.shape[axis]
    return {"strides": tuple(strides)}

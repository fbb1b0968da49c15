"""Crossing between what CuPy shows (arrays on the device) and NumPy arrays that lie over device memory."""

from __future__ import annotations

import numpy as np

from helpers.vgpu import operations
from helpers.vgpu.base.errors import ArgumentError, VirtualGPUError
from helpers.vgpu.standins.cupy import streams
from helpers.vgpu.standins.cupy.ndarray import ndarray
from helpers.vgpu.storage import memory

_KINDS = "biufcV"  # what device memory can hold; no strings, dates or objects


class MixingError(VirtualGPUError, TypeError):
    """A NumPy array met a function of CuPy; TypeError, as CuPy raises."""


def mixing(value, where: str) -> MixingError:
    """The error for a host value where device data is needed."""
    kind = type(value)
    call = f" in {where}" if where else ""
    return MixingError(
        f"Unsupported type {kind}{call}: the array is in the host's memory and the others are on the device. "
        "Copy it over first with cp.asarray(x), or bring the others back with cp.asnumpy(y)."
    )


def check_dtype(dtype) -> np.dtype:
    """`dtype` as a NumPy dtype; TypeError for strings, dates and objects, which CuPy has not."""
    dtype = np.dtype(dtype)
    too_wide = dtype.itemsize > {"f": 8, "c": 16}.get(dtype.kind, dtype.itemsize)
    if dtype.hasobject or too_wide or dtype.kind not in _KINDS:
        raise ArgumentError(f"Unsupported dtype {dtype}: arrays on the device hold numbers and booleans only")
    return dtype


def over(host: np.ndarray) -> ndarray:
    """An array on the device for a NumPy array that already lies over device memory."""
    return ndarray._over(host)


def to_device(host, dtype=None, order: str = "K") -> ndarray:
    """Copy a NumPy array (or scalar) into fresh device memory; order "K" keeps C or Fortran layout."""
    operations.refuse_captured(streams.get_current_stream().queue, "making an array")
    host = np.asarray(host)
    dtype = check_dtype(host.dtype if dtype is None else dtype)
    if order in ("K", "A", None):
        order = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    fresh = memory.array(host.shape, dtype, order=order, kind="cupy")
    np.copyto(fresh, host, casting="unsafe")
    return ndarray._over(fresh)


def cast(host: np.ndarray, dtype: np.dtype | None) -> np.ndarray:
    """`host` with floats made integers as a GPU makes them, for a copy to `dtype`; anything else as it is.

    What lies beyond the integers is the nearest of them, through 32 bits at least, and NaN is 0, or the sign bit where
    64 bits take part (PTX ISA, `cvt`). C leaves it open, and NumPy does what this computer's processor does.
    """
    if host.dtype.kind != "f" or dtype is None or dtype.kind not in "iu":
        return host
    wide = np.dtype(f"{dtype.kind}{max(dtype.itemsize, 4)}")
    lowest, highest = np.iinfo(wide).min, np.iinfo(wide).max
    floats = host.astype(np.float32) if host.dtype.itemsize < 4 else host
    with np.errstate(invalid="ignore"):
        below, above, none = floats <= lowest, floats >= 2.0 ** int(highest).bit_length(), np.isnan(floats)
    if not (below | above | none).any():
        return host
    sign = 1 << 8 * wide.itemsize - 1 if 8 in (wide.itemsize, host.dtype.itemsize) else 0
    result = np.where(below | above | none, 0, floats).astype(wide)
    result[below], result[above] = lowest, highest
    result[none] = sign if dtype.kind == "u" else -sign
    return result


def from_interface(thing) -> ndarray:
    """A view of any array on the device that has `__cuda_array_interface__`, such as Numba's, without a copy.

    Raises ValueError when the memory is not the virtual GPU's, or has been freed.
    """
    interface = thing.__cuda_array_interface__
    shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
    if interface.get("descr") and dtype.kind == "V":
        dtype = np.dtype(interface["descr"])
    if 0 in shape:
        return ndarray._over(memory.array(shape, dtype, kind="cupy"))
    address = int(interface["data"][0])
    place = memory.describe(address)
    found = place.allocation
    if found is None or place.freed or place.offset >= found.nbytes:
        raise ValueError("this array's memory has been freed, or is not the virtual GPU's")
    host = memory.view(found, shape, dtype, offset=place.offset, strides=interface.get("strides"))
    return ndarray._over(host)


def to_host(value, where: str = ""):
    """What NumPy is to work on: arrays on the device become views of their memory, inside lists too.

    Raises MixingError for NumPy arrays.
    """
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray):
        raise mixing(value, where)
    if type(value) in (list, tuple):
        return type(value)(to_host(item, where) for item in value)
    if isinstance(value, slice):
        return slice(*to_host((value.start, value.stop, value.step), where))
    if hasattr(value, "__cuda_array_interface__"):
        return from_interface(value)._host
    return value


def to_cupy(result, order: str = "C"):
    """What CuPy would return for a result of NumPy: arrays on the device, and 0-d arrays for scalars.

    CuPy's fresh arrays are in C order whatever the arguments are; NumPy's follow the arguments, which is order "K".
    """
    if isinstance(result, np.ndarray):
        return over(result) if memory.owner(result) is not None else to_device(result, order=order)
    if isinstance(result, np.generic):
        return to_device(result)
    if isinstance(result, tuple):
        items = [to_cupy(item, order) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else tuple(items)
    if type(result) is list:
        return [to_cupy(item, order) for item in result]
    return result

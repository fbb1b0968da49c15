"""Device memory as NumPy arrays: the supported dtypes, copies into fresh memory, other libraries' arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from vgpu import operations
from vgpu.base.errors import ArgumentError
from vgpu.standins.cupy import streams
from vgpu.storage import memory

_KINDS = "biufcV"  # what device memory can hold; no strings, dates or objects


def check_dtype(dtype: Any) -> np.dtype:
    """`dtype` as a NumPy dtype; TypeError for strings, dates and objects, as in CuPy."""
    dtype = np.dtype(dtype)
    too_wide = dtype.itemsize > {"f": 8, "c": 16}.get(dtype.kind, dtype.itemsize)
    if dtype.hasobject or too_wide or dtype.kind not in _KINDS:
        raise ArgumentError(f"Unsupported dtype {dtype}: arrays on the device hold numbers and booleans only")
    return dtype


def cast(host: np.ndarray, dtype: np.dtype | None) -> np.ndarray:
    """`host` with floats converted to integers as on a GPU, for a copy to `dtype`; anything else unchanged.

    Floats out of range are clamped, to 32 bits at least; NaN is 0, or the sign bit where 64 bits take part (PTX ISA,
    `cvt`). C leaves this undefined, and NumPy does what this computer's CPU does.
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


def fresh(host: Any, dtype: Any = None, order: str = "K") -> np.ndarray:
    """A NumPy array (or scalar) copied into fresh device memory; order "K" keeps C or Fortran layout."""
    operations.refuse_captured(streams.get_current_stream().queue, "making an array")
    host = np.asarray(host)
    dtype = check_dtype(host.dtype if dtype is None else dtype)
    if order in ("K", "A", None):
        order = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    made = memory.array(host.shape, dtype, order="F" if order == "F" else "C", kind="cupy")
    np.copyto(made, host, casting="unsafe")
    return made


def seen(thing: Any) -> np.ndarray:
    """The memory of any array on the device that has `__cuda_array_interface__`, such as Numba's, without a copy.

    Raises ValueError when the memory is not the virtual GPU's, or has been freed.
    """
    interface = thing.__cuda_array_interface__
    shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
    if interface.get("descr") and dtype.kind == "V":
        dtype = np.dtype(interface["descr"])
    if 0 in shape:
        return memory.array(shape, dtype, kind="cupy")
    address = int(interface["data"][0])
    place = memory.describe(address)
    found = place.allocation
    if not isinstance(found, memory.Allocation) or place.freed or place.offset >= found.nbytes:
        raise ValueError("this array's memory has been freed, or is not the virtual GPU's")
    return memory.view(found, shape, dtype, offset=place.offset, strides=interface.get("strides"))

"""Crossing between what CuPy shows (arrays on the device) and NumPy arrays that lie over device memory."""

from __future__ import annotations

import numpy as np

from vgpu.base.errors import VirtualGPUError
from vgpu.standins.cupy import host_memory
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.storage import memory


class MixingError(VirtualGPUError, TypeError):
    """A NumPy array met a function of CuPy; TypeError, as CuPy raises."""


def mixing(value, where: str) -> MixingError:
    """The error for a value on the host where one on the device is needed."""
    kind = type(value)
    call = f" in {where}" if where else ""
    return MixingError(
        f"Unsupported type {kind}{call}: the array is in the host's memory and the others are on the device. "
        "Copy it over first with cp.asarray(x), or bring the others back with cp.asnumpy(y)."
    )


def on_device(*values) -> bool:
    """Whether any of some values is an array on the device."""
    return any(isinstance(value, ndarray) or hasattr(value, "__cuda_array_interface__") for value in values)


def over(host: np.ndarray) -> ndarray:
    """An array on the device for a NumPy array that already lies over device memory."""
    return ndarray._over(host)


def to_device(host, dtype=None, order: str = "K") -> ndarray:
    """Copy a NumPy array (or scalar) into fresh device memory; order "K" keeps C or Fortran layout."""
    return ndarray._over(host_memory.fresh(host, dtype, order))


def from_interface(thing) -> ndarray:
    """A view of any array on the device that has `__cuda_array_interface__`, such as Numba's, without a copy.

    Raises ValueError when the memory is not the virtual GPU's, or has been freed.
    """
    return ndarray._over(host_memory.seen(thing))


def to_host(value, where: str = ""):
    """The value for NumPy: arrays on the device become views of their memory, inside lists too.

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
    """CuPy's form of a NumPy result: arrays on the device, and 0-d arrays for scalars.

    CuPy's fresh arrays are in C order whatever the arguments' order; NumPy's follow the arguments, which is order "K".
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

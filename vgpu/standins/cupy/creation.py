"""Making arrays: from the host's data, or fresh on the device."""

from __future__ import annotations

import numpy as np

from vgpu import operations
from vgpu.base.errors import Unsupported
from vgpu.standins.cupy.convert import from_interface, over, to_cupy, to_device
from vgpu.standins.cupy.host_memory import cast, check_dtype
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.streams import array_work, get_current_stream
from vgpu.storage import memory


def array(obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False) -> ndarray:
    """An array on the device from numbers, lists, or arrays on the host or the device; a copy by default.

    Raises TypeError for dtypes that a device doesn't have (strings, objects).
    """
    result = asarray(obj, dtype, order) if not copy else _from(obj, dtype, order or "K")
    if result.ndim < ndmin:
        result = result.reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False) -> ndarray:
    """`a` as an array on the device; copied only where it has to be, unless `copy` is True."""
    if not isinstance(a, ndarray) and hasattr(a, "__cuda_array_interface__"):
        a = from_interface(a)
    if isinstance(a, ndarray) and not copy:
        same_order = {"C": a.flags.c_contiguous, "F": a.flags.f_contiguous}.get(order, True)
        if same_order and (dtype is None or np.dtype(dtype) == a.dtype):
            return a
    if copy is False:
        raise ValueError("a copy to the device cannot be avoided here: leave copy=False out")
    return _from(a, dtype, order or "K")


def asanyarray(a, dtype=None, order=None, *, copy=None, blocking=False) -> ndarray:
    """The same as `asarray`."""
    return asarray(a, dtype, order, copy=copy)


def asarray_chkfinite(a, dtype=None, order=None) -> ndarray:
    """`asarray`, with ValueError for infinities and NaNs."""
    result = asarray(a, dtype, order)
    if result.dtype.kind in "fc" and not np.isfinite(result._host).all():
        raise ValueError("array must not contain Infs or NaNs")
    return result


def ascontiguousarray(a, dtype=None) -> ndarray:
    """`a` in C order, with at least one axis; copied only where it has to be."""
    result = asarray(a, dtype, "C")
    return result if result.ndim else result.reshape(1)


def asfortranarray(a, dtype=None) -> ndarray:
    """`a` in Fortran order; copied only where it has to be."""
    return asarray(a, dtype, "F")


def require(a, dtype=None, requirements=None) -> ndarray:
    """An array with the requested dtype and layout ("C" or "F" among the requirements)."""
    wanted = [str(letter).upper()[0] for letter in (requirements or "")]
    return asarray(a, dtype, "F" if "F" in wanted else "C" if "C" in wanted else None)


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True) -> np.ndarray:
    """A NumPy array with the data of `a`: copied from the device, or `a` itself when it is on the host."""
    if isinstance(a, ndarray):
        return a.get(stream, order, out, blocking)
    if hasattr(a, "__cuda_array_interface__"):
        return from_interface(a).get(stream, order, out, blocking)
    result = np.asarray(a, order=order)
    if out is None:
        return result
    np.copyto(out, result)
    return out


def copy(a, order="K") -> ndarray:
    """A copy on the device."""
    return _from(a, None, order)


def empty(shape, dtype=float, order="C") -> ndarray:
    """An uninitialised array: here its bytes are 0xFF (NaN, -1), so that reads of unwritten elements show."""
    return over(memory.array(shape, check_dtype(dtype), order=order or "C", kind="cupy"))


def full(shape, fill_value, dtype=None, order="C") -> ndarray:
    """An array filled with one value."""
    value = fill_value._host if isinstance(fill_value, ndarray) else fill_value
    return _filled(empty(shape, np.asarray(value).dtype if dtype is None else dtype, order), value)


def zeros(shape, dtype=float, order="C") -> ndarray:
    """An array of zeros."""
    return full(shape, 0, dtype, order)


def ones(shape, dtype=float, order="C") -> ndarray:
    """An array of ones."""
    return full(shape, 1, dtype, order)


def empty_like(prototype, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    """`empty` with the shape and dtype of another array."""
    host = _prototype(prototype)
    if order in ("K", "A", None):
        order = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    return empty(host.shape if shape is None else shape, host.dtype if dtype is None else dtype, order)


def zeros_like(a, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    """`zeros` with the shape and dtype of another array."""
    return _filled(empty_like(a, dtype, order, subok, shape), 0)


def ones_like(a, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    """`ones` with the shape and dtype of another array."""
    return _filled(empty_like(a, dtype, order, subok, shape), 1)


def full_like(a, fill_value, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    """`full` with the shape and dtype of another array."""
    return _filled(empty_like(a, dtype, order, subok, shape), fill_value)


def load(file, mmap_mode=None, allow_pickle=False):
    """An array from a .npy file, on the device; or the archive of an .npz file, whose arrays are NumPy's."""
    return to_cupy(np.load(file, mmap_mode=mmap_mode, allow_pickle=allow_pickle), "K")


def from_dlpack(array, *, device=None, copy=None) -> ndarray:
    """An array over the memory of another library's array, such as a PyTorch tensor; a copy only when `copy` is True.

    Without a GPU, tensors on the CPU stand for tensors on the GPU. Raises TypeError for NumPy arrays, as CuPy does,
    ValueError for memory that is partly another array's, and Unsupported for `device`.
    """
    if device is not None:
        raise Unsupported(
            "from_dlpack takes no device=…: the virtual GPU is the only device. Leave it out, and for a copy write "
            "copy=True."
        )
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
        raise TypeError(
            f"from_dlpack takes the arrays of libraries for GPUs, and {type(array)} is on the host: cp.asarray(x) "
            "copies it over"
        )
    host = array._host if isinstance(array, ndarray) else np.from_dlpack(array)
    check_dtype(host.dtype)
    if copy:
        return to_device(host)
    if not host.size:
        return empty(host.shape, host.dtype)
    place = memory.adopt(host)
    return over(memory.view(place, host.shape, host.dtype, host.ctypes.data - place.address, strides=host.strides))


def _filled(fresh: ndarray, value) -> ndarray:
    value = value._host if isinstance(value, ndarray) else value
    with array_work("filling an array", writes=[fresh._host], call=("copy", (value,), {})):
        fresh._host[...] = value
    return fresh


def _prototype(a) -> np.ndarray:
    if isinstance(a, ndarray):
        return a._host
    return a if isinstance(a, np.ndarray) else np.asarray(a)


def _from(obj, dtype, order) -> ndarray:
    if not isinstance(obj, ndarray) and hasattr(obj, "__cuda_array_interface__"):
        obj = from_interface(obj)
    if isinstance(obj, ndarray):
        with array_work("a copy", obj._host, call=("copy", (obj._host,), {})) as written:
            result = to_device(cast(obj._host, None if dtype is None else np.dtype(dtype)), dtype, order)
            written.append(result._host)
        return result
    # Convert with the dtype: NumPy would make floats of a list of large integers.
    host = np.asarray(_nested(obj), None if dtype is None else check_dtype(dtype))
    queue = get_current_stream().queue
    operations.refuse_captured(queue, "making an array")
    result = to_device(host, dtype, order)
    operations.copy(queue, "H2D", host, result._host, lambda: None, asynchronous=True)
    return result


def _nested(obj):
    """Lists with arrays on the device in them, as lists of views of their memory."""
    if type(obj) in (list, tuple):
        return [_nested(item) for item in obj]
    return obj._host if isinstance(obj, ndarray) else obj

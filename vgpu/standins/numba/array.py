"""Arrays on the virtual GPU that behave like Numba's `DeviceNDArray`.

The host accesses them only by copying: they have no arithmetic, an index copies one element out, a slice is a view on
the device.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from vgpu import operations
from vgpu.base.errors import Unsupported
from vgpu.standins.numba import host
from vgpu.storage import memory

STRIDED = (
    "the array is neither C- nor Fortran-contiguous, so it cannot be moved as one piece; "
    "copy it first: numpy.ascontiguousarray(array)"
)


class DeviceNDArray:
    """An array in device memory; made by `cuda.to_device`, `cuda.device_array` and their like."""

    __cuda_memory__ = True
    __cuda_ndarray__ = True

    def __init__(self, shape, strides, dtype, stream=0, gpu_data=None):
        """As Numba's: uninitialised, or over the memory of `gpu_data`, which here is a device array."""
        shape, strides = (part if np.iterable(part) or part is None else (part,) for part in (shape, strides))
        if gpu_data is None:
            data = allocate(shape, dtype, strides=strides)
        elif isinstance(gpu_data, DeviceNDArray):
            data = np.lib.stride_tricks.as_strided(gpu_data._data, shape, strides).view(dtype)
        else:
            raise Unsupported(
                f"gpu_data is a {type(gpu_data).__name__}, and the virtual GPU makes arrays over its own memory only: "
                "give another array's .gpu_data, or use cuda.from_cuda_array_interface."
            )
        self._set(data, stream, gpu_data)

    def _set(self, data: np.ndarray, stream, owner) -> None:
        self._data, self.stream, self._owner = data, stream, owner

    @classmethod
    def over(cls, data: np.ndarray, stream=0, owner=None):
        """The device array that `data` shows, a NumPy array over device memory; `owner` is kept alive."""
        made = cls.__new__(cls)
        made._set(data, stream, owner)
        return made

    gpu_data = property(lambda self: self)
    device_pointer = property(lambda self: self._data.ctypes.data)

    def get_ipc_handle(self):
        """Not on the virtual GPU, whose memory belongs to one process."""
        raise Unsupported(
            "The virtual GPU's memory belongs to one process, so there are no handles for others: share arrays between "
            "threads of this one, or pass them through the host (copy_to_host, multiprocessing.shared_memory)."
        )

    shape = property(lambda self: self._data.shape)
    strides = property(lambda self: self._data.strides)
    dtype = property(lambda self: self._data.dtype)
    size = property(lambda self: self._data.size)
    ndim = property(lambda self: self._data.ndim)
    nbytes = property(lambda self: self._data.nbytes)
    alloc_size = property(lambda self: _span(self._data))

    @property
    def flags(self) -> dict:
        """Contiguity, as a dictionary."""
        return {name: self._data.flags[name] for name in ("C_CONTIGUOUS", "F_CONTIGUOUS")}

    def is_c_contiguous(self) -> bool:
        """Whether the array is contiguous in C order, row by row."""
        return self._data.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Whether the array is contiguous in Fortran order, column by column."""
        return self._data.flags.f_contiguous

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """The device address, as ctypes has it."""
        return ctypes.c_void_p(self._data.ctypes.data)

    @property
    def __cuda_array_interface__(self) -> dict:
        return {
            "shape": self.shape,
            "strides": None if self.is_c_contiguous() else self.strides,
            "data": (self._data.ctypes.data if self.size else 0, not self._data.flags.writeable),
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "stream": (host.queue_of(self.stream).handle or None) if self.stream else None,
            "version": 3,
        }

    @property
    def _numba_type_(self):
        """The type that Numba compiles for: kernels for contiguous arrays need no strides."""
        from vgpu.compile.numba_adapter import array_type

        return array_type(self._data)

    # --- copies ---------------------------------------------------------------------------------------------

    def copy_to_host(self, ary: np.ndarray | None = None, stream=0) -> np.ndarray:
        """Copy to a new NumPy array, or into `ary`, which has to have the same shape, dtype and order."""
        if ary is None:
            ary = np.empty_like(self._data, subok=False)
        else:
            _check_same(self._data, ary)
        plain, source, given = np.asarray(ary), self._data, stream or self.stream
        asynchronous = bool(given)  # as Numba's: without a stream the copy is one that the host waits for
        copy = functools.partial(plain.__setitem__, ..., source)
        operations.copy(host.queue_of(given), "D2H", plain, source, copy, asynchronous=asynchronous)
        return ary

    def copy_to_device(self, ary, stream=0) -> None:
        """Copy `ary`, an array of the host or of the device, into this one."""
        source = _on_device(ary)
        source = np.asarray(ary) if source is None else source
        if source.size == 0 == self.size:
            return
        if not (self._data.flags.c_contiguous or self._data.flags.f_contiguous):
            raise ValueError(STRIDED)
        _check_same(self._data, source, strides=False)
        target, given = self._data, stream or self.stream
        copy = functools.partial(target.__setitem__, ..., np.asarray(source).reshape(self.shape))
        if _on_device(ary) is None:
            plain = np.asarray(source)
            operations.copy(host.queue_of(given), "H2D", plain, target, copy, asynchronous=bool(given))
        else:
            operations.device_copy(host.queue_of(given), "D2D", np.asarray(source), target, copy)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        if copy is False:
            raise ValueError("a device array cannot become a NumPy array without a copy: use copy_to_host()")
        return np.asarray(self.copy_to_host(), dtype=dtype)

    # --- views ----------------------------------------------------------------------------------------------

    def _view(self, data: np.ndarray) -> DeviceNDArray:
        return DeviceNDArray.over(data, self.stream, self._owner)

    def __getitem__(self, item):
        _check_basic(item)
        part = self._data[item]
        # An Ellipsis keeps NumPy from turning the last element into a scalar with no address.
        if isinstance(part, np.void):
            return DeviceRecord.over(self._data[(*_as_tuple(item), ...)], self.stream, self._owner)
        return self._view(part) if isinstance(part, np.ndarray) else part

    def getitem(self, item, stream=0):
        """Indexing that takes a stream."""
        return self[item]

    def __setitem__(self, key, value) -> None:
        _check_basic(key)
        device = _on_device(value)
        self._data[key] = np.asarray(value) if device is None else device

    def setitem(self, key, value, stream=0) -> None:
        """Assignment that takes a stream."""
        self[key] = value

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def reshape(self, *newshape, order: str = "C") -> DeviceNDArray:
        """The same memory with another shape."""
        return self._view(_same_memory(self._data, lambda data: data.reshape(*newshape, order=order)))

    def ravel(self, order: str = "C", stream=0) -> DeviceNDArray:
        """The same memory with one dimension."""
        return self._view(_same_memory(self._data, lambda data: data.ravel(order=order)))

    def squeeze(self, axis=None, stream=0) -> DeviceNDArray:
        """The same memory without dimensions of size one."""
        return self._view(self._data.squeeze(axis))

    def view(self, dtype) -> DeviceNDArray:
        """The same memory, its bytes taken as another dtype."""
        return self._view(self._data.view(np.dtype(dtype)))

    def transpose(self, axes=None) -> DeviceNDArray:
        """A transposed copy, in device memory; of two-dimensional arrays only."""
        if self.ndim != 2:
            raise Unsupported("Numba transposes two-dimensional device arrays only; copy to the host for others.")
        if axes is not None and tuple(axes) == (0, 1):
            return self
        data = allocate(self.shape[::-1], self.dtype)
        data[...] = self._data.T
        return self._view(data)

    T = property(transpose)

    def split(self, section: int, stream=0):
        """Yield views of `section` elements; the last may be shorter."""
        if self.ndim != 1:
            raise ValueError("only one-dimensional arrays can be split")
        for begin in range(0, self.size, section):
            yield self._view(self._data[begin : begin + section])

    def bind(self, stream=0) -> DeviceNDArray:
        """The same array with another default stream."""
        return DeviceNDArray.over(self._data, stream, self._owner)

    def __repr__(self) -> str:
        return f"DeviceNDArray(shape={self.shape}, dtype={self.dtype})"


class DeviceRecord(DeviceNDArray):
    """One structured element in device memory: `record["field"]` copies that field out."""

    def __init__(self, dtype, stream=0, gpu_data=None):
        super().__init__((), (), dtype, stream, gpu_data)

    @property
    def _numba_type_(self):
        from vgpu.compile.numba_adapter import array_type

        return array_type(self._data).dtype

    def __getitem__(self, item):
        part = self._data[item]
        return part[()] if part.ndim == 0 else self._view(part)

    def __setitem__(self, key, value) -> None:
        self._data[key] = value

    def copy_to_host(self, ary=None, stream=0):
        """Copy to the host as a structured scalar."""
        if ary is not None:
            ary[...] = self._data
            return ary
        return self._data.copy()[()]

    def __repr__(self) -> str:
        return f"DeviceRecord(dtype={self.dtype})"


class MappedNDArray(np.ndarray):
    """A host array whose memory kernels can reach as well (mapped and managed arrays)."""

    @property
    def __cuda_array_interface__(self) -> dict:
        return DeviceNDArray.over(self.view(np.ndarray)).__cuda_array_interface__

    @property
    def _numba_type_(self):
        from vgpu.compile.numba_adapter import array_type

        return array_type(self.view(np.ndarray))

    def copy_to_host(self, ary=None, stream=0) -> np.ndarray:
        """Copy to an ordinary NumPy array."""
        return DeviceNDArray.over(self.view(np.ndarray)).copy_to_host(ary)

    def copy_to_device(self, ary, stream=0) -> None:
        """Copy `ary` into this array."""
        DeviceNDArray.over(self.view(np.ndarray)).copy_to_device(ary)


def is_cuda_ndarray(value) -> bool:
    """Whether this is one of Numba's device arrays (not one of another library)."""
    return getattr(value, "__cuda_ndarray__", False)


# --- details ------------------------------------------------------------------------------------------------


def _on_device(value) -> np.ndarray | None:
    """The NumPy array over any device array's memory; None for host arrays."""
    if isinstance(value, DeviceNDArray):
        return value._data
    if not hasattr(value, "__cuda_array_interface__"):
        return None
    from vgpu.standins.numba.transfer import as_cuda_array

    return as_cuda_array(value)._data


def _span(data: np.ndarray) -> int:
    if data.size == 0:
        return 0
    return sum((n - 1) * abs(s) for n, s in zip(data.shape, data.strides, strict=True)) + data.itemsize


def _as_tuple(item) -> tuple:
    return item if isinstance(item, tuple) else (item,)


def _check_basic(item) -> None:
    for part in _as_tuple(item):
        if isinstance(part, str | list | np.ndarray | DeviceNDArray):
            raise Unsupported(
                f"a device array cannot be indexed with a {type(part).__name__}: integers and slices only. "
                "Gather in a kernel, or index a CuPy array or a copy on the host."
            )


def _check_same(one, other, strides: bool = True) -> None:
    """Numba copies bytes, so both sides need the same layout, except for dimensions of size one."""
    if one.dtype != other.dtype:
        raise TypeError(f"incompatible dtype: {one.dtype} on the device, {other.dtype} on the other side")
    one_shape, other_shape = (tuple(n for n in array.shape if n != 1) for array in (one, other))
    if one_shape != other_shape:
        raise ValueError(f"incompatible shape: {one.shape} on the device, {other.shape} on the other side")
    if strides and one.size and one.squeeze().strides != other.squeeze().strides:
        raise ValueError(
            f"incompatible strides: {one.strides} on the device, {other.strides} on the other side; "
            "copy to a new array first, then assign"
        )


def _same_memory(data: np.ndarray, change) -> np.ndarray:
    changed = change(data)
    if changed.size and not np.may_share_memory(changed, data):
        raise Unsupported("this would need a copy on the device: copy_to_host(), reshape, to_device()")
    return changed


def allocate(shape, dtype, order="C", strides=None) -> np.ndarray:
    """A NumPy array over fresh device memory; Numba, unlike NumPy, takes single numbers for one dimension."""
    dtype = np.dtype(dtype)
    if strides is None:
        return memory.array(shape, dtype, order=order)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    strides = (strides,) if isinstance(strides, int) else tuple(strides)
    nbytes = 0 if 0 in shape else sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + dtype.itemsize
    return memory.view(memory.allocate(nbytes), shape, dtype, strides=strides)

"""CuPy's ndarray on the virtual GPU: a NumPy array over device memory, inside a class that isn't a NumPy array.

As in CuPy, two accidents raise errors: implicit conversion of a device array to a host array, and mixing the two in one
expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vgpu import operations
from vgpu.standins.cupy import dlpack, host_memory, indexing, pointer, streams
from vgpu.storage import memory

_IMPLICIT = (
    "Implicit conversion to a NumPy array is not allowed: this array is on the device, and copying it to the "
    "host takes time that should be seen. Write x.get() or cp.asnumpy(x) where the copy is meant."
)


class Flags:
    """Which layouts an array has, and whether it owns its memory: `x.flags.c_contiguous`."""

    def __init__(self, c_contiguous: bool, f_contiguous: bool, owndata: bool):
        self.c_contiguous, self.f_contiguous, self.owndata = c_contiguous, f_contiguous, owndata

    forc = property(lambda self: self.c_contiguous or self.f_contiguous)
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)

    def __getitem__(self, name: str) -> bool:
        return getattr(self, name.lower())

    def __repr__(self) -> str:
        names = ("c_contiguous", "f_contiguous", "owndata")
        return "\n".join(f"  {name.upper()} : {getattr(self, name)}" for name in names)


class ndarray:
    """An array in device memory.

    `ndarray(shape, dtype=float, memptr=None, strides=None, order="C")` makes one over fresh memory (filled
    with 0xFF bytes) or over `memptr`; `strides` are in bytes. Usually made by cp.array, cp.zeros ….
    """

    __slots__ = ("__weakref__", "_host", "base")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment] # typeshed gives every object a hash
    _host: np.ndarray
    base: ndarray | None

    if TYPE_CHECKING:  # `operators` adds NumPy's operators and methods

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order="C"):
        self.base = None
        if memptr is None:
            if strides is not None:
                raise ValueError("memptr is required if strides is given.")
            self._host = memory.array(shape, dtype, order=order or "C", kind="cupy")
            return
        offset = memptr.ptr - memptr.mem.ptr
        buffer = np.asarray(memptr.mem)
        self._host = np.ndarray(shape, dtype, buffer, offset, strides, order or "C")

    @classmethod
    def _over(cls, host: np.ndarray, base: ndarray | None = None) -> ndarray:
        self = cls.__new__(cls)
        self._host, self.base = host, base
        return self

    # Its layout.
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    strides = property(lambda self: self._host.strides)
    data = property(lambda self: pointer.pointer_to(self._host))

    @property
    def shape(self) -> tuple[int, ...]:
        return self._host.shape

    @shape.setter
    def shape(self, shape):
        changed = self._host.reshape(shape)
        if not np.shares_memory(changed, self._host) and self._host.size:
            raise AttributeError("incompatible shape for a non-contiguous array: use x.reshape(shape)")
        self._host = changed

    @property
    def flags(self) -> Flags:
        flags = self._host.flags
        return Flags(flags.c_contiguous, flags.f_contiguous, self.base is None)

    @property
    def device(self):
        from vgpu.standins.cupy.device import Device

        return Device(0)

    @property
    def flat(self):
        return Flat(self)

    def __len__(self) -> int:
        return len(self._host)

    def __repr__(self) -> str:
        return repr(self._host.view(np.ndarray))

    def __str__(self) -> str:
        return str(self._host)

    def __format__(self, spec: str) -> str:
        return format(self._host.item() if self.ndim == 0 and spec else self._host, spec)

    # Between device and host.
    def get(self, stream=None, order="C", out=None, blocking=True) -> np.ndarray:
        """Copy to the host: a NumPy array, or `out` when given (same shape and dtype)."""
        if out is None:
            out = np.empty(self.shape, self.dtype, order=_order(self._host, order))
        elif not isinstance(out, np.ndarray):
            raise TypeError(f"Only numpy.ndarray can be obtained from cupy.ndarray, not {type(out)}")
        elif out.dtype != self.dtype:
            raise TypeError(f"{out.dtype} array cannot be obtained from {self.dtype} array")
        elif out.shape != self.shape:
            raise ValueError(f"Shape mismatch. Expected shape: {self.shape}, actual shape: {out.shape}")
        plain, source = out.view(np.ndarray), self._host
        queue = streams.queue_of(stream)
        operations.copy(queue, "D2H", plain, source, lambda: np.copyto(plain, source), asynchronous=not blocking)
        return out

    def set(self, arr, stream=None) -> None:
        """Copy a NumPy array of the same shape and dtype from the host into this array."""
        if not isinstance(arr, np.ndarray):
            raise TypeError(f"Only numpy.ndarray can be set to cupy.ndarray, not {type(arr)}")
        if arr.dtype != self.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array: convert it first (astype)")
        if arr.shape != self.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        if not self.flags.forc:
            raise RuntimeError("Cannot set to a non-contiguous array: copy it first (cp.ascontiguousarray)")
        plain, target = arr.view(np.ndarray), self._host
        queue = streams.queue_of(stream)
        operations.copy(queue, "H2D", plain, target, lambda: np.copyto(target, plain), asynchronous=True)

    def __array__(self, dtype=None, copy=None):
        raise TypeError(_IMPLICIT)

    def item(self, *args):
        """One element as a Python number."""
        return self.get().item(*args)  # as in CuPy: a copy that the host waits for

    def tolist(self):
        """The elements as nested lists of Python numbers."""
        return self.get().tolist()

    def tobytes(self, order="C") -> bytes:
        """The elements' bytes, on the host."""
        return self.get().tobytes(order)

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get().item() if self.size == 1 else self.get())

    def __float__(self) -> float:
        return float(self.get().item() if self.size == 1 else self.get())

    def __complex__(self) -> complex:
        return complex(self.get().item() if self.size == 1 else self.get())

    # Parts of it.
    def __getitem__(self, key) -> ndarray:
        part = self._host[indexing.host_key(key, self.shape)]
        if memory.owner(part) is not None:
            return ndarray._over(part, self if self.base is None else self.base)
        return _copied(part, order="C")  # NumPy lays out what a list of columns picks in columns, CuPy does not

    def __setitem__(self, key, value) -> None:
        key, value = indexing.host_key(key, self.shape), indexing.host_value(value)
        value = host_memory.cast(value, self.dtype) if isinstance(value, np.ndarray) else value
        part = _part(self._host, key)
        call: streams.NumpyCall | None = None if part is None else ("copy", (value,), {})
        target = self._host if part is None else part
        with streams.array_work("an assignment to elements", writes=[target], call=call):
            self._host[key] = value

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value) -> bool:
        return bool((self._host == indexing.host_value(value)).any())

    # Copies.
    def copy(self, order="C") -> ndarray:
        """A copy in fresh device memory."""
        return _copied(self._host, order=order)

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True) -> ndarray:
        """A copy with another dtype; with copy=False the array itself when it has that dtype already."""
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        if casting is not None and not np.can_cast(self.dtype, dtype, casting):
            raise TypeError(f"Cannot cast array data from {self.dtype!r} to {np.dtype(dtype)!r} by {casting!r}")
        return _copied(self._host, dtype=host_memory.check_dtype(dtype), order=order)

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo) -> ndarray:
        return self.copy()

    def __reduce__(self):
        return _copied, (self.get(),)

    # Other libraries.
    @property
    def __cuda_array_interface__(self) -> dict:
        host = self._host
        return {
            "shape": host.shape,
            "typestr": host.dtype.str,
            "descr": host.dtype.descr,
            "strides": None if host.flags.c_contiguous else host.strides,
            "data": (host.ctypes.data if host.size else 0, False),
            "version": 3,
            "stream": streams.get_current_stream().ptr or 1,  # 1 is the default stream
        }

    def __dlpack__(self, *, stream=None, max_version=None, copy=None, **device):
        """The array for another library, such as `torch.from_dlpack(x)`: over the same memory.

        NumPy, a library without devices, passes the one it needs: there the copy to the host has to be explicit, as in
        CuPy, with `np.from_dlpack(x, device="cpu")`. Raises BufferError otherwise.
        """
        if not device:
            return self._host.__dlpack__(max_version=max_version, copy=copy)
        if device["dl_device"] != dlpack.CPU:
            raise BufferError(f"{_IMPLICIT} So does np.from_dlpack(x, device='cpu').")
        return self.get().__dlpack__(max_version=max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CPU  # where other libraries find the memory; CuPy's arrays say CUDA


class Flat:
    """The array seen as one row in C order: can be iterated, indexed and assigned to."""

    def __init__(self, array: ndarray):
        self._array = array

    def __getitem__(self, key):
        return _copied(self._array._host.flat[getattr(key, "_host", key)])

    def __setitem__(self, key, value):
        self._array._host.flat[getattr(key, "_host", key)] = indexing.host_value(value)

    def __iter__(self):
        return (_copied(value) for value in self._array._host.flat)

    def __len__(self) -> int:
        return self._array.size


def _part(host: np.ndarray, key) -> np.ndarray | None:
    """The view that a key of whole numbers and slices picks; None for any other key."""
    keys = key if isinstance(key, tuple) else (key,)
    if not all(isinstance(each, (int, slice, type(...))) and not isinstance(each, bool) for each in keys):
        return None
    return host[keys if ... in keys else (*keys, ...)]


def _order(host: np.ndarray, order: Literal["C", "F", "A", "K"] | None) -> Literal["C", "F"]:
    """C or F, for one of NumPy's four letters."""
    if order == "A" or order == "K":
        return "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    return order or "C"


def _copied(host, dtype=None, order="K") -> ndarray:
    with streams.array_work("a copy", np.asarray(host), call=("copy", (np.asarray(host),), {})) as written:
        result = host_memory.fresh(host_memory.cast(np.asarray(host), dtype), dtype, order)
        written.append(result)
    return ndarray._over(result)

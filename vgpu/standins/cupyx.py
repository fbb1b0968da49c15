"""`cupyx` on the virtual GPU, `from vgpu import cupyx`: pinned host arrays, scattering, and ranges for profilers.

The rest of CuPy's extensions works on machines with a GPU only; each name says what to use instead of it.
"""

from __future__ import annotations

import contextlib
from math import prod
from typing import Any, Literal, cast

import numpy as np

from vgpu import operations
from vgpu.standins.cupy.forward import ForwardedFunction
from vgpu.standins.cupy.missing import getter, submodule
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.storage import memory

rsqrt = ForwardedFunction("rsqrt", lambda x: np.reciprocal(np.sqrt(x)))


def empty_pinned(shape, dtype=float, order: str = "C") -> np.ndarray:
    """A NumPy array in pinned host memory, which asynchronous copies can use; its contents are 0xFF bytes."""
    shape = (int(shape),) if np.ndim(shape) == 0 else tuple(int(n) for n in shape)
    return _pinned(shape, np.dtype(dtype), order=order)


def empty_like_pinned(a, dtype=None, order: str = "K", subok=None, shape=None) -> np.ndarray:
    """`empty_pinned` with the shape, dtype and layout of a NumPy array or of one on the device."""
    if subok is not None:
        raise TypeError("subok is not supported yet")
    host: Any = a._host if isinstance(a, ndarray) else a
    like = np.empty_like(host, dtype, cast(Literal["K", "A", "C", "F"], order), False, shape)
    return _pinned(like.shape, like.dtype, strides=like.strides)


def zeros_pinned(shape, dtype=float, order: str = "C") -> np.ndarray:
    """`empty_pinned`, filled with zeros."""
    return _zeroed(empty_pinned(shape, dtype, order))


def zeros_like_pinned(a, dtype=None, order: str = "K", subok=None, shape=None) -> np.ndarray:
    """`empty_like_pinned`, filled with zeros."""
    return _zeroed(empty_like_pinned(a, dtype, order, subok, shape))


def _pinned(shape: tuple[int, ...], dtype: np.dtype, **layout) -> np.ndarray:
    place = memory.allocate(prod(shape) * dtype.itemsize, kind="pinned")
    return memory.view(place, shape, dtype, **layout).view(operations.PinnedArray)


def _zeroed(fresh: np.ndarray) -> np.ndarray:
    fresh[...] = 0
    return fresh


def scatter_add(a: ndarray, slices, value) -> None:
    """Add values to the elements that `slices` picks, once per occurrence of an index."""
    a.scatter_add(slices, value)


def scatter_max(a: ndarray, slices, value) -> None:
    """Keep the greater of each picked element and its values."""
    a.scatter_max(slices, value)


def scatter_min(a: ndarray, slices, value) -> None:
    """Keep the smaller of each picked element and its values."""
    a.scatter_min(slices, value)


@contextlib.contextmanager
def _range(*args, **kwargs):
    """A range for NVIDIA's profilers; ignored here."""
    yield


profiler = submodule(
    "cupyx.profiler",
    {"profile": _range, "time_range": _range},
    {"benchmark": "vgpu.profile(kernel, grid, block, args), whose time is modelled; a clock would measure this CPU"},
)

__getattr__ = getter(
    "cupyx.",
    {
        "GeneralizedUFunc": "an ElementwiseKernel or a RawKernel",
        "jit": "numba's cuda.jit (from vgpu import cuda), or cp.RawKernel",
        "optimizing": "the kernel's launch configuration as you choose it",
        "scipy": "SciPy on cp.asnumpy(x), or cp.fft and cp.linalg",
        "time": "vgpu.profile",
    },
)

"""CuPy's names on the virtual GPU: `from vgpu import cp` is this package where there is no GPU.

Arrays are in the virtual GPU's memory. RawKernel, RawModule, ElementwiseKernel, ReductionKernel and fused functions are
compiled by NVIDIA's compiler and run thread by thread, so they can be counted. Everything else (a * b, cp.sum, cp.sort)
is NumPy on that memory: right results, but no kernels.

As in CuPy, a device array is never converted to a host array implicitly, NumPy arrays are refused, reductions give 0-d
arrays, and integer arrays as index wrap around. Different from CuPy: random numbers are NumPy's, and work has ended
when a call returns. `cupyx` is vgpu.standins.cupyx.
"""

from __future__ import annotations

import sys as _sys
from types import SimpleNamespace as _Namespace

import numpy as _np

from vgpu.standins.cupy import cuda, fft, forward, linalg, operators, random, stride_tricks, testing
from vgpu.standins.cupy.convert import on_device as _on_device
from vgpu.standins.cupy.creation import (
    array,
    asanyarray,
    asarray,
    asarray_chkfinite,
    ascontiguousarray,
    asfortranarray,
    asnumpy,
    copy,
    empty,
    empty_like,
    from_dlpack,
    full,
    full_like,
    load,
    ones,
    ones_like,
    require,
    zeros,
    zeros_like,
)
from vgpu.standins.cupy.cuda import is_available
from vgpu.standins.cupy.elementwise import ElementwiseKernel
from vgpu.standins.cupy.forward import ufunc
from vgpu.standins.cupy.fusion import fuse
from vgpu.standins.cupy.kernels import RawKernel, RawModule
from vgpu.standins.cupy.missing import getter as _getter
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.pools import get_default_memory_pool, get_default_pinned_memory_pool
from vgpu.standins.cupy.reduction import ReductionKernel

globals().update({_name: _thing for _name, _thing in forward.names().items() if _name not in globals()})
lib = _Namespace(stride_tricks=stride_tricks)
forward.serve_numpy(_sys.modules[__name__])

__all__ = [
    "ElementwiseKernel",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
    "array",
    "asanyarray",
    "asarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "asnumpy",
    "clear_memo",
    "copy",
    "cuda",
    "empty",
    "empty_like",
    "fft",
    "from_dlpack",
    "full",
    "full_like",
    "fuse",
    "get_array_module",
    "get_default_memory_pool",
    "get_default_pinned_memory_pool",
    "is_available",
    "lib",
    "linalg",
    "load",
    "memoize",
    "ndarray",
    "ones",
    "ones_like",
    "operators",
    "random",
    "require",
    "testing",
    "ufunc",
    "zeros",
    "zeros_like",
]

__version__ = "14.2.0"  # the CuPy whose names and behaviour these are


def get_array_module(*args):
    """CuPy when an argument is on the device, else NumPy: for code that serves both."""
    return _sys.modules[__name__] if _on_device(*args) else _np


def memoize(for_each_device=False):
    """Decorator: keep a function's results by its arguments."""
    import functools

    return functools.cache


def clear_memo() -> None:
    """Accepted and ignored: the cache of `memoize` has the lifetime of its function."""


__getattr__ = _getter(
    "",
    {
        "broadcast": "cp.broadcast_arrays or cp.broadcast_to",
        "poly1d": "cp.polyval and cp.polyfit",
        "vectorize": "cp.ElementwiseKernel",
        "in1d": "cp.isin",
        "product": "cp.prod",
        "trapz": "cp.trapezoid",
        "row_stack": "cp.vstack",
        "polynomial": "numpy.polynomial on cp.asnumpy(x)",
        "nditer": "a kernel, or array operations",
        "string_": "the host: devices hold numbers only",
    },
)

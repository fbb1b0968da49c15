"""The decorator `cuda.jit`: real Numba compiles, the virtual GPU runs."""

from __future__ import annotations

import inspect
import types

from vgpu.base.errors import Unsupported
from vgpu.compile import numba_adapter
from vgpu.hardware import device as modelled
from vgpu.standins.numba.function import DeviceFunction, Function
from vgpu.standins.numba.kernel import OPTIONS, NumbaKernel
from vgpu.standins.numba.rebind import rebind


def jit(func_or_sig=None, device: bool = False, **options):
    """Compile a Python function for the GPU: the decorator `@cuda.jit`, with Numba's arguments.

    Plain, with options, with a signature ("void(float32[::1], int64)") or a list of them, or with
    `device=True` for functions that kernels call. `lineinfo`, `cache`, `lto` and the carve-out have no effect here:
    source lines are always kept. Memory is always checked, so `boundscheck=True` raises Unsupported, as in Numba.
    """
    for name in options:
        if name not in OPTIONS:
            raise TypeError(f"cuda.jit has no option {name!r}; it has {', '.join(['device', *OPTIONS])}")
    if device and options.get("link"):
        raise ValueError("link= has no meaning for a device function")
    if options.get("boundscheck"):
        raise Unsupported(
            "Numba has no boundscheck=True for CUDA, and the virtual GPU always checks memory: leave it out. On a GPU, "
            "run the program under compute-sanitizer."
        )
    numba_adapter.check_options(options)

    if func_or_sig is None:
        return lambda function: _make(function, device, options, None)
    if isinstance(func_or_sig, list) or _is_signature(func_or_sig):
        return lambda function: _make(function, device, options, func_or_sig)
    return _make(func_or_sig, device, options, None)


def _is_signature(value) -> bool:
    if isinstance(value, types.FunctionType | Function):
        return False
    return isinstance(value, str | tuple) or numba_adapter.sigutils.is_signature(value)


def _make(function, device, options, signatures):
    if isinstance(function, Function):
        raise TypeError("A jit decorator was called on an already jitted function; decorate it once.")
    if not inspect.isfunction(function):
        raise TypeError(f"cuda.jit decorates functions; this is a {type(function).__name__}")
    if device:
        return DeviceFunction(function, options, signatures)
    return NumbaKernel(function, options, signatures)


def compile(pyfunc, sig, *args, cc=None, **options):
    """Compile a function to PTX or LTO-IR without running it, as `numba.cuda.compile` does: (code, type returned)."""
    return _compiled("compile", pyfunc, sig, *args, cc=cc, **options)


def compile_ptx(pyfunc, sig, *args, cc=None, **options):
    """Compile a kernel, or with `device=True` a device function, to PTX: (PTX, type returned)."""
    return _compiled("compile_ptx", pyfunc, sig, *args, cc=cc, **options)


def compile_all(pyfunc, sig, *args, cc=None, **options):
    """Compile a function and what it links to: (list of codes, type returned)."""
    return _compiled("compile_all", pyfunc, sig, *args, cc=cc, **options)


# Without a compute capability it is the modelled GPU's that counts.
compile_for_current_device, compile_ptx_for_current_device = compile, compile_ptx


def _compiled(name: str, function, signature, *args, cc, **options):
    function = function.py_func if isinstance(function, Function) else function
    cc = numba_adapter.target(modelled.current().compute_capability) if cc is None else cc
    with numba_adapter.modelled(cc):
        return numba_adapter.compilers[name](rebind(function, cc), signature, *args, cc=cc, **options)

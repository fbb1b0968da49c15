"""Twins on the virtual GPU of a real GPU's kernel and arguments, so that tools can count a real program's launch.

On a machine with a GPU, `cp` and `cuda` are CuPy and Numba themselves. A twin has the same source, and its arrays have
the same contents, dtype, shape, strides and address modulo 256, so that its sectors are the same.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from vgpu.base.errors import Unsupported
from vgpu.base.ours import ours
from vgpu.standins import calls
from vgpu.storage import memory


@dataclass(frozen=True)
class Extent:
    """Bytes of a real GPU's memory, from `low` up to but without `high`."""

    low: int
    high: int


@dataclass(frozen=True, eq=False)
class CopiedExtent:
    """An extent and its copy on the virtual GPU, at `address`."""

    span: Extent
    address: int
    allocation: memory.Allocation | None = None

    def fetch(self) -> None:
        _memcpy(self.address, self.span.low, self.span.high - self.span.low)

    def put_back(self) -> None:
        _memcpy(self.span.low, self.address, self.span.high - self.span.low)


def twin(kernel, args=()) -> tuple[object, tuple, Callable[[], None]]:
    """The virtual kernel and arguments, and a function to call after the run that copies contents back.

    kernel: a `cp.RawKernel`, a function of a `cp.RawModule`, a `@cuda.jit` or a `@triton.jit` kernel; args: its
    arguments. Device arrays and pointers are copied, with one copy for all that share memory. Everything else is
    returned unchanged: virtual arrays and kernels, and values that aren't kernels. Errors: `Unsupported` for a kernel
    without source, and for a pointer into memory of unknown size.
    """
    other = _kernel(kernel)
    spans: list[Extent] = []
    _walk(args, lambda value, look: spans.append(look.span(value)))
    copies = [_copy_of(span) for span in _merged(spans)]
    if other is not kernel:
        copies += _variables(kernel, other)
    if copies:
        _synchronize()
        for each in copies:
            each.fetch()

    def finish() -> None:
        for each in copies:
            each.put_back()

    return other, _walk(args, lambda value, look: look.build(value, copies)), finish


# --- kernels ------------------------------------------------------------------------------------------------


def _is(value, kind: tuple[str, str]) -> bool:
    """Whether `value` is of the class (module, name), without importing it."""
    return any((each.__module__, each.__qualname__) == kind for each in type(value).__mro__)


def _kernel(kernel):
    if calls.is_cute(kernel):
        return _cute(kernel)
    return next((make(kernel) for kind, make in _KERNELS if _is(kernel, kind)), kernel)


def _numba(kernel):
    from vgpu.standins.numba.dispatcher import stand_in

    return stand_in(kernel)


def _cuda_c(kernel):
    code, path = kernel.code, kernel.file_path
    if code is None and path is None:
        raise Unsupported(
            f"the source of {kernel.name} is not known, and the virtual GPU compiles sources. Make it with "
            "cp.RawKernel(code, name), or take it from cp.RawModule(code=…)."
        )
    return _from_source(
        code, path, kernel.name, tuple(kernel.options), kernel.backend, bool(kernel.enable_cooperative_groups)
    )


def _triton(kernel):
    from vgpu.standins.triton.kernel import stand_in

    return stand_in(kernel)


def _cute(kernel):
    from vgpu.standins.cute.kernel import stand_in

    return stand_in(kernel)


# CuPy's kernels have no weak references, so the cache's key is all that defines a kernel.
@functools.lru_cache(maxsize=256)
def _from_source(code, path, name, options, backend, cooperative):
    from vgpu.standins import cupy

    common = dict(options=options, backend=backend, enable_cooperative_groups=cooperative)
    if path is not None:
        return cupy.RawModule(path=path, **common).get_function(name)
    if name.isidentifier():
        return cupy.RawKernel(code, name, **common)
    # An instance of a template, or a name in a namespace: a kernel of a module, which lists such names.
    return cupy.RawModule(code=code, name_expressions=(name,), **common).get_function(name)


_KERNELS = (
    (("cupy._core.raw", "RawKernel"), _cuda_c),
    (("numba.cuda.dispatcher", "CUDADispatcher"), _numba),
    (("triton.runtime.jit", "JITFunction"), _triton),
    (("triton.runtime.autotuner", "Autotuner"), _triton),
    (("triton.runtime.autotuner", "Heuristics"), _triton),
    (("cutlass.base_dsl.jit_executor", "JitCompiledFunction"), _cute),
    (("cutlass.base_dsl.jit_executor", "JitExecutor"), _cute),
)


def _variables(kernel, other) -> list[CopiedExtent]:
    """The `__constant__` and `__device__` variables of a CUDA C kernel, which the host may have set."""
    if not _is(kernel, _KERNELS[0][0]):
        return []
    module = other.kernel.module
    # Format strings of printf begin with a dollar, and programs can't set them.
    names = [name for name in module.variables.addresses if not name.startswith("$")]
    if not names:
        return []
    from cupy.cuda import driver

    found, there = [], kernel.kernel.module
    for name in names:
        try:
            low = int(there.get_global_var(name))
        except driver.CUDADriverError:  # a variable that the compiler keeps to itself
            continue
        found.append(CopiedExtent(Extent(low, low + module.nbytes(name)), module.address(name)))
    return found


# --- arguments ----------------------------------------------------------------------------------------------


def _walk(value, found):
    """`value` with `found(part, kind)` in place of every real array or pointer in it."""
    if isinstance(value, (tuple, list)):
        parts = [_walk(part, found) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if any(_is(value, ("numba.cuda.args", hint)) for hint in ("In", "Out", "InOut")):
        from vgpu.standins.numba import args as numba_args

        return getattr(numba_args, type(value).__name__)(_walk(value.value, found))
    if ours(type(value).__module__):
        return value
    if _is(value, ("cupy.cuda.memory", "MemoryPointer")):
        return found(value, _Pointer)
    described = _described(value)
    return value if described is None or _is_virtual(described) else found(value, _Array)


def _described(value) -> dict[str, Any] | None:
    return getattr(value, "__cuda_array_interface__", None)


def _is_virtual(described: dict) -> bool:
    """Whether the memory is the virtual GPU's: a real one has no addresses in common with the host."""
    place = memory.describe(described["data"][0])
    return place.allocation is not None and not place.freed and place.offset < place.allocation.nbytes


def _layout(value) -> tuple[int, np.dtype, tuple[int, ...], tuple[int, ...]]:
    """Address, element, shape and strides of a device array; the interface leaves out the strides of C order."""
    described = value.__cuda_array_interface__
    dtype = getattr(value, "dtype", None)
    if not isinstance(dtype, np.dtype):
        fields = described.get("descr") if described["typestr"][1] == "V" else None
        dtype = np.dtype(fields or described["typestr"])
    shape, strides = tuple(described["shape"]), described.get("strides")
    if strides is None:
        strides = [dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return described["data"][0], dtype, shape, tuple(strides)


class _Array:
    """Device arrays of any library, by their CUDA array interface."""

    @staticmethod
    def span(value) -> Extent:
        """The bytes of the array that this one is a view of, where its library knows it, else its own."""
        first, dtype, shape, strides = _layout(value)
        if 0 in shape:
            return Extent(first, first)
        ends = [step * (count - 1) for step, count in zip(strides, shape, strict=True)]
        own = Extent(
            first + sum(min(end, 0) for end in ends), first + sum(max(end, 0) for end in ends) + dtype.itemsize
        )
        whole = _whole(value)
        # The base that a library reports may be other memory; then take the array's own bytes.
        return whole if whole and whole.low <= own.low and own.high <= whole.high else own

    @staticmethod
    def build(value, copies):
        from vgpu.standins.cupy import ndarray
        from vgpu.standins.numba.array import DeviceRecord

        first, dtype, shape, strides = _layout(value)
        if 0 in shape:
            return ndarray(shape, dtype)
        home = next(each for each in copies if each.span.low <= first < each.span.high)
        offset = home.address + first - home.span.low - home.allocation.address
        data = memory.view(home.allocation, shape, dtype, offset, strides=strides)
        if _is(value, ("numba.cuda.cudadrv.devicearray", "DeviceRecord")):
            return DeviceRecord.over(data)
        return ndarray._over(data)


class _Pointer:
    """CuPy's pointers: all the memory that they point into."""

    @staticmethod
    def span(value) -> Extent:
        if not value.mem.size:
            raise Unsupported(
                "a pointer was given into memory whose size CuPy does not know, so it cannot be copied to the "
                "virtual GPU. Pass an array over it: cp.ndarray(shape, dtype, pointer)."
            )
        return Extent(value.mem.ptr, value.mem.ptr + value.mem.size)

    @staticmethod
    def build(value, copies):
        from vgpu.standins.cupy.pointer import Memory, MemoryPointer

        home = next(each for each in copies if each.span.low <= value.mem.ptr < each.span.high)
        there = home.allocation
        whole = Memory(there.address, there.nbytes, there)
        return MemoryPointer(whole, home.address - there.address + value.ptr - home.span.low)


def _whole(value) -> Extent | None:
    """The memory of the array that `value` is a view of, as CuPy and Numba store it."""
    base = getattr(value, "base", None)
    if base is not None and _described(base) is not None:
        return _Array.span(base)
    owner = getattr(getattr(value, "gpu_data", None), "owner", None)
    low, size = getattr(owner, "device_pointer_value", None), getattr(owner, "size", None)
    return Extent(int(low), int(low) + int(size)) if low and size else None


def _merged(spans: list[Extent]) -> list[Extent]:
    """The spans with overlapping ones merged; adjacent ones stay separate."""
    merged: list[Extent] = []
    for span in sorted((s for s in spans if s.low < s.high), key=lambda s: s.low):
        if merged and span.low < merged[-1].high:
            merged[-1] = Extent(merged[-1].low, max(merged[-1].high, span.high))
        else:
            merged.append(span)
    return merged


def _copy_of(span: Extent) -> CopiedExtent:
    """Memory on the virtual GPU for a span, at the same address modulo 256."""
    shift = span.low % memory.ALIGNMENT
    allocation = memory.allocate(shift + span.high - span.low)
    return CopiedExtent(span, allocation.address + shift, allocation)


# --- the real GPU's side ------------------------------------------------------------------------------------


def _synchronize() -> None:
    """Wait for the GPU: kernels still running may be writing what is about to be copied."""
    from cupy.cuda import runtime

    runtime.deviceSynchronize()


def _memcpy(target: int, source: int, nbytes: int) -> None:
    """Copy between host and GPU in either direction: the driver knows the side of each address."""
    from cupy.cuda import runtime

    runtime.memcpy(target, source, nbytes, runtime.memcpyDefault)

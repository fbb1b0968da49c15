"""The functions that the host's code of a `@cute.jit` function calls, by CUDA's names with an underscore before them.

They have the signatures of CUDA's runtime (NVIDIA "CUDA Runtime API"). Compiled code calls them, so an exception can't
leave them: the first one is kept, and `raising` raises it when that code has returned.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from vgpu import operations
from vgpu.launch import launch
from vgpu.standins.cupy import cudart
from vgpu.standins.cute.sources import loaded
from vgpu.standins.cute.tensor_maps import as_ours
from vgpu.storage import tensor_map
from vgpu.storage.memory import ArrayInfo

SUCCESS, FAILED = 0, 999
COOPERATIVE, CLUSTER, DEPENDENT = 2, 4, 6  # of cudaLaunchAttributeID
_NONPORTABLE = 14  # of CUfunction_attribute: CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
_SHARED_BYTES = 1  # of CUfunction_attribute: CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES

ARRAYS: ContextVar[tuple[ArrayInfo, ...]] = ContextVar("arrays", default=())
"""The arrays of the call of the host's code that runs."""
_failure: ContextVar[list[BaseException] | None] = ContextVar("failure", default=None)
_handling: ContextVar[Callable[[launch.Prepared, operations.Queue, bool], None]] = ContextVar("handling")

_POINTER, _INT, _SIZE = ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint64
_LETTERS = {"p": _POINTER, "i": _INT, "n": _SIZE}


@contextmanager
def raising() -> Iterator[None]:
    """Around a call of the host's code: raises what a function of this module raised meanwhile."""
    found: list[BaseException] = []
    token = _failure.set(found)
    try:
        yield
    except Exception:  # what CuTe DSL makes of `FAILED`
        if not found:
            raise
    finally:
        _failure.reset(token)
    if found:
        raise found[0]


@contextmanager
def handling(handle: Callable[[launch.Prepared, operations.Queue, bool], None]) -> Iterator[None]:
    """Within a `with` block, pass every launch to `handle`, with its stream, instead of running it."""
    token = _handling.set(handle)
    try:
        yield
    finally:
        _handling.reset(token)


def _run(prepared: launch.Prepared, queue: operations.Queue, dependent: bool) -> None:
    grid, block = prepared.grid, prepared.block
    assert grid is not None and block is not None, "the host's code chooses both"
    operations.kernel(
        queue, prepared.kernel, grid, block, prepared.params, prepared.arrays, prepared.shared_bytes,
        cooperative=prepared.cooperative, dependent=dependent,
    )  # fmt: skip


class Host:
    """The functions for the host's code of one compiled module, and the kernels of its PTX."""

    def __init__(self, ptx: str):
        self.ptx = ptx
        self._kernels: list[launch.Kernel] = []
        self._functions = {
            f"_{name}": ctypes.CFUNCTYPE(_INT, *map(_LETTERS.__getitem__, letters))(_guarded(getattr(self, name)))
            for name, letters in SIGNATURES.items()
        }  # which have to live as long as the compiled code

    def register(self, register: Callable[[str, Any], None]) -> None:
        """Hand each function to the execution engine, by its name."""
        for name, function in self._functions.items():
            register(name, ctypes.cast(function, _POINTER))

    # -- libraries and kernels: a handle is a number, a kernel's its position from 1

    def cudaLibraryLoadData(self, library: int, *_: Any) -> None:
        _POINTER.from_address(library).value = 1

    def cudaLibraryGetKernel(self, kernel: int, library: int, name: int) -> None:
        self._kernels.append(loaded(self.ptx)[ctypes.string_at(name).decode()])
        _POINTER.from_address(kernel).value = len(self._kernels)

    def cuKernelGetAttribute(self, value: int, attribute: int, kernel: int, device: int) -> None:
        static = self._kernels[kernel - 1].compiled()[0].static_shared if attribute == _SHARED_BYTES else 0
        _INT.from_address(value).value = static

    def cudaFuncSetAttribute(self, kernel: int, attribute: int, value: int, *_: Any) -> None:
        """Allow large clusters. Of shared memory a launch is checked against the modelled GPU."""
        if attribute == _NONPORTABLE and value:
            self._kernels[kernel - 1] = self._kernels[kernel - 1].in_large_clusters

    cudaKernelSetAttributeForDevice = cudaFuncSetAttribute

    # -- the device

    def cudaGetDevice(self, device: int) -> None:
        _INT.from_address(device).value = 0

    def cudaGetDeviceCount(self, count: int) -> None:
        _INT.from_address(count).value = 1

    def cudaSetDevice(self, device: int) -> None:
        """Nothing: there is one."""

    def cudaDeviceGetAttribute(self, value: int, attribute: int, device: int) -> None:
        _INT.from_address(value).value = cudart.deviceGetAttribute(attribute, device)

    # -- tensor maps, by the driver's function

    def cuTensorMapEncodeTiled(
        self, target: int, kind: int, rank: int, address: int, sizes: int, strides: int, box: int, steps: int,
        interleave: int, swizzle: int, promotion: int, fill: int,
    ) -> None:  # fmt: skip
        made = tensor_map.encoded(kind, rank, address, sizes, strides, box, steps, interleave, swizzle, fill)
        ctypes.memmove(target, made, len(made))

    # -- launches

    def cudaLaunchKernel(
        self, kernel: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, args: int, shared: int, stream: int
    ) -> None:
        self._launch(kernel, (gx, gy, gz), (bx, by, bz), args, shared, stream, {})

    def cudaLaunchKernelEx(self, config: int, kernel: int, args: int) -> None:
        *sizes, shared, stream, attributes, count = struct.unpack("<6I3QI", ctypes.string_at(config, 52))
        found = {}
        for at in range(attributes, attributes + 72 * count, 72):
            number, *value = struct.unpack("<I4x3I", ctypes.string_at(at, 20))
            found[number] = value
        grid, block = tuple(sizes[:3]), tuple(sizes[3:])
        self._launch(kernel, grid, block, args, shared, stream, found)

    def _launch(
        self, number: int, grid: tuple[int, int, int], block: tuple[int, int, int], args: int, shared: int,
        stream: int | None, attributes: dict[int, list[int]],
    ) -> None:  # fmt: skip
        kernel = self._kernels[number - 1]
        if CLUSTER in attributes:
            x, y, z = attributes[CLUSTER]
            kernel = kernel.in_clusters((x, y, z))
        sizes = [parameter.nbytes for parameter in kernel.parameters]
        places = (_SIZE * len(sizes)).from_address(args) if sizes else ()
        params = [as_ours(ctypes.string_at(place, nbytes)) for place, nbytes in zip(places, sizes, strict=True)]
        prepared = launch.Prepared(
            kernel, params, list(ARRAYS.get()), shared, grid=grid, block=block,
            cooperative=bool(attributes.get(COOPERATIVE, [0])[0]),
        )  # fmt: skip
        dependent = bool(attributes.get(DEPENDENT, [0])[0])
        _handling.get(_run)(prepared, operations.find_queue(stream or 0), dependent)


SIGNATURES = {
    "cudaLibraryLoadData": "ppppippi",
    "cudaLibraryGetKernel": "ppp",
    "cuKernelGetAttribute": "pipi",
    "cudaFuncSetAttribute": "pii",
    "cudaKernelSetAttributeForDevice": "piii",
    "cudaGetDevice": "p",
    "cudaGetDeviceCount": "p",
    "cudaSetDevice": "i",
    "cudaDeviceGetAttribute": "pii",
    "cuTensorMapEncodeTiled": "piipppppiiii",
    "cudaLaunchKernel": "piiiiiipnp",
    "cudaLaunchKernelEx": "ppp",
}
"""The functions of `Host`, and their parameters: pointers, ints and sizes."""


def _guarded(function: Callable[..., None]) -> Callable[..., int]:
    def call(*args: Any) -> int:
        failures = _failure.get()
        if failures:
            return FAILED
        try:
            function(*args)
        except BaseException as error:
            if failures is None:
                raise
            failures.append(error)
            return FAILED
        return SUCCESS

    return call

"""`cupy.cuda.runtime`: part of CUDA's runtime API, on the virtual GPU."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vgpu import operations
from vgpu.base import printf
from vgpu.operations import CUDARuntimeError
from vgpu.standins.cupy import streams
from vgpu.standins.cupy.device import Device, modelled
from vgpu.standins.cupy.missing import getter
from vgpu.storage import heap, layout, memory

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = range(5)
eventDefault, eventBlockingSync, eventDisableTiming = 0, 1, 2
streamDefault, streamNonBlocking = 0, 1
streamCaptureModeGlobal, streamCaptureModeThreadLocal, streamCaptureModeRelaxed = range(3)
hostAllocDefault, hostAllocPortable, hostAllocMapped, hostAllocWriteCombined = 0, 1, 2, 4
cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned = 0, 1
cudaChannelFormatKindFloat, cudaChannelFormatKindNone = 2, 3
cudaArrayDefault, cudaArraySurfaceLoadStore = 0, 2
cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D = range(4)
cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder = range(4)
cudaFilterModePoint, cudaFilterModeLinear = 0, 1
cudaReadModeElementType, cudaReadModeNormalizedFloat = 0, 1
cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize = 0, 1, 2
is_hip = False
_VERSION = 13000
_allocated: dict[int, memory.Allocation] = {}


def getDeviceCount() -> int:
    """1: the virtual GPU."""
    return 1


def getDevice() -> int:
    """0: the virtual GPU."""
    return 0


def setDevice(device: int) -> None:
    """Choose the current device; only 0 is there."""
    Device(device).use()


def deviceSynchronize() -> None:
    """Wait for the device; launches have ended when they return."""
    operations.synchronise()


def runtimeGetVersion() -> int:
    """CUDA's version as 1000 × major + 10 × minor."""
    return _VERSION


driverGetVersion = runtimeGetVersion


def deviceGetAttribute(attribute: str | int, device: int = 0) -> int:
    """One of the device's attributes, by CUDA's number (`cudaDevAttrWarpSize` …) or as `Device.attributes` names it."""
    from cuda.bindings.runtime import cudaDeviceAttr

    name = attribute if isinstance(attribute, str) else cudaDeviceAttr(attribute).name.removeprefix("cudaDevAttr")
    found = Device(device).attributes
    if name not in found:
        raise CUDARuntimeError(f"cudaErrorInvalidValue: the virtual GPU knows of itself {', '.join(found)}; not {name}")
    return found[name]


def memGetInfo() -> tuple[int, int]:
    """(free, total) bytes of the modelled GPU's memory."""
    return Device(0).mem_info


def getDeviceProperties(device: int = 0) -> dict:
    """The modelled GPU's properties under CUDA's names (cudaDeviceProp); `name` is bytes and says virtual."""
    described, gpu = Device(device), modelled()
    described.use()
    return {
        "name": described.name.encode(),
        "totalGlobalMem": gpu.memory_bytes,
        "sharedMemPerBlock": gpu.shared_limit,
        "sharedMemPerBlockOptin": gpu.shared_optin_limit,
        "sharedMemPerMultiprocessor": gpu.shared_per_sm,
        "reservedSharedMemPerBlock": gpu.shared_reserved,
        "regsPerBlock": gpu.registers_per_block,
        "regsPerMultiprocessor": gpu.registers_per_sm,
        "warpSize": gpu.warp_size,
        "maxThreadsPerBlock": gpu.threads_per_block,
        "maxThreadsPerMultiProcessor": gpu.threads_per_sm,
        "maxBlocksPerMultiProcessor": gpu.blocks_per_sm,
        "maxThreadsDim": (1024, 1024, 64),
        "maxGridSize": (2**31 - 1, 65535, 65535),
        "clockRate": int(gpu.clock / 1e3),
        "totalConstMem": 65536,
        "major": gpu.compute_capability[0],
        "minor": gpu.compute_capability[1],
        "multiProcessorCount": gpu.sms,
        "concurrentKernels": 1,
        "unifiedAddressing": 1,
        "pciBusID": 0,
        "pciDeviceID": 0,
    }


def deviceGetLimit(limit: int) -> int:
    """One of the device's limits in bytes: the heap of kernels that use malloc, their stacks, or what printf keeps."""
    found = {
        cudaLimitMallocHeapSize: heap.limit,
        cudaLimitStackSize: lambda: layout.STACK_BYTES,
        cudaLimitPrintfFifoSize: lambda: printf.LIMIT,
    }
    if limit not in found:
        raise CUDARuntimeError(f"cudaErrorUnsupportedLimit: the virtual GPU has no limit {limit}")
    return found[limit]()


def deviceSetLimit(limit: int, value: int) -> None:
    """Choose the size of the heap for kernels that use malloc or new, before the first of them is launched."""
    if limit != cudaLimitMallocHeapSize:
        raise CUDARuntimeError(
            "cudaErrorUnsupportedLimit: on the virtual GPU only cudaLimitMallocHeapSize can be chosen; "
            f"this one stays {deviceGetLimit(limit)} bytes"
        )
    try:
        heap.set_limit(int(value))
    except ValueError as error:
        raise CUDARuntimeError(f"cudaErrorInvalidValue: {error}") from None


def malloc(size: int) -> int:
    """Device memory by hand; give the address back with `free`."""
    allocation = memory.allocate(size)
    _allocated[allocation.address] = allocation
    return allocation.address


def free(ptr: int) -> None:
    """Give back what `malloc` gave; CUDARuntimeError for any other address."""
    if ptr == 0:
        return
    if ptr not in _allocated:
        raise CUDARuntimeError("cudaErrorInvalidValue: this address was not given by malloc, or is free already")
    _allocated.pop(ptr).free()


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """Copy bytes between addresses; those that `kind` puts on the device have to be in live device memory."""
    _copy(dst, src, _Rows(size), kind, operations.LEGACY, False)


def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int = 0) -> None:
    """`memcpy` in a stream; it has ended when the call returns, unless the stream is under capture."""
    _copy(dst, src, _Rows(size), kind, operations.find_queue(stream), True)


def memcpy2D(dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int) -> None:
    """Copy `height` rows of `width` bytes, whose beginnings are a pitch apart (in bytes)."""
    _copy(dst, src, _Rows(width, height, dpitch, spitch), kind, operations.LEGACY, False)


def memcpy2DAsync(
    dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int, stream: int = 0
) -> None:
    """`memcpy2D` in a stream; it has ended when the call returns, unless the stream is under capture."""
    _copy(dst, src, _Rows(width, height, dpitch, spitch), kind, operations.find_queue(stream), True)


class _Rows(NamedTuple):
    """What is copied or set: rows of `width` bytes, and the bytes between their beginnings on both sides."""

    width: int
    height: int = 1
    target_pitch: int = 0
    source_pitch: int = 0

    def at(self, address: int, pitch: int) -> np.ndarray:
        """The rows that begin at an address."""
        if self.height == 1:
            return _bytes(address, self.width)
        return np.lib.stride_tricks.as_strided(
            _bytes(address, self.reach(pitch)), (self.height, self.width), (pitch, 1)
        )

    def reach(self, pitch: int) -> int:
        """Bytes from the first to the last; an error where rows overlap."""
        if self.height > 1 and self.width > pitch:
            raise CUDARuntimeError(
                f"cudaErrorInvalidPitchValue: rows of {self.width} bytes are more than the pitch, {pitch} bytes; width "
                "and pitch are both in bytes"
            )
        return (self.height - 1) * pitch + self.width if self.height and self.width else 0


def _copy(dst: int, src: int, rows: _Rows, kind: int, queue: operations.Queue, asynchronous: bool) -> None:
    if kind == memcpyDefault:
        kind = 2 * _on_device(src) + _on_device(dst)
        kind = (memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice)[kind]
    for address, pitch, kinds, what in (
        (dst, rows.target_pitch, (memcpyHostToDevice, memcpyDeviceToDevice), "destination"),
        (src, rows.source_pitch, (memcpyDeviceToHost, memcpyDeviceToDevice), "source"),
    ):
        size = rows.reach(pitch)
        if kind in kinds:
            _check_on_device(address, size, f"the {what}'s {size} bytes")
    target, source = rows.at(dst, rows.target_pitch), rows.at(src, rows.source_pitch)
    run = partial(np.copyto, target, source)
    if kind in (memcpyHostToDevice, memcpyDeviceToHost) and target.size:
        host, device = (source, target) if kind == memcpyHostToDevice else (target, source)
        name = "H2D" if kind == memcpyHostToDevice else "D2H"
        operations.copy(queue, name, host, device, run, asynchronous=asynchronous)
    else:
        operations.device_copy(queue, f"D2D {target.size} bytes", source, target, run)


def _check_on_device(address: int, size: int, what: str) -> None:
    place = memory.describe(address)
    if place.allocation is None or place.freed or place.offset + size > place.allocation.nbytes:
        raise CUDARuntimeError(f"cudaErrorInvalidValue: {what} are not on the device")


def mallocAsync(size: int, stream: int = 0) -> int:
    """`malloc` in the order of a stream: here at once."""
    return malloc(size)


def freeAsync(ptr: int, stream: int = 0) -> None:
    """`free` in the order of a stream: here at once."""
    free(ptr)


def _on_device(address: int) -> bool:
    place = memory.describe(address)
    found = place.allocation
    return found is not None and not place.freed and place.offset < found.nbytes and found.kind != "pinned"


def _bytes(address: int, size: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def memset(ptr: int, value: int, size: int) -> None:
    """Set bytes on the device."""
    memsetAsync(ptr, value, size)


def memsetAsync(ptr: int, value: int, size: int, stream: int = 0) -> None:
    """`memset` in a stream; it has ended when the call returns, unless the stream is under capture."""
    memset_rows(ptr, 0, value, size, 1, stream)


def memset_rows(ptr: int, pitch: int, value: int, width: int, height: int, stream: int) -> None:
    """Set `height` rows of `width` bytes, whose beginnings are `pitch` bytes apart, in a stream."""
    rows = _Rows(width, height)
    size = rows.reach(pitch)
    _check_on_device(ptr, size, f"the {size} bytes")
    target = rows.at(ptr, pitch)
    operations.copy(
        operations.find_queue(stream), "memset", None, target, lambda: target.fill(value & 0xFF), asynchronous=True,
        value=value & 0xFF,
    )  # fmt: skip


def streamSynchronize(stream: int) -> None:
    """Wait for a stream; its work has ended."""
    operations.synchronise(operations.find_queue(stream))


def deviceGetStreamPriorityRange() -> tuple[int, int]:
    """(least, greatest) priority of a stream; the smaller number is the more urgent one."""
    return operations.PRIORITIES[1], operations.PRIORITIES[0]


def profilerStart() -> None:
    """Nothing to start: `vgpu.tools.profile` counts what a launch does."""


def profilerStop() -> None:
    """Nothing to stop."""


def eventElapsedTime(start: streams.Event, end: streams.Event) -> float:
    """Milliseconds between two events."""
    return streams.get_elapsed_time(start, end)


def __getattr__(name: str) -> Any:
    if name.startswith("cudaDevAttr"):
        from cuda.bindings.runtime import cudaDeviceAttr

        if hasattr(cudaDeviceAttr, name):
            return int(getattr(cudaDeviceAttr, name))
    return _missing(name)


_missing = getter(
    "cuda.runtime.",
    {
        "streamBeginCapture": "cp.cuda.Stream().begin_capture()",
        "mallocManaged": "malloc, with explicit copies",
        "eventCreate": "cp.cuda.Event()",
        "streamCreate": "cp.cuda.Stream()",
        "deviceCanAccessPeer": "one device: the virtual GPU is the only one",
    },
)

"""A GPU for tests without one: memory of the host that real CuPy and Numba arrays lie over.

The arrays are of the libraries' own classes, so that bases, views and strides are theirs; only what asks the
driver is replaced. Every copy is checked to stay within one allocation, and noted.
"""

from __future__ import annotations

import contextlib
import ctypes

import cupy
import numpy as np
from cupy.cuda import runtime
from cupy.cuda.memory import MemoryPointer, UnownedMemory
from numba.cuda.cudadrv import devicearray, devices, driver

from vgpu.storage import memory


class ndarray(cupy.ndarray):
    """CuPy's array, whose interface does not ask the driver for the current stream."""

    @property
    def __cuda_array_interface__(self) -> dict:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "strides": None if self.flags.c_contiguous else self.strides,
            "data": (self.data.ptr if self.size else 0, False),
            "version": 3,
            "stream": 1,
        }


class FakeGPU:
    """Memory by address, and `log`: "wait", and ("in" or "out", address, bytes) for each copy from and to it."""

    def __init__(self):
        self.log: list = []
        self._buffers: dict[int, tuple[np.ndarray, int]] = {}

    def install(self, monkeypatch) -> FakeGPU:
        monkeypatch.setattr(runtime, "memcpy", self._memcpy)
        monkeypatch.setattr(runtime, "deviceSynchronize", lambda: self.log.append("wait"))
        # Numba wants a context even for a view.
        monkeypatch.setattr(devices._runtime, "ensure_context", contextlib.nullcontext)
        return self

    def allocate(self, nbytes: int, shift: int = 0) -> int:
        """An address `shift` bytes after a multiple of 256."""
        buffer = np.zeros(nbytes + shift + 1024, np.uint8)
        low = -(-(buffer.ctypes.data + 256) // 256) * 256 + shift
        self._buffers[low] = buffer, nbytes
        return low

    def write(self, low: int, host: np.ndarray) -> int:
        ctypes.memmove(low, np.ascontiguousarray(host).ctypes.data, host.nbytes)
        return low

    def array(self, host: np.ndarray, shift: int = 0) -> ndarray:
        """A CuPy array that holds `host`, in C order."""
        low = self.write(self.allocate(host.nbytes, shift), host)
        return ndarray(host.shape, host.dtype, MemoryPointer(UnownedMemory(low, host.nbytes, self, 0), 0))

    def numba_array(self, host: np.ndarray) -> devicearray.DeviceNDArray:
        """A Numba array that holds `host`, in C order."""
        host = np.ascontiguousarray(host)
        low = self.write(self.allocate(host.nbytes), host)
        pointer = driver.MemoryPointer(None, driver.binding.CUdeviceptr(low), host.nbytes)
        return devicearray.DeviceNDArray(host.shape, host.strides, host.dtype, gpu_data=pointer)

    def copies(self, way: str) -> list[tuple[int, int]]:
        """(address, bytes) of the copies that went that way, "in" to the virtual GPU or "out" of it."""
        return [entry[1:] for entry in self.log if entry[0] == way]

    def _memcpy(self, target: int, source: int, nbytes: int, kind: int) -> None:
        assert kind == runtime.memcpyDefault
        here = [low for low, (_, size) in self._buffers.items() if low <= source and source + nbytes <= low + size]
        there = [low for low, (_, size) in self._buffers.items() if low <= target and target + nbytes <= low + size]
        assert len(here) + len(there) == 1, "a copy goes between one allocation of the GPU and the virtual one"
        address, other = (source, target) if here else (target, source)
        place = memory.describe(other)
        assert not place.freed and place.offset + nbytes <= place.allocation.nbytes
        self.log.append(("in" if here else "out", address, nbytes))
        ctypes.memmove(target, source, nbytes)


def contents(array) -> np.ndarray:
    """What a fake GPU's array holds, through its own strides."""
    described = array.__cuda_array_interface__
    interface = {key: described[key] for key in ("shape", "typestr", "strides", "data", "version")}
    holder = type("Holder", (), {"__array_interface__": interface, "keep": array})()
    return np.array(np.asarray(holder))

"""Pointers into device memory, as CuPy shows them: `x.data`, `x.data.ptr`, `module.get_global(name)`."""

from __future__ import annotations

import ctypes

import numpy as np

from vgpu import operations
from vgpu.standins.cupy import streams
from vgpu.storage import memory


class Memory:
    """A range of device memory: address `ptr`, `size` in bytes; `owner` keeps it alive."""

    device_id = 0

    def __init__(self, ptr: int, size: int, owner):
        self.ptr, self.size, self.owner = int(ptr), int(size), owner

    @property
    def base(self):
        return self.owner  # `memory.owner` follows bases to the allocation

    @property
    def device(self):
        from vgpu.standins.cupy.device import Device

        return Device(0)

    @property
    def __array_interface__(self) -> dict:
        return {"data": (self.ptr, False), "shape": (self.size,), "typestr": "|u1", "version": 3}

    def __repr__(self) -> str:
        return f"<Memory of {self.size} bytes on the virtual GPU>"


class MemoryPointer:
    """A pointer: memory `mem` plus `offset` bytes. Adding a number of bytes gives another one."""

    device_id = 0

    def __init__(self, mem: Memory, offset: int):
        self.mem = mem
        self.ptr = mem.ptr + int(offset)

    @property
    def device(self):
        return self.mem.device

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, nbytes: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + nbytes)

    __radd__ = __add__

    def __sub__(self, nbytes: int) -> MemoryPointer:
        return self + -nbytes

    def bytes(self, size: int) -> np.ndarray:
        """The `size` bytes from here on, as a NumPy array over them; ValueError when there are fewer."""
        first = self.ptr - self.mem.ptr
        if first < 0 or first + size > self.mem.size:
            raise ValueError(f"{size} bytes at offset {first} do not fit into the {self.mem.size} bytes of this memory")
        return np.asarray(self.mem)[first : first + size]

    def memset(self, value: int, size: int) -> None:
        """Set `size` bytes to `value`, in the default stream."""
        self.memset_async(value, size, 0)

    def memset_async(self, value: int, size: int, stream=None) -> None:
        """Set `size` bytes to `value` in a stream, else in the current one."""
        target = self.bytes(size)
        value &= 0xFF
        operations.copy(
            streams.queue_of(stream), "memset", None, target, _assign(target, value), asynchronous=True, value=value
        )

    def copy_from_device(self, src: MemoryPointer, size: int) -> None:
        """Copy `size` bytes from another pointer on the device, in the default stream."""
        self.copy_from_device_async(src, size, 0)

    def copy_from_device_async(self, src: MemoryPointer, size: int, stream=None) -> None:
        """Copy `size` bytes from another pointer on the device."""
        target, source = self.bytes(size), src.bytes(size)
        operations.device_copy(streams.queue_of(stream), f"D2D {size} bytes", source, target, _assign(target, source))

    def copy_from_host(self, mem, size: int) -> None:
        """Copy `size` bytes from the host and wait; `mem` is a ctypes pointer or an address, as in CuPy."""
        self._from_host(mem, size, 0, False)

    def copy_from_host_async(self, mem, size: int, stream=None) -> None:
        """Copy `size` bytes from the host in a stream."""
        self._from_host(mem, size, stream, True)

    def copy_to_host(self, mem, size: int) -> None:
        """Copy `size` bytes to the host and wait; `mem` is a ctypes pointer or an address, as in CuPy."""
        self._to_host(mem, size, 0, False)

    def copy_to_host_async(self, mem, size: int, stream=None) -> None:
        """Copy `size` bytes to the host in a stream."""
        self._to_host(mem, size, stream, True)

    def copy_from(self, mem, size: int) -> None:
        """Copy `size` bytes from the device or the host."""
        (self.copy_from_device if isinstance(mem, MemoryPointer) else self.copy_from_host)(mem, size)

    def copy_from_async(self, mem, size: int, stream=None) -> None:
        """Copy `size` bytes from the device or the host in a stream."""
        (self.copy_from_device_async if isinstance(mem, MemoryPointer) else self.copy_from_host_async)(
            mem, size, stream
        )

    def _from_host(self, mem, size: int, stream, asynchronous: bool) -> None:
        host, device = _host_bytes(mem, size), self.bytes(size)
        queue = streams.queue_of(stream)
        operations.copy(queue, "H2D", host, device, _assign(device, host), asynchronous=asynchronous)

    def _to_host(self, mem, size: int, stream, asynchronous: bool) -> None:
        host, device = _host_bytes(mem, size), self.bytes(size)
        queue = streams.queue_of(stream)
        operations.copy(queue, "D2H", host, device, _assign(host, device), asynchronous=asynchronous)

    def __repr__(self) -> str:
        return f"<MemoryPointer {self.ptr - self.mem.ptr} bytes into {self.mem!r}>"


def _host_bytes(mem, size: int) -> np.ndarray:
    address = int(mem.value if hasattr(mem, "value") else mem)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def _assign(target: np.ndarray, source):
    """The work of a copy, run now or by a graph."""

    def run() -> None:
        target[...] = source

    return run


def pointer_to(host: np.ndarray) -> MemoryPointer:
    """The pointer to the first element of an array that lies over device memory."""
    address = host.ctypes.data
    allocation = memory.owner(host)
    if allocation is None:
        return MemoryPointer(Memory(address, host.nbytes, host), 0)
    return MemoryPointer(Memory(allocation.address, allocation.nbytes, allocation), address - allocation.address)


def allocate(nbytes: int, kind: str = "cupy") -> MemoryPointer:
    """Fresh device memory of `nbytes`."""
    allocation = memory.allocate(nbytes, kind=kind)
    return MemoryPointer(Memory(allocation.address, allocation.nbytes, allocation), 0)

"""Allocators of device memory and pinned host memory, behind CuPy's pools.

A pool here keeps no free blocks: freed memory is returned immediately, so `total_bytes()` is `used_bytes()`.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable

from vgpu.standins.cupy.device import modelled
from vgpu.standins.cupy.missing import missing
from vgpu.standins.cupy.pointer import Memory, MemoryPointer, allocate
from vgpu.storage import memory


class MemoryPool:
    """Accounting of the arrays' memory. On a GPU a pool keeps freed blocks for reuse; here it has none."""

    def __init__(self, allocator=None):
        self._allocator = allocator

    def malloc(self, size: int) -> MemoryPointer:
        """Fresh device memory of `size` bytes."""
        return self._allocator(size) if self._allocator else allocate(size)

    def used_bytes(self) -> int:
        """Bytes of the arrays that are alive; CuPy would round each up to 512."""
        return memory.usage("cupy")[0]

    def total_bytes(self) -> int:
        """The same as `used_bytes()`: nothing is kept for reuse."""
        return self.used_bytes()

    def free_bytes(self) -> int:
        """Bytes kept for reuse: none."""
        return 0

    def n_free_blocks(self) -> int:
        """Blocks kept for reuse: none."""
        return 0

    def free_all_blocks(self, stream=None) -> None:
        """Give back what is kept for reuse; there is nothing to give back."""

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Refuse to go above `size` bytes or a fraction of the modelled GPU's memory; 0 lifts the limit."""
        if fraction is not None:
            if size is not None:
                raise ValueError("give size or fraction, not both")
            if not 0 <= fraction <= 1:
                raise ValueError(f"fraction is {fraction}: it has to be between 0 and 1")
            size = int(fraction * modelled().memory_bytes)
        memory.set_limit(size, "cupy")

    def get_limit(self) -> int:
        """The limit in bytes; 0 when there is none."""
        return memory.limit("cupy")


class MemoryAsyncPool(MemoryPool):
    """CUDA's pool in stream order. Here memory is given and taken back at once, as from `MemoryPool`."""

    def __init__(self, pool_handles="current"):
        super().__init__()

    def malloc(self, size: int) -> MemoryPointer:
        """Fresh device memory of `size` bytes, without waiting for work in flight."""
        return allocate(size)


def malloc_async(size: int) -> MemoryPointer:
    """Device memory in the order of the current stream: here at once."""
    return allocate(size)


class PinnedMemoryPointer:
    """A pointer into pinned host memory, for `numpy.frombuffer(mem, dtype, count)`; kernels may use `.ptr`."""

    device_id = 0
    mem: Memory

    @property
    def ptr(self) -> int:
        """The address, the same for the host and the device."""
        return self.mem.ptr

    def size(self) -> int:
        """Bytes of this allocation."""
        return self.mem.size

    def __repr__(self) -> str:
        return f"<PinnedMemoryPointer to {self.size()} bytes>"


class PinnedMemoryPool:
    """Accounting of pinned host memory; nothing is kept for reuse."""

    def __init__(self, allocator=None):
        self._allocator = allocator

    def malloc(self, size: int) -> PinnedMemoryPointer:
        """Fresh pinned memory of `size` bytes."""
        return _pinned(size)

    def free_all_blocks(self) -> None:
        """Give back what is kept for reuse; there is nothing to give back."""

    def n_free_blocks(self) -> int:
        """Blocks kept for reuse: none."""
        return 0


def _pinned(size: int) -> PinnedMemoryPointer:
    allocation = memory.allocate(size, kind="pinned")

    # A ctypes array, because before Python 3.12 no class written in Python can offer its bytes to NumPy.
    class Pinned(PinnedMemoryPointer, ctypes.c_uint8 * size):  # type: ignore[misc] # a base class made at run time
        pass

    place = Pinned.from_address(allocation.address)
    place.mem = Memory(allocation.address, size, allocation)
    return place


Allocator = Callable[[int], MemoryPointer]
_pool = MemoryPool()
_pinned_pool = PinnedMemoryPool()
_allocator: Allocator = _pool.malloc
_here = threading.local()  # its `allocator`: that of `using_allocator`, which is this thread's


def alloc(size: int) -> MemoryPointer:
    """Device memory from the current allocator."""
    return get_allocator()(size)


def alloc_pinned_memory(size: int) -> PinnedMemoryPointer:
    """Pinned host memory of `size` bytes, which copies to and from the device can use directly."""
    return _pinned_pool.malloc(size)


def set_allocator(allocator=None) -> None:
    """Let `cp.cuda.alloc` use another allocator; None for plain memory without a pool.

    Arrays made here take their memory from the virtual GPU whichever allocator is set.
    """
    global _allocator
    _allocator = allocator or allocate


def get_allocator() -> Allocator:
    """The current allocator of this thread."""
    return getattr(_here, "allocator", None) or _allocator


@contextlib.contextmanager
def using_allocator(allocator=None):
    """Another allocator for the length of a with block, in this thread."""
    before = getattr(_here, "allocator", None)
    _here.allocator = allocator or allocate
    try:
        yield
    finally:
        _here.allocator = before


def set_pinned_memory_allocator(allocator=None) -> None:
    """Accepted and ignored: pinned memory is plain memory here."""


def get_default_memory_pool() -> MemoryPool:
    """The pool that arrays are taken from."""
    return _pool


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """The pool that pinned memory is taken from."""
    return _pinned_pool


def malloc_managed(size: int) -> MemoryPointer:
    """Unified memory: missing here, where host and device share one memory anyway but must not seem to."""
    raise missing("cuda.malloc_managed", "cp.cuda.alloc, with explicit copies")

"""Launches without effects: afterwards, the memory that the kernel may write is restored."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vgpu.storage import heap, memory

if TYPE_CHECKING:
    from vgpu.launch.launch import Prepared


class Saved:
    """The memory of a kernel's arguments and variables, as it was when this was made."""

    def __init__(self, prepared: Prepared):
        self._data = [(address, ctypes.string_at(address, nbytes)) for address, nbytes in _ranges(prepared)]

    def put_back(self) -> None:
        """Write it all back."""
        for address, data in self._data:
            ctypes.memmove(address, data, len(data))


def nbytes(prepared: Prepared) -> int:
    """The bytes that `Saved` copies."""
    return sum(size for _, size in _ranges(prepared))


def _ranges(prepared: Prepared) -> list[tuple[int, int]]:
    module = prepared.kernel.module
    # Whole allocations: a view may have gaps or repeated elements, and a kernel may access the memory around it.
    found = [memory.describe(array.address).allocation for array in prepared.arrays if array.nbytes]
    ranges = list({(allocation.address, allocation.nbytes) for allocation in found if allocation is not None})
    ranges += [(address, module.nbytes(name)) for name, address in module.variables.addresses.items()]
    return [(address, size) for address, size in ranges if size]


@contextmanager
def restored(prepared: Prepared) -> Iterator[None]:
    """Save the memory of a kernel's arguments and variables, and the heap; restore them after the `with` block."""
    saved = Saved(prepared)
    try:
        with heap.restored():
            yield
    finally:
        saved.put_back()

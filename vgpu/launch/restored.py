"""Launches without effects: afterwards, the memory that the kernel may write is restored."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vgpu.storage import heap, memory

if TYPE_CHECKING:
    from vgpu.launch.launch import Prepared


@contextmanager
def restored(prepared: Prepared) -> Iterator[None]:
    """Save the memory of a kernel's arguments and variables, and the heap; restore them after the `with` block."""
    module = prepared.kernel.module
    # Whole allocations: a view may have gaps or repeated elements, and a kernel may access the memory around it.
    found = [memory.describe(array.address).allocation for array in prepared.arrays if array.nbytes]
    ranges = list({(allocation.address, allocation.nbytes) for allocation in found if allocation is not None})
    ranges += [(address, module.nbytes(name)) for name, address in module.variables.addresses.items()]
    saved = [(address, ctypes.string_at(address, nbytes)) for address, nbytes in ranges if nbytes]
    try:
        with heap.restored():
            yield
    finally:
        for address, data in saved:
            ctypes.memmove(address, data, len(data))

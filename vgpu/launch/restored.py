"""A launch that leaves no trace: what its kernel wrote is put back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

from vgpu.storage import heap, memory


@contextmanager
def restored(prepared) -> Iterator[None]:
    """Within a `with` block the kernel may write what it likes; afterwards its memory is as it was before."""
    module = prepared.kernel.module
    # Whole allocations: a view may have gaps, repeat its elements, or be looked around.
    homes = [memory.describe(a.address).allocation for a in prepared.arrays if a.nbytes]
    places = list({(home.address, home.nbytes) for home in homes})
    places += [(address, module.nbytes(name)) for name, address in module.variables.addresses.items()]
    saved = [(address, ctypes.string_at(address, nbytes)) for address, nbytes in places if nbytes]
    try:
        with heap.restored():
            yield
    finally:
        for address, data in saved:
            ctypes.memmove(address, data, len(data))

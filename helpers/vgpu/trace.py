"""Who touched what: every memory access of one block, lane by lane, as the reference interpreter sees it.

This is the data under pictures of sectors and banks. It runs slowly and on a copy: the arrays the kernel
writes are put back as they were.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from helpers.callable_module import callable_module
from helpers.mirror import twin
from helpers.vgpu import memory, reference
from helpers.vgpu.configuration import check_dimensions
from helpers.vgpu.memory import ArrayInfo

SECTOR = 32


@dataclass(frozen=True)
class Access:
    """One request of one warp: for each of the 32 lanes whether it took part, and the byte it began at.

    `addresses` count from the start of `array` (the argument's name, or None where the memory is no
    argument's), or from the start of the block's shared memory; lanes that take no part have -1. An array that
    begins inside a sector, such as the view `x[1:]`, counts from the sector's start. `nbytes` is what one lane
    moves, `step` orders a warp's requests.
    """

    line: int | None
    space: str
    op: str
    nbytes: int
    lanes: tuple[bool, ...]
    addresses: tuple[int, ...]
    array: str | None
    warp: int
    step: int


@dataclass(frozen=True)
class Trace:
    """All requests of one block in the order in which they were made."""

    kernel: str
    block_index: tuple[int, int, int]
    accesses: tuple[Access, ...]

    def on(self, line: int) -> tuple[Access, ...]:
        """The requests of one source line."""
        return tuple(a for a in self.accesses if a.line == line)


def trace(
    kernel, grid, block, args, *, block_index=(0, 0, 0), warp: int | None = None, shared_bytes: int = 0, **meta
) -> Trace:
    """Run one block of a launch and list what its warps (or one `warp`) loaded, stored and updated.

    kernel: a Numba or Triton kernel or a `RawKernel`, of which a real GPU's is traced on copies of its arrays;
    grid, block, args as at its launch (Triton chooses the block: None, and `meta` are its constants and options);
    block_index: x, y, z; shared_bytes: dynamic shared memory. Errors: as a launch; IndexError for a block outside
    the grid.
    """
    if block is not None:
        check_place(grid, block, block_index)
    kernel, args, _ = twin(kernel, tuple(args))
    prepared = kernel.prepare(args, grid, block, **meta)
    grid, block, block_index = check_place(prepared.grid or grid, prepared.block or block, block_index)
    found: list[Access] = []

    def note(seen: reference.Access) -> None:
        if warp is None or seen.warp == warp:
            found.append(named(seen, prepared.arrays))

    with restored(prepared):
        reference.run(
            prepared.kernel, None, grid, block, prepared.params,
            shared_bytes=shared_bytes or prepared.shared_bytes, blocks=[block_index], on_access=note,
            output=lambda text: None,
        )  # fmt: skip
    return Trace(prepared.kernel.name, block_index, tuple(found))


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
        yield
    finally:
        for address, data in saved:
            ctypes.memmove(address, data, len(data))


def check_place(grid, block, block_index) -> tuple[tuple[int, int, int], ...]:
    """Grid, block and block index as three ints each; raises what a launch raises, IndexError outside the grid."""
    grid, block = check_dimensions(grid, block)
    block_index = (*block_index, 0, 0)[:3]
    if not all(0 <= i < n for i, n in zip(block_index, grid, strict=True)):
        raise IndexError(f"block {block_index} lies outside the grid of {grid} blocks")
    return grid, block, block_index


def named(seen: reference.Access, arrays: list[ArrayInfo]) -> Access:
    """An access with its addresses counted from the argument they fall into."""
    addresses = [int(a) for a in seen.addresses]
    active = [a for a, taking in zip(addresses, seen.mask, strict=True) if taking]
    home = None
    if seen.space == "global" and active:
        home = next((a for a in arrays if a.address <= active[0] < a.address + max(a.nbytes, 1)), None)
    start = home.address - home.address % SECTOR if home else 0
    offsets = tuple(a - start if m else -1 for a, m in zip(addresses, seen.mask, strict=True))
    return Access(
        seen.line, seen.space, seen.op, seen.nbytes, tuple(bool(m) for m in seen.mask),
        offsets, home.name if home else None, seen.warp, seen.step,
    )  # fmt: skip


callable_module(__name__)

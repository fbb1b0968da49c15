"""Every memory access of one block, lane by lane, from the reference interpreter: the data of sectors and banks.

The arrays that the kernel writes are restored afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vgpu import reference
from vgpu.base import own
from vgpu.launch.configuration import check_block_index, check_warp
from vgpu.launch.restored import restored
from vgpu.tools.prepare import Dimensions, Grid, prepare

if TYPE_CHECKING:
    from vgpu.launch.launch import Prepared
    from vgpu.storage.memory import ArrayInfo

SECTOR = 32
WARP = 32
MOST_SHOWN = 20  # rows of a representation


@dataclass(frozen=True, repr=False)
class Access:
    """One request of one warp: for each of the 32 lanes whether it took part, and the byte it began at.

    `addresses` count from the start of `array` (the argument's name, or None for other memory), or from the start of
    the block's shared memory; lanes that take no part have -1. An array that begins inside a sector, such as the view
    `x[1:]`, counts from the sector's start. `nbytes` are the bytes of one lane, `step` orders a warp's requests.
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

    @property
    def distinct(self) -> int:
        """How many different addresses the lanes request: constant memory serves one at a time."""
        return len({address for address, on in zip(self.addresses, self.lanes, strict=True) if on})

    def __repr__(self) -> str:
        where = f"{self.space} memory" if self.array is None else f"`{self.array}`"
        taking = [address for address, on in zip(self.addresses, self.lanes, strict=True) if on]
        span = f", bytes {min(taking)} to {max(taking) + self.nbytes - 1}" if taking else ""
        line = "" if self.line is None else f"line {self.line}, "
        return f"<{line}warp {self.warp}: {self.op} of {self.nbytes} bytes by {len(taking)} lanes in {where}{span}>"


@dataclass(frozen=True, repr=False)
class Trace:
    """All requests of one block in the order in which they were made."""

    kernel: str
    block_index: tuple[int, int, int]
    accesses: tuple[Access, ...]

    def on(self, line: int) -> tuple[Access, ...]:
        """The requests of one source line."""
        return tuple(a for a in self.accesses if a.line == line)

    def __repr__(self) -> str:
        rows = [f"  {access!r}" for access in self.accesses[:MOST_SHOWN]]
        more = len(self.accesses) - len(rows)
        rows += [f"  … and {more:,} more"] if more else []
        return "\n".join([f"Trace of {self.kernel}, block {self.block_index}: {len(self.accesses):,} requests", *rows])


def trace(
    kernel: Any,
    grid: Grid,
    block: Dimensions | None,
    args: Sequence,
    *,
    block_index: Dimensions = (0, 0, 0),
    warp: int | None = None,
    shared_bytes: int = 0,
    **meta: Any,
) -> Trace:
    """Run one block of a launch and list what its warps (or one `warp`) loaded, stored and updated.

    The block runs as if it were the first; others run, untraced, where it waits for them (grid barriers, flags).

    kernel: a Numba or Triton kernel or a `RawKernel`; a real GPU's is traced on copies of its arrays;
    grid, block, args as at its launch (Triton chooses the block: None, and `meta` are its constants and options);
    block_index: x, y, z, or one number; shared_bytes: dynamic shared memory. Errors: as a launch; IndexError for a
    block outside the grid, or a warp outside the block.
    """
    if block is not None:
        check_block_index(grid, block, block_index)
    _, prepared, _ = prepare("trace", kernel, grid, block, args, meta)
    grid, block, block_index = check_block_index(prepared.grid or grid, prepared.block or block, block_index)
    check_warp(warp, block)
    found: list[Access] = []

    def note(seen: reference.Requested) -> None:
        if warp is None or seen.warp == warp:
            found.append(named(seen, prepared.arrays))

    run_block(prepared, grid, block, block_index, shared_bytes, on_access=note)
    return Trace(prepared.kernel.name, block_index, tuple(found))


def run_block(
    prepared: Prepared, grid: Grid, block: Dimensions, block_index: tuple[int, int, int] | None, shared_bytes: int, *,
    on_access: Callable[[reference.Requested], None] | None = None,
    on_step: Callable[[reference.Executed], None] | None = None, on_pause: Callable[[], None] | None = None,
) -> None:  # fmt: skip
    """Run one block (None: all) in the interpreter with observers, and restore memory afterwards.

    Other blocks run only as far as it waits for them. The observers are those of `reference.run`.
    """
    with own.LAUNCHING, restored(prepared):
        reference.run(
            prepared.kernel, None, grid, block, prepared.params,
            shared_bytes=shared_bytes or prepared.shared_bytes, only=block_index, output=lambda text: None,
            cooperative=prepared.cooperative, on_access=on_access, on_step=on_step, on_pause=on_pause,
        )  # fmt: skip


def named(seen: reference.Requested, arrays: Sequence[ArrayInfo]) -> Access:
    """An access with its addresses relative to the argument they fall into."""
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

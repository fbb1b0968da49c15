"""Pieces of the kernels' heap in words: who allocated and freed them, at which line, and where an address lies."""

from __future__ import annotations

from vgpu.storage import heap
from vgpu.storage.heap import Piece


def _index(number: int, sizes: tuple[int, int, int]) -> str:
    """The index of a thread or block, by its number, in as many dimensions as the launch has."""
    x, y, _ = sizes
    used = max((axis for axis in range(3) if sizes[axis] > 1), default=0) + 1
    return "(" + ", ".join(map(str, (number % x, number // x % y, number // (x * y))[:used])) + ")"


def who(caller: tuple, kernel=None) -> tuple[str, str]:
    """Thread and block of a call, and its line; the kernel too where it is another one than `kernel`."""
    launch, site, block, thread = caller
    line = launch.line(site)
    at = "" if line is None else f" at line {line}"
    other = kernel is not None and launch.kernel is not kernel and launch.kernel.name != kernel.name
    elsewhere = f" of kernel {launch.kernel.name}" if other else ""
    return f"thread {_index(thread, launch.block)} of block {_index(block, launch.grid)}", f"{at}{elsewhere}"


def owned(piece: Piece, kernel=None) -> str:
    """The 40 bytes that thread (3) of block (0) allocated at line 5."""
    name, at = who(piece.caller, kernel)
    return f"the {piece.nbytes} bytes that {name} allocated{at}"


def freed(piece: Piece, kernel=None) -> str:
    """Thread (4) of block (0) freed them at line 9."""
    name, at = who(piece.freed_by, kernel)
    return f"{name} freed them{at}"


def place(address: int, kernel=None) -> tuple[str, str] | None:
    """Where an address of the heap lies that may not be touched, and what usually mends it; None outside the heap."""
    area = heap.current()
    if area is None or not area.contains(address):
        return None
    piece = area.find(address)
    if piece is None:
        return "in the heap, where nothing is allocated (any more)", "check the arithmetic on the pointer."
    offset = address - piece.address
    if piece.freed_by is not None:
        return (
            f"at byte {offset} of {owned(piece, kernel)}, after {freed(piece, kernel)}",
            "free memory after its last use by any thread: put a barrier between, or let a later launch free it.",
        )
    return f"at byte {offset} of {owned(piece, kernel)}", "check the index against the size that was asked for."


def within(address: int) -> str | None:
    """Which byte of which piece of the heap an address is, None for every other address."""
    area = heap.current()
    piece = area.find(address) if area is not None else None
    return None if piece is None else f"at byte {address - piece.address} of {owned(piece)}"


def is_freed(address: int) -> bool:
    """Whether an address lies in a piece of the heap that was freed."""
    area = heap.current()
    piece = area.find(address) if area is not None and area.contains(address) else None
    return piece is not None and piece.freed_by is not None


def wrong_free(address: int, kernel=None) -> tuple[str, str]:
    """What is wrong with freeing an address, and what usually mends it."""
    area = heap.current()
    if area is None or not area.contains(address):
        return (
            "what is not of the heap",
            "free in a kernel only what malloc or new gave in a kernel; arrays of the host's are freed by the host.",
        )
    piece = area.find(address)
    if piece is None:
        return "an address of the heap at which nothing is allocated", "free only what malloc or new gave, and once."
    if piece.freed_by is not None and piece.address == address:
        return (
            f"{owned(piece, kernel)}, a second time: {freed(piece, kernel)} before",
            "let one thread free it, once; setting the pointer to nullptr makes a second free harmless.",
        )
    offset = address - piece.address
    side = f"{offset} bytes into" if offset >= 0 else f"{-offset} bytes before"
    return (
        f"an address {side} {owned(piece, kernel)}",
        "free exactly the pointer that malloc or new gave; what `new[]` made needs `delete[]`, what `new` made "
        "`delete`, and a base class a virtual destructor.",
    )

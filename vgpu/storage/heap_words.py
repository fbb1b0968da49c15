"""The heap's allocations in words: the threads and lines that allocated and freed them, and where an address lies."""

from __future__ import annotations

from typing import Any

from vgpu.storage import heap
from vgpu.storage.heap import Caller, HeapAllocation


def _index(number: int, sizes: tuple[int, int, int]) -> str:
    """The index of a thread or block, by its number, in as many dimensions as the launch has."""
    x, y, _ = sizes
    used = max((axis for axis in range(3) if sizes[axis] > 1), default=0) + 1
    return "(" + ", ".join(map(str, (number % x, number // x % y, number // (x * y))[:used])) + ")"


def caller_text(caller: Caller, kernel: Any = None) -> tuple[str, str]:
    """Thread and block of a call, and its line; the kernel too where it isn't `kernel`."""
    launch, site, block, thread = caller
    line = launch.line(site)
    at = "" if line is None else f" at line {line}"
    other = kernel is not None and launch.kernel is not kernel and launch.kernel.name != kernel.name
    elsewhere = f" of kernel {launch.kernel.name}" if other else ""
    return f"thread {_index(thread, launch.block)} of block {_index(block, launch.grid)}", f"{at}{elsewhere}"


def owned(allocation: HeapAllocation, kernel: Any = None) -> str:
    """Such as "the 40 bytes that thread (3) of block (0) allocated at line 5"."""
    name, at = caller_text(allocation.caller, kernel)
    return f"the {allocation.nbytes} bytes that {name} allocated{at}"


def freed(caller: Caller, kernel: Any = None) -> str:
    """Such as "thread (4) of block (0) freed them at line 9"."""
    name, at = caller_text(caller, kernel)
    return f"{name} freed them{at}"


def location(address: int, kernel: Any = None) -> tuple[str, str] | None:
    """For an invalid access within the heap: where the address lies, and the usual fix; None outside the heap."""
    area = heap.current()
    if area is None or not area.contains(address):
        return None
    found = area.find(address)
    if found is None:
        return "in the heap, where nothing is allocated (any more)", "check the arithmetic on the pointer."
    offset = address - found.address
    if found.freed_by is not None:
        return (
            f"at byte {offset} of {owned(found, kernel)}, after {freed(found.freed_by, kernel)}",
            "free memory after its last use by any thread: put a barrier between, or let a later launch free it.",
        )
    return f"at byte {offset} of {owned(found, kernel)}", "check the index against the size that was requested."


def within(address: int) -> str | None:
    """The byte and allocation of the heap that an address lies in; None for every other address."""
    area = heap.current()
    found = area.find(address) if area is not None else None
    return None if found is None else f"at byte {address - found.address} of {owned(found)}"


def is_freed(address: int) -> bool:
    """Whether an address lies in an allocation of the heap that was freed."""
    area = heap.current()
    found = area.find(address) if area is not None and area.contains(address) else None
    return found is not None and found.freed_by is not None


def wrong_free(address: int, kernel: Any = None) -> tuple[str, str]:
    """What is wrong with freeing an address, and the usual fix."""
    area = heap.current()
    if area is None or not area.contains(address):
        return (
            "what is not of the heap",
            "free in a kernel only what malloc or new gave in a kernel; arrays of the host's are freed by the host.",
        )
    found = area.find(address)
    if found is None:
        return "an address of the heap at which nothing is allocated", "free only what malloc or new gave, and once."
    if found.freed_by is not None and found.address == address:
        return (
            f"{owned(found, kernel)}, a second time: {freed(found.freed_by, kernel)} before",
            "let one thread free it, once; setting the pointer to nullptr makes a second free harmless.",
        )
    offset = address - found.address
    side = f"{offset} bytes into" if offset >= 0 else f"{-offset} bytes before"
    return (
        f"an address {side} {owned(found, kernel)}",
        "free exactly the pointer that malloc or new gave; what `new[]` made needs `delete[]`, what `new` made "
        "`delete`, and a base class a virtual destructor.",
    )

"""The reference interpreter's memory: every lane's address is checked, then read or written one lane at a time.

A block sees four windows besides device memory: its shared memory, the local memory of its threads, and the
kernel's parameters. Within `.shared`, `.local` and `.param` instructions addresses are offsets into the
window; generic addresses are host addresses, and the window they fall into says what they mean.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu import isa
from vgpu.base import printf
from vgpu.base.errors import Misaligned, OutOfBounds, Unsupported
from vgpu.isa import in_numpy as py
from vgpu.ptx import Instruction
from vgpu.reference import cluster
from vgpu.storage import heap, heap_words, layout, memory

if TYPE_CHECKING:
    from vgpu.reference.warp import Warp

LANES = 32
SPACE_OF_CLUSTER = "shared::cluster"
SPACES = ("global", "shared", "local", "const", "param")


def space_of(modifiers: tuple[str, ...]) -> str:
    """The state space an instruction names, "generic" if it names none."""
    if SPACE_OF_CLUSTER in modifiers:
        return "cluster"
    for word in modifiers:
        if word.split("::")[0] in SPACES:
            return word.split("::")[0]
    return "generic"


def value_type(modifiers: tuple[str, ...]) -> str:
    """The type of one element: the last modifier that is one."""
    return next(word for word in reversed(modifiers) if word in isa.TYPES or word in isa.PACKED)


@dataclass(frozen=True)
class Requested:
    """One warp's access to one space: host addresses or offsets as `addresses`, valid where `mask` is set.

    `nbytes` is what one lane moves. `op` is "load", "store" or "atomic". `step` counts the warp's
    instructions.
    """

    space: str
    op: str
    nbytes: int
    mask: np.ndarray
    addresses: np.ndarray
    line: int | None
    instruction: Instruction
    block: tuple[int, int, int]
    warp: int
    step: int


class Window:
    """Host memory for a state space: its offsets are relative to `base`."""

    def __init__(self, nbytes: int):
        self.nbytes = nbytes
        self.allocation = np.empty(nbytes + layout.DESCRIBED_ALIGNMENT, np.uint8)
        self.base = layout.align_up(self.allocation.ctypes.data, layout.DESCRIBED_ALIGNMENT)
        self.fill(np.uint8(0xFF))

    def fill(self, data: np.ndarray | np.uint8) -> None:
        start = self.base - self.allocation.ctypes.data
        self.allocation[start : start + self.nbytes] = data


def access(
    warp: Warp, instruction: Instruction, mask: np.ndarray, addresses: np.ndarray, space: str, op: str, nbytes: int
) -> np.ndarray:
    """Check one access of the lanes in `mask` and report it to the observer; returns 32 host addresses.

    Raises `OutOfBounds` or `Misaligned` for the lowest invalid lane.
    """
    if space == "cluster":
        addresses, space = cluster.hosts(warp, addresses), "generic"
    hosts = addresses.copy()
    for name, where in _split(warp, mask, addresses, space):
        if not where.any():
            continue
        seen = addresses
        window = warp.windows(name)
        if window is not None:
            base, size = window
            if space == "generic":
                seen = addresses - base
            hosts = np.where(where, seen + base, hosts)
            inside = (seen < size) & (seen + np.uint64(nbytes) <= size)
        else:
            inside = inside_device_memory(addresses, nbytes, op != "load")
        _check(warp, instruction, where, seen, inside, name, op, nbytes)
        if name != "param":
            warp.observe(instruction, name.split()[0], op, nbytes, where, seen)
    return hosts


def _split(warp: Warp, mask: np.ndarray, addresses: np.ndarray, space: str) -> list[tuple[str, np.ndarray]]:
    """(space, lanes) of an access: a generic one is split into one for each space that its lanes point into."""
    if space != "generic":
        return [(space, mask)]
    parts, rest = [], mask.copy()
    for name in ("shared", "local", "param"):
        base, size = warp.window(name)
        here = rest & (addresses >= base) & (addresses - base < size)
        parts.append((name, here))
        rest &= ~here
    for rank, start in warp.block.cluster.windows(warp.block):
        here = rest & (addresses - np.uint64(start) < np.uint64(warp.block.shared_bytes))
        parts.append((f"remote {rank}", here))
        rest &= ~here
    return [("global", rest), *parts]


def inside_device_memory(addresses: np.ndarray, nbytes: int, writes: bool) -> np.ndarray:
    """Which addresses begin `nbytes` bytes of one array; of constant memory only for reads."""
    area = heap.current()
    in_heap = np.zeros(LANES, bool) if area is None else area.inside(addresses, nbytes)
    starts, ends, writable = memory.tables()
    ends = writable if writes else ends
    if not len(starts):
        return in_heap
    found = np.searchsorted(starts, addresses, "right").astype(int) - 1
    # A zero-byte allocation holds no address, and no sum may wrap around at the top of the address space.
    room = ends[found] - np.minimum(addresses, ends[found])
    return in_heap | (found >= 0) & (room >= nbytes)


def _check(
    warp: Warp,
    instruction: Instruction,
    mask: np.ndarray,
    addresses: np.ndarray,
    inside: np.ndarray,
    space: str,
    op: str,
    nbytes: int,
) -> None:
    for lane in np.flatnonzero(mask & ~inside)[:1].tolist():
        where = warp.where(instruction, lane, int(addresses[lane]))
        in_heap = heap_words.location(int(addresses[lane]), warp.block.launch.kernel) if space == "global" else None
        outside = f"outside {space} memory" if in_heap is None else in_heap[0]
        raise OutOfBounds(f"{op} of {nbytes} bytes {outside}, {warp.position(instruction, lane)}", **where)
    aligned(warp, instruction, mask, addresses, op, nbytes)


def aligned(
    warp: Warp, instruction: Instruction, mask: np.ndarray, addresses: np.ndarray, op: str, nbytes: int
) -> None:
    """Raise `Misaligned` for the lowest lane whose address is no multiple of `nbytes`."""
    for lane in np.flatnonzero(mask & (addresses % np.uint64(nbytes) != 0))[:1].tolist():
        where = warp.where(instruction, lane, int(addresses[lane]))
        raise Misaligned(
            f"{op} at an address that is no multiple of {nbytes}, {warp.position(instruction, lane)}", **where
        )


def text(warp: Warp, lane: int, address: int) -> bytes:
    """The text at a generic address, as far as the lane may read it; a kernel may pass any address."""
    room = min(readable(warp, lane, address), printf.LIMIT)
    return ctypes.string_at(address, room).partition(b"\0")[0] if room else b"(no readable string)"


def readable(warp: Warp, lane: int, address: int) -> int:
    """How many bytes a lane may read from a generic address on; 0 outside all memory that it may access."""
    for name in ("shared", "local", "param"):
        base, size = (int(np.broadcast_to(each, LANES)[lane]) for each in warp.window(name))
        if base <= address < base + size:
            return base + size - address
    return heap.readable(address)


def read(hosts: np.ndarray, mask: np.ndarray, nbytes: int) -> np.ndarray:
    """The bytes each lane reads: an array of 32 rows."""
    lanes, addresses = mask.tolist(), hosts.tolist()
    rows = [ctypes.string_at(addresses[lane], nbytes) if lanes[lane] else bytes(nbytes) for lane in range(LANES)]
    return np.frombuffer(b"".join(rows), np.uint8).reshape(LANES, nbytes)


def write(hosts: np.ndarray, mask: np.ndarray, data: np.ndarray) -> None:
    """Write one row of bytes a lane, the highest lane last."""
    width, raw, addresses = data.shape[1], data.tobytes(), hosts.tolist()
    for lane in np.flatnonzero(mask).tolist():
        ctypes.memmove(addresses[lane], raw[lane * width : (lane + 1) * width], width)


# ---------------------------------------------------------------- atomics


def _wrap_increment(old: int, limit: int) -> int:
    return 0 if old >= limit else old + 1


def _wrap_decrement(old: int, limit: int) -> int:
    return limit if old == 0 or old > limit else old - 1


def _least(a: Any, b: Any) -> Any:
    return b if a != a or b < a else a


def _most(a: Any, b: Any) -> Any:
    return b if a != a or b > a else a


ATOMICS: dict[str, Callable[..., Any]] = {
    "add": lambda old, b: old + b, "min": _least, "max": _most,
    "and": lambda old, b: old & b, "or": lambda old, b: old | b, "xor": lambda old, b: old ^ b,
    "exch": lambda old, b: b, "inc": _wrap_increment, "dec": _wrap_decrement,
    "cas": lambda old, b, c: c if old == b else old,
}  # fmt: skip


def atomic(instruction: Instruction, hosts: np.ndarray, mask: np.ndarray, operands: Sequence[np.ndarray]) -> np.ndarray:
    """Combine memory with each lane's operands, the lowest lane first; returns the old values."""
    name = value_type(instruction.modifiers)
    operation = next((ATOMICS[word] for word in instruction.modifiers if word in ATOMICS), None)
    if operation is None:
        raise Unsupported(f"The atomic instruction {instruction} is not known to the virtual GPU.")
    nbytes = operands[0].dtype.itemsize
    before = np.zeros(LANES, operands[0].dtype)
    for lane in np.flatnonzero(mask):
        old = ctypes.string_at(int(hosts[lane]), nbytes)
        before[lane] = np.frombuffer(old, before.dtype)[0]
        new = combine(name, operation, old, *(operand[lane].tobytes() for operand in operands))
        ctypes.memmove(int(hosts[lane]), new, nbytes)
    return before


def combine(name: str, operation: Callable[..., Any], *raw: bytes) -> bytes:
    """The bytes of an operation's result, of operands of type `name`."""
    if name in isa.PACKED:
        halves = (combine(isa.PACKED[name], operation, *(r[i : i + 2] for r in raw)) for i in (0, 2))
        return b"".join(halves)
    kind = isa.TYPES[name]
    if kind.kind == "h":
        values = [py.from_half(name, np.frombuffer(r, np.uint16)) for r in raw]
        return py.to_half(name, operation(*values)).tobytes()
    if kind.is_float:
        return operation(*(np.frombuffer(r, kind.dtype)[0] for r in raw)).tobytes()
    numbers = [int.from_bytes(each, "little", signed=kind.kind == "s") for each in raw]
    return (operation(*numbers) & ((1 << kind.bits) - 1)).to_bytes(kind.bits // 8, "little")

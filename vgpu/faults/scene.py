"""A fault of compiled code, and what its message needs: thread, block, line and arrays by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from vgpu.base.context import PC_DONE, PC_SYNC, PC_WAIT
from vgpu.ptx.lines import line_of

if TYPE_CHECKING:
    import numpy as np

    from vgpu.lower import Lowered, Site
    from vgpu.ptx import Function, Module
    from vgpu.storage.memory import ArrayInfo


class LoadedModule(Protocol):
    """As `launch.launch.LoadedModule`, which this folder can't import; so are the other protocols here."""

    @property
    def module(self) -> Module: ...


class LoadedKernel(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def ptx(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def filename(self) -> str: ...
    @property
    def source(self) -> tuple[str, ...]: ...
    @property
    def first_line(self) -> int: ...
    @property
    def module(self) -> LoadedModule: ...
    @property
    def function(self) -> Function: ...
    def line_text(self, line: int | None) -> str: ...


class RunningWorker(Protocol):
    areas: dict[str, int]
    texture_data: np.ndarray

    def __getitem__(self, name: str) -> int: ...
    def program_counters(self, states: int | None = None) -> tuple[int, ...]: ...
    def in_ended_block(self, address: int) -> bool: ...
    def resident(self) -> list[tuple[int, int]]: ...
    @property
    def shared(self) -> np.ndarray: ...


class RunningGrid(Protocol):
    lowered: Lowered
    shared: np.ndarray
    blocks: int
    missing: int
    timeout: float
    assertion: tuple[bytes, ...]
    host_error: Exception | None

    @property
    def workers(self) -> Sequence[RunningWorker]: ...


ENDED = -1  # the detail of an access to the shared memory of a block that has ended


@dataclass(frozen=True)
class Fault:
    """A fault of a worker: its kind, block, warp and lane, its site, and the program counters of the block's lanes."""

    kind: str
    block: int
    warp: int = 0
    lane: int = 0
    site: int = 0
    address: int = 0
    program_counters: tuple[int, ...] = ()
    detail: tuple[Any, ...] = ()
    seconds: float = 0.0


class Whereabouts(TypedDict):
    """The position of an error, as keyword arguments of `KernelError`."""

    line: int | None
    thread: tuple[int, int, int]
    block: tuple[int, int, int]


class Scene:
    """A fault with names: thread, block, line and arrays."""

    def __init__(
        self,
        kernel: LoadedKernel,
        lowered: Lowered,
        fault: Fault,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        arrays: Sequence[ArrayInfo],
    ):
        self.kernel, self.lowered, self.fault, self.arrays = kernel, lowered, fault, arrays
        self.block_size, self.grid = block, grid
        self.block = self.block_index(fault.block)
        self.thread = self.thread_index(fault.warp * 32 + fault.lane)
        files: Mapping[int, str] = kernel.module.module.files
        self.own = {index for index, name in files.items() if name == kernel.filename}
        has_site = fault.site < len(lowered.sites)
        self.line = line_of(self.site.instruction.location, self.own) if has_site else None

    @property
    def site(self) -> Site:
        """The instruction at fault; IndexError for a fault of a block that has none."""
        return self.lowered.sites[self.fault.site]

    def thread_index(self, linear: int) -> tuple[int, int, int]:
        x, y, _ = self.block_size
        return (linear % x, linear // x % y, linear // (x * y))

    def block_index(self, block: int) -> tuple[int, int, int]:
        x, y, _ = self.grid
        return (block % x, block // x % y, block // (x * y))

    def where(self) -> str:
        """Such as "thread (3) of block (0)"."""
        if self.kernel.language == "triton":
            return f"program {self.named_block()} (its thread {self.thread[0]})"
        return f"thread {self.named(self.thread)} of block {self.named_block()}"

    def named(self, thread: tuple[int, int, int]) -> str:
        return short(thread, self.block_size)

    def named_block(self) -> str:
        return short(self.block, self.grid)

    def at_line(self, line: int | None) -> str:
        """Such as "line 5: x[i] = 0;", or "" without a line."""
        text = self.kernel.line_text(line)
        if line is None:
            return ""
        return f"line {line}" + (f": {text}" if text else "")

    def keywords(self, line: int | None = None) -> Whereabouts:
        return {"line": line or self.line, "thread": self.thread, "block": self.block}

    def live_threads(
        self, counters: tuple[int, ...] | None = None
    ) -> list[tuple[int | None, tuple[int, int, int], bool]]:
        """(line, thread, waits at a barrier) of every live thread of the block."""
        found = []
        for index, pc in enumerate(self.fault.program_counters if counters is None else counters):
            if pc != PC_DONE:
                waits = pc >= PC_WAIT
                number = pc & (PC_SYNC - 1) & 0xFFFFFF
                found.append((self._basic_block_line(number, waits), self.thread_index(index), waits))
        return found

    def _basic_block_line(self, number: int, waits: bool) -> int | None:
        basic_blocks = self.lowered.basic_blocks
        if waits:  # the program counter of a waiting lane is that of the basic block after its barrier
            number = next((s.index for s in basic_blocks if s.end == "barrier" and number in s.targets), number)
            barrier = basic_blocks[number].last
            return None if barrier is None else line_of(barrier.location, self.own)
        for basic_block in basic_blocks[number:]:
            for instruction in (*basic_block.body, *([basic_block.last] if basic_block.last else [])):
                line = line_of(instruction.location, self.own)
                if line:
                    return line
        return None


def short(index: tuple[int, int, int], sizes: tuple[int, int, int]) -> str:
    """(x, y, z) in as many dimensions as the launch has: (5), (5, 0), (5, 2, 1)."""
    used = max((axis for axis in range(3) if sizes[axis] > 1), default=0) + 1
    return "(" + ", ".join(str(each) for each in index[:used]) + ")"

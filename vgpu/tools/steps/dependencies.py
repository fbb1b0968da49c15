"""The instructions that one warp executes, and which of them wait for which: the data of latency hiding.

It comes from the compiled code of a counted launch, in which one warp writes a log (`vgpu.launch.path`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vgpu.base.errors import LaunchError
from vgpu.launch.configuration import check_block_index
from vgpu.launch.launch import Kernel, dry_run
from vgpu.lower.basic_blocks import kind_of, results, sources
from vgpu.ptx import Imm, Instruction
from vgpu.tools.prepare import Dimensions, Grid, prepare

if TYPE_CHECKING:
    from vgpu.launch.path import Path

MOST = 20_000
_COPIES = ("mov", "cvta")  # machine code has none of these
_CALLS = ("ret", "call")  # inlined calls are jumps in compiled code, or nothing


class ChainTooLong(LaunchError):
    """The warp executes more instructions than a chain may have."""


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One instruction of the warp: the earlier ones (by number) whose results it needs, and its memory request.

    `space` is "global", "shared", "local", "const" or "" (no memory), `op` "load", "store", "atomic" or ""; `sectors`
    are the 32-byte sectors that a request to global memory touches. Textures and surfaces are in global memory, and an
    asynchronous copy loads from there: an instruction that waits for it needs it.
    """

    opcode: str
    line: int | None
    needs: tuple[int, ...]
    space: str = ""
    op: str = ""
    sectors: int = 0


@dataclass(frozen=True)
class Chain:
    """All instructions of one warp in the order in which it executes them."""

    kernel: str
    links: tuple[ChainLink, ...]

    @property
    def loads(self) -> int:
        """Loads from global memory."""
        return sum(link.op == "load" and link.space == "global" for link in self.links)

    @property
    def waits(self) -> int:
        """How often the warp stalls on global memory: at each instruction that needs a value still in flight."""
        found = 0
        arrived: set[int] = set()
        for number, link in enumerate(self.links):
            if any(self.links[need].space == "global" and need not in arrived for need in link.needs):
                found += 1
                arrived.update(range(number))  # all earlier requests have completed meanwhile
        return found

    @property
    def abreast(self) -> float:
        """Loads from global memory per wait for them."""
        return self.loads / max(1, self.waits)


def chain(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence,
    *, block_index: Dimensions = (0, 0, 0), warp: int = 0, shared_bytes: int = 0, **meta: Any
) -> Chain:  # fmt: skip
    """The instructions that one warp of a launch executes, and which of them wait for which.

    Copies between registers, conversions of addresses and loads of parameters are left out: machine code has none of
    them. Dependencies through memory aren't followed. kernel, grid, block, args, shared_bytes, meta: as at the launch,
    whose arrays stay as they are. Errors: as a launch; IndexError for a block outside the grid or a warp outside the
    block; `ChainTooLong` beyond 20,000 instructions.
    """
    if block is not None:
        check_block_index(grid, block, block_index)
    _, prepared, _ = prepare("chain", kernel, grid, block, args, meta)
    grid, block, (x, y, z) = check_block_index(prepared.grid or grid, prepared.block or block, block_index)
    number = (z * grid[1] + y) * grid[0] + x
    path = dry_run(prepared, grid, block, shared_bytes, watched=(number, warp)).path
    assert path is not None, "the warp is watched"
    return linked(path)


def linked(path: Path) -> Chain:
    """The instructions of a path, and which of them need which. Errors: `ChainTooLong`."""
    links: list[ChainLink] = []
    registers, copies = _RegisterLinks(), _PendingCopies()
    for step in path.steps():
        instruction, written = step.instruction, results(step.instruction)
        # A lane whose guard is false keeps the old value.
        read = sources(instruction) + (written if instruction.guard is not None else [])
        needs = {link for name in read for link in registers.links(name, step.lanes)}
        if _is_copy(instruction):
            made = tuple(needs)
        else:
            made = (len(links),)
            needs |= copies.completed_by(instruction)
            if step.op and instruction.opcode == "cp":
                copies.issue(len(links))
            links.append(
                ChainLink(_opcode(instruction), step.line, tuple(sorted(needs)), step.space, step.op, step.sectors)
            )
        if len(links) > MOST:
            break
        for name in written:
            registers.write(name, step.lanes, made)
    if len(links) > MOST or not path.whole:
        raise ChainTooLong(f"the warp executes more than {MOST:,} instructions: take fewer elements a thread.")
    assert isinstance(path.kernel, Kernel)
    return Chain(path.kernel.name, tuple(links))


class _RegisterLinks:
    """The links that the values in registers come from, lane by lane."""

    def __init__(self) -> None:
        self.made_by: dict[str, list[tuple[int, tuple[int, ...]]]] = {}  # of each register: (lanes, links)

    def links(self, name: str, lanes: int) -> set[int]:
        return {link for others, links in self.made_by.get(name, ()) if others & lanes for link in links}

    def write(self, name: str, lanes: int, links: tuple[int, ...]) -> None:
        kept = [(others & ~lanes, old) for others, old in self.made_by.get(name, ()) if others & ~lanes]
        self.made_by[name] = [*kept, (lanes, links)]


class _PendingCopies:
    """The asynchronous copies that a warp has issued, by committed groups; the last group is open."""

    def __init__(self) -> None:
        self.groups: list[set[int]] = [set()]

    def issue(self, link: int) -> None:
        self.groups[-1].add(link)

    def completed_by(self, instruction: Instruction) -> set[int]:
        """The copies that an instruction waits for."""
        words = instruction.modifiers
        if "commit_group" in words:
            self.groups.append(set())
            return set()
        if "wait_group" in words:  # all but the latest committed groups
            (pending,) = instruction.operands
            last = len(self.groups) - 1 - (pending.value if isinstance(pending, Imm) else 0)
        elif "wait_all" in words or (instruction.opcode == "mbarrier" and {"test_wait", "try_wait"} & set(words)):
            last = len(self.groups)
        else:
            return set()
        return set[int]().union(*self.groups[: max(0, last)])


def _is_copy(instruction: Instruction) -> bool:
    return instruction.opcode in _COPIES or (kind_of(instruction) == "load" and "param" in instruction.modifiers)


def _opcode(instruction: Instruction) -> str:
    inlined = len(instruction.modifiers) == 1 and instruction.modifiers[0] in _CALLS
    return instruction.modifiers[0] if inlined else instruction.opcode

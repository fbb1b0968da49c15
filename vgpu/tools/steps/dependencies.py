"""What one warp executes, instruction by instruction, and which of them wait for which.

This is the data under pictures of latency hiding. It comes from the compiled code of a counted launch, in which one
warp writes a log (`vgpu.launch.path`).
"""

from __future__ import annotations

from dataclasses import dataclass

from vgpu.base.errors import LaunchError
from vgpu.launch.configuration import check_block_index
from vgpu.launch.launch import dry_run
from vgpu.launch.path import Path
from vgpu.lower.basic_blocks import kind_of, results, sources
from vgpu.ptx import Imm, Instruction
from vgpu.tools.prepare import prepare

MOST = 20_000
# They name a value anew and cost nothing in machine code: copies, conversions of addresses, parameters.
_COPIES = ("mov", "cvta")
# Calls that were put in place are jumps in compiled code, or nothing.
_CALLS = ("ret", "call")


class ChainTooLong(LaunchError):
    """The warp executes more instructions than a chain may have."""


@dataclass(frozen=True, slots=True)
class Link:
    """One instruction of the warp: the earlier ones (by number) whose results it reads, and what it asks of memory.

    `space` is "global", "shared", "local", "const" or "" (no memory), `op` "load", "store", "atomic" or ""; `sectors`
    are the 32-byte sectors that a request to global memory touches. Textures and surfaces lie in global memory, and
    an asynchronous copy loads from there: whoever waits for it needs it.
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
    links: tuple[Link, ...]

    @property
    def loads(self) -> int:
        """Loads from global memory."""
        return sum(link.op == "load" and link.space == "global" for link in self.links)

    @property
    def waits(self) -> int:
        """How often the warp stands still for global memory: it goes on until it needs a value that is not there."""
        found, there = 0, set()
        for number, link in enumerate(self.links):
            waiting = [n for n in link.needs if self.links[n].space == "global" and n not in there]
            if waiting:
                found += 1
                there.update(range(number))  # what was asked for before has come meanwhile
        return found

    @property
    def abreast(self) -> float:
        """Loads from global memory for each time that the warp waits for them."""
        return self.loads / max(1, self.waits)


def chain(
    kernel, grid, block, args, *, block_index=(0, 0, 0), warp: int = 0, shared_bytes: int = 0, **meta
) -> Chain:  # fmt: skip
    """Run a launch and say what one of its warps executes, and what waits for what.

    Copies between registers, conversions of addresses and parameters are no instructions of their own here: machine
    code has none of them. What one thread hands to another through memory is not followed. kernel, grid, block, args,
    shared_bytes, meta: as at the launch, whose arrays stay as they are. Errors: as a launch; IndexError for a block
    outside the grid or a warp outside the block; `ChainTooLong` beyond 20,000 instructions.
    """
    if block is not None:
        check_block_index(grid, block, block_index)
    _, prepared, _ = prepare("chain", kernel, grid, block, args, meta)
    grid, block, (x, y, z) = check_block_index(prepared.grid or grid, prepared.block or block, block_index)
    number = (z * grid[1] + y) * grid[0] + x
    return linked(dry_run(prepared, grid, block, shared_bytes, watched=(number, warp)).path)


def linked(path: Path) -> Chain:
    """The instructions of a path, and which of them need which. Errors: `ChainTooLong`."""
    links: list[Link] = []
    registers, copies = _Registers(), _Copies()
    for step in path.steps():
        instruction, written = step.instruction, results(step.instruction)
        # A lane whose guard is false keeps the old value.
        read = sources(instruction) + (written if instruction.guard is not None else [])
        needs = {link for name in read for link in registers.links(name, step.lanes)}
        if _is_copy(instruction):
            made = tuple(needs)
        else:
            made = (len(links),)
            needs |= copies.waited_for(instruction)
            if step.op and instruction.opcode == "cp":
                copies.asked_for(len(links))
            links.append(Link(_opcode(instruction), step.line, tuple(sorted(needs)), step.space, step.op, step.sectors))
        if len(links) > MOST:
            break
        for name in written:
            registers.write(name, step.lanes, made)
    if len(links) > MOST or not path.whole:
        raise ChainTooLong(f"the warp executes more than {MOST:,} instructions: take fewer elements a thread.")
    return Chain(path.kernel.name, tuple(links))


class _Registers:
    """Which links the values in registers come from, lane by lane."""

    def __init__(self):
        self.made_by: dict[str, list[tuple[int, tuple[int, ...]]]] = {}  # of each register: (lanes, links)

    def links(self, name: str, lanes: int) -> set[int]:
        return {link for others, links in self.made_by.get(name, ()) if others & lanes for link in links}

    def write(self, name: str, lanes: int, links: tuple[int, ...]) -> None:
        kept = [(others & ~lanes, old) for others, old in self.made_by.get(name, ()) if others & ~lanes]
        self.made_by[name] = [*kept, (lanes, links)]


class _Copies:
    """The asynchronous copies that a warp has asked for and not waited for, in the groups that it closed."""

    def __init__(self):
        self.groups: list[set[int]] = [set()]

    def asked_for(self, link: int) -> None:
        self.groups[-1].add(link)

    def waited_for(self, instruction: Instruction) -> set[int]:
        """The copies that must have come before the instruction is over."""
        words = instruction.modifiers
        if "commit_group" in words:
            self.groups.append(set())
            return set()
        if "wait_group" in words:  # all but the latest groups that were closed
            (pending,) = instruction.operands
            last = len(self.groups) - 1 - (pending.value if isinstance(pending, Imm) else 0)
        elif "wait_all" in words or (instruction.opcode == "mbarrier" and {"test_wait", "try_wait"} & set(words)):
            last = len(self.groups)
        else:
            return set()
        return set().union(*self.groups[: max(0, last)])


def _is_copy(instruction: Instruction) -> bool:
    return instruction.opcode in _COPIES or (kind_of(instruction) == "load" and "param" in instruction.modifiers)


def _opcode(instruction: Instruction) -> str:
    return instruction.modifiers[0] if instruction.modifiers in ((word,) for word in _CALLS) else instruction.opcode

"""A flat body cut into basic blocks, and the registers that an instruction reads and writes.

A basic block is a run of instructions that lanes enter at the top and leave at the bottom together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vgpu import isa
from vgpu.lower import called
from vgpu.lower.called import ENTRY
from vgpu.ptx import Instruction, Label, Mem, Not, Operand, Pair, Reg, Vec

NO_RESULT = {
    "st",
    "red",
    "bra",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "membar",
    "fence",
    "nanosleep",
    "prefetch",
    "call",
    "stmatrix",
    "sust",
    "prefetchu",
    "applypriority",
    "discard",
    "return",
    "frame.store",
}
# What calls that stay calls are made of, and waits for a cluster; "frames" and a call that a jump leads over add no
# instruction of their own.
CALL_KINDS = {
    "barrier.result": "result", "invoke": "invoke", "return": "return", "frames": "frames", "frame.load": "frame",
    "frame.store": "frame", "cluster.wait": "cluster_wait",
}  # fmt: skip


MOST = 256  # instructions of a basic block, which then goes on in another: LLVM's time grows faster than its length

_KINDS = {**isa.KINDS, **CALL_KINDS}


def kind_of(instruction: Instruction) -> str:
    """ "arithmetic", "move" or the kind that `isa.KINDS` gives."""
    return _KINDS.get(instruction.opcode, "arithmetic")


def items_of(operand: Operand | None) -> tuple[Any, ...]:
    """The parts of a vector operand; any other operand alone."""
    return operand.items if isinstance(operand, Vec) else (operand,)


def registers_in(operand: Operand | None) -> list[str]:
    """The names of all registers an operand reads (or writes, if it is a destination)."""
    if isinstance(operand, Reg):
        return [operand.name]
    if isinstance(operand, Not):
        return [operand.reg.name]
    if isinstance(operand, Pair):
        return registers_in(operand.first) + registers_in(operand.second)
    if isinstance(operand, Vec):
        return [name for item in operand.items for name in registers_in(item)]
    if isinstance(operand, Mem):
        return registers_in(operand.base) + [n for c in operand.coordinates or () for n in registers_in(c)]
    return []


def _no_result(instruction: Instruction) -> bool:
    if instruction.opcode == "tcgen05":
        return "ld" not in instruction.modifiers
    return instruction.opcode in NO_RESULT or (instruction.opcode == "wmma" and "store" in instruction.modifiers)


def results(instruction: Instruction) -> list[str]:
    """Registers written."""
    if instruction.opcode == "call":
        return [f"{name}@0" for name in instruction.operands[0].returns]
    if instruction.opcode == "invoke":
        return called.result_names(instruction.operands[0])
    if _no_result(instruction) or not instruction.operands:
        return []
    if isinstance(instruction.operands[0], Mem):  # copies, and what updates an object in memory
        return []
    if instruction.opcode in ("bar", "barrier"):
        return []  # what a reducing barrier gives is written by the "barrier.result" that follows it
    found = registers_in(instruction.operands[0])
    row = isa.match(instruction.opcode, instruction.modifiers)
    if row and "c" in row.op.outputs:
        found.append("%cc")
    return found


def sources(instruction: Instruction) -> list[str]:
    """Registers read, the guard included."""
    found = registers_in(instruction.guard)
    if instruction.opcode == "call":
        return found + [f"{name}@0" for name in instruction.operands[0].arguments]
    if instruction.opcode == "invoke":
        return called.source_names(instruction.operands[0])
    plain_barrier = instruction.opcode in ("bar", "barrier") and "red" not in instruction.modifiers
    writes = not _no_result(instruction) and not plain_barrier
    if instruction.operands and isinstance(instruction.operands[0], Mem):
        writes = False
    adds = instruction.opcode == "wgmma"  # to what it writes
    for operand in instruction.operands[1:] if writes and not adds else instruction.operands:
        found += registers_in(operand)
    if reads_carry(instruction):
        found.append("%cc")
    return found


def reads_carry(instruction: Instruction) -> bool:
    row = isa.match(instruction.opcode, instruction.modifiers)
    return row is not None and "c" in row.op.inputs


@dataclass
class BasicBlock:
    """Instructions `body`, then `end`: "jump", "branch", "barrier", "call", "return" or "leave"."""

    index: int
    body: list[Instruction] = field(default_factory=list)
    end: str = "jump"
    last: Instruction | None = None
    targets: tuple[int, ...] = ()
    synchronises: bool = False
    shared_end: bool = False  # where lanes of guarded instructions such as `@p ret` end; it adds no instruction
    owner: str = ""  # the function this is part of, "" for the kernel
    resumes: BasicBlock | None = (
        None  # the basic block whose call ends here: lanes come back from it, and from nowhere else
    )

    @property
    def awaits(self) -> bool:
        """Whether it begins with a wait for the products of a warpgroup."""
        return bool(self.body) and _awaits(self.body[0])

    @property
    def begun(self) -> bool:
        """Whether what follows needs a basic block of its own to jump to."""
        return bool(self.body) or self.resumes is not None

    @property
    def counted(self) -> list[Instruction]:
        """The instructions of the kernel that lanes execute here, without those that stand for parts of others."""
        return [instruction for _, instruction in self.placed]

    @property
    def placed(self) -> list[tuple[int, Instruction]]:
        """The same, each with its place in the basic block."""
        last = [] if self.last is None or self.shared_end else [self.last]
        every = enumerate((*self.body, *last))
        return [(at, i) for at, i in every if kind_of(i) not in ("result", "frames") and "piece" not in i.modifiers]


def _awaits(instruction: Instruction) -> bool:
    return instruction.opcode == "wgmma" and instruction.modifiers[:1] == ("wait_group",)


def split(
    body: Sequence[Instruction | Label],
    unsynchronised: frozenset[int] = frozenset(),
    cuts: frozenset[int] = frozenset(),
) -> list[BasicBlock]:
    """Cut a flat body into basic blocks.

    `unsynchronised` are positions of .sync instructions to begin one at, `cuts` those of instructions to begin one
    at and to end one after.
    """
    basic_blocks: list[BasicBlock] = [BasicBlock(0)]
    labels: dict[str, int] = {}
    pending: list[tuple[BasicBlock, str]] = []

    def close(basic_block: BasicBlock, end: str, last: Instruction | None, *targets: int) -> None:
        basic_block.end, basic_block.last, basic_block.targets = end, last, targets
        basic_blocks.append(BasicBlock(len(basic_blocks), owner=basic_block.owner))

    for position, statement in enumerate(body):
        here = basic_blocks[-1]
        if isinstance(statement, Label):
            if here.begun:
                close(here, "jump", None, len(basic_blocks))
            if statement.name.startswith(ENTRY):
                basic_blocks[-1].owner = statement.name.removeprefix(ENTRY)
            labels[statement.name] = len(basic_blocks) - 1
            continue
        kind = kind_of(statement)
        if (position in cuts or position - 1 in cuts) and here.body:
            close(here, "jump", None, len(basic_blocks))
            here = basic_blocks[-1]
        if _awaits(statement) and here.begun:
            close(here, "jump", None, len(basic_blocks))
            here = basic_blocks[-1]
        if position in unsynchronised:
            if here.begun:
                close(here, "jump", None, len(basic_blocks))
                here = basic_blocks[-1]
            here.synchronises = True
        if kind == "branch":
            following = len(basic_blocks)
            if statement.guard is None:
                close(here, "jump", statement, -1)
            else:
                close(here, "branch", statement, -1, following)
            pending.append((here, statement.operands[0].name))
        elif kind == "invoke":
            close(here, "call", statement, len(basic_blocks))
            here.shared_end = "jumped" in statement.modifiers
            basic_blocks[-1].resumes = here
        elif kind in ("leave", "trap", "return"):
            if statement.guard is None:
                close(here, "return" if kind == "return" else "leave", statement)
            else:
                close(here, "branch", statement, -2, len(basic_blocks))
        elif kind == "barrier" and _blocks(statement):
            if statement.guard is not None and here.body:
                close(here, "jump", None, len(basic_blocks))
                here = basic_blocks[-1]
            close(here, "barrier", statement, len(basic_blocks))
            if "red" in statement.modifiers:
                basic_blocks[-1].body.append(replace(statement, opcode="barrier.result", guard=None))
        else:
            if len(here.body) == MOST:
                close(here, "jump", None, len(basic_blocks))
            basic_blocks[-1].body.append(statement)
    basic_blocks[-1].end, basic_blocks[-1].targets = "leave", ()
    for basic_block, name in pending:
        basic_block.targets = tuple(labels[name] if t == -1 else t for t in basic_block.targets)
        if len(set(basic_block.targets)) == 1:  # both ways are one
            basic_block.end, basic_block.targets = "jump", basic_block.targets[:1]
    leaving: dict[str, int] = {}
    for basic_block in list(basic_blocks):
        if -2 in basic_block.targets:
            last = basic_block.last
            assert last is not None, "only an instruction leaves a function"
            opcode = last.opcode
            if opcode not in leaving:
                leaving[opcode] = len(basic_blocks)
                plain = Instruction(opcode, (), (), None, last.location, last.text)
                end = "return" if opcode == "return" else "leave"
                basic_blocks.append(BasicBlock(len(basic_blocks), [], end, plain, shared_end=True))
            basic_block.targets = tuple(leaving[opcode] if t == -2 else t for t in basic_block.targets)
    return basic_blocks


def _blocks(statement: Instruction) -> bool:
    """Whether a bar/barrier instruction makes lanes wait for the block (bar.warp.sync does not)."""
    return (
        "warp" not in statement.modifiers
        and "arrive" not in statement.modifiers
        and "cluster" not in statement.modifiers
    )

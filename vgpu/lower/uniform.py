"""Which registers are the same in all lanes of a warp, and which basic blocks part of a warp may run.

A register that is written once from uniform values is uniform always ("invariant"). One that is written more often
(a loop counter) is so only as long as no group of lanes can write it while another group, waiting elsewhere, still
wants its old value.
"""

from __future__ import annotations

from vgpu.lower.basic_blocks import BasicBlock, kind_of, reads_carry, registers_in, results, sources
from vgpu.lower.spaces import space_of
from vgpu.ptx import Imm, Instruction, Operand, Special, Sym, Vec

INVARIANT_SPECIALS = (
    "%ctaid", "%ntid", "%nctaid", "%nwarpid", "%warpid", "%smid", "%nsmid", "%gridid", "%dynamic", "%total", "WARP_SZ",
    "%cluster", "%ncluster", "%is_explicit", "%reserved", "%envreg",
)  # fmt: skip


_EVEN = {"mov", "add", "sub", "mul", "mad", "shl", "shr", "and", "cvt", "cvta"}  # what may make ramps of ramps
_NOT_EVEN = {"hi", "sat", "cc", "local", "f16", "f32", "f64", "bf16", "u8", "s8", "s16x2", "u16x2"}


def _operand_is_uniform(operand: Operand | None, uniform: set[str], invariant: bool) -> bool:
    if isinstance(operand, Special):
        if operand.name.startswith(INVARIANT_SPECIALS) or operand.name in uniform:
            return True
        return not invariant and operand.name.startswith(("%clock", "%globaltimer"))
    if isinstance(operand, Sym):  # a variable in a function's frame has its place on the thread's own stack
        return "@" not in operand.name
    if isinstance(operand, Vec):
        return all(_operand_is_uniform(item, uniform, invariant) for item in operand.items)
    return all(name in uniform for name in registers_in(operand))


def _result_is_uniform(instruction: Instruction, uniform: set[str], invariant: bool) -> bool:
    """Whether the results are uniform (or invariant), given the registers that are."""
    kind = kind_of(instruction)
    if instruction.guard is not None and not all(n in uniform for n in registers_in(instruction.guard)):
        return False
    if invariant and instruction.guard is not None:
        return False
    if kind == "arithmetic":
        if "%cc" not in uniform and reads_carry(instruction):
            return False
        return all(_operand_is_uniform(o, uniform, invariant) for o in instruction.operands[1:])
    if kind == "load":
        memory = instruction.operands[1]
        if "param" in instruction.modifiers and isinstance(memory.base, Sym):
            return True
        if invariant or space_of(instruction) in ("local", "cluster"):  # a cluster's addresses are found lane by lane
            return False
        return all(name in uniform for name in registers_in(memory))
    if kind == "mbarrier":  # lanes that ask for one parity of one barrier get one answer
        named = [n for o in instruction.operands[1:] for n in registers_in(o)]
        return not invariant and "parity" in instruction.modifiers and all(n in uniform for n in named)
    if kind in ("address", "inspect"):
        return "local" not in instruction.modifiers and _operand_is_uniform(instruction.operands[1], uniform, invariant)
    if kind == "vote":
        # Lanes that name different members get different answers; activemask has no operand for them.
        return not invariant and all(n in uniform for o in instruction.operands[2:] for n in registers_in(o))
    return kind == "result" and not invariant


def _may_be_ramp(instruction: Instruction, ramps: set[str], invariant: set[str]) -> bool:
    """Whether a result may be a ramp (`vgpu.ir.ramp`): a sum of ramps, or the product of one with a constant."""
    opcode, kinds = instruction.opcode, set(instruction.modifiers)
    if opcode not in _EVEN or instruction.guard is not None or kinds & _NOT_EVEN:
        return False
    operands = instruction.operands[1:]
    even = [
        o.name in ramps if isinstance(o, Special) else any(name in ramps for name in registers_in(o)) for o in operands
    ]
    rest = [o for o, is_even in zip(operands, even, strict=True) if not is_even]
    if not any(even) or not all(_operand_is_uniform(o, invariant, True) for o in rest):
        return False
    factors = operands[:2] if opcode in ("mul", "mad", "shl", "shr", "and") else ()
    return not any(even[: len(factors)]) or any(isinstance(o, Imm) for o in factors)


class Definitions:
    """Where each register of a kernel is written, and which registers are written from it.

    `rows`: the threads of each warp lie side by side in x, so that all of them have one y and one z.
    """

    def __init__(self, basic_blocks: list[BasicBlock], rows: bool = False):
        self.constant = {"%tid.y", "%tid.z"} if rows else set()
        self.even = {"%tid.x", "%laneid"} if rows else set()
        self.writers: dict[str, list[Instruction]] = {}
        self.readers: dict[str, set[str]] = {}
        for basic_block in basic_blocks:
            for instruction in (*basic_block.body, *([basic_block.last] if basic_block.last else [])):
                if written := results(instruction):
                    for name in written:
                        self.writers.setdefault(name, []).append(instruction)
                    for name in sources(instruction):
                        self.readers.setdefault(name, set()).update(written)
        self.once = {name for name, written in self.writers.items() if len(written) == 1 and name != "%cc"}

    def uniform_by_data(self) -> tuple[set[str], set[str]]:
        """(registers written once from invariant values, further registers written from uniform values only)."""
        invariant = set(self.constant)
        once = self.once
        waiting = set(once)
        while waiting:
            name = waiting.pop()
            if _result_is_uniform(self.writers[name][0], invariant, True):
                invariant.add(name)
                waiting |= self.readers.get(name, set()) & once - invariant
        return invariant, self.closure(invariant, self.writers.keys() - invariant)

    def ramps(self, invariant: set[str]) -> set[str]:
        """Registers written once, whose lanes may be evenly apart: made of indices of lanes and of invariant ones."""
        found, once = set(self.even), self.once - invariant
        waiting = set(once) if found else set()
        while waiting:
            name = waiting.pop()
            if _may_be_ramp(self.writers[name][0], found, invariant):
                found.add(name)
                waiting |= self.readers.get(name, set()) & once - found
        return found - self.even

    def closure(self, invariant: set[str], flowing: set[str]) -> set[str]:
        """The largest part of `flowing` whose definitions read only registers of it and invariant ones."""
        uniform, waiting, left = invariant | flowing, set(flowing), set(flowing)
        while waiting:
            name = waiting.pop()
            if not all(_result_is_uniform(instruction, uniform, False) for instruction in self.writers[name]):
                left.discard(name)
                uniform.discard(name)
                waiting |= self.readers.get(name, set()) & left
        return left


def post_dominators(basic_blocks: list[BasicBlock]) -> list[int]:
    """For each basic block the set (as bits) of basic blocks that every path from it to the end passes."""
    count = len(basic_blocks)
    everything = (1 << count) - 1
    after = [everything] * count
    for basic_block in basic_blocks:
        if not basic_block.targets:
            after[basic_block.index] = 1 << basic_block.index
    changed = True
    while changed:
        changed = False
        for basic_block in reversed(basic_blocks):
            if not basic_block.targets:
                continue
            meet = everything
            for target in basic_block.targets:
                meet &= after[target]
            now = meet | 1 << basic_block.index
            if now != after[basic_block.index]:
                after[basic_block.index] = now
                changed = True
    return after


def _join(index: int, after: list[int]) -> int | None:
    """The nearest basic block after `index` that all its paths pass."""
    rest = after[index] & ~(1 << index)
    found = [i for i in range(len(after)) if rest >> i & 1]
    for candidate in found:
        if after[candidate] == rest:
            return candidate
    return None


def _reach(basic_blocks: list[BasicBlock], start: int, stop: int | None) -> set[int]:
    seen: set[int] = set()
    work = [start]
    while work:
        index = work.pop()
        if index == stop or index in seen:
            continue
        seen.add(index)
        work.extend(basic_blocks[index].targets)
    return seen


def divergence(
    basic_blocks: list[BasicBlock], live_in: list[set[str]], uniform: set[str], after: list[int]
) -> tuple[set[int], set[str], bool]:
    """Basic blocks that part of a warp may run, registers that cannot be uniform there; whether lanes reconverge."""
    diverged: set[int] = set()
    forbidden: set[str] = set()
    structured = True
    written = [set().union(*map(set, map(results, s.body)), set()) for s in basic_blocks]
    for basic_block in basic_blocks:
        last = basic_block.last
        if basic_block.end != "branch" or last is None or all(n in uniform for n in registers_in(last.guard)):
            continue
        join = _join(basic_block.index, after)
        arms = [_reach(basic_blocks, t, join) for t in basic_block.targets]
        inside = arms[0] | arms[1]
        diverged |= inside
        if join is not None and any(index > join for index in inside):
            structured = False
        shared = arms[0] & arms[1] if join not in basic_block.targets else set()
        for mine, other_start in ((0, basic_block.targets[1]), (1, basic_block.targets[0])):
            wanted = set(live_in[join]) if join is not None else set()
            if other_start != join:
                wanted |= live_in[other_start]
            for index in arms[mine]:
                forbidden |= written[index] if index in shared else written[index] & wanted
    return diverged, forbidden, structured

"""Branches whose sides are short: lanes run both, each side under the mask of those that take it.

A side is arithmetic alone, lanes come to it from nowhere else, and it meets the other at a later basic block. Where
lanes part at every turn of a loop, this saves the way through the dispatcher.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from vgpu.lower.basic_blocks import BasicBlock, kind_of, registers_in
from vgpu.lower.flow import Flow
from vgpu.ptx import Instruction, Special

SHORT = 16  # instructions of both sides: about what the dispatcher costs
CHANGING = ("%clock", "%globaltimer")  # special registers that lanes may not read in vain


@dataclass(frozen=True)
class Branch:
    """The basic blocks of the side that jumps and of the side that doesn't, and where they meet."""

    taken: tuple[int, ...]
    following: tuple[int, ...]
    meet: int

    @property
    def sides(self) -> tuple[int, ...]:
        return *self.taken, *self.following


def short_branches(flow: Flow) -> dict[int, Branch]:
    """The branches with short sides, by the basic block that ends in each."""
    if flow.stacked:
        return {}
    before = Counter(target for basic_block in flow.basic_blocks for target in basic_block.targets)
    found = {}
    for basic_block in flow.basic_blocks:
        last = basic_block.last
        if basic_block.end != "branch" or last is None or basic_block.index in flow.spinning:
            continue
        parts = not flow.uniform.issuperset(registers_in(last.guard))
        if parts and (branch := _branch(flow.basic_blocks, before, basic_block)):
            found[basic_block.index] = branch
    return found


def _branch(basic_blocks: list[BasicBlock], before: Counter[int], parting: BasicBlock) -> Branch | None:
    ways = [list(_way(basic_blocks, parting.index, target)) for target in parting.targets]
    meet = next((index for index in ways[0] if index in ways[1]), None)
    if meet is None:
        return None
    taken, following = (tuple(way[: way.index(meet)]) for way in ways)
    sides = (*taken, *following)
    length = sum(len(basic_blocks[index].placed) for index in sides)
    # Lanes that come from elsewhere would have to run a side together with these: it would count once.
    alone = all(before[index] == 1 for index in sides)
    return Branch(taken, following, meet) if alone and 0 < length <= SHORT else None


def _way(basic_blocks: list[BasicBlock], before: int, index: int) -> Iterator[int]:
    """Basic blocks from `index` on, forwards, up to the first that does more than arithmetic and a jump."""
    while index > before:
        yield index
        here = basic_blocks[index]
        if here.end != "jump" or here.synchronises or here.resumes or not all(map(_is_plain, here.body)):
            return
        before, index = index, here.targets[0]


def _is_plain(instruction: Instruction) -> bool:
    specials = (o.name for o in instruction.operands if isinstance(o, Special))
    return kind_of(instruction) == "arithmetic" and not any(name.startswith(CHANGING) for name in specials)

"""Instructions that may touch registers of a product (`wgmma`) before it has been waited for.

Which products may be in flight is found along all paths, as if only a wait for all groups ended them; whether one is
when an instruction runs, the sanitizer then knows. Accessing registers of D (and writing those of A) before the wait is
undefined, but for further products that add to the same D (NVIDIA "PTX ISA", `wgmma.mma_async` and `wgmma.fence`).
A `mov` between registers, or their parts, counts as no access: compilers rename and divide values before the wait, and
the assembler sees to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from vgpu.lower.basic_blocks import BasicBlock, registers_in, results, sources
from vgpu.ptx import Instruction, Vec


def early(basic_blocks: Sequence[BasicBlock]) -> dict[int, list[Instruction]]:
    """For each such instruction (by its id) the products whose registers it touches."""
    products = [i for s in basic_blocks for i in s.body if _is_product(i)]
    if not products:
        return {}
    into: list[set[int]] = [set() for _ in basic_blocks]
    waiting = set(range(len(basic_blocks)))
    while waiting:
        here = basic_blocks[waiting.pop()]
        left = _after(here, into[here.index])
        for target in here.targets:
            if not left <= into[target]:
                into[target] |= left
                waiting.add(target)
    by_id = {id(i): i for i in products}
    found: dict[int, list[Instruction]] = {}
    for here in basic_blocks:
        flying = set(into[here.index])
        for instruction in (*here.body, *([here.last] if here.last else [])):
            for product in (by_id[each] for each in flying):
                if _touches(instruction, product):
                    found.setdefault(id(instruction), []).append(product)
            flying = _step(instruction, flying)
    return found


def _is_product(instruction: Instruction) -> bool:
    return instruction.opcode == "wgmma" and instruction.modifiers[:1] == ("mma_async",)


def _step(instruction: Instruction, flying: set[int]) -> set[int]:
    if _is_product(instruction):
        return flying | {id(instruction)}
    everything = instruction.opcode == "wgmma" and instruction.modifiers[:1] == ("wait_group",)
    return set() if everything and instruction.operands[0].value == 0 and instruction.guard is None else flying


def _after(here: BasicBlock, flying: set[int]) -> set[int]:
    for instruction in here.body:
        flying = _step(instruction, flying)
    return flying


def _touches(instruction: Instruction, product: Instruction) -> bool:
    operands = instruction.operands
    if instruction.opcode == "mov" and registers_in(operands[1]):
        return False
    d, a = set(registers_in(product.operands[0])), product.operands[1]
    if _is_product(instruction):  # adds to the same D, or to another
        same = operands[0] == product.operands[0]
        read = {name for operand in operands[1:] for name in registers_in(operand)}
        return bool(d & read) or (not same and bool(d & set(registers_in(operands[0]))))
    written = set(results(instruction))
    left = set(registers_in(a)) if isinstance(a, Vec) else set()
    return bool(d & (written | set(sources(instruction)))) or bool(left & written)

"""Instructions that may touch registers of a product (`wgmma`), or of a load from tensor memory, before its wait.

Which products may be in flight is found along all paths, as if only a wait for all groups ended them; whether one is
when an instruction runs, the sanitizer then knows. Accessing registers of D (and writing those of A) before the wait is
undefined, but for further products that add to the same D (NVIDIA "PTX ISA", `wgmma.mma_async` and `wgmma.fence`).
A `mov` between registers, or their parts, counts as no access: compilers rename and divide values before the wait, and
the assembler sees to it. What `tcgen05.ld` fills must be left alone until `tcgen05.wait::ld`.
"""

from __future__ import annotations

from collections.abc import Sequence

from vgpu.lower.basic_blocks import BasicBlock, kind_of, registers_in, results, sources
from vgpu.ptx import Instruction, Vec
from vgpu.ptx.shapes import has_shape


def early(basic_blocks: Sequence[BasicBlock]) -> dict[int, list[Instruction]]:
    """For each such instruction (by its id) the products whose registers it touches."""
    products = [i for s in basic_blocks for i in s.body if is_product(i)]
    if not products:
        return {}
    by_id = {id(i): i for i in products}
    into: list[set[int]] = [set() for _ in basic_blocks]
    waiting = set(range(len(basic_blocks)))
    while waiting:
        here = basic_blocks[waiting.pop()]
        left = _after(here, into[here.index], by_id)
        for target in here.targets:
            if not left <= into[target]:
                into[target] |= left
                waiting.add(target)
    found: dict[int, list[Instruction]] = {}
    for here in basic_blocks:
        flying = set(into[here.index])
        for instruction in (*here.body, *([here.last] if here.last else [])):
            for product in (by_id[each] for each in flying):
                if _touches(instruction, product):
                    found.setdefault(id(instruction), []).append(product)
            flying = _step(instruction, flying, by_id)
    return found


def is_product(instruction: Instruction) -> bool:
    """Whether it is a product or load of these, in a form that the virtual GPU runs."""
    begins = (instruction.opcode, *instruction.modifiers[:1])
    return begins in (("wgmma", "mma_async"), ("tcgen05", "ld")) and has_shape(kind_of(instruction), instruction)


def _step(instruction: Instruction, flying: set[int], by_id: dict[int, Instruction]) -> set[int]:
    if is_product(instruction):
        return flying | {id(instruction)}
    wait = (instruction.opcode, *instruction.modifiers[:1])
    everything = wait == ("tcgen05", "wait::ld") or (
        wait == ("wgmma", "wait_group") and instruction.operands[0].value == 0
    )
    if not everything or instruction.guard is not None:
        return flying
    return {each for each in flying if by_id[each].opcode != instruction.opcode}


def _after(here: BasicBlock, flying: set[int], by_id: dict[int, Instruction]) -> set[int]:
    for instruction in here.body:
        flying = _step(instruction, flying, by_id)
    return flying


def _touches(instruction: Instruction, product: Instruction) -> bool:
    operands = instruction.operands
    if instruction.opcode == "mov" and registers_in(operands[1]):
        return False
    d, a = set(registers_in(product.operands[0])), product.operands[1]
    if product.opcode == "tcgen05":
        return bool(d & {*results(instruction), *sources(instruction)})
    if is_product(instruction) and instruction.opcode == "wgmma":  # adds to the same D, or to another
        same = operands[0] == product.operands[0]
        read = {name for operand in operands[1:] for name in registers_in(operand)}
        return bool(d & read) or (not same and bool(d & set(registers_in(operands[0]))))
    written = set(results(instruction))
    left = set(registers_in(a)) if isinstance(a, Vec) else set()
    return bool(d & (written | set(sources(instruction)))) or bool(left & written)

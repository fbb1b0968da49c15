"""The operands of the tensor cores' instructions, of which the tables in `isa` know the shapes and types."""

from __future__ import annotations

from vgpu.isa import tensor, tensor_memory, umma, warpgroup
from vgpu.ptx import Imm, Instruction, Mem, Vec
from vgpu.ptx.operand_shapes import Shape, Words

# No words of PTX, but added by `with_operands`: for `wgmma` that has A in registers, and for `tcgen05.mma` that has A
# in tensor memory or names lanes of D to be kept.
IN_REGISTERS, IN_MEMORY, MASKED = "registers", "memory", "masked"


def with_operands(instruction: Instruction) -> Words:
    """The instruction's words, and those for what its operands decide."""
    words, given = instruction.modifiers, instruction.operands
    if instruction.opcode == "wgmma" and len(given) > 1 and isinstance(given[1], Vec):
        return (*words, IN_REGISTERS)
    if instruction.opcode == "tcgen05" and "mma" in words:
        words = (*words, *([IN_MEMORY] if len(given) > 1 and isinstance(given[1], Mem) else []))
        words = (*words, *([MASKED] if len(given) > 4 and isinstance(given[4], Vec) else []))
    return words


def _fragment(f: tensor.Fragment, wmma: bool) -> str:
    # `wmma` gives 16-bit floats of A and B eight registers whatever their shape.
    count = 8 if wmma and f.type == "f16" and not f.accumulates else f.registers
    return f"{f.width}*{count}"


def matrices(opcode: str, words: Words) -> Shape:
    if opcode in ("ldmatrix", "stmatrix"):
        rows = tensor.rows(opcode, words)
        if rows is None:
            return None
        registers = f"32*{rows.matrices * rows.registers}"
        return ("d" + registers, "m") if opcode == "ldmatrix" else ("m", "s" + registers)
    if opcode == "movmatrix":
        return ("d32", "s32")
    if opcode == "wgmma":
        return _warpgroup(words)
    if opcode == "wmma" and "mma" not in words:
        if len(words) < 2 or words[0] not in ("load", "store") or words[1] not in "abcd":
            return "is no move of a matrix that PTX has"
        moved = tensor.move(words)
        if moved is None:
            return None
        registers = _fragment(moved.fragment, True)
        return ("d" + registers, "m", "s32?") if words[0] == "load" else ("m", "s" + registers, "s32?")
    found = tensor.product(opcode, words)
    if found is None:
        return None
    *sources, result = (_fragment(each, opcode == "wmma") for each in found.fragments)
    return ("d" + result, *("s" + one for one in sources), *(("s32", "s16*2") * (2 if found.scales else 0)))


def wrong_selector(instruction: Instruction) -> str | None:
    """What is wrong with the numbers that select scales, in words."""
    found = tensor.product(instruction.opcode, instruction.modifiers)
    for operand, allowed in zip(instruction.operands[5::2], found.selectors if found else (), strict=False):
        for item, values in zip(operand.items, allowed, strict=True):
            if isinstance(item, Imm) and item.value not in values:
                return f"selects scales by {item.value}: it has to be one of {', '.join(map(str, values))}"
    return None


def _warpgroup(words: Words) -> Shape:
    if words and words[0] in warpgroup.WAITS:
        right = words[1:] == ("sync", "aligned")
        return warpgroup.WAITS[words[0]] if right else f"is no wgmma.{words[0]} that PTX has: it is .sync.aligned"
    in_registers = IN_REGISTERS in words
    found = warpgroup.product(tuple(word for word in words if word != IN_REGISTERS))
    return None if found is None else warpgroup.operands(found, in_registers)


def in_tensor_memory(opcode: str, words: Words) -> Shape:
    said = tuple(word for word in words if word not in (IN_MEMORY, MASKED))
    name, found = tensor_memory.form(said) or ("", ())
    if name in ("ld", "st"):
        moved = tensor_memory.move(said)
        if moved is None:
            return f"moves .x{found[1]} of .{found[0]}, which PTX doesn't have"
        split = ("j",) if moved.splits else ()
        registers = f"32*{moved.registers}"
        return ("z", *split, "s" + registers) if moved.store else ("d" + registers, "z", *split)
    if name == "commit":
        return ("m", "s16") if found[2] else ("m",)
    if name != "mma":
        return _IN_TENSOR_MEMORY.get(name)
    product = umma.variant(said, IN_MEMORY in words)
    if product is None:
        return None
    lanes = (f"s32*{4 * product.ctas}",) if MASKED in words and not product.scales else ()
    more = ("z", "z", "f") if product.scales else (*lanes, "f", *(("h?",) if product.kind in ("f16", "tf32") else ()))
    return ("z", "z" if product.in_tensor_memory else "s64", "s64", "s32", *more)


_IN_TENSOR_MEMORY = {
    "alloc": ("m", "s32"), "dealloc": ("s32", "s32"), "relinquish": (), "wait": (), "fence": (), "cp": ("z", "s64"),
    "shift": ("z",),
}  # fmt: skip

"""Arithmetic in LLVM IR, as the table in `isa` says, and the moves and conversions that fill several places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgpu import isa
from vgpu.ir import Value
from vgpu.isa import in_llvm as isa_llvm
from vgpu.lower import formats, outline
from vgpu.ptx import Instruction, Pair, Reg, Vec

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel


def lower(kernel: Kernel, instruction: Instruction) -> None:
    """Write the results of an instruction of the table, where its guard holds."""
    if _rearranges(kernel, instruction):
        return
    found = isa.match(instruction.opcode, instruction.modifiers)
    if found is None:
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    guard = kernel.guard(instruction.guard)
    op, form = found.op, found.form
    given = list(instruction.operands[1:])
    kinds = [isa.operand_type(symbol, form) for symbol in op.inputs]
    symbols = op.inputs
    if "c" in symbols:
        given.append(Reg("%cc"))
    if found.packed:
        values = _packed(kernel, op, form, given, kinds)
    else:
        arguments = [kernel.typed(operand, kind) for operand, kind in zip(given, kinds, strict=False)]
        values = outline.once(kernel, instruction, arguments, lambda values: meaning(op, form, values))
    destination = instruction.operands[0]
    places: list[Any] = [destination.first, destination.second] if isinstance(destination, Pair) else [destination]
    outputs = op.outputs
    if "c" in outputs:
        places = [places[0], Reg("%cc")]
    for place, symbol, value in zip(places, outputs, values, strict=False):
        if place is None:
            continue
        kind = isa.operand_type(symbol, form)
        bits = value if found.packed else kernel.untyped(value, kind)
        name = place.name
        # Narrow results in wider registers are extended as their type says.
        if kind.kind in "usb" and kernel.bits(name) > kind.bits:
            bits = bits.to(f"i{kernel.bits(name)}", signed=kind.kind == "s")
        kernel.write(place, bits, guard)


def meaning(op: isa.Op, form: isa.Form, arguments: list[Value]) -> list[Value]:
    """A row's results for arguments of its types, with what modifiers add: .ftz, .sat and .relu."""
    flush = "ftz" in form.mods
    if flush:
        arguments = [isa_llvm.flush(a) if a.element == "float" else a for a in arguments]
    if isinstance(op.llvm, str):
        first, *rest = arguments
        result = first.intrinsic(op.llvm[1:], *rest) if op.llvm[0] == "@" else first.binary(op.llvm, *rest)
    else:
        result = op.llvm(form, *arguments)
    values = list(result) if isinstance(result, tuple) else [result]
    if form.t.is_float and op.opcode != "cvt":
        if "sat" in form.mods:
            values[0] = isa_llvm.saturate(values[0])
        if "relu" in form.mods:
            values[0] = isa_llvm.relu(values[0])
    if flush and values[0].element == "float" and form.t.name == "f32":
        values[0] = isa_llvm.flush(values[0])
    return values


def _packed(kernel: Kernel, op: isa.Op, form: isa.Form, given: list[Any], kinds: list[isa.Type]) -> list[Value]:
    """An operation on the two values packed in one register."""
    bits, parts = form.t.bits, []
    for shift in (0, bits):
        arguments = []
        for operand, symbol, kind in zip(given, op.inputs, kinds, strict=False):
            if symbol not in ("t", "s"):
                arguments.append(kernel.bits_value(operand, kind.bits))
                continue
            whole = kernel.bits_value(operand, 2 * bits)
            arguments.append(kernel.as_typed((whole >> shift).to(f"i{bits}"), kind))
        parts.append([kernel.untyped(v, form.t) if v.element != "i1" else v for v in meaning(op, form, arguments)])
    (low, *_), (high, *_) = parts
    if low.element == "i1":
        return [low, high]
    return [low.to(f"i{2 * bits}") | high.to(f"i{2 * bits}") << bits]


def _rearranges(kernel: Kernel, instruction: Instruction) -> bool:
    """Moves with vectors, and conversions and comparisons that fill two places; False for everything else."""
    operands = instruction.operands
    guard = kernel.guard(instruction.guard)
    if instruction.opcode == "mov" and isinstance(operands[0], Vec):
        bits = isa.TYPES[instruction.modifiers[-1]].bits if instruction.modifiers[-1] in isa.TYPES else 128
        whole, part = kernel.bits_value(operands[1], bits), bits // len(operands[0].items)
        for index, item in enumerate(operands[0].items):
            if item is not None:
                piece = whole >> index * part
                kernel.write(item, piece.to(f"i{part}"), guard)
        return True
    if instruction.opcode == "mov" and instruction.modifiers == ("b128",):
        kernel.write(operands[0], kernel.bits_value(operands[1], 128), guard)
        return True
    if instruction.opcode == "cvt":
        return formats.convert_pair(kernel, instruction)
    return False

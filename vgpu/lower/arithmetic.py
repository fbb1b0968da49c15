"""Arithmetic in LLVM IR, as the table in `isa` says, and the moves and conversions that fill several places."""

from __future__ import annotations

from vgpu import isa
from vgpu.isa import in_llvm as isa_llvm
from vgpu.lower import formats, outline
from vgpu.ptx import Instruction, Pair, Reg, Vec
from vgpu.runtime.emit import Value


def lower(k, instruction: Instruction) -> None:
    """Write the results of an instruction of the table, where its guard holds."""
    if _rearranges(k, instruction):
        return
    found = isa.match(instruction.opcode, instruction.modifiers)
    if found is None:
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    guard = k.guard(instruction.guard)
    op, form = found.op, found.form
    given = list(instruction.operands[1:])
    kinds = [isa.operand_type(symbol, form) for symbol in op.inputs]
    symbols = op.inputs
    if "c" in symbols:
        given.append(Reg("%cc"))
    if found.packed:
        values = _packed(k, op, form, given, kinds)
    else:
        arguments = [k.typed(operand, kind) for operand, kind in zip(given, kinds, strict=False)]
        values = outline.once(k, instruction, arguments, lambda values: meaning(k, op, form, values))
    destination = instruction.operands[0]
    places = [destination.first, destination.second] if isinstance(destination, Pair) else [destination]
    outputs = op.outputs
    if "c" in outputs:
        places = [places[0], Reg("%cc")]
    for place, symbol, value in zip(places, outputs, values, strict=False):
        if place is None:
            continue
        kind = isa.operand_type(symbol, form)
        bits = value if found.packed else k.untyped(value, kind)
        name = place.name
        # Narrow results in wider registers are extended as their type says.
        if kind.kind in "usb" and k.bits(name) > kind.bits:
            bits = k.e.resize(bits, k.bits(name), signed=kind.kind == "s")
        k.write(place, bits, guard)


def meaning(k, op: isa.Op, form: isa.Form, arguments: list[Value]) -> list[Value]:
    """A row's results for arguments of its types, with what modifiers add: .ftz, .sat and .relu."""
    e = k.e
    flush = "ftz" in form.mods
    if flush:
        arguments = [isa_llvm.flush(e, a) if a.type == "float" else a for a in arguments]
    if isinstance(op.llvm, str):
        plain = op.llvm[0] != "@"
        result = e.bin(op.llvm, *arguments) if plain else e.intrinsic(op.llvm[1:], *arguments)
    else:
        result = op.llvm(e, form, *arguments)
    values = list(result) if isinstance(result, tuple) else [result]
    if form.t.is_float and op.opcode != "cvt":
        if "sat" in form.mods:
            values[0] = isa_llvm.saturate(e, values[0])
        if "relu" in form.mods:
            values[0] = isa_llvm.relu(e, values[0])
    if flush and values[0].type == "float" and form.t.name == "f32":
        values[0] = isa_llvm.flush(e, values[0])
    return values


def _packed(k, op, form, given, kinds) -> list[Value]:
    """An operation on the two values packed in one register."""
    e, bits, parts = k.e, form.t.bits, []
    for shift in (0, bits):
        arguments = []
        for operand, symbol, kind in zip(given, op.inputs, kinds, strict=False):
            if symbol not in ("t", "s"):
                arguments.append(k.bits_value(operand, kind.bits))
                continue
            whole = k.bits_value(operand, 2 * bits)
            arguments.append(k.as_typed(e.resize(e.bin("lshr", whole, e.const(whole.type, shift)), bits), kind))
        parts.append([k.untyped(v, form.t) if v.type != "i1" else v for v in meaning(k, op, form, arguments)])
    low, high = parts
    if low[0].type == "i1":
        return [low[0], high[0]]
    low, high = (e.resize(part[0], 2 * bits) for part in parts)
    return [e.bin("or", low, e.bin("shl", high, e.const(high.type, bits)))]


def _rearranges(k, instruction: Instruction) -> bool:
    """Moves with vectors, and conversions and comparisons that fill two places; False for everything else."""
    e, operands = k.e, instruction.operands
    guard = k.guard(instruction.guard)
    if instruction.opcode == "mov" and isinstance(operands[0], Vec):
        bits = isa.TYPES[instruction.modifiers[-1]].bits if instruction.modifiers[-1] in isa.TYPES else 128
        whole, part = k.bits_value(operands[1], bits), bits // len(operands[0].items)
        for index, item in enumerate(operands[0].items):
            if item is not None:
                piece = e.bin("lshr", whole, e.const(whole.type, index * part))
                k.write(item, e.resize(piece, part), guard)
        return True
    if instruction.opcode == "mov" and instruction.modifiers == ("b128",):
        k.write(operands[0], k.bits_value(operands[1], 128), guard)
        return True
    if instruction.opcode == "cvt":
        return formats.convert_pair(k, instruction)
    return False

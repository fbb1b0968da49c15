"""Operands as the values that an instruction's meaning wants."""

from __future__ import annotations

import struct

from vgpu import isa
from vgpu.lower import formats, specials
from vgpu.lower import memory as lower_memory
from vgpu.lower.registers import Registers
from vgpu.ptx import Imm, Not, Reg, Special, Sym, Vec
from vgpu.runtime.emit import Value


class Operands(Registers):
    """The part of `lower.Lowering` that reads operands."""

    def bits_value(self, operand, bits: int) -> Value:
        """An operand as plain bits of a given width."""
        e = self.e
        if isinstance(operand, Reg):
            value = self.read(operand.name)
            if value.type == "i1" and bits != 1:
                return e.resize(value, bits)
            return e.resize(value, bits)
        if isinstance(operand, Not):
            return e.flip(self.read(operand.reg.name))
        if isinstance(operand, Imm):
            return e.const(f"i{bits}", _immediate(operand, bits))
        if isinstance(operand, Special):
            return e.resize(specials.special(self, operand.name), bits)
        if isinstance(operand, Sym):
            return e.resize(lower_memory.symbol(self, operand), bits)
        if isinstance(operand, Vec):
            return self.pack(operand, bits)
        raise self.unsupported(f"operand {operand}")

    def pack(self, operand: Vec, bits: int) -> Value:
        e, part = self.e, bits // len(operand.items)
        result = e.const(f"i{bits}", 0)
        for index, item in enumerate(operand.items):
            piece = e.resize(self.bits_value(item, part), bits)
            result = e.bin("or", result, e.bin("shl", piece, e.const(f"i{bits}", index * part)))
        return result

    def typed(self, operand, kind: isa.Type) -> Value:
        """An operand as a meaning wants it: iN, i1, float or double; f16 and bf16 widened to float."""
        return self.as_typed(self.bits_value(operand, kind.bits), kind)

    def as_typed(self, value: Value, kind: isa.Type) -> Value:
        if kind.kind == "f":
            return self.e.as_float(value)
        return formats.widen_half(self.e, value, kind.name) if kind.kind == "h" else value

    def untyped(self, value: Value, kind: isa.Type) -> Value:
        """A meaning's result as bits."""
        if kind.kind == "h":
            return formats.narrow_half(self.e, value, kind.name)
        return self.e.bits(value) if kind.kind == "f" else value


def _immediate(operand: Imm, bits: int) -> int:
    if operand.kind == "f64" and bits == 32:
        double = struct.unpack("<d", operand.value.to_bytes(8, "little"))[0]
        return struct.unpack("<I", struct.pack("<f", double))[0]
    return operand.value & ((1 << bits) - 1)

"""Operands as the values that an instruction's meaning wants."""

from __future__ import annotations

import struct
from abc import abstractmethod

from vgpu import isa
from vgpu.ir import Value
from vgpu.lower import formats, specials
from vgpu.lower import memory as lower_memory
from vgpu.lower.registers import Registers
from vgpu.ptx import Imm, Not, Operand, Reg, Special, Sym, Vec


class Operands(Registers):
    """The part of a lowering that reads operands."""

    @abstractmethod
    def local_base(self, name: str) -> Value | None:
        """Where in each thread's local memory a variable lies, where there are calls."""

    def bits_value(self, operand: Operand, bits: int) -> Value:
        """An operand as plain bits of a given width."""
        if isinstance(operand, Reg):
            return self.read(operand.name).to(f"i{bits}")
        if isinstance(operand, Not):
            return ~self.read(operand.reg.name)
        if isinstance(operand, Imm):
            return self.ir.number(f"i{bits}", _immediate(operand, bits))
        if isinstance(operand, Special):
            return specials.special(self, operand.name).to(f"i{bits}")
        if isinstance(operand, Sym):
            return lower_memory.symbol(self, operand).to(f"i{bits}")
        if isinstance(operand, Vec):
            return self.pack(operand, bits)
        raise self.unsupported(f"operand {operand}")

    def lanes_value(self, operand: Operand, bits: int) -> Value:
        """An operand as plain bits, one value for each lane."""
        return self.bits_value(operand, bits).splat()

    def pack(self, operand: Vec, bits: int) -> Value:
        part = bits // len(operand.items)
        result = self.ir.number(f"i{bits}", 0)
        for index, item in enumerate(operand.items):
            result = result | self.bits_value(item, part).to(f"i{bits}") << index * part
        return result

    def typed(self, operand: Operand, kind: isa.Type) -> Value:
        """An operand as a meaning wants it: iN, i1, float or double; f16 and bf16 widened to float."""
        return self.as_typed(self.bits_value(operand, kind.bits), kind)

    def as_typed(self, value: Value, kind: isa.Type) -> Value:
        if kind.kind == "f":
            return value.as_float()
        return formats.widen_half(value, kind.name) if kind.kind == "h" else value

    def untyped(self, value: Value, kind: isa.Type) -> Value:
        """A meaning's result as bits."""
        if kind.kind == "h":
            return formats.narrow_half(value, kind.name)
        return value.as_int() if kind.kind == "f" else value


def _immediate(operand: Imm, bits: int) -> int:
    if operand.kind == "f64" and bits == 32:
        double = struct.unpack("<d", operand.value.to_bytes(8, "little"))[0]
        return struct.unpack("<I", struct.pack("<f", double))[0]
    return operand.value & ((1 << bits) - 1)

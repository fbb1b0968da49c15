"""Conversions of pairs of values, in LLVM IR: two halves in one register, and floats of 8, 6 and 4 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu import isa
from vgpu.ir import Value
from vgpu.isa import in_llvm as isa_llvm
from vgpu.isa import small
from vgpu.isa.convert import convert
from vgpu.ptx import Instruction

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel


def convert_pair(kernel: Kernel, instruction: Instruction) -> bool:
    """A `cvt` that gives two values in one register; False for every other one."""
    words = instruction.modifiers
    found = small.conversion(words)
    if found is not None:
        (_narrow if found.narrows else _widen)(kernel, instruction, found)
        return True
    if len(instruction.operands) != 3:
        return False
    target = words[-2]
    if target not in ("f16x2", "bf16x2") or words[-1] != "f32" or not isa.converts(words[:-2]):
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    half = isa.TYPES[isa.PACKED[target]]
    form = isa.Form(half, isa.TYPES[words[-1]], words)
    high, low = (kernel.untyped(convert(form, kernel.typed(o, form.s)), half) for o in instruction.operands[1:])
    _write(kernel, instruction, join(low, high, 16))
    return True


def _write(kernel: Kernel, instruction: Instruction, value: Value) -> None:
    kernel.write(instruction.operands[0], value, kernel.guard(instruction.guard))


def join(low: Value, high: Value, bits: int) -> Value:
    """Two fields of `bits` in an i32."""
    return low.to("i32") | high.to("i32") << bits


def _narrow(kernel: Kernel, instruction: Instruction, found: small.Conversion) -> None:
    sources = instruction.operands[1:]
    if found.wide == "f32":
        high, low = (kernel.typed(operand, isa.TYPES["f32"]) for operand in sources)
    else:
        half, whole = isa.PACKED[found.wide], kernel.bits_value(sources[0], 32)
        low, high = (widen_half((whole >> s).to("i16"), half) for s in (0, 16))
    if found.relu:
        low, high = isa_llvm.relu(low), isa_llvm.relu(high)
    assert found.small is not None, "what narrows has a format to narrow to"
    low, high = (small.emit_encode(found.small, value) for value in (low, high))
    _write(kernel, instruction, join(low, high, found.small.field))


def _widen(kernel: Kernel, instruction: Instruction, found: small.Conversion) -> None:
    field = found.small.field if found.small else 8
    both = kernel.bits_value(instruction.operands[1], 2 * field).to("i32")
    codes = [both >> s & (1 << field) - 1 for s in (0, field)]
    if found.small is None:
        halves = [_power(code) for code in codes]
    else:
        decoded = [small.emit_decode(found.small, code) for code in codes]
        decoded = [isa_llvm.relu(value) for value in decoded] if found.relu else decoded
        halves = [v.is_nan().select(0x7FFF, kernel.untyped(v, isa.TYPES["f16"])) for v in decoded]
    low, high = halves
    _write(kernel, instruction, join(low, high, 16))


def _power(code: Value) -> Value:
    """2^(code - 127) as a bfloat16's bits: the code is its exponent, but for the lowest and the highest."""
    bits = code.eq(0).select(0x40, code << 7)
    return code.eq(255).select(0x7FFF, bits)


def widen_half(bits: Value, kind: str) -> Value:
    """i16 bits of an f16 or bf16 to float."""
    if kind == "f16":
        return bits.cast("bitcast", "half").cast("fpext", "float")
    return (bits.to("i32") << 16).as_float()


def narrow_half(value: Value, kind: str) -> Value:
    """float to the i16 bits of an f16 or bf16, rounded to nearest even."""
    if kind == "f16":
        return value.cast("fptrunc", "half").as_int()
    bits = value.as_int()
    odd = bits >> 16 & 1
    rounded = bits + 0x7FFF + odd
    short = (rounded >> 16).to("i16")
    return value.is_nan().select(0x7FFF, short)

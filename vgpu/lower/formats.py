"""Conversions of pairs of values, in LLVM IR: two halves in one register, and floats of 8, 6 and 4 bits."""

from __future__ import annotations

from vgpu import isa
from vgpu.isa import in_llvm as isa_llvm
from vgpu.isa import small
from vgpu.isa.convert import convert
from vgpu.ptx import Instruction
from vgpu.runtime.emit import Emitter, Value


def convert_pair(k, instruction: Instruction) -> bool:
    """A `cvt` that gives two values in one register; False for every other one."""
    words = instruction.modifiers
    found = small.conversion(words)
    if found is not None:
        (_narrow if found.narrows else _widen)(k, instruction, found)
        return True
    if len(instruction.operands) != 3:
        return False
    target = words[-2]
    if target not in ("f16x2", "bf16x2") or words[-1] != "f32" or not isa.converts(words[:-2]):
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    half = isa.TYPES[isa.PACKED[target]]
    form = isa.Form(half, isa.TYPES[words[-1]], words)
    high, low = (k.untyped(convert(k.e, form, k.typed(o, form.s)), half) for o in instruction.operands[1:])
    _write(k, instruction, join(k.e, low, high, 16))
    return True


def _write(k, instruction: Instruction, value: Value) -> None:
    k.write(instruction.operands[0], value, k.guard(instruction.guard))


def join(e, low: Value, high: Value, bits: int) -> Value:
    """Two fields of `bits` in an i32."""
    return e.bin("or", e.resize(low, 32), e.bin("shl", e.resize(high, 32), e.const("i32", bits)))


def _narrow(k, instruction: Instruction, found: small.Conversion) -> None:
    e, sources = k.e, instruction.operands[1:]
    if found.wide == "f32":
        high, low = (k.typed(operand, isa.TYPES["f32"]) for operand in sources)
    else:
        half, whole = isa.PACKED[found.wide], k.bits_value(sources[0], 32)
        low, high = (widen_half(e, e.resize(e.bin("lshr", whole, e.const("i32", s)), 16), half) for s in (0, 16))
    if found.relu:
        low, high = isa_llvm.relu(e, low), isa_llvm.relu(e, high)
    codes = (small.emit_encode(e, found.small, value) for value in (low, high))
    _write(k, instruction, join(e, *codes, found.small.field))


def _widen(k, instruction: Instruction, found: small.Conversion) -> None:
    e = k.e
    field = found.small.field if found.small else 8
    both = k.bits_value(instruction.operands[1], 2 * field)
    both, ones = e.resize(both, 32), e.const("i32", (1 << field) - 1)
    codes = [e.bin("and", e.bin("lshr", both, e.const("i32", s)), ones) for s in (0, field)]
    if found.small is None:
        halves = [_power(e, code) for code in codes]
    else:
        decoded = [small.emit_decode(e, found.small, code) for code in codes]
        decoded = [isa_llvm.relu(e, value) for value in decoded] if found.relu else decoded
        nan = e.const("i16", 0x7FFF)
        halves = [e.select(e.fcmp("uno", v, v), nan, k.untyped(v, isa.TYPES["f16"])) for v in decoded]
    _write(k, instruction, join(e, *halves, 16))


def _power(e, code: Value) -> Value:
    """2^(code - 127) as a bfloat16's bits: the code is its exponent, but for the lowest and the highest."""
    i32 = lambda value: e.const("i32", value)
    bits = e.select(e.icmp("eq", code, i32(0)), i32(0x40), e.bin("shl", code, i32(7)))
    return e.select(e.icmp("eq", code, i32(255)), i32(0x7FFF), bits)


def widen_half(e: Emitter, bits: Value, kind: str) -> Value:
    """i16 bits of an f16 or bf16 to float."""
    if kind == "f16":
        return e.cast("fpext", e.cast("bitcast", bits, "half"), "float")
    return e.as_float(e.bin("shl", e.resize(bits, 32), e.const("i32", 16)))


def narrow_half(e: Emitter, value: Value, kind: str) -> Value:
    """float to the i16 bits of an f16 or bf16, rounded to nearest even."""
    if kind == "f16":
        return e.bits(e.cast("fptrunc", value, "half"))
    bits = e.bits(value)
    odd = e.bin("and", e.bin("lshr", bits, e.const("i32", 16)), e.const("i32", 1))
    rounded = e.bin("add", e.bin("add", bits, e.const("i32", 0x7FFF)), odd)
    short = e.resize(e.bin("lshr", rounded, e.const("i32", 16)), 16)
    return e.select(e.fcmp("uno", value, value), e.const("i16", 0x7FFF), short)

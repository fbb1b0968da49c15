"""Conversions of two or four numbers at once, in LLVM IR: to and from halves in one register, and small floats."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from vgpu import isa
from vgpu.ir import Value
from vgpu.isa import in_llvm as isa_llvm
from vgpu.isa import small
from vgpu.isa.convert import convert
from vgpu.lower.basic_blocks import items_of
from vgpu.ptx import Instruction

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel


def convert_pair(kernel: Kernel, instruction: Instruction) -> bool:
    """A `cvt` that gives several values in one register; False for every other one."""
    words = instruction.modifiers
    found = small.conversion(words)
    if found is not None:
        (_widen if found.source in (*small.NARROW, "ue8m0") else _narrow)(kernel, instruction, found)
        return True
    if len(instruction.operands) != 3:
        return False
    target = words[-2]
    if target not in ("f16x2", "bf16x2") or words[-1] != "f32" or set(words[:-2]) - {"relu", "satfinite"} not in (
        {"rn"}, {"rz"},
    ):  # fmt: skip
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
    """To fields of one register, the first number in the highest."""
    sources = list(instruction.operands[1:])
    random: list[Value] | list[None] = [None] * found.count
    if found.rounding == "rs":
        random = small.random_fields(found, kernel.bits_value(sources.pop(), 32))
    if found.source == "f32":
        numbers = [kernel.typed(item, isa.TYPES["f32"]) for operand in sources for item in items_of(operand)]
    else:
        whole = kernel.bits_value(sources[0], 32)
        numbers = [widen_half((whole >> s).to("i16"), found.source) for s in (16, 0)]
    codes = []
    for number, some in zip(numbers, random, strict=True):
        if found.target == "ue8m0":
            code = small.emit_encode_power(number, found.rounding == "rp", found.finite)
        else:
            number = isa_llvm.relu(number) if found.relu else number
            code = small.emit_encode(small.SMALL[found.target], number, found.finite, some, found.random)
        codes.append(code)
    field = found.field(found.target)
    _write(kernel, instruction, reduce(lambda high, low: join(low, high, field), codes))


def _widen(kernel: Kernel, instruction: Instruction, found: small.Conversion) -> None:
    field = found.field(found.source)
    both = kernel.bits_value(instruction.operands[1], 2 * field).to("i32")
    halves = []
    for code in (both >> s & (1 << field) - 1 for s in (0, field)):
        power = found.source == "ue8m0"
        number = small.emit_decode_power(code) if power else small.emit_decode(small.SMALL[found.source], code)
        number = isa_llvm.relu(number) if found.relu else number
        halves.append(number.is_nan().select(0x7FFF, kernel.untyped(number, isa.TYPES[found.target])))
    low, high = halves
    _write(kernel, instruction, join(low, high, 16))


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

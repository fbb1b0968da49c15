"""Tensor maps that a kernel makes, in terms of other instructions: `tensormap.replace` and `tensormap.cp_fenceproxy`.

The fields of a map lie in memory as in the virtual GPU's own form (`context.TENSOR_MAP`), so that replacing one is a
store, and the copy to global memory is eight loads and stores of each lane. A map may begin as zeros.
Source: NVIDIA "PTX ISA", `tensormap.replace` (and its table of values) and `tensormap.cp_fenceproxy`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from vgpu.base.context import FILL_NAN, TENSOR_BYTES, TENSOR_MAP, TENSOR_MARK, TENSOR_TYPES
from vgpu.ptx import Function, Imm, Instruction, Module, Reg, Vec

Words = tuple[str, ...]

# Fields of one number each, and those of one for each dimension -> the name in `TENSOR_MAP` and the type.
_PLAIN = {"global_address": ("address", "b64"), "rank": ("rank", "b32")}
_EACH = {
    "box_dim": ("box", "b32"), "global_dim": ("sizes", "b32"), "global_stride": ("strides", "b64"),
    "element_stride": ("steps", "b32"),
}  # fmt: skip
# Fields with a table of values -> the name, and what the virtual GPU keeps for those values that it has.
_VALUES = {
    "elemtype": ("element", dict(enumerate((1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2)))),  # bytes of `ELEMENT_TYPES`
    "interleave_layout": ("", {0: 0}),
    "swizzle_mode": ("swizzle", {0: 0, 1: 32, 2: 64, 3: 128}),
    "fill_mode": ("mode", {0: 0, 1: FILL_NAN}),
}
ELEMENT_TYPES = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32", "f64", "bf16")
"""The types by the values of `.elemtype`."""
_SCOPES = ("cta", "cluster", "gpu", "sys")
_PIECE = 16  # bytes


def shape(words: Words) -> tuple[str, ...] | str:
    """The operands of a `tensormap` instruction, or what is wrong with it (see `shapes`)."""
    if words[:1] == ("cp_fenceproxy",):
        known = [("cp_fenceproxy", "global", "shared::cta", "tensormap::generic", "release", scope, "sync", "aligned")
                 for scope in _SCOPES]  # fmt: skip
        return ("m", "m", "i") if words in known else "is no copy of a tensor map that PTX has"
    field = words[2] if words[:2] == ("replace", "tile") and len(words) > 2 else ""
    _, kind = (_PLAIN | _EACH).get(field, ("", "b32"))
    forms = [(*space, "b1024", kind) for space in ((), ("global",), ("shared::cta",))]
    if field not in _PLAIN | _EACH | _VALUES or words[3:] not in forms:
        return "is no replacement in a tensor map that the virtual GPU has"
    value = "i" if field in _VALUES else f"s{kind[1:]}"
    return ("m", "i", value) if field in _EACH else ("m", value)


def wrong_number(instruction: Instruction) -> str | None:
    """What is wrong with the numbers among the operands, in words."""
    if instruction.modifiers[0] == "cp_fenceproxy":
        size = instruction.operands[2].value
        return None if size == TENSOR_BYTES else f"copies {size} bytes: a tensor map has {TENSOR_BYTES}"
    field, given = instruction.modifiers[2], instruction.operands
    if field in _EACH and not 0 <= given[1].value < (4 if field == "global_stride" else 5):
        return f"replaces .{field} of dimension {given[1].value}, which a tensor map doesn't have"
    if field in _VALUES and given[1].value not in (known := _VALUES[field][1]):
        return f"sets .{field} to {given[1].value}: the virtual GPU has {', '.join(map(str, known))}"
    return None


def written_out(module: Module) -> Module:
    """The module with other instructions in the place of these; they have been verified."""
    using = {name: _written(function) for name, function in module.functions.items() if _uses(function)}
    return replace(module, functions=module.functions | using) if using else module


def _uses(function: Function) -> bool:
    return any(isinstance(each, Instruction) and each.opcode == "tensormap" for each in function.body or ())


def _written(function: Function) -> Function:
    registers = function.registers | {"$rank": "b32", "$low": "b64", "$high": "b64"}
    body = [
        one
        for each in function.body or ()
        for one in (_instead(each) if isinstance(each, Instruction) and each.opcode == "tensormap" else (each,))
    ]
    return replace(function, registers=registers, body=tuple(body))


def _instead(old: Instruction) -> Iterator[Instruction]:
    def made(text: str, *operands: Any) -> Instruction:
        opcode, *words = text.split(".")
        return replace(old, opcode=opcode, modifiers=tuple(words), operands=operands)

    address, *rest = old.operands
    at = lambda where, offset: replace(where, offset=where.offset + offset)
    if old.modifiers[0] == "cp_fenceproxy":
        both = Vec((Reg("$low"), Reg("$high")))
        for offset in range(0, TENSOR_BYTES, _PIECE):
            yield made("ld.shared.v2.b64", both, at(rest[0], offset))
            yield made("st.global.v2.b64", at(address, offset), both)
        return
    field = old.modifiers[2]
    store = "st" if old.modifiers[3] == "b1024" else f"st.{old.modifiers[3]}"

    def put(name: str, kind: str, value: Any, index: int = 0) -> Instruction:
        return made(f"{store}.{kind}", at(address, TENSOR_MAP[name] + int(kind[1:]) // 8 * index), value)

    if field in _EACH:
        name, kind = _EACH[field]
        index = rest[0].value + (field == "global_stride")  # of the fastest dimension it isn't told
        if (name, index) != ("steps", 0):  # nor does a step along the fastest one count
            yield put(name, kind, rest[1], index)
    elif field == "rank":
        yield made("add.s32", Reg("$rank"), rest[0], Imm(1))
        yield put("rank", "b32", Reg("$rank"))
    elif field in _PLAIN:
        yield put("mark", "b64", Imm(TENSOR_MARK))
        yield put(*_PLAIN[field], rest[0])
    elif field != "interleave_layout":
        name = _VALUES[field][0]
        value = Imm(_VALUES[field][1][rest[0].value])
        number = TENSOR_TYPES.index(ELEMENT_TYPES[rest[0].value]) + 1 if field == "elemtype" else 0
        yield put(name, "b32", Imm(value.value | number << 8))
        if field == "elemtype":
            yield put("strides", "b64", value)

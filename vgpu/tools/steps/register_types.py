"""The types of a PTX function's registers: `.b32` declares 32 bits only; the instructions show the type."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from vgpu import isa
from vgpu.ptx import TYPE_BYTES, Function, Instruction, Pair, Reg, Vec

# Of several types the first wins: a float's sign is cleared by `and.b32`, a signed index is widened by `mul.wide.u32`.
_ORDER = ("f64", "f32", "bf16x2", "f16x2", "bf16", "f16", "s64", "s32", "s16", "s8")
# Instructions whose result has the type of their inputs.
_SAME = {"mov": (0, 1), "selp": (0, 1, 2), "shfl": (0, 1)}


def register_types(function: Function) -> dict[str, str]:
    """The type of every register: "pred", or a PTX type with its sign or float format where that is known."""
    parent = {name: name for name in function.registers}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = name = parent[parent[name]]
        return name

    seen: dict[str, set[str]] = {name: set() for name in parent}
    for statement in function.body or ():
        if not isinstance(statement, Instruction):
            continue
        for operand, kind in _typed(statement):
            if isinstance(operand, Reg):
                seen[operand.name].add(kind)
        same = _SAME.get(statement.opcode, ())
        names = [_register(statement.operands[at]) for at in same if at < len(statement.operands)]
        for a, b in pairwise(names):
            if a and b and function.registers[a] == function.registers[b]:
                parent[root(a)] = root(b)
    together: dict[str, set[str]] = {}
    for name, kinds in seen.items():
        together.setdefault(root(name), set()).update(kinds)
    return {name: _decided(declared, together[root(name)]) for name, declared in function.registers.items()}


def _register(operand: object) -> str | None:
    operand = operand.first if isinstance(operand, Pair) else operand
    return operand.name if isinstance(operand, Reg) else None


def _typed(instruction: Instruction) -> Iterator[tuple[object, str]]:
    """(operand, type) pairs of an instruction whose types say more than a width."""
    if instruction.opcode in ("ld", "ldu", "st", "atom", "red"):
        kind = instruction.modifiers[-1]
        for operand in instruction.operands:
            yield from ((item, kind) for item in (operand.items if isinstance(operand, Vec) else (operand,)))
        return
    if instruction.opcode == "mma":
        types = [word for word in instruction.modifiers if word in TYPE_BYTES]
        for operand, kind in zip(
            (instruction.operands[0], instruction.operands[3]), (types[0], types[-1]), strict=True
        ):
            yield from ((item, {"f16": "f16x2"}.get(kind, kind)) for item in getattr(operand, "items", ()))
        return
    found = isa.match(instruction.opcode, instruction.modifiers)
    if found is None:
        return
    # A second result (`p|q`) and the carry flag aren't separate operands.
    symbols = [found.op.outputs[0], *(symbol for symbol in found.op.inputs if symbol != "c")]
    words = [word for word in instruction.modifiers if word in isa.PACKED]
    for symbol, operand in zip(symbols, instruction.operands, strict=False):
        expected = isa.operand_type(symbol, found.form)
        yield operand, words[0] if found.packed and words and expected.kind == "h" else expected.name


def _decided(declared: str, seen: set[str]) -> str:
    if declared[0] not in "bu" or declared in isa.PACKED:
        return declared
    nbytes = TYPE_BYTES[declared]
    fitting = (kind for kind in _ORDER if kind in seen and TYPE_BYTES[kind] == nbytes)
    return next(fitting, f"u{8 * nbytes}" if declared[0] == "b" else declared)


def decoded(raw: np.ndarray, kind: str) -> list:
    """The bits of 32 lanes' registers as Python values: numbers, bools, or pairs (low, high) of packed halves."""
    if kind == "pred":
        return raw.astype(bool).tolist()
    if kind in isa.PACKED:
        low, high = ((raw >> np.uint32(shift)).astype(np.uint16) for shift in (0, 16))
        return list(zip(decoded(low, isa.PACKED[kind]), decoded(high, isa.PACKED[kind]), strict=True))
    if kind == "f16":
        return raw.view(np.float16).tolist()
    if kind == "bf16":
        return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32).tolist()
    view = {"f": "f", "s": "i"}.get(kind[0], "u")
    return raw.view(f"{view}{raw.dtype.itemsize}").tolist()

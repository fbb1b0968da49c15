"""Arithmetic of the reference interpreter: rows of the instruction table, applied to 32 lanes.

The table's functions take integers of the right sign, and 16-bit floats as float32. This module reads operands in those
types, flushes and saturates as the modifiers say, and writes the results.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from vgpu import isa
from vgpu.base.errors import Unsupported
from vgpu.isa import in_numpy as py
from vgpu.ptx import Instruction, Pair
from vgpu.reference.warp import Frame, Warp


@functools.cache
def match(opcode: str, modifiers: tuple[str, ...]) -> isa.Match | None:
    return isa.match(opcode, modifiers)


def compute(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """Execute one row of the instruction table."""
    found = match(instruction.opcode, instruction.modifiers)
    if found is None:
        raise Unsupported(f"The instruction {instruction} is not known to the virtual GPU.")
    op, form = found.op, found.form
    outputs = [name for name in op.outputs if name != "c"]
    first, *rest = instruction.operands
    targets = [first.first, first.second] if isinstance(first, Pair) else [first]
    values = [
        frame.carry if name == "c" else operand_value(warp, frame, operand, name, found)
        for name, operand in zip(op.inputs, [*rest, None], strict=False)
        if name == "c" or operand is not None
    ]
    results = evaluate(found, values)
    for name, target, value in zip(outputs, targets, results, strict=False):
        kind = _whole(form) if found.packed and name in "ts" else isa.operand_type(name, form)
        warp.write(frame, target, value, kind, mask)
    if "c" in op.outputs:
        frame.carry = np.where(mask, results[-1], frame.carry)


def operand_value(warp: Warp, frame: Frame, operand: object, name: str, found: isa.Match) -> np.ndarray:
    kind = isa.operand_type(name, found.form)
    packed = found.packed and name in "ts"
    return warp.read(frame, operand, _whole(found.form) if packed else kind)


def _whole(form: isa.Form) -> isa.Type:
    """The register that holds two values of the form's type."""
    return isa.TYPES[f"b{2 * form.t.bits}"]


def evaluate(found: isa.Match, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a row for raw inputs (16-bit floats as their bits), with flushing and saturation."""
    op, form = found.op, found.form
    if found.packed:
        single = isa.Match(op, form, False)
        half, whole = f"u{form.t.bits // 8}", f"u{form.t.bits // 4}"
        parts = []
        for index in (0, 1):
            given = [
                enter_half(v, half, index, isa.operand_type(n, form)) if v.dtype == whole else v
                for n, v in zip(op.inputs, values, strict=False)
            ]
            parts.append(np.ascontiguousarray(evaluate(single, given)[0]).view(half))
        return [np.ascontiguousarray(np.stack(parts, axis=1)).view(whole)[:, 0]]
    inputs = [enter_value(v, isa.operand_type(n, form), form) for n, v in zip(op.inputs, values, strict=False)]
    with np.errstate(all="ignore"):
        results = op.numpy(form, *inputs)
        results = list(results) if isinstance(results, tuple) else [results]
        return [
            leave_value(value, isa.operand_type(name, form), form, op)
            for name, value in zip(op.outputs, results, strict=False)
        ]


def enter_half(packed: np.ndarray, unsigned: str, index: int, kind: isa.Type) -> np.ndarray:
    """One of the two values in each word: raw bits for 16-bit floats, values of `kind` otherwise."""
    one = np.ascontiguousarray(packed).view(unsigned)[index::2].copy()
    return one if kind.kind == "h" else one.view(kind.dtype)


def flush(value: np.ndarray) -> np.ndarray:
    """Subnormal floats become zeros of the same sign."""
    return np.where(np.abs(value) < np.float32(2.0**-126), np.copysign(np.float32(0), value), value)


def enter_value(value: np.ndarray, kind: isa.Type, form: isa.Form) -> np.ndarray:
    """An operand as the table's functions take it."""
    if kind.kind == "h":
        return py.from_half(kind.name, value)
    return flush(value) if kind.name == "f32" and "ftz" in form.mods else value


def leave_value(value: np.ndarray, kind: isa.Type, form: isa.Form, op: isa.Op) -> np.ndarray:
    """A result as a register holds it."""
    if kind.is_float and "sat" in form.mods and op.opcode != "cvt":
        value = np.where(value > 0, np.minimum(value, 1), 0).astype(value.dtype)
    if kind.is_float and "relu" in form.mods and op.opcode != "cvt":
        value = py.relu(value)
    if kind.kind == "h":
        return py.to_half(kind.name, value)
    value = np.asarray(value)
    if kind.name == "f32" and "ftz" in form.mods:
        value = flush(value)
    return value.astype(kind.dtype, copy=False)


def _matched(opcode: str, modifiers: tuple[str, ...]) -> isa.Match:
    found = match(opcode, modifiers)
    if found is None:
        raise Unsupported(f"The instruction {'.'.join((opcode, *modifiers))} is not known to the virtual GPU.")
    return found


def pack_floats(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`cvt.rn.f16x2.f32 d, a, b`: two floats rounded to the two halves of d, the first one on top."""
    packed = next(word for word in instruction.modifiers if word in isa.PACKED)
    mods = tuple(isa.PACKED[packed] if word == packed else word for word in instruction.modifiers)
    found = _matched("cvt", mods)
    target, high, low = instruction.operands
    halves = [evaluate(found, [warp.read(frame, source, isa.TYPES["f32"])])[0] for source in (low, high)]
    joined = np.ascontiguousarray(np.stack(halves, axis=1)).view(np.uint32)[:, 0]
    warp.write(frame, target, joined, isa.TYPES["b32"], mask)


def compare_halves(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`setp.….f16x2 p|q, a, b` : p compares the low halves, q the high ones."""
    packed = next(word for word in instruction.modifiers if word in isa.PACKED)
    mods = tuple(isa.PACKED[packed] if word == packed else word for word in instruction.modifiers)
    found = _matched("setp", mods)
    first, a, b, *more = instruction.operands
    targets = [first.first, first.second] if isinstance(first, Pair) else [first]
    sources = [warp.read(frame, operand, isa.TYPES["b32"]).view(np.uint16) for operand in (a, b)]
    extra = [warp.read(frame, operand, isa.TYPES["pred"]) for operand in more]
    for half, target in enumerate(targets):
        result = evaluate(found, [*(s[half::2] for s in sources), *extra])[0]
        warp.write(frame, target, result, isa.TYPES["pred"], mask)

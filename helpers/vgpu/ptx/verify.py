"""Whether instructions have the operands that their opcodes need: what is past here may rely on it.

Compilers write nothing else, so this is for PTX by hand, and for text that is no PTX. What a row of the instruction
table takes follows from its signature; the other kinds have a row in `SHAPES`.
"""

from __future__ import annotations

from collections.abc import Mapping

from helpers.vgpu import isa
from helpers.vgpu.ptx import (
    TYPE_BYTES,
    Call,
    Function,
    Imm,
    Instruction,
    Label,
    Mem,
    Module,
    Not,
    Pair,
    PTXSyntaxError,
    Reg,
    Special,
    Sym,
    Vec,
)
from helpers.vgpu.ptx.verify_async import wrong_async

_SCALAR = (Reg, Imm, Special, Sym)
_PLACE = (Reg, type(None))
# Kind -> the classes of operands that must be there, in order; what follows them is the handler's business.
SHAPES: dict[str, tuple[tuple[type, ...], ...]] = {
    "load": ((Reg, Vec, type(None)), (Mem,)),
    "store": ((Mem,), (Reg, Imm, Vec, Special, Sym)),
    "address": (_PLACE, _SCALAR),
    "inspect": (_PLACE, _SCALAR),
    "branch": ((Sym,),),
    "call": ((Call,),),
    "shuffle": ((Reg, Pair, type(None)), _SCALAR, _SCALAR, _SCALAR),
    "match": ((Reg, Pair, type(None)), _SCALAR, _SCALAR),
    "redux": (_PLACE, _SCALAR, _SCALAR),
    "elect": ((Reg, Pair, type(None)), _SCALAR),
}
# Kind -> modifiers of which one must be there.
WORDS: dict[str, frozenset[str]] = {
    "shuffle": frozenset(("up", "down", "bfly", "idx")),
    "match": frozenset(("any", "all")),
    "redux": frozenset(("add", "min", "max", "and", "or", "xor")),
}
VOTES = {"all", "any", "uni", "ballot"}
_VALUE_TYPED = ("load", "store", "atomic")


def verify(module: Module, function: Function) -> None:
    """Raise `PTXSyntaxError`, naming the line of the PTX, for the first instruction that is not well formed."""
    labels = {s.name for s in function.body or () if isinstance(s, Label)}
    params = {v.name: v.nbytes for v in function.variables.values() if v.space == "param"}
    params |= {p.name: p.nbytes for p in (*function.parameters, *function.returns)}
    for statement in function.body or ():
        if isinstance(statement, Instruction):
            wrong = _wrong(statement, function.registers, labels)
            if wrong is None and statement.opcode == "call":
                wrong = _wrong_call(statement.operands[0], module, params)
            if wrong is None and isa.KINDS.get(statement.opcode) in ("load", "store"):
                wrong = _outside(statement, params)
            if wrong:
                raise PTXSyntaxError(f"line {statement.text} of the PTX: `{statement}` {wrong}")


def _wrong(instruction: Instruction, registers: dict[str, str], labels: set[str]) -> str | None:
    guard = instruction.guard
    if guard is not None:
        name = guard.reg.name if isinstance(guard, Not) else guard.name
        if registers[name] != "pred":
            return f"is guarded by {name}, which is no predicate"
    kind = isa.KINDS.get(instruction.opcode)
    if kind in WORDS and not WORDS[kind] & set(instruction.modifiers):
        return f"says none of {', '.join(sorted(WORDS[kind]))}"
    if instruction.opcode == "vote" and not (len(instruction.operands) > 1 and set(instruction.modifiers) & VOTES):
        return "is no vote that PTX has"
    if kind == "atomic":
        operands = instruction.operands if instruction.opcode == "red" else instruction.operands[1:]
        if not instruction.operands:
            return "has no operands"
        if instruction.opcode != "red" and not isinstance(instruction.operands[0], (Reg, Vec, type(None))):
            return "has no place for its result"
        if len(operands) < 2 or not isinstance(operands[0], Mem):
            return "needs an address and a value"
    if kind in ("copy", "mbarrier"):
        return wrong_async(instruction)
    if kind is None:
        return _wrong_row(instruction, registers)
    if kind in _VALUE_TYPED and not any(m in TYPE_BYTES for m in instruction.modifiers[-1:]):
        return "names no type"
    shape = SHAPES.get(kind, ())
    if len(instruction.operands) < len(shape):
        return f"has {len(instruction.operands)} operands, and needs {len(shape)}"
    for place, (operand, classes) in enumerate(zip(instruction.operands, shape, strict=False), 1):
        if not isinstance(operand, classes):
            return f"cannot have its operand {place} like this"
    if kind == "branch" and instruction.operands[0].name not in labels:
        return f"goes to {instruction.operands[0].name}, which is no label here"
    return None


def _wrong_row(instruction: Instruction, registers: dict[str, str]) -> str | None:
    found = isa.match(instruction.opcode, instruction.modifiers)
    if found is None:
        return None  # refused, by name, when the kernel is compiled
    if instruction.opcode in ("setp", "set") and not found.form.has_comparison:
        return "names no comparison"
    if not instruction.operands or isinstance(instruction.operands[0], (Imm, Mem, Special, Not, Sym, Call)):
        return "has no place for its result"
    wanted = [symbol for symbol in found.op.inputs if symbol != "c"]
    given = instruction.operands[1:]
    least = sum(not symbol.endswith("?") for symbol in wanted)
    if len(given) > len(wanted):
        return f"has {len(given)} operands besides its result, and takes {len(wanted)}"
    if len(given) < least and instruction.opcode != "cvt":
        return f"has {len(given)} operands besides its result, and needs {least}"
    for operand, symbol in zip(given, wanted, strict=False):
        if operand is None or isinstance(operand, (Mem, Pair, Call)):
            return "takes registers and numbers, not this"
        if isinstance(operand, Reg):
            predicate = isa.operand_type(symbol, found.form).kind == "p"
            if predicate != (registers[operand.name] == "pred"):
                return f"takes {'a predicate' if predicate else 'no predicate'} where {operand.name} stands"
    return None


def _outside(access: Instruction, params: Mapping[str, int]) -> str | None:
    """Where an access by the name of a parameter leaves it: parameters are read as they lie, without a check."""
    if "param" not in (word.split("::")[0] for word in access.modifiers):
        return None
    memory = next(operand for operand in access.operands if isinstance(operand, Mem))
    if not isinstance(memory.base, Sym) or memory.base.name not in params:
        return None
    lanes = next((int(m[1:]) for m in access.modifiers if m in ("v2", "v4", "v8")), 1)
    first, nbytes = memory.base.offset + memory.offset, params[memory.base.name]
    if first >= 0 and first + lanes * TYPE_BYTES[access.modifiers[-1]] <= nbytes:
        return None
    return f"leaves {memory.base.name}, which has {nbytes} bytes"


def _wrong_call(call: Call, module: Module, params: Mapping[str, int]) -> str | None:
    unknown = [name for name in (*call.returns, *call.arguments) if name not in params]
    if unknown:
        return f"passes {unknown[0]}, which is no .param variable here"
    callee = module.functions.get(call.target.name) if isinstance(call.target, Sym) else None
    if callee is None:
        return None
    for what, given, wanted in (
        ("arguments", call.arguments, callee.parameters),
        ("results", call.returns, callee.returns),
    ):
        if len(given) != len(wanted):
            return f"gives {callee.name} {len(given)} {what}; it has {len(wanted)}"
    return None

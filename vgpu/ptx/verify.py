"""Checks that instructions have the operands that their opcodes need: all later stages rely on it.

Compilers' output always passes; this is for handwritten PTX, and for text that is no PTX. What a row of the instruction
table takes follows from its signature; the other kinds have a row in `shapes.SHAPES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from vgpu import isa
from vgpu.isa import small
from vgpu.ptx import (
    TYPE_BYTES,
    Call,
    Function,
    Instruction,
    Label,
    Mem,
    Module,
    Not,
    Parameter,
    PTXSyntaxError,
    Sym,
    Vec,
)
from vgpu.ptx.operand_shapes import width, wrong_operand, wrong_operands
from vgpu.ptx.shapes import SHAPES, wrong_shape
from vgpu.ptx.targets import too_new
from vgpu.ptx.verify_async import wrong_async
from vgpu.ptx.words import FORMED, wrong_words


def verify(module: Module, function: Function) -> None:
    """Raise `PTXSyntaxError`, naming the line of the PTX, for the first instruction that is not well formed."""
    labels = Counter(s.name for s in function.body or () if isinstance(s, Label))
    params = {v.name: v for v in function.variables.values() if v.space == "param"}
    own = [p.name for p in (*function.parameters, *function.returns)]
    twice = [name for name, times in (Counter((*own, *params)) + labels).items() if times > 1]
    if twice:
        raise PTXSyntaxError(f"{function.name} declares {twice[0]} more than once")
    groups = {
        word for s in function.body or () if isinstance(s, Instruction) and s.opcode == "tcgen05"
        for word in s.modifiers if word.startswith("cta_group")
    }  # fmt: skip
    if len(groups) > 1:
        raise PTXSyntaxError(f"{function.name} has tcgen05 instructions with both .cta_group::1 and .cta_group::2")
    sizes = {name: v.nbytes for name, v in params.items()}
    sizes |= {p.name: p.nbytes for p in (*function.parameters, *function.returns)}
    for statement in function.body or ():
        if isinstance(statement, Instruction):
            wrong = _wrong(statement, function.registers, labels) or too_new(statement, module.target)
            if wrong is None and statement.opcode == "call":
                wrong = _wrong_call(statement.operands[0], module, sizes)
            if wrong is None and isa.KINDS.get(statement.opcode) in ("load", "store"):
                wrong = _outside(statement, sizes)
            if wrong:
                raise PTXSyntaxError(f"line {statement.text} of the PTX: `{statement}` {wrong}")


def _wrong(instruction: Instruction, registers: dict[str, str], labels: Mapping[str, int]) -> str | None:
    guard = instruction.guard
    if guard is not None:
        name = guard.reg.name if isinstance(guard, Not) else guard.name
        if registers[name] != "pred":
            return f"is guarded by {name}, which is no predicate"
    if instruction.opcode in isa.MADE or "piece" in instruction.modifiers:
        return "is no instruction of PTX"
    if instruction.opcode in FORMED:
        wrong = wrong_words(instruction.opcode, instruction.modifiers)
        if wrong:
            return wrong
    kind = isa.KINDS.get(instruction.opcode)
    if kind in ("copy", "mbarrier"):
        return wrong_async(instruction, registers)
    if kind is None:
        return _wrong_row(instruction, registers)
    if kind in SHAPES:
        wrong = wrong_shape(kind, instruction, registers)
        if wrong:
            return wrong
    if kind in ("branch", "indexed_branch"):
        last = instruction.operands[-1]
        lost = [one.name for one in (last.items if kind == "indexed_branch" else (last,)) if one.name not in labels]
        return f"goes to {lost[0]}, which is no label here" if lost else None
    return None


# ---------------------------------------------------------------- rows of the instruction table


def _wrong_row(instruction: Instruction, registers: dict[str, str]) -> str | None:
    words, operands = instruction.modifiers, instruction.operands
    if instruction.opcode == "cvt":
        return _wrong_conversion(instruction, registers)
    if instruction.opcode == "mov" and any(isinstance(operand, Vec) for operand in operands):
        return _wrong_parts(instruction, registers)
    if instruction.opcode == "mov" and words == ("b128",):
        return wrong_operands(operands, ("d128", "s128"), registers)
    if instruction.opcode == "mov" and len(operands) != 2:
        return f"has {len(operands)} operands, and takes 2"
    found = isa.match(instruction.opcode, words)
    if found is None:  # refused, by name, when the kernel is compiled
        return None if words else "names no type"
    shape = _shape_of_row(found, instruction.opcode, words)
    return shape if isinstance(shape, str) else wrong_operands(operands, shape, registers)


@lru_cache(maxsize=4096)
def _shape_of_row(found: isa.Match, opcode: str, words: tuple[str, ...]) -> tuple[str, ...] | str:
    """The shapes of a row's operands, or what is wrong with the instruction."""
    inputs: Sequence[str] = found.op.inputs
    if opcode in ("setp", "set"):
        if not found.form.has_comparison:
            return "names no comparison"
        joined = bool({"and", "or", "xor"} & set(words))
        inputs = [symbol.rstrip("?") for symbol in inputs if joined or symbol != "p?"]
    shape = [_operand(symbol, found, "d") for symbol in found.op.outputs if symbol != "c"]
    given = [_operand(symbol, found, "s") + "?" * symbol.endswith("?") for symbol in inputs if symbol != "c"]
    return ("|".join(shape), *given)


def _operand(symbol: str, found: isa.Match, letter: str) -> str:
    """The shape of an operand of a row."""
    if symbol == "imm":
        return "i"
    kind = isa.operand_type(symbol, found.form)
    if kind.kind == "p":
        return {"d": "q", "s": "p"}[letter]
    bits = kind.bits * (2 if found.packed and symbol in ("t", "s") else 1)
    # There are no registers of 8 bits: such values stand in wider ones.
    return f"{ {'d': 'w', 's': 'r'}[letter] if bits == 8 else letter }{bits}"


def _wrong_conversion(instruction: Instruction, registers: dict[str, str]) -> str | None:
    """`cvt` may have wider registers than its types, and may pack two numbers into one register."""
    words, operands = instruction.modifiers, instruction.operands
    found = small.conversion(words)
    if found is not None:
        return wrong_operands(operands, found.operands, registers)
    named = [word for word in words if word in TYPE_BYTES]
    if len(named) != 2 or any(word.removesuffix("x2") in small.NARROW for word in named):
        return "names no two types, or types that it does not convert"
    joins = named[1] == "f32" and named[0].endswith("x2")
    target, sources = f"w{width(named[0])}", (f"r{width(named[1])}",) * (1 + joins)
    return wrong_operands(operands, (target, *sources), registers)


def _wrong_parts(instruction: Instruction, registers: dict[str, str]) -> str | None:
    """`mov` between a register and its 2 or 4 parts."""
    words, operands = instruction.modifiers, instruction.operands
    if len(words) != 1 or words[0] not in ("b16", "b32", "b64", "b128"):
        return "moves parts of no type that PTX has"
    bits = width(words[0])
    if len(operands) != 2:
        return f"has {len(operands)} operands, and takes 2"
    unpacks = isinstance(operands[0], Vec)
    vector, whole = operands if unpacks else operands[::-1]
    count = len(vector.items)
    if count not in (2, 4):
        return f"moves {count} parts"
    parts = f"{'d' if unpacks else 's'}{bits // count}*{count}"
    wrong = wrong_operand(vector, parts, registers) or wrong_operand(
        whole, f"{'s' if unpacks else 'd'}{bits}", registers
    )
    return f"has an operand that has to be {wrong}" if wrong else None


# ---------------------------------------------------------------- parameters


def _outside(access: Instruction, params: Mapping[str, int]) -> str | None:
    """An access by a parameter's name that exceeds it: such accesses aren't checked at run time."""
    if "param" not in (word.split("::")[0] for word in access.modifiers):
        return None
    memory = next(operand for operand in access.operands if isinstance(operand, Mem))
    if not isinstance(memory.base, Sym) or memory.base.name not in params:
        return None
    lanes = next((int(m[1:]) for m in access.modifiers if m in ("v2", "v4", "v8")), 1)
    first, nbytes = memory.base.offset + memory.offset, params[memory.base.name]
    if first >= 0 and first + lanes * TYPE_BYTES[access.modifiers[-1]] <= nbytes:
        each = TYPE_BYTES[access.modifiers[-1]]
        return f"reads or writes {each} bytes at byte {first} of {memory.base.name}" if first % each else None
    return f"leaves {memory.base.name}, which has {nbytes} bytes"


def _wrong_call(call: Call, module: Module, sizes: Mapping[str, int]) -> str | None:
    passed = (*call.returns, *call.arguments)
    unknown = [name for name in passed if name not in sizes]
    if unknown:
        return f"passes {unknown[0]}, which is no .param variable here"
    if not isinstance(call.target, Sym):
        return None  # only functions with parameters of these sizes are called through a pointer
    callee = module.functions.get(call.target.name)
    if callee is None:
        return None  # refused, by name, when the kernel is compiled
    if callee.entry:
        return f"calls {callee.name}, which is a kernel"
    return _wrong_passing(callee.name, "arguments", call.arguments, callee.parameters, sizes) or _wrong_passing(
        callee.name, "results", call.returns, callee.returns, sizes
    )


def _wrong_passing(
    name: str, what: str, given: tuple[str, ...], wanted: tuple[Parameter, ...], sizes: Mapping[str, int]
) -> str | None:
    """Arguments are copied to the function's parameters, so they must have the same sizes."""
    if len(given) != len(wanted):
        return f"gives {name} {len(given)} {what}; it has {len(wanted)}"
    for one, parameter in zip(given, wanted, strict=True):
        if sizes[one] != parameter.nbytes:
            return f"passes {one} of {sizes[one]} bytes for {parameter.name} of {name}, which has {parameter.nbytes}"
    return None

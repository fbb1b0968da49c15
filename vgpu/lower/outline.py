"""Arithmetic that takes many instructions and comes again and again: written once, as a function that is called.

A kernel with ten exponentials has ten of the same multiplications with directed rounding; machine code for each of
them would take longer than all the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from vgpu.ptx import Instruction
from vgpu.runtime.emit import Emitter, Value

Meaning = Callable[[list[Value]], list[Value]]  # arguments to results, in LLVM IR
LONG = 24  # lines of LLVM IR from which a call is worth it
OFTEN = 3  # times that the instruction stands in the kernel


def repeated(body) -> set[tuple]:
    """The opcodes with modifiers that stand in a flat body often enough."""
    found = Counter((i.opcode, i.modifiers) for i in body if isinstance(i, Instruction))
    return {name for name, times in found.items() if times >= OFTEN}


def once(k, instruction: Instruction, arguments: list[Value], meaning: Meaning) -> list[Value]:
    """What `meaning` gives for these arguments, from a function of its own where that is shorter."""
    if (instruction.opcode, instruction.modifiers) not in k.repeated:
        return meaning(arguments)
    # Constants stay what they are: some choose the instructions, as the table of `lop3` does.
    shapes = tuple(a.full if _varies(a) else (a.full, a.text) for a in arguments)
    key = (instruction.opcode, instruction.modifiers, shapes)
    if key not in k.outlined:
        k.outlined[key] = _function(k, f"{k.name}_part{len(k.outlined)}", arguments, meaning)
    made = k.outlined[key]
    if made is None:
        return meaning(arguments)
    name, result, _ = made
    given = ", ".join(f"{a.full} {a.text}" for a in arguments if _varies(a))
    return [k.e.assign(f"call {result.full} @{name}({given})", result.type, True)]


def _varies(argument: Value) -> bool:
    return argument.text.startswith("%")


def _function(k, name: str, arguments: list[Value], meaning: Meaning) -> tuple[str, Value, str] | None:
    """The function's name, its result and text; None where the arithmetic is short."""
    outside, k.e = k.e, Emitter()  # `meaning` writes to it
    try:
        parameters = [Value(f"%a{i}", a.type, a.vector) if _varies(a) else a for i, a in enumerate(arguments)]
        results, inside = meaning(parameters), k.e
    finally:
        k.e = outside
    if len(results) != 1 or not results[0].vector or len(inside.lines) < LONG:
        return None
    outside.declarations |= inside.declarations
    result, given = results[0], ", ".join(f"{p.full} {p.text}" for p in parameters if _varies(p))
    lines = [*inside.lines, f"  ret {result.full} {result.text}"]
    body = "\n".join(lines)
    return name, result, f"define internal {result.full} @{name}({given}) noinline nounwind {{\n{body}\n}}\n"

"""Arithmetic that takes many instructions and comes again and again: written once, as a function that is called.

A kernel with ten exponentials has ten of the same multiplications with directed rounding; machine code for each of
them would take longer than all the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vgpu.ir import Builder, Value
from vgpu.ptx import Instruction

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel

Meaning = Callable[[list[Value]], list[Value]]  # arguments to results, in LLVM IR
LONG = 24  # lines of LLVM IR from which a call is worth it
OFTEN = 3  # times that the instruction stands in the kernel


@dataclass(frozen=True)
class Outlined:
    """A function for some arithmetic: its name, the type of its result, and its definition."""

    name: str
    result: str
    text: str


def repeated(body: Iterable[object]) -> set[tuple]:
    """The opcodes with modifiers that stand in a flat body often enough."""
    found = Counter((i.opcode, i.modifiers) for i in body if isinstance(i, Instruction))
    return {name for name, times in found.items() if times >= OFTEN}


def once(kernel: Kernel, instruction: Instruction, arguments: list[Value], meaning: Meaning) -> list[Value]:
    """What `meaning` gives for these arguments, from a function of its own where that is shorter."""
    if (instruction.opcode, instruction.modifiers) not in kernel.repeated:
        return meaning(arguments)
    # Constants stay what they are: some choose the instructions, as the table of `lop3` does.
    shapes = tuple((a.kind, a.text) if a.is_constant else a.kind for a in arguments)
    key = (instruction.opcode, instruction.modifiers, shapes)
    if key not in kernel.outlined:
        kernel.outlined[key] = _outline(
            f"{kernel.name}_part{len(kernel.outlined)}", arguments, meaning, kernel.ir.declarations
        )
    made = kernel.outlined[key]
    if made is None:
        return meaning(arguments)
    function = Value(kernel.ir, "ptr", f"@{made.name}")
    return [kernel.ir.call(made.result, function, *(a for a in arguments if not a.is_constant))]


def _outline(name: str, arguments: list[Value], meaning: Meaning, declarations: set[str]) -> Outlined | None:
    """The function, whose calls are declared in `declarations`; None where the arithmetic is short."""
    inside = Builder()
    given = [Value(inside, a.kind, a.text if a.is_constant else f"%a{i}") for i, a in enumerate(arguments)]
    results = meaning(given)
    if len(results) != 1 or not results[0].vector or len(inside.lines) < LONG:
        return None
    declarations |= inside.declarations
    inside.give(results[0])
    kind, parameters = results[0].kind, ", ".join(str(p) for p in given if not p.is_constant)
    text = f"define internal {kind} @{name}({parameters}) noinline nounwind {{\n{inside.body()}\n}}\n"
    return Outlined(name, kind, text)

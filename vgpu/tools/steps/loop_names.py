"""LoopVariable variables and counters by name: registers that are incremented as the source increments a variable.

A compiler leaves little of `int count = 0` or of a `for`: a constant moved somewhere before, an addition on the line of
the increment, copies between. So a register counts as the variable when that line adds to it and every value written to
it is the variable's first value, the next one by the source, or a copy of the present one. After any other value the
register isn't the variable; if it had the name before, as in a loop that turns out to be unrolled, the name is removed
from the whole recording.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vgpu.ptx import Imm, Instruction, Reg
from vgpu.tools.steps.naming import Assignment, assignment, changed

if TYPE_CHECKING:
    from vgpu.reference.warp import Code

_C_FOR = re.compile(r"\bfor\s*\(([^;]*);[^;]*;([^;{}]*?)\)\s*(?:\{|[^){};]*;|$)")
_C_STEP = re.compile(r"^\s*(?:(?P<before>\+\+|--)\s*(?P<a>\w+)|(?P<b>\w+)\s*(?P<after>\+\+|--))\s*;?\s*$")


@dataclass(frozen=True)
class LoopVariable:
    """A variable that one line increments: its first and its next value as expressions, and that line."""

    name: str
    first: ast.expr
    next: ast.expr
    line: int


def steps(text: str, language: str) -> Assignment | None:
    """The assignment `name = next` of a line that increments a variable: `k++`, `k += 2`, `k = k + n`; else None."""
    found = _C_STEP.match(re.sub(r"//.*", "", text)) if language == "cuda" else None
    if found:
        name = found["a"] or found["b"]
        sign = "+" if "++" in (found["before"], found["after"]) else "-"
        return assignment(f"{name} {sign}= 1;", language)
    made = assignment(text, language)
    reads = {node.id for node in ast.walk(made.expression) if isinstance(node, ast.Name)} if made else set()
    return made if made and made.name in reads and isinstance(made.expression, ast.BinOp) else None


def header(text: str, language: str) -> tuple[str, ast.expr, ast.expr] | None:
    """(name, first value, next value) of a loop whose header is on this line; else None."""
    if language == "cuda":
        found = _C_FOR.search(re.sub(r"//.*", "", text))
        start = assignment(f"{found[1].strip()};", language) if found else None
        onwards = steps(f"{found[2].strip()};", language) if found else None
        if start and onwards and start.name == onwards.name:
            return start.name, start.expression, onwards.expression
        return None
    try:
        (statement,) = ast.parse(f"{text.strip()} pass" if text.rstrip().endswith(":") else text.strip()).body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(statement, ast.For) or not isinstance(statement.target, ast.Name):
        return None
    loop = statement.iter
    if not isinstance(loop, ast.Call) or ast.unparse(loop.func) not in ("range", "tl.range", "prange"):
        return None
    given = [ast.Constant(0), *loop.args] if len(loop.args) == 1 else loop.args
    step = given[2] if len(given) > 2 else ast.Constant(1)
    name = statement.target.id
    return name, given[0], ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), step)


def loops(listing: Mapping[int, str], language: str) -> list[LoopVariable]:
    """The variables that only loops change: by the headers of `for`, or set on one line and incremented on another."""
    headers = {line: made for line, text in listing.items() if (made := header(text, language))}
    found = [LoopVariable(name, first, onwards, line) for line, (name, first, onwards) in headers.items()]
    lines: dict[str, list[int]] = {}
    for line, text in listing.items():
        for name in changed(text):
            lines.setdefault(name, []).append(line)
    # A variable that anything but its headers changes may have any value.
    alone = {name for name, where in lines.items() if all(headers.get(line, ("",))[0] == name for line in where)}
    found = [loop for loop in found if loop.name in alone]
    for name, where in lines.items():
        if len(where) == 2:
            start, step = assignment(listing[where[0]], language), steps(listing[where[1]], language)
            if start and step and start.name == step.name == name and not _reads(start.expression, name):
                found.append(LoopVariable(name, start.expression, step.expression, where[1]))
    return found


def _reads(expression: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(expression))


def registers(found: list[LoopVariable], code: Code) -> dict[str, list[LoopVariable]]:
    """By register, the loops whose variable it may hold: it is added to on the line of the increment, or a copy."""
    copies: dict[str, set[str]] = {}
    for statement in code.body:
        if isinstance(statement, Instruction) and statement.opcode == "mov":
            names = [operand.name for operand in statement.operands[:2] if isinstance(operand, Reg)]
            if len(names) == 2:
                copies.setdefault(names[1], set()).add(names[0])
    webs: dict[str, list[LoopVariable]] = {}
    for loop in found:
        for result, sources in _added(code, loop):
            for source in sources:
                if source == result or source in copies.get(result, ()):
                    for register in {result, source}:
                        webs.setdefault(register, []).append(loop)
    return webs


def _added(code: Code, loop: LoopVariable) -> Iterator[tuple[str, list[str]]]:
    """The result and the register operands of each addition on a loop's line that may be its increment."""
    step = getattr(getattr(loop.next, "right", None), "value", None)
    for where, statement in zip(code.lines, code.body, strict=True):
        if where == loop.line and isinstance(statement, Instruction) and statement.opcode in ("add", "sub"):
            result, *operands = statement.operands
            numbers = [abs(operand.value) for operand in operands if isinstance(operand, Imm)]
            # Another increment, as in an unrolled loop, isn't the source's.
            if isinstance(result, Reg) and (step is None or not numbers or numbers == [step]):
                yield result.name, [operand.name for operand in operands if isinstance(operand, Reg)]

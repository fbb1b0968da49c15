"""Loop variables and counters by name: registers that a program steps on as its source steps a variable.

A compiler leaves little of `int count = 0` or of a `for`: a constant moved somewhere before, an addition on the line of
the step, copies between. So a register is taken for the variable when it is added to on that line, and every value
written to it is the variable's first one, the next one by the step in the source, or a copy of the present one. A
single other value, and the register is not the variable's; where it had its name before, as in a loop that turns out to
be unrolled, the name is taken back from the whole recording.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vgpu.ptx import Imm, Reg
from vgpu.tools.steps.naming import assignment, changed

_C_FOR = re.compile(r"\bfor\s*\(([^;]*);[^;]*;([^;{}]*?)\)\s*(?:\{|[^){};]*;|$)")
_C_STEP = re.compile(r"^\s*(?:(?P<before>\+\+|--)\s*(?P<a>\w+)|(?P<b>\w+)\s*(?P<after>\+\+|--))\s*;?\s*$")


@dataclass(frozen=True)
class Loop:
    """A variable that one line steps on: its first value and its next, as expressions, and the line of the step."""

    name: str
    first: ast.expr
    next: ast.expr
    line: int


def steps(text: str, language: str):
    """The assignment `name = next` of a line that steps a variable on: `k++`, `k += 2`, `k = k + n`; else None."""
    found = _C_STEP.match(re.sub(r"//.*", "", text)) if language == "cuda" else None
    if found:
        name = found["a"] or found["b"]
        sign = "+" if "++" in (found["before"], found["after"]) else "-"
        return assignment(f"{name} {sign}= 1;", language)
    made = assignment(text, language)
    reads = {node.id for node in ast.walk(made.expression) if isinstance(node, ast.Name)} if made else set()
    return made if made and made.name in reads and isinstance(made.expression, ast.BinOp) else None


def header(text: str, language: str):
    """(name, first, next) of a loop that a line begins, as its source says them; else None."""
    if language == "cuda":
        found = _C_FOR.search(re.sub(r"//.*", "", text))
        made = found and (assignment(f"{found[1].strip()};", language), steps(f"{found[2].strip()};", language))
        if made and all(made) and made[0].name == made[1].name:
            return made[0].name, made[0].expression, made[1].expression
        return None
    try:
        (statement,) = ast.parse(f"{text.strip()} pass" if text.rstrip().endswith(":") else text.strip()).body
    except (SyntaxError, ValueError):
        return None
    loop = isinstance(statement, ast.For) and isinstance(statement.target, ast.Name) and statement.iter
    if not isinstance(loop, ast.Call) or ast.unparse(loop.func) not in ("range", "tl.range", "prange"):
        return None
    given = [ast.Constant(0), *loop.args] if len(loop.args) == 1 else loop.args
    step = given[2] if len(given) > 2 else ast.Constant(1)
    name = statement.target.id
    return name, given[0], ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), step)


def loops(listing: Mapping[int, str], language: str) -> list[Loop]:
    """The variables of a kernel that only loops step on: by the headers of `for`, or set on one line, stepped on
    another."""
    headers = {line: made for line, text in listing.items() if (made := header(text, language))}
    found = [Loop(name, first, onwards, line) for line, (name, first, onwards) in headers.items()]
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
                found.append(Loop(name, start.expression, step.expression, where[1]))
    return found


def _reads(expression: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(expression))


def registers(found: list[Loop], code) -> dict[str, list[Loop]]:
    """For each register that may be one of these variables the loops that step it: those that are added to on the
    line of the step, and their copies."""
    copies: dict[str, set[str]] = {}
    for statement in code.body:
        if getattr(statement, "opcode", "") == "mov":
            names = [operand.name for operand in statement.operands[:2] if isinstance(operand, Reg)]
            if len(names) == 2:
                copies.setdefault(names[1], set()).add(names[0])
    webs: dict[str, list[Loop]] = {}
    for loop in found:
        for result, sources in _added(code, loop):
            for source in sources:
                if source == result or source in copies.get(result, ()):
                    for register in {result, source}:
                        webs.setdefault(register, []).append(loop)
    return webs


def _added(code, loop: Loop) -> Iterator[tuple[str, list[str]]]:
    """The result and the register operands of each addition on the line of a step that may be the step."""
    step = getattr(loop.next.right, "value", None)
    for where, statement in zip(code.lines, code.body, strict=True):
        if where == loop.line and getattr(statement, "opcode", "") in ("add", "sub"):
            result, *operands = statement.operands
            numbers = [abs(operand.value) for operand in operands if isinstance(operand, Imm)]
            # Another step, as in an unrolled loop, is not the source's.
            if isinstance(result, Reg) and (step is None or not numbers or numbers == [step]):
                yield result.name, [operand.name for operand in operands if isinstance(operand, Reg)]

"""The names of a warp's values while it goes from line to line, where they are certain.

`naming` says what an assignment's value must be, `loop_names` which registers a loop increments. This module combines
them with the order in which lanes go through lines, selections and loops.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

import numpy as np

from vgpu.ptx import Instruction, Reg, Special, Vec
from vgpu.tools.steps.loop_names import LoopVariable, loops, registers
from vgpu.tools.steps.naming import KnownValues, assignment, changed, special_name
from vgpu.tools.steps.recording import LANES

if TYPE_CHECKING:
    from vgpu import reference
    from vgpu.launch.launch import Kernel
    from vgpu.reference.warp import Code


class LineNames:
    """The names of one warp while it goes from line to line."""

    def __init__(self, kernel: Kernel, names: KnownValues, code: Code):
        self.kernel, self.names = kernel, names
        lines = {line for line in code.lines if line is not None}
        span = range(min(lines, default=0), max(lines, default=-1) + 1)
        changes = [(line, name) for line in span for name in changed(kernel.line_text(line))]
        # Names changed on lines for which the compiler has left no instruction: when they change isn't visible.
        self.unseen = {name for line, name in changes if line not in lines}
        # A name that one line changes, outside of loops, keeps its value. All others may change again.
        several = {name for _, name in changes if sum(other == name for _, other in changes) > 1}
        looped = _looped(code)
        self.passing = several | {name for line, name in changes if line in looped}
        # All lanes may compute both branches of an `if`; then a selection on the line of the `if` chooses one per lane.
        self.choices = _choices(code)
        listing = {line: kernel.line_text(line) for line in span}
        self.stepped: dict[str, list[LoopVariable]] = registers(loops(listing, kernel.language), code)
        self.matched: set[str] = set()  # registers that have held a loop variable's value
        self.refuted: set[str] = set()  # names of registers that later held another value
        self.offered: dict[str, str] = {}  # by register: its name in the lanes where a selection chooses it
        self.dropped: set[str] = set()
        self.line: int | None = None
        self.lanes = np.zeros(LANES, bool)
        self.learned: set[str] = set()

    @property
    def by_steps(self) -> set[str]:
        """The variables that only loops change; all their writes are visible."""
        return {loop.name for found in self.stepped.values() for loop in found}

    def name(
        self, step: reference.Executed, active: np.ndarray, kind: str, register: str, raw: np.ndarray
    ) -> str | None:
        """The name of a value that a step has written, where it is certain."""
        if register in self.stepped:
            return self._stepped(register, kind, raw, active)
        if step.instruction.opcode == "selp" and kind[0] in "usf" and (name := self._selected(step, kind, raw, active)):
            return name
        found = assignment(self.kernel.line_text(step.line), self.kernel.language)
        line = step.line or 0
        source = step.instruction.operands[1] if len(step.instruction.operands) > 1 else None
        if step.instruction.opcode == "mov" and isinstance(source, Special):
            special = special_name(source.name, self.kernel.language)
            if found is None or ast.unparse(found.expression) != special:
                return special
        if step.instruction.opcode == "ld" and "param" in step.instruction.modifiers:
            return next((a.name for a in self.names.arrays if raw.itemsize == 8 and (raw == a.address).all()), None)
        if found is None or found.name in self.unseen | self.by_steps or kind[0] not in "usf" or "x2" in kind:
            return None
        values = raw.view(f"{'i' if kind[0] == 's' else kind[0]}{raw.itemsize}")
        if not (self.names.agrees(found.expression, values, active) or self._only_load(step, found.expression)):
            return None
        self.learned.add(found.name)
        if self.choices.get(register, line) < line:
            self.offered[register] = found.name
            return None
        self.names.learn(found.name, values, active)
        return found.name

    def _stepped(self, register: str, kind: str, raw: np.ndarray, active: np.ndarray) -> str | None:
        """The name of a register that a loop increments, while its values are the variable's."""
        if kind[0] in "usf" and "x2" not in kind:
            values = raw.view(f"{'i' if kind[0] == 's' else kind[0]}{raw.itemsize}")
            for loop in self.stepped[register]:
                same = ast.Name(loop.name, ast.Load())
                if any(self.names.agrees(each, values, active) for each in (loop.next, same, loop.first)):
                    self.names.learn(loop.name, values, active)
                    self.matched.add(register)
                    return loop.name
        before, dropped = self.by_steps, self.stepped.pop(register)
        lost = {loop.name for loop in dropped} if register in self.matched else set()
        self.stepped = {
            other: left for other, found in self.stepped.items() if (left := [x for x in found if x.name not in lost])
        }
        self.refuted |= lost
        self.unseen |= before - self.by_steps
        self.names.forget(lost, np.ones(LANES, bool))
        self.dropped |= lost
        return None

    def _selected(self, step: reference.Executed, kind: str, raw: np.ndarray, active: np.ndarray) -> str | None:
        """The name of a selection's result: of the chosen values' offered name, or of a value that has it already."""
        chosen = [operand.name for operand in step.instruction.operands[1:3] if isinstance(operand, Reg)]
        names = {self.offered[register] for register in chosen if register in self.offered}
        for name in names:
            values, lanes = self.names.known.get(name, (raw, ~active))
            stays = {each for each in chosen
                     if lanes[active].all() and _same(step.frame.registers[each], values, active)}  # fmt: skip
            named = all(self.offered.get(each) == name or each in stays for each in chosen)
            if len(names) == 1 and len(chosen) == 2 and named:
                self.names.learn(name, raw.view(f"{'i' if kind[0] == 's' else kind[0]}{raw.itemsize}"), active)
                return name
        self.names.forget(names, active)
        self.dropped |= names
        return None

    def _only_load(self, step: reference.Executed, expression: ast.expr) -> bool:
        """Whether a line is `name = array[…]` or `name = tl.load(…)`, and this is its one load of one value."""
        is_load = isinstance(expression, ast.Subscript) or ast.unparse(expression).startswith("tl.load(")
        code = step.frame.code
        return is_load and step.instruction.opcode == "ld" and not isinstance(step.instruction.operands[0], Vec) and (
            sum(
                line == step.line and statement.opcode == "ld" and "param" not in statement.modifiers
                for line, statement in zip(code.lines, code.body, strict=True)
                if isinstance(statement, Instruction)
            ) == 1
        )  # fmt: skip

    def go_to(self, line: int | None, active: np.ndarray) -> tuple[str, ...]:
        """Go to a line. The names that the line before may have changed invisibly; their values become unknown."""
        lost: set[str] = set()
        if line != self.line:
            lost = (_changed(self.kernel.line_text(self.line)) - self.learned) & self.passing & set(self.names.known)
            lost -= self.by_steps  # their writes are visible
            self.names.forget(lost, self.lanes)
            self.line, self.lanes, self.learned = line, np.zeros(LANES, bool), set()
        self.lanes = self.lanes | active
        return tuple(sorted(lost))


_changed = functools.lru_cache(256)(changed)


def _choices(code: Code) -> dict[str, int]:
    """The registers that selections choose from, converted or not, with the first line of such a selection."""
    found: dict[str, int] = {}
    for line, statement in zip(reversed(code.lines), reversed(code.body), strict=True):
        if not isinstance(statement, Instruction):
            continue
        if statement.opcode == "selp" and line is not None:
            for operand in statement.operands[1:3]:
                if isinstance(operand, Reg):
                    found[operand.name] = min(line, found.get(operand.name, line))
        elif statement.opcode in ("cvt", "mov") and all(isinstance(operand, Reg) for operand in statement.operands[:2]):
            result, source = (operand.name for operand in statement.operands[:2])
            if result in found:
                found[source] = min(found[result], found.get(source, found[result]))
    return found


def _same(register: np.ndarray, values: np.ndarray, mask: np.ndarray) -> bool:
    """Whether a register holds these values in the lanes of a mask."""
    return register[mask].tobytes() == values[mask].tobytes()


def _looped(code: Code) -> set[int | None]:
    """The lines with instructions between a branch and a target before it."""
    found: set[int | None] = set()
    for at, statement in enumerate(code.body):
        if not isinstance(statement, Instruction) or statement.opcode != "bra":
            continue
        if (start := code.labels[statement.operands[0].name]) <= at:
            found.update(code.lines[start : at + 1])
    return found

"""The names of a warp's values while it goes from line to line: what the value of a step is called, where certain.

`naming` says what an assignment's value must be, `loop_names` which registers a loop steps on; here they meet the order
in which lanes go through lines, selections and loops.
"""

from __future__ import annotations

import ast
import functools

import numpy as np

from vgpu import reference
from vgpu.ptx import Reg, Special, Vec
from vgpu.tools.steps.loop_names import Loop, loops, registers
from vgpu.tools.steps.naming import Names, assignment, changed, special_name
from vgpu.tools.steps.recording import LANES


class LineNames:
    """The names of one warp while it goes from line to line."""

    def __init__(self, kernel, names: Names, code):
        self.kernel, self.names = kernel, names
        lines = {line for line in code.lines if line is not None}
        span = range(min(lines, default=0), max(lines, default=-1) + 1)
        changes = [(line, name) for line in span for name in changed(kernel.line_text(line))]
        # Where the compiler has left no instruction of a line that changes a name, nothing shows when it does.
        self.unseen = {name for line, name in changes if line not in lines}
        # What one line changes, and no loop comes back to, is known for good.
        several = {name for _, name in changes if sum(other == name for _, other in changes) > 1}
        looped = _looped(code)
        self.passing = several | {name for line, name in changes if line in looped}
        # Both arms of an `if` may be computed by all lanes, and a selection on the line of the `if` takes one in each.
        self.choices = _choices(code)
        listing = {line: kernel.line_text(line) for line in span}
        self.stepped: dict[str, list[Loop]] = registers(loops(listing, kernel.language), code)
        self.matched: set[str] = set()  # registers that have had a variable's value
        self.refuted: set[str] = set()  # names that a register had until it had another value
        self.offered: dict[str, str] = {}  # by register: the name that its value has in the lanes it is taken in
        self.dropped: set[str] = set()
        self.line: int | None = None
        self.lanes = np.zeros(LANES, bool)
        self.learned: set[str] = set()

    @property
    def by_steps(self) -> set[str]:
        """The variables that only loops step on; whatever writes them is seen."""
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
        if self.choices.get(register, step.line) < step.line:
            self.offered[register] = found.name
            return None
        self.names.learn(found.name, values, active)
        return found.name

    def _stepped(self, register: str, kind: str, raw: np.ndarray, active: np.ndarray) -> str | None:
        """The name of a register that is stepped on, while its values are the variable's."""
        if kind[0] in "usf" and "x2" not in kind:
            values = raw.view(f"{'i' if kind[0] == 's' else kind[0]}{raw.itemsize}")
            for loop in self.stepped[register]:
                same = ast.Name(loop.name, ast.Load())
                if any(self.names.agrees(told, values, active) for told in (loop.next, same, loop.first)):
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
        """The name of what a selection gives: that for which its values are offered, or that has one of them now."""
        chosen = [operand.name for operand in step.instruction.operands[1:3] if isinstance(operand, Reg)]
        names = {self.offered[register] for register in chosen if register in self.offered}
        for name in names:
            values, lanes = self.names.known.get(name, (raw, ~active))
            stays = {r for r in chosen if lanes[active].all() and _same(step.frame.registers[r], values, active)}
            if len(names) == 1 and len(chosen) == 2 and all(self.offered.get(r) == name or r in stays for r in chosen):
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
                line == step.line and getattr(statement, "opcode", "") == "ld" and "param" not in statement.modifiers
                for line, statement in zip(code.lines, code.body, strict=True)
            ) == 1
        )  # fmt: skip

    def go_to(self, line: int | None, active: np.ndarray) -> tuple[str, ...]:
        """Leave a line: what it may have changed unseen is unknown from now on, and named."""
        lost: set[str] = set()
        if line != self.line:
            lost = (_changed(self.kernel.line_text(self.line)) - self.learned) & self.passing & set(self.names.known)
            lost -= self.by_steps  # whatever writes them is seen
            self.names.forget(lost, self.lanes)
            self.line, self.lanes, self.learned = line, np.zeros(LANES, bool), set()
        self.lanes = self.lanes | active
        return tuple(sorted(lost))


_changed = functools.lru_cache(256)(changed)


def _choices(code) -> dict[str, int]:
    """The registers that selections choose from, as they are or converted, with the first line on which one does."""
    found: dict[str, int] = {}
    for line, statement in zip(reversed(code.lines), reversed(code.body), strict=True):
        opcode = getattr(statement, "opcode", "")
        if opcode == "selp" and line is not None:
            for operand in statement.operands[1:3]:
                if isinstance(operand, Reg):
                    found[operand.name] = min(line, found.get(operand.name, line))
        elif opcode in ("cvt", "mov") and all(isinstance(operand, Reg) for operand in statement.operands[:2]):
            result, source = (operand.name for operand in statement.operands[:2])
            if result in found:
                found[source] = min(found[result], found.get(source, found[result]))
    return found


def _same(register: np.ndarray, values: np.ndarray, mask: np.ndarray) -> bool:
    """Whether a register holds these values in the lanes of a mask."""
    return register[mask].tobytes() == values[mask].tobytes()


def _looped(code) -> set[int | None]:
    """The lines with instructions between a branch and a target before it."""
    found: set[int | None] = set()
    for at, statement in enumerate(code.body):
        if getattr(statement, "opcode", "") == "bra" and (start := code.labels[statement.operands[0].name]) <= at:
            found.update(code.lines[start : at + 1])
    return found

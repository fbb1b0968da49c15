"""A kernel with the device functions it calls, as one flat list of instructions.

Calls are replaced by the body of the function called, registers and labels renamed; the `.param` variables that
carry arguments become registers where every access to them has the same place and size, local memory otherwise.
Functions that cannot stand in place of their calls (`called.py` says which) follow the kernel, each once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from vgpu import ptx
from vgpu.base.errors import Unsupported
from vgpu.base.lacking import lacking, plain
from vgpu.lower import called, heap
from vgpu.lower.called import ENTRY, Called, Passed
from vgpu.ptx import Call, Imm, Instruction, Label, Mem, Not, Operand, Pair, Reg, Sym, Vec
from vgpu.ptx.lines import line_of

HOST_FUNCTIONS = {"vprintf", "__assertfail", *heap.FUNCTIONS}
ENDS = {"ret", "exit", "trap", "bra"}
MOST = 1 << 17  # instructions of a kernel with all that stands in place of calls: several times the longest known


@dataclass(frozen=True)
class Flat:
    """A kernel with its calls inlined; the functions in `called` follow it and stay functions."""

    body: tuple[Instruction | Label, ...]
    registers: dict[str, str]
    variables: dict[str, ptx.Variable]
    called: dict[str, Called]


def flatten(module: ptx.Module, function: ptx.Function, own: Collection[int] = ()) -> Flat:
    """Inline every call that can be; `Unsupported` for calls of functions that this source does not define.

    `own` are the numbers of the user's files, for errors.
    """
    plan = called.plan(module, function)
    work = _Inliner(module, own, plan.direct)
    if plan.stacked:
        work.body += [Instruction("frames", (), (), None, None), Label("$begin")]
    work.add(function, {}, "", None)
    for name, one in plan.functions.items():
        work.finish("exit")
        work.body.append(Label(ENTRY + name))
        work.add(module.functions[name], {}, f"@{name}", None, one)
    if plan.stacked:
        work.finish("return" if plan.functions else "exit")
    parameters = {p.name for p in function.parameters}
    return _parameters_to_registers(work, parameters, plan.functions)


class _Inliner:
    def __init__(self, module: ptx.Module, own: Collection[int], real: Collection[str]):
        self.module, self.own, self.real = module, own, real
        self.body: list = []
        self.registers: dict[str, str] = {}
        self.variables: dict[str, ptx.Variable] = {}
        self.copies = 0

    def finish(self, opcode: str) -> None:
        """Nothing may run on into the function that follows."""
        last = self.body[-1]
        if isinstance(last, Label) or last.guard is not None or last.opcode not in {*ENDS, "return"}:
            self.body.append(Instruction(opcode, (), (), None, None))

    def add(
        self, function: ptx.Function, names: dict[str, str], suffix: str, leave: str | None, root: Called | None = None
    ) -> None:
        """Append the body of `function`; `names` maps its parameters to the caller's `.param` variables.

        `root` is set for a function that stays one: its parameters lie in its frame.
        """
        if len(self.body) + len(function.body or ()) > MOST:
            raise Unsupported(
                f"the kernel is too long: it has more than {MOST} instructions of PTX with the functions it calls. "
                "Call functions in a loop instead of again and again, or unroll loops less."
            )
        names = dict(names)
        for register, kind in function.registers.items():
            self.registers[register + suffix] = kind
            names[register] = register + suffix
        for name, variable in function.variables.items():
            keep = variable.space in ("shared", "global", "const")
            names[name] = name if keep else name + suffix
            self.variables[names[name]] = replace(variable, name=names[name])
        for position, statement in enumerate(function.body or ()):
            if isinstance(statement, Label):
                self.body.append(Label(statement.name + suffix))
            elif statement.opcode == "call":
                self.call(statement, names, suffix)
            elif statement.opcode == "barrier" and {"cluster", "wait"} <= {*statement.modifiers}:
                self.wait(_renamed(statement, names, suffix))
            elif statement.opcode == "brx":
                self.choose(statement, names, suffix)
            elif root is not None and statement.opcode == "ret":
                self.body.append(replace(_renamed(statement, names, suffix), opcode="return"))
            elif root is not None and (access := root.access(statement, lambda o: _rename(o, names, suffix))):
                self.body.append(replace(access, guard=_rename(statement.guard, names, suffix)))
            elif statement.opcode == "ret" and leave is not None:
                if position + 1 < len(function.body or ()) or statement.guard:
                    jump = replace(statement, opcode="bra", modifiers=("ret",), operands=(Sym(leave),))
                    self.body.append(replace(jump, guard=_rename(statement.guard, names, suffix)))
                else:
                    self.body.append(replace(statement, opcode="inlined", modifiers=("ret",)))
            else:
                self.body.append(_renamed(statement, names, suffix))

    def wait(self, statement: Instruction) -> None:
        """Wait at the cluster's barrier in a loop, as one waits for memory to change."""
        again, done = f"$cluster{len(self.body)}", f"%cluster{len(self.body)}"
        self.registers[done] = "pred"
        jump = replace(statement, opcode="bra", modifiers=("piece",), operands=(Sym(again),), guard=Not(Reg(done)))
        self.body += [Label(again), replace(statement, opcode="cluster.wait", operands=(Reg(done),)), jump]

    def choose(self, statement: Instruction, names: dict[str, str], suffix: str) -> None:
        """An indexed branch as one branch for each label, of which the first counts; the last is for what is left."""
        index = _rename(statement.operands[0], names, suffix)
        guard, number = _rename(statement.guard, names, suffix), len(self.body)
        *jumps, last = (Sym(label.name + suffix) for label in statement.operands[1].items)
        chosen = [Reg(f"%chosen{number}.{at}") for at in range(len(jumps))]
        over = Sym(f"$over{number}")
        self.registers |= dict.fromkeys((one.name for one in chosen), "pred")
        compare = replace(statement, opcode="setp", modifiers=("eq", "u32", "piece"), guard=None)
        self.body += [replace(compare, operands=(one, index, Imm(at))) for at, one in enumerate(chosen)]
        ways: list = [*zip(jumps, chosen, strict=True), (last, None)]
        if guard is not None:
            ways.insert(0, (over, Not(guard) if isinstance(guard, Reg) else guard.reg))
        words: tuple[str, ...] = ()
        for label, when in ways:
            self.body.append(replace(statement, opcode="bra", modifiers=words, operands=(label,), guard=when))
            words = ("piece",)
        if guard is not None:
            self.body.append(Label(over.name))

    def call(self, statement: Instruction, names: dict[str, str], suffix: str) -> None:
        call: Call = statement.operands[0]
        returns = tuple(names.get(n, n) for n in call.returns)
        arguments = tuple(names.get(n, n) for n in call.arguments)
        name = "" if isinstance(call.target, Reg) else call.target.name
        callee = self.module.functions.get(name)
        if name in HOST_FUNCTIONS:
            self.body.append(replace(statement, operands=(Call(returns, Sym(name), arguments),)))
            return
        if name and (callee is None or callee.body is None):
            raise lacking(f"a call of `{plain(name)}`", line_of(statement.location, self.own))
        self.copies += 1
        inner = f"~{self.copies}{suffix[suffix.find('@') :] if '@' in suffix else ''}"
        leave = f"$leave{inner}"
        guard = _rename(statement.guard, names, suffix)
        if guard is not None:  # the jump over the call counts for it
            over = Not(guard) if isinstance(guard, Reg) else guard.reg
            jump = replace(statement, opcode="bra", modifiers=("call",), operands=(Sym(leave),), guard=over)
            self.body.append(jump)
        if callee is None or name in self.real:
            target = _rename(call.target, names, suffix)
            modifiers = () if guard is None else ("jumped",)
            self.body.append(
                replace(
                    statement,
                    opcode="invoke",
                    modifiers=modifiers,
                    operands=(Call(returns, target, arguments),),
                    guard=None,
                )
            )
            if guard is None:
                return
        else:
            mapping = dict(zip((p.name for p in callee.parameters), arguments, strict=True))
            mapping |= dict(zip((p.name for p in callee.returns), returns, strict=True))
            if guard is None:
                self.body.append(replace(statement, opcode="inlined", modifiers=("call",), operands=()))
            self.add(callee, mapping, inner, leave)
        self.body.append(Label(leave))


def _rename(operand: Any, names: dict[str, str], suffix: str) -> Any:
    if isinstance(operand, Reg):
        return Reg(names.get(operand.name, operand.name))
    if isinstance(operand, Not):
        return Not(_rename(operand.reg, names, suffix))
    if isinstance(operand, Pair):
        return Pair(_rename(operand.first, names, suffix), _rename(operand.second, names, suffix))
    if isinstance(operand, Vec):
        return Vec(tuple(_rename(item, names, suffix) for item in operand.items))
    if isinstance(operand, Mem):
        coordinates = operand.coordinates and tuple(_rename(c, names, suffix) for c in operand.coordinates)
        return Mem(_rename(operand.base, names, suffix), operand.offset, coordinates)
    if isinstance(operand, Sym):
        return Sym(names.get(operand.name, operand.name), operand.offset)
    return operand


def _renamed(statement: Instruction, names: dict[str, str], suffix: str) -> Instruction:
    if statement.opcode == "bra":
        operands = tuple(Sym(o.name + suffix) for o in statement.operands)
    else:
        operands = tuple(_rename(o, names, suffix) for o in statement.operands)
    return replace(statement, operands=operands, guard=_rename(statement.guard, names, suffix))


# ---------------------------------------------------------------- .param variables


def _lanes(statement: Instruction) -> int:
    return next((int(m[1:]) for m in statement.modifiers if m in ("v2", "v4", "v8")), 1)


def _access(statement: Instruction | Label, variables: Collection[str]) -> tuple[str, int, str, Operand] | None:
    """(variable, offset, bytes an element, operand) of an access to a call's `.param` variable."""
    if not isinstance(statement, Instruction) or statement.opcode not in ("ld", "st"):
        return None
    if "param" not in statement.modifiers:
        return None
    memory = statement.operands[0 if statement.opcode == "st" else 1]
    if not isinstance(memory.base, Sym) or memory.base.name not in variables:
        return None
    value = statement.operands[1 if statement.opcode == "st" else 0]
    kind = statement.modifiers[-1]
    return memory.base.name, memory.offset + memory.base.offset, kind, value


def _parameters_to_registers(work: _Inliner, own: set[str], functions: dict[str, Called]) -> Flat:
    """`own` are the kernel's parameters, which stay in memory."""
    candidates = {n for n, v in work.variables.items() if v.space == "param" and n not in own}
    pieces: dict[str, dict[int, int]] = {name: {} for name in candidates}
    in_memory: set[str] = set()
    for statement in work.body:
        found = _access(statement, candidates)
        if found:
            name, offset, kind, _ = found
            size = ptx.TYPE_BYTES[kind]
            for lane in range(_lanes(statement)):
                have = pieces[name].setdefault(offset + lane * size, size)
                if have != size:
                    in_memory.add(name)
        elif isinstance(statement, Instruction):
            for operand in statement.operands:
                if isinstance(operand, Sym) and operand.name in candidates:
                    in_memory.add(operand.name)
    for name, parts in pieces.items():
        ordered = sorted(parts.items())
        if any(start + size > following for (start, size), (following, _) in pairwise(ordered)):
            in_memory.add(name)
    body: list = []
    registers, variables = dict(work.registers), dict(work.variables)
    for name in in_memory:
        variables[name] = replace(variables[name], space="local")
    for name in candidates - in_memory:
        for offset, size in pieces[name].items():
            registers[f"{name}@{offset}"] = f"b{8 * size}"
    for statement in work.body:
        found = _access(statement, candidates)
        if not found:
            if isinstance(statement, Instruction) and statement.opcode == "invoke":
                statement = _invocation(statement, work, pieces, in_memory)
            body.append(statement)
            continue
        name, offset, kind, value = found
        if name in in_memory:
            modifiers = tuple("local" if m == "param" else m for m in statement.modifiers)
            body.append(replace(statement, modifiers=modifiers))
            continue
        size = ptx.TYPE_BYTES[kind]
        items = value.items if isinstance(value, Vec) else (value,)
        modifiers = (f"b{8 * size}",)
        for lane, item in enumerate(items):
            register = Reg(f"{name}@{offset + lane * size}")
            if item is None:
                continue
            operands = (register, item) if statement.opcode == "st" else (item, register)
            body.append(replace(statement, opcode="mov", modifiers=modifiers, operands=operands))
            modifiers = (f"b{8 * size}", "piece")  # one instruction however many registers it moves
    return Flat(tuple(body), registers, variables, functions)


def _invocation(
    statement: Instruction, work: _Inliner, pieces: dict[str, dict[int, int]], in_memory: set[str]
) -> Instruction:
    """A call that stays one, with the registers that hold the pieces of its arguments and results."""
    call: Call = statement.operands[0]

    def passed(name: str) -> Passed:
        if name not in pieces or name in in_memory:
            raise lacking("an argument of a call whose address is taken", line_of(statement.location, work.own))
        parts = tuple((offset, size, Reg(f"{name}@{offset}")) for offset, size in sorted(pieces[name].items()))
        return Passed(work.variables[name].nbytes, parts)

    found = called.Invocation(call.target, tuple(map(passed, call.arguments)), tuple(map(passed, call.returns)))
    return replace(statement, operands=(found,))

"""Which device functions stay functions, where their arguments lie, and what a call of one needs to know.

A function stays one when it calls itself (directly or by way of others), when its address is taken and the kernel
calls through pointers, or when inlining would nest too deep. Every thread has two stacks. One, in its local memory,
holds the `.local` variables; the user's pointers reach it. The other, out of reach, holds what must not be
overwritten by mistake: a frame there is the basic block to return to, parameters, results, and the registers that the
function itself keeps over its calls, all in words of 4 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from vgpu.base.lacking import lacking
from vgpu.ptx import Call, Function, Imm, Instruction, Mem, Module, Operand, Reg, Sym, Vec
from vgpu.storage import layout

ENTRY = "$enter "  # begins the label at which a function starts
MAX_DEPTH = 24  # calls that are inlined into one another
MAX_LENGTH = 3_000  # instructions of a function with all that is inlined into it, where most of them are copies
LINK = 0  # the word of a frame that holds the basic block to return to
FIRST = 1  # … and the first one of the parameters


@dataclass(frozen=True)
class Passed:
    """An argument or result: its size in bytes, and (offset, bytes, register) of the pieces that are used."""

    nbytes: int
    pieces: tuple[tuple[int, int, Reg], ...]


@dataclass(frozen=True)
class Invocation:
    """The operands of a call that stays one: a function's name, or the register that holds its handle."""

    target: Sym | Reg
    arguments: tuple[Passed, ...]
    returns: tuple[Passed, ...]

    @property
    def signature(self) -> tuple:
        return tuple(p.nbytes for p in self.arguments), tuple(p.nbytes for p in self.returns)

    def registers(self, passed: tuple[Passed, ...]) -> list[str]:
        return [register.name for one in passed for _, _, register in one.pieces]


@dataclass(frozen=True)
class Called:
    """A function that stays one: its handle, the sizes of its parameters and results, and what it may reach."""

    name: str
    handle: int
    signature: tuple
    places: dict[str, int]  # byte offsets of parameters and results in its frame
    reaches: frozenset[str]
    by_pointer: bool  # its address is taken

    def access(self, statement: Instruction, rename: Callable) -> Instruction | None:
        """An `ld.param` or `st.param` of the function's own parameters, as an access to its frame."""
        named = {o.name for o in statement.operands if isinstance(o, Sym)} & set(self.places)
        if named:
            raise lacking("the address of a parameter in a function that is called through a stack")
        if statement.opcode not in ("ld", "st") or "param" not in statement.modifiers:
            return None
        loads = statement.opcode == "ld"
        value, memory = statement.operands if loads else statement.operands[::-1]
        if not isinstance(memory, Mem) or not isinstance(memory.base, Sym) or memory.base.name not in self.places:
            return None
        at = Imm(self.places[memory.base.name] + memory.base.offset + memory.offset)
        operands = (rename(value), at) if loads else (at, rename(value))
        return replace(statement, opcode="frame.load" if loads else "frame.store", operands=operands)


@dataclass(frozen=True)
class Plan:
    """The functions that stay functions, in the order of their handles' discovery, and those called by name so."""

    functions: dict[str, Called]
    direct: frozenset[str]
    pointers: bool  # the kernel calls through pointers, perhaps to no function at all

    @property
    def stacked(self) -> bool:
        return bool(self.functions) or self.pointers


def places(signature: tuple) -> tuple[list[int], list[int], int]:
    """Byte offsets of parameters and of results in a frame, and the words that frame has so far."""
    end = 4 * FIRST
    found: tuple[list[int], list[int]] = ([], [])
    for kind, sizes in enumerate(signature):
        for nbytes in sizes:
            found[kind].append(end)
            end += layout.align_up(nbytes, 4)
    return found[0], found[1], end // 4


def signature(function: Function) -> tuple:
    return tuple(p.nbytes for p in function.parameters), tuple(p.nbytes for p in function.returns)


def plan(module: Module, kernel: Function) -> Plan:
    """Decide which of the functions that a kernel may call stay functions."""
    functions = {f.name: f for f in layout.reachable(module, kernel)}
    pointers = {n for n, f in functions.items() if any(isinstance(c.target, Reg) for c in _calls(f))}
    taken = _taken(module, functions) if pointers else set()
    edges = {}
    for name, function in functions.items():
        edges[name] = {c.target.name for c in _calls(function) if isinstance(c.target, Sym)} & set(functions)
        if name in pointers:
            edges[name] |= taken
    reaches = {name: _closure(name, edges) for name in functions}
    recursive = {name for name in functions if name in reaches[name]}
    direct = recursive | _too_big(kernel.name, functions, reaches, recursive)
    handles = layout.function_handles(module)
    found = {}
    for name, function in functions.items():
        if name in direct | taken and name != kernel.name:
            sizes = signature(function)
            parameters, returns, _ = places(sizes)
            offsets = dict(zip((p.name for p in function.parameters), parameters, strict=True))
            offsets |= dict(zip((p.name for p in function.returns), returns, strict=True))
            found[name] = Called(name, handles[name], sizes, offsets, frozenset(reaches[name]), name in taken)
    return Plan(found, frozenset(direct), bool(pointers))


def _calls(function: Function) -> list[Call]:
    return [i.operands[0] for i in layout.instructions(function) if i.opcode == "call"]


def _taken(module: Module, functions: dict[str, Function]) -> set[str]:
    """Functions whose address the code or a variable of the module takes."""

    def names(operand: Operand) -> Iterator[str]:
        if isinstance(operand, Sym):
            yield operand.name
        elif isinstance(operand, Vec):
            for item in operand.items:
                yield from names(item)

    found = {n for f in module.functions.values() for i in layout.instructions(f) for o in i.operands for n in names(o)}
    found |= {symbol for v in module.variables.values() for _, symbol, _ in v.relocations}
    return found & {name for name, f in functions.items() if not f.entry}


def _closure(start: str, edges: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    work = list(edges[start])
    while work:
        name = work.pop()
        if name not in seen:
            seen.add(name)
            work.extend(edges[name])
    return seen


def _too_big(
    kernel: str, functions: dict[str, Function], reaches: dict[str, set[str]], recursive: set[str]
) -> set[str]:
    """Functions in whose place too many others would stand, one within the other or one after the other."""
    measured: dict[str, tuple[int, int]] = {}  # nesting, instructions; nothing for what stays a function
    found: set[str] = set()
    work = [kernel, *functions]
    while work:
        name = work[-1]
        inlined = [c.target.name for c in _calls(functions[name]) if isinstance(c.target, Sym)]
        inlined = [n for n in inlined if n in functions and n not in recursive]
        missing = [n for n in inlined if n not in measured]
        if missing:
            work += missing
            continue
        work.pop()
        depth = 1 + max((measured[n][0] for n in inlined), default=0)
        length = len(functions[name].body or ()) + sum(measured[n][1] for n in inlined)
        written = sum(len(functions[n].body or ()) for n in {name, *reaches[name]})
        if (depth > MAX_DEPTH or length > max(MAX_LENGTH, 4 * written)) and name != kernel and inlined:
            found.add(name)
            depth, length = 0, 0
        measured[name] = depth, length
    return found


def result_names(invocation: Invocation) -> list[str]:
    return invocation.registers(invocation.returns)


def source_names(invocation: Invocation) -> list[str]:
    target = [invocation.target.name] if isinstance(invocation.target, Reg) else []
    return target + invocation.registers(invocation.arguments)

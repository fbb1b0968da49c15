"""In which memory each variable of a kernel resides: from its PTX, the assembler's report and one recorded warp.

Every load and store of the PTX names its memory; a recording of one warp shows which array it accesses. What becomes of
local arrays is in the assembler's report alone: it may still move a small one into registers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vgpu.base.errors import KernelError
from vgpu.ptx import SPACES as PTX_SPACES
from vgpu.ptx import Instruction, Mem, Sym
from vgpu.ptx.lines import line_table
from vgpu.storage import layout
from vgpu.tools.prepare import Dimensions, Grid, prepare
from vgpu.tools.sanitize.names import LaunchNames, plain
from vgpu.tools.steps import declared
from vgpu.tools.steps.stepper import record

if TYPE_CHECKING:
    from vgpu.compile.resources import Resources
    from vgpu.launch.launch import Prepared
    from vgpu.tools.steps.recording import Recording
    from vgpu.tools.steps.trace import Access

MOST_STEPS = 2_000
_MEMORY = {"ld", "ldu", "st", "atom", "red", "tex", "tld4", "suld", "sust", "cp"}
_TEXTURES = {"tex", "tld4", "suld", "sust"}


@dataclass(frozen=True)
class Space:
    """One memory space: its scope, the lifetime of its contents, and where it is."""

    name: str
    seen_by: str
    lasts: str
    place: str


# Scope and lifetime: CUDA C++ Programming Guide, Variable Memory Space Specifiers, and Device Memory Accesses.
SPACES = {
    space.name: space
    for space in (
        Space("register", "its thread", "the thread", "in the SM"),
        Space("shared", "its block", "the block", "in the SM"),
        Space("local", "its thread", "the thread", "in DRAM, cached by L1 and L2"),
        Space("parameter", "every thread, to read", "the launch", "in constant memory"),
        Space("constant", "every thread, to read", "until unloaded", "in DRAM, with a cache of its own"),
        Space("texture", "every thread, to read", "until freed", "in DRAM, read by the texture unit"),
        Space("global", "every thread, and the host", "until freed", "in DRAM, cached by L2 and L1"),
    )
}


@dataclass(frozen=True)
class MemoryInstruction:
    """One memory instruction of the PTX: its source line, its space ("global", "local", …) and its text."""

    line: int | None
    space: str
    text: str


@dataclass(frozen=True)
class SourceVariable:
    """One name of the source: what it is declared as, its space (a key of `SPACES`), and the evidence.

    `nbytes`: bytes of the array (per thread, per block or in all), None where unknown. `evidence`: PTX instructions, or
    the registers that held the value; `note`: a remark, or "".
    """

    name: str
    kind: str
    space: str
    nbytes: int | None
    lines: tuple[int, ...]
    evidence: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, repr=False)
class VariableSpaces:
    """Where the variables of one kernel reside, with its source, memory instructions and the assembler's report."""

    kernel: str
    lines: tuple[tuple[int, str], ...]
    memory: tuple[MemoryInstruction, ...]
    variables: tuple[SourceVariable, ...]
    resources: Resources

    def __getitem__(self, name: str) -> SourceVariable:
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise KeyError(f"{self.kernel} declares no {name!r}; it has {', '.join(v.name for v in self.variables)}")

    def __repr__(self) -> str:
        rows = [f"  {v.name}: {v.space}{f' ({v.note})' if v.note else ''}" for v in self.variables]
        return "\n".join([f"Where the variables of {self.kernel} live:", *rows])


def spaces(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence, *, shared_bytes: int = 0, arch: str = "sm_80"
) -> VariableSpaces:
    """In which memory each variable of a kernel resides. The kernel's first warp runs on a copy of memory.

    kernel: a Numba kernel or a `RawKernel`; grid, block, args, shared_bytes as at its launch; arch: the architecture to
    assemble for. Errors: as a launch; ValueError for a kernel in another language.
    """
    from vgpu.compile import resources

    _, prepared, _ = prepare("spaces", kernel, grid, block, args, {})
    loaded = prepared.kernel
    if loaded.language not in ("numba", "cuda"):
        raise ValueError(
            f"{loaded.name} is a {loaded.language} kernel; variables can be found in Python and CUDA C only"
        )
    seen = record(
        kernel, grid, block, args, warp=0, shared_bytes=shared_bytes, max_steps=MOST_STEPS, partial=True
    )  # fmt: skip
    needs = resources(loaded.ptx, "ptx", arch=arch, entry=loaded.entry)
    source = declared.read(loaded)
    finder = _SpaceFinder(prepared, seen, needs, source, shared_bytes or prepared.shared_bytes)
    return VariableSpaces(
        loaded.name, source.lines, finder.memory, tuple(finder.variable(each) for each in source.declared), needs
    )


Found = tuple[str, int | None, list[str], str]  # space, bytes, evidence, note


class _SpaceFinder:
    """Finds the space of each name of one kernel."""

    def __init__(
        self, prepared: Prepared, seen: Recording, needs: Resources, source: declared.KernelSource, dynamic_bytes: int
    ):
        self.kernel, self.arrays, self.seen, self.needs = prepared.kernel, prepared.arrays, seen, needs
        self.source, self.dynamic_bytes = source, dynamic_bytes
        self.module = self.kernel.module.module
        self.memory = tuple(self._memory())
        self.own_arrays = [each.name for each in source.declared if each.kind == "array"]
        names = LaunchNames(self.kernel, (1, 1, 1), (32, 1, 1), self.arrays)
        self.shared = {name: (start, end) for start, end, name in names.shared}

    def _memory(self) -> Iterator[MemoryInstruction]:
        text = self.kernel.ptx.splitlines()
        function = self.kernel.function
        for line, statement in zip(
            line_table(self.module, function, self.kernel.filename), function.body or (), strict=True
        ):
            if isinstance(statement, Instruction) and statement.opcode in _MEMORY:
                space = next((m for m in statement.modifiers if m in PTX_SPACES), "generic")
                space = "texture" if statement.opcode in _TEXTURES else space
                yield MemoryInstruction(line, space, " ".join(text[statement.text - 1].split()))

    def variable(self, each: declared.Declared) -> SourceVariable:
        find = {
            "parameter": self._parameter, "texture": self._texture, "shared array": self._shared,
            "constant array": self._constant, "array": self._own, "variable": self._scalar,
        }[each.kind]  # fmt: skip
        space, nbytes, evidence, note = find(each)
        return SourceVariable(each.name, each.kind, space, nbytes, each.lines, tuple(dict.fromkeys(evidence)), note)

    def _of(self, each: declared.Declared, space: str) -> list[str]:
        """Instructions of one space on the lines that name a variable."""
        return [memory.text for memory in self.memory if memory.space == space and memory.line in each.lines]

    def _touching(self, wanted: Callable[[Access], bool]) -> list[str]:
        """Instructions of the recorded warp whose access `wanted` accepts."""
        return [
            " ".join(step.instruction.split())
            for step in self.seen.steps if any(wanted(touched.access) for touched in step.touched)
        ]  # fmt: skip

    def _parameter(self, each: declared.Declared) -> Found:
        array = next((array for array in self.arrays if array.name == each.name), None)
        if array is None:
            return "parameter", None, self._loads_of(each.name), ""
        found = self._touching(lambda access: access.array == each.name)
        loads = [text for text in found if re.match(r"(?:@\S+ )?ld", text)]
        read_only = bool(loads) and all(".nc" in text for text in loads)
        note = "read-only loads (.nc)" if read_only else "" if found else self._untouched()
        return "global", array.nbytes, found, note

    def _untouched(self) -> str:
        """The note for an array that no recorded step touches: a recording may end before the warp does."""
        if self.seen.stopped is None:
            return "this warp does not touch it"
        failed = isinstance(self.seen.stopped, KernelError)
        return f"not touched {'before the kernel fails' if failed else f'in the first {MOST_STEPS:,} steps'}"

    def _loads_of(self, name: str) -> list[str]:
        """The loads of one scalar parameter; Numba passes an array of d dimensions as 5 + 2·d parameters."""
        at = 0
        for each in self.source.declared:
            if each.kind not in ("parameter", "texture") or each.name == name:
                break
            array = next((array for array in self.arrays if array.name == each.name), None)
            at += 1 if array is None or self.kernel.language == "cuda" else 5 + 2 * len(array.shape)
        if at >= len(self.kernel.parameters):
            return []
        symbol = self.kernel.parameters[at].name
        text = self.kernel.ptx.splitlines()
        return [
            " ".join(text[statement.text - 1].split()).replace(symbol, f"parameter {at}")
            for statement in self.kernel.function.body or ()
            if isinstance(statement, Instruction) and any(
                isinstance(op, Mem) and isinstance(op.base, Sym) and op.base.name == symbol
                for op in statement.operands
            )
        ]  # fmt: skip

    def _texture(self, each: declared.Declared) -> Found:
        return "texture", None, self._of(each, "texture"), "the handle itself is a parameter"

    def _shared(self, each: declared.Declared) -> Found:
        start, end = self.shared.get(each.name, (0, 0))
        found = self._touching(lambda access: access.space == "shared" and any(
            start <= address < end for address, on in zip(access.addresses, access.lanes, strict=True) if on
        ))  # fmt: skip
        nbytes = end - start if end - start < 1 << 60 else self.dynamic_bytes
        return "shared", nbytes, found or self._of(each, "shared"), ""

    def _constant(self, each: declared.Declared) -> Found:
        mine = [v for v in self.module.variables.values() if v.space == "const"]
        named = [v for v in mine if plain(v.name) == each.name] or (mine if len(mine) == 1 else [])
        found = self._of(each, "const")
        note = "" if found else "its values became part of the instructions"
        return "constant", named[0].nbytes if named else None, found, note

    def _own(self, each: declared.Declared) -> Found:
        """A local array: local memory if the PTX accesses it there and a stack frame remains, else registers."""
        found = self._of(each, "local")
        if not found and len(self.own_arrays) == 1:
            found = [memory.text for memory in self.memory if memory.space == "local"]
        functions = layout.reachable(self.module, self.kernel.function)
        depot = sum(v.nbytes for f in functions for v in f.variables.values() if v.space == "local")
        nbytes = depot or None if len(self.own_arrays) == 1 else None
        framed = self.needs.local_bytes > self.needs.spill_store_bytes
        if not found and framed and len(self.own_arrays) == 1:
            return "local", nbytes, found, "reached through a pointer"
        if not found:
            return "register", nbytes, found, "every index is known when it is compiled"
        if not framed:
            return "register", nbytes, found, "local in the PTX; the assembler moved it to registers"
        return "local", nbytes, found, ""

    def _scalar(self, each: declared.Declared) -> Found:
        found = [
            f"{written.register} ({written.type})"
            for step in self.seen.steps for written in step.written if written.name == each.name
        ]  # fmt: skip
        return "register", None, found, "" if found else "if it needs a register at all"

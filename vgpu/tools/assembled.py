"""Where the assembler changes what a kernel's lines ask of memory: accesses counted in PTX beside the machine's own.

NVIDIA's assembler merges neighbouring accesses to shared memory into wider ones, keeps local arrays in registers,
spills registers to local memory, and makes operands of constants. It also copies code (it unrolls loops), which changes
no count: each copy stands for some of the executions. So accesses are compared by their widths first, line by line, and
then by number. What is found is read from the code; nothing is executed for it.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vgpu.compile.machine_code import MachineInstruction, machine_code
from vgpu.ptx.lines import line_of

SAME, COPIED, MERGED, FEWER, GONE, ADDED, LOOP = "same", "copied", "merged", "fewer", "gone", "added", "loop"
JOINED = "joined"
_BY_OPCODE = {"CAS": LOOP, "CAST": LOOP, "POPC": JOINED}
AS_COUNTED = (SAME, COPIED)  # the counter of PTX is what the GPU counts
Key = tuple[int, str, str]  # line, memory, operation


@dataclass(frozen=True)
class Accesses:
    """What some lines ask of one memory, in PTX and in machine code; one line, unless accesses moved between lines.

    `space` is "global", "shared", "local", "const" or "generic", `op` "load", "store", "atomic", "copy" (cp.async) or
    "matrix" (ldmatrix, stmatrix). `ptx` and `machine` are numbers of instructions by width, in bytes a lane; `opcodes`
    the machine's. `together` says that all those of PTX stand in one run of instructions without a jump, `plain` that
    none of them compares and swaps.

    `verdict`: "same"; "copied" (more of the same, as in an unrolled loop); "merged" (wider ones); "fewer", "gone" (some
    or all are left out); "added" (the assembler's own, such as spilled registers); "loop" (an atomic became a loop of
    compare-and-swap); "joined" (an atomic that adds 1 counts the lanes that want one word, which then do not queue).
    """

    lines: tuple[int, ...]
    space: str
    op: str
    ptx: Mapping[int, int]
    machine: Mapping[int, int]
    opcodes: tuple[str, ...] = ()
    together: bool = False
    plain: bool = True
    verdict: str = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "verdict", self._verdict())

    def _verdict(self) -> str:
        for part, verdict in _BY_OPCODE.items():
            if self.plain and any(part in opcode.split(".") for opcode in self.opcodes):
                return verdict
        if self.ptx == self.machine:
            return SAME
        if not self.machine:
            return GONE
        if not self.ptx:
            return ADDED
        if set(self.machine) - set(self.ptx) and max(self.machine) > min(self.ptx):
            return MERGED
        if any(self.machine.get(width, 0) < number for width, number in self.ptx.items()):
            return FEWER
        return COPIED

    @property
    def factor(self) -> float | None:
        """Requests of the machine for each one counted, None where reading the code does not tell.

        The bytes that are asked for stay the same. So where all accesses have one width in PTX and one in the machine
        code, the widths' ratio is the answer, however often loops were unrolled; and where as many bytes stand in the
        code as in PTX, in one run of instructions, nothing was copied and the numbers can be compared.
        """
        if self.verdict in AS_COUNTED:
            return 1.0
        if self.verdict == GONE:
            return 0.0
        if self.verdict == MERGED and len(self.ptx) == len(self.machine) == 1:
            return min(self.ptx) / min(self.machine)
        if self.verdict == MERGED and self.together and _bytes(self.ptx) == _bytes(self.machine):
            return sum(self.machine.values()) / sum(self.ptx.values())
        return None


def _bytes(widths: Mapping[int, int]) -> int:
    return sum(width * number for width, number in widths.items())


def accesses(kernel, arch: str, max_registers: int | None = None) -> tuple[Accesses, ...]:
    """What a kernel's lines ask of memory on an architecture ("sm_80"), in the order of lines.

    kernel: as the engine loads it. Errors: as `machine_code`.
    """
    lowered, _ = kernel.compiled(count=True)
    own = {index for index, name in kernel.module.module.files.items() if name == kernel.filename}
    code = machine_code(kernel.ptx, arch, kernel.entry, max_registers)
    return compare(in_ptx(lowered, own), in_machine(code, kernel.filename))


def compare(ptx: Mapping[Key, list], machine: Mapping[Key, list[MachineInstruction]]) -> tuple[Accesses, ...]:
    """Both sides by line, memory and operation, as `in_ptx` and `in_machine` give them, brought together."""
    found = [_beside(key[1:], [key], ptx, machine) for key in sorted({*ptx, *machine})]
    # A loop of compare-and-swap begins with a load of the old value, which is no access of the user's.
    loops = {(row.lines, row.space) for row in found if row.verdict == LOOP}
    found = [row for row in found if row.verdict != ADDED or (row.lines, row.space) not in loops]
    kept = [row for row in found if row.verdict in AS_COUNTED]
    for what in sorted({(row.space, row.op) for row in found}):
        changed = [row for row in found if (row.space, row.op) == what and row.verdict not in AS_COUNTED]
        # What is missing on one line and too many on another has moved, as when a store of four lines is one.
        if {GONE, FEWER} & {row.verdict for row in changed} and {ADDED, MERGED} & {row.verdict for row in changed}:
            changed = [_beside(what, [(row.lines[0], *what) for row in changed], ptx, machine)]
        kept += changed
    return tuple(sorted(kept, key=lambda row: (row.lines, row.space, row.op)))


def _beside(what: tuple[str, str], keys: list[Key], ptx: Mapping, machine: Mapping) -> Accesses:
    written = [pair for key in keys for pair in ptx.get(key, ())]
    made = [instruction for key in keys for instruction in machine.get(key, ())]
    return Accesses(
        tuple(key[0] for key in keys),
        *what,
        dict(Tally(site.nbytes for site, _ in written)),
        dict(Tally(instruction.access[2] for instruction in made)),
        tuple(dict.fromkeys(instruction.opcode for instruction in made)),
        len({basic_block for _, basic_block in written}) == 1,
        not any("cas" in site.instruction.modifiers for site, _ in written),
    )


def in_ptx(lowered, own: set[int]) -> dict[Key, list]:
    """The sites of a lowered kernel that access memory, each with its basic block's number; `own`: user's files."""
    basic_blocks = {
        (instruction.text, instruction.location): basic_block.index
        for basic_block in lowered.basic_blocks
        for instruction in basic_block.counted
    }
    found: dict[Key, list] = {}
    line = basic_block = 0
    for site in lowered.sites:
        line = line_of(site.instruction.location, own) or line
        basic_block = basic_blocks.get((site.instruction.text, site.instruction.location), basic_block)
        if (operation := _operation(site)) is not None:
            found.setdefault((line, *operation), []).append((site, basic_block))
    return found


def _operation(site) -> tuple[str, str] | None:
    if site.kind == "copy":  # two sites, one for each side
        return ("shared", "copy") if site.space == "shared" else None
    if site.matrices:
        return "shared", "matrix"
    return (site.space or "generic", site.kind) if site.kind in ("load", "store", "atomic") else None


def in_machine(code: Iterable[MachineInstruction], filename: str) -> dict[Key, list[MachineInstruction]]:
    """A kernel's accesses to memory; an instruction without a line of the user's belongs to the one before it."""
    found: dict[Key, list[MachineInstruction]] = {}
    line = 0
    for instruction in code:
        line = instruction.line(filename) or line
        if instruction.access is not None:
            found.setdefault((line, *instruction.access[:2]), []).append(instruction)
    return found

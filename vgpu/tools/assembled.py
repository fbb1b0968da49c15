"""Where the assembler changes a kernel's memory accesses: those counted in PTX beside those of the machine code.

NVIDIA's assembler merges neighbouring accesses to shared memory into wider ones, keeps local arrays in registers,
spills registers to local memory, and makes operands of constants. It also copies code (unrolls loops), which changes
no count: each copy stands for some of the executions. So accesses are compared line by line, by their widths first and
then by number. All of this is read from the code; nothing is executed.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vgpu.compile.machine_code import MachineInstruction, machine_code
from vgpu.lower import Lowered, Site
from vgpu.ptx.lines import line_of

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel

SAME, COPIED, MERGED, FEWER, GONE, ADDED, LOOP = "same", "copied", "merged", "fewer", "gone", "added", "loop"
JOINED = "joined"
_BY_OPCODE = {"CAS": LOOP, "CAST": LOOP, "POPC": JOINED}
AS_COUNTED = (SAME, COPIED)  # the counter of PTX is what the GPU counts
Key = tuple[int, str, str]  # line, memory, operation
PlacedSite = tuple[Site, int]  # with its basic block's number


@dataclass(frozen=True)
class Accesses:
    """One kind of access of some lines, in PTX and in machine code; one line, unless accesses moved between lines.

    `space` is "global", "shared", "local", "const" or "generic", `op` "load", "store", "atomic", "copy" (cp.async) or
    "matrix" (ldmatrix, stmatrix). `ptx` and `machine` are numbers of instructions by width, in bytes per lane;
    `opcodes` are the machine's. `together`: all those of PTX are in one basic block. `plain`: none of them is a
    compare-and-swap.

    `verdict`: "same"; "copied" (more of the same, as in an unrolled loop); "merged" (wider ones); "fewer", "gone" (some
    or all are left out); "added" (the assembler's own, such as spilled registers); "loop" (an atomic became a loop of
    compare-and-swap); "joined" (an atomic that adds 1 counts the lanes that access one word, which then don't queue).
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

    def __post_init__(self) -> None:
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
        """The machine's requests for each one counted; None where the code alone doesn't determine it.

        The requested bytes stay the same. Where all accesses have one width in PTX and one in the machine code, the
        factor is the ratio of the widths, however often loops were unrolled. Where the machine code has as many bytes
        as PTX, in one basic block, nothing was copied and the numbers can be compared.
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


def accesses(kernel: Kernel, arch: str) -> tuple[Accesses, ...]:
    """The memory accesses of a kernel's lines on an architecture ("sm_80"), in the order of lines.

    kernel: as the engine loads it. Errors: as `machine_code`.
    """
    lowered, _ = kernel.compiled(count=True)
    own = {index for index, name in kernel.module.module.files.items() if name == kernel.filename}
    code = machine_code(kernel.ptx, arch, kernel.entry, kernel.max_registers)
    return compare(in_ptx(lowered, own), in_machine(code, kernel.filename))


def compare(
    ptx: Mapping[Key, list[PlacedSite]], machine: Mapping[Key, list[MachineInstruction]]
) -> tuple[Accesses, ...]:
    """Match the accesses of PTX (from `in_ptx`) and of the machine code (from `in_machine`) by line and kind."""
    found = [_beside(key[1:], [key], ptx, machine) for key in sorted({*ptx, *machine})]
    # A loop of compare-and-swap begins with a load of the old value, which isn't an access of the user's.
    loops = {(row.lines, row.space) for row in found if row.verdict == LOOP}
    found = [row for row in found if row.verdict != ADDED or (row.lines, row.space) not in loops]
    kept = [row for row in found if row.verdict in AS_COUNTED]
    for what in sorted({(row.space, row.op) for row in found}):
        changed = [row for row in found if (row.space, row.op) == what and row.verdict not in AS_COUNTED]
        # Accesses missing on one line and added on another have moved, as when the stores of four lines become one.
        if {GONE, FEWER} & {row.verdict for row in changed} and {ADDED, MERGED} & {row.verdict for row in changed}:
            changed = [_beside(what, [(row.lines[0], *what) for row in changed], ptx, machine)]
        kept += changed
    return tuple(sorted(kept, key=lambda row: (row.lines, row.space, row.op)))


def _beside(
    what: tuple[str, str], keys: list[Key], ptx: Mapping[Key, list[PlacedSite]],
    machine: Mapping[Key, list[MachineInstruction]],
) -> Accesses:  # fmt: skip
    written = [pair for key in keys for pair in ptx.get(key, ())]
    made = [instruction for key in keys for instruction in machine.get(key, ())]
    return Accesses(
        tuple(key[0] for key in keys),
        *what,
        dict(Tally(site.nbytes for site, _ in written)),
        dict(Tally(instruction.access[2] for instruction in made if instruction.access is not None)),
        tuple(dict.fromkeys(instruction.opcode for instruction in made)),
        len({basic_block for _, basic_block in written}) == 1,
        not any("cas" in site.instruction.modifiers for site, _ in written),
    )


def in_ptx(lowered: Lowered, own: set[int]) -> dict[Key, list[PlacedSite]]:
    """The sites of a lowered kernel that access memory; `own`: the numbers of the user's files in the PTX."""
    basic_blocks = {
        (instruction.text, instruction.location): basic_block.index
        for basic_block in lowered.basic_blocks
        for instruction in basic_block.counted
    }
    found: dict[Key, list[PlacedSite]] = {}
    line = basic_block = 0
    for site in lowered.sites:
        line = line_of(site.instruction.location, own) or line
        basic_block = basic_blocks.get((site.instruction.text, site.instruction.location), basic_block)
        if (operation := _operation(site)) is not None:
            found.setdefault((line, *operation), []).append((site, basic_block))
    return found


def _operation(site: Site) -> tuple[str, str] | None:
    if site.kind == "copy":  # two sites, one for each side
        return ("shared", "copy") if site.space == "shared" else None
    if site.matrices:
        return "shared", "matrix"
    return (site.space or "generic", site.kind) if site.kind in ("load", "store", "atomic") else None


def in_machine(code: Iterable[MachineInstruction], filename: str) -> dict[Key, list[MachineInstruction]]:
    """A kernel's accesses to memory; an instruction without a line of the user's counts as the line before it."""
    found: dict[Key, list[MachineInstruction]] = {}
    line = 0
    for instruction in code:
        line = instruction.line(filename) or line
        if instruction.access is not None:
            found.setdefault((line, *instruction.access[:2]), []).append(instruction)
    return found

"""The machine code (SASS) of a kernel beside its source lines, for any GPU of the table, without running it.

`sass(kernel, grid, block, args)` shows what NVIDIA's assembler makes of a kernel: which loads it merges, which loops it
unrolls, what it keeps in registers. A profile counts PTX; `notes` says in words where the machine code differs.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from vgpu.hardware import gpus
from vgpu.hardware.device import current
from vgpu.tools.compiled import assembled_for
from vgpu.tools.profile_table import many
from vgpu.tools.source_cells import in_box, source_code

if TYPE_CHECKING:
    from vgpu.compile.machine_code import MachineInstruction
    from vgpu.hardware.gpus import GPU
    from vgpu.launch.counters import Counters
    from vgpu.launch.launch import Kernel
    from vgpu.tools.assembled import Accesses
    from vgpu.tools.prepare import Dimensions, Grid

MOST_NOTES = 3


@dataclass(frozen=True)
class MachineLine:
    """One source line of a kernel and its instructions in order of address; number 0 is for code without a line."""

    number: int
    source: str
    instructions: tuple[MachineInstruction, ...]


@dataclass(frozen=True, repr=False)
class MachineCode:
    """A kernel as NVIDIA's assembler makes it for one GPU: its source lines, each with its machine instructions.

    `arch` is the architecture assembled for ("sm_80"), `registers` the registers of a thread in this code, and
    `instructions` all of them by address.
    """

    name: str
    gpu: GPU
    arch: str
    registers: int
    instructions: tuple[MachineInstruction, ...]
    lines: tuple[MachineLine, ...]

    @property
    def title(self) -> str:
        size = f"{many(len(self.instructions), 'instruction')}, {many(self.registers, 'register')} a thread"
        return f"Machine code of {self.name} for {self.gpu.name} ({self.arch}): {size}"

    def count(self, opcode: str) -> int:
        """How many instructions have this opcode: "LDS.128", or "LDS" for those of all widths."""
        return sum(f"{found.opcode}.".startswith(f"{opcode}.") for found in self.instructions)

    @property
    def loads_in_flight(self) -> int:
        """The most loads from global memory that a warp issues before it needs the value of one of them."""
        return loads_in_flight(self.instructions)

    def __repr__(self) -> str:
        rows = [self.title]
        for line in self.lines:
            rows += ["", f"{line.number or '':>4} {line.source.rstrip()}".rstrip()]
            rows += [f"       {found.address:04x}  {found.text}" for found in line.instructions]
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        cell = "padding:0.15em 0.6em;text-align:left;vertical-align:top"
        code = "white-space:pre;background:transparent;color:inherit"
        rows = []
        for line in self.lines:
            listing = escape("\n".join(f"{found.address:04x}  {found.text}" for found in line.instructions))
            rows.append(
                f'<tr><th scope="row" style="{cell}">{line.number or ""}</th>'
                f'<td style="{cell}">{source_code(line.source)}</td>'
                f'<td style="{cell}"><code style="{code}">{listing}</code></td></tr>'
            )
        head = "".join(f'<th scope="col" style="{cell}">{title}</th>' for title in ("line", "source", "machine code"))
        return in_box(
            '<table class="warpbook-sass" style="border-collapse:collapse;color:inherit;background:transparent">'
            f'<caption style="text-align:left;color:inherit">{escape(self.title)} (compiler)</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )


_REGISTER = re.compile(r"\bR(\d+)")


def loads_in_flight(instructions: Iterable[MachineInstruction]) -> int:
    """The most loads from global memory that are issued, in order of address, before one of their values is needed."""
    most, loads = 0, 0
    pending: set[int] = set()  # registers
    for each in instructions:
        named = [int(number) for number in _REGISTER.findall(each.operands)]
        if pending.intersection(named):
            loads, pending = 0, set()
        memory, op, nbytes = each.access or ("", "", 0)
        if (memory, op) == ("global", "load"):
            loads += 1
            pending.update(range(named[0], named[0] + max(1, nbytes // 4)))
            most = max(most, loads)
    return most


def sass(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence, *, device: GPU | str | None = None, **meta: Any
) -> MachineCode:
    """The machine code of `kernel` for a launch with these arguments; nothing runs.

    kernel, grid, block, args, meta: as for `profile`. device: a GPU of the table (else the one chosen by
    `device("...")`); one before Turing is shown as sm_75, the oldest that CUDA 13 knows. Errors: as `profile`;
    `Unsupported` where NVIDIA's assembler or disassembler is not installed, with the package that has it.
    """
    from vgpu.tools.prepare import prepare

    gpu = current() if device is None else gpus.find(device) if isinstance(device, str) else device
    return sass_of(prepare("sass", kernel, grid, block, args, meta)[1].kernel, gpu)


def sass_of(kernel: Kernel, gpu: GPU) -> MachineCode:
    """The machine code of a kernel as the engine loads it."""
    from vgpu.compile.machine_code import machine_code, registers

    arch = assembled_for(gpu, kernel)
    request = kernel.ptx, arch, kernel.entry, kernel.max_registers
    code = machine_code(*request)
    return MachineCode(kernel.name, gpu, arch, registers(*request), code, tuple(_lines(kernel, code)))


def _lines(kernel: Kernel, code: Iterable[MachineInstruction]) -> Iterator[MachineLine]:
    source = textwrap.dedent("\n".join(kernel.source)).split("\n")
    by_line: dict[int, list[MachineInstruction]] = {}
    for instruction in code:
        by_line.setdefault(instruction.line(kernel.filename) or 0, []).append(instruction)
    for number, found in sorted(by_line.items()):
        at = number - kernel.first_line
        yield MachineLine(number, source[at] if number and 0 <= at < len(source) else "", tuple(found))


# ---------------------------------------------------------------- beside the counts of a profile


@dataclass(frozen=True)
class AssembledRequests:
    """Requests to shared memory of some lines, where the machine code makes others than the counted ones of PTX.

    `op` is "load", "store" or "atomic", `counted` the requests counted in PTX, `requests` those of the machine code
    (None where reading the code doesn't tell), `opcodes` its instructions.
    """

    lines: tuple[int, ...]
    op: str
    counted: int
    requests: int | None
    opcodes: tuple[str, ...]


def shared_requests(kernel: Kernel, counters: Counters, arch: str) -> tuple[AssembledRequests, ...]:
    """Lines whose requests to shared memory differ; loops of compare-and-swap, and what is added, are not among them.

    kernel: as the engine loads it; counters: of its launch. Errors: as `accesses`.
    """
    from vgpu.tools.assembled import FEWER, GONE, MERGED

    found = []
    for row in _changed(kernel, counters, arch):
        counted = _counted(row, counters.lines)
        if row.space == "shared" and row.verdict in (MERGED, FEWER, GONE) and counted:
            requests = None if row.factor is None else round(counted * row.factor)
            found.append(AssembledRequests(row.lines, row.op, counted, requests, row.opcodes))
    return tuple(found)


def _changed(kernel: Kernel, counters: Counters, arch: str) -> list[Accesses]:
    """The accesses that the machine code has not as PTX; kernels that can't have any are not assembled."""
    from vgpu.tools.assembled import AS_COUNTED, accesses

    if not any(counters.total[key] for key in _MAY_DIFFER):
        return []
    return [row for row in accesses(kernel, arch) if row.verdict not in AS_COUNTED]


def _counted(row: Accesses, lines: Mapping[int, Mapping[str, int]]) -> int:
    """The requests counted in PTX for a row."""
    key = f"{_MEMORY.get(row.space, row.space)}_{row.op}_requests"
    return sum(lines.get(line, {}).get(key, 0) for line in row.lines)


def note(kernel: Kernel, counters: Counters, arch: str) -> str:
    """One line on where the machine code makes fewer or more accesses than the counted PTX; "" if nowhere.

    kernel: as the engine loads it; counters: of its launch. A kernel that only uses global memory isn't compared unless
    it loads matrices: the assembler keeps all other accesses to global memory (vgpu/tools/SASS.md has the survey).
    """
    from vgpu.base.errors import CompileError, Unsupported
    from vgpu.tools.assembled import MERGED

    try:
        changed = _changed(kernel, counters, arch)
    except (CompileError, Unsupported) as error:
        return f"machine code ({arch}) not compared: {' '.join(str(error).split())}"
    notes = list(_notes(changed, counters.lines))
    if not notes:
        return ""
    more = f"; {len(notes) - MOST_NOTES} more, which sass(…) shows" if len(notes) > MOST_NOTES else ""
    merged = any(row.verdict == MERGED and row.space == "shared" for row in changed)
    narrow = "; wavefronts are counted for the accesses in PTX" if merged else ""
    return f"machine code ({arch}): {'; '.join(notes[:MOST_NOTES])}{more}{narrow}"


_MEMORY = {"const": "constant"}
_MAY_DIFFER = (
    "shared_load_requests", "shared_store_requests", "shared_atomic_requests", "local_load_requests",
    "local_store_requests", "constant_load_requests", "tensor_instructions",
)  # fmt: skip
_COUNTED = (*_MAY_DIFFER[:-1], "global_load_requests", "global_store_requests")


def _notes(changed: Iterable[Accesses], lines: Mapping[int, Mapping[str, int]]) -> Iterator[str]:
    from vgpu.tools.assembled import ADDED, GONE, JOINED, LOOP

    for row in changed:
        memory = _MEMORY.get(row.space, row.space)
        if f"{memory}_{row.op}_requests" not in _COUNTED:
            continue
        counted = _counted(row, lines)
        if not counted and row.verdict != ADDED:
            continue  # nothing was counted that could be wrong
        written, made = sum(row.ptx.values()), sum(row.machine.values())
        where = f"line{'s' * (len(row.lines) > 1)} {', '.join(map(str, row.lines))}"
        what = f"{memory} {row.op}{'s' * (max(written, made) > 1)}"
        opcodes = ", ".join(row.opcodes)
        if row.verdict == LOOP:
            over = f"over {many(counted, 'request')} counted"
            yield f"{where}: a {memory} atomic is a loop of compare-and-swap ({opcodes}), {over}"
        elif row.verdict == JOINED:
            yield f"{where}: lanes that want one {memory} word are counted at once ({opcodes}), so fewer wavefronts"
        elif row.verdict == ADDED:
            why = "spilled registers, " if row.space == "local" else ""
            yield f"{where}: {why}{made} {what} that are not counted ({opcodes})"
        elif row.verdict == GONE:
            why = {"local": "kept in registers", "const": "operands of other instructions"}.get(row.space, "left out")
            yield f"{where}: {why}, no {what}, {counted:,} counted"
        else:
            so = many(round(counted * row.factor), "request") if row.factor is not None else "fewer requests"
            yield f"{where}: {written} {what} are {made} ({opcodes}), so {so}, {counted:,} counted"

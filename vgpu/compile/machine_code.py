"""The machine code (SASS) that NVIDIA's assembler makes of a kernel's PTX, read with NVIDIA's disassembler.

Neither needs a GPU: `ptxas` and `nvdisasm` come with Triton (Linux), with packages of NVIDIA's or with a toolkit. A
kernel is assembled as a whole program, as NVRTC, Numba's link-time optimisation and Triton do for a GPU. That matters:
in code that is to be linked, nobody knows where shared arrays will lie, and none of their accesses are merged. Sources:
"CUDA Binary Utilities" (instruction sets, `nvdisasm -c -gi`), CUDA 13.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vgpu.base import on_disk
from vgpu.base.errors import CompileError, Unsupported
from vgpu.compile.cuda_c import entries
from vgpu.compile.resources import check, for_older, linked_later, with_features

# What an opcode accesses: memory, and what is done there. LD, ST and ATOM have generic addresses; RED came before REDG.
ACCESSES = {
    "LDG": ("global", "load"), "STG": ("global", "store"), "ATOMG": ("global", "atomic"), "REDG": ("global", "atomic"),
    "RED": ("global", "atomic"), "ATOM": ("generic", "atomic"), "LD": ("generic", "load"), "ST": ("generic", "store"),
    "LDS": ("shared", "load"), "STS": ("shared", "store"), "ATOMS": ("shared", "atomic"),
    "LDL": ("local", "load"), "STL": ("local", "store"), "LDC": ("const", "load"), "LDCU": ("const", "load"),
    "ULDC": ("const", "load"), "LDGSTS": ("shared", "copy"), "LDSM": ("shared", "matrix"), "STSM": ("shared", "matrix"),
}  # fmt: skip
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "S64": 8, "U64": 8, "F64": 8, "128": 16, "256": 32}


@dataclass(frozen=True, slots=True)
class MachineInstruction:
    """One machine instruction: its offset in bytes from the function's start, what it does, and its source line.

    `predicate` is its guard ("@!P0" or ""), `opcode` has all modifiers ("LDS.128"), `frames` the source positions
    (file, line) from the innermost function that was inlined outwards; `function` is where it stands.
    """

    address: int
    predicate: str
    opcode: str
    operands: str
    frames: tuple[tuple[str, int], ...]
    function: str

    @property
    def text(self) -> str:
        """As a listing has it: "@!P0 LDS.128 R4, [R2+0x10]"."""
        return " ".join(part for part in (self.predicate, self.opcode, self.operands) if part)

    @property
    def access(self) -> tuple[str, str, int] | None:
        """The memory, "load", "store" or "atomic", and bytes a lane; None without a separate access."""
        name, *modifiers = self.opcode.split(".")
        # Bank 3 has the module's constants, the others parameters and what compilers put there.
        foreign = ACCESSES.get(name, "")[:1] == ("const",) and "c[0x3]" not in self.operands
        if name not in ACCESSES or foreign or self.predicate == "@!PT":  # one that is never executed fills a pause
            return None
        if ACCESSES[name][1] == "matrix":  # a lane names 16 bytes of a row
            return *ACCESSES[name], 16
        return *ACCESSES[name], next((_WIDTHS[m] for m in modifiers if m in _WIDTHS), 4)

    def line(self, filename: str) -> int | None:
        """The innermost position within the user's file."""
        return next((line for name, line in self.frames if name == filename and line), None)


# A program: where Triton has it and under which name, and the package that has it everywhere.
_PROGRAMS = {"ptxas": ("ptxas-blackwell", "nvidia-cuda-nvcc"), "nvdisasm": ("nvdisasm", "nvidia-cuda-nvdisasm")}


@functools.cache
def program(name: str) -> str:
    """The path of "ptxas" or "nvdisasm": Triton's, that of NVIDIA's package, or a toolkit's of CUDA 13.

    Raises `Unsupported` where there is none.
    """
    at_triton, _ = _PROGRAMS[name]
    triton = find_spec("triton")
    folders = [Path(root, "backends", "nvidia", "bin") for root in (triton and triton.submodule_search_locations) or ()]
    found = next((str(path) for folder in folders if (path := folder / at_triton).is_file()), None)
    if found is None:
        from cuda.pathfinder import find_nvidia_binary_utility  # which takes 13 ms to import

        found = find_nvidia_binary_utility(name)
    if found is None:
        packages = " ".join(package for _, package in _PROGRAMS.values())
        raise Unsupported(
            f"machine code is made and read with NVIDIA's ptxas and nvdisasm, and {name} is not installed here. On "
            f"Linux they come with Triton; or install them: python -m pip install {packages}"
        )
    return found


def versions() -> str:
    """Which assembler and disassembler there are: "ptxas V13.1.80, nvdisasm V13.1.80"."""
    return ", ".join(f"{name} {re.findall(r'V[0-9.]+', _run(name, '--version'))[0]}" for name in _PROGRAMS)


def machine_code(ptx: str, arch: str, entry: str, max_registers: int | None = None) -> tuple[MachineInstruction, ...]:
    """A kernel's instructions in order, and after them those of the functions that it may call.

    `arch` is "sm_75" or newer. Raises `CompileError` when it cannot be assembled, `Unsupported` where the programs are
    missing, KeyError for no such kernel. Kept, so that asking again is free.
    """
    every, kernels = _assemble(ptx, arch, max_registers)[0], entries(ptx)
    if entry not in every:
        raise KeyError(f"no kernel {entry!r} in this code, only {', '.join(kernels) or 'none'}")
    return sum((code for name, code in every.items() if name not in kernels), every[entry])


def registers(ptx: str, arch: str, entry: str, max_registers: int | None = None) -> int:
    """The registers a thread has in this machine code. Errors: as `machine_code`."""
    return _assemble(ptx, arch, max_registers)[1][entry]


@functools.lru_cache(maxsize=256)
def _assemble(ptx: str, arch: str, max_registers: int | None) -> Any:
    """The instructions of each function, and the registers of each kernel."""
    check(arch)
    programs = [(name, os.stat(name).st_size, os.stat(name).st_mtime_ns) for name in map(program, _PROGRAMS)]

    def make() -> bytes:
        return json.dumps(_assembled(ptx, arch, max_registers)).encode()

    said, listing = json.loads(on_disk.kept("ptxas", (), (ptx, arch, max_registers, programs), make))
    used = re.findall(r"Compiling entry function '([^']+)'.*?Used (\d+) registers", said, re.DOTALL)
    return read(listing), {name: int(number) for name, number in used}


def _assembled(ptx: str, arch: str, max_registers: int | None) -> tuple[str, str]:
    """The assembler's report on a kernel, and the disassembler's listing."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        limit = [f"-maxrregcount={max_registers}"] if max_registers else []
        part = ["-c"] if linked_later(ptx) else []
        command = [f"-arch={with_features(ptx, arch)}", "-lineinfo", "-v", *limit, *part, str(source), "-o", str(made)]
        text = for_older(ptx, arch)
        source.write_text(text, encoding="utf-8")
        try:
            said = _run("ptxas", *command)
        except CompileError as error:
            # What nvJitLink linked is labelled with its own release, though it uses nothing new.
            known = re.search(r"Unsupported \.version .* current version is '([\d.]+)'", str(error))
            if known is None:
                raise
            source.write_text(re.sub(r"(?m)^\.version .*$", f".version {known[1]}", text), encoding="utf-8")
            said = _run("ptxas", *command)
        return said, listing(made)


def listing(cubin: Path) -> str:
    """The machine code in a file, as the disassembler writes it with source lines."""
    return _run("nvdisasm", "-c", "-gi", str(cubin))


def read(listing: str) -> dict[str, tuple[MachineInstruction, ...]]:
    """The instructions of each function in a listing."""
    sections = re.split(r"^\.text\.([\w$.]+):$", listing, flags=re.MULTILINE)
    return {name: tuple(_instructions(name, body)) for name, body in zip(sections[1::2], sections[2::2], strict=True)}


def _run(name: str, *arguments: str) -> str:
    try:
        done = subprocess.run([program(name), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:  # a sandbox may let no program start
        raise Unsupported(f"{name}, which machine code is read with, could not be started: {error}") from None
    if done.returncode:
        raise CompileError(
            f"{name} refused this kernel ({arguments[0]}):\n{done.stderr.strip() or done.stdout.strip()}"
        )
    return done.stdout + done.stderr


_FRAME = re.compile(r'//## File "(?P<file>[^"]*)", line (?P<line>\d+)')
_INSTRUCTION = re.compile(
    r"/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<predicate>@!?\w+)?\s*(?P<opcode>[A-Z][\w.]*)\s*(?P<operands>[^;]*?)\s*;"
)
_LABEL = re.compile(r"^\.L_(\w+):", re.MULTILINE)


def _instructions(function: str, listing: str) -> Iterator[MachineInstruction]:
    """Those of one function; labels in their operands become addresses, and what only fills the last line is left."""
    frames: list[tuple[str, int]] = []
    fresh, waiting, offsets, found = True, [], {}, []
    for row in listing.splitlines():
        if match := _FRAME.search(row):
            if fresh:
                frames, fresh = [], False
            frames.append((match["file"], int(match["line"])))
        elif match := _LABEL.match(row):
            waiting.append(match[1])
        elif match := _INSTRUCTION.search(row):
            fresh = True
            address = int(match["address"], 16)
            offsets.update(dict.fromkeys(waiting, address))
            waiting = []
            found.append((address, match, tuple(frames)))
    while found and found[-1][1]["opcode"] == "NOP":
        found.pop()
    if found and found[-1][1]["opcode"] == "BRA" and offsets.get(_jump(found[-1][1]["operands"])) == found[-1][0]:
        found.pop()  # a loop of one instruction, which nothing reaches
    for address, match, where in found:
        operands = re.sub(r"`\(\.L_(\w+)\)", lambda m: f"`(.L_{offsets.get(m[1], 0):x})", match["operands"])
        yield MachineInstruction(address, match["predicate"] or "", match["opcode"], operands, where, function)


def _jump(operands: str) -> str:
    found = re.search(r"`\(\.L_(\w+)\)", operands)
    return found[1] if found else ""

"""A kernel's registers, shared memory and spills, as reported by NVIDIA's assembler, for any GPU without having one.

A kernel is assembled as a whole program, as it is for a GPU: by NVRTC for CuPy, by the linker's optimisation at link
time for Numba, by ptxas for Triton. Code that is assembled to be linked with more (`-rdc=true`), with its shared arrays
at unknown addresses, has other numbers: 61 of the 192 kernels of the exercises' and labs' solutions do on sm_80, one of
them 72 registers instead of 32. Of the libraries that compile in this process, only NVRTC assembles whole programs,
and takes no PTX: so the PTX goes through it inside an `asm` statement.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from vgpu.base.errors import CompileError
from vgpu.compile.cuda_c import architecture, cuda_c_to_ptx, entries, nvrtc
from vgpu.compile.link import bare


@dataclass(frozen=True)
class Resources:
    """The assembler's account of one kernel on one GPU architecture.

    `registers` is a count a thread; `shared_bytes` (static, a block), `local_bytes` (the stack frame, a
    thread), `spill_store_bytes` and `spill_load_bytes` (a thread), `constant_bytes` (the variables that its module
    declares) are bytes. Spills, those of called functions too, are part of the frame; without them it holds local
    arrays.
    """

    registers: int
    shared_bytes: int = 0
    local_bytes: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    constant_bytes: int = 0
    arch: str = "sm_80"


def register_limit(options: Sequence[str] | None) -> int | None:
    """The registers that nvcc's `-maxrregcount` leaves a thread, among the options of a program; None without one."""
    limit = None
    for option in options or ():
        found = re.fullmatch(r"--?maxrregcount[= ](\d+)", str(option))
        limit = int(found[1]) if found else limit
    return limit


def resources(
    code: str,
    kind: str = "ptx",
    arch: str = "sm_80",
    entry: str | None = None,
    *,
    max_registers: int | None = None,
    options: Sequence[str] = (),
) -> Resources:
    """Registers, shared memory and spills of one kernel, for any `arch` from "sm_75" on.

    `code` is PTX (`kind="ptx"`; what either compiler made) or CUDA C++ (`kind="cuda"`, compiled for `arch`
    with `options` first). `entry` names the kernel where there are several. `max_registers` is Numba's
    `max_registers=` or nvcc's `-maxrregcount`. Raises `CompileError` when the architecture cannot run it and
    `KeyError` when there is no such kernel. Kept, so that asking again is free.
    """
    if kind not in ("ptx", "numba", "cuda"):
        raise ValueError(f'kind is "ptx" or "cuda", not {kind!r}')
    if kind == "cuda":
        code = cuda_c_to_ptx(code, arch=architecture(_capability(arch)), options=options).ptx
    every = _assemble(code, arch, max_registers)
    if entry is None:
        if len(every) != 1:
            raise KeyError(f"say which kernel: this code has {', '.join(every) or 'none'}")
        (entry,) = every
    if entry not in every:
        raise KeyError(f"no kernel {entry!r} in this code, only {', '.join(every) or 'none'}")
    return every[entry]


def _capability(arch: str) -> tuple[int, int]:
    match = re.fullmatch(r"(?:sm|compute)_(\d+)(\d)[af]?", arch)
    if not match:
        raise ValueError(f'an architecture is written like "sm_80", not {arch!r}')
    return int(match[1]), int(match[2])


def check(arch: str) -> None:
    """Raises `CompileError` for an architecture that CUDA 13 no longer supports."""
    if _capability(arch) < (7, 5):
        raise CompileError(f"CUDA 13 assembles for sm_75 (Turing) and newer, not for {arch}; take sm_75 instead.")


def for_older(ptx: str, arch: str) -> str:
    """PTX made for a newer GPU, relabelled: an older one takes it as long as it uses nothing newer."""
    target = re.search(r"^\.target\s+sm_(\d+)[af]?", ptx, re.MULTILINE)
    major, minor = _capability(arch)
    if target and int(target[1]) > 10 * major + minor:
        return ptx[: target.start()] + f".target sm_{major}{minor}" + ptx[target.end() :]
    return ptx


def with_features(ptx: str, arch: str) -> str:
    """The architecture with the letter of the PTX's target, where that is the same one: "sm_90a" for "sm_90"."""
    target = re.search(r"^\.target\s+(sm_\d+)[af]", ptx, re.MULTILINE)
    return target[0].split()[-1] if target and target[1] == arch else arch


# Functions that the assembler itself provides; all others would have to be linked in.
_PROVIDED = {"vprintf", "__assertfail", "malloc", "free"}


def linked_later(ptx: str) -> bool:
    """Whether a PTX text calls functions of the device runtime (barriers of whole grids), which a linker adds."""
    return not _PROVIDED.issuperset(re.findall(r"^\.extern \.func\s+(?:\([^)]*\)\s*)?([\w$]+)", ptx, re.MULTILINE))


@functools.cache
def _assemble(ptx: str, arch: str, max_registers: int | None) -> dict[str, Resources]:
    check(arch)
    options = [f"--gpu-architecture={with_features(ptx, arch)}", "--ptxas-options=-v"]
    options += [f"--maxrregcount={max_registers}"] if max_registers else []
    options += ["--relocatable-device-code=true"] if linked_later(ptx) else []
    try:
        report = nvrtc(_AROUND.format(bare(ptx)), "kernel.cu", options, result="CUBIN")[1]
    except CompileError as error:
        raise CompileError(f"This kernel cannot be assembled for {arch}:\n{_shorten(str(error))}") from None
    return {name: _read(report, name, arch) for name in entries(ptx)}


# The kernel ends early, and a function takes what the compiler appends to its text. Names that no user would choose.
_AROUND = """extern "C" __global__ void __before_the_ptx() {{ asm volatile(R"__ptx__(ret; }}
{}
.func __behind_the_ptx() {{)__ptx__"); }}
"""


def _read(report: str, name: str, arch: str) -> Resources:
    own = re.search(rf"Compiling entry function '{re.escape(name)}' for .*?Used [^\n]*", report, re.DOTALL)
    if own is None:
        raise CompileError(f"NVRTC reports nothing of {name} for {arch}")

    # What called functions spill is spilled by the kernel; the report doesn't say which of them it calls.
    kernels = set(re.findall(r"Compiling entry function '([^']+)'", report)) - {name}
    of_each = r"Function properties for (\S+)\n.*?(\d+) bytes spill stores, (\d+) bytes spill loads"
    spills = [each for each in re.findall(of_each, report) if each[0] not in kernels]

    def number(pattern: str, text: str = own[0]) -> int:
        return sum(int(value) for value in re.findall(pattern, text))

    return Resources(
        registers=number(r"Used (\d+) registers"),
        shared_bytes=number(r"(\d+) bytes smem"),
        local_bytes=number(r"(\d+) bytes cumulative stack") or number(r"(\d+) bytes stack frame"),
        spill_store_bytes=sum(int(each[1]) for each in spills),
        spill_load_bytes=sum(int(each[2]) for each in spills),
        constant_bytes=number(r"gmem, (\d+) bytes cmem\[3\]", report),
        arch=arch,
    )


def _shorten(error: str) -> str:
    rows = [row for row in error.splitlines() if row.startswith("ptxas")] or error.splitlines()
    return "\n".join(rows[:3])

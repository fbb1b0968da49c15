"""A kernel's registers, shared memory and spills, as reported by NVIDIA's assembler.

nvJitLink assembles PTX for any GPU without having one. It assembles code to be linked with more, and its report is
exact for that. The same kernel assembled as a separate program (`machine_code.py`), as NVRTC does for CuPy, often
needs fewer registers: of 92 kernels of the exercises' solutions 22 do, one of them 11 instead of 24, and 2 need more.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from vgpu.base import on_disk, steady
from vgpu.base.errors import CompileError
from vgpu.compile.cuda_c import alone, architecture, cuda_c_to_ptx, entries


@dataclass(frozen=True)
class Resources:
    """The assembler's account of one kernel on one GPU architecture.

    `registers` is a count a thread; `shared_bytes` (static, a block), `local_bytes` (the stack frame, a
    thread), `spill_store_bytes` and `spill_load_bytes` (a thread), `constant_bytes` (all banks, parameters
    included) are bytes. Spills, those of called functions too, are part of the frame; without them it holds local
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


@functools.cache
def _assemble(ptx: str, arch: str, max_registers: int | None) -> dict[str, Resources]:
    check(arch)
    info, error = _link(for_older(ptx, arch), arch, max_registers)
    read = {name: _read(info, name, arch) for name in entries(ptx)}
    found = {name: resources for name, resources in read.items() if resources is not None}
    # Functions of the device runtime (grid-wide barriers) stay unresolved here, yet every kernel is assembled.
    if error and len(found) < len(read):
        raise CompileError(f"This kernel cannot be assembled for {arch}:\n{_shorten(error)}")
    return found


def _link(ptx: str, arch: str, max_registers: int | None) -> tuple[str, str]:
    """nvJitLink's two logs: information and errors (empty without any)."""

    def make() -> bytes:
        return json.dumps(steady.run_uninterrupted(_nvjitlink, ptx, arch, max_registers)).encode()

    info, error = json.loads(on_disk.kept("nvjitlink", ("nvidia-nvjitlink",), (ptx, arch, max_registers), make))
    return info, error


@alone
def _nvjitlink(ptx: str, arch: str, max_registers: int | None) -> tuple[str, str]:
    from cuda.bindings import nvjitlink

    options = [f"-arch={arch}", "-verbose"] + ([f"-maxrregcount={max_registers}"] if max_registers else [])
    handle = nvjitlink.create(len(options), options)
    data, failed = ptx.encode(), ""

    def log(size: Callable[..., Any], get: Callable[..., Any]) -> str:
        buffer = bytearray(size(handle))
        get(handle, buffer)
        return bytes(buffer).rstrip(b"\0").decode(errors="replace").strip()

    try:
        try:
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "kernel.ptx")
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as error:
            failed = str(error)
        info = log(nvjitlink.get_info_log_size, nvjitlink.get_info_log)
        if failed:
            failed = log(nvjitlink.get_error_log_size, nvjitlink.get_error_log) or failed
    finally:
        nvjitlink.destroy(handle)
    return info, failed


def _read(info: str, name: str, arch: str) -> Resources | None:
    quoted = re.escape(name)
    own = re.search(
        rf"Compiling entry function '{quoted}' for .*?"
        r"(?=\n[^\n]*(?:Compiling entry|: Function properties for ')|\Z)",
        info,
        re.DOTALL,
    )
    if not own:
        return None
    # The last word is the linker's, which knows the functions that the kernel calls.
    linked = re.search(rf"Function properties for '{quoted}':\n(.*)", info)
    last = linked[1] if linked else own[0]

    # What called functions spill is spilled by the kernel; the report doesn't say which of them it calls.
    kernels = set(re.findall(r"Compiling entry function '([^']+)'", info)) - {name}
    of_each = r"Function properties for ([^\s':]+)\n.*?(\d+) bytes spill stores, (\d+) bytes spill loads"
    spills = re.findall(of_each, info)
    stores, loads = (sum(int(each[at]) for each in spills if each[0] not in kernels) for at in (1, 2))

    def number(pattern: str, text: str) -> int:
        return sum(int(value) for value in re.findall(pattern, text))

    return Resources(
        registers=number(r"[Uu]sed (\d+) registers", last),
        shared_bytes=max(0, number(r"(\d+) bytes smem", linked[1]) - _reserved(arch))
        if linked
        else number(r"(\d+) bytes smem", own[0]),
        local_bytes=number(r"(\d+) stack\b", last) if linked else number(r"(\d+) bytes stack frame", own[0]),
        spill_store_bytes=stores,
        spill_load_bytes=loads,
        constant_bytes=number(r"(\d+) bytes cmem\[\d+\]", last),
        arch=arch,
    )


_PROBE = """.version 7.0
.target sm_75
.address_size 64
.shared .align 4 .b8 four[4];
.visible .entry probe() { st.shared.u32 [four], 1; ret; }
"""


@functools.cache
def _reserved(arch: str) -> int:
    """The shared memory that the linker reserves for the system (1 KiB on Hopper), measured with a probe kernel."""
    report = re.search(r"used .* (\d+) bytes smem", _link(_PROBE, arch, None)[0])
    if report is None:
        raise CompileError(f"nvJitLink does not report the shared memory of a kernel for {arch}")
    return int(report[1]) - 4


def _shorten(error: str) -> str:
    rows = [row for row in error.splitlines() if row.strip() and "NVJITLINK_ERROR" not in row]
    return "\n".join(rows[:3])

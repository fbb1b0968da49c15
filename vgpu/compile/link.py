"""Linking what Numba leaves to be linked: half precision and reshaping call small functions in CUDA C++.

Real Numba optimises kernel and functions together when it links, so that nothing of the calls is left. The
same is done here, with PTX as the result instead of machine code; source lines survive it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from vgpu.base.errors import CompileError
from vgpu.compile.cuda_c import alone, nvrtc


@alone
def link(kernel: bytes, sources: Sequence[Any], capability: Sequence[int], folders: Sequence[str] = ()) -> str:
    """The PTX of a kernel, given as LTO-IR, with the functions of some CUDA C++ sources inlined into it.

    folders: where their own headers are looked for.
    """
    from cuda.bindings import nvjitlink

    major, minor = capability
    options = [f"-arch=sm_{major}{minor}", "-lto", "-ptx", "-lineinfo"]
    parts = [kernel, *(_intermediate(source, capability, folders) for source in sources)]
    handle = nvjitlink.create(len(options), options)
    try:
        try:
            for i, part in enumerate(parts):
                nvjitlink.add_data(handle, nvjitlink.InputType.LTOIR, part, len(part), f"part{i}")
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as error:
            log = bytearray(nvjitlink.get_error_log_size(handle))
            nvjitlink.get_error_log(handle, log)
            said = bytes(log).rstrip(b"\0").decode(errors="replace").strip()
            raise CompileError(f"Linking the kernel failed: {said or error}") from None
        ptx = bytearray(nvjitlink.get_linked_ptx_size(handle))
        nvjitlink.get_linked_ptx(handle, ptx)
    finally:
        nvjitlink.destroy(handle)
    return bytes(ptx).rstrip(b"\0").decode()


def bare(ptx: str) -> str:
    """The variables and functions of a PTX text, to stand within another one."""
    # Line tables count each text's files anew, so they are left out.
    ptx = re.sub(r"^\s*\.(version|target|address_size|file|loc)\b[^\n]*\n", "", ptx + "\n", flags=re.MULTILINE)
    return re.sub(r"^\s*\.section\b[^{]*\{[^}]*\}", "", ptx, flags=re.MULTILINE)


def with_ptx(ptx: str, other: str) -> str:
    """A PTX text with declarations of functions replaced by the definitions in another one; source lines are kept."""
    other = bare(other)
    for name in re.findall(r"^\s*\.visible\s+\.func\s+(?:\([^)]*\)\s*)?([\w$]+)", other, re.MULTILINE):
        declared = rf"^\.extern \.func\s+(?:\([^)]*\)\s*)?{re.escape(name)}\s*(?:\([^)]*\)\s*)?;\n?"
        ptx = re.sub(declared, "", ptx, flags=re.MULTILINE)
    head, size, rest = ptx.partition(".address_size 64\n")
    return head + size + other + rest


def _intermediate(source: str, capability: Sequence[int], folders: Sequence[str]) -> bytes:
    major, minor = capability
    options = [f"--gpu-architecture=compute_{major}{minor}", "-dlto", "--relocatable-device-code=true"]
    options += [f"-I{folder}" for folder in folders]
    return nvrtc(source, "numba_support.cu", options, result="LTOIR")[0]

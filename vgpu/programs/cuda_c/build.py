"""Compile the host's half of a program, with the C++ compiler of this machine, into a library that Python loads."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from vgpu.base.errors import CompileError, Unsupported
from vgpu.compile.cuda_c import include_folders
from vgpu.programs.cuda_c.text import opening, pieces

HERE = Path(__file__).parent
COMPILERS = ("c++", "g++", "clang++")
FLAGS = (
    "-std=c++17", "-O1", "-g", "-w", "-fPIC", "-shared", "-fno-optimize-sibling-calls",
    "-Wl,-z,defs",
)  # fmt: skip
_MISSING = re.compile(r"undefined (?:reference to|symbol:) [`']?([\w:]+)")


def compiler() -> str | None:
    """The C++ compiler: CXX, or the first of `COMPILERS` that is there; None on systems without."""
    if sys.platform == "win32":
        return None
    return next((found for name in (os.environ.get("CXX"), *COMPILERS) if name and (found := shutil.which(name))), None)


def library(host: str, name: str, folder: Path, options: Sequence[str] = (), beside: Sequence[str] = ()) -> Path:
    """Compile the host's half, with the C++ files `beside` it, into `folder`, and return the library.

    Raises CompileError with the compiler's words, and with the names of what the runtime here lacks; Unsupported
    without a compiler.
    """
    found = compiler()
    if found is None:
        raise Unsupported(
            "a whole CUDA program needs a C++ compiler for its host part, and there is none (c++, g++ or clang++). "
            "Launch its kernels by themselves: vgpu profile file.cu --kernel NAME --grid 4 --block 256 --arg …"
        )
    source, target = folder / f"{name}.host.cpp", folder / f"{name}.so"
    source.write_text(f'#line 1 "{name}"\n{host}', encoding="utf-8")
    includes = [f"-I{each}" for each in (HERE, *include_folders())]
    command = [
        found, *FLAGS, *options, *includes, "-include", str(HERE / "prelude.h"), str(source),
        str(HERE / "runtime.cpp"), *beside, "-o", str(target), "-ldl", "-lpthread",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return target
    lacking = sorted(set(_MISSING.findall(done.stderr)))
    if lacking:
        raise CompileError(
            f"{name} calls {', '.join(lacking)}, which vgpu doesn't have: it has common functions of the "
            "runtime API, and no CUDA libraries."
        )
    raise CompileError(
        f"the host part of {name} doesn't compile with {Path(found).name}:\n{done.stderr.strip()[:4000]}"
    )


def instances(library_path: Path, kernels: Sequence[str], templates: Collection[str]) -> dict[str, str]:
    """The stubs of kernels in the library, by symbol, as C++ names them: "scale", "reduce<256>".

    kernels: their names; templates: those of them that are templates, each of whose stubs has arguments in its name.
    """
    wanted = {kernel.rpartition("::")[2]: kernel in templates for kernel in kernels}
    symbols, names = (
        subprocess.run(["nm", *how, "-D", "--defined-only", str(library_path)], capture_output=True, text=True).stdout
        for how in ((), ("-C",))
    )
    found = {}
    for mangled, plain in zip(symbols.splitlines(), names.splitlines(), strict=True):
        name = _name(plain.split(maxsplit=2)[-1])
        if wanted.get(re.sub(r"<.*", "", name).rpartition("::")[2]) is ("<" in name):
            found[mangled.split()[-1]] = name
    return found


def _name(demangled: str) -> str:
    """A function's name with the arguments of its template: "reduce<256>" of `void reduce<256>(float*, int)`."""
    name = pieces(demangled, " ")[-1]
    return name[: opening(name, len(name) - 1)] if name.endswith(")") else name

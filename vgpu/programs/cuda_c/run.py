"""Run a CUDA program from its source: split it, compile both halves, and call its `main`."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from vgpu import compile as compilers
from vgpu.base.errors import Unsupported
from vgpu.hardware.device import current
from vgpu.launch import launch
from vgpu.programs.cuda_c import build
from vgpu.programs.cuda_c.host import Host
from vgpu.programs.cuda_c.split import Split, with_own_headers

DEVICE_PRELUDE = Path(__file__).with_name("device_prelude.h")


def run_cuda_c(target: str, arguments: Sequence[str], options: Sequence[str] = (), beside: Sequence[str] = ()) -> int:
    """Compile and run the program in the file `target`, and return its exit status.

    What a kernel did wrong is printed to stderr; the program is told by the runtime's error codes, as on a GPU.
    options: `-I`, `-D` and `-std` as for nvcc. beside: C++ files that belong to the program. Raises CompileError where
    a half doesn't compile, CannotSplit, and Unsupported for a file without `main`.
    """
    path = Path(target)
    program = read(path, options)
    if not program.has_main:
        raise Unsupported(
            f"{path.name} has no main. Its kernels are {', '.join(program.kernels) or 'none'}; launch one: "
            f"vgpu profile {path.name} --kernel NAME --grid 4 --block 256 --arg …"
        )
    with tempfile.TemporaryDirectory() as folder:
        made = build.library(program.host, path.name, Path(folder), options, beside)
        stubs = build.instances(made, program.kernels, program.templates)
        device = program.device(" ".join(stubs.values()))
        kernels = compiled(device, path, stubs, options)
        library = ctypes.CDLL(str(made), mode=os.RTLD_NOW)
    host = Host(kernels, device)
    library.vgpu_connect(host.call)
    words = [os.fsencode(word) for word in (target, *arguments)]
    sys.stdout.flush()
    return library.vgpu_run(_main(library), len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))


def read(path: Path, options: Sequence[str] = ()) -> Split:
    """A program's text, with the headers that aren't the system's, split. Raises CannotSplit."""
    folders = tuple(Path(option[2:]) for option in options if option.startswith("-I"))
    whole = with_own_headers(path, folders)
    # What is in an unnamed namespace has no symbol by which the halves could find each other.
    return Split(re.sub(r"\bnamespace(\s*)\{", r"inline namespace vgpu_unnamed\1{", whole))


def compiled(device: str, path: Path, stubs: Mapping[str, str], options: Sequence[str]) -> dict[str, launch.Kernel]:
    """The kernels of a program's device half, by the symbols of the host's stubs; `stubs` has the name of each."""
    name, shown = path.name, path.read_text(encoding="utf-8", errors="replace")
    arch = compilers.architecture(current().compute_capability)
    standard = [] if any("-std" in option for option in options) else ["--std=c++17"]
    text = f'{DEVICE_PRELUDE.read_text(encoding="utf-8")}\n#line 1 "{name}"\n{device}'
    # Two kernels of one name differ in their parameters only, and their symbols say which is which.
    single = {symbol: plain for symbol, plain in stubs.items() if list(stubs.values()).count(plain) == 1}
    made = compilers.cuda_c_to_ptx(
        text, arch=arch, options=[*standard, *options], name=name, name_expressions=sorted(set(single.values()))
    )
    loaded = launch.load(made.ptx, language="cuda", filename=name, source=shown, first_line=1)
    found = {symbol: replace(kernel, name=stubs.get(symbol, symbol)) for symbol, kernel in loaded.items()}
    # A type may be another one for NVRTC, such as int64_t, and so another part of the symbol.
    return found | {symbol: replace(loaded[made.lowered[plain]], name=plain) for symbol, plain in single.items()}


def _main(library: ctypes.CDLL) -> ctypes._FuncPointer:
    """The program's `main`, by the parameters that it may have."""
    names = ("_Z9vgpu_mainiPPc", "_Z9vgpu_mainiPPKc", "_Z9vgpu_mainv", "vgpu_main")
    return getattr(library, next(name for name in names if hasattr(library, name)))

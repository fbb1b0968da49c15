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
from vgpu.programs.cuda_c.host import Device, Host
from vgpu.programs.cuda_c.integers import standard_integers
from vgpu.programs.cuda_c.split import Split, headers_of, with_own_headers

DEVICE_PRELUDE = Path(__file__).with_name("device_prelude.h")


def run_cuda_c(files: Sequence[str], arguments: Sequence[str], options: Sequence[str] = ()) -> int:
    """Compile and run the program in the `files`, the first of which is its name, and return its exit status.

    Each is compiled by itself, as by nvcc: a kernel may be launched by another file's functions, but not call device
    functions of another file. What a kernel did wrong is printed to stderr; the program is told by the runtime's error
    codes, as on a GPU. options: `-I`, `-D`, `-std` and `-arch` as for nvcc. Raises CompileError where a half doesn't
    compile, CannotSplit, and Unsupported for a program without `main`.
    """
    paths = [Path(file) for file in files]
    programs = {at: read(path, options, at) for at, path in enumerate(paths) if path.suffix.startswith(".cu")}
    if len(programs) == len(paths) and not any(program.has_main for program in programs.values()):
        kernels = [kernel for program in programs.values() for kernel in program.kernels]
        raise Unsupported(
            f"{paths[0].name} has no main. Its kernels are {', '.join(kernels) or 'none'}; launch one: "
            f"vgpu profile {paths[0].name} --kernel NAME --grid 4 --block 256 --arg …"
        )
    with tempfile.TemporaryDirectory() as folder:
        sources = [_source(path, programs.get(at)) for at, path in enumerate(paths)]
        of_host = [option for option in options if not option.startswith("-arch")]
        made, stubs = build.library(sources, Path(folder), of_host)
        devices = {}
        for at, program in ((at, program) for at, program in programs.items() if program.kernels):
            text = program.device(" ".join(stubs[at].values()))
            devices[at] = Device(compiled(text, paths[at], stubs[at], options, at), text)
        library = ctypes.CDLL(str(made), mode=os.RTLD_NOW)
    if not hasattr(library, "main"):
        raise Unsupported(f"no file has main: {', '.join(path.name for path in paths)}")
    host = Host(devices)
    for at, program in programs.items():
        host.share(library, at, program.managed)
    library.vgpu_connect(host.call)
    words = [os.fsencode(word) for word in (files[0], *arguments)]
    sys.stdout.flush()
    return library.vgpu_run(library.main, len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))


def _source(path: Path, program: Split | None) -> build.Source:
    if program is None:
        return build.Source(path, path.read_text(encoding="utf-8", errors="replace"))
    return build.Source(path, program.host, program.kernels, program.templates, program.own)


def read(path: Path, options: Sequence[str] = (), at: int = 0) -> Split:
    """File number `at` of a program, with the headers that aren't the system's, split. Raises CannotSplit."""
    folders = tuple(Path(option[2:]) for option in options if option.startswith("-I"))
    whole = with_own_headers(path, folders)
    # What is in an unnamed namespace has no symbol by which the halves could find each other.
    return Split(re.sub(r"\bnamespace(\s*)\{", rf"inline namespace vgpu_unnamed{at or ''}\1{{", whole))


def compiled(
    device: str, path: Path, stubs: Mapping[str, str], options: Sequence[str], at: int = 0
) -> dict[str, launch.Kernel]:
    """The kernels of the device half of file number `at`, by the symbols of the host's stubs; `stubs` names each."""
    name, shown = path.name, path.read_text(encoding="utf-8", errors="replace")
    arch = compilers.architecture(current().compute_capability)
    standard = [] if any("-std" in option for option in options) else ["--std=c++17"]
    before = standard_integers(), DEVICE_PRELUDE.read_text(encoding="utf-8"), "\n", headers_of(device)
    text = f'{"".join(before)}#line 1 "{name}"\n{device}'
    # Two kernels of one name differ in their parameters only, and their symbols say which is which. All others have to
    # be asked for: templates have no instances otherwise.
    names = list(stubs.values())
    single = sorted({plain for plain in names if names.count(plain) == 1})
    given = [*standard, "--device-int128", *options, f"-I{build.INCLUDE}"]  # nvcc has __int128 where the host has it
    made = compilers.cuda_c_to_ptx(text, arch=arch, options=given, name=name, name_expressions=single)
    limit = compilers.register_limit(options)
    loaded = launch.load(made.ptx, language="cuda", filename=name, source=shown, max_registers=limit)
    entries = {symbol: made.lowered.get(plain, symbol.removesuffix(f".{at}")) for symbol, plain in stubs.items()}
    return {
        symbol: replace(loaded[entry], name=re.sub(r"\bvgpu_unnamed\d*::", "", stubs[symbol]))
        for symbol, entry in entries.items()
        if entry in loaded
    }

"""Compile the host's half of a program, with the C++ compiler of this machine, into a library that Python loads.

Each file becomes an object. Objects are kept from one run to the next, with the hashes of all headers that the compiler
read for them (its `-MD` output): an object is made again when one of these has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from vgpu.base import on_disk
from vgpu.base.errors import CompileError, Unsupported
from vgpu.compile.cuda_c import include_folders
from vgpu.programs.cuda_c.text import opening, pieces

HERE = Path(__file__).parent
RUNTIME = sorted(HERE.glob("*.cpp"))
INCLUDE = HERE / "include"
COMPILERS = ("c++", "g++", "clang++")
CPP = ("-x", "c++", "-std=c++17", "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP", "-include")
LANGUAGES = {
    ".c": ("-x", "c", "-include", str(HERE / "exit.h")),
    ".cu": (*CPP, str(HERE / "prelude.h")),
    ".cpp": (*CPP, str(HERE / "exit.h")),
}
THRUST = ("-include", "thrust/execution_policy.h")  # which all of its headers bring for a GPU
FLAGS = ("-O1", "-g", "-w", "-fPIC", "-fexceptions", "-fno-optimize-sibling-calls")
LINKED = ("-shared", "-Wl,-z,defs", "-ldl", "-lpthread")
SEARCHED = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")  # the compiler's variables
REMEDIES = (
    (
        r"(?:cusparse|cusolver\w*|cublasLt|cublasXt|cufftXt|cufftw|cudnn|nccl|nvml|npp\w*)\.h: No such",
        "Of CUDA's libraries vgpu has cuBLAS, cuFFT and cuRAND without their extensions, Thrust and CUB.",
    ),
    (r"texture\b.* does not name a type", "Texture references left CUDA with version 12: use cudaTextureObject_t."),
    (
        r"(?:cutlass|cute)/(?!util/)\S+: No such",
        "CUTLASS's headers, with CuTe's, come with a package: python -m pip install --no-deps nvidia-cutlass.",
    ),
    (r"helper_\w+\.h: No such", "CUDA's samples have this header in their folder Common: add -I path/to/Common."),
)
"""What a message of the compiler's means here, and what to do."""
_MISSING = re.compile(r"undefined (?:reference to|symbol:) [`']?(?:\w+[ *&]+)?([\w:]+)")  # templates have a type first


@dataclass(frozen=True)
class Source:
    """A file for the host's compiler: where it is, its text, and the names that it shares with kernels.

    kernels: those that it has; templates: those of them that are templates, each of whose stubs has arguments in its
    name. own: the variables of the device and the kernels that no other file can see, though it may have others of the
    same name.
    """

    path: Path
    text: str
    kernels: Collection[str] = ()
    templates: Collection[str] = ()
    own: Collection[str] = ()


def compiler() -> str | None:
    """The C++ compiler: CXX, or the first of `COMPILERS` that is there; None on systems without."""
    if sys.platform == "win32":
        return None
    return next((found for name in (os.environ.get("CXX"), *COMPILERS) if name and (found := shutil.which(name))), None)


def library(sources: Sequence[Source], folder: Path, options: Sequence[str] = ()) -> tuple[Path, list[dict[str, str]]]:
    """Compile files and link them, with the runtime, to a library in `folder`.

    Returns its path, and for each file the stubs of its kernels: by symbol, as C++ names them: "scale", "reduce<256>".
    What only file n can see (`Source.own`) has ".n" behind its symbol. Raises CompileError with the compiler's words,
    and with the names of what the runtime lacks; Unsupported without a compiler.
    """
    found = compiler()
    if found is None:
        raise Unsupported(
            "a whole CUDA program needs a C++ compiler for its host part, and there is none (c++, g++ or clang++). "
            "Launch its kernels by themselves: vgpu profile file.cu --kernel NAME --grid 4 --block 256 --arg …"
        )
    if any("omp.h" in source.text for source in sources):
        options = [*options, "-fopenmp"]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        own = pool.map(lambda at: _object(found, sources[at], at, options), range(len(sources)))
        runtime = pool.map(lambda path: _object(found, Source(path, path.read_text(encoding="utf-8")), -1, ()), RUNTIME)
        objects = [*own, *runtime]
    linked = on_disk.kept(
        "linked", (), [_identity(found), list(options), [hashlib.sha256(data).hexdigest() for data, _ in objects]],
        lambda: _linked([found, *options], [data for data, _ in objects], sources[0].path.name),
    )  # fmt: skip
    target = folder / f"{sources[0].path.name}.so"
    target.write_bytes(linked)
    return target, [stubs for _, stubs in objects[: len(sources)]]


def _identity(found: str) -> list[object]:
    """The compiler's file: another version has another size or time."""
    status = os.stat(found)
    return [os.path.realpath(found), status.st_size, status.st_mtime_ns]


# ---------------------------------------------------------------- one object


def _object(found: str, source: Source, at: int, options: Sequence[str]) -> tuple[bytes, dict[str, str]]:
    """The object of file number `at`, and the stubs in it."""
    given = [f"-I{os.path.abspath(option[2:])}" if option.startswith("-I") else option for option in options]
    suffix = source.path.suffix
    language = LANGUAGES[".cu" if suffix.startswith(".cu") else suffix if suffix in LANGUAGES else ".cpp"]
    command = [
        found, *language, *FLAGS, *(THRUST if "<thrust/" in source.text else ()),
        *(option for option in given if suffix != ".c" or not option.startswith("-std")),
        "-iquote", os.path.abspath(source.path.parent),
        *(f"-I{each}" for each in (INCLUDE, *include_folders())),
    ]  # fmt: skip
    names = [sorted(each) for each in (source.kernels, source.templates, source.own)]
    inputs = [_identity(found), command, [os.environ.get(name) for name in SEARCHED], at, names]

    def make() -> tuple[bytes, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            data, stubs, read = _compiled(command, source, at, Path(folder))
        return json.dumps(stubs).encode() + b"\n" + data, read

    stubs, _, data = on_disk.remembered("object", [*inputs, source.path.name, source.text], make).partition(b"\n")
    return data, json.loads(stubs)


def _compiled(command: Sequence[str], source: Source, at: int, folder: Path) -> tuple[bytes, dict[str, str], list[str]]:
    """Compile a file: the object, the stubs in it, and the headers that were read."""
    text, target, read = folder / "source", folder / "object", folder / "headers"
    text.write_text(f'#line 1 "{source.path.name}"\n{source.text}', encoding="utf-8")
    done = subprocess.run(
        [*command, "-c", str(text), "-o", str(target), "-MD", "-MF", str(read)], capture_output=True, text=True
    )
    if done.returncode:
        raise CompileError(
            f"the host part of {source.path.name} doesn't compile with {Path(command[0]).name}:\n"
            f"{done.stderr.strip()[:4000]}"
            + "".join(f"\n{words}" for pattern, words in REMEDIES if re.search(pattern, done.stderr))
        )
    found = _names(target)
    if own := [symbol for symbol, name in found.items() if _last(name) in source.own]:
        renamed = [f"--redefine-sym={symbol}={symbol}.{at}" for symbol in own]
        subprocess.run(["objcopy", *renamed, str(target)], check=True)
        found |= {f"{symbol}.{at}": found.pop(symbol) for symbol in own}
    templates = {kernel: kernel in source.templates for kernel in source.kernels}
    stubs = {symbol: name for symbol, name in found.items() if templates.get(_last(name)) is ("<" in name)}
    headers = re.findall(r"(?:[^\s\\]|\\ )+", read.read_text(encoding="utf-8").partition(":")[2])
    paths = (os.path.abspath(header.replace("\\ ", " ")) for header in headers)
    return target.read_bytes(), stubs, [path for path in paths if path != str(text)]


def _names(target: Path) -> dict[str, str]:
    """The symbols that an object defines for others, each with its name in C++ without a function's parameters."""
    symbols, names = (
        subprocess.run(["nm", *how, "-g", "--defined-only", str(target)], capture_output=True, text=True).stdout
        for how in ((), ("-C", "--no-recurse-limit"))
    )
    pairs = zip(symbols.splitlines(), names.splitlines(), strict=True)
    return {mangled.split()[-1]: _name(plain.split(maxsplit=2)[-1]) for mangled, plain in pairs}


def _name(demangled: str) -> str:
    """A function's name with the arguments of its template: "reduce<256>" of `void reduce<256>(float*, int)`."""
    name = pieces(demangled, " ")[-1]
    return name[: opening(name, len(name) - 1)] if name.endswith(")") else name


def _last(name: str) -> str:
    """What a kernel or a variable is called in its namespace: "reduce" of "sums::reduce<256>"."""
    return re.sub(r"<.*", "", name).rpartition("::")[2]


# ---------------------------------------------------------------- the library


def _linked(command: Sequence[str], objects: Sequence[bytes], name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{at}.o" for at in range(len(objects))]
        for path, data in zip(paths, objects, strict=True):
            path.write_bytes(data)
        target = Path(folder) / "library"
        done = subprocess.run([*command, *map(str, paths), *LINKED, "-o", str(target)], capture_output=True, text=True)
        if done.returncode == 0:
            return target.read_bytes()
    if lacking := sorted(set(_MISSING.findall(done.stderr))):
        more = f" and {len(lacking) - 8} others" if len(lacking) > 8 else ""
        raise CompileError(
            f"{name} calls {', '.join(lacking[:8])}{more}, which vgpu doesn't have: it has the runtime API's common "
            "functions, and of CUDA's libraries those of cuBLAS, cuFFT, cuRAND, Thrust and CUB; no driver API and no "
            "OpenGL. If another file of the program has it, name that too: vgpu run a.cu b.cpp"
        )
    raise CompileError(f"the files of {name} can't be linked:\n{done.stderr.strip()[:4000]}")

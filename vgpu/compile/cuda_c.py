"""CUDA C++ to PTX with NVRTC, NVIDIA's run-time compiler: it needs neither a GPU nor a driver."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

from vgpu.base import on_disk, steady
from vgpu.base.errors import CompileError
from vgpu.compile import headers
from vgpu.compile.remedies import of_header, remedy

P = ParamSpec("P")
R = TypeVar("R")

# CUDA 13 dropped the GPUs before Turing, so nothing older can be compiled for.
OLDEST = (7, 5)

LIBRARIES = steady.lock(rank=3)  # NVIDIA's compilers have locks of their own, which a fork would leave locked


@dataclass(frozen=True)
class CompiledC:
    """What NVRTC made of one CUDA C++ source text.

    `ptx` is the assembly of every kernel in it, `log` the compiler's warnings, and `lowered` maps each
    requested name expression ("scale<float>") to the mangled name it has in the PTX.
    """

    ptx: str
    log: str = ""
    lowered: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"CompiledC({self.ptx.count(chr(10))} lines of PTX, entries={list(entries(self.ptx))})"


def entries(ptx: str) -> tuple[str, ...]:
    """The names of the kernels in a PTX text, in the order of the text."""
    return tuple(re.findall(r"^\s*(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$.]+)", ptx, re.MULTILINE))


def cuda_c_to_ptx(
    source: str,
    *,
    arch: str = "compute_80",
    options: Sequence[str] = (),
    name: str = "kernel.cu",
    name_expressions: Sequence[str] = (),
) -> CompiledC:
    """Compile CUDA C++ to PTX with source lines.

    `arch` is "compute_75" or newer ("sm_…" means the same here), `options` are NVRTC's own, `name` is the
    file name that error messages and line tables show, and `name_expressions` are the instances of templates
    to compile. Raises `CompileError` with the user's line and a caret. The result is kept, so that a second call is
    free.
    """
    return _compile(source, _virtual(arch), tuple(map(str, options)), name, tuple(map(str, name_expressions)))


def architecture(capability: Sequence[int]) -> str:
    """The NVRTC name of a compute capability: (8, 0) is "compute_80"; before 7.5 it is "compute_75"."""
    major, minor = max(tuple(capability)[:2], OLDEST)
    return f"compute_{major}{minor}"


def _virtual(arch: str) -> str:
    return re.sub(r"^sm_", "compute_", arch)


# Libraries whose headers belong to CUDA: where the packages for CUDA 13 have them, and one of the headers there.
HEADERS = {
    "cudart": ("nvidia/cu13/include", "cuda_runtime.h"),
    "cccl": ("nvidia/cu13/include/cccl", "cuda/std/version"),
}
# The same of the package nvidia-cutlass: kernels' headers, and those that its examples' host code uses.
CUTLASS = ("cutlass_library/source/include", "cute/tensor.hpp")
CUTLASS_UTIL = ("cutlass_library/source/tools/util/include", "cutlass/util/print_error.hpp")


@functools.cache
def include_folders() -> tuple[str, ...]:
    """The folders of the CUDA headers (`cuda_fp16.h`, `mma.h`, `cuda/std/…`), wherever they are installed, and of
    CUTLASS's (`cute/tensor.hpp`), if they are."""
    found = (*map(_include_folder, HEADERS), packaged(*CUTLASS), packaged(*CUTLASS_UTIL))
    return tuple(dict.fromkeys(folder for folder in found if folder))


def packaged(folder: str, header: str) -> str | None:
    """A folder of headers among Python's packages, which has this one."""
    for path in sys.path:
        if path.endswith("-packages") and os.path.isfile(os.path.join(path, folder, header)):
            return os.path.realpath(os.path.join(path, folder))
    return None


def _include_folder(library: str) -> str | None:
    """A library's headers: among Python's packages, as nearly always, or where NVIDIA's finder knows them to be."""
    if found := packaged(*HEADERS[library]):
        return found
    from cuda.pathfinder import find_nvidia_header_directory  # which takes 13 ms to import

    return find_nvidia_header_directory(library)


@functools.cache
def _compile(
    source: str, arch: str, options: tuple[str, ...], name: str, name_expressions: tuple[str, ...]
) -> CompiledC:
    kept = [option for option in options if option not in ("-lineinfo", "--generate-line-info")]
    ptx, log, lowered = nvrtc(source, name, [f"--gpu-architecture={arch}", "-lineinfo", *kept], name_expressions)
    return CompiledC(_name_file(ptx.decode(errors="replace"), name), log, MappingProxyType(lowered))


def nvrtc(
    source: str, name: str, options: Sequence[str], name_expressions: Sequence[str] = (), result: str = "PTX"
) -> tuple[bytes, str, dict[str, str]]:
    """Compile with NVRTC: (result, log, mangled names). `result` is "PTX", "CUBIN" or "LTOIR" (with `-dlto`)."""

    def make() -> bytes:
        made, log, lowered = steady.run_uninterrupted(
            _nvrtc, source, name, options, name_expressions, result, ignore_sigint=True
        )
        return json.dumps([made.decode("latin-1"), log, lowered]).encode()

    try:
        folders = include_folders()
        included = [headers.stamp(folders), headers.own(source, options, folders, name)]
    except headers.UnknownHeaders:
        kept = make()
    else:
        inputs = source, name, list(options), list(name_expressions), result, included
        kept = on_disk.kept("nvrtc", ("nvidia-cuda-nvrtc",), inputs, make)
    made, log, lowered = json.loads(kept)
    return made.encode("latin-1"), log, lowered


def alone(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates functions that call NVIDIA's compilers: they run in one thread at a time, and forks wait for them."""

    @functools.wraps(function)
    def locked(*arguments: P.args, **named: P.kwargs) -> R:
        with LIBRARIES:
            return function(*arguments, **named)

    return locked


@alone
def _nvrtc(
    source: str, name: str, options: Sequence[str], name_expressions: Sequence[str], result: str
) -> tuple[bytes, str, dict[str, str]]:
    from cuda.bindings import nvrtc as api

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        status, *values = function(*arguments)
        if status != api.nvrtcResult.NVRTC_SUCCESS:
            raise CompileError(f"NVRTC could not go on: {api.nvrtcGetErrorString(status)[1].decode()}")
        return values[0] if values else None

    def data(what: str) -> bytes:
        size = call(getattr(api, f"nvrtcGet{what}Size"), program)
        # NVRTC writes into it, and Python shares all bytes objects of length 0 and 1 in the whole process.
        buffer = bytes(size + 2)
        call(getattr(api, f"nvrtcGet{what}"), program, buffer)
        return buffer[:size]

    words = ["-default-device", *options, *(f"-I{folder}" for folder in include_folders())]
    flags = [word.encode() for word in words]
    program = call(api.nvrtcCreateProgram, source.encode(), name.encode(), 0, [], [])
    try:
        for expression in name_expressions:
            call(api.nvrtcAddNameExpression, program, expression.encode())
        (status,) = api.nvrtcCompileProgram(program, len(flags), flags)
        log = data("ProgramLog").rstrip(b"\0").decode(errors="replace").strip()
        if status != api.nvrtcResult.NVRTC_SUCCESS:
            raise explain(log or api.nvrtcGetErrorString(status)[1].decode(), source, name)
        lowered = {
            expression: call(api.nvrtcGetLoweredName, program, expression.encode()).decode()
            for expression in name_expressions
        }
        made = data(result)
    finally:
        api.nvrtcDestroyProgram(program)
    return made.rstrip(b"\0") if result == "PTX" else made, log, lowered


def _name_file(ptx: str, name: str) -> str:
    """Remove the working directory, which NVRTC prepends to a relative file name: the PTX must not depend on it."""
    if os.path.isabs(name):
        return ptx
    ending = re.escape(name)
    return re.sub(rf'(\.file\s+\d+\s+)"[^"\n]*?/{ending}"', rf'\1"{name}"', ptx)


# --- errors that teach --------------------------------------------------------------------------------------

_ERROR = re.compile(r"^(?P<file>.*?)\((?P<line>\d+)\): (?:catastrophic )?error(?: #\S+)?: (?P<text>.*)$")


def explain(log: str, source: str, name: str) -> CompileError:
    """NVRTC's log as one `CompileError`: the user's first mistake, its line, a caret, a remedy."""
    source = source.rpartition(f'#line 1 "{name}"\n')[2]  # what stands before isn't the user's
    rows = log.splitlines()
    found = [(i, match) for i, row in enumerate(rows) if (match := _ERROR.match(row))]
    if end := re.search(rf"^At end of source: error: (.*)\n.*?{re.escape(name)}\((\d+)\): note", log, re.MULTILINE):
        return _error(end[1], int(end[2]), None, source, name)
    own = [(i, match) for i, match in found if match["file"].endswith(name)]
    if not found:
        return CompileError(f"NVRTC refused {name}:\n{log}{remedy(log)}")
    at, first = (own or found)[0]
    if own:
        error = _error(first["text"], int(first["line"]), _column(rows[at + 1 : at + 4]), source, name)
    else:
        header = os.path.basename(first["file"])
        fix = of_header(source) or remedy(first["text"])
        error = CompileError(f"{header}, which {name} includes: {first['text']}{fix}")
    others = [match for i, match in own if i != at]
    if others:
        listed = "; ".join(f"line {match['line']}: {match['text']}" for match in others[:3])
        return CompileError(
            f"{error}\nThe compiler also complains, perhaps only as a consequence, of {listed}", error.line
        )
    return error


def _error(text: str, line: int, column: int | None, source: str, name: str) -> CompileError:
    lines = source.splitlines()
    excerpt = ""
    if 0 < line <= len(lines):
        before = [number for number in range(1, line) if lines[number - 1].strip()]
        if text == 'expected a ";"' and column == 0 and before:
            # The parser notices at the next word; the mistake stands at the end of the line before.
            line, column = before[-1], len(lines[before[-1] - 1].strip())
        excerpt = "\n\n" + _excerpt(lines[line - 1], line, column)
    return CompileError(f"{name}, line {line}: {text}{excerpt}{remedy(text)}", line)


def _column(rows: Sequence[str]) -> int | None:
    """The column of the caret that NVRTC printed under a line, without the line's indentation."""
    for before, row in pairwise(["", *rows]):
        if row.strip() == "^":
            return row.index("^") - (len(before) - len(before.lstrip()))
    return None


def _excerpt(text: str, line: int, column: int | None) -> str:
    stripped = text.expandtabs(4).strip()
    margin = f"  {line:>4} | "
    caret = "" if column is None else "\n" + " " * (len(margin) - 2) + "| " + " " * min(column, len(stripped)) + "^"
    return margin + stripped + caret

"""Python to PTX with Numba's own compiler."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vgpu.base import steady
from vgpu.base.errors import Unsupported
from vgpu.compile.cuda_c import entries
from vgpu.compile.link import link, with_ptx
from vgpu.compile.numba_adapter import compiling, cuda, modelled, modules, sigutils, target, types
from vgpu.compile.python_errors import explain
from vgpu.compile.python_kept import Kept
from vgpu.compile.python_source import callees, source_with_callees

# Functions that the virtual GPU itself provides to PTX; anything else would have to be linked.
_PROVIDED = {
    "vprintf", "__assertfail", "malloc", "free",
    "cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaCGGetSize", "cudaCGGetRank",
}  # fmt: skip


@dataclass(frozen=True)
class CompiledPython:
    """What Numba made of one Python function for one list of argument types.

    `entry_name` is the kernel's mangled name in `ptx`, `filename` the file as the PTX's line table writes
    it, `first_line` the line of `source[0]` in it, and `signature` the argument types. `max_registers` only
    counts when the PTX is assembled, so it travels along. `debug` says whether exceptions are noted, `calls` whether
    any of them may come from a device function, and `exception` what an error code means: (class, arguments or None,
    (function, file, line) or None). `llvm` is the LLVM IR that Numba made, `annotated` the source with Numba's types
    beside each line. Nothing here refers to the function, by which these are kept.
    """

    ptx: str = field(repr=False)
    entry_name: str = field(repr=False)
    filename: str = field(repr=False)
    first_line: int
    source: tuple[str, ...] = field(default=(), repr=False)
    signature: tuple = ()
    max_registers: int | None = None
    cooperative: bool = False
    debug: bool = False
    calls: bool = False
    llvm: str = field(default="", repr=False)
    annotated: str = field(default="", repr=False)
    exception: Callable[[int], tuple] | None = field(default=None, repr=False, compare=False)


def numba_to_ptx(
    py_function: Any,
    signature: Any,
    *,
    cc: Sequence[int] = (8, 0),
    fastmath: bool = False,
    max_registers: int | None = None,
    opt: bool = True,
    launch_bounds: Any = None,
    debug: bool = False,
    linked: tuple[Any, ...] = (),
) -> CompiledPython:
    """Compile a Python function as a kernel, with source lines.

    `signature` is Numba's in any of its forms: "void(float32[::1], int64)", a tuple of types, a call of a
    type. `debug` records exceptions, `linked` are files (.cu, .ptx) or Numba's objects for them, whose
    functions the kernel calls. Raises `CompileError` with the user's line, and `Unsupported` for what would need
    another library linked in. The result is kept by function and options, so that a second call is free.
    """
    arguments, _ = sigutils.normalize_signature(signature)
    options = (arguments, target(cc), bool(fastmath), max_registers, bool(opt), launch_bounds, bool(debug), linked)
    made = _made.setdefault(py_function, {})
    if options not in made:
        made[options] = steady.run_uninterrupted(_compile, py_function, *options)
    return made[options]


_kept = Kept(modules)
catch_up = _kept.catch_up

# Goes with the function, which may hold the user's arrays by its globals.
_made: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _compile(
    py_function: Any,
    arguments: tuple[Any, ...],
    cc: tuple[int, int],
    fastmath: bool,
    max_registers: int | None,
    opt: bool,
    launch_bounds: Any,
    debug: bool,
    linked: tuple[Any, ...],
) -> CompiledPython:
    code, filename = py_function.__code__, py_function.__code__.co_filename
    make = functools.partial(_texts, py_function, arguments, cc, fastmath, opt, launch_bounds, debug, linked)
    options = cc, fastmath, opt, launch_bounds
    (ptx, llvm, annotated, cooperative), exception = (
        make() if debug or linked else (_kept.texts(py_function, arguments, options, lambda: make()[0]), None)
    )
    lines, first = source_with_callees(py_function)
    return CompiledPython(
        ptx=ptx,
        entry_name=entries(ptx)[0],
        filename=_as_written(ptx, filename),
        first_line=first,
        source=tuple(lines),
        signature=arguments,
        max_registers=max_registers,
        cooperative=bool(cooperative),
        debug=debug,
        calls=any(True for _ in callees(py_function, {code})),
        llvm=llvm,
        annotated=annotated,
        exception=exception,
    )


@contextlib.contextmanager
def _with_deep_recursion() -> Iterator[None]:
    """Raise the recursion limit for nested functions: Numba stays broken after a RecursionError in its compiler."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 10_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _texts(
    py_function: Any, arguments: tuple[Any, ...], cc: tuple[int, int], fastmath: bool, opt: bool, launch_bounds: Any,
    debug: bool, linked: tuple[Any, ...],
) -> tuple[Sequence[Any], Callable[..., Any] | None]:  # fmt: skip
    """PTX, LLVM IR, annotated source and whether the grid synchronises; and with `debug` what an error code means."""
    failure = None
    try:
        with compiling, modelled(cc), _with_deep_recursion(), warnings.catch_warnings():
            # A kernel made with `exec` has no source to show; its line numbers are right all the same.
            warnings.simplefilter("ignore", modules["numba.cuda.core.errors"].NumbaDebugInfoWarning)
            made = _lowered(py_function, arguments, cc, fastmath, opt, launch_bounds, debug)
            for each in linked:
                made.library.add_linking_file(each)
            ptx = made.library.get_asm_str(cc)
            if _externals(ptx) or made.library._linking_files:
                ptx = _linked(ptx, made.library, cc)
    except Exception as error:
        failure = explain(error, py_function, arguments)
    if failure is not None:
        # Raised out here, so that Numba's own pages of text are not chained to it.
        raise failure
    missing = _externals(ptx)
    if any(name.startswith("NRT_") for name in missing):
        raise Unsupported(
            f"`{py_function.__name__}` makes an array of its own (np.zeros, np.empty, a slice that is returned), which "
            "takes Numba's runtime for memory on the GPU (CUDA_ENABLE_NRT); the virtual GPU does not have it. Use "
            "`cuda.local.array(size, dtype)` for a thread, `cuda.shared.array` for a block, or pass an array in."
        )
    if missing:
        raise Unsupported(
            f"`{py_function.__name__}` calls {', '.join(sorted(missing))}, which would have to be linked "
            "in from a library that the virtual GPU does not have. Write it in Python as a device function."
        )
    cooperative = "cudaCGSynchronize" in ptx or made.library.use_cooperative
    texts = ptx, made.library.get_llvm_str(), str(made.type_annotation), "cooperative" * cooperative
    return texts, made.call_helper.get_exception if debug else None


def _lowered(
    py_function: Any, arguments: tuple[Any, ...], cc: tuple[int, int], fastmath: bool, opt: bool, launch_bounds: Any,
    debug: bool,
) -> Any:  # fmt: skip
    """Numba's result for a kernel: as it compiles for itself, but always with source lines."""
    compiler = modules["numba.cuda.compiler"]
    # NVIDIA's compiler doesn't get `debug`: it would compile each device function as a separate program.
    nvvm = {"fastmath": fastmath, "opt": 3 if opt else 0}
    made = compiler.compile_cuda(
        py_function, types.void, arguments, debug=debug, lineinfo=True, fastmath=fastmath, nvvm_options=nvvm, cc=cc
    )
    kernel = made.library.get_function(made.fndesc.llvm_func_name)
    compiler.kernel_fixup(kernel, debug)
    modules["numba.cuda.cudadrv.nvvm"].set_launch_bounds(kernel, launch_bounds)
    return made


def _externals(ptx: str) -> set[str]:
    """The functions that a PTX text calls and does not hold, except those that the virtual GPU provides."""
    return set(re.findall(r"^\.extern \.func\s+(?:\([^)]*\)\s*)?([\w$]+)", ptx, re.MULTILINE)) - _PROVIDED


def _linked(ptx: str, library: Any, cc: tuple[int, int]) -> str:
    """The PTX with the functions inlined that Numba itself would link in, from CUDA C++ or PTX."""
    # The two compilers mark their debug information differently, and the linker wants it alike.
    library._llvm_strs = [
        text.replace('i32 2, !"Debug Info Version"', 'i32 1, !"Debug Info Version"') for text in library.llvm_strs
    ]
    linkable = modules["numba.cuda.cudadrv.linkable_code"]
    codes = [linkable.LinkableCode.from_path_or_obj(code) for code in library._linking_files]
    for code in codes:
        if not isinstance(code, linkable.CUSource | linkable.PTXSource):
            raise Unsupported(
                f"The virtual GPU links CUDA C++ and PTX, and `{code.name}` is a {type(code).__name__.lower()}: "
                "link the source of its functions (a .cu file) or their PTX instead."
            )
    sources = [_text(code.data) for code in codes if isinstance(code, linkable.CUSource)]
    if "reshape" in " ".join(_externals(ptx)):
        sources.append((Path(cuda.__file__).parent / "reshape_funcs.cu").read_text())
    if sources:
        folders = modules["numba.cuda.core.config"].CUDA_NVRTC_EXTRA_SEARCH_PATHS.split(":")
        ptx = link(library.get_ltoir(cc=cc), sources, cc, [folder for folder in folders if folder])
    for code in codes:
        if isinstance(code, linkable.PTXSource):
            ptx = with_ptx(ptx, _text(code.data))
    return ptx


def _text(data: Any) -> str:
    return data.decode() if isinstance(data, bytes) else data


def _as_written(ptx: str, filename: str) -> str:
    files = re.findall(r'^\s*\.file\s+\d+\s+"([^"]*)"', ptx, re.MULTILINE)
    return next((name for name in files if name.endswith(filename)), files[0] if files else filename)

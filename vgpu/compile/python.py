"""Python to PTX with Numba's own compiler: the only file that touches names of numba-cuda.

numba-cuda asks the driver for the current GPU while it compiles device functions. Here it gets the compute
capability of the GPU that is modelled, for the time of one compilation and in one thread only.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
import re
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from vgpu.base import steady
from vgpu.base.errors import Unsupported
from vgpu.compile.cuda_c import OLDEST, entries
from vgpu.compile.link import link, with_ptx
from vgpu.compile.python_errors import explain
from vgpu.compile.python_kept import Kept
from vgpu.compile.python_source import callees, source_with_callees

PINNED = "0.30.4"

# What is relied on: module → the names it must have.
RELIED_ON = {
    "numba.cuda": ("compile", "compile_ptx", "compile_all", "grid", "threadIdx", "jit"),
    "numba.cuda.compiler": (
        "get_current_device", "compile_cuda", "kernel_fixup", "CUDACompileResult.library",
        "CUDACompileResult.call_helper", "CUDACompileResult.fndesc", "CUDACompileResult.type_annotation",
    ),
    "numba.cuda.core.callconv": ("_MinimalCallHelper.get_exception",),
    "numba.cuda.dispatcher": ("get_current_device", "CUDADispatcher", "CUDADispatcher.inspect_asm"),
    "numba.cuda.cudadrv.nvvm": ("set_launch_bounds",),
    "numba.cuda.cudadrv.linkable_code": ("LinkableCode.from_path_or_obj", "CUSource", "PTXSource"),
    "numba.cuda.codegen": (
        "CUDACodeLibrary.get_asm_str", "CUDACodeLibrary.get_ltoir", "CUDACodeLibrary.get_llvm_str",
        "CUDACodeLibrary.llvm_strs", "CUDACodeLibrary.add_linking_file",
    ),
    "numba.cuda.core.errors": ("NumbaPerformanceWarning", "NumbaDebugInfoWarning", "NumbaInvalidConfigWarning"),
    "numba.cuda.core.config": ("CUDA_DEBUGINFO_DEFAULT", "CUDA_NVRTC_EXTRA_SEARCH_PATHS"),
    "numba.cuda.decorators": ("_validate_shared_memory_carveout",),
    "numba.cuda.core.compiler_lock": ("global_compiler_lock",),
    "numba.cuda.core.sigutils": ("normalize_signature", "is_signature"),
    "numba.cuda.typing.templates": ("builtin_registry.functions", "builtin_registry.attributes"),
    "numba.cuda.typing.typeof": ("typeof", "Purpose"),
    "numba.cuda.np.numpy_support": ("from_dtype",),
    "numba.cuda.typeconv.rules": ("default_type_manager.select_overload",),
    "numba.cuda.target": ("CUDATypingContext.resolve_value_type",),
    "numba.cuda.types": ("Array", "Record", "BaseTuple", "Integer", "Float", "Boolean", "Complex", "void"),
}  # fmt: skip


def _load(table: dict[str, tuple[str, ...]] = RELIED_ON) -> dict[str, Any]:
    """Import numba-cuda's modules and check that each has the names that are used here."""
    loaded = {}
    for name, members in table.items():
        try:
            loaded[name] = importlib.import_module(name)
            missing = [member for member in members if not _has(loaded[name], member)]
        except ImportError as error:
            missing = [str(error)]
        if missing:
            raise ImportError(
                f"Numba kernels need numba-cuda {PINNED}; what is installed lacks {name}: {', '.join(missing)}. "
                f"Install it: python -m pip install numba-cuda[cu13]=={PINNED}"
            )
    return loaded


def _has(module: ModuleType, member: str) -> bool:
    """Whether a module has a name, or one of its classes has: "Class.method"."""
    try:
        operator.attrgetter(member)(module)
    except AttributeError:
        return False
    return True


_modules = steady.run_uninterrupted(_load)  # an interrupted import stays broken
cuda = _modules["numba.cuda"]
types = _modules["numba.cuda.types"]
sigutils = _modules["numba.cuda.core.sigutils"]
_compiling = steady.register(_modules["numba.cuda.core.compiler_lock"].global_compiler_lock, rank=2)
PerformanceWarning = _modules["numba.cuda.core.errors"].NumbaPerformanceWarning
Dispatcher = _modules["numba.cuda.dispatcher"].CUDADispatcher

# --- the GPU that Numba believes in -------------------------------------------------------------------------

_modelled = threading.local()


def _device_getter(original: Callable[[], Any]) -> Callable[[], Any]:
    """A `get_current_device` that returns the modelled GPU in a thread that compiles for one, else calls `original`."""

    @functools.wraps(original)
    def get_current_device() -> Any:
        capability = getattr(_modelled, "capability", None)
        return original() if capability is None else SimpleNamespace(compute_capability=capability)

    return get_current_device


_redirected = contextlib.ExitStack()
_redirecting, _users = threading.Lock(), 0


@contextlib.contextmanager
def _redirect() -> Iterator[None]:
    """Replace `get_current_device` of Numba's compiler while any thread is in the `with` block."""
    global _users
    with _redirecting:
        if not _users:
            for name in ("numba.cuda.compiler", "numba.cuda.dispatcher"):
                original = _modules[name].get_current_device
                _modules[name].get_current_device = _device_getter(original)
                _redirected.callback(setattr, _modules[name], "get_current_device", original)
        _users += 1
    try:
        yield
    finally:
        with _redirecting:
            _users -= 1
            if not _users:
                _redirected.close()


@contextlib.contextmanager
def _with_deep_recursion() -> Iterator[None]:
    """Raise the recursion limit for nested functions: Numba stays broken after a RecursionError in its compiler."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 10_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@contextlib.contextmanager
def modelled(capability: Sequence[int]) -> Iterator[None]:
    """Make Numba compile for this compute capability during the `with` block."""
    before = getattr(_modelled, "capability", None)
    _modelled.capability = target(capability)
    try:
        with _redirect():
            yield
    finally:
        _modelled.capability = before


def target(capability: Sequence[int]) -> tuple[int, int]:
    """The compute capability to compile for: the given one, or at least the oldest that CUDA 13 supports."""
    major, minor = capability[:2]
    return max((major, minor), OLDEST)


# --- compiling ----------------------------------------------------------------------------------------------

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


_kept = Kept(_modules)
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


def _texts(
    py_function: Any, arguments: tuple[Any, ...], cc: tuple[int, int], fastmath: bool, opt: bool, launch_bounds: Any,
    debug: bool, linked: tuple[Any, ...],
) -> tuple[Sequence[Any], Callable[..., Any] | None]:  # fmt: skip
    """PTX, LLVM IR, annotated source and whether the grid synchronises; and with `debug` what an error code means."""
    failure = None
    try:
        with _compiling, modelled(cc), _with_deep_recursion(), warnings.catch_warnings():
            # A kernel made with `exec` has no source to show; its line numbers are right all the same.
            warnings.simplefilter("ignore", _modules["numba.cuda.core.errors"].NumbaDebugInfoWarning)
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
    compiler = _modules["numba.cuda.compiler"]
    # NVIDIA's compiler doesn't get `debug`: it would compile each device function as a separate program.
    nvvm = {"fastmath": fastmath, "opt": 3 if opt else 0}
    made = compiler.compile_cuda(
        py_function, types.void, arguments, debug=debug, lineinfo=True, fastmath=fastmath, nvvm_options=nvvm, cc=cc
    )
    kernel = made.library.get_function(made.fndesc.llvm_func_name)
    compiler.kernel_fixup(kernel, debug)
    _modules["numba.cuda.cudadrv.nvvm"].set_launch_bounds(kernel, launch_bounds)
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
    linkable = _modules["numba.cuda.cudadrv.linkable_code"]
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
        folders = _modules["numba.cuda.core.config"].CUDA_NVRTC_EXTRA_SEARCH_PATHS.split(":")
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


# --- what the stand-in needs of Numba's types ---------------------------------------------------------------


def typeof(value: Any) -> Any:
    """The Numba type that a kernel argument has."""
    module = _modules["numba.cuda.typing.typeof"]
    return module.typeof(value, module.Purpose.argument)


def array_type(array: Any) -> Any:
    """The Numba type of a device array, given as the NumPy array over its memory."""
    broadcast = array.size and 0 in array.strides
    layout = "A" if broadcast else "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"
    return _array_type(array.dtype, array.ndim, layout, not array.flags.writeable)


@functools.lru_cache(maxsize=1024)
def _array_type(dtype: Any, ndim: int, layout: str, readonly: bool) -> Any:
    element = _modules["numba.cuda.np.numpy_support"].from_dtype(dtype)
    return types.Array(element, ndim, layout, readonly=readonly)


def nearest(given: tuple, signatures: list[tuple]) -> tuple:
    """The signature that Numba takes for arguments of these types; a TypeError where none is better than all others."""
    manager = _modules["numba.cuda.typeconv.rules"].default_type_manager
    return signatures[manager.select_overload(given, signatures, True, False)]


def see_values(translate: Callable[[Any, Any], Any]) -> None:
    """Make Numba type global names by `translate(value, capability)`.

    The user's own functions are translated before; this is for those that Numba finds by itself: what `@overload`
    gives, and functions for the CPU.
    """
    context = _modules["numba.cuda.target"].CUDATypingContext
    original = context.resolve_value_type

    @functools.wraps(original)
    def resolve_value_type(self: Any, value: Any) -> Any:
        capability = getattr(_modelled, "capability", None)
        return original(self, value if capability is None else translate(value, capability))

    context.resolve_value_type = resolve_value_type


def is_type(value: Any) -> bool:
    """Whether this is one of Numba's types, such as `float32`, or one of CUDA's vectors, such as `float4`."""
    return isinstance(value, types.Type) or (hasattr(value, "_description_") and hasattr(value, "aliases"))


def debug_by_default(given: bool | None) -> bool:
    """Whether exceptions are noted: as the option says, or else Numba's configuration."""
    return bool(_modules["numba.cuda.core.config"].CUDA_DEBUGINFO_DEFAULT if given is None else given)


def check_options(options: Any) -> None:
    """Warn of combinations of options as Numba does, and refuse values that it refuses."""
    if debug_by_default(options.get("debug")):
        category = _modules["numba.cuda.core.errors"].NumbaInvalidConfigWarning
        if options.get("opt") is not False:
            warnings.warn("debug=True takes opt=False: with both on, a real GPU may crash.", category, stacklevel=3)
        if options.get("lineinfo"):
            warnings.warn("debug=True keeps source lines already: leave lineinfo=True out.", category, stacklevel=3)
    if (carveout := options.get("shared_memory_carveout")) is not None:
        _modules["numba.cuda.decorators"]._validate_shared_memory_carveout(carveout)


def device_function(py_function: Any, signatures: Any, capability: Any, **options: Any) -> Any:
    """A real Numba device function; without signatures it compiles when a kernel that calls it does."""
    try:
        with modelled(capability), warnings.catch_warnings():
            # Numba advises against what the kernel's options have been checked for.
            warnings.simplefilter("ignore", _modules["numba.cuda.core.errors"].NumbaInvalidConfigWarning)
            decorate = cuda.jit(signatures, device=True, lineinfo=True, **options)
            return decorate(py_function)
    except Exception as error:
        failure = explain(error, py_function)
    raise failure


def as_written(dispatcher: Any) -> SimpleNamespace:
    """What the user gave `numba.cuda.jit`: `py_func`, `device`, `options`, and `signatures` (None if open)."""
    options = dict(dispatcher.targetoptions)
    signatures = None if dispatcher._can_compile else list(dispatcher.overloads)
    if signatures and dispatcher.specialized and not options.get("device"):
        (signatures,) = signatures
    return SimpleNamespace(
        py_func=dispatcher.py_func,
        device=bool(options.pop("device", False)),
        options=options,
        signatures=signatures,
    )

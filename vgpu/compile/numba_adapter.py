"""numba-cuda, checked for the names that are relied on, and told which GPU to compile for.

numba-cuda asks the driver for the current GPU while it compiles device functions. Here it gets the compute
capability of the GPU that is modelled, for the time of one compilation and in one thread only.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from vgpu.base import steady
from vgpu.base.replaced import Replaced
from vgpu.compile.cuda_c import OLDEST
from vgpu.compile.python_errors import explain

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


def _importing(name: str) -> bool:
    """Whether a module is being imported right now: another thread that needs it would wait for the end."""
    return getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False)


# An interrupted import stays broken.
modules = _load() if _importing("numba.cuda") else steady.run_uninterrupted(_load)
cuda = modules["numba.cuda"]
# Kept here, since `vgpu.standins.own_names` replaces them in `numba.cuda`.
jit = cuda.jit
compilers = {name: getattr(cuda, name) for name in ("compile", "compile_ptx", "compile_all")}
types = modules["numba.cuda.types"]
sigutils = modules["numba.cuda.core.sigutils"]
compiling = steady.register(modules["numba.cuda.core.compiler_lock"].global_compiler_lock, rank=2)
PerformanceWarning = modules["numba.cuda.core.errors"].NumbaPerformanceWarning
Dispatcher = modules["numba.cuda.dispatcher"].CUDADispatcher

# --- the GPU that Numba believes in -------------------------------------------------------------------------

_modelled = threading.local()


def _device_getter(original: Callable[[], Any]) -> Callable[[], Any]:
    """A `get_current_device` that returns the modelled GPU in a thread that compiles for one, else calls `original`."""

    @functools.wraps(original)
    def get_current_device() -> Any:
        capability = getattr(_modelled, "capability", None)
        return original() if capability is None else SimpleNamespace(compute_capability=capability)

    return get_current_device


_of_compiler, _of_dispatcher = (
    Replaced(modules[name], "get_current_device", _device_getter)
    for name in ("numba.cuda.compiler", "numba.cuda.dispatcher")
)


@contextlib.contextmanager
def modelled(capability: Sequence[int]) -> Iterator[None]:
    """Make Numba compile for this compute capability during the `with` block."""
    before = getattr(_modelled, "capability", None)
    _modelled.capability = target(capability)
    try:
        with _of_compiler, _of_dispatcher:
            yield
    finally:
        _modelled.capability = before


def target(capability: Sequence[int]) -> tuple[int, int]:
    """The compute capability to compile for: the given one, or at least the oldest that CUDA 13 supports."""
    major, minor = capability[:2]
    return max((major, minor), OLDEST)


# --- types, options and functions ---------------------------------------------------------------------------


def typeof(value: Any) -> Any:
    """The Numba type that a kernel argument has."""
    module = modules["numba.cuda.typing.typeof"]
    return module.typeof(value, module.Purpose.argument)


def array_type(array: Any) -> Any:
    """The Numba type of a device array, given as the NumPy array over its memory."""
    broadcast = array.size and 0 in array.strides
    layout = "A" if broadcast else "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"
    return _array_type(array.dtype, array.ndim, layout, not array.flags.writeable)


@functools.lru_cache(maxsize=1024)
def _array_type(dtype: Any, ndim: int, layout: str, readonly: bool) -> Any:
    element = modules["numba.cuda.np.numpy_support"].from_dtype(dtype)
    return types.Array(element, ndim, layout, readonly=readonly)


def nearest(given: tuple, signatures: list[tuple]) -> tuple:
    """The signature that Numba takes for arguments of these types; a TypeError where none is better than all others."""
    manager = modules["numba.cuda.typeconv.rules"].default_type_manager
    return signatures[manager.select_overload(given, signatures, True, False)]


def see_values(translate: Callable[[Any, Any], Any]) -> None:
    """Make Numba type global names by `translate(value, capability)`.

    The user's own functions are translated before; this is for those that Numba finds by itself: what `@overload`
    gives, and functions for the CPU.
    """
    context = modules["numba.cuda.target"].CUDATypingContext
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
    return bool(modules["numba.cuda.core.config"].CUDA_DEBUGINFO_DEFAULT if given is None else given)


def check_options(options: Any) -> None:
    """Warn of combinations of options as Numba does, and refuse values that it refuses."""
    if debug_by_default(options.get("debug")):
        category = modules["numba.cuda.core.errors"].NumbaInvalidConfigWarning
        if options.get("opt") is not False:
            warnings.warn("debug=True takes opt=False: with both on, a real GPU may crash.", category, stacklevel=3)
        if options.get("lineinfo"):
            warnings.warn("debug=True keeps source lines already: leave lineinfo=True out.", category, stacklevel=3)
    if (carveout := options.get("shared_memory_carveout")) is not None:
        modules["numba.cuda.decorators"]._validate_shared_memory_carveout(carveout)


def device_function(py_function: Any, signatures: Any, capability: Any, **options: Any) -> Any:
    """A real Numba device function; without signatures it compiles when a kernel that calls it does."""
    try:
        with modelled(capability), warnings.catch_warnings():
            # Numba advises against what the kernel's options have been checked for.
            warnings.simplefilter("ignore", modules["numba.cuda.core.errors"].NumbaInvalidConfigWarning)
            decorate = jit(signatures, device=True, lineinfo=True, **options)
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

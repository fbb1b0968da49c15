"""RawKernel and RawModule: CUDA C++ as the user wrote it, compiled by NVRTC and run on the virtual GPU."""

from __future__ import annotations

import difflib
import functools
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vgpu import compile as compilers
from vgpu import operations
from vgpu.base.errors import ArgumentError, LaunchError, NoSuchKernel
from vgpu.hardware.occupancy import most_threads
from vgpu.standins import calls
from vgpu.standins.cupy import streams
from vgpu.standins.cupy.arguments import KernelParameter, kernel_parameters, pack
from vgpu.standins.cupy.device import modelled
from vgpu.standins.cupy.missing import missing
from vgpu.standins.cupy.pointer import Memory, MemoryPointer
from vgpu.standins.cupy.signature import parameters
from vgpu.standins.cupy.tables import words

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel

ATTRIBUTES = words(
    """
    max_threads_per_block shared_size_bytes const_size_bytes local_size_bytes num_regs ptx_version
    binary_version cache_mode_ca max_dynamic_shared_size_bytes preferred_shared_memory_carveout
    """
)
_DEFAULT_SHARED = 48 * 1024  # bytes that a block may have without opting in, on every GPU


def _for_nvrtc(options: Iterable[str]) -> Iterator[str]:
    """nvcc's options without those that NVRTC lacks, for the host compiler and the optimiser; PTX needs neither."""
    left = iter(options)
    for option in left:
        if option in ("-Xcompiler", "--compiler-options"):
            next(left, None)
        elif not re.match(r"-O\d?$|--optimize|-Xcompiler=|--compiler-options=", option):
            yield option


@functools.cache
def own_headers() -> list[str]:
    """The folder of CuPy's own headers (`cupy/complex.cuh`), from the package where it is installed."""
    found = importlib.util.find_spec("cupy")  # doesn't import it, which takes a second
    return [f"{folder}/_core/include" for folder in (found.submodule_search_locations if found else None) or ()]


class Program:
    """One source text: compiled for the modelled GPU when it is needed, once per architecture."""

    def __init__(self, code, path, options, backend, name_expressions, cooperative):
        if backend not in ("nvrtc", "nvcc"):
            raise ValueError(f"Invalid backend {backend!r}: it is 'nvrtc' or 'nvcc'")
        if (code is None) == (path is None):
            raise TypeError("give either code= (CUDA C++) or path= (a PTX file), one of them")
        if path is not None and Path(path).suffix in (".cubin", ".fatbin"):
            raise missing("RawModule of a binary", "the source, or its PTX: the virtual GPU runs PTX")
        self.code, self.path, self.cooperative = code, path, cooperative
        self.filename = "kernel.cu" if path is None else Path(path).name
        self.options = tuple(options if backend == "nvrtc" else _for_nvrtc(options))
        self.expressions = tuple(name_expressions or ())
        self._loaded: dict[str, tuple[dict[str, Kernel], Mapping[str, str], str]] = {}

    def load(self) -> tuple[dict[str, Kernel], Mapping[str, str], str]:
        """(kernels by entry name, lowered names, PTX) for the GPU that is modelled now."""
        from vgpu.launch import launch

        arch = compilers.architecture(modelled().compute_capability)
        if arch not in self._loaded:
            lowered: Mapping[str, str] = {}
            source = ""
            if self.path is not None:
                ptx = Path(self.path).read_text()
            else:
                options, source = self.options, self.code
                if not any(option.startswith(("-std", "--std")) for option in options):
                    options = (*options, "--std=c++17")
                options = (*options, *(f"-I{folder}" for folder in own_headers()))
                compiled = compilers.cuda_c_to_ptx(
                    source, arch=arch, options=options, name=self.filename, name_expressions=self.expressions
                )
                ptx, lowered = compiled.ptx, compiled.lowered
            kernels = launch.load(
                ptx, language="cuda", filename=self.filename, source=source,
                max_registers=compilers.register_limit(self.options),
            )  # fmt: skip
            self._loaded[arch] = kernels, lowered, ptx
        return self._loaded[arch]

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name or name expression; AttributeError that says which there are."""
        kernels, lowered, _ = self.load()
        entry = lowered.get(name, name)
        if entry in kernels:
            return kernels[entry]
        raise NoSuchKernel(_not_found(name, list(kernels), self.code or ""))


def _not_found(name: str, entries: list[str], source: str) -> str:
    found = ", ".join(entries) or "no kernel at all"
    message = f"no kernel named {name!r}: the compiled code has {found}."
    if re.search(rf"__global__[^;{{}}]*\b{re.escape(name.split('<')[0])}\s*\(", source):
        if "<" in name or "template" in source:
            return (
                f"{message} A template has to be requested: cp.RawModule(code=…, "
                f"name_expressions=['{name}']).get_function('{name}')."
            )
        return f'{message} C++ has changed its name: write extern "C" before __global__.'
    near = difflib.get_close_matches(name, entries, n=1)
    if near:
        return f"{message} Was {near[0]!r} meant?"
    return f"{message} A kernel is a function marked __global__."


class RawKernel:
    """A kernel in CUDA C++; `kernel(grid, block, args)` compiles it at the first call and runs it.

    `code` is the source, `name` the kernel in it (declared `extern "C"`), `options` are NVRTC's. Raises
    CompileError with the line, AttributeError when there is no such kernel, TypeError for arguments that do
    not fit, LaunchError for a grid or block that a GPU refuses.
    """

    def __init__(
        self,
        code: str,
        name: str,
        options=(),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        *,
        enable_cooperative_groups: bool = False,
        jitify=None,
    ):
        if not isinstance(code, str):
            raise ArgumentError(f"RawKernel(code, name): the source is text, and {type(code).__name__} was given.")
        if "__global__" in name and "__global__" not in code:
            raise ArgumentError("RawKernel(code, name): the source comes first, then the name of the kernel in it.")
        self._set_up(Program(code, None, options, backend, (), enable_cooperative_groups), name, backend)

    @classmethod
    def _of(cls, program: Program, name: str, backend: str) -> RawKernel:
        self = cls.__new__(cls)
        self._set_up(program, name, backend)
        return self

    def _set_up(self, program: Program, name: str, backend: str) -> None:
        self._program, self.name, self.backend = program, name, backend
        self._dynamic_limit: int | None = None
        self._parameters: dict[Kernel, list[KernelParameter]] = {}
        self.__name__ = name

    code = property(lambda self: self._program.code)
    options = property(lambda self: self._program.options)
    file_path = property(lambda self: self._program.path)
    enable_cooperative_groups = property(lambda self: self._program.cooperative)

    @property
    def kernel(self) -> Kernel:
        """The compiled kernel."""
        return self._program.kernel(self.name)

    def compile(self, log_stream=None) -> None:
        """Compile now instead of at the first call."""
        _ = self.kernel

    def prepare(self, args, grid=None, block=None, *, shared_bytes: int = 0):
        """What a launch needs, without launching: the kernel, its parameters as bytes and its arrays."""
        from vgpu.launch.launch import Prepared

        kernel = self.kernel
        if kernel not in self._parameters:
            from_source = parameters(self.code or "", self.name)
            self._parameters[kernel] = kernel_parameters(self.name, kernel.parameters, from_source)
        params, arrays = pack(self.name, self._parameters[kernel], args)
        return Prepared(kernel, params, arrays, shared_bytes, holding(args), cooperative=self.enable_cooperative_groups)

    def __call__(self, grid, block, args, *more, shared_mem: int = 0, stream=None) -> None:
        if more:
            raise ArgumentError(
                f"{self.name}: all the kernel's arguments go into one tuple: kernel(grid, block, (x, y, n)); a single "
                "one is (x,)."
            )
        for value, what in ((grid, "grid"), (block, "block")):
            if not isinstance(value, (tuple, list)):
                raise ArgumentError(
                    f"{self.name}: the {what} is a tuple, such as ({value},) or (8, 8), and "
                    f"{type(value).__name__} was given. The order is kernel(grid, block, args)."
                )
        prepared = self.prepare(args, grid, block)
        self._check_shared(shared_mem)
        for listener in calls.LAUNCHED:
            listener(self, grid, block, args, shared_mem)
        operations.kernel(
            streams.queue_of(stream),
            prepared.kernel,
            tuple(grid),
            tuple(block),
            prepared.params,
            prepared.arrays,
            shared_mem,
            prepared.finish,
            prepared.cooperative,
        )

    def _check_shared(self, nbytes: int) -> None:
        if nbytes and nbytes > self.max_dynamic_shared_size_bytes:
            raise LaunchError(
                f"{self.name}: {nbytes} bytes of dynamic shared memory requested, and a launch may have "
                f"{self.max_dynamic_shared_size_bytes}. Above 48 KiB a kernel has to opt in: "
                f"kernel.max_dynamic_shared_size_bytes = {nbytes} (the modelled GPU allows "
                f"{modelled().shared_optin_limit} for static and dynamic together)."
            )

    def _resources(self):
        arch = compilers.architecture(modelled().compute_capability).replace("compute_", "sm_")
        kernel = self.kernel
        return compilers.resources(kernel.ptx, "ptx", arch, kernel.entry, max_registers=kernel.max_registers)

    num_regs = property(lambda self: self._resources().registers, doc="Registers of one thread.")
    shared_size_bytes = property(
        lambda self: self._resources().shared_bytes, doc="Static shared memory of one block, in bytes."
    )
    local_size_bytes = property(
        lambda self: self._resources().local_bytes,
        doc="Local memory of one thread, in bytes: spills and local arrays.",
    )
    const_size_bytes = property(
        lambda self: self._resources().constant_bytes, doc="Constant memory that its module declares, in bytes."
    )

    @property
    def max_threads_per_block(self) -> int:
        """How many threads a block may have before the registers run out."""
        return most_threads(self.num_regs, modelled())

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """The dynamic shared memory a launch may have, in bytes; set it to have more than 48 KiB."""
        if self._dynamic_limit is not None:
            return self._dynamic_limit
        return max(_DEFAULT_SHARED - self.shared_size_bytes, 0)

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, nbytes: int) -> None:
        allowed = modelled().shared_optin_limit - self.shared_size_bytes
        if not 0 <= nbytes <= allowed:
            raise LaunchError(
                f"{self.name}: {nbytes} bytes of dynamic shared memory requested; {modelled().product} "
                f"allows {allowed}, beside the {self.shared_size_bytes} static ones"
            )
        self._dynamic_limit = int(nbytes)

    @property
    def ptx_version(self) -> int:
        """The virtual architecture, as CUDA writes it: 80 for compute_80."""
        return int(compilers.architecture(modelled().compute_capability).removeprefix("compute_"))

    binary_version = ptx_version
    preferred_shared_memory_carveout = -1
    cache_mode_ca = 0

    @property
    def attributes(self) -> dict[str, int]:
        """All of it in a dict, under CuPy's names."""
        return {name: getattr(self, name) for name in ATTRIBUTES}

    def __repr__(self) -> str:
        return f"<RawKernel {self.name!r}>"


class RawModule:
    """Several kernels and module-level variables in one source text, or in a PTX file (`path`).

    `get_function(name)` gives a RawKernel; an instance of a template is listed in `name_expressions` first.
    `get_global(name)` gives a pointer to a `__constant__` or `__device__` variable.
    """

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | None = None,
        options=(),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions=None,
        jitify=None,
    ):
        if name_expressions is not None and code is None:
            raise ValueError("name_expressions need the source: give code= instead of path=")
        self._program = Program(code, path, options, backend, name_expressions, enable_cooperative_groups)
        self.backend = backend

    code = property(lambda self: self._program.code)
    options = property(lambda self: self._program.options)
    file_path = property(lambda self: self._program.path)
    name_expressions = property(lambda self: self._program.expressions)
    enable_cooperative_groups = property(lambda self: self._program.cooperative)

    def compile(self, log_stream=None) -> None:
        """Compile now instead of at the first use."""
        self._program.load()

    def get_function(self, name: str) -> RawKernel:
        """The kernel of that name or name expression; AttributeError that says which there are."""
        self._program.kernel(name)
        return RawKernel._of(self._program, name, self.backend)

    def get_global(self, name: str) -> MemoryPointer:
        """A pointer to a variable of the module: cp.ndarray(shape, dtype, pointer) makes an array over it.

        Raises AttributeError when there is no such variable; those that no kernel uses are left out.
        """
        kernels, lowered, _ = self._program.load()
        if not kernels:
            raise AttributeError("the module has no kernel, and so no variables: a kernel has to use them")
        module = next(iter(kernels.values())).module
        try:
            symbol = lowered.get(name, name)
            return MemoryPointer(Memory(module.address(symbol), module.nbytes(symbol), module), 0)
        except (KeyError, AttributeError) as error:
            raise AttributeError(
                f"no variable named {name!r} in the module. Is it declared at the top with __constant__ or "
                "__device__, used by a kernel, and outside any namespace?"
            ) from error

    def __repr__(self) -> str:
        return f"<RawModule of {self.file_path or 'CUDA C++'}>"


def holding(arrays: Sequence) -> Callable[[], None]:
    """The `finish` of a launch: it keeps the arrays alive until it is called, and copies nothing back."""

    def finish(kept: Sequence = arrays) -> None:
        """Nothing is copied back."""

    return finish

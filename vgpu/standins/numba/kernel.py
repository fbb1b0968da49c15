"""Kernels written in Python: compiled for the types they are launched with, then run on the virtual GPU."""

from __future__ import annotations

import functools
import inspect
import operator
import os
from dataclasses import dataclass, field

from vgpu import operations
from vgpu.base import steady
from vgpu.base.errors import ArgumentError, CompileError, Unsupported
from vgpu.base.words import plural
from vgpu.compile import numba_adapter
from vgpu.compile import python as compile_numba
from vgpu.compile.resources import Resources, resources
from vgpu.hardware import device
from vgpu.hardware.occupancy import most_threads
from vgpu.launch import launch
from vgpu.launch.residency import most_resident
from vgpu.standins import calls
from vgpu.standins.numba import host
from vgpu.standins.numba.args import Packer, mismatch, present, type_of
from vgpu.standins.numba.config import best_block, dimensions
from vgpu.standins.numba.function import NO_MACHINE_CODE, Function, MissingConfiguration
from vgpu.standins.numba.raised import KernelExceptions
from vgpu.standins.numba.rebind import rebind

# Options of numba.cuda.jit: what they are when not given. All but the first six leave the PTX as it is.
OPTIONS = {
    "fastmath": False, "opt": None, "max_registers": None, "launch_bounds": None, "debug": None, "link": (),
    "extensions": (), "inline": "never", "forceinline": False, "lineinfo": False, "cache": False, "lto": None,
    "shared_memory_carveout": None, "boundscheck": None,
}  # fmt: skip


_lock = steady.lock(rank=0)  # one kernel at a time is compiled for its arguments


@dataclass(frozen=True, eq=False)
class Overload:
    """One kernel compiled for one list of argument types."""

    argument_types: tuple
    compiled: compile_numba.CompiledPython
    kernel: launch.Kernel
    launch_bounds: tuple[int, ...] | None = None

    @functools.cached_property
    def sizes(self) -> list[int]:
        """The bytes of each parameter."""
        return [parameter.nbytes for parameter in self.kernel.parameters]

    @functools.cached_property
    def raised(self) -> KernelExceptions | None:
        """The exceptions that its threads raise; None unless it was compiled with `debug=True`."""
        return KernelExceptions(self.kernel, self.compiled) if self.compiled.debug else None

    def resources(self) -> Resources:
        """Registers, shared memory and spills on the modelled GPU, as NVIDIA's assembler says."""
        arch = "sm_{}{}".format(*numba_adapter.target(device.current().compute_capability))
        compiled = self.compiled
        return resources(compiled.ptx, "ptx", arch, compiled.entry_name, max_registers=compiled.max_registers)

    regs_per_thread = property(lambda self: self.resources().registers)
    shared_mem_per_block = property(lambda self: self.resources().shared_bytes)
    local_mem_per_thread = property(lambda self: self.resources().local_bytes)
    const_mem_size = property(lambda self: self.resources().constant_bytes)

    @property
    def max_threads_per_block(self) -> int:
        """The biggest block that its registers (and `launch_bounds`) leave room for."""
        limit = most_threads(self.resources().registers, device.current())
        return min(limit, self.launch_bounds[0]) if self.launch_bounds else limit

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize: int = 0) -> int:
        """The most blocks of a grid that can wait for one another: those resident at once on the modelled GPU.

        blockdim: threads, an int or a tuple; dynsmemsize: bytes of dynamic shared memory.
        """
        block = (blockdim,) if isinstance(blockdim, int) else tuple(blockdim)
        return most_resident(self.kernel, block, self.shared_mem_per_block + dynsmemsize)

    cooperative = property(lambda self: self.compiled.cooperative)

    def inspect_asm(self, cc=None) -> str:
        """The PTX."""
        return self.compiled.ptx

    def inspect_llvm(self) -> str:
        """The LLVM IR that Numba made."""
        return self.compiled.llvm

    def inspect_types(self, file=None) -> None:
        """Print the source with Numba's types beside each line, to `file` or to the standard output."""
        head = f"{self.kernel.entry} {self.argument_types}"
        print(head, "-" * 80, self.compiled.annotated, "=" * 80, sep="\n", file=file)

    def __repr__(self) -> str:
        return f"Overload({self.kernel.name}{tuple(map(str, self.argument_types))})"


class NumbaKernel(Function):
    """A kernel, made by `@cuda.jit`; launch it as `kernel[blocks, threads_per_block](arguments)`."""

    def __init__(self, py_func, options, signatures=None):
        super().__init__(py_func, options)
        self.overloads: dict[tuple, Overload] = {}
        self._by_gpu: dict[tuple, dict[tuple, Overload]] = {}
        self._by_identity: dict[tuple, tuple[dict[tuple, Overload], Overload]] = {}
        self._specializations: dict[tuple, NumbaKernel] = {}
        self._fixed: tuple[tuple, ...] | None = None
        self.specialized = False
        self._names = tuple(inspect.signature(py_func).parameters)
        if signatures is not None:
            self.specialized = not isinstance(signatures, list)
            signatures = signatures if isinstance(signatures, list) else [signatures]
            self._fixed = tuple(self._normalized(signature) for signature in signatures)
            for types in self._fixed:
                self._overload(types)

    # --- compiling ------------------------------------------------------------------------------------------

    def _normalized(self, signature) -> tuple:
        try:
            types, returns = numba_adapter.sigutils.normalize_signature(signature)
        except Exception as error:
            raise CompileError(
                f"`{self.__name__}`: {signature!r} is no signature Numba understands ({error}). Write for "
                'example "void(float32[::1], int64)", or leave it out: the launch determines the types.'
            ) from None
        if returns not in (None, numba_adapter.types.void):
            raise CompileError(f"`{self.__name__}`: a kernel returns nothing, so its signature is `void(…)`.")
        if len(types) != len(self._names):
            raise CompileError(
                f"`{self.__name__}` has {len(self._names)} parameters ({', '.join(self._names)}), and the "
                f"signature {signature!r} has {len(types)}."
            )
        return tuple(types)

    def compile(self, sig) -> Overload:
        """Compile for a signature, unless that was done before."""
        return self._overload(self._normalized(sig))

    def _overload(self, types: tuple) -> Overload:
        capability = numba_adapter.target(device.current().compute_capability)
        # Numba makes each type once, and takes long to compare two; these are alive as long as their overload.
        same = capability, *map(id, types)
        if (known := self._by_identity.get(same)) is not None:
            self.overloads, found = known
            return found
        with _lock:
            overloads = self._by_gpu.setdefault(capability, {})
            if types not in overloads:
                overloads[types] = self._compile(types, capability)
            # `overloads` shows what is compiled for the GPU that is modelled now.
            self.overloads, found = overloads, overloads[types]
            if all(map(operator.is_, types, found.argument_types)):
                self._by_identity[same] = overloads, found
            return found

    def _compile(self, types, capability) -> Overload:
        options = {**OPTIONS, **self.targetoptions}
        bounds = options["launch_bounds"]
        bounds = (bounds,) if isinstance(bounds, int) else bounds
        compiled = compile_numba.numba_to_ptx(
            rebind(self.py_func, capability),
            types,
            cc=capability,
            fastmath=options["fastmath"],
            max_registers=options["max_registers"],
            opt=options["opt"] is not False,
            launch_bounds=bounds,
            debug=self.debug,
            linked=tuple(map(_file, options["link"] or ())),
        )
        kernels = launch.load(
            compiled.ptx,
            language="numba",
            name=self.__name__,
            filename=compiled.filename,
            source="\n".join(compiled.source),
            first_line=compiled.first_line,
            max_registers=options["max_registers"],
        )
        return Overload(types, compiled, kernels[compiled.entry_name], bounds)

    def _select(self, args) -> Overload:
        """The overload for these arguments: the one of exactly these types, or the signature they fit."""
        if len(args) != len(self._names):
            raise ArgumentError(
                f"`{self.__name__}` takes {plural(len(self._names), 'argument')} "
                f"({', '.join(self._names)}), {len(args)} given."
            )
        given = tuple(type_of(value, name, self.__name__) for name, value in zip(self._names, args, strict=True))
        if self._fixed is None or given in self._fixed:
            return self._overload(given)
        reasons, fitting = [], []
        for types in self._fixed:
            pairs = zip(self._names, types, given, strict=True)
            reason = next((f"`{name}` {why}" for name, *pair in pairs if (why := mismatch(*pair))), None)
            if reason is None:
                fitting.append(types)
            reasons.append(f"  {', '.join(map(str, types))}: {reason}")
        if fitting:
            return self._overload(self._nearest(given, fitting))
        raise ArgumentError(
            f"`{self.__name__}` was compiled for other types than ({', '.join(map(str, given))}):\n"
            + "\n".join(reasons)
            + "\nConvert the array (`x.astype(numpy.float32)`), or leave the signature out of `@cuda.jit`."
        )

    def _nearest(self, given: tuple, fitting: list[tuple]) -> tuple:
        """Of several signatures that the arguments fit, the one that Numba would take."""
        try:
            return fitting[0] if len(fitting) == 1 else numba_adapter.nearest(given, fitting)
        except TypeError:
            listed = "\n".join(f"  {', '.join(map(str, types))}" for types in fitting)
            raise ArgumentError(
                f"`{self.__name__}`: several signatures fit the types ({', '.join(map(str, given))}), none better than "
                f"the others:\n{listed}\nAdd a signature of exactly these types, or convert the numbers "
                "(`numpy.float32(x)`)."
            ) from None

    # --- launching ------------------------------------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        raise MissingConfiguration(
            f"`{self.__name__}` is a kernel: it needs to know how many blocks and threads to launch. Write "
            f"{self.__name__}[blocks, threads_per_block](…)."
        )

    def __getitem__(self, configuration) -> Configured:
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise MissingConfiguration(
                f"`{self.__name__}[…]` takes blocks and threads per block, perhaps a stream and the bytes "
                f"of dynamic shared memory: {self.__name__}[blocks, threads_per_block, stream, nbytes](…)."
            )
        return self.configure(*configuration)

    def configure(self, griddim, blockdim, stream=0, sharedmem=0) -> Configured:
        """The kernel with a launch configuration, ready to be called."""
        grid, block = (dimensions(value, what, self.__name__) for value, what in
                       ((griddim, "blocks"), (blockdim, "threads per block")))  # fmt: skip
        return Configured(self, grid, block, stream, dimensions(sharedmem or 0, "bytes", self.__name__)[0])

    def forall(self, ntasks: int, tpb: int = 0, stream=0, sharedmem: int = 0) -> ForAll:
        """The kernel, to be launched on a grid of at least `ntasks` threads in one dimension."""
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def prepare(self, args, grid=None, block=None, *, shared_bytes: int = 0) -> launch.Prepared:
        """Everything a launch needs, without launching; call its `finish()` after the kernel has run."""
        args = tuple(present(value) for value in args)
        overload = self._select(args)
        packer = Packer(self.extensions)
        for expected, value, name in zip(overload.argument_types, args, self._names, strict=True):
            packer.add(expected, value, name)
        if overload.sizes != [len(param) for param in packer.params]:
            raise Unsupported(
                f"`{self.__name__}` takes an argument that the virtual GPU cannot pass: "
                f"({', '.join(map(str, overload.argument_types))}); pass arrays and numbers."
            )
        if overload.raised is not None:
            overload.raised.clear()
            packer.first = overload.raised.check
        return launch.Prepared(
            overload.kernel, packer.params, packer.arrays, shared_bytes, packer.finish,
            cooperative=overload.compiled.cooperative,
        )  # fmt: skip

    def argument_types(self, args) -> tuple:
        """The Numba types that the kernel is compiled with for these arguments."""
        return self._select(tuple(map(present, args))).argument_types

    argument_names = property(lambda self: tuple(self._names))

    # --- looking into it ------------------------------------------------------------------------------------

    debug = property(lambda self: numba_adapter.debug_by_default(self.targetoptions.get("debug")))
    extensions = property(lambda self: self.targetoptions.get("extensions") or [])
    signatures = property(lambda self: list(self.overloads))
    nopython_signatures = property(lambda self: list(self.overloads))

    def specialize(self, *args) -> NumbaKernel:
        """This kernel for the types of these arguments only."""
        if self.specialized:
            raise RuntimeError("Dispatcher already specialized")
        types = self._select(tuple(present(value) for value in args)).argument_types
        if types not in self._specializations:
            self._specializations[types] = NumbaKernel(self.py_func, self.targetoptions, types)
        return self._specializations[types]

    def _each(self, signature, look):
        if signature is not None:
            types = tuple(getattr(signature, "args", signature))
            return look(self.overloads[types])
        if self.specialized:
            return look(next(iter(self.overloads.values())))
        return {types: look(overload) for types, overload in self.overloads.items()}

    def get_regs_per_thread(self, signature=None):
        """Registers a thread on the modelled GPU; a dictionary by types unless there is one signature."""
        return self._each(signature, lambda overload: overload.regs_per_thread)

    def get_shared_mem_per_block(self, signature=None):
        """Bytes of static shared memory a block."""
        return self._each(signature, lambda overload: overload.shared_mem_per_block)

    def get_local_mem_per_thread(self, signature=None):
        """Bytes of local memory a thread: local arrays and spilled registers."""
        return self._each(signature, lambda overload: overload.local_mem_per_thread)

    def get_const_mem_size(self, signature=None):
        """Bytes of constant memory, the parameters included."""
        return self._each(signature, lambda overload: overload.const_mem_size)

    def get_max_threads_per_block(self, signature=None):
        """The biggest block that can be launched on the modelled GPU."""
        return self._each(signature, lambda overload: overload.max_threads_per_block)

    def _text(self, signature, look):
        if signature is not None:
            return look(self.overloads[tuple(getattr(signature, "args", signature))])
        return {types: look(overload) for types, overload in self.overloads.items()}

    def inspect_asm(self, signature=None):
        """The PTX for a signature, or a dictionary of all by types."""
        return self._text(signature, lambda overload: overload.inspect_asm())

    def inspect_llvm(self, signature=None):
        """The LLVM IR for a signature, or a dictionary of all by types."""
        return self._text(signature, lambda overload: overload.inspect_llvm())

    def inspect_types(self, file=None) -> None:
        """Print the source with Numba's types beside each line, for all signatures."""
        for overload in self.overloads.values():
            overload.inspect_types(file)

    def inspect_sass(self, signature=None):
        """Not on the virtual GPU."""
        raise Unsupported(NO_MACHINE_CODE)

    inspect_sass_cfg = inspect_lto_ptx = inspect_sass

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}({', '.join(self._names)})>"


def _file(code):
    """What `link=` names: a path as text, or one of Numba's objects that hold code."""
    return os.fspath(code) if isinstance(code, os.PathLike) else code


@dataclass(frozen=True, eq=False)
class Configured:
    """A kernel with its launch configuration: call it with the kernel's arguments."""

    dispatcher: NumbaKernel
    griddim: tuple[int, int, int]
    blockdim: tuple[int, int, int]
    stream: object = 0
    sharedmem: int = 0
    pre_launch_callbacks: list = field(default_factory=list)

    def __call__(self, *args, **named) -> None:
        if named:
            raise ArgumentError(
                f"`{self.dispatcher.__name__}`: a launch takes its arguments in order, without names "
                f"({', '.join(named)})."
            )
        prepared = self.dispatcher.prepare(args, shared_bytes=self.sharedmem)
        for callback in self.pre_launch_callbacks:
            callback(self.dispatcher._select(tuple(map(present, args))), self)
        for listener in calls.LAUNCHED:
            listener(self.dispatcher, self.griddim, self.blockdim, args, prepared.shared_bytes)
        operations.kernel(
            host.queue_of(self.stream),
            prepared.kernel,
            self.griddim,
            self.blockdim,
            prepared.params,
            prepared.arrays,
            prepared.shared_bytes,
            prepared.finish,
            cooperative=prepared.cooperative,
        )

    def __repr__(self) -> str:
        return f"<kernel {self.dispatcher.__name__} with {self.griddim} blocks of {self.blockdim} threads>"


@dataclass(frozen=True, eq=False)
class ForAll:
    """A kernel to be launched on as many threads as there are tasks; see `NumbaKernel.forall`."""

    dispatcher: NumbaKernel
    ntasks: int
    thread_per_block: int = 0
    stream: object = 0
    sharedmem: int = 0

    def __call__(self, *args) -> None:
        if self.ntasks == 0:
            return
        threads = self.thread_per_block
        if not threads:
            overload = self.dispatcher._select(tuple(present(value) for value in args))
            threads = best_block(overload.resources(), device.current(), self.sharedmem)
            threads = min(threads, overload.max_threads_per_block)
        blocks = -(-self.ntasks // threads)
        self.dispatcher[blocks, threads, self.stream, self.sharedmem](*args)

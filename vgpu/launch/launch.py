"""Kernels on the virtual GPU: load PTX, launch grids, return counts and errors. A launch is synchronous."""

from __future__ import annotations

import contextlib
import math
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache

from vgpu import faults, ptx
from vgpu.base import on_disk, own, records, settings, steady
from vgpu.base import schedule as schedules
from vgpu.base.errors import LaunchError
from vgpu.base.precision import fp8_kind
from vgpu.hardware.device import current
from vgpu.launch import host_calls, residency
from vgpu.launch.configuration import (
    LARGE_CLUSTER,
    MAX_CLUSTER,
    WARP,
    Dimensions,
    check_dimensions,
    check_launch_bounds,
    check_shared,
    check_warp,
    cluster_of,
    launch_bounds,
    pack,
    packing,
)
from vgpu.launch.counters import Counters
from vgpu.launch.grid import Grid
from vgpu.launch.restored import restored
from vgpu.launch.running import BRIEF
from vgpu.lower import Lowered, lower
from vgpu.lower.specials import MOST_BLOCKS
from vgpu.ptx import Function, Parameter, device_library, pairs, tensor_maps
from vgpu.ptx.verify import verify
from vgpu.runtime import jit
from vgpu.storage import heap, layout, memory

FINISHED: own.Listeners[Callable[[Grid], object]] = own.Listeners()
"""Called with the finished grid after each launch; launches count while there is a listener."""
RUNNERS: own.Listeners[Callable[..., Grid]] = own.Listeners()
"""The last of them runs launches in place of `run`, with its arguments: the sanitizer's, while it watches a program."""
NAME = "kernel"  # of the function in each kernel's LLVM IR


@cache
def _cpus() -> int:
    return os.cpu_count() or 1


def counting() -> contextlib.AbstractContextManager[None]:
    """Within it every launch counts, so that one variant of a kernel is compiled and not two."""
    return FINISHED.hearing(_no_action)


def _no_action(run: Grid) -> None:
    """A listener that does nothing: its presence makes launches count."""


@dataclass(frozen=True)
class LoadedModule:
    """A parsed PTX module whose variables have been allocated in device memory."""

    module: ptx.Module
    variables: layout.LoadedVariables = field(repr=False)

    def address(self, name: str) -> int:
        """The device address of a module-level variable; KeyError lists the variables."""
        return self._find(self.variables.addresses, name)

    def nbytes(self, name: str) -> int:
        return self._find(self.variables.nbytes, name)

    def _find(self, table: dict[str, int], name: str) -> int:
        if name not in table:
            raise KeyError(f"the module has no variable {name!r}; it has: {', '.join(sorted(table)) or 'none'}")
        return table[name]


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel ready to launch; made by `load`. `source` are the user's lines, from `first_line` of `filename` on."""

    name: str
    entry: str
    ptx: str = field(repr=False)
    language: str
    filename: str = field(repr=False)
    source: tuple[str, ...] = field(repr=False)
    first_line: int = field(repr=False)
    module: LoadedModule = field(repr=False)
    max_registers: int | None = field(default=None, repr=False)  # of a thread, as the user limits them
    most_blocks: int = field(default=MAX_CLUSTER, repr=False)  # of a cluster

    @property
    def function(self) -> Function:
        return self.module.module.functions[self.entry]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.function.parameters

    @cached_property
    def packing(self) -> tuple[struct.Struct, list[int]]:
        return packing(self.function)

    @cached_property
    def bounds(self) -> tuple[int, int]:
        return launch_bounds(self.function)

    @cached_property
    def cluster(self) -> tuple[int, int, int]:
        """The blocks of a cluster in x, y and z; `LaunchError` for a size that no GPU takes."""
        return cluster_of(self.name, self.function, self.most_blocks)

    @cached_property
    def in_large_clusters(self) -> Kernel:
        """The kernel for launches in clusters that not every GPU takes: of up to 16 blocks."""
        return replace(self, most_blocks=LARGE_CLUSTER)

    @cached_property
    def _clustered(self) -> dict[tuple[int, int, int], Kernel]:
        return {}

    def in_clusters(self, size: tuple[int, int, int]) -> Kernel:
        """The kernel for a launch that sets the size of its clusters: as if it had been compiled for that size.

        Both share the PTX and the module's variables. Errors: `LaunchError` where it was compiled for another size, or
        the modelled GPU has no clusters.
        """
        if size == self.cluster:
            return self
        if current().compute_capability < (9, 0):
            raise LaunchError(
                f"the {current().name} has no clusters, and {self.name} is launched in some: choose a GPU of compute "
                'capability 9.0 or newer, such as device("H100").'
            )
        if self.cluster != (1, 1, 1):
            raise LaunchError(f"{self.name} was compiled for clusters of {self.cluster} blocks, and can't have {size}.")
        with _compile_lock:
            if size not in self._clustered:
                module = self.module.module
                function = replace(self.function, directives=self.function.directives | {"reqnctapercluster": size})
                module = replace(module, functions=module.functions | {self.entry: function})
                self._clustered[size] = replace(self, module=replace(self.module, module=module))
            return self._clustered[size]

    @cached_property
    def _variants(self) -> dict[tuple[bool, ...], tuple[Lowered, int]]:
        return {}

    def line_text(self, line: int | None) -> str:
        """The source text of a line, stripped, or "" where it is not known."""
        if line is None or not 0 <= line - self.first_line < len(self.source):
            return ""
        return self.source[line - self.first_line].strip()

    def compiled(
        self, count: bool = False, fine: bool = False, watch: bool = False, follow: bool = False, rows: bool = False
    ) -> tuple[Lowered, int]:
        """The lowered kernel and the address of its code.

        `count`: with counters. `fine`: a warp's time slice may end after any access to memory. `watch`: with the
        sanitizer. `follow`: with counters and the log of one warp. `rows`: for launches of which `in_rows` is true.
        """
        variant = count, fine, watch, follow, rows
        with _compile_lock:
            if variant not in self._variants:
                self._variants[variant] = self._compile(variant)
            return self._variants[variant]

    def _compile(self, variant: tuple[bool, ...]) -> tuple[Lowered, int]:
        """Lower and compile, or find what another process made of the same PTX."""
        texts: list[str] = []

        def write() -> tuple[Lowered, str, jit.Written]:
            addresses, (count, *others) = self.module.variables.addresses, variant
            lowered = lower(self.module.module, self.function, addresses, NAME, count, self.filename, *others)
            own, text = jit.named(lowered.text, NAME)
            texts.append(text)
            return replace(lowered, text=""), own, jit.written(text)  # the text is no longer needed

        def text() -> str:
            if not texts:
                write()
            return texts[0]

        # The directives may be others than those of the PTX: see `in_clusters`.
        inputs = self.ptx, self.entry, self.function.directives, self.filename, variant
        lowered, own, known = on_disk.kept("kernel", (), inputs, write, records.dump, records.load)
        return lowered, jit.link_kernel(own, known, text)


_compile_lock = steady.lock(rank=1)


@dataclass(frozen=True)
class Prepared:
    """A kernel with its packed arguments; the caller calls `finish()` after the launch.

    `grid` and `block` are set where the kernel itself chooses them, else None. `cooperative` marks a launch whose
    blocks may wait for one another.
    """

    kernel: Kernel
    params: list[bytes]
    arrays: list[memory.ArrayInfo]
    shared_bytes: int = 0
    finish: Callable[[], None] = lambda: None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    cooperative: bool = False


def load(
    ptx_text: str,
    *,
    language: str,
    name: str | None = None,
    filename: str | None = None,
    source: str | tuple[str, ...] = "",
    first_line: int = 1,
    max_registers: int | None = None,
) -> dict[str, Kernel]:
    """All kernels of a PTX text by entry name; the same text gives the same kernels.

    `name` is the user's name of the kernel (where there is one), `source` the user's text or its lines,
    `max_registers` the user's limit on registers, such as nvcc's -maxrregcount.
    """
    with _compile_lock:  # two threads that load at the same time get the same variables
        return _load(ptx_text, language, name, filename, source, first_line, max_registers)


@lru_cache(maxsize=256)
def _load(
    ptx_text: str,
    language: str,
    name: str | None,
    filename: str | None,
    source: str | tuple[str, ...],
    first_line: int,
    max_registers: int | None,
) -> dict[str, Kernel]:
    module = _module(ptx_text)
    loaded = LoadedModule(module, layout.load_variables(module))
    lines = tuple(source.splitlines()) if isinstance(source, str) else tuple(source)
    found = {}
    for entry, function in module.kernels.items():
        where = filename or _main_file(module, function)
        found[entry] = Kernel(name or entry, entry, ptx_text, language, where, lines, first_line, loaded, max_registers)
    return found


def _module(ptx_text: str) -> ptx.Module:
    return on_disk.kept("module", (), (ptx_text,), lambda: _parsed(ptx_text), records.dump, records.load)


def _parsed(ptx_text: str) -> ptx.Module:
    """A module that has been checked, in the instructions that the engine has."""
    module = device_library.complete(ptx.parse(ptx_text))
    for function in module.functions.values():
        verify(module, function)
    return pairs.written_out(tensor_maps.written_out(module))


def _main_file(module: ptx.Module, function: ptx.Function) -> str:
    for statement in function.body or ():
        if isinstance(statement, ptx.Instruction) and statement.location is not None:
            location = statement.location
            while location.inlined_at is not None:
                location = location.inlined_at
            return module.files.get(location.file, "")
    return next(iter(module.files.values()), "")


# ---------------------------------------------------------------- launching


def launch(
    kernel: Kernel,
    grid: Dimensions | None,
    block: Dimensions | None,
    params: Sequence[bytes],
    arrays: Sequence[memory.ArrayInfo] = (),
    shared_bytes: int = 0,
    *,
    observe: bool = False,
    threads: int | None = None,
    timeout: float | None = None,
    cooperative: bool = False,
    schedule: str | None = None,
    seed: int | None = None,
    watched: tuple[int, int] | None = None,
) -> Counters | None:
    """Run a kernel to its end.

    grid, block: blocks and threads in x, y, z (an int or a tuple of up to three). params: one bytes object a PTX
    parameter. shared_bytes: dynamic shared memory. observe: count, and return `Counters`. threads: worker threads
    (default: one a core). timeout: seconds (default 60, or the environment's VGPU_TIMEOUT). cooperative: the grid
    must fit on the modelled GPU, and may synchronise. schedule: "sequential" (one worker) or "random", which follows
    `seed` (default: what `schedule.scheduled` says). watched: the number of a block, x first, and of a warp in it,
    which counted code follows (`Counters.path`).
    Results and counts do not depend on `threads`, with three exceptions: sums of float atomics, which are rounded in
    the order in which blocks run, as on a GPU (threads=1 repeats them bit for bit); a kernel whose result depends on
    the order of its blocks; and how often blocks that wait for one another spin.
    Errors: `LaunchError` for a bad configuration; subclasses of `KernelError` for an error in the kernel.
    """
    grid, block = check_dimensions(grid, block)
    done = [run, *RUNNERS][-1](
        kernel, grid, block, params, arrays, shared_bytes, counted=observe or bool(FINISHED), threads=threads,
        timeout=timeout, cooperative=cooperative, schedule=schedules.chosen(schedule, seed), watched=watched,
    )  # fmt: skip
    for listener in FINISHED:
        listener(done)
    counters = done.counters() if observe else None
    if done.shape is not None and done.reusable:
        _put_away(done.shape, done)
    return counters


def _check_watched(watched: tuple[int, int], grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    """Raise IndexError for a block outside the grid, or a warp outside the block."""
    number, warp = watched
    if not 0 <= number < math.prod(grid):
        raise IndexError(f"block {number} lies outside the grid, whose {math.prod(grid)} blocks count from 0")
    check_warp(warp, block)


def dry_run(
    prepared: Prepared,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared_bytes: int = 0,
    watched: tuple[int, int] | None = None,
) -> Counters:
    """The counters of a launch without effects: it restores memory, prints nothing and calls no listener.

    grid, block: three ints each; the rest as for `launch`. Errors: as a launch.
    """
    with own.LAUNCHING, restored(prepared):
        return run(
            prepared.kernel, grid, block, prepared.params, prepared.arrays, shared_bytes or prepared.shared_bytes,
            counted=True, cooperative=prepared.cooperative, schedule=schedules.chosen(None, None), watched=watched,
            prints=False,
        ).counters()  # fmt: skip


def in_rows(grid: tuple[int, int, int], block: tuple[int, int, int]) -> bool:
    """Whether the threads of each warp lie side by side in x, and no index of a thread in x, y or z leaves 32 bits."""
    return (block[0] % WARP == 0 or block[1] == block[2] == 1) and max(grid) <= MOST_BLOCKS


def usual(
    kernel: Kernel, grid: tuple[int, int, int], block: tuple[int, int, int], params: Sequence[bytes], shared_bytes: int
) -> Grid:  # fmt: skip
    """A launch that neither counts nor cooperates nor follows a schedule, before it runs. Errors: those of `run`."""
    check_launch_bounds(kernel, block)
    lowered, address = kernel.compiled(rows=in_rows(grid, block))
    needed, data = check_shared(lowered, shared_bytes), pack(kernel, params)
    return Grid(kernel, lowered, address, grid, block, data, needed, shared_bytes, False, settings.timeout())


_ended: dict[tuple[object, ...], Grid] = {}
"""Launches whose memory another launch of the same kernel and shape can use again; `LAUNCHING` protects it."""
MOST_ENDED = 16


def _put_away(shape: tuple[object, ...], done: Grid) -> None:
    done.rest()
    with own.LAUNCHING:
        _ended[shape] = done
        if len(_ended) > MOST_ENDED:
            del _ended[next(iter(_ended))]


def run(
    kernel: Kernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    params: Sequence[bytes],
    arrays: Sequence[memory.ArrayInfo],
    shared_bytes: int,
    *,
    counted: bool,
    schedule: schedules.Schedule,
    cooperative: bool = False,
    threads: int | None = None,
    timeout: float | None = None,
    watched: tuple[int, int] | None = None,
    prints: bool = True,
) -> Grid:
    """Run a launch to its end, and return it; raises the kernel's error. Arguments as for `launch`."""
    check_launch_bounds(kernel, block)
    if watched is not None:
        _check_watched(watched, grid, block)
    counted = counted or watched is not None
    lowered, address = kernel.compiled(
        counted, schedule.random, follow=watched is not None, rows=in_rows(grid, block) and not schedule.random
    )
    needed = check_shared(lowered, shared_bytes)
    if cooperative:
        residency.check_cooperative(kernel, grid, block, needed)
    timeout = settings.timeout(timeout)
    data = pack(kernel, params)
    warps = math.prod(grid) * -(-math.prod(block) // WARP)
    apart = -(-math.prod(grid) // math.prod(kernel.cluster))  # blocks of one cluster run in one worker
    workers = 1 if warps <= BRIEF else min(schedule.workers or threads or _cpus(), apart)
    shape = lowered, grid, block, shared_bytes, workers, fp8_kind()
    usual = not (cooperative or schedule.random or watched or heap.current())
    with own.LAUNCHING:
        if usual and (found := _ended.pop(shape, None)) is not None:
            done = found
            done.again(kernel, data, timeout)
        else:
            done = Grid(
                kernel, lowered, address, grid, block, data, needed, shared_bytes, counted, timeout, cooperative,
                schedule.seed, watched,
            )  # fmt: skip
            done.shape = shape
        done.run(workers)
        fault, printed = done.fault, done.printed
    if prints:
        host_calls.flush(printed)
    if fault is not None:
        raise faults.error(kernel, lowered, fault, grid, block, arrays)
    return done

"""Kernels on the virtual GPU: load PTX, launch grids over worker threads, bring back counts and errors.

A launch is synchronous. Blocks are handed to worker threads in order; each worker runs one block at a time, warp
by warp. Now and then the workers come back to Python, so that Ctrl-C and time-outs work.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from helpers.device import current
from helpers.vgpu import counters as counting
from helpers.vgpu import faults, host_calls, jit, layout, memory, ptx, textures
from helpers.vgpu.context import (
    ASYNCHRONOUS,
    BARRIER_BYTES,
    CONTEXT,
    COPIES,
    FAILED,
    LAUNCH_SLOT,
    OUT_OF_FUEL,
    PC_DONE,
    QUEUE_BYTES,
    SITE_BYTES,
    SITE_SLOT,
    SLOT,
    TEXTURE_BYTES,
)
from helpers.vgpu.counters import Counters, Footprint
from helpers.vgpu.errors import LaunchError, Unsupported
from helpers.vgpu.lower import SEGMENT_SLOTS, Lowered, lower
from helpers.vgpu.lower.texture import SITE_KINDS as TEXTURE_KINDS
from helpers.vgpu.ptx.verify import verify

MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
LANES = 32
# Backward jumps a warp may take before its worker looks up: some milliseconds' work.
FUEL = 1 << 16
LAUNCHED: list[Callable] = []  # called as f(kernel, grid, block, shared_bytes) after each launch
FINISHED: list[Callable] = []  # called as f(run) after each launch; launches count while there is one
_names = itertools.count(1)


@dataclass(frozen=True)
class LoadedModule:
    """A parsed PTX module whose variables have their place in device memory."""

    module: ptx.Module
    variables: layout.LoadedVariables = field(repr=False)

    def address(self, name: str) -> int:
        """The device address of a module-level variable; KeyError names those there are."""
        return self._find(self.variables.addresses, name)

    def nbytes(self, name: str) -> int:
        return self._find(self.variables.nbytes, name)

    def _find(self, table: dict[str, int], name: str) -> int:
        if name not in table:
            raise KeyError(f"the module has no variable {name!r}; it has: {', '.join(sorted(table)) or 'none'}")
        return table[name]


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel ready to launch; made by `load`. `source` are the learner's lines, from `first_line` of `filename`."""

    name: str
    entry: str
    ptx: str = field(repr=False)
    language: str
    filename: str = field(repr=False)
    source: tuple[str, ...] = field(repr=False)
    first_line: int = field(repr=False)
    module: LoadedModule = field(repr=False)

    @property
    def function(self) -> ptx.Function:
        return self.module.module.functions[self.entry]

    @property
    def parameters(self) -> tuple[ptx.Parameter, ...]:
        return self.function.parameters

    @cached_property
    def _variants(self) -> dict[bool, tuple[Lowered, int]]:
        return {}

    def line_text(self, line: int | None) -> str:
        """The learner's source of a line, stripped, or "" where it is not known."""
        if line is None or not 0 <= line - self.first_line < len(self.source):
            return ""
        return self.source[line - self.first_line].strip()

    def compiled(self, count: bool) -> tuple[Lowered, int]:
        """The kernel in LLVM's terms and the address of its code, with counters or without."""
        with _compile_lock:
            if count not in self._variants:
                name = f"kernel_{next(_names)}"
                addresses = self.module.variables.addresses
                lowered = lower(self.module.module, self.function, addresses, name, count, self.filename)
                self._variants[count] = lowered, jit.compile_ir(lowered.text, (name,))[name]
            return self._variants[count]


_compile_lock = threading.RLock()


@dataclass(frozen=True)
class Prepared:
    """A kernel with its arguments laid out; `finish()` is to be called after the launch."""

    kernel: Kernel
    params: list[bytes]
    arrays: list[memory.ArrayInfo]
    shared_bytes: int = 0
    finish: Callable[[], None] = lambda: None


@lru_cache(maxsize=256)
def load(
    ptx_text: str,
    *,
    language: str,
    name: str | None = None,
    filename: str | None = None,
    source="",
    first_line: int = 1,
) -> dict[str, Kernel]:
    """All kernels of a PTX text by entry name; the same text gives the same kernels.

    `name` is what the learner calls the kernel (where there is one), `source` their text (a string).
    """
    module = ptx.parse(ptx_text)
    for function in module.functions.values():
        verify(module, function)
    loaded = LoadedModule(module, layout.load_variables(module))
    lines = tuple(source.splitlines()) if isinstance(source, str) else tuple(source)
    found = {}
    for entry, function in module.kernels.items():
        where = filename or _main_file(module, function)
        found[entry] = Kernel(name or entry, entry, ptx_text, language, where, lines, first_line, loaded)
    return found


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
    grid,
    block,
    params: Sequence[bytes],
    arrays: Sequence[memory.ArrayInfo] = (),
    shared_bytes: int = 0,
    *,
    observe: bool = False,
    threads: int | None = None,
    timeout: float | None = None,
    cooperative: bool = False,
) -> Counters | None:
    """Run a kernel to its end.

    grid, block: blocks and threads in x, y, z (an int or a tuple of up to three). params: one bytes object a PTX
    parameter. shared_bytes: dynamic shared memory. observe: count, and return `Counters`. threads: worker threads
    (default: one a core). timeout: seconds (default 60, or the environment's WARPBOOK_TIMEOUT).
    Errors: `LaunchError` for a bad configuration; subclasses of `KernelError` for what goes wrong inside.
    """
    if cooperative:
        raise Unsupported(
            "a cooperative launch keeps all blocks resident so that they can wait for one another. The virtual GPU "
            "runs blocks one after another: split the kernel in two launches where the grid synchronises."
        )
    grid, block = check_dimensions(grid, block)
    counted = observe or bool(FINISHED)
    lowered, address = kernel.compiled(counted)
    needed = check_shared(lowered, shared_bytes)
    timeout = float(os.environ.get("WARPBOOK_TIMEOUT", 60)) if timeout is None else timeout
    run = _Launch(kernel, lowered, address, grid, block, _pack(kernel, params), needed, shared_bytes, counted, timeout)
    run.go(min(threads or os.cpu_count() or 1, math.prod(grid)))
    host_calls.flush(run.printed)
    if run.fault is not None:
        raise faults.error(kernel, lowered, run.fault, grid, block, arrays)
    for listener in LAUNCHED:
        listener(kernel, grid, block, shared_bytes)
    for listener in FINISHED:
        listener(run)
    return run.counters() if observe else None


def check_dimensions(grid, block) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """grid and block as three ints each, or `LaunchError`."""
    found = []
    for what, given, limits in (("grid", grid, MAX_GRID), ("block", block, MAX_BLOCK)):
        sizes = given if isinstance(given, (tuple, list)) else (given,)
        try:
            sizes = tuple(s.__index__() for s in sizes)
        except AttributeError:
            raise LaunchError(
                f"the {what} size must be whole numbers, not {given!r}. Dividing with / gives a float: "
                "use (n + threads - 1) // threads."
            ) from None
        if not 1 <= len(sizes) <= 3:
            raise LaunchError(f"the {what} size has {len(sizes)} dimensions; give one, two or three.")
        sizes = sizes + (1,) * (3 - len(sizes))
        for axis, size, limit in zip("xyz", sizes, limits, strict=True):
            if size < 1:
                raise LaunchError(f"the {what} size in {axis} is {size}; every dimension needs at least 1.")
            if size > limit:
                raise LaunchError(
                    f"the {what} size in {axis} is {size}; a GPU allows at most {limit}."
                    + (" Use smaller blocks and more of them." if what == "block" else "")
                )
        found.append(sizes)
    if math.prod(found[1]) > MAX_THREADS_PER_BLOCK:
        shape = " × ".join(str(s) for s in found[1])
        raise LaunchError(
            f"a block of {shape} = {math.prod(found[1])} threads is too large: a GPU allows at most "
            f"{MAX_THREADS_PER_BLOCK} threads a block. Use smaller blocks and more of them."
        )
    return found[0], found[1]


def check_shared(lowered: Lowered, dynamic: int) -> int:
    """Bytes of shared memory a block needs in all, or `LaunchError` if the modelled GPU has less."""
    if dynamic < 0:
        raise LaunchError(f"dynamic shared memory is {dynamic} bytes; it cannot be negative.")
    total = lowered.dynamic_offset + dynamic if dynamic else lowered.static_shared
    gpu = current()
    if lowered.static_shared > gpu.shared_limit:
        raise LaunchError(
            f"the kernel's shared arrays take {lowered.static_shared} bytes, and those of fixed size may take at most "
            f"{gpu.shared_limit}. Use a smaller tile or type, or dynamic shared memory."
        )
    if total > gpu.shared_optin_limit:
        raise LaunchError(
            f"the block asks for {total} bytes of shared memory ({lowered.static_shared} in the kernel, {dynamic} "
            f"at the launch); a block on the {gpu.name} may have at most {gpu.shared_optin_limit}. Use a smaller tile "
            "or type."
        )
    return total


def _pack(kernel: Kernel, params: Sequence[bytes]) -> bytes:
    expected = kernel.parameters
    if len(params) != len(expected):
        raise LaunchError(f"the kernel {kernel.name} takes {len(expected)} parameters, but {len(params)} were given.")
    offsets, total = layout.parameter_layout(kernel.function)
    data = bytearray(total)
    for index, (parameter, value) in enumerate(zip(expected, params, strict=True)):
        if len(value) != parameter.nbytes:
            raise LaunchError(
                f"parameter {index} of {kernel.name} has {parameter.nbytes} bytes, but {len(value)} were given."
            )
        data[offsets[parameter.name] : offsets[parameter.name] + len(value)] = value
    return bytes(data)


def aligned(nbytes: int, alignment: int = 64) -> np.ndarray:
    """Zeroed bytes whose address is a multiple of `alignment`."""
    raw = np.zeros(nbytes + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + nbytes]


class _Worker:
    """One worker thread's context and buffers, all in one piece of memory."""

    def __init__(self, run: _Launch):
        lowered = run.lowered
        sizes = {
            "slots": 8 * len(CONTEXT), "sites": SITE_BYTES * max(1, len(lowered.sites)),
            "segments": 8 * SEGMENT_SLOTS * len(lowered.segments), "states": run.warps * lowered.state_bytes,
            "local": run.warps * LANES * lowered.local_bytes, "barriers": BARRIER_BYTES, "host_data": 1024,
            "copies": run.warps * QUEUE_BYTES + COPIES if any(s.kind in ASYNCHRONOUS for s in lowered.sites) else 0,
            "texture_data": TEXTURE_BYTES,
            # The runtime reads up to 128 bytes at a time, so there is room for that behind the last byte.
            "shared": run.shared_bytes + 128,
        }  # fmt: skip
        places, end = {}, 0
        for name, nbytes in sizes.items():
            # Shared memory starts at a multiple of 1024 bytes, so that banks and sectors depend on offsets only.
            end = layout.align_up(end, 1024 if name == "shared" else 256)
            places[name], end = end, end + nbytes
        memory_of_all = aligned(end, 1024)
        start = memory_of_all.ctypes.data
        at = {name: start + place for name, place in places.items()}
        for name, nbytes in sizes.items():
            setattr(self, name, memory_of_all[places[name] : places[name] + nbytes])
        self.pointer = at["slots"]
        self.slots = self.slots.view(np.int64)
        fresh = self.sites.view(np.int64).reshape(-1, SITE_BYTES // 8)
        fresh[:, [SITE_SLOT["base"], SITE_SLOT["mask"]]] = -1  # no allocation and no pattern seen yet
        values = run.slots | {
            "shared_base": at["shared"], "local_base": at["local"], "sites": at["sites"], "segments": at["segments"],
            "states": at["states"], "barriers": at["barriers"], "host_data": at["host_data"],
            "copies": at["copies"],
            "texture_data": at["texture_data"],
        }  # fmt: skip
        self.slots[[SLOT[name] for name in values]] = list(values.values())
        self.callback = None
        if any(site.kind == "host" for site in lowered.sites):
            self.callback = host_calls.callback(self, run)
            self.slots[SLOT["host"]] = ctypes.cast(self.callback, ctypes.c_void_p).value

    def __getitem__(self, name: str) -> int:
        return int(self.slots[SLOT[name]])


class _Launch:
    """One launch: what its workers share."""

    def __init__(self, kernel, lowered, address, grid, block, params, shared_bytes, dynamic, observe, timeout):
        self.kernel, self.lowered, self.address = kernel, lowered, address
        self.grid, self.block = grid, block
        self.observe, self.timeout = observe, timeout
        self.shared_bytes, self.dynamic_shared = shared_bytes, dynamic
        # A kernel may take the address of a parameter and read through it: then it must be known memory.
        self.allocation = (
            memory.allocate(len(params) or 1, label="parameters") if lowered.parameters_addressed else None
        )
        self.params = aligned(max(16, len(params)), 256)
        if self.allocation is not None:
            self.params = np.frombuffer(
                (ctypes.c_uint8 * max(1, len(params))).from_address(self.allocation.address), np.uint8
            )
        self.params[: len(params)] = np.frombuffer(params, np.uint8)
        self.table = memory.table()
        uses_textures = any(site.kind in TEXTURE_KINDS for site in lowered.sites)
        self.textures = textures.table() if uses_textures else (np.zeros(1, np.int64), [])
        self.lane_ids, self.first_pcs = _lanes(block)
        self.warps = len(self.first_pcs)
        self.shared = np.zeros(len(LAUNCH_SLOT), np.int64)
        self.blocks = math.prod(grid)
        self.shared[LAUNCH_SLOT["blocks"]] = self.blocks
        self.shared[LAUNCH_SLOT["stop_block"]] = self.blocks
        starts, ends = self.table
        self.touch_offsets, total = np.zeros(max(1, len(starts)), np.int64), 1
        if observe and len(starts):
            ends_of_maps = np.cumsum((ends - starts + np.uint64(31)) // np.uint64(32) + np.uint64(1))
            self.touch_offsets[1:], total = ends_of_maps[:-1], int(ends_of_maps[-1])
        self.reads, self.writes = np.zeros(total, np.uint8), np.zeros(total, np.uint8)
        self.printed: list[tuple[int, int, str]] = []
        self.fault: faults.Fault | None = None
        self.assertion: tuple[bytes, ...] = ()  # the condition and file of a failed assert
        self.host_error: Exception | None = None  # what went wrong in a call out of the kernel
        self.cancelled = False
        self.lock = threading.Lock()
        self.workers: list[_Worker] = []
        self.slots = {
            "params": self.params.ctypes.data, "shared_bytes": shared_bytes, "local_bytes": lowered.local_bytes,
            **{f"ntid_{axis}": size for axis, size in zip("xyz", block, strict=True)},
            **{f"nctaid_{axis}": size for axis, size in zip("xyz", grid, strict=True)},
            "fuel_slice": FUEL, "warps": self.warps, "starts": starts.ctypes.data, "ends": ends.ctypes.data,
            "allocations": len(starts), "reads": self.reads.ctypes.data if observe else 0,
            "writes": self.writes.ctypes.data if observe else 0, "touch_offsets": self.touch_offsets.ctypes.data,
            "lane_ids": self.lane_ids.ctypes.data, "first_pcs": self.first_pcs.ctypes.data,
            "state_bytes": lowered.state_bytes, "launch": self.shared.ctypes.data, "run_warp": address, "slices": 1,
            "dynamic_shared": dynamic, "loose_barriers": lowered.loose_barriers,
            "textures": self.textures[0].ctypes.data, "texture_count": len(self.textures[0]),
        }  # fmt: skip

    def go(self, threads: int) -> None:
        self.workers = [_Worker(self) for _ in range(threads)]
        self.deadline = time.monotonic() + self.timeout
        pool = _pool()
        futures = [pool.submit(self.work, worker) for worker in self.workers]
        try:
            while wait(futures, timeout=0.25).not_done:
                pass
        except BaseException as interruption:  # Ctrl-C: let the workers stop before anything they use goes away
            self.stop(-1)
            self.cancelled = True
            wait(futures)
            busy = next((w for w in self.workers if w["in_block"]), None)
            if busy is not None:
                fault = faults.timed_out(busy, self)
                interruption.add_note(faults.whereabouts(self.kernel, self.lowered, fault, self.grid, self.block))
            raise
        for future in futures:
            future.result()

    def stop(self, block: int) -> None:
        """Hand out no block beyond `block`."""
        with self.lock:
            slot = LAUNCH_SLOT["stop_block"]
            self.shared[slot] = min(int(self.shared[slot]), max(block, 0))

    def work(self, worker: _Worker) -> None:
        run_blocks = _run_blocks()
        while True:
            status = run_blocks(worker.pointer)
            if status == OUT_OF_FUEL and not self.cancelled:
                if time.monotonic() < self.deadline:
                    worker.slots[SLOT["slices"]] = 1
                    continue
                self.cancelled = True
                self.report(faults.timed_out(worker, self))
            elif status == FAILED:
                self.report(faults.failed(worker, self))
            return

    def report(self, fault: faults.Fault) -> None:
        """Keep the fault of the lowest block, so that what is reported does not depend on the threads."""
        self.stop(fault.block)
        with self.lock:
            if self.fault is None or fault.block < self.fault.block:
                self.fault = fault

    def counters(self) -> Counters:
        lowered = self.lowered
        sites = sum(w.sites.view(np.int64).reshape(-1, SITE_BYTES // 8) for w in self.workers)[: len(lowered.sites)]
        segments = sum(w.segments.view(np.int64).reshape(-1, SEGMENT_SLOTS) for w in self.workers)
        files = self.kernel.module.module.files
        lines, total = counting.gather(lowered, files, self.kernel.filename, sites, segments)
        footprint = Footprint(*(32 * int(np.count_nonzero(m)) for m in (self.reads, self.writes)))
        return Counters(lines, total, footprint, self.grid, self.block, self.warps * self.blocks, self.shared_bytes)


@lru_cache(maxsize=64)
def _lanes(block: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Thread indices (warps, 3, 32) and first program counters (warps, 32) of a block's warps."""
    threads = math.prod(block)
    warps = -(-threads // LANES)
    linear = np.arange(warps * LANES)
    ids = np.stack([linear % block[0], linear // block[0] % block[1], linear // (block[0] * block[1])])
    lane_ids = aligned(warps * 3 * LANES * 4).view(np.int32).reshape(warps, 3, LANES)
    lane_ids[:] = ids.reshape(3, warps, LANES).transpose(1, 0, 2)
    first = aligned(warps * LANES * 4).view(np.int32).reshape(warps, LANES)
    first[:] = np.where(linear < threads, 0, PC_DONE).reshape(warps, LANES)
    return lane_ids, first


@lru_cache(maxsize=1)
def _run_blocks():
    # CFUNCTYPE lets go of the interpreter's lock while the code runs.
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(jit.address("wb_run_blocks"))


_pools: dict[int, ThreadPoolExecutor] = {}


def _pool() -> ThreadPoolExecutor:
    """This process's worker threads (a forked child needs its own)."""
    pid = os.getpid()
    if pid not in _pools:
        _pools.clear()
        _pools[pid] = ThreadPoolExecutor(max_workers=64, thread_name_prefix="virtual-gpu")
    return _pools[pid]

"""Interleavings: one block under several schedules, reduced to what a few of its threads do to shared data.

A race needs two threads and one element. Recordings have every step of every lane; here they are reduced to the
accesses, barriers and computations of two or three threads, one row per step, with the values of the shared elements
after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu.base import own
from vgpu.base.errors import VirtualGPUError
from vgpu.base.schedule import scheduled
from vgpu.tools.prepare import Dimensions, Grid, prepare
from vgpu.tools.sanitize.names import LaunchNames
from vgpu.tools.steps.recording import LANES, MemoryAccess, Recording, Step
from vgpu.tools.steps.stepper import RecordingTooLong, record

if TYPE_CHECKING:
    from vgpu.tools.steps.trace import Access

SEEDS = range(24)
MOST_THREADS = 3
MOST_CELLS = 2
MOST_RUNS = 8
_SPACES = ("global", "shared")
_BARRIERS = ("bar", "barrier")


@dataclass(frozen=True, order=True)
class MemoryCell:
    """One element of memory: `counter[0]`. The index counts elements from the start, in arrays of any shape."""

    space: str
    array: str
    index: int

    def __str__(self) -> str:
        return f"{self.array}[{self.index}]"


@dataclass(frozen=True)
class ThreadStep:
    """What one thread does in one step: `op` is "load", "store", "atomic", "barrier" or "compute".

    `value` is what it read or wrote; of an atomic, the cell's value after it.
    """

    thread: int
    op: str
    cell: MemoryCell | None = None
    value: object = None


@dataclass(frozen=True)
class InterleavedStep:
    """One step: the line, what all threads that took it together do, and the values of the watched cells after it."""

    line: int | None
    source: str
    deeds: tuple[ThreadStep, ...]
    memory: tuple[object, ...] = ()


@dataclass(frozen=True)
class ScheduledRun:
    """One schedule: its seed (None: in order), its rows, and the values of `Interleavings.telling` at the end.

    A schedule under which the kernel fails has its `error` instead.
    """

    seed: int | None
    rows: tuple[InterleavedStep, ...] = ()
    outcome: tuple[object, ...] = ()
    error: VirtualGPUError | None = None

    @property
    def name(self) -> str:
        return "in order" if self.seed is None else f"seed {self.seed}"


@dataclass(frozen=True, repr=False)
class Interleavings:
    """Different runs of one kernel, seen by `threads` (numbers in the block) that share the `watched` cells.

    `telling` are the cells whose values at the end distinguish runs: those that differ between schedules, else the
    watched ones. `results` counts the different results among all `tried` schedules; `runs` are a selection of these.
    """

    kernel: str
    threads: tuple[int, ...]
    watched: tuple[MemoryCell, ...]
    telling: tuple[MemoryCell, ...]
    runs: tuple[ScheduledRun, ...]
    tried: int
    results: int

    def __repr__(self) -> str:
        results = "1 result" if self.results == 1 else f"{self.results} different results"
        return f"Interleavings of {self.kernel}: {results} in {self.tried} schedules; runs: " + ", ".join(
            run.name for run in self.runs
        )


def interleavings(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence,
    *, threads: Sequence[int] | None = None, seeds: Iterable[int] = SEEDS,
    block_index: Dimensions = 0, shared_bytes: int = 0, max_steps: int = 4_000,
) -> Interleavings:  # fmt: skip
    """Record one block of a launch in order and under random `seeds`, and keep runs that differ.

    kernel, grid, block, args, block_index, shared_bytes as for `record`; threads: up to three numbers of threads in the
    block, else two of different warps (of different lanes, in a block of one warp) that share an element which one of
    them writes. Memory is restored after each run. Errors: as a launch, where the kernel fails in every schedule;
    ValueError for threads that the block doesn't have.
    """
    _, prepared, _ = prepare("interleavings", kernel, grid, block, args, {})
    size = int(np.prod(prepared.block or block or 1))
    _check_threads(threads, size)
    names = LaunchNames(prepared.kernel, (1, 1, 1), (size, 1, 1), prepared.arrays)
    found: list[tuple[int | None, _ReducedRecording | VirtualGPUError]] = []
    with own.LAUNCHING:  # every schedule begins with the same memory
        for seed in (None, *seeds):
            try:
                with scheduled("sequential") if seed is None else scheduled("random", seed):
                    recording = record(
                        kernel, grid, block, args, block_index, shared_bytes=shared_bytes, max_steps=max_steps
                    )
                found.append((seed, _ReducedRecording(recording, names)))
            except RecordingTooLong as error:
                # Not a result of the kernel: counted as one, it would look like a race.
                schedule = "in order" if seed is None else f"under seed {seed}"
                raise RecordingTooLong(
                    f"{schedule} the block takes more than {max_steps:,} steps: take fewer threads, fewer elements or "
                    "a shorter loop"
                ) from error
            except VirtualGPUError as error:
                found.append((seed, error))
    reduced = [each for _, each in found if isinstance(each, _ReducedRecording)]
    if not reduced:
        raise next(each for _, each in found if isinstance(each, VirtualGPUError))
    chosen = tuple(threads) if threads is not None else _pair(reduced, size)
    watched = _shared_by(reduced, chosen)
    telling = _telling(reduced, chosen, watched)
    results = {tuple(each.last(cell) for cell in sorted(each.written)) for each in reduced}
    runs = [
        ScheduledRun(seed, error=each)
        if isinstance(each, VirtualGPUError)
        else ScheduledRun(seed, each.rows(chosen, watched, telling), tuple(each.last(cell) for cell in telling))
        for seed, each in found
    ]
    return Interleavings(
        prepared.kernel.name, chosen, watched, telling, tuple(_different(runs)), len(found),
        len({_same(result) for result in results}) + any(run.error for run in runs),
    )  # fmt: skip


def _check_threads(threads: Sequence[int] | None, size: int) -> None:
    if threads is None:
        return
    if not 1 <= len(threads) <= MOST_THREADS or any(not 0 <= thread < size for thread in threads):
        raise ValueError(f"threads are one to {MOST_THREADS} numbers from 0 to {size - 1}, got {tuple(threads)}")


def _same(values: tuple) -> tuple:
    """The values with NaN as "nan", so that equal results compare equal."""
    return tuple("nan" if value != value else value for value in values)


Registers = dict[tuple[int, str], tuple[str, list]]  # (warp, name) -> type, a value per lane


class _ReducedRecording:
    """One recording as steps of its threads, with the accesses to each cell."""

    def __init__(self, recording: Recording, names: LaunchNames):
        self.names = names
        self.kinds: dict[MemoryCell, tuple[str, int]] = {}
        self.initial: dict[MemoryCell, object] = {}
        self.steps: list[InterleavedStep] = []  # without memory, which `rows` adds for the requested cells
        self.written: set[MemoryCell] = set()
        registers: Registers = {}
        self.open = False  # whether the next step on the line may be merged into the last one
        for step in recording.steps:
            self._take(step, registers)
            for each in step.written:
                kind, values = registers.get((step.warp, each.register), ("", [None] * LANES))
                merged = [old if new is None else new for new, old in zip(each.values, values, strict=True)]
                registers[step.warp, each.register] = each.type or kind, merged

    def _take(self, step: Step, registers: Registers) -> None:
        lanes = [LANES * step.warp + lane for lane, on in enumerate(step.active) if on]
        touched = [each for each in step.touched if each.access.space in _SPACES]
        opcode = step.instruction.lstrip("@%!p0123456789 \t").split(".")[0].split()[0].rstrip(";")
        if touched:
            deeds = [deed for each in touched for deed in self._accesses(step, each, registers)]
        elif opcode in _BARRIERS:
            deeds = [ThreadStep(thread, "barrier") for thread in lanes]
        else:
            deeds = [ThreadStep(thread, "compute") for thread in lanes]
        computes = all(deed.op == "compute" for deed in deeds)
        last = self.steps[-1] if self.steps else None
        if (
            self.open and last is not None and last.line == step.line
            and [deed.thread for deed in last.deeds] == lanes and (computes or last.deeds[0].op == "compute")
        ):  # fmt: skip
            if not computes:
                self.steps[-1] = InterleavedStep(step.line, step.source, tuple(deeds))
            return
        self.open = True
        self.steps.append(InterleavedStep(step.line, step.source, tuple(deeds)))

    def _accesses(self, step: Step, touched: MemoryAccess, registers: Registers) -> Iterator[ThreadStep]:
        access = touched.access
        kind, given = self._moved(step, access, registers)
        for lane, on in enumerate(access.lanes):
            if not on:
                continue
            cell = self._cell(access, access.addresses[lane])
            self.kinds[cell] = max(self.kinds.get(cell, ("", access.nbytes)), (kind, access.nbytes), key=_precision)
            self.initial.setdefault(cell, touched.before[lane])
            value = None if given is None else given[lane]
            if access.op != "load":
                self.written.add(cell)
            yield ThreadStep(LANES * step.warp + lane, access.op, cell, touched.after[lane] if value is None else value)

    def _moved(self, step: Step, access: Access, registers: Registers) -> tuple[str, list | None]:
        """The type of the values that an access moves, and the values that each lane stores (None: a load)."""
        array = next((a for a in self.names.arrays if a.name == access.array), None)
        source = step.instruction.rstrip("; ").split(",")[-1].strip()
        kind, values = registers.get((step.warp, source), ("", None))
        if array is not None:
            dtype = np.dtype(array.dtype)
            kind = f"{'s' if dtype.kind == 'i' else dtype.kind}{8 * dtype.itemsize}"
        elif access.op == "load":
            kind = step.written[0].type if step.written else ""
        elif access.op == "atomic":
            kind = step.instruction.split()[0].split(".")[-1]
        return kind, values if access.op == "store" else None

    def typed(self, cell: MemoryCell, value: object) -> object:
        """A value in the cell's type: memory outside of arrays is bits until an instruction says what they are."""
        kind, nbytes = self.kinds.get(cell, ("", 0))
        if isinstance(value, tuple):  # a vector: a load of float4 gives floats, a store bits
            return tuple(_typed(kind, nbytes // len(value), each) for each in value)
        return _typed(kind, nbytes, value)

    def _cell(self, access: Access, offset: int) -> MemoryCell:
        if access.space == "shared":
            name, index = self.names.element("shared", offset, access.nbytes)
            number = index if isinstance(index, int) else offset // access.nbytes
            return MemoryCell("shared", name or "shared", number)
        array = next((a for a in self.names.arrays if a.name == access.array), None)
        skew = array.address % 32 if array is not None else 0  # an access counts from the start of a sector
        return MemoryCell("global", access.array or "memory", (offset - skew) // access.nbytes)

    # -- which threads share which cells

    def users(self) -> dict[MemoryCell, tuple[set[int], set[int]]]:
        """Cell → (the threads that read it, the threads that write it)."""
        found: dict[MemoryCell, tuple[set[int], set[int]]] = {}
        for cell, deed in self.accesses():
            readers, writers = found.setdefault(cell, (set(), set()))
            (readers if deed.op == "load" else writers).add(deed.thread)
        return found

    def accesses(self) -> Iterator[tuple[MemoryCell, ThreadStep]]:
        """All accesses in order, with their cells."""
        return ((deed.cell, deed) for row in self.steps for deed in row.deeds if deed.cell is not None)

    def last(self, cell: MemoryCell) -> object:
        """The value of a cell at the end."""
        value = self.initial.get(cell)
        for accessed, deed in self.accesses():
            if accessed == cell and deed.op != "load":
                value = deed.value
        return self.typed(cell, value)

    def rows(
        self, threads: tuple[int, ...], watched: tuple[MemoryCell, ...], telling: tuple[MemoryCell, ...]
    ) -> tuple[InterleavedStep, ...]:
        """The steps to show: barriers, accesses to these cells, and computing on lines without accesses."""
        memory = {cell: self.typed(cell, self.initial.get(cell)) for cell in watched}
        requested = {*watched, *telling}
        busy = {row.line for row in self.steps if row.deeds and row.deeds[0].op != "compute"}
        lines = dict.fromkeys(threads, 0)  # the last line of each thread that is shown
        last = {deed.thread: at for at, row in enumerate(self.steps) for deed in row.deeds if deed.cell in requested}
        found: list[InterleavedStep] = []
        for at, step in enumerate(self.steps):
            for deed in step.deeds:
                if deed.cell is not None and deed.cell in memory and deed.op != "load":
                    memory[deed.cell] = self.typed(deed.cell, deed.value)
            mine = []
            for deed in step.deeds:
                if deed.thread not in lines:
                    shown = deed.cell in memory and deed.op != "load"
                elif deed.op == "compute":
                    forward = step.line not in busy and (step.line or 0) > lines[deed.thread] > 0
                    shown = forward and at < last.get(deed.thread, 0)
                else:
                    shown = deed.op == "barrier" or deed.cell in requested
                if shown:
                    value = None if deed.cell is None else self.typed(deed.cell, deed.value)
                    mine.append(replace(deed, value=value))
            lines.update((deed.thread, step.line or 0) for deed in mine if deed.thread in lines)
            if mine:
                found.append(InterleavedStep(step.line, step.source, tuple(mine), tuple(memory.values())))
        return tuple(found)


def _typed(kind: str, nbytes: int, value: object) -> object:
    """Bits as a number of a type, such as f32 or s32; other values, and other types, unchanged."""
    if kind[:1] not in ("f", "s", "u") or not isinstance(value, int) or nbytes not in (2, 4, 8):
        return value
    bits = np.array(value & (1 << 8 * nbytes) - 1, f"u{nbytes}")
    return bits.view(f"{'i' if kind[0] == 's' else kind[0]}{nbytes}").item()


def _precision(kind: tuple[str, int]) -> int:
    """How precise a type is: 2 for floats, 1 for signed integers, 0 for plain bits."""
    return {"f": 2, "s": 1}.get(kind[0][:1], 0)


def _pair(reduced: Sequence[_ReducedRecording], size: int) -> tuple[int, ...]:
    """Two threads that share a cell which one of them writes: of different warps, where the block has several."""
    several = size > LANES
    for each in reduced:
        for _, (readers, writers) in sorted(each.users().items(), key=lambda item: item[0].space != "shared"):
            for one, other in itertools.product(sorted(writers), sorted(writers | readers)):
                if one // LANES != other // LANES if several else one != other:
                    return tuple(sorted((one, other)))
    return tuple(range(min(2, size))) if not several else (0, LANES)


def _shared_by(reduced: Sequence[_ReducedRecording], threads: tuple[int, ...]) -> tuple[MemoryCell, ...]:
    """The cells that several of the threads use and one of them writes; if none, the first that one of them writes."""
    shared: dict[MemoryCell, None] = {}
    own: dict[MemoryCell, None] = {}
    for each in reduced:
        for cell, (readers, writers) in each.users().items():
            users = (readers | writers) & set(threads)
            if writers & set(threads):
                (shared if len(users) > 1 else own)[cell] = None
    return tuple(shared or own)[:MOST_CELLS]


def _telling(
    reduced: Sequence[_ReducedRecording], threads: tuple[int, ...], watched: tuple[MemoryCell, ...]
) -> tuple[MemoryCell, ...]:
    """A cell of global memory whose results differ, preferably written by a reader of a watched cell; else a watched
    one."""
    differing = [
        cell for cell in sorted(set[MemoryCell]().union(*(each.written for each in reduced)))
        if cell.space == "global" and len({_same((each.last(cell),)) for each in reduced}) > 1
    ]  # fmt: skip
    deeds = [deed for each in reduced for _, deed in each.accesses() if deed.thread in threads]
    readers = {deed.thread for deed in deeds if deed.op != "store" and deed.cell in watched}
    by_readers = {deed.cell for deed in deeds if deed.op != "load" and deed.thread in readers}
    own = {deed.cell for deed in deeds if deed.op != "load"}
    return tuple(sorted(differing, key=lambda cell: (cell not in by_readers, cell not in own))[:1]) or watched[:1]


def _different(runs: Sequence[ScheduledRun]) -> list[ScheduledRun]:
    """One run for each order of steps, those with a new result first, at most `MOST_RUNS`."""
    first: dict[tuple, ScheduledRun] = {}
    for run in runs:
        key = tuple((row.line, tuple((deed.thread, deed.op, deed.cell) for deed in row.deeds)) for row in run.rows)
        first.setdefault((key, str(run.error)), run)
    kept = list(first.values())
    seen: set[tuple] = set()
    ranks = []
    for run in kept:
        result = (_same(run.outcome), str(run.error))
        ranks.append(result in seen)
        seen.add(result)
    ordered = [run for _, run in sorted(zip(ranks, kept, strict=True), key=lambda pair: pair[0])][:MOST_RUNS]
    return sorted(ordered, key=lambda run: -1 if run.seed is None else run.seed)

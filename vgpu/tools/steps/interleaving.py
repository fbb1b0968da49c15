"""Interleavings: one block under several schedules, told as what a few of its threads do to the memory they share.

A race is two threads and an element between them. Recordings have every step of every lane; here they are boiled down
to the accesses, barriers and computing of two or three threads, one row a step, with what lies in the shared elements
after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vgpu.base import own
from vgpu.base.errors import VirtualGPUError
from vgpu.base.schedule import scheduled
from vgpu.tools.prepare import prepare
from vgpu.tools.sanitize.names import Names
from vgpu.tools.steps.recording import LANES, Recording
from vgpu.tools.steps.stepper import RecordingTooLong, record

SEEDS = range(24)
MOST_THREADS = 3
MOST_CELLS = 2
MOST_RUNS = 8
_SPACES = ("global", "shared")
_BARRIERS = ("bar", "barrier")


@dataclass(frozen=True, order=True)
class Cell:
    """One element of memory: `counter[0]`. The index counts elements from the start, in arrays of any shape."""

    space: str
    array: str
    index: int

    def __str__(self) -> str:
        return f"{self.array}[{self.index}]"


@dataclass(frozen=True)
class Deed:
    """What one thread does in one step: `op` is "load", "store", "atomic", "barrier" or "compute".

    `value` is what it read or wrote; after an atomic, what lies in the cell then.
    """

    thread: int
    op: str
    cell: Cell | None = None
    value: object = None


@dataclass(frozen=True)
class Row:
    """One step: the line, the deeds of all threads that took it together, and the watched cells after it."""

    line: int | None
    source: str
    deeds: tuple[Deed, ...]
    memory: tuple[object, ...] = ()


@dataclass(frozen=True)
class Run:
    """One schedule: its seed (None: in order), its rows, and the values of `Interleavings.telling` at the end.

    A schedule under which the kernel fails has its `error` instead.
    """

    seed: int | None
    rows: tuple[Row, ...] = ()
    outcome: tuple[object, ...] = ()
    error: VirtualGPUError | None = None

    @property
    def name(self) -> str:
        return "in order" if self.seed is None else f"seed {self.seed}"


@dataclass(frozen=True, repr=False)
class Interleavings:
    """Different runs of one kernel, seen by `threads` (numbers in the block) that share the `watched` cells.

    `telling` are the cells whose values at the end say how a run came out: those that differ between schedules, else
    the watched ones. `results` counts the different results among all `tried` schedules, of which `runs` are a choice.
    """

    kernel: str
    threads: tuple[int, ...]
    watched: tuple[Cell, ...]
    telling: tuple[Cell, ...]
    runs: tuple[Run, ...]
    tried: int
    results: int

    def __repr__(self) -> str:
        told = "1 result" if self.results == 1 else f"{self.results} different results"
        return f"Interleavings of {self.kernel}: {told} in {self.tried} schedules; runs: " + ", ".join(
            run.name for run in self.runs
        )


def interleavings(
    kernel, grid, block, args, *, threads: Sequence[int] | None = None, seeds: Iterable[int] = SEEDS,
    block_index=0, shared_bytes: int = 0, max_steps: int = 4_000,
) -> Interleavings:  # fmt: skip
    """Record one block of a launch in order and under random `seeds`, and keep runs that differ.

    kernel, grid, block, args, block_index, shared_bytes as for `record`; threads: up to three numbers of threads in the
    block, else two of different warps (of different lanes, in a block of one warp) that share an element one of them
    writes. Memory is put back after each run. Errors: as a launch, where the kernel fails in every schedule;
    ValueError for threads that the block does not have.
    """
    _, prepared, _ = prepare("interleavings", kernel, grid, block, args, {})
    size = int(np.prod(prepared.block or block))
    _check_threads(threads, size)
    names = Names(prepared.kernel, None, (1, 1, 1), (size, 1, 1), prepared.arrays)
    found: list[tuple[int | None, _Told | VirtualGPUError]] = []
    seeds = None, *seeds
    with own.LAUNCHING:  # so that every schedule begins with the same memory
        for seed in seeds:
            try:
                with scheduled("sequential") if seed is None else scheduled("random", seed):
                    recording = record(
                        kernel, grid, block, args, block_index, shared_bytes=shared_bytes, max_steps=max_steps
                    )
                found.append((seed, _Told(recording, names)))
            except RecordingTooLong as error:
                # Not a result of the kernel: to count it as one would tell of a race that may not be there.
                schedule = "in order" if seed is None else f"under seed {seed}"
                raise RecordingTooLong(
                    f"{schedule} the block takes more than {max_steps:,} steps: take fewer threads, fewer elements or "
                    "a shorter loop"
                ) from error
            except VirtualGPUError as error:
                found.append((seed, error))
    told = [each for _, each in found if isinstance(each, _Told)]
    if not told:
        raise found[0][1]
    chosen = tuple(threads) if threads is not None else _pair(told, size)
    watched = _shared_by(told, chosen)
    telling = _telling(told, chosen, watched)
    results = {tuple(each.last(cell) for cell in sorted(each.written)) for each in told}
    runs = [
        Run(seed, error=each)
        if isinstance(each, VirtualGPUError)
        else Run(seed, each.rows(chosen, watched, telling), tuple(each.last(cell) for cell in telling))
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
    """Values that compare equal where they are the same: NaN is not equal to itself."""
    return tuple("nan" if value != value else value for value in values)


class _Told:
    """One recording as steps of its threads, and what each cell held after each."""

    def __init__(self, recording: Recording, names: Names):
        self.names = names
        self.kinds: dict[Cell, tuple[str, int]] = {}
        self.initial: dict[Cell, object] = {}
        self.steps: list[Row] = []  # their memory is worked out for the cells that are asked for
        self.written: set[Cell] = set()
        registers: dict[tuple[int, str], tuple[str, list]] = {}
        self.open = False  # whether the last step may take in what comes next on its line
        for step in recording.steps:
            self._take(step, registers)
            for each in step.written:
                kind, values = registers.get((step.warp, each.register), ("", [None] * LANES))
                merged = [old if new is None else new for new, old in zip(each.values, values, strict=True)]
                registers[step.warp, each.register] = each.type or kind, merged

    def _take(self, step, registers) -> None:
        lanes = [LANES * step.warp + lane for lane, on in enumerate(step.active) if on]
        touched = [each for each in step.touched if each.access.space in _SPACES]
        opcode = step.instruction.lstrip("@%!p0123456789 \t").split(".")[0].split()[0].rstrip(";")
        if touched:
            deeds = [deed for each in touched for deed in self._accesses(step, each, registers)]
        elif opcode in _BARRIERS:
            deeds = [Deed(thread, "barrier") for thread in lanes]
        else:
            deeds = [Deed(thread, "compute") for thread in lanes]
        computes = all(deed.op == "compute" for deed in deeds)
        last = self.steps[-1] if self.steps else None
        same = last is not None and last.line == step.line and [d.thread for d in last.deeds] == lanes
        if same and self.open and (computes or last.deeds[0].op == "compute"):
            if not computes:
                self.steps[-1] = Row(step.line, step.source, tuple(deeds))
            return
        self.open = True
        self.steps.append(Row(step.line, step.source, tuple(deeds)))

    def _accesses(self, step, touched, registers) -> Iterator[Deed]:
        access = touched.access
        kind, given = self._moved(step, access, registers)
        for lane, on in enumerate(access.lanes):
            if not on:
                continue
            cell = self._cell(access, access.addresses[lane])
            self.kinds[cell] = max(self.kinds.get(cell, ("", access.nbytes)), (kind, access.nbytes), key=_tells)
            self.initial.setdefault(cell, touched.before[lane])
            own = access.op == "store" and given is not None and given[lane] is not None
            if access.op != "load":
                self.written.add(cell)
            yield Deed(LANES * step.warp + lane, access.op, cell, given[lane] if own else touched.after[lane])

    def _moved(self, step, access, registers) -> tuple[str, list | None]:
        """The type of what an access moves, and for a store what each lane gives."""
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

    def typed(self, cell: Cell, value):
        """A value as the cell's type has it: memory of no array is bits until an instruction says what they are."""
        kind, nbytes = self.kinds.get(cell, ("", 0))
        if isinstance(value, tuple):  # a vector: its parts, which a load of float4 makes floats and a store bits
            return tuple(_typed(kind, nbytes // len(value), each) for each in value)
        return _typed(kind, nbytes, value)

    def _cell(self, access, offset: int) -> Cell:
        if access.space == "shared":
            name, index = self.names.element("shared", offset, access.nbytes)
            return Cell("shared", name or "shared", offset // access.nbytes if index is None else index)
        array = next((a for a in self.names.arrays if a.name == access.array), None)
        skew = array.address % 32 if array is not None else 0  # an access counts from the start of a sector
        return Cell("global", access.array or "memory", (offset - skew) // access.nbytes)

    # -- who shares what

    def users(self) -> dict[Cell, tuple[set[int], set[int]]]:
        """Cell → (the threads that read it, the threads that change it)."""
        found: dict[Cell, tuple[set[int], set[int]]] = {}
        for deed in self.deeds():
            readers, writers = found.setdefault(deed.cell, (set(), set()))
            (readers if deed.op == "load" else writers).add(deed.thread)
        return found

    def deeds(self) -> Iterator[Deed]:
        return (deed for row in self.steps for deed in row.deeds if deed.cell is not None)

    def last(self, cell: Cell):
        """What lies in a cell at the end."""
        value = self.initial.get(cell)
        for deed in self.deeds():
            if deed.cell == cell and deed.op != "load":
                value = deed.value
        return self.typed(cell, value)

    def rows(self, threads: tuple[int, ...], watched: tuple[Cell, ...], telling: tuple[Cell, ...]) -> tuple[Row, ...]:
        """The steps that matter: barriers, accesses to cells in question, and computing on lines of its own."""
        memory = {cell: self.typed(cell, self.initial.get(cell)) for cell in watched}
        asked = {*watched, *telling}
        busy = {row.line for row in self.steps if row.deeds and row.deeds[0].op != "compute"}
        behind = dict.fromkeys(threads, 0)  # the last line of each thread that is told
        last = {deed.thread: at for at, row in enumerate(self.steps) for deed in row.deeds if deed.cell in asked}
        found: list[Row] = []
        for at, step in enumerate(self.steps):
            for deed in step.deeds:
                if deed.cell in memory and deed.op != "load":
                    memory[deed.cell] = self.typed(deed.cell, deed.value)
            mine = []
            for deed in step.deeds:
                if deed.thread not in behind:
                    told = deed.cell in memory and deed.op != "load"
                elif deed.op == "compute":
                    forward = step.line not in busy and (step.line or 0) > behind[deed.thread] > 0
                    told = forward and at < last.get(deed.thread, 0)
                else:
                    told = deed.op == "barrier" or deed.cell in asked
                if told:
                    value = None if deed.cell is None else self.typed(deed.cell, deed.value)
                    mine.append(replace(deed, value=value))
            behind.update((deed.thread, step.line or 0) for deed in mine if deed.thread in behind)
            if mine:
                found.append(Row(step.line, step.source, tuple(mine), tuple(memory.values())))
        return tuple(found)


def _typed(kind: str, nbytes: int, value):
    """Bits as a number of a type, such as f32 or s32; what is no bits, or has no such type, as it is."""
    if kind[:1] not in ("f", "s", "u") or not isinstance(value, int) or nbytes not in (2, 4, 8):
        return value
    bits = np.array(value & (1 << 8 * nbytes) - 1, f"u{nbytes}")
    return bits.view(f"{'i' if kind[0] == 's' else kind[0]}{nbytes}").item()


def _tells(kind: tuple[str, int]) -> int:
    """How much a type says of bits: that they are a float, a number with a sign, or only how many they are."""
    return {"f": 2, "s": 1}.get(kind[0][:1], 0)


def _pair(told: Sequence[_Told], size: int) -> tuple[int, ...]:
    """Two threads that share a cell, of which one changes it: of different warps, where the block has several."""
    several = size > LANES
    for each in told:
        for cell, (readers, writers) in sorted(each.users().items(), key=lambda item: item[0].space != "shared"):
            for one, other in itertools.product(sorted(writers), sorted(writers | readers)):
                apart = one // LANES != other // LANES if several else one != other
                if apart and cell is not None:
                    return tuple(sorted((one, other)))
    return tuple(range(min(2, size))) if not several else (0, LANES)


def _shared_by(told: Sequence[_Told], threads: tuple[int, ...]) -> tuple[Cell, ...]:
    """The cells that several of the threads use and one of them changes; without any, the first that one changes."""
    shared: dict[Cell, None] = {}
    own: dict[Cell, None] = {}
    for each in told:
        for cell, (readers, writers) in each.users().items():
            users = (readers | writers) & set(threads)
            if writers & set(threads):
                (shared if len(users) > 1 else own)[cell] = None
    return tuple(shared or own)[:MOST_CELLS]


def _telling(told: Sequence[_Told], threads: tuple[int, ...], watched: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """A cell of global memory that comes out differently, best one by who reads a watched cell; else a watched one."""
    differing = [
        cell for cell in sorted(set().union(*(each.written for each in told)))
        if cell.space == "global" and len({_same((each.last(cell),)) for each in told}) > 1
    ]  # fmt: skip
    deeds = [deed for each in told for deed in each.deeds() if deed.thread in threads]
    readers = {deed.thread for deed in deeds if deed.op != "store" and deed.cell in watched}
    by_readers = {deed.cell for deed in deeds if deed.op != "load" and deed.thread in readers}
    own = {deed.cell for deed in deeds if deed.op != "load"}
    return tuple(sorted(differing, key=lambda cell: (cell not in by_readers, cell not in own))[:1]) or watched[:1]


def _different(runs: Sequence[Run]) -> list[Run]:
    """One run for each order of steps, those with results of their own first, at most `MOST_RUNS`."""
    first: dict[tuple, Run] = {}
    for run in runs:
        key = tuple((row.line, tuple((d.thread, d.op, d.cell) for d in row.deeds)) for row in run.rows)
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

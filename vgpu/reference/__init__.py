"""The interpreter of PTX: slow and simple, the executable definition that the compiled engine is compared with.

`run` executes a kernel block by block, warp by warp, one instruction of one group of lanes at a time, in NumPy. It
shares with the compiler only the instruction table, the layout of variables and the heap that kernels allocate from.
"""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, Protocol

import numpy as np

from vgpu import isa, ptx
from vgpu.base.errors import Deadlock, KernelTimeout, Unsupported
from vgpu.base.schedule import chosen
from vgpu.ptx import RESERVED, Function, device_library, pairs, tensor_maps
from vgpu.reference import bulk_copy, formats, wide
from vgpu.reference.cluster import Cluster
from vgpu.reference.compute import compare_halves, compute, match, pack_floats
from vgpu.reference.kinds import ACTIONS, MOVES, members
from vgpu.reference.machine import Index, Machine
from vgpu.reference.mbarrier import Barriers, StallDetector
from vgpu.reference.memory import Requested, Window
from vgpu.reference.tensor_memory import TensorMemory
from vgpu.reference.warp import LANES, Barrier, Code, Frame, Warp, prepare
from vgpu.storage import heap, layout

if TYPE_CHECKING:
    from vgpu.reference.async_copy import Issued
    from vgpu.reference.bulk_copy import Bulk

__all__ = ["Executed", "run"]

SLICE = 1_000  # steps in a warp's time slice, so that warps may wait for each other
PATIENCE = 400  # reads of what others may change before other lanes than the lowest run first
GRACE = 200  # … and for how many steps


CHANGES = {"copy", "tensor", "surface"}  # kinds of instructions that may write memory, besides stores and atomics


class Variables(Protocol):
    """The variables of a loaded module, as in `launch.launch.LoadedModule`."""

    def address(self, name: str) -> int: ...


class LoadedKernel(Protocol):
    """A loaded kernel, as in `launch.launch.Kernel`."""

    @property
    def ptx(self) -> str: ...
    @property
    def entry(self) -> str: ...
    @property
    def filename(self) -> str: ...
    @property
    def function(self) -> Function: ...
    @property
    def module(self) -> Variables: ...


@dataclass(frozen=True)
class Executed:
    """One instruction as one group of lanes is about to execute it.

    `frame` and `lanes` are the live registers and the live warp: an observer may read them, but they change with the
    next step.
    """

    block: tuple[int, int, int]
    warp: int
    step: int
    line: int | None
    instruction: ptx.Instruction
    mask: np.ndarray
    frame: Frame = field(repr=False)
    lanes: Warp = field(repr=False)


def run(
    kernel: ptx.Function | LoadedKernel,
    module: ptx.Module | None,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    params: Sequence[bytes],
    *,
    shared_bytes: int = 0,
    blocks: Sequence[tuple[int, int, int]] | None = None,
    only: tuple[int, int, int] | None = None,
    on_access: Callable[[Requested], None] | None = None,
    on_step: Callable[[Executed], None] | None = None,
    on_pause: Callable[[], None] | None = None,
    output: Callable[[str], object] | None = None,
    variables: Variables | None = None,
    max_steps: int = 20_000_000,
    cooperative: bool = False,
    schedule: str | None = None,
    seed: int | None = None,
) -> int:
    """Execute a kernel; returns the number of steps it took.

    `kernel` is a `ptx.Function` of `module`, or a loaded kernel (then `module` may be None). `grid` and
    `block` are ints or tuples, `params` one bytes object a parameter, `shared_bytes` the dynamic shared
    memory; `blocks` limits the run to some (x, y, z) block indices; with `only`, one block is run and observed,
    and others only as far as it waits for them. `on_access` and `on_step` observe, and `on_pause` is called
    before other blocks run; `output` gets the printed text. `cooperative` lets the grid
    synchronise; `schedule` and `seed` are those of `launch.launch`. Raises what a launch raises: `OutOfBounds`,
    `Misaligned`, `Deadlock`, `DeviceAssert`, `Unsupported`, and `KernelTimeout` after `max_steps`.
    """
    filename, launched = None, kernel
    directives = (kernel if isinstance(kernel, Function) else kernel.function).directives
    if not isinstance(kernel, Function):
        module, filename, variables = _parse(kernel.ptx), kernel.filename, variables or kernel.module
        kernel = module.functions[kernel.entry]
    elif module is None:
        raise TypeError("a function needs its module")
    program = _Program(kernel, module, filename, variables)
    blocks_of_grid, shape = _three(grid), _three(block)
    found = chosen(schedule, seed)

    of_cluster = _three(directives.get("reqnctapercluster") or 1)
    clusters: dict[Index, Cluster] = {}
    made: dict[Index, Block] = {}

    def start(index: Index) -> Block:
        if index in made:
            return made[index]
        number = _cluster_of(index, of_cluster)
        cluster = clusters.setdefault(number, Cluster(of_cluster, number, start))
        started = made[index] = Block(program, blocks_of_grid, shape, index, params, shared_bytes, cluster)
        if only in (None, started.index):
            started.on_access, started.on_step, started.on_pause = on_access, on_step, on_pause
        started.output, started.machine, started.launch = output or sys.stdout.write, machine, here
        return started

    machine = Machine(cooperative, found.seed)
    here = heap.LaunchRecord(launched, blocks_of_grid, shape)
    if only is not None:
        near = _cluster_of(only, of_cluster)
        others = [index for index in _indices(blocks_of_grid) if index != only]
        others.sort(key=lambda index: _cluster_of(index, of_cluster) != near)
        steps = machine.run_for(only, others, start, max_steps)
        made[only].tensor_memory.check_empty()
        return steps
    wanted = [_three(index) for index in (blocks if blocks is not None else _indices(blocks_of_grid))]
    wanted.sort(key=lambda index: _cluster_of(index, of_cluster)[::-1])
    steps = machine.run(wanted, start, max_steps, math.prod(of_cluster))
    for each in made.values():
        each.tensor_memory.check_empty()
    return steps


@functools.lru_cache(32)
def _parse(text: str) -> ptx.Module:
    return pairs.written_out(tensor_maps.written_out(device_library.complete(ptx.parse(text))))


def _three(size: int | Sequence[int]) -> Index:
    sizes = tuple(int(each) for each in size) if isinstance(size, Sequence) or np.iterable(size) else (int(size),)
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return x, y, z


def _cluster_of(index: Index, shape: Index) -> Index:
    x, y, z = (i // n for i, n in zip(index, shape, strict=True))
    return x, y, z


def _indices(grid: Index) -> Iterator[Index]:
    return ((x, y, z) for z, y, x in itertools.product(*(range(n) for n in grid[::-1])))


class _Program:
    """A kernel with everything it calls and the addresses of its module's variables."""

    def __init__(self, kernel: ptx.Function, module: ptx.Module, filename: str | None, variables: Variables | None):
        self.kernel, self.module = kernel, module
        self.codes = prepare(module, kernel, filename)
        self.variables = layout.load_variables(module) if variables is None else variables
        self.shared_offsets, self.static_bytes, self.dynamic = layout.shared_layout(module, kernel)
        self.handles = layout.function_handles(module)

    def address(self, name: str) -> int:
        variables = self.variables
        try:
            if isinstance(variables, layout.LoadedVariables):
                return variables.addresses[name]
            return variables.address(name)
        except KeyError:
            raise Unsupported(f"The symbol {name} is defined nowhere in this source.") from None


class Block:
    """One block of threads: its windows of memory, its warps and its barriers."""

    def __init__(
        self, program: _Program, grid: Index, shape: Index, index: Index, params: Sequence[bytes], dynamic_bytes: int,
        cluster: Cluster,
    ):  # fmt: skip
        self.cluster = cluster
        self.program, self.grid, self.shape, self.index = program, grid, shape, index
        self.threads = int(np.prod(shape))
        self.codes, self.codes_by_name = list(program.codes.values()), program.codes
        self.variable, self.handles = program.address, program.handles
        self.shared_offsets, self.dynamic_bytes = program.shared_offsets, dynamic_bytes
        self.shared_bytes = program.dynamic + dynamic_bytes if dynamic_bytes else program.static_bytes
        self.shared = Window(self.shared_bytes)
        if RESERVED.name in self.shared_offsets:
            start = self.shared.base - self.shared.allocation.ctypes.data + self.shared_offsets[RESERVED.name]
            self.shared.allocation[start : start + RESERVED.nbytes] = 0
        calls = len(self.codes) > 1
        self.stack_bytes = self.codes[0].local_bytes + (layout.STACK_BYTES if calls else 0)
        self.local = Window(self.stack_bytes * self.threads)
        self.parameters = self._parameters(params)
        self.param_window = Window(len(self.parameters))
        self.param_window.fill(self.parameters)
        self.arrived: dict[int, int] = {}
        self.issued: dict[int, Issued] = {}  # asynchronous copies by thread
        self.bulk: list[Bulk] = []  # bulk copies, and the groups that threads have committed
        self.bulk_groups: dict[int, int] = {}
        self.rounds = 0  # of time slices
        self.mbarriers = Barriers(self.shared)
        self.tensor_memory = TensorMemory()
        self.product_groups = [0] * -(-self.threads // LANES)  # of `wgmma`, that each warp has committed
        self.on_access: Callable[[Requested], None] | None = None
        self.on_step: Callable[[Executed], None] | None = None
        self.on_pause: Callable[[], None] | None = None
        self.machine, self.watch = Machine(False, None), StallDetector(self)
        self.yields = False  # whether it has spun on memory for so long that other blocks should run
        self.stalls = False  # whether a warp tested an mbarrier without success in the last round
        self.output: Callable[[str], object] = sys.stdout.write
        self.launch = heap.LaunchRecord(program.kernel, grid, shape)
        self.warps = [Warp(self, number) for number in range(-(-self.threads // LANES))]

    def _parameters(self, params: Sequence[bytes]) -> np.ndarray:
        offsets, total = layout.parameter_layout(self.program.kernel)
        data = bytearray(total)
        for offset, raw in zip(offsets.values(), params, strict=True):
            data[offset : offset + len(raw)] = raw
        return np.frombuffer(bytes(data), np.uint8)

    def code(self, name: str) -> Code:
        if name not in self.program.codes:
            raise Unsupported(f"The kernel calls {name}, which is defined nowhere in this source.")
        return self.program.codes[name]

    def in_constants(self, addresses: np.ndarray) -> np.ndarray:
        """Which addresses lie in a constant variable."""
        inside = np.zeros(LANES, bool)
        for variable in self.program.module.variables.values():
            if variable.space == "const":
                start = self.variable(variable.name)
                inside |= (addresses >= start) & (addresses < start + variable.nbytes)
        return inside

    # -- running

    @property
    def over(self) -> bool:
        return not any(warp.live.any() for warp in self.warps)

    def end(self) -> None:
        """Complete what a GPU completes after the last thread has ended."""
        self.rounds += 1
        bulk_copy.end(self)

    @property
    def steps(self) -> int:
        return sum(warp.steps for warp in self.warps)

    def round(self, max_steps: int) -> bool:
        """Run one time slice of every warp; False when they only spun on memory without progress."""
        moved, spun, self.stalls = False, False, False
        self.rounds += 1
        for warp in self.machine.mixed(self.warps):
            before, stepped, warp.sleeps = self._changes, False, False
            for _ in range(self.machine.slice_steps(SLICE)):
                if warp.sleeps or not step(warp):
                    break
                stepped = True
                if warp.stalled is not None:
                    break
            stalled, warp.stalled = warp.stalled is not None, None
            warp.stalls += stalled
            fruitless = warp.fruitless > 0 and warp.spun_at == self.machine.writes
            spun, self.stalls = spun or warp.sleeps or fruitless, self.stalls or stalled
            moved |= stepped and not ((warp.sleeps or stalled) and before == self._changes)
            if self.steps > max_steps:
                self._too_long(warp)
        released = self._release()
        if not (released or moved or spun or self.stalls) and self._parked():
            self._deadlock()
        # Warps that only test mbarriers wait for others of this block, unless some spin on memory.
        alone = self.cluster.size == 1
        if alone:
            self.watch.round(released)
        return released or moved or (alone and self.stalls and not spun)

    @property
    def _changes(self) -> tuple[int, int]:
        return self.machine.writes, self.mbarriers.changes

    def _too_long(self, warp: Warp) -> NoReturn:
        lane = int(np.argmax(warp.live))
        where = warp.where(None, lane)
        raise KernelTimeout(f"The kernel does not end: it is still at line {where['line']}", **where)

    def _parked(self) -> list[tuple[Warp, int, Barrier]]:
        return [(warp, lane, b) for warp in self.warps for lane, b in sorted(warp.waiting.items())]

    def _release(self) -> bool:
        """Release the lanes of every barrier that is complete."""
        live = sum(int(warp.live.sum()) for warp in self.warps)
        parked = self._parked()
        released = False
        for number in sorted({b.number for _, _, b in parked}):
            here = [(warp, lane, b) for warp, lane, b in parked if b.number == number]
            wanted = here[0][2].count or live
            if len(here) + self.arrived.get(number, 0) < wanted:
                continue
            self._check_convergence(here)
            for warp, lane, b in here:
                del warp.waiting[lane]
                self._answer(warp, lane, b, [other.vote for _, _, other in here])
            self.arrived[number] = 0
            released = True
        return released

    def _answer(self, warp: Warp, lane: int, b: Barrier, votes: list[bool]) -> None:
        """`bar.red`: give a thread the combined votes of all threads."""
        if b.target is None:
            return
        answers = {"popc": sum(votes), "and": all(votes), "or": any(votes)}
        word = next(word for word in b.instruction.modifiers if word in answers)
        kind = isa.TYPES["u32" if word == "popc" else "pred"]
        only = np.arange(LANES) == lane
        value = np.full(LANES, answers[word], kind.dtype)
        warp.write(b.frame, b.target, value, kind, only)

    def _check_convergence(self, here: list[tuple[Warp, int, Barrier]]) -> None:
        """Raise unless each warp's threads wait at one barrier instruction, or at barriers for diverged lanes."""
        for warp in self.warps:
            distinct = {id(b.instruction) for w, _, b in here if w is warp and not _is_loose(b.instruction)}
            if len(distinct) > 1:
                self._deadlock()

    def _deadlock(self) -> NoReturn:
        parked = self._parked()
        lines = sorted({b.line for _, _, b in parked if b.line is not None})
        warp, lane, b = parked[0]
        where = warp.where(b.instruction, lane) | {"line": b.line}
        text = " and ".join(f"line {line}" for line in lines)
        raise Deadlock(f"Threads wait at different barriers: {text}", **where)


def _is_loose(barrier: ptx.Instruction) -> bool:
    return barrier.opcode == "barrier" and "aligned" not in barrier.modifiers


def step(warp: Warp) -> bool:
    """Let one group of lanes execute one instruction; False when none can."""
    groups = warp.groups()
    if not groups:
        return False
    slice_number = warp.stalls
    if warp.tries > PATIENCE:  # lanes in a waiting loop let other lanes run
        slice_number = 2 * warp.overtakes + 1
        warp.grace += 1
        if warp.grace > GRACE:
            warp.tries, warp.grace, warp.overtakes = 0, 0, warp.overtakes + 1
    groups = warp.block.machine.mixed(warp.ordered(groups, slice_number))
    if warp.fruitless:  # lanes that spin without progress let other lanes run
        first = warp.fruitless % len(groups)
        groups = groups[first:] + groups[:first]
    frame, at, mask = groups[0]
    if len(groups) > 1:
        frame, at, mask = next((g for g in groups if _complete(warp, *g)), groups[0])
    warp.steps += 1
    statement = frame.code.body[at] if at < len(frame.code.body) else None
    if members_of(warp, frame, statement) is None:
        mask = warp.block.machine.some_lanes(mask)
    if statement is None:
        warp.leave(frame, mask)
    elif isinstance(statement, ptx.Label):
        warp.steps -= 1
        warp.pc[mask] += 1
    else:
        _execute(warp, frame, statement, mask)
    return True


def _complete(warp: Warp, frame: Frame, at: int, mask: np.ndarray) -> bool:
    """Whether every lane that a `.sync` instruction waits for, and that can still arrive, has arrived."""
    statement = frame.code.body[at] if at < len(frame.code.body) else None
    named = members_of(warp, frame, statement)
    if named is None:
        return True
    wanted = int(np.bitwise_or.reduce(named[mask])) >> np.arange(LANES) & 1
    return not ((wanted != 0) & warp.ready() & ~mask).any()


def members_of(warp: Warp, frame: Frame, statement: object) -> np.ndarray | None:
    """The lanes that a `.sync` instruction names, or None for every other statement."""
    return members(warp, frame, statement) if isinstance(statement, ptx.Instruction) else None


def _execute(warp: Warp, frame: Frame, instruction: ptx.Instruction, mask: np.ndarray) -> None:
    if warp.block.on_step is not None:
        line = warp.line(int(np.argmax(mask)))
        warp.block.on_step(Executed(warp.block.index, warp.index, warp.steps, line, instruction, mask, frame, warp))
    active = mask
    if instruction.guard is not None:
        active = mask & warp.read(frame, instruction.guard, isa.TYPES["pred"])
        warp.pc[mask & ~active] += 1
        if not active.any():
            return
    kind = isa.KINDS.get(instruction.opcode)
    if kind in CHANGES:
        warp.block.machine.writes += 1
    if kind in ("load", "store", "atomic") and wide.is_wide(instruction):
        wide.access(warp, frame, instruction, active)
    elif kind is not None:
        ACTIONS[kind](warp, frame, instruction, active)
    else:
        _arithmetic(warp, frame, instruction, active)
    if kind not in MOVES:
        warp.pc[active] += 1


def _arithmetic(warp: Warp, frame: Frame, instruction: ptx.Instruction, mask: np.ndarray) -> None:
    """Execute a row of the table, or one of the few instructions that stand for two rows."""
    opcode, words = instruction.opcode, instruction.modifiers
    packed = any(word in isa.PACKED for word in words)
    if opcode == "mov" and wide.is_wide(instruction):
        wide.move(warp, frame, instruction, mask)
        return
    if opcode == "cvt" and formats.convert_pair(warp, frame, instruction, mask):
        return
    if opcode == "cvt" and packed and len(instruction.operands) == 3:
        pack_floats(warp, frame, instruction, mask)
    elif opcode == "setp" and packed:
        compare_halves(warp, frame, instruction, mask)
    elif opcode == "mov" and match(opcode, words) is None:
        raise Unsupported(f"The instruction {instruction} is not known to the virtual GPU.")
    else:
        compute(warp, frame, instruction, mask)

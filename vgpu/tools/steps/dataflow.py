"""Which thread combines which values when: the tree of a reduction or a scan, from a running kernel.

Every element that a block loads from global memory is followed through registers, shuffles and memory. An instruction
that combines two such values (an addition, a maximum, an atomic) makes a `FlowValue` with its sources; a move
doesn't. So the tree can be drawn of any kernel, in either language.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu import isa, ptx, reference
from vgpu.launch.configuration import check_block_index
from vgpu.reference import lanes as between_lanes
from vgpu.storage import banks
from vgpu.tools.prepare import Dimensions, Grid, prepare
from vgpu.tools.steps.trace import named, run_block

if TYPE_CHECKING:
    from vgpu.launch.launch import Prepared
    from vgpu.reference.warp import Frame

LANES = 32
NOTHING = -1
PASSES = {"mov", "cvt", "selp", "prmt", "shl", "shr", "neg", "abs"}
"""Instructions that pass on one value and combine none; packing two halves into one register counts as a move."""
WORDS = {"add": np.add, "min": np.minimum, "max": np.maximum}


@dataclass(eq=False)
class FlowValue:
    """One value of the flow: a loaded element, a stored constant, or a combination of other values.

    `thread` loaded or made it; `sources` are the values it was made of (none for elements and constants), `round` the
    number of its round. `home` is where it was first stored, as (space, address); `used`: a result depends on it.
    """

    number: int
    thread: int
    operation: str = ""
    sources: tuple[FlowValue, ...] = ()
    atomic: bool = False
    value: float | int | None = None
    key: tuple[int, int] = (0, 0)
    round: int = -1
    home: tuple[str, int] | None = None
    used: bool = False

    @property
    def operations(self) -> int:
        """How many combinations of two values it takes; `redux` does that for a whole warp at once."""
        return max(0, len(self.sources) - 1)


@dataclass(frozen=True, eq=False)
class Round:
    """The values that one instruction of each warp made, between the same two barriers: `made` by thread.

    `idle`: threads of those warps that took no part. `wavefronts`: of the shared load before it that took most.
    `before` and `after`: the contents of shared memory, address → value.
    """

    number: int
    made: dict[int, FlowValue]
    idle: tuple[int, ...]
    wavefronts: int
    before: dict[int, FlowValue]
    after: dict[int, FlowValue]

    @property
    def atomic(self) -> bool:
        """Whether atomics made these values, one lane after another."""
        return any(value.atomic for value in self.made.values())

    @property
    def warps(self) -> int:
        """How many warps took part."""
        return len({thread // LANES for thread in (*self.made, *self.idle)})


@dataclass(frozen=True, eq=False)
class DataFlow:
    """The values of one block, in `rounds`; `elements` are those it loaded, in order, `nbytes` bytes each."""

    kernel: str
    threads: int
    nbytes: int
    elements: tuple[FlowValue, ...]
    rounds: tuple[Round, ...]

    @property
    def results(self) -> Iterator[FlowValue]:
        return (value for each in self.rounds for value in each.made.values())

    @property
    def operations(self) -> int:
        """How many times a lane combined two values; atomics not counted."""
        return sum(value.operations for value in self.results if not value.atomic)

    def __repr__(self) -> str:
        steps = sum(not each.atomic for each in self.rounds)
        return f"Flow of {self.kernel}: {len(self.elements)} elements, {self.operations} operations in {steps} steps"


def dataflow(
    kernel: Any,
    grid: Grid,
    block: Dimensions | None,
    args: Sequence,
    *,
    block_index: Dimensions = 0,
    shared_bytes: int = 0,
) -> DataFlow:
    """Run one block of a launch and follow its elements; the arrays are put back as they were.

    Arguments as for `trace`. Raises what a launch raises, and LookupError for a block that never combines two values.
    """
    _, prepared, _ = prepare("dataflow", kernel, grid, block, args, {})
    grid, block, block_index = check_block_index(grid, block, block_index)
    observer = _FlowObserver(prepared)
    run_block(
        prepared, grid, block, block_index, shared_bytes,
        on_access=observer.access, on_step=observer.step, on_pause=observer.settle,
    )  # fmt: skip
    return observer.flow(int(np.prod(block)))


@dataclass
class _OpenRound:
    """A round while the block runs: its values and threads, and shared memory when it began."""

    made: dict[int, FlowValue] = field(default_factory=dict)
    present: set[int] = field(default_factory=set)
    wavefronts: int = 0
    before: dict[int, FlowValue] = field(default_factory=dict)


class _FlowObserver:
    """Observes the interpreter; the value that an instruction makes can be read when the next one begins."""

    now: reference.Executed
    active: np.ndarray

    def __init__(self, prepared: Prepared):
        self.kernel, self.arrays = prepared.kernel, prepared.arrays
        self.values: list[FlowValue] = []
        self.registers: dict[int, dict[str, np.ndarray]] = defaultdict(dict)
        self.frames: dict[int, Frame] = {}  # kept alive, so that the keys of `registers` stay unique
        self.memory: dict[tuple, FlowValue] = {}
        self.shared: dict[int, FlowValue] = {}
        self.rounds: dict[tuple[int, int], _OpenRound] = {}
        self.epochs: dict[int, int] = defaultdict(int)  # barriers that a warp has passed
        self.next: dict[int, int] = defaultdict(int)  # its next instruction of this epoch
        self.begun: dict[int, dict[int, FlowValue]] = {}  # contents of shared memory when an epoch began
        self.waves: dict[int, int] = defaultdict(int)  # of the shared loads since a warp's last round
        self.open: list[tuple[FlowValue, Frame, str, int]] = []
        self.dtype = np.dtype(np.float32)

    # -- called by the interpreter

    def step(self, step: reference.Executed) -> None:
        self.settle()
        instruction, frame = step.instruction, step.frame
        self.now, self.frames[id(frame)] = step, frame
        self.active = step.mask
        if instruction.guard is not None:
            self.active = step.mask & step.lanes.read(frame, instruction.guard, isa.TYPES["pred"])
        kind = isa.KINDS.get(instruction.opcode)
        if kind == "barrier" and "warp" not in instruction.modifiers:
            self.epochs[step.warp] += 1
            self.next[step.warp] = 0
            self.begun[self.epochs[step.warp]] = dict(self.shared)
        elif kind == "shuffle":
            self._shuffle(instruction)
        elif kind == "redux":
            self._redux(instruction)
        elif kind is None:
            self._compute(instruction)
        elif kind not in ("load", "store", "atomic") or "param" in instruction.modifiers:
            self._forget(instruction)

    def access(self, seen: reference.Requested) -> None:
        {"load": self._load, "store": self._store, "atomic": self._atomic}[seen.op](seen)

    def settle(self) -> None:
        """Read the values that the last instruction has made."""
        for value, frame, register, lane in self.open:
            raw = frame.raw(register)[lane]
            value.value = _number(raw.tobytes(), self.dtype) if raw.nbytes == self.dtype.itemsize else None
        self.open = []

    # -- registers

    def _of(self, operand: object) -> np.ndarray:
        """The number of the value that each lane has in an operand; `NOTHING` for none."""
        if isinstance(operand, ptx.Not):
            operand = operand.reg
        if isinstance(operand, ptx.Reg):
            return self.registers[id(self.now.frame)].get(operand.name, _NONE)
        return _NONE

    def _put(self, operand: object, numbers: np.ndarray, active: np.ndarray) -> None:
        if isinstance(operand, ptx.Reg):
            mine = self.registers[id(self.now.frame)]
            if (numbers >= 0).any() or operand.name in mine:
                mine[operand.name] = np.where(active, numbers, mine.get(operand.name, _NONE))

    def _forget(self, instruction: ptx.Instruction) -> None:
        for operand in instruction.operands[:1]:
            for target in _flat(operand):
                self._put(target, _NONE, self.active)

    def _compute(self, instruction: ptx.Instruction) -> None:
        targets = _flat(instruction.operands[0])
        sources = [o for operand in instruction.operands[1:] for o in _flat(operand)]
        held = np.stack([self._of(operand) for operand in sources] or [_NONE])
        numbers = np.full(LANES, NOTHING)
        key = None
        for lane in np.flatnonzero(self.active & (held >= 0).any(axis=0)).tolist():
            found = [self.values[number] for number in held[:, lane] if number >= 0]
            if instruction.opcode == "selp":
                found = self._chosen(sources, held, lane)
                if not found:
                    continue
            if len(found) == 1 or instruction.opcode in PASSES:
                made = found[0]
                if instruction.opcode == "selp" and made.operation == "setp":
                    self.open.append((made, self.now.frame, targets[0].name, lane))
            else:
                key = key or self._open_round()
                made = self._make(lane, instruction.opcode, found, key)
                if instruction.opcode != "setp":
                    self.open.append((made, self.now.frame, targets[0].name, lane))
            numbers[lane] = made.number
        for target in targets:
            self._put(target, numbers, self.active)

    def _chosen(self, sources: list, held: np.ndarray, lane: int) -> list[FlowValue]:
        """The result of `selp`: the comparison where two followed values were compared, else the selected value."""
        first, second, by = held[:, lane]
        if by >= 0:
            return [self.values[by]]
        taken = first if self.now.lanes.read(self.now.frame, sources[2], isa.TYPES["pred"])[lane] else second
        return [self.values[taken]] if taken >= 0 else []

    def _shuffle(self, instruction: ptx.Instruction) -> None:
        target, source, b, c, *_ = instruction.operands
        mode = next(word for word in instruction.modifiers if word in ("up", "down", "bfly", "idx"))
        word = lambda operand: self.now.lanes.read(self.now.frame, operand, isa.TYPES["u32"])
        held, _ = between_lanes.shuffle(mode, self._of(source), word(b), word(c))
        self._put(target.first if isinstance(target, ptx.Pair) else target, held, self.active)

    def _redux(self, instruction: ptx.Instruction) -> None:
        held = self._of(instruction.operands[1])
        numbers = np.full(LANES, NOTHING)
        found = [self.values[number] for number in held[self.active] if number >= 0]
        if found:
            first = int(np.argmax(self.active))
            made = found[0] if len(found) == 1 else self._make(first, "redux", found, self._open_round())
            numbers[:] = made.number
            self.open.append((made, self.now.frame, instruction.operands[0].name, first))
        self._put(instruction.operands[0], numbers, self.active)

    # -- memory

    def _load(self, seen: reference.Requested) -> None:
        if seen.space == "shared":
            fronts = len(banks.wavefronts(named(seen, self.arrays)))
            self.waves[seen.warp] = max(self.waves[seen.warp], fronts)
        targets = _flat(_instruction(seen).operands[0])
        width = seen.nbytes // len(targets)
        for at, target in enumerate(targets):
            numbers = np.full(LANES, NOTHING)
            for lane in np.flatnonzero(seen.mask).tolist():
                found = self._at(seen, lane, at * width, width)
                numbers[lane] = NOTHING if found is None else found.number
            self._put(target, numbers, seen.mask)

    def _at(self, seen: reference.Requested, lane: int, offset: int, width: int) -> FlowValue | None:
        """The value at an address; an element of an array becomes a value when it is first touched."""
        address = int(seen.addresses[lane]) + offset
        key = self._key(seen, lane, address)
        if key not in self.memory and seen.space == "global":
            array = next((a for a in self.arrays if a.address <= address < a.address + a.nbytes), None)
            if array is None:
                return None
            if seen.op == "load":
                self.dtype = np.dtype(array.dtype)
            made = self._new(self._thread(lane), "element" if seen.op == "load" else "memory")
            made.value = _number(ctypes.string_at(address, width), np.dtype(array.dtype))
            self.memory[key] = made
        return self.memory.get(key)

    def _store(self, seen: reference.Requested) -> None:
        sources = _flat(_instruction(seen).operands[1])
        width = seen.nbytes // len(sources)
        for at, source in enumerate(sources):
            held = self._of(source)
            for lane in np.flatnonzero(seen.mask).tolist():
                address = int(seen.addresses[lane]) + at * width
                key = self._key(seen, lane, address)
                if held[lane] < 0 and seen.space != "shared":
                    self.memory.pop(key, None)
                    continue
                value = self.values[held[lane]] if held[lane] >= 0 else self._constant(source, lane, width)
                self.memory[key] = value
                value.home = value.home or (seen.space, address)
                value.used |= seen.space == "global"
                if seen.space == "shared":
                    self.shared.pop(address, None)  # keeps the order of the last writes
                    self.shared[address] = value

    def _atomic(self, seen: reference.Requested) -> None:
        operands = _instruction(seen).operands[_instruction(seen).opcode == "atom" :]
        word = next((w for w in _instruction(seen).modifiers if w in WORDS), None)
        held, old = self._of(operands[1]), np.full(LANES, NOTHING)
        for lane in np.flatnonzero(seen.mask).tolist():
            before = self._at(seen, lane, 0, seen.nbytes)
            mine = self.values[held[lane]] if held[lane] >= 0 else self._constant(operands[1], lane, seen.nbytes)
            if before is None:
                continue
            old[lane] = before.number
            made = self._make(lane, word or "atomic", [before, mine], self._open_round(only=lane))
            made.atomic, made.used = True, seen.space == "global"
            if word and None not in (before.value, mine.value):
                kind = self.dtype.type
                made.value = WORDS[word](kind(before.value), kind(mine.value)).item()
            self.memory[self._key(seen, lane, int(seen.addresses[lane]))] = made
            if seen.space == "shared":
                self.shared[int(seen.addresses[lane])] = made
        if _instruction(seen).opcode == "atom":
            self._put(_instruction(seen).operands[0], old, seen.mask)

    def _key(self, seen: reference.Requested, lane: int, address: int) -> tuple[str, int, int]:
        return (seen.space, address, self._thread(lane) if seen.space == "local" else 0)

    # -- values and rounds

    def _thread(self, lane: int) -> int:
        return LANES * self.now.warp + int(lane)

    def _new(self, thread: int, operation: str, sources: Iterable[FlowValue] = ()) -> FlowValue:
        self.values.append(FlowValue(len(self.values), thread, operation, tuple(sources)))
        return self.values[-1]

    def _constant(self, operand: object, lane: int, width: int) -> FlowValue:
        made = self._new(self._thread(lane), "constant")
        raw = self.now.lanes.read(self.now.frame, operand, isa.TYPES[f"b{8 * width}"])[lane]
        made.value = _number(raw.tobytes(), self.dtype) if width == self.dtype.itemsize else None
        return made

    def _open_round(self, only: int | None = None) -> tuple[int, int]:
        """Open the next round of this warp, or of its one lane `only`. Its key in `rounds`."""
        warp = self.now.warp
        if only is not None:  # atomics wait for those of other warps
            self.next[warp] = max(self.next[w] for w in [*self.next, warp] if self.epochs[w] == self.epochs[warp])
        key = self.epochs[warp], self.next[warp]
        self.next[warp] += 1
        opened = self.rounds.setdefault(key, _OpenRound(before=dict(self.shared)))
        inside = self.now.lanes.live if only is None else np.arange(LANES) == only
        opened.present |= {LANES * warp + lane for lane in np.flatnonzero(inside).tolist()}
        opened.wavefronts = max(opened.wavefronts, self.waves.pop(warp, 0))
        return key

    def _make(self, lane: int, operation: str, sources: list[FlowValue], key: tuple[int, int]) -> FlowValue:
        made = self._new(self._thread(lane), operation, sources)
        made.key = key
        self.rounds[key].made[made.thread] = made
        return made

    def flow(self, threads: int) -> DataFlow:
        if not self.rounds:
            raise LookupError(f"block 0 of {self.kernel.name} never combines two values: there is no tree to show")
        for value in reversed(self.values):
            for source in value.sources if value.used else ():
                source.used = True
        keys = sorted(self.rounds)
        rounds = []
        for number, (key, later) in enumerate(zip(keys, [*keys[1:], None], strict=True)):
            each = self.rounds[key]
            for value in each.made.values():
                value.round = number
            after = self.shared if later is None else self.rounds[later].before
            before = each.before
            if later is not None and later[0] > key[0]:
                after = self.begun[later[0]]
            if number == 0 or keys[number - 1][0] < key[0]:
                before = self.begun.get(key[0], before)
            idle = tuple(sorted(each.present - set(each.made)))
            rounds.append(Round(number, each.made, idle, each.wavefronts, before, after))
        elements = tuple(value for value in self.values if value.operation == "element")
        return DataFlow(self.kernel.name, threads, self.dtype.itemsize, elements, tuple(rounds))


_NONE = np.full(LANES, NOTHING)


def _instruction(seen: reference.Requested) -> ptx.Instruction:
    assert isinstance(seen.instruction, ptx.Instruction)
    return seen.instruction


def _flat(operand: object) -> list:
    """The registers of an operand one by one."""
    if isinstance(operand, ptx.Vec):
        return list(operand.items)
    return [operand.first, operand.second] if isinstance(operand, ptx.Pair) else [operand]


def _number(raw: bytes, dtype: np.dtype) -> float | int | None:
    return np.frombuffer(raw, dtype)[0].item() if len(raw) == dtype.itemsize else None

"""One warp of the reference interpreter: registers, operands, arithmetic and calls.

Every register is an array of 32 lanes, and every lane has its own program counter. Of the lanes that can run, those
with the lowest program counter take the next step together; deeper calls go first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vgpu import isa
from vgpu.base.errors import InvalidCall, StackOverflow, Unsupported
from vgpu.ptx import TYPE_BYTES, Call, Function, Imm, Instruction, Label, Mem, Module, Not, Reg, Special, Sym
from vgpu.ptx import Vec as Vector
from vgpu.ptx.lines import line_table
from vgpu.storage import layout

if TYPE_CHECKING:
    from vgpu.reference import Block

LANES = 32
LANE = np.arange(LANES)
CLOCKS = ("clock", "clock64", "globaltimer", "globaltimer_lo")
UINT = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True)
class Code:
    """One function ready to run: its statements, the index of each label, and the user's line of each statement."""

    function: Function
    index: int
    body: tuple[Instruction | Label, ...]
    labels: dict[str, int]
    lines: tuple[int | None, ...]
    param_offsets: dict[str, int]
    param_bytes: int
    local_offsets: dict[str, int]
    local_bytes: int
    frame_bytes: int  # of the thread's stack, for each call of it


def prepare(module: Module, kernel: Function, filename: str | None) -> dict[str, Code]:
    """The kernel (index 0) and every function it may call."""
    found = {}
    for index, function in enumerate(layout.reachable(module, kernel)):
        body = function.body or ()
        offsets, end = layout.parameter_layout(function)
        sized = [(result.name, result.nbytes) for result in function.returns]
        sized += [(each.name, each.nbytes) for each in function.variables.values() if each.space == "param"]
        for name, nbytes in sized:
            offsets[name] = end = layout.align_up(end, 16)
            end += nbytes
        labels = {s.name: at for at, s in enumerate(body) if isinstance(s, Label)}
        lines = line_table(module, function, filename)
        locals_, local_bytes = layout.local_layout(function)
        sizes = tuple(p.nbytes for p in function.parameters), tuple(p.nbytes for p in function.returns)
        frame = layout.frame_bytes(sizes, local_bytes) if index else local_bytes
        found[function.name] = Code(function, index, body, labels, lines, offsets, end, locals_, local_bytes, frame)
    return found


class Frame:
    """The registers, parameters and local memory of one function at one depth of calls, for all 32 lanes."""

    def __init__(self, code: Code):
        self.code = code
        self.registers: dict[str, np.ndarray] = {}
        self.wide: dict[str, np.ndarray] = {}  # registers of 128 bits, 16 bytes a lane
        self.carry = np.zeros(LANES, bool)
        self.parameters = np.zeros((LANES, max(code.param_bytes, 1)), np.uint8)
        self.local_base = np.zeros(LANES, np.uint64)

    def raw(self, name: str) -> np.ndarray:
        """A register's lanes as unsigned integers of its width, or as bool."""
        if name not in self.registers:
            kind = self.code.function.registers[name]
            if kind != "pred" and TYPE_BYTES[kind] not in UINT:
                raise Unsupported(f"Registers of type .{kind} are not known to the virtual GPU.")
            self.registers[name] = np.zeros(LANES, bool if kind == "pred" else UINT[TYPE_BYTES[kind]])
        return self.registers[name]


Group: TypeAlias = tuple[Frame, int, np.ndarray]
"""Lanes that run together: their frame, the index of their next statement, their mask."""


class Warp:
    """32 lanes of one block. `step()` executes one instruction for one group of lanes."""

    def __init__(self, block: Block, index: int):
        self.block, self.index = block, index
        threads = index * LANES + LANE
        x, y, _ = block.shape
        self.thread = np.stack([threads % x, threads // x % y, threads // (x * y)])
        self.live = threads < block.threads
        self.linear = np.minimum(threads, block.threads - 1)
        self.waiting: dict[int, Barrier] = {}
        self.pc = np.zeros(LANES, np.int64)
        self.cluster_phase = np.zeros(LANES, np.int64)  # in which each lane arrived at the cluster's barrier, plus 1
        self.depth = np.zeros(LANES, np.int64)
        self.code = np.zeros(LANES, np.int64)
        self.stacks: list[list[tuple[int, int, Call]]] = [[] for _ in range(LANES)]
        self.frames: dict[tuple[int, int], Frame] = {}
        self.steps = self.clock = 0
        self.stalled: dict[str, Any] | None = None  # the mbarrier that the warp tested without success
        self.waits: tuple[int, int, int] | None = None  # an mbarrier it waits for: offset, phase, the block's round
        self.stalls = 0  # how often that happened: each time other lanes may run first, see `ordered`
        self.spun: dict[bytes, int] = {}  # the state of the warp at its last spins, by its program counters
        self.spun_at, self.fruitless = -1, 0  # how often it has spun without progress since memory changed
        self.tries = 0  # instructions that may depend on other lanes, since lanes other than the lowest ran first
        self.overtakes = self.grace = 0  # how often other lanes ran first, and the steps of the current time
        self.sleeps = False  # it spun without progress: its time slice is over
        entry = self.frame(0, 0)
        entry.parameters[:, : len(block.parameters)] = block.parameters

    # -- which lanes run next

    def frame(self, depth: int, code: int) -> Frame:
        if (depth, code) not in self.frames:
            self.frames[depth, code] = Frame(self.block.codes[code])
        return self.frames[depth, code]

    def ready(self) -> np.ndarray:
        mask = self.live.copy()
        mask[list(self.waiting)] = False
        return mask

    def groups(self) -> list[Group]:
        """The groups of lanes that could take a step, the lowest program counter first."""
        ready = self.ready()
        if not ready.any():
            return []
        order = (-self.depth << 44) + (self.code << 24) + self.pc
        keys = sorted(set(order[ready].tolist()))
        found = []
        for key in keys:
            mask = ready & (order == key)
            lane = int(np.argmax(mask))
            found.append((self.frame(int(self.depth[lane]), int(self.code[lane])), int(self.pc[lane]), mask))
        return found

    @staticmethod
    def ordered(groups: list[Group], slice_number: int) -> list[Group]:
        """The groups in the order of a time slice: the lowest first in even ones, else the highest or one lane's."""
        if slice_number % 2 == 0:
            return groups
        if slice_number % 4 == 1:
            return groups[::-1]
        lane = slice_number // 4 % LANES
        return sorted(groups, key=lambda group: int(((np.flatnonzero(group[2]) - lane) % LANES).min()))

    # -- operands

    def read(self, frame: Frame, operand: object, kind: isa.Type) -> np.ndarray:
        """An operand's 32 lanes as `kind` says: the low bits of a wider register."""
        if isinstance(operand, Not):
            return ~self.read(frame, operand.reg, kind)
        if isinstance(operand, Reg):
            raw = frame.raw(operand.name)
        elif isinstance(operand, Special):
            raw = self.special(operand.name)
        elif isinstance(operand, Sym):
            raw = self.address(frame, operand)
        elif isinstance(operand, Imm):
            raw = np.full(LANES, immediate(operand, kind), np.uint64)
        elif isinstance(operand, Vector):
            return self.join(frame, operand, kind)
        else:
            raise Unsupported(f"An operand {operand} is not known to the virtual GPU.")
        if kind.kind == "p":
            return raw.astype(bool)
        bits = raw.astype(UINT[kind.bits // 8])
        return bits if kind.kind == "h" else bits.view(kind.dtype)

    def join(self, frame: Frame, vector: Vector, kind: isa.Type) -> np.ndarray:
        part = isa.TYPES[f"b{kind.bits // len(vector.items)}"]
        parts = [np.atleast_1d(self.read(frame, item, part)) for item in vector.items]
        return np.ascontiguousarray(np.stack(parts, axis=1)).view(UINT[kind.bits // 8])[:, 0].view(kind.dtype)

    def write(self, frame: Frame, operand: Any, value: np.ndarray, kind: isa.Type, mask: np.ndarray) -> None:
        """Write a register's lanes where `mask` is set; wider registers are sign- or zero-extended by the type."""
        if operand is None:
            return
        if isinstance(operand, Vector):
            bits = kind.bits // len(operand.items)
            parts = np.ascontiguousarray(value).view(UINT[bits // 8]).reshape(LANES, -1)
            for index, item in enumerate(operand.items):
                self.write(frame, item, parts[:, index], isa.TYPES[f"b{bits}"], mask)
            return
        old = frame.raw(operand.name)
        if kind.kind == "p":
            new = np.asarray(value).astype(old.dtype)
        elif kind.kind == "s":
            new = value.astype(f"i{old.dtype.itemsize}").view(old.dtype)
        else:
            new = np.ascontiguousarray(value).view(UINT[kind.bits // 8]).astype(old.dtype)
        frame.registers[operand.name] = np.where(mask, new, old)

    def address(self, frame: Frame, symbol: Sym) -> np.ndarray:
        """The value of a name in `mov`: an offset for shared, local and param, else an address."""
        code, block = frame.code, self.block
        if symbol.name in code.local_offsets:
            return frame.local_base + np.uint64(code.local_offsets[symbol.name] + symbol.offset)
        for numbers in (code.param_offsets, block.shared_offsets, block.handles):
            if symbol.name in numbers:
                return np.full(LANES, numbers[symbol.name] + symbol.offset, np.uint64)
        return np.full(LANES, block.variable(symbol.name) + symbol.offset, np.uint64)

    def addresses(self, frame: Frame, mem: Mem) -> np.ndarray:
        """The 32 addresses of `[base + offset]`."""
        base, offset = mem.base, np.array(mem.offset % 2**64, np.uint64)
        if isinstance(base, Reg) and frame.raw(base.name).itemsize == 4:
            # A 32-bit register holds an offset into shared memory; a negative sum wraps within 32 bits.
            return (frame.raw(base.name) + offset.astype(np.uint32)).astype(np.uint64)
        return self.read(frame, base, isa.TYPES["u64"]) + offset

    def windows(self, space: str) -> tuple[Any, np.uint64] | None:
        """(host address of offset 0, size) of a space that has offsets; the base is one a lane for local."""
        if space == "shared":
            return np.uint64(self.block.shared.base), np.uint64(self.block.shared_bytes)
        if space.startswith("remote"):
            block = self.block.cluster.block(int(space.split()[1]))
            return None if block is None else (np.uint64(block.shared.base), np.uint64(block.shared_bytes))
        if space == "local":
            size = self.block.stack_bytes
            return self.block.local.base + self.linear.astype(np.uint64) * np.uint64(size), np.uint64(size)
        if space == "param":
            return np.uint64(self.block.param_window.base), np.uint64(self.block.param_window.nbytes)
        return None

    def window(self, space: str) -> tuple[Any, np.uint64]:
        """`windows` of a space that has offsets."""
        found = self.windows(space)
        assert found is not None, f"{space} memory has no window"
        return found

    def special(self, name: str) -> np.ndarray:
        name, _, axis = name.lstrip("%").partition(".")
        block = self.block
        vectors: dict[str, Any] = {"tid": self.thread, "ntid": block.shape, "ctaid": block.index, "nctaid": block.grid}
        shape, number = block.cluster.shape, block.cluster.number
        vectors |= {
            "clusterid": number, "cluster_nctaid": shape,
            "nclusterid": [n // size for n, size in zip(block.grid, shape, strict=True)],
            "cluster_ctaid": [i % size for i, size in zip(block.index, shape, strict=True)],
        }  # fmt: skip
        if name in vectors:
            found = vectors[name]["xyz".index(axis)] if axis in ("x", "y", "z") else 0
            return np.full(LANES, found, np.uint64)
        ones, lane = np.uint64(1), LANE.astype(np.uint64)
        below = (ones << lane) - ones
        scalars: dict[str, Any] = {
            "laneid": lane, "warpid": self.index, "nwarpid": -(-block.threads // LANES), "WARP_SZ": LANES,
            "lanemask_eq": ones << lane, "lanemask_lt": below, "lanemask_le": below | (ones << lane),
            "lanemask_gt": ~(below | (ones << lane)), "lanemask_ge": ~below, "smid": 0, "nsmid": 1,
            "gridid": 1, "clock_hi": 0, "globaltimer_hi": 0, "dynamic_smem_size": block.dynamic_bytes,
            "total_smem_size": block.shared_bytes, "cluster_nctarank": block.cluster.size,
            "cluster_ctarank": block.cluster.rank(block.index), "is_explicit_cluster": block.cluster.size > 1,
            "envreg1": self.workspace() >> 32, "envreg2": self.workspace() & 0xFFFFFFFF,
        }  # fmt: skip
        if name in CLOCKS:  # each reading by a warp is 32 later than its last
            scalars[name], self.clock = self.clock, self.clock + LANES
        if name not in scalars:
            raise Unsupported(f"The special register %{name} is not known to the virtual GPU.")
        return np.full(LANES, scalars[name], np.uint64)

    def workspace(self) -> int:
        """The address of a cooperative launch's barrier, else 0."""
        found = self.block.machine.workspace
        return 0 if found is None else found.address

    # -- positions, for messages and observers

    def where(self, instruction: object, lane: int, address: int | None = None) -> dict[str, Any]:
        """A lane's position, as keyword arguments of `KernelError`."""
        thread = tuple(int(index) for index in self.thread[:, lane])
        return dict(line=self.line(lane), thread=thread, block=self.block.index, address=address)

    def line(self, lane: int) -> int | None:
        return self.block.codes[int(self.code[lane])].lines[int(self.pc[lane])]

    def position(self, instruction: object, lane: int) -> str:
        where = self.where(instruction, lane)
        return f"line {where['line']}, thread {where['thread']} of block {where['block']}: {instruction}"

    def observe(
        self, instruction: Instruction, space: str, op: str, nbytes: int, mask: np.ndarray, addresses: np.ndarray
    ) -> None:
        from vgpu.reference.memory import Requested

        if self.block.on_access is not None:
            line, block = self.line(int(np.argmax(mask))), self.block.index
            found = Requested(space, op, nbytes, mask, addresses, line, instruction, block, self.index, self.steps)
            self.block.on_access(found)

    # -- calls

    def enter_through(self, frame: Frame, handle: int, call: Call, mask: np.ndarray) -> None:
        """Call the function of a pointer, whose parameters and results must have the sizes that the call gives."""
        lane = int(np.argmax(mask))
        name = next((n for n, number in self.block.handles.items() if number == handle), None)
        code = None if name is None else self.block.codes_by_name.get(name)
        variables = frame.code.function.variables
        passed = [[variables[n].nbytes for n in names] for names in (call.arguments, call.returns)]
        if name is None or code is None:
            raise InvalidCall(f"A call of no function, {self.position(call, lane)}", **self.where(call, lane))
        wanted = [[p.nbytes for p in names] for names in (code.function.parameters, code.function.returns)]
        if passed != wanted:
            raise InvalidCall(
                f"A call of {name} as another type, {self.position(call, lane)}", **self.where(call, lane)
            )
        self.enter(frame, name, call, mask)

    def enter(self, frame: Frame, name: str, call: Call, mask: np.ndarray) -> None:
        """Call a function of the module: copy the arguments, and put its locals on top of the caller's."""
        code = self.block.code(name)
        for lane in np.flatnonzero(mask).tolist():
            depth = int(self.depth[lane]) + 1
            inner = self.frame(depth, code.index)
            for parameter, argument in zip(code.function.parameters, call.arguments, strict=True):
                copy(frame, argument, inner, parameter.name, parameter.nbytes, lane)
            inner.local_base[lane] = frame.local_base[lane] + np.uint64(frame.code.frame_bytes)
            if inner.local_base[lane] + np.uint64(code.frame_bytes) > self.block.stack_bytes:
                text = f"The call stack of one thread is full after {depth - 1} calls, {self.position(call, lane)}"
                raise StackOverflow(text, **self.where(call, lane))
            self.stacks[lane].append((int(self.code[lane]), int(self.pc[lane]) + 1, call))
            self.depth[lane], self.code[lane], self.pc[lane] = depth, code.index, 0

    def leave(self, frame: Frame, mask: np.ndarray) -> None:
        """Return: copy the results to the caller's variables; lanes that return from the kernel itself have ended."""
        for lane in np.flatnonzero(mask).tolist():
            if not self.stacks[lane]:
                self.live[lane] = False
                continue
            self.code[lane], self.pc[lane], call = self.stacks[lane].pop()
            self.depth[lane] -= 1
            outer = self.frame(int(self.depth[lane]), int(self.code[lane]))
            for variable, result in zip(call.returns, frame.code.function.returns, strict=True):
                copy(frame, result.name, outer, variable, result.nbytes, lane)


def copy(source: Frame, name: str, target: Frame, other: str, nbytes: int, lane: int) -> None:
    """Copy one lane's variable `name` of one frame to `other` of another frame."""
    start, end = source.code.param_offsets[name], target.code.param_offsets[other]
    target.parameters[lane, end : end + nbytes] = source.parameters[lane, start : start + nbytes]


@dataclass(frozen=True)
class Barrier:
    """The barrier at which a lane waits: its number, and its count of threads (None: all of the block).

    `target` is the register for the result of `bar.red`, to which the lane contributes `vote`.
    """

    number: int
    count: int | None
    instruction: Instruction
    line: int | None
    vote: bool
    frame: Frame
    target: Reg | None


def immediate(operand: Imm, kind: isa.Type) -> int:
    """An immediate's bits in the type of the instruction: `0f…` literals may stand for other float types."""
    if operand.kind == "int" or not kind.is_float or kind.kind == "h":
        return operand.value & (2**64 - 1)
    stored = np.dtype(f"u{4 if operand.kind == 'f32' else 8}").type(operand.value)
    value = stored.view(np.float32 if operand.kind == "f32" else np.float64)
    return int(kind.dtype.type(value).view(UINT[kind.bits // 8]))

"""What the parts of a lowering share: the kernel, its sites, where its registers lie, and what is being written."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vgpu import ptx
from vgpu.base.context import HEADER, PC_DONE, SLOT
from vgpu.base.errors import Unsupported
from vgpu.base.lacking import lacking
from vgpu.ir import LANES, Builder, Value
from vgpu.ir.ramp import Bounds
from vgpu.lower import basic_blocks, both_sides, definedness, flow, inline, outline
from vgpu.ptx import Instruction, Location
from vgpu.ptx.lines import line_of
from vgpu.storage import layout

if TYPE_CHECKING:
    from vgpu.lower.watch import Watch


@dataclass(frozen=True)
class Site:
    """An instruction that counts or can fail, by its number: where it stands and what it accesses."""

    instruction: Instruction
    kind: str
    space: str = ""
    nbytes: int = 0
    matrices: int = 0  # 8×8 matrices that `ldmatrix` and `stmatrix` move, each in one wavefront at least
    at: tuple[int, int] = (0, 0)  # the basic block, and which of its instructions


class Variables:
    """Variables of the function, by which basic blocks and the dispatcher hand each other the lanes to run."""

    def __init__(self, ir: Builder):
        self.mask = ir.variable("i32", name="mask_slot")  # the lanes that run
        self.index = ir.variable("i32", name="index_slot")  # … and the basic block
        self.target = ir.variable("i32", name="target_slot")  # … and the next
        self.lanes = ir.variable("i32", 0, "lanes_slot")  # the one group of lanes set aside
        self.aside = ir.variable("i32", PC_DONE, "aside_slot")  # … and its basic block
        self.others = ir.variable("i32", name="others_slot")  # the lowest basic block at which all others wait
        self.forced = ir.variable("i1", name="forced_slot")  # lanes that can't wait for others any longer
        self.status = ir.variable("i32", name="status_slot")  # why the warp's time slice ends


class State(ABC):
    """One kernel on its way to LLVM IR: `ir` builds the function, the lanes `mask` run the basic block `here`."""

    ir: Builder
    mask: Value
    active: Value
    here: basic_blocks.BasicBlock
    parted: bool  # whether some lanes of the warp may be elsewhere
    side: Value | None = None  # in a side of a short branch: which lanes take it
    current: Instruction | None
    vars: Variables
    place: int  # of the last access that is watched
    # Of a basic block's accesses, by window, base and mask: the site of the first, and where its base is kept if needed
    leaders: dict[tuple[str, str, str], tuple[Value, Value | None]]
    fuel: Value  # pointers: how much of the time slice is left
    turn: Value  # … and how many the warp has used up

    def __init__(
        self, module: ptx.Module, function: ptx.Function, addresses: dict[str, int], name: str, count: bool,
        filename: str, fine: bool, watched: bool, follow: bool, rows: bool, uneven: set[str],
    ) -> None:  # fmt: skip
        self.fine, self.follow, self.position = fine, follow, 0
        self.rows = rows and not fine and not watched
        self.uneven = uneven  # registers that were taken for ramps, and are none
        self.kept_ramps: dict[str, Callable[[Value], Value]] = {}  # of those in the state, by their first lane
        self.bounds: dict[str, Bounds] = {}  # … and of uniform registers
        # In a loop that waits: sites, and what counts their loads for the lanes that leave.
        self.postponed: list[tuple[int, Callable[[Value], None]]] = []
        self.own = {index for index, path in module.files.items() if path == filename}
        self.module, self.function, self.name, self.count = module, function, name, count
        flat = inline.flatten(module, function, self.own)
        self.maps = any(getattr(each, "opcode", "") == "mapa" for each in flat.body)  # addresses of other blocks
        self.registers = {**flat.registers, "%cc": "pred"}
        self.flow = flow.analyse(flat.body, self.registers, fine, self.rows)
        self.flow.ramps -= uneven
        self.short = {} if fine or watched else both_sides.short_branches(self.flow)
        sides = {index for branch in self.short.values() for index in branch.sides}  # run by the branch itself
        self.reached = [s for s in self.flow.basic_blocks if s.index not in sides]
        self.tracked = definedness.follow(self.flow, self.registers) if watched else set()
        self.storing = definedness.storing(self.flow) if watched else set()
        self.addresses = addresses
        self.parameters, _ = layout.parameter_layout(function)
        self.shared, self.static_shared, self.dynamic_offset = layout.shared_layout(module, function)
        # With the locals of inlined functions; those of functions that stay functions have "@" in their names.
        own = [v for v in flat.variables.values() if v.space == "local" and "@" not in v.name]
        self.locals, self.kernel_bytes = layout.place_locals(own)
        self.parameters_addressed = False
        self.sites: list[Site] = []
        self.ir = Builder()
        self.ctx, self.state = (self.ir.named("ptr", name) for name in ("ctx", "state"))
        self.slots: dict[str, int] = {}
        self.state_bytes = HEADER
        self.called = flat.called
        self.local_bytes = self.kernel_bytes
        self.env: dict[str, Value] = {}
        self.loaded: dict[str, Value] = {}
        self.written: set[str] = set()
        self.settled: set[str] = set()  # registers whose value the state has, in this basic block
        self.repeated = outline.repeated(flat.body)
        self.outlined: dict[tuple, outline.Outlined | None] = {}
        self.watch: Watch | None = None
        self.variables = {**module.variables, **flat.variables}
        self.location: Location | None = None

    @property
    def watching(self) -> Watch:
        """What watches the kernel; only for kernels that are watched."""
        assert self.watch is not None
        return self.watch

    def unsupported(self, what: str) -> Unsupported:
        return lacking(what, line_of(self.location, self.own))

    def context_place(self, slot: str) -> Value:
        return self.ir.at(self.ctx, SLOT[slot], "i64")

    def context(self, slot: str, constant: bool = True) -> Value:
        """A slot of the context, as i64.

        Loaded where it is used: a kernel that waits at barriers is entered again and again, mostly for a few of them.
        """
        return self.ir.load(self.context_place(slot), "i64", 8, constant)

    def table(self, slot: str) -> Value:
        """A slot that holds a pointer into what a launch hands over."""
        return self.context(slot).to("ptr")

    def local_of_warp(self) -> Value:
        """Where the local memory of this warp begins, as i64."""
        return self.context("local_base") + self.context("warp") * (LANES * self.local_bytes)

    def variable(self, name: str) -> Value:
        """The address of one of the module's variables, which differs from process to process."""
        place = self.ir.at(self.table("variables"), list(self.addresses).index(name), "i64")
        return self.ir.load(place, "i64", 8, constant=True)

    def set_state(self, offset: int, value: Value, align: int = 64) -> None:
        """Put a value in the warp's state, at a byte offset."""
        self.ir.store(self.ir.at(self.state, offset), value, align)

    def get_state(self, offset: int, kind: str, align: int = 64) -> Value:
        return self.ir.load(self.ir.at(self.state, offset), kind, align)

    def run_time(self, function: str, *arguments: Value | int, result: str = "void") -> Value:
        """Call a function of the runtime, whose first argument is the context; numbers are i64."""
        given = (a if isinstance(a, Value) else self.ir.i64(a) for a in arguments)
        return self.ir.call(result, function, self.ctx, *given)

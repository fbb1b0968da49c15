"""A kernel's PTX to LLVM IR: one function `i32 run_warp(state, context)` that runs a warp until it must wait.

`state` holds the 32 program counters and the registers that cross basic blocks; inside a basic block registers are SSA
values. Lanes at the lowest pending basic block run together under a mask. A jump that cannot overtake waiting lanes
goes straight to its target; every other one goes through the dispatcher.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from vgpu import ptx
from vgpu.base.context import HEADER, PC_DONE, SITE_BYTES, SLICE, SLOT
from vgpu.base.errors import Unsupported, VirtualGPUError
from vgpu.base.lacking import lacking
from vgpu.lower import arithmetic, basic_blocks, block_barriers, calls, definedness, flow, host, inline, outline
from vgpu.lower import bulk_copy as lower_bulk_copy
from vgpu.lower import mbarrier as lower_mbarrier
from vgpu.lower import memory as lower_memory
from vgpu.lower import order as lower_order
from vgpu.lower import tensor as lower_tensor
from vgpu.lower import texture as lower_texture
from vgpu.lower import warp as lower_warp
from vgpu.lower import watch as lower_watch
from vgpu.lower.calls import Calls
from vgpu.lower.control import Control
from vgpu.lower.operands import Operands
from vgpu.lower.tallies import Tallies
from vgpu.ptx import RESERVED, Instruction, Location
from vgpu.ptx.lines import line_of
from vgpu.runtime.emit import LANES, Emitter, Value
from vgpu.storage import layout

MOST_LINES = 1 << 21  # of LLVM IR, which takes some hundred bytes each while it is compiled
HANDLERS = {
    **lower_memory.HANDLERS,
    **lower_warp.HANDLERS,
    **block_barriers.HANDLERS,
    **host.HANDLERS,
    **lower_tensor.HANDLERS,
    **lower_bulk_copy.HANDLERS,
    **lower_mbarrier.HANDLERS,
    **lower_texture.HANDLERS,
    **lower_order.HANDLERS,
    **calls.HANDLERS,
}


@dataclass(frozen=True)
class Site:
    """An instruction that counts or can fail, by its number: where it stands and what it accesses."""

    instruction: Instruction
    kind: str
    space: str = ""
    nbytes: int = 0
    matrices: int = 0  # 8×8 matrices that `ldmatrix` and `stmatrix` move, each in one wavefront at least
    at: tuple[int, int] = (0, 0)  # the basic block, and which of its instructions


@dataclass(frozen=True, eq=False)  # what is known of a kernel besides is kept by the kernel itself
class Lowered:
    """A kernel in LLVM IR with what the launcher must know of it."""

    name: str
    text: str
    sites: tuple[Site, ...]
    basic_blocks: tuple[basic_blocks.BasicBlock, ...]
    state_bytes: int
    static_shared: int
    dynamic_offset: int
    zeroed_state: int  # bytes of registers that are zero when a warp begins: all, where one is read that nobody wrote
    zeroed_shared: int  # bytes of shared memory, from its beginning, that are zero when a block begins
    local_bytes: int
    parameters_addressed: bool
    loose_barriers: bool  # lanes of a warp may meet at different barrier instructions
    asks: bool = False  # warps may ask memory whether they may go on
    places: tuple[lower_watch.Place, ...] = ()  # what is watched, from number 1 on


def lower(
    module: ptx.Module, function: ptx.Function, addresses: dict[str, int], name: str, count: bool, filename: str = "",
    fine: bool = False, watch: bool = False, follow: bool = False,
) -> Lowered:  # fmt: skip
    """Write `function` as LLVM IR; `addresses` are those of the module's variables, `count` weaves counters in.

    `filename` is the user's file as the PTX names it, for errors. `fine` makes every access to memory a place
    where other lanes, warps and blocks may have their turn; `watch` weaves the sanitizer in; `follow`, besides
    `count`, the log of one warp.
    """
    try:
        lowering = Lowering(module, function, addresses, name, count, filename, fine, watch)
        lowering.follow = follow
        lowering.watch = lower_watch.Watch(lowering) if watch else None
        return lowering.run()
    except (VirtualGPUError, ptx.PTXSyntaxError):
        raise
    except Exception as error:
        raise Unsupported(
            f"the PTX of {function.name} could not be translated ({type(error).__name__}: {error}). If a compiler "
            "wrote it, this is a fault of the virtual GPU, and worth a report."
        ) from error


class Lowering(Control, Calls, Operands, Tallies):
    """One kernel on its way to LLVM IR; `e` is the emitter, `mask` the lanes that run the current basic block."""

    def __init__(self, module, function, addresses, name, count, filename, fine=False, watch=False):
        self.fine, self.follow, self.position = fine, False, 0
        self.asked: list = []  # in a loop that waits: what counts its loads for the lanes that leave
        self.own = {index for index, path in module.files.items() if path == filename}
        self.module, self.function, self.name, self.count = module, function, name, count
        flat = inline.flatten(module, function, self.own)
        self.registers = {**flat.registers, "%cc": "pred"}
        self.flow = flow.analyse(flat.body, self.registers, fine)
        self.tracked = definedness.follow(self.flow, self.registers) if watch else set()
        self.storing = definedness.storing(self.flow) if watch else set()
        self.addresses = addresses
        self.parameters, _ = layout.parameter_layout(function)
        self.shared, self.static_shared, self.dynamic_offset = layout.shared_layout(module, function)
        # With the locals of inlined functions; those of functions that stay functions have "@" in their names.
        own = [v for v in flat.variables.values() if v.space == "local" and "@" not in v.name]
        self.locals, kernel_bytes = layout.place_locals(own)
        self.parameters_addressed = False
        self.sites: list[Site] = []
        self.e = Emitter()
        self.slots: dict[str, int] = {}
        self.state_bytes = HEADER
        self.called = flat.called
        self.local_bytes = self.lay_out_stacks(flat.variables, kernel_bytes)
        self.env: dict[str, Value] = {}
        self.loaded: dict[str, Value] = {}
        self.written: set[str] = set()
        self.parked = 0
        self.repeated, self.outlined = outline.repeated(flat.body), {}
        self.watch: lower_watch.Watch | None = None
        self.variables = {**module.variables, **flat.variables}
        self.location: Location | None = None

    # ------------------------------------------------------------ the function

    def run(self) -> Lowered:
        e = self.e
        e.line("%mask_slot = alloca i32")
        e.line("%others_slot = alloca i32")  # the lowest basic block at which lanes wait that are not in hand
        e.line("%aside_slot = alloca i32")  # the basic block of the one group of lanes set aside, and its lanes
        e.line("%lanes_slot = alloca i32")
        e.line("%index_slot = alloca i32")
        if self.watch:
            e.line("%watched_slot = alloca <32 x i64>, align 64")
            e.line(f"%unset_slot = alloca <{definedness.SLOT_BYTES} x i32>, align 64")
        e.line("%status_slot = alloca i32")
        self.begin_tallies()
        self.set_aside(e.const("i32", 0), e.const("i32", PC_DONE))
        e.line("%target_slot = alloca i32")
        e.line("%forced_slot = alloca i1")
        self.prologue()
        self.wake()
        e.line("br label %dispatch")
        self.dispatcher()
        for basic_block in self.flow.basic_blocks:
            if len(e.lines) > MOST_LINES:
                raise Unsupported("the kernel is too long to be compiled. Unroll loops less, or make several kernels.")
            self.basic_block(basic_block)
        body = "\n".join(e.lines)
        runtime = [
            f"declare i64 @wb_{k}_{s}(ptr, ptr, <32 x i{w}>, i32, i32, i32)"
            for k in "cp" for s, w in (("global", 64), ("shared", 32), ("local", 64))
        ]  # fmt: skip
        declarations = "\n".join(sorted(e.declarations | set(runtime)))
        text = (
            f"{declarations}\n\ndefine i32 @{self.name}(ptr noalias align 64 %state, ptr noalias align 64 %ctx) "
            f"nounwind {{\nentry:\n{body}\n}}\n\n"
            + "\n".join(made[2] for made in self.outlined.values() if made)
            + "\n!0 = !{}\n"
        )
        return Lowered(
            self.name, text, tuple(self.sites), tuple(self.flow.basic_blocks), -(-self.state_bytes // 64) * 64,
            self.static_shared, self.dynamic_offset, self.zeroed_state(),
            RESERVED.nbytes if RESERVED.name in self.shared else 0, self.local_bytes, self.parameters_addressed,
            any(self.is_loose(s.last) for s in self.flow.basic_blocks if s.end == "barrier"),
            bool(self.flow.spinning or self.flow.waits),
            tuple(self.watch.places) if self.watch else (),
        )  # fmt: skip

    def zeroed_state(self) -> int:
        """The bytes of registers to clear for each warp, so that none holds what an earlier block left there.

        That takes a register which may be read before it is written, or a product in which lanes take part that have
        written none.
        """
        products = any(basic_blocks.kind_of(i) == "tensor" for s in self.flow.basic_blocks for i in s.body)
        return self.state_bytes - HEADER if products or self.flow.live_in[0] else 0

    @staticmethod
    def is_loose(barrier: Instruction) -> bool:
        """Whether a barrier may be reached by some lanes of a warp here, by others there (no .aligned)."""
        return barrier.opcode == "barrier" and "aligned" not in barrier.modifiers

    def prologue(self) -> None:
        """Values that stay the same while a warp runs, loaded once."""
        e = self.e
        self.fixed: dict[str, Value] = {}
        for slot in ("params", "variables", "shared_base", "sites", "basic_blocks", "local_base", "warp"):
            self.fixed[slot] = self.context(slot)
        warp_bytes = e.bin("mul", self.fixed["warp"], e.const("i64", LANES * self.local_bytes))
        self.fixed["local_warp"] = e.bin("add", self.fixed["local_base"], warp_bytes)
        e.line(f"%params = inttoptr i64 {self.fixed['params'].text} to ptr")
        e.line(f"%variables = inttoptr i64 {self.fixed['variables'].text} to ptr")
        e.line(f"%sites = inttoptr i64 {self.fixed['sites'].text} to ptr")
        e.line(f"%basic_blocks = inttoptr i64 {self.fixed['basic_blocks'].text} to ptr")
        e.line(f"%fuel_p = getelementptr i64, ptr %ctx, i64 {SLOT['fuel']}")
        e.line(f"%turn_p = getelementptr i8, ptr %state, i64 {SLICE}")
        self.begin_log()

    def context(self, slot: str, invariant: bool = True) -> Value:
        """A slot of the context, as i64."""
        e = self.e
        p = e.assign(f"getelementptr i64, ptr %ctx, i64 {SLOT[slot]}", "ptr", False)
        return e.assign(f"load i64, ptr {p.text}" + (", !invariant.load !0" if invariant else ""), "i64", False)

    def variable(self, name: str) -> Value:
        """The address of one of the module's variables, which differs from process to process."""
        e, number = self.e, list(self.addresses).index(name)
        p = e.assign(f"getelementptr i64, ptr %variables, i64 {number}", "ptr", False)
        return e.assign(f"load i64, ptr {p.text}, !invariant.load !0", "i64", False)

    # ------------------------------------------------------------ basic blocks

    def basic_block(self, basic_block: basic_blocks.BasicBlock) -> None:
        e = self.e
        self.env, self.loaded, self.written = {}, {}, set()
        self.here = basic_block
        self.parted = not self.flow.structured or basic_block.index in self.flow.diverged
        e.label(f"s{basic_block.index}")
        if basic_block.synchronises:
            lower_warp.gather_lanes(self, basic_block)
        self.mask = e.assign("load i32, ptr %mask_slot", "i32", False)
        self.active = self.lanes_of(self.mask)
        self.asked = []
        if self.count and basic_block.index not in self.flow.waits:
            self.executed(basic_block, e.const("i64", 1), self.mask)
        if basic_block.resumes is not None:
            self.resume(basic_block)
        for self.position, instruction in enumerate(basic_block.body):
            self.instruction(instruction)
        self.position, self.current = len(basic_block.body), basic_block.last
        self.location = basic_block.last.location if basic_block.last else self.location
        if self.watch and basic_block.last:
            definedness.used(self, basic_blocks.sources(basic_block.last), absent=basic_block.index in self.storing)
        {
            "jump": self.end_jump,
            "branch": self.end_branch,
            "barrier": self.end_barrier,
            "leave": self.end_leave,
            "call": self.end_call,
            "return": self.end_return,
        }[basic_block.end](basic_block)

    def unsupported(self, what: str) -> Unsupported:
        return lacking(what, line_of(self.location, self.own))

    # ------------------------------------------------------------ instructions

    def instruction(self, instruction: Instruction) -> None:
        if instruction.location is not None:
            self.location = instruction.location
        kind, known = basic_blocks.kind_of(instruction), len(self.sites)
        self.current = instruction
        if self.watch:
            lower_watch.before(self, instruction, kind)
            made = definedness.before(self, instruction, kind)
        if kind == "arithmetic":
            arithmetic.lower(self, instruction)
        elif kind in HANDLERS:
            HANDLERS[kind](self, instruction)
        else:
            raise self.unsupported(f"the PTX instruction `{instruction}`")
        if self.watch:
            definedness.after(self, instruction, made)
            lower_watch.after(self, kind)
        self.requested(range(known, len(self.sites)))

    # ------------------------------------------------------------ sites

    def site(self, instruction: Instruction, kind: str, space: str = "", nbytes: int = 0, matrices: int = 0) -> int:
        located = replace(instruction, location=instruction.location or self.location)
        self.sites.append(Site(located, kind, space, nbytes, matrices, (self.here.index, self.position)))
        self.about_to_request(len(self.sites) - 1)
        return len(self.sites) - 1

    def site_pointer(self, number: int) -> str:
        return self.e.assign(f"getelementptr i8, ptr %sites, i64 {number * SITE_BYTES}", "ptr", False).text

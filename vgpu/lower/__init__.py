"""A kernel's PTX to LLVM IR: one function `i32 run_warp(state, context)` that runs a warp until it must wait.

`state` holds the 32 program counters and the registers that cross basic blocks; inside a basic block registers are SSA
values. Lanes at the lowest pending basic block run together under a mask. A jump that cannot overtake waiting lanes
goes straight to its target; every other one goes through the dispatcher.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vgpu import ptx
from vgpu.base.context import HEADER, SLICE
from vgpu.base.errors import Unsupported, VirtualGPUError
from vgpu.lower import arithmetic, basic_blocks, block_barriers, calls, cluster, definedness, host
from vgpu.lower import bulk_copy as lower_bulk_copy
from vgpu.lower import mbarrier as lower_mbarrier
from vgpu.lower import memory as lower_memory
from vgpu.lower import order as lower_order
from vgpu.lower import tensor_memory as lower_tensor_memory
from vgpu.lower import texture as lower_texture
from vgpu.lower import warp as lower_warp
from vgpu.lower import warpgroup as lower_warpgroup
from vgpu.lower import watch as lower_watch
from vgpu.lower.calls import Calls
from vgpu.lower.state import Site, Variables
from vgpu.ptx import RESERVED, Instruction

__all__ = ["Lowered", "Site", "is_loose", "lower"]

MOST_LINES = 1 << 21  # of LLVM IR, which takes some hundred bytes each while it is compiled
HANDLERS: dict[str, Callable[[Any, Instruction], None]] = {
    "arithmetic": arithmetic.lower,
    **lower_memory.HANDLERS,
    **lower_warp.HANDLERS,
    **block_barriers.HANDLERS,
    **cluster.HANDLERS,
    **host.HANDLERS,
    **lower_warpgroup.HANDLERS,
    **lower_tensor_memory.HANDLERS,
    **lower_bulk_copy.HANDLERS,
    **lower_mbarrier.HANDLERS,
    **lower_texture.HANDLERS,
    **lower_order.HANDLERS,
    **calls.HANDLERS,
}


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
    zeroed_state: (
        int  # bytes of registers that are zero when a warp begins: all, where one may be read before it is written
    )
    zeroed_shared: int  # bytes of shared memory, from its beginning, that are zero when a block begins
    local_bytes: int
    parameters_addressed: bool
    loose_barriers: bool  # lanes of a warp may meet at different barrier instructions
    spins: bool = False  # warps may spin on memory
    places: tuple[lower_watch.Place, ...] = ()  # what is watched, from number 1 on


def lower(
    module: ptx.Module, function: ptx.Function, addresses: dict[str, int], name: str, count: bool, filename: str = "",
    fine: bool = False, watch: bool = False, follow: bool = False, rows: bool = False,
) -> Lowered:  # fmt: skip
    """Write `function` as LLVM IR; `addresses` are those of the module's variables, `count` weaves counters in.

    `filename` is the user's file as the PTX names it, for errors. `fine` makes every access to memory a place
    where other lanes, warps and blocks may have their turn; `watch` weaves the sanitizer in; `follow`, besides
    `count`, the log of one warp. `rows`: it is for launches in which the threads of each warp lie side by side in x.
    """
    given = module, function, addresses, name, count, filename, fine, watch, follow, rows
    uneven: set[str] = set()
    try:
        while True:
            known = len(uneven)
            lowered = Lowering(*given, uneven).run()
            if len(uneven) == known:
                return lowered
    except (VirtualGPUError, ptx.PTXSyntaxError):
        raise
    except Exception as error:
        raise Unsupported(
            f"the PTX of {function.name} could not be translated ({type(error).__name__}: {error}). If a compiler "
            "wrote it, this is a fault of the virtual GPU, and worth a report."
        ) from error


class Lowering(Calls):
    """A kernel's function, from the first line to the last."""

    def __init__(
        self, module: ptx.Module, function: ptx.Function, addresses: dict[str, int], name: str, count: bool,
        filename: str, fine: bool, watch: bool, follow: bool, rows: bool, uneven: set[str],
    ) -> None:  # fmt: skip
        super().__init__(module, function, addresses, name, count, filename, fine, watch, follow, rows, uneven)
        self.lay_out_stacks()
        self.watch = lower_watch.Watch(self) if watch else None
        lower_warpgroup.lay_out(self, self.reached)

    # ------------------------------------------------------------ the function

    def run(self) -> Lowered:
        ir = self.ir
        self.vars = Variables(ir)
        self.begin_tallies()
        self.fuel, self.turn = self.context_place("fuel"), self.ir.at(self.state, SLICE)
        self.begin_log()
        self.wake()
        self.dispatcher()
        for basic_block in self.reached:
            if len(ir.lines) > MOST_LINES:
                raise Unsupported("the kernel is too long to be compiled. Unroll loops less, or make several kernels.")
            self.basic_block(basic_block)
        declarations = "\n".join(sorted(ir.declarations))
        text = (
            f"{declarations}\n\ndefine i32 @{self.name}(ptr noalias align 64 %state, ptr noalias align 64 %ctx) "
            f"nounwind {{\nentry:\n{ir.body()}\n}}\n\n"
            + "\n".join(made.text for made in self.outlined.values() if made)
            + "\n!0 = !{}\n"
        )
        return Lowered(
            self.name, text, tuple(self.sites), tuple(self.flow.basic_blocks), -(-self.state_bytes // 64) * 64,
            self.static_shared, self.dynamic_offset, self.zeroed_state(),
            RESERVED.nbytes if RESERVED.name in self.shared else 0, self.local_bytes, self.parameters_addressed,
            any(is_loose(s.last) for s in self.flow.basic_blocks if s.end == "barrier"),
            bool(self.flow.spinning or self.flow.waits),
            tuple(self.watch.places) if self.watch else (),
        )  # fmt: skip

    def zeroed_state(self) -> int:
        """The bytes of registers to clear for each warp, so that none holds what an earlier block left there.

        That takes a register which may be read before it is written, or a product in which lanes take part that have
        written none.
        """
        whole = ("tensor", "tensor_memory")
        products = any(basic_blocks.kind_of(i) in whole for s in self.flow.basic_blocks for i in s.body)
        return self.state_bytes - HEADER if products or self.flow.live_in[0] else 0

    # ------------------------------------------------------------ basic blocks

    def basic_block(self, basic_block: basic_blocks.BasicBlock) -> None:
        self.env, self.loaded, self.written, self.settled = {}, {}, set(), set()
        self.here, self.postponed, self.leaders = basic_block, [], {}
        self.parted = not self.flow.structured or basic_block.index in self.flow.diverged
        self.ir.label(f"s{basic_block.index}")
        if basic_block.synchronises:
            lower_warp.gather_lanes(self, basic_block)
        self.mask = self.vars.mask.get()
        self.active = self.mask.lanes()
        if basic_block.awaits:
            lower_warpgroup.await_others(self, basic_block)
        if self.count and basic_block.index not in self.flow.waits:
            self.executed(basic_block, 1, self.mask)
        if basic_block.resumes is not None:
            self.resume(basic_block)
        self.instructions(basic_block)
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

    def instructions(self, basic_block: basic_blocks.BasicBlock) -> None:
        """What a basic block does before it ends."""
        for self.position, instruction in enumerate(basic_block.body):
            self.instruction(instruction)
        self.position, self.current = len(basic_block.body), basic_block.last
        self.location = basic_block.last.location if basic_block.last else self.location

    def instruction(self, instruction: Instruction) -> None:
        if instruction.location is not None:
            self.location = instruction.location
        kind, known = basic_blocks.kind_of(instruction), len(self.sites)
        handler = HANDLERS.get(kind)
        if handler is None:
            raise self.unsupported(f"the PTX instruction `{instruction}`")
        self.current = instruction
        if self.watch:
            lower_watch.before(self, instruction, kind)
            made = definedness.before(self, instruction, kind)
            handler(self, instruction)
            definedness.after(self, instruction, made)
            lower_watch.after(self, instruction, kind)
        else:
            handler(self, instruction)
        self.requested(range(known, len(self.sites)))


def is_loose(barrier: Instruction | None) -> bool:
    """Whether a barrier may be reached by some lanes of a warp here, by others there (no .aligned)."""
    return barrier is not None and barrier.opcode == "barrier" and "aligned" not in barrier.modifiers

"""Products of warpgroups in LLVM IR (`wgmma`): one call of the runtime (`runtime/warpgroup.py`) for a warp's rows.

A GPU may make an asynchronous product at any time until it is waited for; here each warp makes its part when it issues
it. `wait_group` waits until all four warps have committed the group: one of them may then let others write over the
matrices. `wgmma.fence` has nothing to do. What a GPU leaves undefined (registers touched too early, shared memory that
the product may not see yet) `sanitize` finds.

A product's D has up to 128 registers, which a loop carries from one product to the next. They lie side by side in the
warp's state, where the runtime adds to them, and not in SSA values that would be stored and loaded around each call.

Rules: NVIDIA "PTX ISA", asynchronous warpgroup-level matrix instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu.ir import LANES, Value
from vgpu.isa import warpgroup
from vgpu.lower import tensor
from vgpu.lower.basic_blocks import BasicBlock, items_of
from vgpu.ptx import Instruction, Reg, Vec
from vgpu.runtime.warpgroup import PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vgpu.lower.calls import Calls as Kernel
    from vgpu.lower.registers import Registers

ROOM = LANES * 4 * max(p.d_fragment.registers for p in warpgroup.products())


def lay_out(kernel: Registers, basic_blocks: Sequence[BasicBlock]) -> None:
    """Give the registers of each D places side by side in the warp's state, before others get theirs."""
    for basic_block in basic_blocks:
        for instruction in basic_block.body:
            if instruction.opcode == "wgmma" and warpgroup.product(instruction.modifiers) is not None:
                for item in instruction.operands[0].items:
                    kernel.slot(item.name)


def dispatch(kernel: Kernel, instruction: Instruction) -> None:
    """The tensor cores' instructions with all their forms."""
    if instruction.opcode != "wgmma":
        tensor.tensor_core(kernel, instruction)
        return
    word, found = (*instruction.modifiers, "")[0], warpgroup.product(instruction.modifiers)
    if word == "commit_group":
        kernel.site(instruction, "warpgroup")
        kernel.run_time("wb_group_commit", tensor.whole_warp(kernel, instruction)[1])
        _tell(kernel, instruction, -1)
    elif word == "fence":
        tensor.whole_warp(kernel, instruction)
    elif word == "wait_group":
        _tell(kernel, instruction, instruction.operands[0].value)  # `await_others` has waited
    elif found is not None:
        multiply(kernel, instruction, found)
    else:
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")


def _tell(kernel: Kernel, instruction: Instruction, pending: int) -> None:
    if kernel.watch:
        kernel.run_time("wb_s_group", pending, kernel.lanes_that_run(instruction).to("i64"))


def await_others(kernel: Kernel, basic_block: BasicBlock) -> None:
    """At the start of a basic block that begins with `wait_group`: come again while other warps lag behind."""
    ir, v, instruction = kernel.ir, kernel.vars, basic_block.body[0]
    site, mask = kernel.site(instruction, "warpgroup"), tensor.whole_warp(kernel, instruction)[1]
    pending = instruction.operands[0].value
    ready = kernel.run_time("wb_group_ready", site, mask, pending, result="i1")
    with ir.when(~ready):
        v.target.set(basic_block.index)
        ir.go("starve")


def variant(instruction: Instruction, found: warpgroup.GroupProduct) -> warpgroup.Variant:
    """The product as the instruction's operands make it."""
    _, a, _, _, *numbers = instruction.operands
    in_registers = isinstance(a, Vec)
    given = [number.value for number in numbers]
    signs, turns = ([], []) if found.whole else (given[:2], given[2:])
    a_turned = bool(turns[0]) if len(turns) == 2 else False
    negated = len(set(signs)) == 2  # two signs cancel out
    return warpgroup.Variant(found, in_registers, a_turned, bool(turns and turns[-1]), negated)


def multiply(kernel: Kernel, instruction: Instruction, found: warpgroup.GroupProduct) -> None:
    """Check the operands, then let the runtime add to the registers of D."""
    ir = kernel.ir
    target, a, b, keeps = instruction.operands[:4]
    made = variant(instruction, found)
    site, mask = tensor.whole_warp(kernel, instruction)
    matrices = [(kernel.bits_value(b, 64), found.n // 8, made.b_turned)]
    if not made.a_in_registers:
        matrices.append((kernel.bits_value(a, 64), 8, made.a_turned))
    keep = kernel.bits_value(keeps, 1)
    given = (matrices[-1][0].splat(), matrices[0][0].splat(), keep.bits())
    mask = kernel.run_time("wb_warpgroup", site, mask, *given, result="i32")
    firsts = []
    for matrix, rows, turned in matrices:
        first = matrix.lane(0) if matrix.vector else matrix
        mask = kernel.run_time(
            "wb_matrix", site, mask, first, rows, found.k // 8, ir.number("i1", turned), result="i32"
        )
        firsts.append(first)
    names = [item.name for item in items_of(target)]
    left = tensor.lay(kernel, a.items, found.a_fragment.registers, 32, 0) if made.a_in_registers else firsts[-1]
    sums = kernel.in_state(names)
    own = sums or _copied(kernel, names)
    if kernel.watch:
        number = kernel.watching.product(kernel, instruction)
        for is_a, first in enumerate(firsts):
            kernel.run_time("wb_s_product", number << 1 | is_a, first, mask.to("i64"))
    with ir.when(mask.ne(0)):
        kept = keep.lane(0) if keep.vector else keep
        kernel.run_time(PREFIX + made.name, own, left, firsts[0], kept)
    if sums is None:
        guard = kernel.guard(instruction.guard)
        for index, name in enumerate(names):
            kernel.write(name, ir.load(ir.at(own, 4 * LANES * index), f"<{LANES} x i32>", 64), guard)


def _copied(kernel: Kernel, names: Sequence[str]) -> Value:
    """Registers that don't lie side by side, copied to where they do."""
    room = kernel.ir.room(f"[{ROOM} x i8]", "sums")
    for index, name in enumerate(names):
        kernel.ir.store(kernel.ir.at(room, 4 * LANES * index), kernel.lanes_value(Reg(name), 32), 64)
    return room


HANDLERS = {"tensor": dispatch}

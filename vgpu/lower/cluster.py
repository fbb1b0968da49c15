"""Clusters of blocks in LLVM IR: `mapa`, `getctarank`, the cluster's barrier (`runtime/cluster.py` does the work)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu.ir import Value
from vgpu.ir.value import V32, V64
from vgpu.lower.spaces import CLUSTER
from vgpu.ptx import Instruction
from vgpu.runtime.cluster import RANK_SHIFT

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel


def hosts(kernel: Kernel, addresses: Value, mask: Value) -> Value:
    """The host addresses of 32-bit addresses in the cluster's shared memory."""
    return kernel.run_time("wb_in_cluster", addresses.splat(), mask, result=V64)


def converted(kernel: Kernel, value: Value, short: bool) -> Value:
    """`cvta` where addresses may be of other blocks: from generic ones to the cluster's own (`short`), or back."""
    if short:
        found = kernel.run_time("wb_to_cluster", value.splat(), result=V64)
    else:
        found = hosts(kernel, value.to("i32"), kernel.ir.i32(-1))
    return found if value.vector else found.lane(0)


def inside(kernel: Kernel, value: Value) -> Value:
    """Whether generic addresses lie in the shared memory of any block of the cluster."""
    found = kernel.run_time("wb_inside_cluster", value.splat(), result="i32")
    return found.lanes() if value.vector else found.to("i1")


def address(kernel: Kernel, instruction: Instruction) -> None:
    """`mapa` and `getctarank`, of addresses in the cluster's shared memory or generic ones."""
    destination, source, *rank = instruction.operands
    short = CLUSTER in instruction.modifiers
    guard, mask = kernel.guard(instruction.guard), kernel.lanes_that_run(instruction)
    value = kernel.bits_value(source, 32 if short else 64)
    if instruction.opcode == "getctarank":
        if short:
            named, own = value >> RANK_SHIFT, kernel.run_time("wb_cluster_own_rank", result="i32")
            found = named.eq(0).select(own, named - 1)
        else:
            found = kernel.run_time("wb_cluster_rank", value.splat(), result=V32)
    else:
        number = kernel.bits_value(rank[0], 32)
        if short:
            found = (number + 1) << RANK_SHIFT | value & (1 << RANK_SHIFT) - 1
        else:
            found = kernel.run_time("wb_cluster_map", value.splat(), number.splat(), mask, result=V64)
    kernel.write(destination, found, guard)


def wait(kernel: Kernel, instruction: Instruction) -> None:
    """Whether lanes may go on from the cluster's barrier: the condition of the loop that `inline` makes of it."""
    done = kernel.run_time("wb_cluster_done", kernel.lanes_that_run(instruction), result="i32").lanes()
    guard = kernel.guard(instruction.guard)
    kernel.write(instruction.operands[0], done if guard is None else done | ~guard)


HANDLERS = {"cluster": address, "cluster_wait": wait}

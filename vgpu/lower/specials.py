"""Special registers in LLVM IR: which thread this is, of how many, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vgpu.base.context import CLOCK
from vgpu.ir import LANES, Value
from vgpu.ir.value import V32

if TYPE_CHECKING:
    from vgpu.lower.registers import Registers

    Reading = Callable[[Registers], Value]


def _slot(name: str) -> Reading:
    return lambda kernel: kernel.context(name).to("i32")


def _each_lane(function: Callable[[int], int]) -> Reading:
    return lambda kernel: kernel.ir.each_lane("i32", [function(lane) & 0xFFFFFFFF for lane in range(LANES)])


def _thread(axis: int) -> Reading:
    def value(kernel: Registers) -> Value:
        # three vectors of 32 indices a warp
        row = kernel.context("lane_ids") + kernel.fixed["warp"] * (3 * LANES * 4)
        return kernel.ir.load((row + axis * LANES * 4).to("ptr"), V32, 64, constant=True)

    return value


def _clock(kernel: Registers) -> Value:
    """Each reading by a warp is 32 later than its last, whatever else happens: no run tells itself apart by it."""
    old = kernel.get_state(CLOCK, "i64", 8)
    assert kernel.current is not None
    reads = kernel.lanes_that_run(kernel.current).ne(0)
    kernel.set_state(CLOCK, old + reads.select(kernel.ir.i64(LANES), 0), 8)
    return old


SPECIALS: dict[str, Reading] = {
    **{f"%tid.{axis}": _thread(index) for index, axis in enumerate("xyz")},
    **{f"%{name}.{axis}": _slot(f"{name}_{axis}") for name in ("ntid", "ctaid", "nctaid") for axis in "xyz"},
    "%envreg1": lambda kernel: (kernel.context("workspace") >> 32).to("i32"),
    "%envreg2": _slot("workspace"),  # the address of a cooperative launch's barrier, in two halves
    "%laneid": _each_lane(lambda lane: lane),
    "%lanemask_eq": _each_lane(lambda lane: 1 << lane),
    "%lanemask_lt": _each_lane(lambda lane: (1 << lane) - 1),
    "%lanemask_le": _each_lane(lambda lane: (2 << lane) - 1),
    "%lanemask_gt": _each_lane(lambda lane: ~((2 << lane) - 1)),
    "%lanemask_ge": _each_lane(lambda lane: ~((1 << lane) - 1)),
    "%warpid": _slot("warp"),
    "%nwarpid": _slot("warps"),
    "%smid": lambda kernel: kernel.ir.i32(0),
    "%nsmid": lambda kernel: kernel.ir.number("i32", 1),
    "%gridid": lambda kernel: kernel.ir.number("i32", 1),
    "WARP_SZ": lambda kernel: kernel.ir.number("i32", LANES),
    "%dynamic_smem_size": _slot("dynamic_shared"),
    "%total_smem_size": _slot("shared_bytes"),
    **dict.fromkeys(("%clock", "%clock64", "%globaltimer", "%globaltimer_lo"), _clock),
    **{name: lambda kernel: kernel.ir.i32(0) for name in ("%clock_hi", "%globaltimer_hi")},
}  # fmt: skip


def special(kernel: Registers, name: str) -> Value:
    if name not in SPECIALS:
        raise kernel.unsupported(f"the special register `{name}`")
    return SPECIALS[name](kernel)

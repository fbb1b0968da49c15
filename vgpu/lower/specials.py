"""Special registers in LLVM IR: which thread this is, of how many, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vgpu.base.context import CLOCK
from vgpu.ir import LANES, Value
from vgpu.ir.ramp import Bounded, Ramp
from vgpu.ir.value import V32

MOST_THREADS = 1024  # of a block
MOST_BLOCKS = 1 << 20  # in each axis of a launch in rows, so that no product of indices leaves 32 bits

if TYPE_CHECKING:
    from vgpu.lower.registers import Registers

    Reading = Callable[[Registers], Value]


def _slot(name: str) -> Reading:
    return lambda kernel: kernel.context(name).to("i32")


def _per_axis(name: str, least: int, most: int) -> dict[str, Reading]:
    """Numbers of threads or blocks, or indices, which have bounds in launches in rows."""

    def reading(slot: str) -> Reading:
        def value(kernel: Registers) -> Value:
            found = _slot(slot)(kernel)
            return Bounded(found, (least, most)) if kernel.rows else found

        return value

    return {f"%{name}.{axis}": reading(f"{name}_{axis}") for axis in "xyz"}


def _each_lane(function: Callable[[int], int]) -> Reading:
    return lambda kernel: kernel.ir.each_lane("i32", [function(lane) & 0xFFFFFFFF for lane in range(LANES)])


def _thread(axis: int) -> Reading:
    def value(kernel: Registers) -> Value:
        # three vectors of 32 indices a warp
        row = kernel.context("lane_ids") + kernel.context("warp") * (3 * LANES * 4)
        place = (row + axis * LANES * 4).to("ptr")
        if not kernel.rows:
            return kernel.ir.load(place, V32, 64, constant=True)
        first, bounds = kernel.ir.load(place, "i32", 64, constant=True), (0, MOST_THREADS - 1)
        return Bounded(first, bounds) if axis else Ramp(first, 1, bounds, whole_warps=True)

    return value


def _clock(kernel: Registers) -> Value:
    """Each reading by a warp is 32 later than its last, whatever else happens: no run tells itself apart by it."""
    old = kernel.get_state(CLOCK, "i64", 8)
    assert kernel.current is not None
    reads = kernel.lanes_that_run(kernel.current).ne(0)
    kernel.set_state(CLOCK, old + reads.select(kernel.ir.i64(LANES), 0), 8)
    return old


def _in_clusters(blocks: str, part: str) -> Callable[[int], Reading]:
    """The index or number of blocks in one axis, divided by those of a cluster: the quotient, or what is left."""

    def axis(number: int) -> Reading:
        def value(kernel: Registers) -> Value:
            size = _slot(f"cluster_{'xyz'[number]}")(kernel)
            return _slot(f"{blocks}_{'xyz'[number]}")(kernel).binary(part, size)

        return value

    return axis


def _cluster_rank(kernel: Registers) -> Value:
    x, y, z = (_in_clusters("ctaid", "urem")(axis)(kernel) for axis in range(3))
    wide, high = (_slot(f"cluster_{axis}")(kernel) for axis in "xy")
    return x + wide * (y + high * z)


_CLUSTERS = {
    "clusterid": _in_clusters("ctaid", "udiv"), "nclusterid": _in_clusters("nctaid", "udiv"),
    "cluster_ctaid": _in_clusters("ctaid", "urem"), "cluster_nctaid": lambda axis: _slot(f"cluster_{'xyz'[axis]}"),
}  # fmt: skip
SPECIALS: dict[str, Reading] = {
    **{f"%{name}.{axis}": reading(index) for name, reading in _CLUSTERS.items() for index, axis in enumerate("xyz")},
    "%cluster_ctarank": _cluster_rank, "%cluster_nctarank": _slot("cluster"),
    "%is_explicit_cluster": lambda kernel: kernel.context("cluster").above(1),
    **{f"%tid.{axis}": _thread(index) for index, axis in enumerate("xyz")},
    **_per_axis("ntid", 1, MOST_THREADS), **_per_axis("nctaid", 1, MOST_BLOCKS),
    **_per_axis("ctaid", 0, MOST_BLOCKS - 1),
    "%envreg1": lambda kernel: (kernel.context("workspace") >> 32).to("i32"),
    "%envreg2": _slot("workspace"),  # the address of a cooperative launch's barrier, in two halves
    "%laneid": lambda kernel: Ramp(kernel.ir.i32(0), 1, (0, LANES - 1), whole_warps=True),
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

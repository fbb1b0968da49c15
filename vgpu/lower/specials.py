"""Special registers in LLVM IR: which thread this is, of how many, and when."""

from __future__ import annotations

from vgpu.base.context import CLOCK
from vgpu.runtime.emit import LANES, Value


def _slot(name):
    return lambda k: k.e.resize(k.context(name), 32)


def _lane_constant(function):
    return lambda k: k.e.vector_const("i32", [function(lane) & 0xFFFFFFFF for lane in range(LANES)])


def _thread(axis):
    def value(k):
        e = k.e
        ids = k.context("lane_ids")
        # three vectors of 32 indices a warp
        warp = e.bin("mul", k.fixed["warp"], e.const("i64", 3 * LANES * 4))
        where = e.bin("add", e.bin("add", ids, warp), e.const("i64", axis * LANES * 4))
        p = e.assign(f"inttoptr i64 {where.text} to ptr", "ptr", False)
        return e.assign(f"load <{LANES} x i32>, ptr {p.text}, align 64, !invariant.load !0", "i32", True)

    return value


def _clock(k):
    """Each reading by a warp is 32 later than its last, whatever else happens: no run tells itself apart by it."""
    e = k.e
    p = e.assign(f"getelementptr i8, ptr %state, i64 {CLOCK}", "ptr", False)
    old = e.assign(f"load i64, ptr {p.text}", "i64", False)
    reads = e.icmp("ne", k.guarded_mask(k.guard(k.current.guard)), e.const("i32", 0))
    new = e.bin("add", old, e.select(reads, e.const("i64", LANES), e.const("i64", 0)))
    e.line(f"store i64 {new.text}, ptr {p.text}")
    return old


SPECIALS = {
    **{f"%tid.{axis}": _thread(index) for index, axis in enumerate("xyz")},
    **{f"%{name}.{axis}": _slot(f"{name}_{axis}") for name in ("ntid", "ctaid", "nctaid") for axis in "xyz"},
    "%envreg1": lambda k: k.e.resize(k.e.bin("lshr", k.context("workspace"), k.e.const("i64", 32)), 32),
    "%envreg2": _slot("workspace"),  # the address of a cooperative launch's barrier, in two halves
    "%laneid": _lane_constant(lambda lane: lane),
    "%lanemask_eq": _lane_constant(lambda lane: 1 << lane),
    "%lanemask_lt": _lane_constant(lambda lane: (1 << lane) - 1),
    "%lanemask_le": _lane_constant(lambda lane: (2 << lane) - 1),
    "%lanemask_gt": _lane_constant(lambda lane: ~((2 << lane) - 1)),
    "%lanemask_ge": _lane_constant(lambda lane: ~((1 << lane) - 1)),
    "%warpid": _slot("warp"),
    "%nwarpid": _slot("warps"),
    "%smid": lambda k: k.e.const("i32", 0),
    "%nsmid": lambda k: k.e.const("i32", 1),
    "%gridid": lambda k: k.e.const("i32", 1),
    "WARP_SZ": lambda k: k.e.const("i32", LANES),
    "%dynamic_smem_size": _slot("dynamic_shared"),
    "%total_smem_size": _slot("shared_bytes"),
    **dict.fromkeys(("%clock", "%clock64", "%globaltimer", "%globaltimer_lo"), _clock),
    **{name: lambda k: k.e.const("i32", 0) for name in ("%clock_hi", "%globaltimer_hi")},
}  # fmt: skip


def special(k, name: str) -> Value:
    if name not in SPECIALS:
        raise k.unsupported(f"the special register `{name}`")
    return SPECIALS[name](k)

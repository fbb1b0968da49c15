"""How the barriers of a block open, in LLVM IR.

The first words of a warp's state are the program counters of its lanes, which say what each of them waits for.
"""

from __future__ import annotations

from vgpu.base.context import ARRIVED, EXPECTED, PC_BARRIER_SHIFT, PC_DONE, PC_NEXT, PC_WAIT, REDUCES
from vgpu.ir.value import V32, Value
from vgpu.runtime.write import Routine


def _state(r: Routine, warp: Value) -> Value:
    return r.at(r["states"], warp * r["bytes"])


def _reduced(r: Routine, word: str, lanes: Value) -> Value:
    """The least or the greatest of all lanes, without the sign."""
    return r.call("i32", f"llvm.vector.reduce.u{word}.v32i32", lanes)


def _open_named() -> Routine:
    """Barriers with a count of threads (`bar.sync 1, 64`): each opens by itself when so many have come.

    A warp all of whose live lanes wait counts as 32.
    """
    r = Routine("open_named", "ptr ctx, ptr states, i64 bytes, i64 warps, ptr gathered", "i64")
    opened = r.variable("i64", 0)
    with r.count_to(16) as number:
        slot = r.at(r["gathered"], number * 8)
        expected, arrived = (r.load(r.at(slot, offset), "i64", 8) for offset in (EXPECTED, ARRIVED))
        with r.when(expected.ne(0)):
            code = (number.to("i32") + (PC_WAIT >> PC_BARRIER_SHIFT)).splat()
            have = r.variable("i64", arrived)
            with r.count_to(r["warps"]) as warp:
                pcs = r.load(_state(r, warp), V32, 64)
                here = (pcs >> PC_BARRIER_SHIFT).eq(code).bits()
                whole = (here | pcs.eq(PC_DONE).bits()).eq(-1) & here.ne(0)
                have.add(whole.select(32, r.many(here)).to("i64"))
            with r.when(have.get().reaches(expected)):
                r.call("void", "wb_s_named", r["ctx"], number)
                with r.count_to(r["warps"]) as warp:
                    pcs = r.load(_state(r, warp), V32, 64)
                    here = (pcs >> PC_BARRIER_SHIFT).eq(code)
                    r.store(_state(r, warp), here.select(pcs & PC_NEXT, pcs), 64)
                r.store(r.at(slot, ARRIVED), r.number("i64", 0), 8)
                opened.set(1)
    r.give(opened.get())
    return r


def _put_lanes() -> Routine:
    """The lanes of a mask wait at a basic block."""
    r = Routine("wb_put_lanes", "ptr state, i32 mask, i32 target")
    pcs = r.load(r["state"], V32, 64)
    r.store(r["state"], r["mask"].lanes().select(r["target"], pcs), 64)
    return r


def _open() -> Routine:
    """A barrier opens when no live lane of the block is anywhere else: find the lowest and highest waiting lane.

    Lanes of one warp must wait at the same instruction, unless the kernel uses barriers made for divergent lanes.
    Nearly always all lanes of the block wait at one instruction, which is seen without that.
    """
    r = Routine("open_barriers", "ptr states, i64 bytes, i64 warps, ptr gathered, i64 loose", "i64", words="")
    free = r.variable("i1", 0)
    pc = r.load(r["states"], "i32", 64)
    everywhere = pc.splat()
    with r.when((pc.below(PC_WAIT, signed=True) ^ 1) & pc.ne(PC_DONE)):
        unlike = r.variable(V32, 0)
        with r.count_to(r["warps"]) as warp:
            unlike.set(r.load(_state(r, warp), V32, 64) ^ everywhere | unlike.get())
        free.set(unlike.get().ne(0).bits().eq(0))
    with r.when(free.get()), r.count_to(r["warps"]) as warp:
        r.store(_state(r, warp), everywhere & PC_NEXT, 64)
    with r.when(free.get() ^ 1):
        low, high, parted = r.variable("i32", PC_DONE), r.variable("i32", 0), r.variable("i1", 0)
        with r.count_to(r["warps"]) as warp:
            pcs = r.load(_state(r, warp), V32, 64)
            least = _reduced(r, "min", pcs)
            greatest = _reduced(r, "max", pcs.eq(PC_DONE).select(0, pcs))
            parted.set(parted.get() | greatest.ne(0) & least.ne(greatest))
            low.set(least.below(low.get()).select(least, low.get()))
            high.set(greatest.above(high.get()).select(greatest, high.get()))
        meet = low.get().reaches(PC_WAIT) & (low.get() >> PC_BARRIER_SHIFT).eq(high.get() >> PC_BARRIER_SHIFT)
        wrong = parted.get() & r["loose"].eq(0)
        with r.when((meet & (wrong ^ 1)) ^ 1):
            r.give(r.number("i64", 0))
        with r.count_to(r["warps"]) as warp:
            pcs = r.load(_state(r, warp), V32, 64)
            r.store(_state(r, warp), pcs.eq(PC_DONE).select(pcs, pcs & PC_NEXT), 64)
    with r.when(r.load(r.at(r["gathered"], REDUCES), "i64", 8).ne(0)):
        # What reducing barriers gathered becomes readable, and gathering starts anew.
        r.copy(r.at(r["gathered"], 256), r["gathered"], 256)
        r.fill(r["gathered"], 0, 256)
    r.give(r.number("i64", 1))
    return r


def source() -> str:
    return f"{_open_named()}{_put_lanes()}{_open()}"

"""Launches that the host has prepared, one after another, in LLVM IR: those of a graph."""

from __future__ import annotations

from vgpu.base.context import DONE, LAUNCH_SLOT, REPLAY, REPLAY_SLOT, SLOT
from vgpu.ir.value import Value
from vgpu.runtime.write import Routine


def source() -> str:
    """`wb_replay` runs the launches from `begin` on: the number of the first that hasn't ended, or `end`."""
    r = Routine("wb_replay", "ptr launches, i64 begin, i64 end", "i64")
    with r.count_to(r["end"], r["begin"]) as number:
        record = r.at(r["launches"], number * (8 * len(REPLAY)))

        def field(name: str, kind: str = "ptr") -> Value:
            return r.load(r.at(record, 8 * REPLAY_SLOT[name]), kind, 8)

        r.copy(field("own"), field("first"), field("nbytes", "i64"))
        context, blocks = field("context"), field("blocks", "i64")
        r.store(r.at(context, 8 * SLOT["params"]), field("params", "i64"), 8)
        for name, value in {"next_block": r.i64(0), "blocks": blocks, "stop_block": blocks}.items():
            r.store(r.at(field("launch"), 8 * LAUNCH_SLOT[name]), value, 8)
        status = r.call("i32", field("loop"), context)
        r.store(r.at(record, 8 * REPLAY_SLOT["status"]), status.to("i64"), 8)
        with r.when(status.ne(DONE)):
            r.give(number)
    r.give(r["end"])
    return str(r)

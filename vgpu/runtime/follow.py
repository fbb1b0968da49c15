"""The log of one warp, in LLVM IR: the basic blocks that it runs, and what its requests add to the counters of their sites.

`vgpu.launch.path` reads it.
"""

from __future__ import annotations

from vgpu.base.context import PATH, PATH_ENTRY
from vgpu.ir.value import Value
from vgpu.runtime.write import Routine

_COUNTED = {
    "requests": "requests_before", "sectors": "sectors_before", "shared_requests": "shared_before",
    "local_requests": "local_before",
}  # fmt: skip


def _write(r: Routine, **values: Value) -> None:
    """Take the next entry, if there is room for it; how many there should be is counted on."""
    path = r.slot("path", "ptr")
    number = r.load(path, "i64", 8)
    r.store(path, number + 1, 8)
    with r.when(number.below(r.load(r.at(path, 8 * PATH.index("room")), "i64", 8))):
        entry = r.at(path, number * (8 * len(PATH_ENTRY)) + 8 * len(PATH))
        for name, value in values.items():
            r.store(r.at(entry, 8 * PATH_ENTRY.index(name)), value, 8)


def source() -> str:
    basic_block = Routine("wb_follow_basic_block", "ptr ctx, i64 code, i32 lanes")
    _write(basic_block, code=basic_block["code"], lanes=basic_block["lanes"].to("i64"))
    before = Routine("wb_follow_before", "ptr site")
    for slot, kept in _COUNTED.items():
        before.store(before.site(kept), before.load(before.site(slot), "i64", 8), 8)
    r = Routine("wb_follow_request", "ptr ctx, ptr site, i64 code")
    added = {slot: r.load(r.site(slot), "i64", 8) - r.load(r.site(kept), "i64", 8) for slot, kept in _COUNTED.items()}
    total = r.number("i64", 0)
    for more in added.values():
        total = total + more
    with r.when(total.ne(0)):
        _write(r, code=r["code"], **added)
    return f"{basic_block}{before}{r}"

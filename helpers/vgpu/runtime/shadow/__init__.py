"""What the sanitizer's variant of a kernel calls: shadows of memory, and who knows of whose accesses.

Every word of memory has three entries: its last write, its last read, and an earlier read by another warp. An entry
says when (a count of synchronisations), where in the source and by which thread. An access conflicts with an entry
that its thread cannot know of: `floor` is what all threads of the block know since the last barrier, the table
`known[u][t]` up to when thread u knows what thread t did. What is rare (a conflict's first sight, barriers with a
count, fences) is told to the host.

The functions are written with the emitter: 32 lanes at once, no lane by itself but where something is reported.
"""

from __future__ import annotations

from helpers.vgpu.runtime.shadow import access, copies, sync, words
from helpers.vgpu.runtime.shadow.words import (
    CLASH,
    IN_FLIGHT,
    PAIR_KINDS,
    REACHES,
    READ_LATE,
    UNSET,
    WRITE_LATE,
    WRITE_TWICE,
)

__all__ = [
    "CLASH",
    "IN_FLIGHT",
    "PAIR_KINDS",
    "REACHES",
    "READ_LATE",
    "UNSET",
    "WRITE_LATE",
    "WRITE_TWICE",
    "hooks",
    "source",
]


def hooks() -> str:
    """What the block loop calls, in the runtime of every kernel: it does nothing where nobody watches."""
    named = sync.told("wb_s_named", "named", ", i64 %id", "%id", "0", "0")
    enter = sync.told("wb_s_enter", "enter", "", "0", "0", "0")
    arrived = sync.told("wb_s_arrived", "arrived", ", i64 %copy, i64 %mask", "%copy", "0", "%mask")
    bulk = sync.told("wb_s_bulk", "bulk", ", i64 %copy, i64 %landed", "%copy", "%landed", "0")
    begin = sync.told("wb_s_begin", "begin", "", "0", "0", "0")
    return "\n".join([sync.opened(), begin, enter, named, copies.landed(), arrived, bulk])


def source() -> str:
    """What watched kernels call, as a module of LLVM IR by itself."""
    from helpers.vgpu.runtime import DECLARATIONS

    return "\n".join([
        DECLARATIONS, "declare i1 @place(ptr, ptr, i64, i64)", words.REPORT, words.NOTE, access.CLASHES,
        words.unordered(False), words.unordered(True), words.word(False), words.word(True),
        access.in_shared(), access.in_local(), access.in_global(),
        *(access.values(bits) for bits in (8, 16, 32, 64)), sync.join(), sync.collective(), sync.active(),
        sync.told("wb_s_counted", "counted", ", i64 %place, i64 %count, i64 %mask", "%place", "%count", "%mask"),
        sync.told("wb_s_fence", "fence", ", i64 %place, i64 %wide, i64 %mask", "%place", "%wide", "%mask"),
        sync.told("wb_s_strong", "strong", ", i64 %place, i64 %order, i64 %mask, ptr %addresses", "%place", "%order",
              "%mask", "%addresses"),
    ])  # fmt: skip

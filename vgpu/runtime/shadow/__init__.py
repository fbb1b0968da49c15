"""What the sanitizer's variant of a kernel calls: shadows of memory, and who knows of whose accesses.

Every word of memory has three entries: its last write, its last read, and an earlier read by another warp. An entry
says when (a count of synchronisations), where in the source and by which thread. An access conflicts with an entry
that its thread cannot know of: `floor` is what all threads of the block know since the last barrier, the table
`known[u][t]` up to when thread u knows what thread t did. What is rare (a conflict's first sight, barriers with a
count, fences) is told to the host.

All of it works on 32 lanes at once, on no lane by itself but where something is reported.
"""

from __future__ import annotations

from vgpu.runtime import count, heap
from vgpu.runtime.shadow import access, copies, rows, sync, words
from vgpu.runtime.shadow.words import (
    CLASH,
    IN_FLIGHT,
    PAIR_KINDS,
    REACHES,
    READ_LATE,
    UNFENCED,
    UNSET,
    WRITE_LATE,
    WRITE_TWICE,
)
from vgpu.runtime.write import Routine

__all__ = [
    "CLASH",
    "IN_FLIGHT",
    "PAIR_KINDS",
    "REACHES",
    "READ_LATE",
    "UNFENCED",
    "UNSET",
    "WRITE_LATE",
    "WRITE_TWICE",
    "hooks",
    "source",
]


def hooks() -> str:
    """What the block loop calls, in the runtime of every kernel: it does nothing where no kernel is watched."""
    return "".join(
        map(
            str,
            (
                sync.opened(),
                sync.met(),
                sync.begun(),
                sync.told("wb_s_enter", "enter"),
                sync.told("wb_s_named", "named", "id"),
                copies.landed(),
                sync.told("wb_s_arrived", "arrived", "copy", "", "mask"),
                sync.told("wb_s_bulk", "bulk", "copy", "landed"),
            ),
        )
    )


def source() -> str:
    """What watched kernels call, as a module of LLVM IR by itself."""
    parts: list[Routine | str] = [heap.place("shadow_place_in_heap", "heap_shadow")]
    parts += [count.place("shadow_place", "shadow_offsets", "shadow_place_in_heap")]
    parts += [words.reported(), words.unset(), words.used(), access.clash()]
    parts += [make(across) for make in (words.unordered, words.word) for across in (False, True)]
    parts += [access.in_shared(), access.in_local(), access.in_global()]
    parts += [access.values(bits) for bits in (8, 16, 32, 64)]
    parts += rows.routines()
    parts += [sync.join(), sync.collective(), sync.active()]
    parts += [
        sync.told("wb_s_counted", "counted", "place", "count", "mask"),
        sync.told("wb_s_product", "product", "place", "descriptor", "mask"),
        sync.told("wb_s_group", "group", "pending", "", "mask"),
        sync.told("wb_s_touched", "touched", "place", "product", "mask"),
        sync.told("wb_s_tensor", "tensor", "place", "", "mask", "addresses"),
        sync.told("wb_s_fence", "fence", "place", "wide", "mask"),
        sync.told("wb_s_strong", "strong", "place", "order", "mask", "addresses"),
    ]
    declared = "declare i32 @heap_lanes(ptr, <32 x i64>, i32, i64)\ndeclare i64 @shared_of_rank(ptr, i64)\n"
    declared += "declare i32 @wb_inside_cluster(ptr, <32 x i64>)\n"
    return declared + rows.of_the_runtime() + "".join(map(str, parts))

"""When asynchronous copies land and mbarriers change: one block of a launch, step by step.

Like all single steps, this comes from the reference interpreter, on a copy of the memory. Copies land there at the
wait; on a GPU they may land at any time between their issue and the wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu.base.words import function_name
from vgpu.launch.configuration import check_block_index
from vgpu.tools.prepare import Dimensions, Grid, prepare
from vgpu.tools.sanitize.names import LaunchNames
from vgpu.tools.steps.trace import run_block

if TYPE_CHECKING:
    from vgpu import reference
    from vgpu.launch.launch import Prepared

MOST_EVENTS = 400


@dataclass(frozen=True)
class GroupEvent:
    """One step of a thread with its groups of `cp.async`.

    kind: "copy" (`count` of them in a row), "commit" or "wait" (`count` is how many groups it leaves pending). group:
    the one that copies join or that is committed; landed: the groups whose copies land here.
    """

    kind: str
    line: int | None
    count: int
    group: int
    landed: tuple[int, ...] = ()


@dataclass(frozen=True, repr=False)
class CopyGroups:
    """The steps of one thread with its groups, in order; `pending`: groups with copies that never landed."""

    kernel: str
    thread: int
    events: tuple[GroupEvent, ...]
    pending: tuple[int, ...]

    def __repr__(self) -> str:
        verbs = {"copy": "copies to group", "commit": "commits group", "wait": "waits, all but"}
        rows = [f"{self.kernel}, thread {self.thread}"]
        for event in self.events:
            number = event.count if event.kind == "wait" else event.group
            rows.append(f"  line {event.line}: {verbs[event.kind]} {number}; landed: {list(event.landed)}")
        return "\n".join(rows)


@dataclass(frozen=True)
class BarrierState:
    """An mbarrier: its phase from 0, the arrivals and bytes that are still expected, and the arrivals per phase."""

    phase: int
    arrivals: int
    bytes: int
    expected: int


@dataclass(frozen=True)
class BarrierEvent:
    """An instruction after which mbarriers have changed: its warp, its line, and all states after it.

    kind: "init", "arrive", "expect" (it arrives and announces bytes) or "land": copies that threads wait for land.
    """

    kind: str
    warp: int
    line: int | None
    states: dict[str, BarrierState | None]
    changed: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class BarrierPhases:
    """All changes of a block's mbarriers, in order, by their names."""

    kernel: str
    names: tuple[str, ...]
    events: tuple[BarrierEvent, ...]

    def __repr__(self) -> str:
        rows = [f"{self.kernel}: {', '.join(self.names)}"]
        for event in self.events:
            for name in event.changed:
                state = event.states[name]
                if state is None:
                    continue
                lacks = f"phase {state.phase} lacks {state.arrivals} of {state.expected} arrivals, {state.bytes} bytes"
                rows.append(f"  warp {event.warp}, line {event.line}, {event.kind}: {name} {lacks}")
        return "\n".join(rows)


def _observed(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence,
    block_index: Dimensions, shared_bytes: int, before: Callable[[reference.Executed | None], None],
    meta: dict,
) -> tuple[Prepared, tuple[int, int, int], tuple[int, int, int]]:  # fmt: skip
    """Run one block; `before(step)` is called before each of its instructions, and once with None at the end."""
    if block is not None:
        check_block_index(grid, block, block_index)
    _, prepared, _ = prepare("record", kernel, grid, block, args, meta)
    grid, block, block_index = check_block_index(prepared.grid or grid, prepared.block or block, block_index)
    run_block(prepared, grid, block, block_index, shared_bytes, on_step=before)
    before(None)
    return prepared, grid, block


def copy_groups(
    kernel: Any,
    grid: Grid,
    block: Dimensions | None,
    args: Sequence,
    block_index: Dimensions = 0,
    *,
    thread: int = 0,
    shared_bytes: int = 0,
    **meta: Any,
) -> CopyGroups:
    """What one thread of a block does with groups of `cp.async`: which copies join which, and which wait lands them.

    kernel, grid, block, args, block_index and `meta` as for `record`; thread: its number in the block. Raises what a
    launch raises, and ValueError for more than 400 events, for one thread without any and for no such thread.
    """
    events: list[GroupEvent] = []
    copying: list[reference.Executed] = []  # the thread's steps with copies
    running: list[tuple[reference.Executed, set[int], int]] = []  # the one that runs, pending groups, commits before

    def before(step: reference.Executed | None) -> None:
        if running:
            events.append(_group_event(*running.pop(), thread))
        if step is None or step.warp != thread // 32 or not step.mask[thread % 32]:
            return
        words = step.instruction.modifiers
        if step.instruction.opcode == "cp" and "async" in words and not {"bulk", "mbarrier"} & set(words):
            running.append((step, set(_issued(step, thread)), _committed(step, thread)))
            copying.append(step)

    prepared, _, block = _observed(kernel, grid, block, args, block_index, shared_bytes, before, meta)
    if not 0 <= thread < int(np.prod(block)):
        raise ValueError(f"a block of {int(np.prod(block))} threads has no thread {thread}")
    if not events:
        raise ValueError(f"{prepared.kernel.name}: thread {thread} makes no asynchronous copy")
    left = sorted(set(_issued(copying[-1], thread)))
    return CopyGroups(function_name(prepared.kernel.name), thread, tuple(_few(_merged(events))), tuple(left))


def _issued(step: reference.Executed, thread: int) -> list[int]:
    """The groups of a thread's copies that have not landed."""
    found = step.lanes.block.issued.get(thread)
    return [item.group for item in found.items if hasattr(item, "group")] if found else []


def _committed(step: reference.Executed, thread: int) -> int:
    found = step.lanes.block.issued.get(thread)
    return found.committed if found else 0


def _group_event(step: reference.Executed, pending: set[int], committed: int, thread: int) -> GroupEvent:
    words = step.instruction.modifiers
    if "commit_group" in words:
        return GroupEvent("commit", step.line, 1, committed)
    if "wait_group" in words or "wait_all" in words:
        left = step.instruction.operands[0].value if step.instruction.operands else 0
        landed = tuple(sorted(pending - set(_issued(step, thread))))
        return GroupEvent("wait", step.line, left, committed, landed)
    return GroupEvent("copy", step.line, 1, committed)


def _merged(events: list[GroupEvent]) -> list[GroupEvent]:
    """Copies that follow one another into one group count as one event."""
    found: list[GroupEvent] = []
    for event in events:
        before = found[-1] if found else None
        if before is not None and event.kind == "copy" == before.kind and event.group == before.group:
            found[-1] = GroupEvent("copy", before.line, before.count + 1, before.group)
        else:
            found.append(event)
    return found


def _few(events: list) -> list:
    if len(events) > MOST_EVENTS:
        raise ValueError(f"these are {len(events)} events: show a launch with fewer tiles")
    return events


_KINDS = {"init": "init", "arrive": "arrive", "arrive_drop": "arrive", "expect_tx": "expect"}


def barrier_phases(
    kernel: Any,
    grid: Grid,
    block: Dimensions | None,
    args: Sequence,
    block_index: Dimensions = 0,
    *,
    shared_bytes: int = 0,
    **meta: Any,
) -> BarrierPhases:
    """How the mbarriers of one block change, from their initialisation on.

    kernel, grid, block, args, block_index and `meta` as for `record`. Raises what a launch raises, and ValueError for
    more than 400 changes and for a block without an mbarrier.
    """
    raw: list[tuple[str, int, int | None, dict[int, BarrierState], tuple[int, ...]]] = []
    running: reference.Executed | None = None
    before_it: dict[int, BarrierState] = {}

    def before(step: reference.Executed | None) -> None:
        nonlocal running, before_it
        if running is not None:
            states = {
                offset: BarrierState(phase.number, phase.pending, phase.missing, phase.expected)
                for offset, phase in running.lanes.block.mbarriers.found.items()
            }
            changed = tuple(sorted(at for at, state in states.items() if state != before_it.get(at)))
            if changed:
                raw.append((_kind(running), running.warp, running.line, states, changed))
            before_it = states
        running = step

    prepared, grid, block = _observed(kernel, grid, block, args, block_index, shared_bytes, before, meta)
    if not raw:
        raise ValueError(f"{prepared.kernel.name}: no mbarrier is initialised in this block")
    offsets = sorted({offset for *_, states, _ in raw for offset in states})
    known = LaunchNames(prepared.kernel, grid, block, prepared.arrays)
    names = dict(zip(offsets, _names(known, offsets), strict=True))
    events = [
        BarrierEvent(
            kind, warp, line, {names[at]: states.get(at) for at in offsets}, tuple(names[at] for at in changed)
        )
        for kind, warp, line, states, changed in raw
    ]
    return BarrierPhases(function_name(prepared.kernel.name), tuple(names.values()), tuple(_few(events)))


def _kind(step: reference.Executed) -> str:
    words = step.instruction.modifiers
    if step.instruction.opcode != "mbarrier":
        return "land"
    return "expect" if "expect_tx" in words else _KINDS.get(words[0], "land")


def _names(known: LaunchNames, offsets: list[int]) -> list[str]:
    """The user's names of mbarriers, with an index where an array has several."""
    found = [known.element("shared", offset, 8) for offset in offsets]
    arrays = [name for name, _ in found]
    return [
        f"mbarrier at byte {offset}" if name is None else name if arrays.count(name) == 1 else f"{name}[{index}]"
        for offset, (name, index) in zip(offsets, found, strict=True)
    ]

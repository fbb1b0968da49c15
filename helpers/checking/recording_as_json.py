"""The recording of a replay as JSON and back: what is needed to order, time and blame it where it is judged.

Queues, events, graphs and kernels are what their numbers say; addresses stay as they were, since only their overlaps
matter. It is made where a program was replayed, never by whoever wrote the program.
"""

from __future__ import annotations

from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta, structs

from helpers.checking.kernel_as_json import MOST_PTX, squeezed, unsqueezed
from helpers.checking.stream_program import LONGEST
from helpers.checking.values_as_json import Count, Record, read, written
from vgpu.launch.counters import KEYS, Counters, Footprint
from vgpu.operations import Operation, Queue, Touch
from vgpu.tools.streams.recording import Timeline

if TYPE_CHECKING:  # mypy can't read a computed Literal
    Key = str
else:
    Key = Literal[KEYS]
_NUMBERED = ("queue", "kernel", "event", "graph")
_Positive = Annotated[int, Meta(ge=1, le=2**63 - 1)]


class NotARecording(ValueError):
    """What was read is no recording; the message says what is wrong."""


class Counts(Record, frozen=True):
    """The counters of a launch as a whole."""

    total: dict[Key, Count]
    footprint: Footprint
    grid: tuple[_Positive, _Positive, _Positive]
    block: tuple[_Positive, _Positive, _Positive]
    warps: int
    shared_bytes: int


class _Queue(Record, frozen=True):
    kind: Literal["stream", "legacy", "per-thread"]
    blocking: bool
    priority: Annotated[int, Meta(ge=-9, le=9)]


class _Kernel(Record, frozen=True):
    name: str
    entry: str
    ptx: Annotated[str, Meta(max_length=MOST_PTX)]


class _Operation(Record, frozen=True):
    kind: Literal[
        "kernel", "H2D", "D2H", "D2D", "memset", "array", "record", "wait", "synchronise", "graph",
        "host function", "host read", "host write",
    ]  # fmt: skip
    label: str
    nbytes: int
    pinned: bool | None
    asynchronous: bool
    waits: bool
    queue: int | None
    kernel: int | None
    counters: Counts | None
    event: int | None
    graph: int | None
    accesses: tuple[Touch, ...]
    nodes: tuple[tuple[object, tuple[int, ...]], ...]  # operations, and which of them each follows


class _Recording(Record, frozen=True):
    queues: tuple[_Queue, ...]
    kernels: tuple[_Kernel, ...]
    operations: tuple[object, ...]


# --- to data ----------------------------------------------------------------------------------------------------------


def as_data(timeline: Timeline) -> dict:
    """Texts, numbers and lists."""
    numbers: defaultdict[str, dict[int, int]] = defaultdict(dict)
    things: defaultdict[str, list] = defaultdict(list)  # by their numbers

    def number(table: str, thing: object) -> int | None:
        if thing is not None and id(thing) not in numbers[table]:
            numbers[table][id(thing)] = len(things[table])
            things[table].append(thing)
        return None if thing is None else numbers[table][id(thing)]

    def operation(each: Operation) -> _Operation:
        held = {name: getattr(each, name) for name in _Operation.__struct_fields__}
        return _Operation(**held | {
            "nbytes": int(each.nbytes),
            "counters": each.counters and counts_of(each.counters),
            **{table: number(table, held[table]) for table in _NUMBERED},
            "nodes": [(operation(node), follows) for node, follows in each.nodes],
        })  # fmt: skip

    operations = tuple(operation(each) for each in timeline.operations)  # fills the tables
    queues = (_Queue(queue.kind, queue.blocking, queue.priority) for queue in things["queue"])
    kernels = (_Kernel(kernel.name, kernel.entry, squeezed(kernel.ptx)) for kernel in things["kernel"])
    return written(_Recording(tuple(queues), tuple(kernels), operations))


def counts_of(counters: Counters) -> Counts:
    total = {key: count for key, count in counters.total.items() if count}
    warps, shared_bytes = int(counters.warps), int(counters.shared_bytes)
    return Counts(total, counters.footprint, counters.grid, counters.block, warps, shared_bytes)


# --- what comes from elsewhere ----------------------------------------------------------------------------------------


def timeline(data: object) -> Timeline:
    """The recording again, from data of unknown origin; raises NotARecording."""
    try:
        return Timeline(_Reader(read(data, _Recording, NotARecording)).operations)
    except (IndexError, ValueError) as error:
        raise NotARecording(str(error)) from None


class _Reader:
    def __init__(self, recording: _Recording):
        self._tables: dict[str, list | defaultdict[int, object]] = {
            "queue": [
                Queue(0x1000 + 16 * at, each.blocking, each.priority, each.kind)
                for at, each in enumerate(recording.queues)
            ],
            "kernel": [structs.replace(each, ptx=unsqueezed(each.ptx)) for each in recording.kernels],
            "event": defaultdict(object),
            "graph": defaultdict(object),
        }
        self._left = 2 * LONGEST  # with what a replay notes of itself
        self.operations = [self._operation(each) for each in recording.operations]

    def _operation(self, data: object, depth: int = 0) -> Operation:
        self._left -= 1
        if self._left < 0 or depth > 4:
            raise ValueError("it has too many operations, or graphs within graphs")
        each = read(data, _Operation, NotARecording)
        if any(number >= len(each.nodes) for _, follows in each.nodes for number in follows):
            raise ValueError("a step of a graph follows one that there is not")
        if not all(map(_is_sound, each.accesses)):
            raise ValueError("an access has as many ends as starts, none before its start")
        numbers = {name: getattr(each, name) for name in _NUMBERED}
        fields: dict[str, Any] = structs.asdict(each) | {
            "counters": each.counters and counters_of(each.counters),
            "nodes": tuple((self._operation(node, depth + 1), follows) for node, follows in each.nodes),
            **{name: None if at is None else self._tables[name][at] for name, at in numbers.items()},
        }  # fmt: skip
        return Operation(**fields)


def _is_sound(access: Touch) -> bool:
    starts, ends = access.starts, access.ends
    whole = starts.dtype == ends.dtype == np.uint64 and starts.shape == ends.shape == (starts.size,) != (0,)
    return whole and bool((starts <= ends).all()) and access.grain > 0


def counters_of(found: Counts) -> Counters:
    """The counters again, without those of single lines and warps."""
    total = MappingProxyType(dict.fromkeys(KEYS, 0) | found.total)
    rest = {name: getattr(found, name) for name in Counts.__struct_fields__[1:]}
    return Counters(lines=MappingProxyType({}), total=total, **rest)

"""A list of allocations, given to a modelled caching allocator step by step: what it holds after each.

    trace = [("alloc", "a", 8 * MIB), ("alloc", "b", 8 * MIB), ("free", "a"), ("empty_cache",)]
    found = replay(trace, capacity=40 * MIB, expandable_segments=True)
    found.failed, found.peak_allocated, found.peak_reserved, found.moments[2].largest_free

A trace is written by hand, or comes from a program that ran: `memory_line(program).trace`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

from helpers.results.torch.allocator_parts import MIB, Row
from helpers.results.torch.caching_allocator import CachingAllocator
from vgpu.tools.profile_table import text_table

ASKED = {"alloc": 3, "free": 2, "empty_cache": 1}
"""What a trace may ask for, and the length of its tuple."""


@dataclass(frozen=True)
class Moment:
    """What the allocator held after a step, in bytes, and which blocks its segments consisted of."""

    asked: tuple
    allocated: int
    reserved: int
    largest_free: int
    rows: tuple[Row, ...] = field(repr=False)

    @property
    def words(self) -> str:
        """The step as a program would say it."""
        action, *rest = self.asked
        if action == "alloc":
            return f"{rest[0]} = {rest[1] / MIB:.4g} MiB"
        return f"del {rest[0]}" if action == "free" else "empty_cache()"


@dataclass(frozen=True, repr=False)
class Replay(Sequence):
    """The moments of a replay, in order. `failed`: the message of the step that ran out of memory, which is the last.

    `allocator`: in the state in which it ended.
    """

    moments: tuple[Moment, ...]
    allocator: CachingAllocator = field(repr=False)
    failed: str = ""

    @overload
    def __getitem__(self, at: int) -> Moment: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Moment, ...]: ...

    def __getitem__(self, at: int | slice) -> Moment | tuple[Moment, ...]:
        return self.moments[at]

    def __len__(self) -> int:
        return len(self.moments)

    @cached_property
    def peak_allocated(self) -> int:
        return max(each.allocated for each in self.moments)

    @cached_property
    def peak_reserved(self) -> int:
        return max(each.reserved for each in self.moments)

    @property
    def driver_calls(self) -> int:
        """The number of calls that requested memory from the driver."""
        return self.allocator.counts["num_device_alloc"]

    def __repr__(self) -> str:
        rows = [
            ["at most allocated", f"{self.peak_allocated / MIB:,.2f} MiB"],
            ["at most reserved", f"{self.peak_reserved / MIB:,.2f} MiB"],
            ["calls to the driver", f"{self.driver_calls:,}"],
        ]
        end = f"out of memory at step {len(self)}: {self.failed}" if self.failed else f"all {len(self)} steps done"
        return "\n".join([*text_table(["replayed (modelled)", ""], rows, left=0), end])


def replay(trace: Iterable[tuple], capacity: int | None = None, **settings: Any) -> Replay:
    """Give a trace to a fresh `CachingAllocator`; it ends at the first step that runs out of memory.

    trace: ("alloc", name, nbytes), ("free", name) or ("empty_cache",), in order. capacity in bytes; settings by
    PyTorch's names. Raises ValueError for a step that is none of these, and for an empty trace.
    """
    import torch

    allocator, moments, failed = CachingAllocator(capacity, **settings), [], ""
    does: dict[str, Callable[..., None]] = {
        "alloc": allocator.allocate,
        "free": allocator.free,
        "empty_cache": allocator.empty_cache,
    }
    for number, asked in enumerate(map(tuple, trace)):
        if not asked or len(asked) != ASKED.get(asked[0]):
            raise ValueError(
                f"step {number} is {asked!r}; a step is ('alloc', name, nbytes), ('free', name) or ('empty_cache',)"
            )
        action, *rest = asked
        try:
            does[action](*rest)
        except torch.OutOfMemoryError as error:
            failed = str(error)
        moments.append(Moment(asked, allocator.allocated, allocator.reserved, allocator.largest_free, allocator.rows()))
        if failed:
            break
    if not moments:
        raise ValueError("the trace has no steps: there is nothing to replay")
    return Replay(tuple(moments), allocator, failed)


def stretched(traces: Mapping[int, Sequence[tuple]], batch: int) -> list[tuple]:
    """The trace of a program at another batch size, from its traces at two, by their batch sizes.

    Each block's bytes are taken to be a part that is fixed and a part for each member of the batch, as those of tensors
    are. Raises ValueError for other than two traces, and where they differ in more than the bytes of their blocks.
    """
    if len(traces) != 2:
        raise ValueError(f"give the traces of two batch sizes, such as {{2: …, 4: …}}; these are {len(traces)}")
    (small, one), (large, other) = sorted(traces.items())
    if [step[:2] for step in one] != [step[:2] for step in other]:
        raise ValueError(f"the traces at {small} and at {large} differ in more than sizes: no third follows from them")
    return [
        (*step[:2], step[2] + (wide[2] - step[2]) * (batch - small) // (large - small)) if step[0] == "alloc" else step
        for step, wide in zip(one, other, strict=True)
    ]

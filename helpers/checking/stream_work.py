"""Exercises whose answer is a Python function that asks for stream work: it is rehearsed and its recording judged.

The function gets host arrays in pinned memory, device arrays, kernels and numbers, and returns without waiting. Its
result counts once the device is done. The virtual GPU runs everything in the program's order, so a forgotten wait
shows in the recording alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from helpers.checking.exercise import Case, Out
from helpers.results.streams import recording
from helpers.results.streams.recording import Timeline
from helpers.vgpu.base.schedule import scheduled

GPU = "A100"
"""The GPU of modelled times in budgets, whichever is chosen: a limit must not move."""
_UNWRITTEN = 0xFF


@dataclass(frozen=True, eq=False)
class OnDevice:
    """An argument that is a device array: it holds `array`, or NaN where only a size is given."""

    array: np.ndarray | int


@dataclass(frozen=True, eq=False)
class Pageable:
    """An argument that is an ordinary array of the host, not in pinned memory."""

    array: np.ndarray


@dataclass(frozen=True, eq=False)
class OutOnDevice(Out):
    """An output in device memory; an `Out` is in pinned memory of the host."""


@dataclass(frozen=True)
class Unordered:
    """A hazard with the names that `check` and the families know of the sanitizer's findings."""

    kind: str
    title: str
    what: str
    cure: str
    line: None = None
    source: str = ""
    other_line: None = None
    other_source: str = ""
    space: str = "streams"


class Issued(ABC):
    """Stream work that was asked for already."""

    @abstractmethod
    def issue(self) -> tuple[np.ndarray, Timeline]:
        """What `issue(answer, case)` would give."""


def issue(answer, case: Case) -> tuple[np.ndarray, Timeline]:
    """The first output after the device is done, and the recording of all that the function asked for.

    Kernels run block after block, so that a race among blocks gives one result, by which a mistake is known again.
    """
    if isinstance(answer, Issued):
        return answer.issue()
    from helpers.vgpu.standins import cupy as cp

    _abandon_captures()
    try:
        arguments, outputs = _place(case)
        with scheduled("sequential"):
            timeline = recording.rehearse(answer, *arguments)
        cp.cuda.Device().synchronize()
        return np.array(outputs[0].get() if isinstance(outputs[0], cp.ndarray) else outputs[0]), timeline
    finally:
        _abandon_captures()


def _abandon_captures() -> None:
    """Give up captures that an answer began and never ended: the next answer is not to blame for them."""
    from helpers.vgpu import operations
    from helpers.vgpu.operations import graphs

    for capture in list(operations.capturing):
        graphs.abandon(capture.origin)


def unordered(timeline: Timeline) -> tuple[Unordered, ...]:
    """The hazards of a recording."""
    found = []
    for hazard in timeline.hazards():
        what = str(hazard).removesuffix(hazard.advice).strip()
        found.append(Unordered(hazard.kind, what.split(" touch the same ")[0], what, hazard.advice))
    return tuple(found)


def waits(timeline: Timeline) -> int:
    """How often the host waits."""
    return sum(operation.waits for operation in timeline.operations)


def microseconds(timeline: Timeline) -> float:
    """The modelled time on `GPU`."""
    return 1e6 * timeline.schedule(GPU).seconds


def of(timeline: Timeline, kind: str) -> list:
    """The recorded operations of one kind, such as "kernel" or "graph"."""
    return [operation for operation in timeline.operations if operation.kind == kind]


def _place(case: Case) -> tuple[list, list]:
    arguments, outputs = [], []
    for argument in case.arguments:
        if isinstance(argument, Out):
            held = np.empty_like(argument.expected)
            held.view(np.uint8).fill(_UNWRITTEN)
            if argument.initial is not None:
                held[...] = argument.initial
            outputs.append(_device(held) if isinstance(argument, OutOnDevice) else _pinned(held))
            arguments.append(outputs[-1])
        elif isinstance(argument, OnDevice):
            blank = isinstance(argument.array, int)
            arguments.append(_device(np.full(argument.array, np.nan, np.float32) if blank else argument.array))
        elif isinstance(argument, Pageable):
            arguments.append(argument.array.copy())
        else:
            arguments.append(_pinned(argument) if isinstance(argument, np.ndarray) else argument)
    return arguments, outputs


def _device(array: np.ndarray):
    from helpers.vgpu.standins import cupy as cp

    return cp.asarray(array)


def _pinned(array: np.ndarray) -> np.ndarray:
    """A copy in pinned memory that notes when the host looks at it."""
    from helpers.vgpu.standins import numba_cuda as cuda

    held = cuda.pinned_array_like(array)
    held[...] = array
    return held


def timelines(evidence) -> list:
    """The recordings of all cases that have one."""
    return [outcome.timeline for outcome in evidence.outcomes if outcome.timeline is not None]


def some(test):
    """Whether any recording passes the test."""
    return lambda evidence: any(map(test, timelines(evidence)))


def graphs(timeline) -> int:
    """How many graphs were launched, each counted once."""
    return len({id(each.graph) for each in of(timeline, "graph")})

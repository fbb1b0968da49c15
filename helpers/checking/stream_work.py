"""Exercises whose answer is a Python function that issues stream work: it is written down, then replayed and judged.

The function gets host arrays in pinned memory, device arrays, kernels and numbers, and returns without waiting. Its
arrays have the shapes and types of a case, and other values. What it issues becomes a program, and the program is
executed on the arrays of the case: that run gives the result, once the device is done, and the recording that is
judged. So nothing that the host computes itself is part of the result. The virtual GPU runs everything in the program's
order, so a forgotten wait shows in the recording alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from helpers.checking import stream_program, stream_replay
from helpers.checking.exercise import Case, Out
from vgpu import operations
from vgpu.base.schedule import scheduled
from vgpu.operations import Operation
from vgpu.tools.streams import recording
from vgpu.tools.streams.recording import Timeline

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


@dataclass(frozen=True, eq=False)
class OutOfHost(Out):
    """An output in pinned memory that the host finishes itself. What the host calculates is part of no program, so the
    answer gets the case's own values: it can be checked where it was written, and not graded elsewhere."""


@dataclass(frozen=True)
class Unordered:
    """A hazard with the names that `check` and the families know of the sanitizer's findings."""

    kind: str
    title: str
    what: str
    fix: str
    line: None = None
    source: str = ""
    other_line: None = None
    other_source: str = ""
    space: str = "streams"


class Issued(ABC):
    """Stream work that was issued elsewhere, case by case."""

    @abstractmethod
    def issue(self, case: Case) -> tuple[np.ndarray, Timeline]:
        """What `issue(answer, case)` would give."""


def issue(answer: Any, case: Case) -> tuple[np.ndarray, Timeline]:
    """The first output after the device is done, and the recording of all that the function issued."""
    if isinstance(answer, Issued):
        return answer.issue(case)
    arguments = case.arguments
    if not isinstance(case.out, OutOfHost):
        arguments = tuple(decoy(each, at) for at, each in enumerate(arguments))
    return replayed(program(answer, arguments), case)


def program(answer: Any, arguments: tuple) -> dict:
    """What a function issues with these arguments of a case, as `stream_program` writes it."""
    _abandon_captures()
    try:
        placed, outputs = _place(arguments)
        written = stream_program.Written(placed)
        answer, given, _ = recording.on_virtual_gpu(answer, tuple(placed), {})
        with scheduled("sequential"), operations.listening(written):
            answer(*given)
        return written.program([each for each in outputs if isinstance(each, np.ndarray)])
    finally:
        _abandon_captures()


def replayed(written: object, case: Case) -> tuple[np.ndarray, Timeline]:
    """What a program comes to with the arrays of a case; raises `NotAProgram`, and what its launches do."""
    placed, outputs = _place(case.arguments)
    return stream_replay.replay(written, placed, outputs[0])


def decoy(argument: object, number: int) -> object:
    """An argument of the same kind, shape and type with other values; what is no array stays."""
    if isinstance(argument, Out):
        return replace(argument, initial=_other(argument.initial, number))
    if isinstance(argument, OnDevice | Pageable):
        return replace(argument, array=_other(argument.array, number))
    return _other(argument, number)


def _other(array: object, number: int) -> Any:
    return drawn(*drawn_as(array), number) if isinstance(array, np.ndarray) else array


def drawn_as(array: np.ndarray) -> tuple[str, list[int], float | None, float | None]:
    """What `drawn` needs of an array: its type and shape, the least and the greatest value; None where all is NaN."""
    if array.dtype.kind == "f" and np.isnan(array).all():
        return array.dtype.str, list(array.shape), None, None
    return array.dtype.str, list(array.shape), np.nanmin(array).item(), np.nanmax(array).item()


def drawn(dtype: str, shape: list[int], least: float | None, greatest: float | None, number: int) -> np.ndarray:
    """Values between two others, whole where the type is; or NaN. No fraction is one that programs have as a constant:
    the last bit of each is set."""
    kind, dice = np.dtype(dtype), np.random.default_rng(number)
    if least is None or greatest is None:
        return np.full(shape, np.nan, kind)
    if kind.kind != "f":
        return dice.integers(int(least), int(greatest), shape, endpoint=True).astype(kind)
    bits = dice.uniform(least, greatest if greatest > least else least + 1, shape).astype(kind)
    return (bits.view(f"u{kind.itemsize}") | 1).view(kind)


def _abandon_captures() -> None:
    """Give up captures that an answer began and never ended: the next answer is not to blame for them."""
    from vgpu.operations import graphs

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


def of(timeline: Timeline, kind: str) -> list[Operation]:
    """The recorded operations of one kind, such as "kernel" or "graph"."""
    return [operation for operation in timeline.operations if operation.kind == kind]


def _place(case_arguments: tuple) -> tuple[list, list]:
    arguments, outputs = [], []
    for argument in case_arguments:
        if isinstance(argument, Out):
            held = np.empty_like(argument.expected)
            held.view(np.uint8).fill(_UNWRITTEN)
            if argument.initial is not None:
                held[...] = argument.initial
            outputs.append(_device(held) if isinstance(argument, OutOnDevice) else _pinned(held))
            arguments.append(outputs[-1])
        elif isinstance(argument, OnDevice):
            given = argument.array
            arguments.append(_device(np.full(given, np.nan, np.float32) if isinstance(given, int) else given))
        elif isinstance(argument, Pageable):
            arguments.append(argument.array.copy())
        else:
            arguments.append(_pinned(argument) if isinstance(argument, np.ndarray) else argument)
    return arguments, outputs


def _device(array: np.ndarray) -> Any:
    from vgpu.standins import cupy as cp

    return cp.asarray(array)


def _pinned(array: np.ndarray) -> np.ndarray:
    """A copy in pinned memory that notes when the host looks at it."""
    from vgpu.standins import numba_cuda as cuda

    held = cuda.pinned_array_like(array)
    held[...] = array
    return held


def graphs(timeline: Timeline) -> int:
    """How many graphs were launched, each counted once."""
    return len({id(each.graph) for each in of(timeline, "graph")})

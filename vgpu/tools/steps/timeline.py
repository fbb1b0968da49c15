"""A recording as a debugger goes through it: one moment per source line (or instruction), with the state after it.

`Moments(recording)` computes everything once, so that any moment can be shown immediately, forwards and backwards.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vgpu.tools.steps.recording import LANES, Held, MemoryAccess, Recording, Step, Written

GRAINS = ("line", "instruction")


@dataclass(frozen=True, repr=False)
class Moment:
    """Consecutive steps of one warp on one line by the same lanes; `number` counts moments from 0.

    `steps` are the recording's. `active`: the lanes of `mask` that executed at least one of them. `variables` and
    `registers` are the warp's values afterwards, `changed` the names of both that got a value here.
    """

    number: int
    steps: tuple[Step, ...]
    line: int | None
    active: tuple[bool, ...]
    variables: Mapping[str, Written] = field(compare=False)
    registers: Mapping[str, Written] = field(compare=False)
    changed: frozenset[str] = field(compare=False)

    @property
    def warp(self) -> int:
        return self.steps[0].warp

    @property
    def mask(self) -> tuple[bool, ...]:
        return self.steps[0].mask

    @property
    def last(self) -> Step:
        return self.steps[-1]

    @property
    def is_barrier(self) -> bool:
        """Whether the lanes come to a barrier here, of the block or of the warp."""
        return any(opcode(step).startswith(("bar.", "barrier.")) for step in self.steps)

    @property
    def touched(self) -> tuple[MemoryAccess, ...]:
        return tuple(each for step in self.steps for each in step.touched)

    def __repr__(self) -> str:
        return f"<moment {self.number}: warp {self.warp}, line {self.line}, {sum(self.active)} lanes active>"


def opcode(step: Step) -> str:
    """An instruction's name with its modifiers, such as "ld.global.f32", without its guard and operands."""
    found = re.match(r"(?:@!?\S+\s+)?([\w.:]+)", step.instruction)
    return found[1] if found else ""


class Moments:
    """The moments of one warp of a recording, or of all its warps in the order in which they ran.

    `standing` has for each moment the lines at which the lanes continue.
    """

    def __init__(self, recording: Recording, *, warp: int | None = None, by: str = "line"):
        if by not in GRAINS:
            raise ValueError(f"by is one of {', '.join(GRAINS)}, not {by!r}")
        self.recording, self.warp, self.by = recording, warp, by
        self.moments: tuple[Moment, ...] = tuple(self._moments())
        self.standing = self._standing()
        self._ends = [moment.last.number for moment in self.moments]

    def __len__(self) -> int:
        return len(self.moments)

    @cached_property
    def most_variables(self) -> int:
        """The largest number of variables that are known at one moment."""
        return max((len(moment.variables) for moment in self.moments), default=0)

    def at(self, step: int) -> int:
        """The number of the moment that contains a step of the recording, or of the last one before it."""
        found = bisect_right(self._ends, step)
        inside = found < len(self) and self.moments[found].steps[0].number <= step
        return max(0, found if inside else found - 1)

    # -- the next moments: their numbers, or None where there is none

    def next_line(self, number: int) -> int | None:
        """The next moment of the same warp on another line."""
        here = self.moments[number]
        return self._next(number, lambda moment: moment.warp == here.warp and moment.line != here.line)

    def next_mask(self, number: int) -> int | None:
        """The next moment of the same warp in which other lanes are together."""
        here = self.moments[number]
        return self._next(number, lambda moment: moment.warp == here.warp and moment.mask != here.mask)

    def next_barrier(self, number: int) -> int | None:
        """The next moment at a barrier."""
        return self._next(number, lambda moment: moment.is_barrier)

    def _next(self, number: int, wanted: Callable[[Moment], bool]) -> int | None:
        return next((moment.number for moment in self.moments[number + 1 :] if wanted(moment)), None)

    def _standing(self) -> list[tuple[int | None, ...]]:
        """For each moment the line of the moment at which each lane continues; None: it has ended."""
        found: list[tuple[int | None, ...]] = []
        ahead: dict[int, list[int | None]] = {}
        for moment in reversed(self.moments):
            lines = ahead.setdefault(moment.warp, [None] * LANES)
            at = zip(lines, moment.last.standing, strict=True)
            found.append(tuple(None if stands is None else stands if line is None else line for line, stands in at))
            ahead[moment.warp] = [moment.line if on else line for on, line in zip(moment.mask, lines, strict=True)]
        return found[::-1]

    # -- making the moments

    def _moments(self) -> Iterator[Moment]:
        known: dict[int, tuple[dict[str, Written], dict[str, Written]]] = {}
        steps = [step for step in self.recording.steps if self.warp in (None, step.warp)]
        for number, (group, line) in enumerate(self._groups(steps)):
            variables, registers = known.get(group[0].warp, ({}, {}))
            variables, registers, changed = dict(variables), dict(registers), set[str]()
            active = np.zeros(LANES, bool)
            for step in group:
                active |= step.mask if opcode(step).startswith("bra") else step.active
                for name in step.forgotten:
                    variables.pop(name, None)
                for written in step.written:
                    registers[written.register] = _merged(registers.get(written.register), written)
                    changed.add(written.register)
                    if written.name is not None:
                        variables[written.name] = _merged(variables.get(written.name), written)
                        changed.add(written.name)
            known[group[0].warp] = variables, registers
            yield Moment(number, tuple(group), line, tuple(active.tolist()), variables, registers, frozenset(changed))

    def _groups(self, steps: list[Step]) -> Iterator[tuple[list[Step], int | None]]:
        lines = _lines(steps) if self.by == "line" else [step.line for step in steps]
        group: list[Step] = []
        at: int | None = None
        for step, line in zip(steps, lines, strict=True):
            together = (
                group and self.by == "line" and (step.warp, step.mask, line) == (group[0].warp, group[0].mask, at)
            )
            if group and not together:
                yield group, at
                group = []
            group.append(step)
            at = line
        if group:
            yield group, at


def _lines(steps: list[Step]) -> list[int | None]:
    """Each step's line; address conversions, whose line means little, take the next step's."""
    lines = [step.line for step in steps]
    for at in range(len(steps) - 2, -1, -1):
        step, after = steps[at], steps[at + 1]
        if opcode(step).startswith("cvta") and (step.warp, step.mask) == (after.warp, after.mask):
            lines[at] = lines[at + 1]
    return lines


def _merged(before: Written | None, now: Written) -> Written:
    """A register's values after a step: lanes that it didn't write keep theirs."""
    if before is None or before.type != now.type:
        return now
    values = tuple(old if new is None else new for old, new in zip(before.values, now.values, strict=True))
    return Written(now.register, now.type, values, now.name)


@dataclass(frozen=True)
class Contents:
    """An array's elements after a step, as far as the block touched it: `values[k]` is element `first + k`.

    For the requested steps, `before` has the earlier values of the elements that they wrote, `read` the elements that
    they loaded.
    """

    held: Held
    first: int
    values: np.ndarray
    before: Mapping[int, object]
    read: frozenset[int]


class MemoryThen:
    """The arrays of a recording at any of its steps; elements whose value isn't known yet are None."""

    def __init__(self, recording: Recording):
        self.arrays = recording.held
        self._size = {held.name: np.dtype(held.dtype).itemsize for held in self.arrays if held.dtype}
        events: dict[str, list[tuple[int, int, object, bool]]] = {held.name: [] for held in self.arrays}
        for step in recording.steps:
            for touched in step.touched:
                for held in self.arrays:
                    events[held.name] += self._seen(held, step.number, touched)
        untyped = {held.name for held in self.arrays if held.dtype is None}
        self._events = {
            name: _ElementEvents(_typed(found, self._size.get(name, 4)) if name in untyped else found)
            for name, found in events.items()
        }
        self._start = {held.name: self._initial(held) for held in self.arrays}

    def __getitem__(self, name: str) -> Held:
        return next(held for held in self.arrays if held.name == name)

    def last_touched(self, step: int) -> str | None:
        """The array that was touched last, up to a step; None where none was."""
        found = [(events.steps[at - 1], name) for name, events in self._events.items() if (at := events.until(step))]
        return max(found)[1] if found else None

    def last_elements(self, name: str, step: int) -> list[int]:
        """The elements that the last access up to a step touched."""
        events = self._events[name]
        end = events.until(step)
        return events.elements[bisect_left(events.steps, events.steps[end - 1]) : end].tolist() if end else []

    def after(self, name: str, first_step: int, last_step: int) -> Contents:
        """An array after `last_step`, and the accesses of the steps from `first_step` on."""
        first, events = self._start[name][0], self._events[name]
        values, earlier = self._at(name, last_step), self._at(name, first_step - 1)
        before: dict[int, object] = {}
        read: set[int] = set()
        for at in range(events.until(first_step - 1), events.until(last_step)):
            element = int(events.elements[at])
            if events.loads[at]:
                read.add(element)
            else:
                before[element] = earlier[element - first] if 0 <= element - first < len(earlier) else None
        return Contents(self[name], first, values, before, frozenset(read))

    def _at(self, name: str, step: int) -> np.ndarray:
        (first, values), events = self._start[name], self._events[name]
        end, values = events.until(step), values.copy()
        indices = events.elements[:end] - first
        inside = (indices >= 0) & (indices < len(values))
        values[indices[inside]] = events.values[:end][inside]  # in order: of several the last stays
        return values

    def _seen(self, held: Held, step: int, touched: MemoryAccess) -> Iterator[tuple[int, int, object, bool]]:
        """The accesses to an array's elements: (step, element, its value then, whether it is a load)."""
        access = touched.access
        if held.space != access.space or (held.space == "global" and held.name != access.array):
            return
        for lane, on in enumerate(access.lanes):
            offset = access.addresses[lane] - held.start
            if not on or offset < 0 or (held.space == "shared" and offset >= held.shape[0]):
                continue
            after = touched.after[lane]
            found: tuple = after if isinstance(after, tuple) else (after,)
            size = self._size.setdefault(held.name, access.nbytes // len(found))
            if access.nbytes != size * len(found):  # another size than the array's: the values aren't known
                found = (None,) * max(1, access.nbytes // size)
            for number, value in enumerate(found):
                yield step, offset // size + number, value, access.op == "load"

    def _initial(self, held: Held) -> tuple[int, np.ndarray]:
        size = self._size.get(held.name, 4)
        if held.dtype is None:
            return 0, np.full(held.shape[0] // size, None, object)
        skip = -held.first % size
        count = (len(held.data) - skip) // size
        known = np.frombuffer(held.data, held.dtype, count=max(0, count), offset=skip if count > 0 else 0)
        return (held.first + skip) // size, _objects(known.tolist())


class _ElementEvents:
    """The accesses to the elements of one array, in order, as columns."""

    def __init__(self, found: list[tuple[int, int, object, bool]]):
        self.steps = [event[0] for event in found]
        self.elements = np.array([event[1] for event in found], np.int64)
        self.values = _objects([event[2] for event in found])
        self.loads = [event[3] for event in found]

    def until(self, step: int) -> int:
        """How many of them happen before the end of a step."""
        return bisect_right(self.steps, step)


def _typed(found: list[tuple], size: int) -> list[tuple]:
    """The events, with bits as floats for elements that are ever a float: shared memory is untyped."""
    floats = {element for _, element, value, _ in found if isinstance(value, float)}
    if not floats or size not in (4, 8):
        return found
    return [
        (step, element, as_float(value, size) if type(value) is int and element in floats else value, load)
        for step, element, value, load in found
    ]


def as_float(bits: int, size: int) -> float:
    """The float of `size` bytes with these bits."""
    return np.array(bits & (1 << 8 * size) - 1, f"u{size}").view(f"f{size}").item()


def _objects(values: list) -> np.ndarray:
    found = np.empty(len(values), object)
    found[:] = values
    return found

"""What a recording of a block is made of: steps, registers, memory, and the way through them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from helpers.vgpu.trace import Access

LANES = 32


@dataclass(frozen=True, repr=False)
class At:
    """An address: so many bytes into an array, a variable, or the block's "shared" or the thread's "local" memory."""

    home: str
    offset: int

    def __repr__(self) -> str:
        return f"{self.home}+{self.offset}"


@dataclass(frozen=True)
class Written:
    """A register after a step: 32 values, None in the lanes that the step left alone.

    `type` is a PTX type ("s32", "f32", "pred" …); addresses are `At`s. `name` is the learner's name for the value where
    that is certain: a variable, an argument or a special register; it is None otherwise.
    """

    register: str
    type: str
    values: tuple
    name: str | None = None


@dataclass(frozen=True)
class Touched:
    """An access to memory with what lay there before and after it, one value a lane (None in the others).

    Several values that a lane moves at once (a vector) are a tuple. `access` has space, array, lanes and addresses.
    """

    access: Access
    before: tuple
    after: tuple


@dataclass(frozen=True)
class Step:
    """One instruction, executed by the lanes of one warp that stood at it.

    `number` counts the steps of the recording from 0. `mask` has the lanes that came together to this instruction,
    `active` those of them whose guard let them execute it. `waiting` and `done` say of each lane of the warp whether
    it waits at a barrier or has ended after the step, `standing` at which line it stands then (None: ended). Of the
    names in `forgotten` the line before may have changed the value without a trace: it is not known from here on.
    """

    number: int
    warp: int
    line: int | None
    source: str
    instruction: str
    mask: tuple[bool, ...]
    active: tuple[bool, ...]
    waiting: tuple[bool, ...]
    done: tuple[bool, ...]
    standing: tuple[int | None, ...]
    written: tuple[Written, ...]
    touched: tuple[Touched, ...]
    forgotten: tuple[str, ...] = ()


@dataclass(frozen=True)
class Named:
    """A variable's values as they were last seen to be set: in which step, and what (None: not in that lane)."""

    name: str
    values: tuple
    since: int


@dataclass(frozen=True, repr=False)
class Recording:
    """All steps of one block, in the order in which they ran; `steps[number]` goes both ways."""

    kernel: str
    language: str
    block_index: tuple[int, int, int]
    block: tuple[int, int, int]
    steps: tuple[Step, ...]
    source: dict[int, str] = field(compare=False)

    @property
    def warps(self) -> int:
        """How many warps the block has."""
        return -(-int(np.prod(self.block)) // LANES)

    def of(self, warp: int) -> tuple[Step, ...]:
        """The steps of one warp."""
        return tuple(step for step in self.steps if step.warp == warp)

    def at_line(self, line: int, warp: int | None = None) -> tuple[Step, ...]:
        """The steps on one line, of all warps or of one."""
        return tuple(step for step in self.steps if step.line == line and warp in (None, step.warp))

    def next_line(self, number: int) -> Step | None:
        """The first later step of the same warp that is on another line; None at the end."""
        here = self.steps[number]
        later = self.steps[here.number + 1 :]
        return next((step for step in later if step.warp == here.warp and step.line != here.line), None)

    def previous_line(self, number: int) -> Step | None:
        """The first step of the line on which the same warp was before this one; None at the start."""
        here, found = self.steps[number], None
        for step in reversed(self.steps[: here.number]):
            if step.warp != here.warp:
                continue
            if found is not None and step.line != found.line:
                break
            if found is not None or step.line != here.line:
                found = step
        return found

    def registers(self, number: int, warp: int | None = None) -> dict[str, Written]:
        """Every register of a warp (that of the step, else) after a step, with the lanes that were ever written."""
        return {
            key: value for key, (value, _) in self._gathered(number, warp, lambda written: written.register).items()
        }

    def values(self, number: int, warp: int | None = None) -> dict[str, Named]:
        """The variables of a warp after a step, by name, as far as they are certain, each as it was last seen set."""
        found = self._gathered(number, warp, lambda written: written.name)
        return {name: Named(name, written.values, since) for name, (written, since) in found.items()}

    def _gathered(self, number: int, warp: int | None, key) -> dict[str, tuple[Written, int]]:
        last = self.steps[number]
        warp = last.warp if warp is None else warp
        found: dict[str, tuple[Written, int]] = {}
        for step in self.steps[: last.number + 1]:
            if step.warp != warp:
                continue
            for name in step.forgotten:
                found.pop(name, None)
            for written in step.written:
                name = key(written)
                if name is None:
                    continue
                values = written.values
                if name in found and found[name][0].type == written.type:
                    pairs = zip(values, found[name][0].values, strict=True)
                    values = tuple(old if new is None else new for new, old in pairs)
                found[name] = Written(written.register, written.type, values, written.name), step.number
        return found

    def __repr__(self) -> str:
        return f"Recording of {self.kernel}, block {self.block_index}: {len(self.steps)} steps of {self.warps} warps"

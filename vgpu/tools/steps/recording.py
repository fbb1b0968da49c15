"""The recording of a block: its steps with registers and memory, and how to go through them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from vgpu.tools.source_cells import in_box, source_code

if TYPE_CHECKING:
    from vgpu.tools.steps.trace import Access

LANES = 32
MOST_SHOWN = 24  # steps of a representation


@dataclass(frozen=True, repr=False)
class At:
    """An address: an offset in bytes into an array, a variable, or the memory named "shared" or "local"."""

    home: str
    offset: int

    def __repr__(self) -> str:
        return f"{self.home}+{self.offset}"


def brief(values: tuple, most: int = 8) -> str:
    """One value per lane as short text: a dot for None, one value for all where they are equal."""
    given = [value for value in values if value is not None]
    if given and len(given) == len(values) and all(value == given[0] for value in given):
        return f"{_short(given[0])} in all lanes"
    shown = " ".join("·" if value is None else _short(value) for value in values[:most])
    return shown + (" …" if len(values) > most else "")


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, repr=False)
class Written:
    """A register after a step: 32 values, None in the lanes that the step left alone.

    `type` is a PTX type ("s32", "f32", "pred" …); addresses are `At`s. `name` is the user's name for the value where
    that is certain: a variable, an argument or a special register; it is None otherwise.
    """

    register: str
    type: str
    values: tuple
    name: str | None = None

    def __repr__(self) -> str:
        name = "" if self.name is None else f" (`{self.name}`)"
        return f"{self.register} {self.type}{name} = {brief(self.values)}"


@dataclass(frozen=True, repr=False)
class MemoryAccess:
    """An access to memory with the values before and after it, one per lane (None in lanes that take no part).

    A vector access has a tuple per lane. `access` has space, array, lanes and addresses.
    """

    access: Access
    before: tuple
    after: tuple

    def __repr__(self) -> str:
        return f"{self.access!r}: {brief(self.after)}"


@dataclass(frozen=True, repr=False)
class Step:
    """One instruction, executed by the lanes of one warp that are at it.

    `number` counts the steps of the recording from 0. `mask` has the lanes that reached this instruction together,
    `active` those whose guard let them execute it. For each lane of the warp after the step: `waiting` (at a barrier),
    `done` (it has ended), `standing` (its line, None: ended). The values of the names in `forgotten` aren't known from
    here on: the line before may have changed them without a trace.
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
    touched: tuple[MemoryAccess, ...]
    forgotten: tuple[str, ...] = ()

    @property
    def lanes(self) -> str:
        """The 32 lanes as text: # executes the instruction, o came with them but is held back, . is elsewhere."""
        return "".join("#" if on else "o" if here else "." for on, here in zip(self.active, self.mask, strict=True))

    def __repr__(self) -> str:
        line = "no line" if self.line is None else f"line {self.line}: {self.source}"
        instruction = " ".join(self.instruction.split())
        rows = [f"Step {self.number}, warp {self.warp}, {line}", f"  {self.lanes}  {instruction}"]
        rows += [f"  {written!r}" for written in self.written]
        rows += [f"  {touched!r}" for touched in self.touched]
        return "\n".join(rows)


@dataclass(frozen=True, repr=False)
class Named:
    """A variable's values, one per lane (None: not set in that lane), and the step that set them last."""

    name: str
    values: tuple
    since: int

    def __repr__(self) -> str:
        return f"{self.name} = {brief(self.values)} (since step {self.since})"


@dataclass(frozen=True)
class Held:
    """An array's contents before the block ran: `data`, from byte `first` on, as far as the block touches it.

    `start` is the address of its first byte as accesses count. A shared array has no dtype and no data; its shape is in
    bytes.
    """

    space: str
    name: str
    dtype: str | None
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int
    first: int
    data: bytes = field(repr=False)


@dataclass(frozen=True, repr=False)
class Recording:
    """All steps of one block, in the order in which they ran; `steps[number]` goes both ways.

    `source` has the lines with steps, `listing` all lines of the kernel; `held` the contents of arrays before;
    `stopped` the error that ended a partial recording, where one did.
    """

    kernel: str
    language: str
    block_index: tuple[int, int, int]
    block: tuple[int, int, int]
    steps: tuple[Step, ...]
    source: dict[int, str] = field(compare=False)
    listing: dict[int, str] = field(compare=False, default_factory=dict)
    held: tuple[Held, ...] = ()
    stopped: Exception | None = field(compare=False, default=None)

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
        """The first step of the same warp's stay on the line before this one; None at the start."""
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
        """The registers of a warp (the step's, by default) after a step; None in lanes that were never written."""
        return {
            key: value for key, (value, _) in self._gathered(number, warp, lambda written: written.register).items()
        }

    def values(self, number: int, warp: int | None = None) -> dict[str, Named]:
        """The variables of a warp after a step by name, as far as they are certain, each with its last value."""
        found = self._gathered(number, warp, lambda written: written.name)
        return {name: Named(name, written.values, since) for name, (written, since) in found.items()}

    def _gathered(
        self, number: int, warp: int | None, key: Callable[[Written], str | None]
    ) -> dict[str, tuple[Written, int]]:
        last = self.steps[number]
        warp = last.warp if warp is None else warp
        found: dict[str, tuple[Written, int]] = {}
        for step in self.steps[: last.number + 1]:
            if step.warp != warp:
                continue
            for forgotten in step.forgotten:
                found.pop(forgotten, None)
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

    @property
    def runs(self) -> tuple[tuple[Step, int], ...]:
        """Consecutive steps of one warp, on one line and with the same active lanes, as (the first, how many)."""
        found: list[tuple[Step, int]] = []
        for step in self.steps:
            first, count = found[-1] if found else (None, 0)
            if first and (first.warp, first.line, first.active) == (step.warp, step.line, step.active):
                found[-1] = first, count + 1
            else:
                found.append((step, 1))
        return tuple(found)

    @property
    def title(self) -> str:
        warps = "1 warp" if self.warps == 1 else f"{self.warps} warps"
        return f"Recording of {self.kernel}, block {self.block_index}: {len(self.steps):,} steps of {warps}"

    def __repr__(self) -> str:
        runs = self.runs
        rows = [
            f"  {_span(step, count):>11}  warp {step.warp}  {step.lanes}  {step.line or '':>4}  {step.source}"
            for step, count in runs[:MOST_SHOWN]
        ]
        more = sum(count for _, count in runs[MOST_SHOWN:])
        rows += [f"  … and {more:,} steps more: `.steps[number]`, `.at_line(line)`, `.of(warp)`"] if more else []
        return "\n".join([self.title, *rows])

    def _repr_html_(self) -> str:
        cell = "padding:0.1em 0.6em;text-align:left"
        code = "white-space:pre;background:transparent;color:inherit"
        head = "".join(
            f'<th scope="col" style="{cell}">{name}</th>'
            for name in ("steps", "warp", "lanes 0 to 31", "line", "source")
        )
        rows = "".join(
            f'<tr><td style="{cell}">{_span(step, count)}</td><td style="{cell}">{step.warp}</td>'
            f'<td style="{cell}"><code style="{code}">{step.lanes}</code></td>'
            f'<td style="{cell}">{step.line or ""}</td>'
            f'<td style="{cell}">{source_code(step.source)}</td></tr>'
            for step, count in self.runs[:MOST_SHOWN]
        )
        more = sum(count for _, count in self.runs[MOST_SHOWN:])
        note = f"; {more:,} steps more are not listed" if more else ""
        return in_box(
            '<table style="border-collapse:collapse;color:inherit;background:transparent">'
            f'<caption style="text-align:left;color:inherit">{escape(self.title)} (# executes, o is held back by a '
            f"guard, . is elsewhere){note}.</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


def _span(step: Step, count: int) -> str:
    return str(step.number) if count == 1 else f"{step.number} to {step.number + count - 1}"

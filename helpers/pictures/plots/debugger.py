"""One moment of a block in a debugger of warps: lanes, variables, source and memory on one card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from helpers.pictures.figures import PALETTE, Drawing
from helpers.pictures.plots.common import WARP
from helpers.pictures.plots.ink import GREY, INK, PALE, Ink
from helpers.pictures.plots.short_values import exact, fitted, same, short, tiny
from vgpu.base.errors import KernelError
from vgpu.base.words import plural
from vgpu.tools.steps.recording import At, Held, Recording, Written
from vgpu.tools.steps.timeline import Contents, MemoryThen, Moment, Moments, opcode

WIDTH, HEIGHT = 860, 443
LANE_X, LANE_WIDTH, TABLE_TOP = 98, 23.7, 86
FEWEST_VALUES, MOST_VALUES = 3, 6  # rows of lanes' values: as many as the recording ever needs
VALUE_HEIGHT, LINE_HEIGHT = 17, 16.2
COLUMNS, FEWEST_ROWS, CELL_HEIGHT = 8, 5, 24  # of the window on memory

_NEW = "#ffe9b8"


@dataclass(frozen=True)
class _Look:
    """How a lane in one state is drawn."""

    fill: str
    edge: str
    ink: str
    dash: str = ""


_LOOKS = {
    "active": _Look(PALETTE["blue"], PALETTE["blue"], "#ffffff"),
    "held back": _Look("#cfe3f3", PALETTE["blue"], INK, "2 2"),
    "elsewhere": _Look("#ffffff", GREY, PALE),
    "waiting": _Look("#fbe3b5", PALETTE["orange"], INK),
    "finished": _Look("#eeeeee", "#eeeeee", GREY),
    "no thread": _Look("#ffffff", "#e3e3e3", GREY, "1 3"),
    "failed": _Look(PALETTE["vermilion"], PALETTE["vermilion"], "#ffffff"),
}
_LEGEND = (
    ("active", "12", "active: runs this line"),
    ("elsewhere", "15", "elsewhere: stands at that line"),
    ("waiting", "‖", "waits at a barrier"),
    ("finished", "–", "has finished"),
)


def lane_states(timeline: Moments, number: int) -> tuple[str, ...]:
    """What each lane of the warp does in a moment: one of active, held back, elsewhere, waiting, finished, no thread.

    A lane that the step brought to a barrier waits; the lane of the thread whose error ended the recording "failed".
    """
    moment, recording = timeline.moments[number], timeline.recording
    threads = int(np.prod(recording.block))
    failed = _failed_lane(timeline, number)
    found = []
    for lane in range(WARP):
        if moment.warp * WARP + lane >= threads:
            state = "no thread"
        elif lane == failed:
            state = "failed"
        elif moment.last.waiting[lane]:
            state = "waiting"
        elif moment.mask[lane]:
            state = "active" if moment.active[lane] else "held back"
        else:
            state = "finished" if moment.last.done[lane] else "elsewhere"
        found.append(state)
    return tuple(found)


def warp_frame(
    timeline: Moments,
    memory: MemoryThen,
    number: int,
    *,
    lane: int = 0,
    array: str | None = None,
    registers: bool = False,
    note: str = "",
) -> Drawing:
    """One step of a warp: its 32 lanes and their values, the current source line, one lane in detail, and memory.

    memory: of the same recording. array: the one to show; None shows the last that was touched. registers: show PTX
    registers in place of variables. note: a sentence for the reader, added to the finding. Raises IndexError for a
    moment that the timeline does not have.
    """
    moment = timeline.moments[number]
    ink = Ink()
    states = lane_states(timeline, number)
    rows = MOST_VALUES if registers else min(max(timeline.most_variables, FEWEST_VALUES), MOST_VALUES)
    below = TABLE_TOP + rows * VALUE_HEIGHT + 6
    _header(ink, timeline, number, note)
    _lanes(ink, timeline, moment, states, lane)
    _values(ink, moment, states, lane, registers, rows)
    ink.rule(4, below, WIDTH - 4, below)
    _source(ink, timeline, moment, below + 8)
    ink.rule(444, below + 4, 444, HEIGHT - 6)
    cells = FEWEST_ROWS + (MOST_VALUES - rows) * VALUE_HEIGHT // CELL_HEIGHT
    shown = _memory(ink, memory, moment, array, below + 16, cells)
    _details(ink, timeline.recording, moment, lane, registers, below + 57 + cells * CELL_HEIGHT)
    return ink.drawing(" ".join([moment_finding(timeline, number, shown), note]).strip(), WIDTH, HEIGHT)


def moment_finding(timeline: Moments, number: int, shown: Contents | None = None) -> str:
    """One sentence on a moment: the step, the line, how many lanes are active, and what was written to memory."""
    moment, recording = timeline.moments[number], timeline.recording
    states = Counter(lane_states(timeline, number))
    threads = WARP - states["no thread"]
    warp = f"warp {moment.warp}, " if recording.warps > 1 else ""
    line = "no line of yours" if moment.line is None else f"line {moment.line}"
    said = f"Step {number + 1} of {len(timeline)}: {warp}{line}, {sum(moment.active)} of {threads} lanes active"
    others = [f"{states[name]} {words}" for name, words in
              (("held back", "held back by a guard"), ("waiting", "waiting at a barrier"), ("elsewhere", "elsewhere"),
               ("finished", "finished")) if states[name]]  # fmt: skip
    said += f" ({', '.join(others)})" if others else ""
    if shown is not None and shown.before:
        said += f"; {plural(len(shown.before), 'element')} of {fitted(shown.held.name, 40)} written"
    if stop := _stopped(timeline, number):
        return f"{said}. {stop}"
    return said + "."


def _stopped(timeline: Moments, number: int) -> str:
    """Why there is no moment after this one, where that is not the kernel's end."""
    error = timeline.recording.stopped
    if error is None or number + 1 < len(timeline):
        return ""
    if isinstance(error, KernelError):
        return f"Here the kernel stops: {str(error).splitlines()[0]}"
    return f"The recording is cut here, after {len(timeline.recording.steps):,} instructions; the kernel goes on."


def _failed_lane(timeline: Moments, number: int) -> int | None:
    error, moment = timeline.recording.stopped, timeline.moments[number]
    if moment.last.number + 1 < len(timeline.recording.steps):
        return None
    if not isinstance(error, KernelError) or error.thread is None:
        return None
    x, y, _ = timeline.recording.block
    thread = error.thread[0] + x * (error.thread[1] + y * error.thread[2])
    return thread % WARP if thread // WARP == moment.warp else None


# -- the parts of the card


def _header(ink: Ink, timeline: Moments, number: int, note: str) -> None:
    moment, recording = timeline.moments[number], timeline.recording
    place = f"warp {moment.warp} of {recording.warps}" if recording.warps > 1 else "warp 0"
    title = f"step {number + 1} of {len(timeline)}  ·  {place}"
    behind = max(205, 16 + 7.1 * len(title))
    ink.text(8, 17, title, size=12.5, bold=True, mono=False)
    error = _stopped(timeline, number)
    if error:
        ink.text(behind, 17, fitted(error, int((WIDTH - behind) / 7)), size=11.5, ink="#a33b00", bold=True, mono=False)
        return
    if note:
        ink.text(behind, 17, note, size=11, ink="#a33b00", mono=False)
    elif recording.warps > 1:
        ink.text(
            behind,
            17,
            fitted(_other_warps(timeline, number), 54 - int((behind - 205) / 5.5)),
            size=10.5,
            ink=PALE,
            mono=False,
        )
    active = sum(moment.active)
    ink.text(636, 17, f"{active} of 32 lanes active", size=11.5, mono=False, anchor="end")
    ink.box(644, 8, 208, 10, "#ffffff", GREY)
    ink.box(644, 8, 208 * active / WARP, 10, PALETTE["blue"])


def _other_warps(timeline: Moments, number: int) -> str:
    """Where the other warps of the block are while this one is here: "warps 0-2 wait at line 9, 4 not begun"."""
    moment = timeline.moments[number]
    last, waits = {}, {}
    for step in timeline.recording.steps[: moment.last.number + 1]:
        last[step.warp], waits[step.warp] = step, any(step.waiting)
        if opcode(step).startswith("bar") and not waits[step.warp]:
            waits = dict.fromkeys(waits, False)  # the last to come sets all free
    places: dict[str, list[int]] = {}
    for warp in (each for each in range(timeline.recording.warps) if each != moment.warp):
        if warp not in last:
            place = "not begun"
        elif all(done or line is None for done, line in zip(last[warp].done, last[warp].standing, strict=True)):
            place = "finished"
        else:
            place = f"{'waits' if waits[warp] else 'is'} at line {last[warp].line}"
        places.setdefault(place, []).append(warp)
    return "warp " + ", ".join(f"{_spans(warps)} {place}" for place, warps in places.items())


def _spans(numbers: list[int]) -> str:
    """[0, 1, 2, 5] as "0-2, 5"."""
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))


def _lanes(ink: Ink, timeline: Moments, moment: Moment, states: Sequence[str], lane: int) -> None:
    ink.text(LANE_X - 8, 35, "lane", size=10, ink=PALE, mono=False, anchor="end")
    ink.text(LANE_X - 8, 54, "at line", size=10, ink=PALE, mono=False, anchor="end")
    for at, state in enumerate(states):
        x, look = LANE_X + at * LANE_WIDTH, _LOOKS[state]
        chosen = at == lane
        ink.text(x + 11, 35, at, size=10, ink=INK if chosen else PALE, bold=chosen, anchor="middle")
        ink.box(x, 40, LANE_WIDTH - 2, 20, look.fill, look.edge, look.dash)
        ink.text(x + 10.8, 54, _mark(timeline, moment, state, at), size=10, ink=look.ink, anchor="middle",
                 bold=state in ("active", "failed"))  # fmt: skip
    x = LANE_X
    for state, mark, words in _LEGEND:
        look = _LOOKS[state]
        ink.box(x, 66, 20, 12, look.fill, look.edge, look.dash)
        ink.text(x + 10, 75.5, mark, size=10, ink=look.ink, anchor="middle")
        ink.text(x + 25, 75.5, words, size=10, ink=PALE, mono=False)
        x += 44 + 5.9 * len(words)


def _mark(timeline: Moments, moment: Moment, state: str, lane: int) -> str:
    if state in ("waiting", "finished", "failed"):
        return {"waiting": "‖", "finished": "–", "failed": "!"}[state]
    if state == "no thread":
        return ""
    line = moment.line if moment.mask[lane] else timeline.standing[moment.number][lane]
    return "" if line is None else str(line)


def _values(ink: Ink, moment: Moment, states: Sequence[str], lane: int, registers: bool, most: int) -> None:
    """One row per variable, one column per lane; what this moment changed on yellow."""
    top, height = TABLE_TOP, VALUE_HEIGHT
    rows = _rows(moment, registers)
    ink.box(LANE_X + lane * LANE_WIDTH - 1.5, top, LANE_WIDTH + 0.5, most * height, "#eef4fa")
    for row, (name, written) in enumerate(rows[:most]):
        y = top + row * height
        new = name in moment.changed
        ink.text(LANE_X - 8, y + 12.5, fitted(name.removeprefix("cuda."), 13), size=10.5, bold=new, anchor="end")
        if new:
            ink.text(4, y + 12.5, "●", size=10, ink=PALETTE["vermilion"])
        given = [value for value in written.values if value is not None]
        if len(given) == WARP and all(same(value, given[0]) for value in given):
            if new:
                ink.box(LANE_X, y + 1, WARP * LANE_WIDTH - 2, height - 2, _NEW)
            ink.text(LANE_X + 6, y + 12.5, f"{exact(given[0])} in all lanes", size=10)
            continue
        for at, value in enumerate(written.values):
            x = LANE_X + at * LANE_WIDTH
            if value is None or states[at] == "no thread":
                ink.text(x + 10.8, y + 12, "·", size=10, ink=GREY, anchor="middle")
                continue
            if new and moment.mask[at]:
                ink.box(x, y + 1, LANE_WIDTH - 2, height - 2, _NEW)
            ink.text(x + 10.8, y + 12, tiny(value), size=10, anchor="middle", bold=new and moment.mask[at],
                     within=LANE_WIDTH - 2.5)  # fmt: skip
    if not rows:
        words = "no registers yet" if registers else "no variable is known by name yet: its values are in registers"
        ink.text(LANE_X, top + 13, words, size=10.5, ink=PALE, mono=False)


def _rows(moment: Moment, registers: bool) -> list[tuple[str, Written]]:
    """Names and values to list: those that differ from lane to lane or change first, base addresses left out."""
    found = moment.registers if registers else moment.variables
    rows = [(name, w) for name, w in found.items() if not all(isinstance(v, At) for v in w.values if v is not None)]
    kept = sorted(range(len(rows)), key=lambda at: (rows[at][0] not in moment.changed, -at if registers else at))
    if len(rows) <= MOST_VALUES and not registers:
        return rows
    return [rows[at] for at in kept] if registers else _steady(rows, moment)


def _steady(rows: Sequence[tuple[str, Written]], moment: Moment) -> list[tuple[str, Written]]:
    """Many variables: what changes now and what differs from lane to lane comes first, each in its own order."""

    def last(row: tuple[str, Written]) -> bool:
        return row[0] not in moment.changed and len({repr(value) for value in row[1].values}) == 1

    return sorted(rows, key=last)


def _source(ink: Ink, timeline: Moments, moment: Moment, top: float) -> None:
    """The kernel's text around the line, with the number of lanes that stand at each line."""
    listing = timeline.recording.listing or timeline.recording.source
    lines = sorted(listing)
    here = lines.index(moment.line) if moment.line in listing else 0
    fit = int((HEIGHT - 40 - top) / LINE_HEIGHT)
    first = min(max(0, here - fit // 2), max(0, len(lines) - fit))
    standing = timeline.standing[moment.number]
    counts = Counter(line for line, on in zip(standing, moment.mask, strict=True) if not on and line)
    height = LINE_HEIGHT
    for row, line in enumerate(lines[first : first + fit]):
        y = top + row * height
        current = line == moment.line
        if current:
            ink.box(4, y, 432, height - 1, "#dcebf7", PALETTE["blue"])
            ink.text(42, y + 12, "▶", size=10, ink=PALETTE["blue"], anchor="middle")
        lanes = sum(moment.active) if current else counts.get(line, 0)
        if lanes:
            ink.box(8, y + 1.5, 24, height - 4, PALETTE["blue"] if current else "#ffffff", PALETTE["blue"])
            ink.text(20, y + 11.5, lanes, size=10, ink="#ffffff" if current else INK, anchor="middle")
        ink.text(70, y + 12, line, size=10, ink=PALE, anchor="end")
        # Ordinary blanks at the start of a line would be swallowed.
        text = fitted(listing[line].expandtabs(4).rstrip(), 54).replace(" ", "\u00a0")
        ink.text(78, y + 12, text, size=10.8, bold=current)
    steps = dict.fromkeys(" ".join(step.instruction.split()) for step in moment.steps)
    words = next(iter(steps)) if len(steps) == 1 else ", ".join(opcode(step) for step in moment.steps)
    what = "PTX" if len(moment.steps) == 1 else f"PTX, {len(moment.steps)} instructions"
    y = HEIGHT - 24
    ink.text(8, y, what, size=10, ink=PALE, mono=False)
    ink.text(8, y + 15, fitted(words, 66), size=10.3)


def _memory(ink: Ink, memory: MemoryThen, moment: Moment, array: str | None, top: float, rows: int) -> Contents | None:
    """A window on one array where it was touched last: new values on yellow with the old ones struck out."""
    left = 452
    name = array or memory.last_touched(moment.last.number)
    if name is None:
        ink.text(left, top, "memory: nothing is touched yet", size=11, ink=PALE, mono=False)
        return None
    contents = memory.after(name, moment.steps[0].number, moment.last.number)
    held = contents.held
    # What this moment touched of the array, else what was touched last.
    touched = [*contents.before] or [*contents.read] or memory.last_elements(name, moment.last.number)
    end = (contents.first + len(contents.values) - 1) // COLUMNS - rows + 1  # the first row of a window that ends there
    first = COLUMNS * max(contents.first // COLUMNS, min(min(touched, default=contents.first) // COLUMNS, end))
    shape = f"{held.dtype}[{' × '.join(map(str, held.shape))}]" if held.dtype else "in shared memory"
    did = [f"{len(found)} {words}" for found, words in ((contents.before, "written"), (contents.read, "read")) if found]
    ink.text(left, top, fitted(f"{held.name}  ", 24), size=11, bold=True)
    ink.text(left + 14 + 6.7 * min(24, len(held.name)), top,
             fitted(f"{shape}{' · ' + ', '.join(did) + ' in this step' if did else ''}", 52), size=10.5, ink=PALE,
             mono=False)  # fmt: skip
    width, height = 44.5, CELL_HEIGHT
    for cell in range(COLUMNS * rows):
        row, column = divmod(cell, COLUMNS)
        element = first + cell
        x, y = left + 42 + column * width, top + 8 + row * height
        if column == 0 and element - contents.first < len(contents.values):
            ink.text(left + 36, y + 15, _index(held, element), size=10, ink=PALE, anchor="end", within=35)
        if not 0 <= element - contents.first < len(contents.values):
            continue
        value = contents.values[element - contents.first]
        new, seen = element in contents.before, element in contents.read
        edge = PALETTE["orange"] if new else PALETTE["blue"] if seen else "#e6e6e6"
        ink.box(x, y, width - 2, height - 2, _NEW if new else "#ffffff", edge, line=1.4 if seen else 1)
        if new:
            old = contents.before[element]
            ink.text(x + width / 2 - 1, y + 9, "?" if old is None else short(old), size=10, ink=PALE,
                     anchor="middle", strike=True, within=width - 5)  # fmt: skip
        ink.text(x + width / 2 - 1, y + (19.5 if new else 15), "?" if value is None else short(value), size=10,
                 bold=new, anchor="middle", ink=GREY if value is None else INK, within=width - 5)  # fmt: skip
    outside = sum(not first <= element < first + COLUMNS * rows for element in {*contents.before, *contents.read})
    words = "yellow: written, old value struck out · blue edge: read"
    words += f" · {plural(outside, 'element')} further on" if outside else ""
    ink.text(left, top + 8 + rows * height + 10, words, size=10, ink=PALE, mono=False)
    return contents


def _index(held: Held, element: int) -> str:
    if held.dtype is None or len(held.shape) < 2:
        return f"[{element}]"
    width = held.shape[-1]
    packed = held.strides[-1] == np.dtype(held.dtype).itemsize and held.strides[-2] == width * held.strides[-1]
    return f"[{element // width},{element % width}]" if packed and len(held.shape) == 2 else f"[{element}]"


def _details(ink: Ink, recording: Recording, moment: Moment, lane: int, registers: bool, top: float) -> None:
    """The chosen lane's values in full, with their types."""
    left, height = 452, 15
    x, y, _ = recording.block
    thread = moment.warp * WARP + lane
    index = (thread % x, thread // x % y, thread // (x * y))
    used = 3 if recording.block[2] > 1 else 2 if y > 1 else 1
    ink.rule(left, top - 13, WIDTH - 4, top - 13)
    ink.text(left, top, f"lane {lane} · thread {', '.join(map(str, index[:used]))}", size=11, bold=True, mono=False)
    rows = [(n, w) for n, w in _rows(moment, registers) if w.values[lane] is not None]
    fit = int((HEIGHT - top - 8) / height)
    columns = 2 if len(rows) > fit else 1
    if len(rows) > fit * columns:
        said = f"{fit * columns} of {len(rows)}, the newest first" if registers else f"{fit * columns} of {len(rows)}"
        ink.text(WIDTH - 8, top, said, size=10, ink=PALE, mono=False, anchor="end")
    for at, (name, written) in enumerate(rows[: fit * columns]):
        column, row = divmod(at, fit)
        wide = 31 if columns == 2 else 62
        words = f"{fitted(name, 16)} = {exact(written.values[lane])}"
        px = left + column * 204
        ink.text(px, top + 15 + row * height, fitted(words, wide - 5), size=10.2, bold=name in moment.changed)
        ink.text(px + (170 if columns == 2 else 330), top + 15 + row * height, written.type, size=10, ink=PALE)

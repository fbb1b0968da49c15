"""Where data are: the memory of each variable, layouts of arrays, and the levels of memory."""

from __future__ import annotations

import colorsys
import math
import re
from collections.abc import Iterable
from html import escape
from string import ascii_lowercase

from helpers.models.layouts import Places
from helpers.pictures.figures import PALETTE, Drawing, Markup
from helpers.pictures.plots.common import bytes_text
from helpers.pictures.plots.ink import PALE, SMALLEST, Ink
from helpers.pictures.plots.short_values import fitted
from helpers.pictures.plots.templates import from_template
from vgpu.base.words import plural
from vgpu.hardware.gpus import GPU
from vgpu.hardware.memory_levels import Figure, Level, levels
from vgpu.hardware.sources import Source
from vgpu.tools.steps.spaces import SPACES, SourceVariable, VariableSpaces

WIDTH, CARD = 860, 105
SOURCE, TABLE = (8, 556), (572, 852)
TOP, LINE, ROW = 44, 15, 18
MOST_LINES, MOST_EVIDENCE, LONGEST_NAME = 18, 3, 40
LONGEST_LINE, LONGEST_INSTRUCTION = 78, 72
# Of the palette, dark enough for words on white; the letter stands beside the colour.
LOOKS = {
    "register": ("R", "#00704f"), "shared": ("S", "#8a5a00"), "local": ("L", "#b84a00"), "parameter": ("P", "#5a5a5a"),
    "constant": ("C", "#9c3d76"), "texture": ("T", "#00727d"), "global": ("G", "#0060a0"),
}  # fmt: skip
_PALE = {"register": "#e0f2ea", "shared": "#fbeed3", "local": "#fde3d3", "parameter": "#ececec",
         "constant": "#f8e4f0", "texture": "#dcf1f3", "global": "#dcecf8"}  # fmt: skip


def lines_needed(found: VariableSpaces) -> int:
    """Lines of source that a drawing needs room for: its own, or those that its table is as high as."""
    return min(MOST_LINES, max(len(found.lines), math.ceil((14 + ROW * len(found.variables)) / LINE)))


def height(lines: int) -> int:
    """Pixels of a drawing with room for so many lines of source."""
    return TOP + lines * LINE + CARD


def where_variables_live(found: VariableSpaces, name: str, *, lines: int | None = None) -> Drawing:
    """The source, a table of its variables, and the evidence for the memory of variable `name`."""
    chosen, ink, room = found[name], Ink(), lines or lines_needed(found)
    _head(ink, found)
    _source(ink, found, chosen, room)
    _table(ink, found, chosen, (room * LINE - 14) // ROW)
    _card(ink, chosen, TOP + room * LINE + 22)
    ink.text(16, height(room) - 6, "evidence: PTX of the compiler, or the register that a value was seen in", size=10,
             ink=PALE, mono=False)  # fmt: skip
    return ink.drawing(_finding(found, chosen), WIDTH, height(room))


def _head(ink: Ink, found: VariableSpaces) -> None:
    needs = found.resources
    spilled = needs.spill_store_bytes
    said = f"{plural(needs.registers, 'register')}, {plural(needs.local_bytes, 'byte')} local a thread"
    said += f" ({spilled} of them spilled)" if spilled else ""
    said += f" · {plural(needs.shared_bytes, 'byte')} shared a block"
    ink.text(8, 18, fitted(found.kernel, 40), size=12.5, bold=True, mono=False)
    ink.text(WIDTH - 8, 18, f"{said} (compiler, {needs.arch})", size=10.5, ink=PALE, mono=False, anchor="end")


def _window(first: int, last: int, count: int, most: int) -> range:
    """At most so many of `count` rows, from one before `first` on where they do not all fit."""
    start = 0 if count <= most or last < most else min(max(0, first - 1), count - most)
    return range(start, min(count, start + most))


def _source(ink: Ink, found: VariableSpaces, chosen: SourceVariable, room: int) -> None:
    spots = [at for at, (number, _) in enumerate(found.lines) if number in chosen.lines] or [0]
    shown = _window(spots[0], spots[-1], len(found.lines), room)
    spaces = {variable.name: variable.space for variable in found.variables}
    for row, at in enumerate(shown):
        number, text = found.lines[at]
        y = TOP + row * LINE
        if number in chosen.lines:
            ink.box(SOURCE[0], y - 11, SOURCE[1] - SOURCE[0], LINE, _PALE[chosen.space])
        ink.text(SOURCE[0] + 22, y, number, size=10, ink=PALE, anchor="end")
        ink.parts.append(
            f'<text x="{SOURCE[0] + 30}" y="{y}" font-size="10.5" xml:space="preserve">'
            f"{_coloured(fitted(text, LONGEST_LINE), spaces, chosen.name)}</text>"
        )
    if len(shown) < len(found.lines):
        more = len(found.lines) - len(shown)
        ink.text(SOURCE[1], TOP + room * LINE, f"{plural(more, 'line')} not shown", size=10, ink=PALE, mono=False,
                 anchor="end")  # fmt: skip


def _coloured(text: str, spaces: dict[str, str], chosen: str) -> str:
    """Names in the colour of their memory, with its letter raised behind; the chosen one is underlined."""
    parts, at = [], 0
    for match in re.finditer(r"(?<![\w.\"'])[A-Za-z_]\w*", text):
        space = spaces.get(match[0])
        if space is None:
            continue
        letter, colour = LOOKS[space]
        line = ' text-decoration="underline"' if match[0] == chosen else ""
        parts.append(_kept(text[at : match.start()]))
        parts.append(f'<tspan fill="{colour}" font-weight="bold"{line}>{match[0]}</tspan>')
        parts.append(f'<tspan fill="{colour}" font-size="{SMALLEST}" dy="-4">{letter}</tspan>')
        parts.append('<tspan dy="4">\u200b</tspan>')
        at = match.end()
    return "".join(parts) + _kept(text[at:])


def _kept(text: str) -> str:
    """Escaped text whose spaces stay, however they are drawn."""
    return escape(text, quote=False).replace(" ", "\u00a0")


def _table(ink: Ink, found: VariableSpaces, chosen: SourceVariable, room: int) -> None:
    names = [variable.name for variable in found.variables]
    place = names.index(chosen.name)
    shown = _window(place, place, len(names), room)
    for x, anchor, words in ((TABLE[0] + 22, "start", "name"), (TABLE[0] + 142, "start", "lives in"),
                             (TABLE[1] - 4, "end", "bytes")):  # fmt: skip
        ink.text(x, TOP - 2, words, size=10, ink=PALE, mono=False, anchor=anchor)
    for row, at in enumerate(shown):
        variable, y = found.variables[at], TOP + 14 + row * ROW
        letter, colour = LOOKS[variable.space]
        if variable.name == chosen.name:
            ink.box(TABLE[0], y - 12.5, TABLE[1] - TABLE[0], ROW - 1, _PALE[variable.space], colour)
        ink.box(TABLE[0] + 4, y - 9.5, 12, 12, colour)
        ink.text(TABLE[0] + 10, y, letter, size=10, ink="#ffffff", bold=True, mono=False, anchor="middle")
        ink.text(TABLE[0] + 22, y, fitted(variable.name, 16), size=10.5)
        ink.text(TABLE[0] + 142, y, variable.space, size=10.5, ink=colour, bold=True, mono=False)
        nbytes = "" if variable.nbytes is None else f"{variable.nbytes:,}"
        ink.text(TABLE[1] - 4, y, nbytes, size=10.5, mono=False, anchor="end")
    if len(shown) < len(names):
        more = plural(len(names) - len(shown), "name")
        ink.text(TABLE[1], TOP + 14 + room * ROW, f"{more} not shown", size=10, ink=PALE, mono=False, anchor="end")


def _card(ink: Ink, chosen: SourceVariable, y: float) -> None:
    space = SPACES[chosen.space]
    _, colour = LOOKS[chosen.space]
    ink.rule(8, y - 16, WIDTH - 8, y - 16)
    said = f"{space.place} · seen by {space.seen_by} · lasts: {space.lasts}"
    ink.text(
        8, y + 2, f"{fitted(chosen.name, LONGEST_NAME)}: {chosen.space}", size=12, ink=colour, bold=True, mono=False
    )
    ink.text(WIDTH - 8, y + 2, said, size=11, mono=False, anchor="end")
    for row, text in enumerate(chosen.evidence[:MOST_EVIDENCE]):
        ink.text(16, y + 20 + row * LINE, fitted(text, LONGEST_INSTRUCTION), size=10.5)
    more = len(chosen.evidence) - MOST_EVIDENCE
    notes = [chosen.note] * bool(chosen.note) + [f"and {more} instructions more" if more > 1 else "and 1 more"] * (
        more > 0
    )
    if not chosen.evidence and not chosen.note:
        notes = ["no instruction names it"]
    for row, text in enumerate(notes):
        ink.text(WIDTH - 8, y + 20 + row * LINE, text, size=10.5, ink=PALE, mono=False, anchor="end")


def _finding(found: VariableSpaces, chosen: SourceVariable) -> str:
    space = SPACES[chosen.space]
    article = "a register" if chosen.space == "register" else f"{chosen.space} memory"
    article = "a parameter" if chosen.space == "parameter" else article
    nbytes = "" if chosen.nbytes is None else f", {plural(chosen.nbytes, 'byte')}"
    note = f" ({chosen.note})" if chosen.note else ""
    name, kernel = fitted(chosen.name, LONGEST_NAME), fitted(found.kernel, LONGEST_NAME)
    return f"`{name}` of {kernel} lives in {article}{nbytes}, {space.place}{note}."


LAYOUT_WIDTH, HEAD, FOOT = 860, 46, 26
GRID, MEMORY = (30, 400), (460, 848)  # from where to where
LARGEST, WITH_WORDS, TALLEST = 34, 15, 300
MOST_LINES_OF_MEMORY = 32
COLOURS = ("place", "column of memory", "line of memory")
"""By what a layout can be coloured: two cells of one colour lie near, above one another, or beside one another."""


def _colour(place: int, by: str, last: int, line: int) -> str:
    share = {
        "place": place / last,
        "column of memory": place % line / line,
        "line of memory": place // line * 0.377 % 1,
    }
    hue = 0.72 * share[by] + 0.0 if by == "place" else share[by]
    red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(hue, 0.80, 0.75))
    return f"#{red:02x}{green:02x}{blue:02x}"


def layout_height(given: Places, line: int) -> int:
    """Pixels that a layout takes with so many places in a line of memory."""
    rows, columns = given.offsets.shape
    lines = min(MOST_LINES_OF_MEMORY, -(-given.cosize // line))
    return HEAD + max(rows * _cell(rows, columns, GRID), lines * _cell(lines, line, MEMORY)) + FOOT


def _cell(rows: int, columns: int, span: tuple[int, int]) -> int:
    return max(4, min(LARGEST, (span[1] - span[0]) // columns, TALLEST // rows))


def layout_finding(given: Places, name: str, index: int, line: int) -> str:
    """One sentence: size, places, whether it can be turned round, and where the marked coordinate lies."""
    rows, columns = given.offsets.shape
    used, twice = len(given.inverse), given.size - len(given.inverse)
    holes = given.cosize - used
    said = f"{name}{': ' if name and given.said else ''}{given.said}: " if name or given.said else ""
    said += f"{rows} × {columns} coordinates on places 0 to {given.cosize - 1}, "
    said += "each used once" if not twice and not holes else plural(holes, "hole")
    said += f", {plural(twice, 'coordinate')} on places that others use" if twice else ""
    row, column = index % rows, index // rows
    place = int(given.offsets[row, column])
    down = max(_crowd(given.offsets[:, at], line) for at in range(columns))
    across = max(_crowd(given.offsets[at], line) for at in range(rows))
    return (
        f"{said}. Index {index}, ({row}, {column}), lies at {place}. A column of the grid has up to {down} "
        f"of its cells in one column of memory, and a row up to {across}."
    )


def _crowd(places: Iterable[int], line: int) -> int:
    """The most of these places that lie in one column of memory: how often the banks of a line would be asked."""
    columns = [int(place) % line for place in set(map(int, places))]
    return max(columns.count(column) for column in set(columns))


def layout_grid(given: Places, *, name: str = "", index: int = 0, by: str = "place", line: int = 8) -> Drawing:
    """A layout as a grid of coordinates beside memory; coordinate `index`, in row-major order, is framed in both."""
    rows, columns = given.offsets.shape
    ink, last, inverse = Ink(), max(1, given.cosize - 1), given.inverse
    marked = (index % rows, index // rows)
    ink.text(8, 17, "coordinate → place", bold=True, mono=False, size=12)
    ink.text(MEMORY[0] - 22, 17, "place → coordinate: memory", bold=True, mono=False, size=12)
    cell = _cell(rows, columns, GRID)
    for column in range(columns):
        if cell >= WITH_WORDS:
            ink.text(GRID[0] + (column + 0.5) * cell, HEAD - 5, column, size=10, ink=PALE, anchor="middle")
    for row in range(rows):
        if cell >= WITH_WORDS:
            ink.text(GRID[0] - 5, HEAD + (row + 0.62) * cell, row, size=10, ink=PALE, anchor="end")
        for column in range(columns):
            x, y, place = GRID[0] + column * cell, HEAD + row * cell, int(given.offsets[row, column])
            ink.box(x, y, cell - 1, cell - 1, _colour(place, by, last, line))
            if cell >= WITH_WORDS:
                ink.text(x + cell / 2 - 0.5, y + cell * 0.62, place, size=10, anchor="middle", within=cell - 2)
    _frame(ink, GRID[0] + marked[1] * cell, HEAD + marked[0] * cell, cell)
    lines = -(-given.cosize // line)
    cell = _cell(min(MOST_LINES_OF_MEMORY, lines), line, MEMORY)
    for place in range(min(lines, MOST_LINES_OF_MEMORY) * line):
        x, y = MEMORY[0] + place % line * cell, HEAD + place // line * cell
        here = inverse.get(place, ())
        if here:
            ink.box(x, y, cell - 1, cell - 1, _colour(place, by, last, line))
        elif place < given.cosize:
            ink.box(x, y, cell - 1, cell - 1, "#ffffff", edge="#b5b5b5", dash="2 2", line=0.7)
        if here and cell >= 26:
            words = f"{here[0][0]},{here[0][1]}" if len(here) == 1 else f"{len(here)}×"
            ink.text(x + cell / 2 - 0.5, y + cell * 0.62, words, size=10, anchor="middle", within=cell - 3)
        if place % line == 0 and cell >= 10:
            ink.text(MEMORY[0] - 5, y + cell * 0.62, place, size=10, ink=PALE, anchor="end")
    at = int(given.offsets[marked])
    if at < MOST_LINES_OF_MEMORY * line:
        _frame(ink, MEMORY[0] + at % line * cell, HEAD + at // line * cell, cell)
    height = layout_height(given, line)
    more = f" · {lines - MOST_LINES_OF_MEMORY} lines of memory more" if lines > MOST_LINES_OF_MEMORY else ""
    ink.text(8, height - 6, f"colour: {by} · dashed: no coordinate lies there{more}", size=10, ink=PALE, mono=False)
    return ink.drawing(layout_finding(given, name, index, line), LAYOUT_WIDTH, height)


def _frame(ink: Ink, x: float, y: float, cell: float) -> None:
    ink.box(x - 1.2, y - 1.2, cell + 1.4, cell + 1.4, "none", edge="#000000", line=2.4)


PYRAMID_WIDTH, PYRAMID_HEIGHT = 860, 292
REACH, LATENCY, BANDWIDTH = (2**8, 2**39), (1, 1e4), (1e9, 1e15)
"""The ends of the three logarithmic scales: bytes, clocks, bytes a second."""
_COLOURS = ("green", "orange", "orange", "sky", "blue", "purple")
LONGEST_TITLE = 112
SOURCE_LINE = 16.5


def _latency_text(clocks: float | None, gpu: GPU) -> str:
    return "unknown" if clocks is None else f"{clocks:.3g} clocks, {clocks / gpu.clock * 1e9:.3g} ns"


def _share(figure: Figure, scale: tuple[float, float]) -> float:
    """How much of a bar on a logarithmic scale the figure fills; all of it where it is unknown."""
    if figure.value is None:
        return 1
    low, high = (math.log(end) for end in scale)
    return min(1, max(0.02, (math.log(figure.value) - low) / (high - low)))


class _Letters:
    """A letter for each source, in the order in which they are met."""

    def __init__(self) -> None:
        self.met: dict[Source, str] = {}

    def of(self, figure: Figure) -> str:
        return "".join(self.met.setdefault(source, ascii_lowercase[len(self.met)]) for source in figure.sources)


def memory_pyramid(gpu: GPU) -> tuple[Drawing, Markup]:
    """Size, latency and bandwidth of each level of memory on logarithmic scales, and the list of sources.

    What no source gives is drawn as an empty dashed box and called unknown.
    """
    letters, found = _Letters(), levels(gpu)
    rows = [
        (level, PALETTE[colour], _share(level.reach, REACH), _share(level.latency, LATENCY),
         _share(level.bandwidth, BANDWIDTH))
        for level, colour in zip(found, _COLOURS, strict=True)
    ]  # fmt: skip
    drawing = from_template(
        "memory_pyramid", _levels_finding(gpu, found), gpu=gpu, rows=rows, letters=letters.of, latency=_latency_text
    )
    return drawing, _sources(gpu, letters)


def _levels_finding(gpu: GPU, rows: tuple[Level, ...]) -> str:
    by = {level.name: level for level in rows}
    largest = max(("registers", "L1", "L2"), key=lambda name: by[name].total.value or 0)
    said = f"{gpu.name}: of the memories on chip {largest} {'are' if largest == 'registers' else 'is'} the largest, "
    said += f"{bytes_text(by[largest].total.value)} in all"
    near, far = by["shared memory"].latency.value, by["DRAM"].latency.value
    if near is None or far is None:
        return f"{said}; no source gives its latencies, so they are unknown here."
    return (
        f"{said}; a value from DRAM takes {far:.3g} clocks, {far / near:.2g} times as long as one from shared memory."
    )


def _sources(gpu: GPU, letters: _Letters) -> Markup:
    def title(text: str) -> str:
        return escape(text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1] + "…")

    items = "".join(
        f'<div style="white-space:nowrap;overflow:hidden"><b>{letter}</b> '
        f'<a href="{escape(source.url)}" title="{escape(source.title)}" style="color:#0b5394">{title(source.title)}</a>'
        "</div>"
        for source, letter in letters.met.items()
    )
    body = f'<div style="font:11.5px/{SOURCE_LINE}px system-ui,sans-serif;color:#222">{items}</div>'
    return Markup(body, f"The figures of {gpu.name} come from {len(letters.met)} sources.", PYRAMID_WIDTH)

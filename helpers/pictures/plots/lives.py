"""Where the variables of a kernel live: its source with every name in the colour of its memory."""

from __future__ import annotations

import math
import re
from html import escape

from helpers.pictures.figures import Drawing
from helpers.pictures.plots.ink import PALE, Ink
from helpers.pictures.plots.short_values import fitted
from vgpu.base.words import plural
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
    """Source, table of variables, and what is known of the variable `name`; room for so many lines of source."""
    chosen, ink, room = found[name], Ink(), lines or lines_needed(found)
    _head(ink, found)
    _source(ink, found, chosen, room)
    _table(ink, found, chosen, (room * LINE - 14) // ROW)
    _card(ink, chosen, TOP + room * LINE + 22)
    ink.text(16, height(room) - 6, "evidence: PTX of the compiler, or the register that a value was seen in", size=9,
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
        ink.text(SOURCE[0] + 22, y, number, size=9, ink=PALE, anchor="end")
        ink.parts.append(
            f'<text x="{SOURCE[0] + 30}" y="{y}" font-size="10.5" xml:space="preserve">'
            f"{_coloured(fitted(text, LONGEST_LINE), spaces, chosen.name)}</text>"
        )
    if len(shown) < len(found.lines):
        more = len(found.lines) - len(shown)
        ink.text(SOURCE[1], TOP + room * LINE, f"{plural(more, 'line')} not shown", size=9, ink=PALE, mono=False,
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
        parts.append(f'<tspan fill="{colour}" font-size="7" dy="-3">{letter}</tspan><tspan dy="3">\u200b</tspan>')
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
        ink.text(x, TOP - 2, words, size=9.5, ink=PALE, mono=False, anchor=anchor)
    for row, at in enumerate(shown):
        variable, y = found.variables[at], TOP + 14 + row * ROW
        letter, colour = LOOKS[variable.space]
        if variable.name == chosen.name:
            ink.box(TABLE[0], y - 12.5, TABLE[1] - TABLE[0], ROW - 1, _PALE[variable.space], colour)
        ink.box(TABLE[0] + 4, y - 9.5, 12, 12, colour)
        ink.text(TABLE[0] + 10, y, letter, size=9, ink="#ffffff", bold=True, mono=False, anchor="middle")
        ink.text(TABLE[0] + 22, y, fitted(variable.name, 16), size=10.5)
        ink.text(TABLE[0] + 142, y, variable.space, size=10.5, ink=colour, bold=True, mono=False)
        nbytes = "" if variable.nbytes is None else f"{variable.nbytes:,}"
        ink.text(TABLE[1] - 4, y, nbytes, size=10.5, mono=False, anchor="end")
    if len(shown) < len(names):
        more = plural(len(names) - len(shown), "name")
        ink.text(TABLE[1], TOP + 14 + room * ROW, f"{more} not shown", size=9, ink=PALE, mono=False, anchor="end")


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

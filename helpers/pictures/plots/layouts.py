"""A layout as a grid of coordinates, each with its place, and as memory, each place with its coordinate."""

from __future__ import annotations

import colorsys

from helpers.models.layouts import Places
from helpers.pictures.figures import Drawing
from helpers.pictures.plots.ink import PALE, Ink
from vgpu.base.words import plural

WIDTH, HEAD, FOOT = 860, 46, 26
GRID, MEMORY = (30, 400), (460, 848)  # from where to where
LARGEST, WITH_WORDS, TALLEST = 34, 15, 300
MOST_LINES = 32
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
    lines = min(MOST_LINES, -(-given.cosize // line))
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
        f"{said}. Index {index}, ({row}, {column}), lies at {place}. Of the cells of a column of the grid up to {down} "
        f"share a column of memory, of a row up to {across}."
    )


def _crowd(places, line: int) -> int:
    """The most of these places that lie in one column of memory: how often the banks of a line would be asked."""
    columns = [int(place) % line for place in set(map(int, places))]
    return max(columns.count(column) for column in set(columns))


def layout_grid(given: Places, *, name: str = "", index: int = 0, by: str = "place", line: int = 8) -> Drawing:
    """The grid at the left, memory at the right; the coordinate number `index`, rows first, has a frame in both."""
    rows, columns = given.offsets.shape
    ink, last, inverse = Ink(), max(1, given.cosize - 1), given.inverse
    marked = (index % rows, index // rows)
    ink.text(8, 17, "coordinate → place", bold=True, mono=False, size=12)
    ink.text(MEMORY[0] - 22, 17, "place → coordinate: memory", bold=True, mono=False, size=12)
    cell = _cell(rows, columns, GRID)
    small = 8 if cell < 26 else 10
    for column in range(columns):
        if cell >= WITH_WORDS:
            ink.text(GRID[0] + (column + 0.5) * cell, HEAD - 5, column, size=8, ink=PALE, anchor="middle")
    for row in range(rows):
        if cell >= WITH_WORDS:
            ink.text(GRID[0] - 5, HEAD + (row + 0.62) * cell, row, size=8, ink=PALE, anchor="end")
        for column in range(columns):
            x, y, place = GRID[0] + column * cell, HEAD + row * cell, int(given.offsets[row, column])
            ink.box(x, y, cell - 1, cell - 1, _colour(place, by, last, line))
            if cell >= WITH_WORDS:
                ink.text(x + cell / 2 - 0.5, y + cell * 0.62, place, size=small, anchor="middle")
    _frame(ink, GRID[0] + marked[1] * cell, HEAD + marked[0] * cell, cell)
    lines = -(-given.cosize // line)
    cell = _cell(min(MOST_LINES, lines), line, MEMORY)
    for place in range(min(lines, MOST_LINES) * line):
        x, y = MEMORY[0] + place % line * cell, HEAD + place // line * cell
        here = inverse.get(place, ())
        if here:
            ink.box(x, y, cell - 1, cell - 1, _colour(place, by, last, line))
        elif place < given.cosize:
            ink.box(x, y, cell - 1, cell - 1, "#ffffff", edge="#b5b5b5", dash="2 2", line=0.7)
        if here and cell >= 26:
            words = f"{here[0][0]},{here[0][1]}" if len(here) == 1 else f"{len(here)}×"
            ink.text(x + cell / 2 - 0.5, y + cell * 0.62, words, size=8.5, anchor="middle")
        if place % line == 0 and cell >= 10:
            ink.text(MEMORY[0] - 5, y + cell * 0.62, place, size=8, ink=PALE, anchor="end")
    at = int(given.offsets[marked])
    if at < MOST_LINES * line:
        _frame(ink, MEMORY[0] + at % line * cell, HEAD + at // line * cell, cell)
    height = layout_height(given, line)
    more = f" · {lines - MOST_LINES} lines of memory more" if lines > MOST_LINES else ""
    ink.text(8, height - 6, f"colour: {by} · dashed: no coordinate lies there{more}", size=10, ink=PALE, mono=False)
    return ink.drawing(layout_finding(given, name, index, line), WIDTH, height)


def _frame(ink: Ink, x: float, y: float, cell: float) -> None:
    ink.box(x - 1.2, y - 1.2, cell + 1.4, cell + 1.4, "none", edge="#000000", line=2.4)

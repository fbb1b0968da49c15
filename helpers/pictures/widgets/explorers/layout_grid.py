"""Any layout as a grid of coordinates, and memory as its inverse image."""

from __future__ import annotations

from helpers.pictures import plots
from helpers.pictures.figures import Drawing, card_height
from helpers.pictures.plots.layouts import COLOURS, layout_height
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import dropdown, slider
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.layouts import places

WIDEST_LINE = 64


def layout_grid(layouts, *, line: int = 8, colour: str = "place", index: int = 0) -> Explorer:
    """Where each coordinate of a layout lies, and which coordinate lies at each place, for one layout or several.

    `layouts`: one layout or a mapping from short names to several. A layout is text, "(4, 8):(8, 1)", a pair
    (shape, stride), a pair (function of row and column, (rows, columns)), or an object with a `shape` that is called
    with a row and a column. `line`: places in a line of memory as drawn, such as the words of all banks. A slider goes
    through the coordinates, rows first. `colour`: one of `plots.layouts.COLOURS`.
    """
    tables = {name: places(each) for name, each in checked.versions(layouts, "a layout").items()}
    if not 1 <= line <= WIDEST_LINE:
        raise ValueError(f"a line of memory has 1 to {WIDEST_LINE} places, not {line}")
    first = next(iter(tables))
    controls = {"layout": dropdown("layout", first, list(tables))} if len(tables) > 1 else {}
    controls |= {
        "index": slider("index", index, 0, tables[first].size - 1),
        "colour": dropdown("colour", colour, COLOURS),
    }

    def fit() -> None:
        name = controls["layout"].value if "layout" in controls else first
        controls["index"].max = tables[name].size - 1

    def draw(index: int, colour: str, layout: str = first) -> Drawing:
        found = tables[layout]
        return plots.layout_grid(found, name=layout, index=min(index, found.size - 1), by=colour, line=line)

    tallest = max(layout_height(each, line) for each in tables.values())
    captions = card_height(caption_lines=4) - card_height(caption_lines=0)
    return Explorer("layout_grid", draw, controls, height=tallest + captions + 26, fit=fit)

"""Explorers of where data are: the memory of each variable, layouts of arrays, and the levels of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helpers.models.layouts import places
from helpers.pictures import plots
from helpers.pictures.figures import CAPTION_LINE, Drawing, card_height
from helpers.pictures.plots.places import (
    COLOURS,
    PYRAMID_HEIGHT,
    SOURCE_LINE,
    height,
    layout_height,
    lines_needed,
    memory_pyramid,
    where_variables_live,
)
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, offer, slider
from helpers.pictures.widgets.explorer import Explorer
from vgpu.hardware.device import current
from vgpu.hardware.gpus import GPUS, find
from vgpu.tools.steps.spaces import VariableSpaces, spaces

if TYPE_CHECKING:
    from vgpu.tools.prepare import Dimensions, Grid

CAPTION_LINES = 2


def lives(
    kernel: Any,
    args: tuple = (),
    *,
    grid: Grid = 1,
    block: Dimensions | None = 32,
    shared_bytes: int = 0,
    variable: str | None = None,
) -> Explorer:
    """The memory of every variable of a kernel, read from its PTX, the compiler's report and one recorded warp.

    `kernel`: in Python or CUDA C, or a mapping from short names to kernels, or to (kernel, args), which a slider
    chooses from; args, grid, block, shared_bytes as at a launch, of which nothing stays. `variable`: the name to begin
    with; its slider has all names of the kernel that is shown.
    """
    versions = checked.versions(kernel)
    found: dict[str, VariableSpaces] = {}
    for version, one in versions.items():
        one, given = one if isinstance(one, tuple) else (one, args)
        found[version] = spaces(one, grid, block, checked.arguments(given), shared_bytes=shared_bytes)
        if not found[version].variables:
            raise ValueError(f"{found[version].kernel} declares no variable, so none lives anywhere")
    room = max(map(lines_needed, found.values()))
    first = next(iter(versions))
    names = [each.name for each in found[first].variables]
    if variable is not None:
        found[first][variable]  # KeyError names those that there are
    controls = {"variable": choice("variable", variable or names[0], names)}
    if len(versions) > 1:
        controls = {"version": choice("version", first, versions), **controls}

    def fit() -> None:
        """Offer the names of the version that is shown now, and stay at the same one where it has it."""
        version = controls["version"].value if "version" in controls else first
        offer(controls["variable"], [each.name for each in found[version].variables])

    def draw(variable: str, version: str = first) -> Drawing:
        known = [each.name for each in found[version].variables]
        return where_variables_live(found[version], variable if variable in known else known[0], lines=room)

    return Explorer("lives", draw, controls, fit=fit, height=round(height(room) + 30 + CAPTION_LINES * CAPTION_LINE))


WIDEST_LINE = 64


def layout_grid(layouts: Any, *, line: int = 8, colour: str = "place", index: int = 0) -> Explorer:
    """The memory address of each coordinate of a layout, and the reverse, for one layout or several.

    `layouts`: one layout or a mapping from short names to several. A layout is text, "(4, 8):(8, 1)", a pair
    (shape, stride), a pair (function of row and column, (rows, columns)), or an object with a `shape` that is called
    with a row and a column. `line`: places in a line of memory as drawn, such as the words of all banks. A slider goes
    through the coordinates, rows first. `colour`: one of `plots.places.COLOURS`.
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


MOST_SOURCES = 10
CARDS = 76
"""Pixels of the frames and margins of the two cards, one below the other."""


def pyramid(gpu: str | None = None) -> Explorer:
    """Size, latency and bandwidth of each level of memory, from registers to the host, with sources.

    gpu: the row of the table to begin with, by name (default: the GPU chosen by `device`); the slider has them all.
    What no source gives is shown as unknown. KeyError for a GPU that the table does not have.
    """
    first = current().name if gpu is None else find(gpu).name
    height = round(PYRAMID_HEIGHT + MOST_SOURCES * SOURCE_LINE + 3 * CAPTION_LINE + CARDS)
    return Explorer(
        "pyramid", lambda gpu: memory_pyramid(find(gpu)), {"gpu": choice("GPU", first, GPUS)}, height=height
    )  # fmt: skip

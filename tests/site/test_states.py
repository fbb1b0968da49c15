"""An explorer's states as the site stores them: what its controls offer in each, and the view that belongs to it."""

from __future__ import annotations

import gzip
import json

import nbformat
import pytest

from helpers import widgets
from helpers.pictures.figures import Markup
from helpers.pictures.widgets.explorer import Explorer, slider, steps, toggle
from helpers.site.states import draw, write


def laps(start=2):
    """An explorer whose steps depend on a control that stands behind them."""
    controls = {"step": steps("step", 0, 4), "laps": slider("laps", start, 1, 5), "fast": toggle("fast")}
    controls["step"].value = 3

    def fit():
        controls["step"].max = 2 * controls["laps"].value

    def view(step, laps, fast):
        return Markup("", f"With {laps} laps this is step {step} of {2 * laps}, fast: {fast}.")

    return Explorer("laps", view, controls, fit=fit)


def states(explorer, folder, most=1200):
    """What is written of an explorer: its index, and its views by the words of all its controls."""
    write(explorer, folder, most)
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    pieces = [json.loads(gzip.decompress((folder / f"{n}.json.gz").read_bytes())) for n, _ in index["views"]]
    controls = index["controls"]

    def walk(node, chosen, order):
        if not order:
            piece, place = index["views"][node]
            yield tuple(chosen[number] for number in range(len(controls))), pieces[piece][place]
            return
        offered, *children = node
        for number, child in zip(index["offers"][offered], children, strict=True):
            yield from walk(child, chosen | {order[0]: controls[order[0]]["values"][number]}, order[1:])

    return index, dict(walk(index["states"], {}, index["order"]))


def test_a_control_offers_what_the_others_leave_it(tmp_path):
    explorer = laps()
    _index, found = states(explorer, tmp_path)
    assert set(found) == {
        (str(step), str(laps), fast)
        for laps in range(1, 6)
        for step in range(2 * laps + 1)
        for fast in ("False", "True")
    }
    for (step, laps_, fast), view in found.items():
        assert f"With {laps_} laps this is step {step} of {2 * int(laps_)}, fast: {fast}." in view
    assert explorer.values == {"step": 3, "laps": 2, "fast": False}


def test_a_stored_picture_is_one_of_the_states(tmp_path):
    """Of many values some are kept: both ends, and the one that the page shows before anything is moved."""
    index, found = states(laps(start=4), tmp_path, most=18)
    step, laps_, _fast = index["controls"]
    assert step["values"][step["start"]] == "3" and laps_["values"][laps_["start"]] == "4"
    assert len(found) <= 18
    assert {int(step) for step, laps_, _fast in found if laps_ == "5"} == {0, 3, 10}


def test_options_that_another_control_changes(tmp_path):
    _index, found = states(widgets.layout_grid({"rows": "(2, 3):(3, 1)", "line": "4:1"}), tmp_path)
    indices = lambda layout: {index for name, index, _colour in found if name == layout}
    assert (indices("rows"), indices("line")) == (set("012345"), set("0123"))


def test_an_explorer_that_fails_is_reported(tmp_path):
    cell = nbformat.v4.new_code_cell("widgets.sectors(kernel_that_is_not_there)")
    page = tmp_path / "page.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), page)
    with pytest.raises(NameError):
        draw(page, tmp_path / "states")

"""Explorers drawn ahead of time: each view that their controls can ask for, for pages that have no kernel.

    python -m helpers.site.states notebooks/04_coalescing.ipynb build/site/states 1200

runs the chapter and writes, for the explorer of cell 28, `04_coalescing/28/index.json` (its controls, and which view
belongs to which of their values) and its views in compressed pieces, which a page loads when it needs one. Equal views
are stored once. A control with many values keeps some of them, so that an explorer has at most so many states.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.site.sources import explorer_cells
from vgpu.base.words import plural

if TYPE_CHECKING:
    from helpers.pictures.widgets.controls import Control
    from helpers.pictures.widgets.explorer import Explorer

MOST = 1200  # states of one explorer
FEWEST = 3  # values of a control, if it has so many
PIECE = 1_500_000  # characters of views in one file
Node = list[tuple[Any, Any]] | int
"""A control's values in one state of those before it, each with the node of the next control; or a view's number."""


def draw(notebook: Path, target: Path, most: int = MOST) -> list[int]:
    """Run a notebook and write the states of its explorers; the numbers of their cells."""
    from IPython.core.interactiveshell import InteractiveShell

    page = json.loads(notebook.read_text(encoding="utf-8"))
    wanted, shell, done = explorer_cells(page), InteractiveShell.instance(), []
    os.chdir(notebook.parent)
    for number, cell in enumerate(page["cells"][: max(wanted, default=-1) + 1]):
        if cell["cell_type"] != "code":
            continue
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            ran = shell.run_cell("".join(cell["source"]))
        if number in wanted:
            ran.raise_error()
            write(ran.result, target / notebook.stem / str(number), most)
            done.append(number)
    return done


def write(explorer: Explorer, target: Path, most: int = MOST) -> None:
    """Draw the states of an explorer and write them into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    present = explorer.values
    order, states, views = _walk(explorer, most)
    pieces: list[list[str]] = [[]]
    places = []
    for html in views:
        if pieces[-1] and sum(map(len, pieces[-1])) + len(html) > PIECE:
            pieces.append([])
        places.append([len(pieces) - 1, len(pieces[-1])])
        pieces[-1].append(html)
    for number, piece in enumerate(pieces):
        packed = gzip.compress(json.dumps(piece, ensure_ascii=False).encode(), 9, mtime=0)
        (target / f"{number}.json.gz").write_bytes(packed)
    every = {name: _all_of(control, states, order.index(name)) for name, control in explorer.controls.items()}
    described = [_described(explorer.controls[name], values, present[name]) for name, values in every.items()]
    offers: dict[tuple, int] = {}
    index = {
        "controls": described, "order": [list(every).index(name) for name in order],
        "states": _numbered(states, [every[name] for name in order], offers), "offers": list(offers), "views": places,
    }  # fmt: skip
    (target / "index.json").write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")


def _walk(explorer: Explorer, most: int) -> tuple[list[str], Node, dict[str, int]]:
    """The order of the controls, those that others' values depend on first; the states in this order; all views."""
    present, (sizes, dependent) = explorer.values, _ranges(explorer)
    order, kept = sorted(sizes, key=lambda name: name in dependent), _fewer(sizes, most)
    views: dict[str, int] = {}

    def node(values: dict[str, Any]) -> Node:
        if len(values) == len(order):
            return views.setdefault(explorer.html_at(values), len(views))
        name = order[len(values)]
        explorer.place(values)
        offered = _some(_values(explorer.controls[name]), kept[name], present[name])
        return [(value, node(values | {name: value})) for value in offered]

    states = node({})
    explorer.place({name: present[name] for name in order})
    return order, states, views


def _ranges(explorer: Explorer) -> tuple[dict[str, int], set[str]]:
    """How many values each control offers at most, and the controls that offer others where another one is moved."""
    present, controls = explorer.values, explorer.controls
    first = {name: _values(control) for name, control in controls.items()}
    sizes, dependent = {name: len(values) for name, values in first.items()}, set()
    for moved, values in first.items():
        for value in values:
            explorer.place({moved: value})
            for name, control in controls.items():
                if name != moved and (offered := _values(control)) != first[name]:
                    dependent.add(name)
                    sizes[name] = max(sizes[name], len(offered))
        explorer.place({moved: present[moved]})
        for name in dependent:
            explorer.place({name: present[name]})
    return sizes, dependent


def _values(control: Any) -> list[Any]:
    """All values that a control has now, in its order."""
    if hasattr(control, "options"):
        return [each[1] if isinstance(each, tuple) else each for each in control.options]
    if isinstance(control.value, bool):
        return [False, True]
    return list(range(control.min, control.max + 1, getattr(control, "step", 1)))


def _fewer(sizes: Mapping[str, int], most: int) -> dict[str, int]:
    """How many values to keep of each control, fewer of those with most, for about `most` states."""
    kept = dict(sizes)
    while math.prod(kept.values()) > most and max(kept.values()) > FEWEST:
        longest = max(kept, key=lambda name: kept[name])
        kept[longest] = max(FEWEST, math.ceil(kept[longest] * 2 / 3))
    return kept


def _some(values: Sequence[Any], count: int, wanted: Any) -> list[Any]:
    """So many of the values, evenly apart: both ends and, if it's one of them, the wanted one."""
    if len(values) <= count:
        return list(values)
    evenly = lambda number: {round(i * (len(values) - 1) / (number - 1)) for i in range(number)}
    places = evenly(count)
    if wanted in values and (place := values.index(wanted)) not in places:
        places = evenly(count - 1) | {place}
    return [values[place] for place in sorted(places)]


def _all_of(control: Any, node: Node, depth: int) -> list[Any]:
    """All values that a control has in some state, in its order."""
    nodes: list[Any] = [node]
    for _ in range(depth):
        nodes = [child for each in nodes for _value, child in each]
    every = list(dict.fromkeys(value for each in nodes for value, _child in each))
    return every if hasattr(control, "options") else sorted(every)


def _numbered(node: Node, every: Sequence[Sequence[Any]], offers: dict[tuple, int]) -> Any:
    """A node as a page reads it: [number of the values offered, child, child, …], or the number of a view.

    `offers`: those values, as numbers in `every`, which has all values of each control in order.
    """
    if isinstance(node, int):
        return node
    offered = tuple(every[0].index(value) for value, _child in node)
    return [offers.setdefault(offered, len(offers)), *(_numbered(child, every[1:], offers) for _value, child in node)]


def _described(control: Control, values: Sequence[Any], present: Any) -> dict[str, Any]:
    from helpers.pictures.widgets.controls import words_for

    kind = "box" if isinstance(control.value, bool) else "steps" if hasattr(control, "player") else (
        "list" if type(control).__name__ == "Dropdown" else "slider"
    )  # fmt: skip
    words = [words_for(control, value) for value in values]
    return {"name": control.description, "kind": kind, "values": words, "start": values.index(present)}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("most", type=int)
    given = parser.parse_args(arguments)
    done = draw(given.notebook.resolve(), given.target.resolve(), given.most)
    print(f"{given.notebook.name}: {plural(len(done), 'explorer')}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

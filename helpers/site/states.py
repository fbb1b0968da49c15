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
import itertools
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.site.sources import explorer_cells

if TYPE_CHECKING:
    from helpers.pictures.widgets.controls import Control
    from helpers.pictures.widgets.explorer import Explorer

MOST = 1200  # states of one explorer
PIECE = 1_500_000  # characters of views in one file


def draw(notebook: Path, target: Path, most: int = MOST) -> list[int]:
    """Run a notebook and write the states of its explorers; the numbers of their cells."""
    from IPython.core.interactiveshell import InteractiveShell

    from helpers.pictures.widgets.explorer import Explorer

    page = json.loads(notebook.read_text(encoding="utf-8"))
    wanted, shell, done = explorer_cells(page), InteractiveShell.instance(), []
    os.chdir(notebook.parent)
    for number, cell in enumerate(page["cells"][: max(wanted, default=-1) + 1]):
        if cell["cell_type"] != "code":
            continue
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            ran = shell.run_cell("".join(cell["source"]))
        if number in wanted and isinstance(ran.result, Explorer):
            write(ran.result, target / notebook.stem / str(number), most)
            done.append(number)
    return done


def write(explorer: Explorer, target: Path, most: int = MOST) -> None:
    """Draw all states of an explorer and write them into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    controls = _thinned({name: _values(control) for name, control in explorer.controls.items()}, most)
    views: dict[str, int] = {}
    which = [views.setdefault(explorer.html_at(state), len(views)) for state in _states(controls)]
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
    shown, present = explorer.controls, explorer.values
    described = [_described(shown[name], values, present[name]) for name, values in controls.items()]
    index = {"controls": described, "views": places, "which": which}
    (target / "index.json").write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")


def _states(controls: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """The values of all controls, the last one's the fastest."""
    for values in itertools.product(*controls.values()):
        yield dict(zip(controls, values, strict=True))


def _values(control: Any) -> list[Any]:
    """All values that a control can have, in its order."""
    if hasattr(control, "options"):
        return [each[1] if isinstance(each, tuple) else each for each in control.options]
    if isinstance(control.value, bool):
        return [False, True]
    return list(range(control.min, control.max + 1, getattr(control, "step", 1)))


def _thinned(controls: dict[str, list[Any]], most: int) -> dict[str, list[Any]]:
    """Fewer values of the longest controls, evenly apart and with both ends, until there are at most `most` states."""
    controls = dict(controls)
    while math.prod(map(len, controls.values())) > most:
        longest = max(controls, key=lambda name: len(controls[name]))
        values = controls[longest]
        fewer = max(2, math.ceil(len(values) * 2 / 3))
        if fewer == len(values):
            break
        controls[longest] = [values[round(i * (len(values) - 1) / (fewer - 1))] for i in range(fewer)]
    return controls


def _described(control: Control, values: Sequence[Any], present: Any) -> dict[str, Any]:
    from helpers.pictures.widgets.controls import words_for

    kind = "box" if isinstance(control.value, bool) else "steps" if hasattr(control, "player") else (
        "list" if type(control).__name__ == "Dropdown" else "slider"
    )  # fmt: skip
    start = values.index(present) if present in values else 0
    return {
        "name": control.description, "kind": kind, "values": [words_for(control, value) for value in values],
        "start": start,
    }  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("most", type=int)
    given = parser.parse_args(arguments)
    done = draw(given.notebook.resolve(), given.target.resolve(), given.most)
    print(f"{given.notebook.name}: {len(done)} explorers")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

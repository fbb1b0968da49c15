"""Results over several seeds: a page trains one, and `warpbook repeat <chapter>` runs the page's cells with others.

A cell notes its figures with `note`. On a page they are this run's; under `warpbook repeat` they are kept in a file
of the chapter, beside the processor, the versions and the command, and `table` shows them on every page from then on.
"""

from __future__ import annotations

import functools
import html
import io
import json
import os
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from vgpu.tools.profile_table import text_table

FOLDER = Path(__file__).parent / "repeated"
SEED, INTO = "WARPBOOK_SEED", "WARPBOOK_REPEAT_INTO"
"""What `warpbook repeat` sets: the seed, and the folder that takes what is noted."""

Value = float | int | str
Row = dict[str, Value]
_T = TypeVar("_T")

seed = int(os.environ.get(SEED, 0))
"""The seed to train with: 0 on a page, and others under `warpbook repeat`."""
_noted: dict[str, dict[str, Row]] = {}
_held: dict[str, np.ndarray] = {}


def repeating() -> bool:
    """Whether `warpbook repeat` runs the page."""
    return INTO in os.environ


def choose(page: _T, full: _T) -> _T:
    """`page` where a learner runs the page, which has to be short; `full` under `warpbook repeat`."""
    return full if repeating() else page


def note(table: str, row: str, **values: Value) -> None:
    """Note figures of a table's row: numbers, or words that are the same for all seeds. Noted twice, it is updated."""
    known = _noted.setdefault(table, {}).setdefault(row, {})
    known.update({name: value.item() if hasattr(value, "item") else value for name, value in values.items()})
    if repeating():
        Path(os.environ[INTO], f"{seed}.json").write_text(json.dumps(_noted), encoding="utf-8")


def keep(name: str, array: np.ndarray) -> None:
    """Keep a small array of the first seed's run, such as samples: uint8 or float. A page keeps nothing."""
    if repeating():
        _held[name] = np.asarray(array)
    if repeating() and seed == 0:
        np.save(Path(os.environ[INTO], f"{name}.npy"), np.asarray(array), allow_pickle=False)


def kept(chapter: str, name: str) -> np.ndarray:
    """The array kept under this name when the chapter was last repeated. Raises KeyError where there is none.

    Under `warpbook repeat` it is what this run has kept.
    """
    if repeating():
        return _held[name]
    with np.load(FOLDER / f"{chapter}.npz", allow_pickle=False) as arrays:
        return arrays[name]


def table(chapter: str, name: str) -> Repeated:
    """The rows of a table over all seeds, as they were committed, beside what this page has noted so far.

    chapter: as in the notebook's name, "19" or "19b". Its text and HTML show the median of the seeds with the lowest
    and the highest. Raises KeyError for a table that the chapter's file doesn't have.
    """
    stored = _stored(chapter)
    runs = {given: tables[name] for given, tables in stored["seeds"].items() if name in tables}
    if not runs and not repeating():
        known = sorted({each for tables in stored["seeds"].values() for each in tables})
        raise KeyError(f"no table {name!r} is kept for chapter {chapter}; there are: {', '.join(known) or 'none'}")
    return Repeated(name, runs, _noted.get(name, {}), _about(chapter, stored, len(runs)))


@functools.cache
def _stored(chapter: str) -> dict:
    path = FOLDER / f"{chapter}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"seeds": {}}


def _about(chapter: str, stored: dict, seeds: int) -> str:
    if not stored["seeds"]:
        return f"nothing is kept yet: warpbook repeat {chapter}"
    runs = f"median (lowest–highest) of {seeds} seeds" if seeds > 1 else "one seed"
    where = f"measured on {stored['processor']}, PyTorch {stored['torch']}, {stored['date']}"
    return f"{runs}, {where}: warpbook repeat {chapter}"


@dataclass(frozen=True)
class Repeated:
    """A table over seeds. `rows` gives the committed figures; `here` is what this page noted."""

    name: str
    runs: dict[str, dict[str, Row]] = field(repr=False)
    here: dict[str, Row] = field(repr=False)
    about: str

    @property
    def rows(self) -> dict[str, dict[str, list[Value]]]:
        """For each row and each of its columns the values of all seeds, in order."""
        found: dict[str, dict[str, list[Value]]] = {}
        for run in self.runs.values():
            for row, values in run.items():
                for column, value in values.items():
                    found.setdefault(row, {}).setdefault(column, []).append(value)
        return found

    def median(self, row: str, column: str) -> float:
        """The middle one of the seeds' values."""
        return statistics.median(float(value) for value in self.rows[row][column])

    def _cells(self) -> Iterator[list[str]]:
        columns = list(dict.fromkeys(column for values in self.rows.values() for column in values))
        compared = columns[0] if columns else ""
        mine = any(compared in values for values in self.here.values())
        yield ["", *columns, *([f"{compared}, this run"] if mine else [])]
        for row, values in self.rows.items():
            own = [_number(self.here.get(row, {}).get(compared, ""))] if mine else []
            yield [row, *(_spread(values.get(column, [])) for column in columns), *own]

    def __repr__(self) -> str:
        head, *body = self._cells()
        heading, _, *rows = text_table(head, body, left=0)
        return "\n".join([heading, *rows, self.about])

    def _repr_html_(self) -> str:
        small = r'<br><span style="font-size: 85%; white-space: nowrap">\1</span>'
        head, *body = ([html.escape(cell) for cell in line] for line in self._cells())
        body = [[row, *(re.sub(r" (\(.+–.+\))$", small, cell) for cell in cells)] for row, *cells in body]
        made = io.StringIO()
        made.write(
            f'<table><caption style="caption-side: bottom; text-align: left">{html.escape(self.about)}</caption>'
        )
        made.write("<thead><tr>" + "".join(f'<th scope="col">{cell}</th>' for cell in head) + "</tr></thead><tbody>")
        for row, *cells in body:
            made.write(f'<tr><th scope="row" style="text-align: left">{row}</th>')
            made.write("".join(f'<td style="text-align: right">{cell}</td>' for cell in cells) + "</tr>")
        made.write("</tbody></table>")
        return made.getvalue()


def _number(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) or (abs(value) >= 1000 and float(value).is_integer()):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _spread(values: list[Value]) -> str:
    """The median of numbers with the lowest and the highest, or the one value that all have."""
    if len(set(values)) <= 1:
        return _number(values[0]) if values else ""
    numbers = sorted(float(value) for value in values)
    return f"{_number(statistics.median(numbers))} ({_number(numbers[0])}–{_number(numbers[-1])})"

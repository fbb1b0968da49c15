"""The author's notebook of a lab as data: its cells told apart, who answers what, and what each graded cell asks for.

`read` needs a notebook only; `source_rules.examine` says what the author should mend.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

SOLUTION, GRADED, LOCKED, FREE = "solution", "graded", "locked", "free"
UNSUPPORTED = "unsupported"
KINDS = {
    SOLUTION: "the learner's answer stands here",
    GRADED: "worth points: it calls probe",
    LOCKED: "fixed by the author",
    FREE: "has no nbgrader metadata: the learner may change or delete it",
    UNSUPPORTED: "marked by hand (an nbgrader task or a graded answer), which the grader here can not do",
}
"""The kinds of cells."""

NOT_RUN = ("feedback", "explore")
"""Tags of cells that are for the learner's eyes: they cost time and decide nothing."""


class SourceError(ValueError):
    """The file is no notebook that can be read at all; the message says why."""


@dataclass(frozen=True)
class Probe:
    """What a graded cell asks for: `probe(expression, "exercise", "part")`."""

    expression: str
    exercise: str
    part: str


@dataclass(frozen=True)
class Cell:
    """One cell: `number` counts from 1, `id` is Jupyter's, `grade_id` nbgrader's ("" where there is none)."""

    number: int
    id: str
    cell_type: str
    kind: str
    source: str
    grade_id: str = ""
    points: float = 0.0
    tags: tuple[str, ...] = ()
    metadata: Mapping = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_code(self) -> bool:
        return self.cell_type == "code"

    @cached_property
    def probe(self) -> Probe | None:
        """The first call of probe that can be read, in graded cells."""
        return next(iter(probes(self.source)), None) if self.kind == GRADED else None

    @property
    def asked(self) -> Probe:
        """The probe of a graded cell: in a lab that is fit to be graded each has one."""
        assert self.probe is not None
        return self.probe

    @property
    def is_feedback(self) -> bool:
        """Whether it only tells the learner something: tagged so, or it calls `check`."""
        if not self.is_code or self.kind in (SOLUTION, GRADED):
            return False
        return any(tag in NOT_RUN for tag in self.tags) or bool(calls(self.source, "check"))


@dataclass(frozen=True)
class Lab:
    """A lab as its author wrote it; `notebook` is the whole file."""

    name: str
    path: Path = field(compare=False)
    cells: tuple[Cell, ...] = field(repr=False)
    notebook: Mapping = field(repr=False, compare=False)

    @property
    def solutions(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.kind == SOLUTION)

    @property
    def graded(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.kind == GRADED)

    @property
    def title(self) -> str:
        """Its first heading, else the name."""
        lines = (line for cell in self.cells if not cell.is_code for line in cell.source.split("\n"))
        return next((line[2:].strip() for line in lines if line.startswith("# ")), self.name)

    @property
    def out_of(self) -> float:
        """The points that can be earned."""
        return sum(cell.points for cell in self.graded)

    @property
    def exercises(self) -> tuple[str, ...]:
        """The keys of the exercises, in the order in which they are graded."""
        return tuple(dict.fromkeys(cell.probe.exercise for cell in self.graded if cell.probe))

    @property
    def ids(self) -> tuple[str, ...]:
        """nbgrader's ids, in order."""
        return tuple(cell.grade_id for cell in self.cells if cell.grade_id)

    def only(self, exercises: Sequence[str]) -> Lab:
        """The same lab with some of its exercises: their solution and graded cells, and code cells before them all."""
        first = min(cell.number for cell in self.cells if self.exercise_of(cell))
        kept = [cell.number - 1 for cell in self.cells if cell.number < first or self.exercise_of(cell) in exercises]
        cells = [self.notebook["cells"][place] for place in kept]
        return lab({**self.notebook, "cells": cells}, self.path)

    def cell(self, grade_id: str) -> Cell:
        """The cell with nbgrader's id `grade_id`; raises KeyError."""
        for cell in self.cells:
            if cell.grade_id == grade_id:
                return cell
        raise KeyError(f"{self.name} has no cell {grade_id!r}")

    def answered_in(self, exercise: str) -> tuple[Cell, ...]:
        """The solution cells of an exercise, by their ids: `lab05-total` and `lab05-total-…` answer lab05.total."""
        return tuple(cell for cell in self.solutions if self.exercise_of(cell) == exercise)

    def exercise_of(self, cell: Cell) -> str | None:
        """The exercise that a solution or graded cell belongs to."""
        if cell.kind == GRADED:
            return cell.probe.exercise if cell.probe else None
        keys = [key for key in self.exercises if (cell.grade_id + "-").startswith(slug(key) + "-")]
        return max(keys, key=len, default=None)


def slug(text: str) -> str:
    """Letters, digits and hyphens: how a key or a part is written in a cell's id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


# -- reading --------------------------------------------------------------------------------------------


def read(path: Path | str) -> Lab:
    """The lab whose author's notebook is at `path`: the file, or the folder of its name that holds it.

    Raises SourceError.
    """
    path = Path(path)
    path = path / f"{path.name}.ipynb" if path.is_dir() else path
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SourceError(f"There is no notebook {path}.") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise SourceError(f"{path} is no notebook: {error}.") from error
    return lab(notebook, path)


def lab(notebook: Mapping, path: Path) -> Lab:
    """The lab that is made of the notebook `notebook`, called after the file `path`; raises SourceError."""
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4 or not isinstance(notebook.get("cells"), list):
        raise SourceError(f"{path} is no notebook of format 4: open it in JupyterLab and save it.")
    try:
        cells = tuple(_cell(number, cell) for number, cell in enumerate(notebook["cells"], 1))
    except (KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"{path} has a cell that is not as Jupyter writes them: {error!r}.") from error
    return Lab(path.stem, path, cells, notebook)


def _cell(number: int, cell: Mapping) -> Cell:
    metadata = cell["metadata"]
    marks = metadata.get("nbgrader", {})
    points, grade_id = marks.get("points", 0.0), marks.get("grade_id", "")
    return Cell(
        number,
        cell.get("id", ""),
        cell["cell_type"],
        kind_of(marks),
        "".join(cell["source"]),
        grade_id if isinstance(grade_id, str) else "",
        float(points) if isinstance(points, int | float) else 0.0,
        tuple(metadata.get("tags", ())),
        metadata,
    )


def kind_of(marks: Mapping) -> str:
    """The kind of a cell by its nbgrader metadata."""
    if marks.get("task") or (marks.get("grade") and marks.get("solution")):
        return UNSUPPORTED
    for flag, kind in (("solution", SOLUTION), ("grade", GRADED), ("locked", LOCKED)):
        if marks.get(flag):
            return kind
    return FREE


# -- what the code of a cell says -----------------------------------------------------------------------


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a cell, lines of magic left out; None where it is no Python."""
    lines = ["pass" if re.match(r"[%!?]", line) else line for line in source.split("\n")]
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return None


def calls(source: str, name: str) -> list[ast.Call]:
    """The calls of the function `name` in a cell."""
    tree = parsed(source)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    return [node for node in found if isinstance(node.func, ast.Name) and node.func.id == name]


def probes(source: str) -> list[Probe]:
    """What the calls of `probe` in a cell ask for; those that are not of the wanted form are left out."""
    found = []
    for call in calls(source, "probe"):
        match call:
            case ast.Call(_, [asked, ast.Constant(str(key)), ast.Constant(str(part))], []):
                found.append(Probe(ast.get_source_segment(source, asked) or "", key, part))
    return found

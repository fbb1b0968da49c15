"""The author's notebook → the learner's: solutions and hidden tests out, nothing else changed.

The file is the one that `nbgrader generate_assignment` makes with nbgrader_config.py, byte for byte; so the learner's
file serves nbgrader too.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers.grading.regions import HIDDEN, SOLUTION, STUB, replaced
from helpers.grading.source import FREE, GRADED, LOCKED, Cell, Lab
from helpers.grading.source import SOLUTION as SOLUTION_CELL

TRANSIENT = ("orig_nbformat", "orig_nbformat_minor", "signature", "celltoolbar")
OF_OUTPUTS = ("collapsed", "scrolled")
LAYOUT: dict[str, Any] = {"indent": 1, "sort_keys": True, "ensure_ascii": False}  # nbformat's


def released(lab: Lab) -> dict:
    """The learner's notebook."""
    notebook = {name: copy.deepcopy(value) for name, value in lab.notebook.items() if name != "cells"}
    for name in TRANSIENT:
        notebook["metadata"].pop(name, None)
    notebook["cells"] = [_released(cell, raw) for cell, raw in zip(lab.cells, lab.notebook["cells"], strict=True)]
    return notebook


def learners_source(cell: Cell) -> str:
    """What a learner gets to read in a cell."""
    return replaced(replaced(cell.source, SOLUTION, [STUB]), HIDDEN)


def _released(cell: Cell, raw: Mapping) -> dict:
    made = copy.deepcopy(dict(raw))
    made["source"] = learners_source(cell)
    metadata = made["metadata"]
    metadata.pop("trusted", None)
    if cell.is_code:
        made |= {"outputs": [], "execution_count": None}
        for name in OF_OUTPUTS:
            metadata.pop(name, None)
    if cell.kind != FREE:
        metadata["deletable"] = False
        metadata["nbgrader"] |= {"checksum": checksum(cell, made["source"]), "cell_type": cell.cell_type}
    if cell.kind in (GRADED, LOCKED):
        metadata["editable"] = False
    return made


def checksum(cell: Cell, source: str) -> str:
    """nbgrader's checksum of a cell that is given out as `source`: by it nbgrader sees whether it was changed."""
    graded = cell.kind == GRADED
    parts = [source, cell.cell_type, graded, cell.kind == SOLUTION_CELL, cell.kind in (GRADED, LOCKED), cell.grade_id]
    parts += [cell.points] if graded else []
    return hashlib.md5("".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()


def as_bytes(notebook: Mapping) -> bytes:
    """A notebook without outputs as nbformat writes it: the same bytes for the same notebook."""
    text = json.dumps({**notebook, "cells": [_in_lines(cell) for cell in notebook["cells"]]}, **LAYOUT)
    return (text + "\n").encode()


def _in_lines(cell: Mapping) -> dict:
    """A cell with its texts as lists of lines, as notebooks are stored."""
    made = {**cell, "source": "".join(cell["source"]).splitlines(True)}
    if "attachments" in cell:
        made["attachments"] = {
            name: {kind: _lines(data) if is_text(kind) else data for kind, data in bundle.items()}
            for name, bundle in cell["attachments"].items()
        }
    return made


def is_text(kind: str) -> bool:
    """Whether nbformat stores this kind of data in lines."""
    return kind.startswith("text/") or kind in ("application/javascript", "image/svg+xml")


def _lines(data: str | list[str]) -> list[str]:
    return "".join(data).splitlines(True)


def learners_path(lab: Lab, folder: Path) -> Path:
    """Where the learner's notebook lies under `folder`, the folder of labs."""
    return folder / lab.name / f"{lab.name}.ipynb"

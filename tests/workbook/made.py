"""Small notebooks made up for the tests of the runner and of the style rules."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


def code(source: str, *tags: str, outputs=(), count: int | None = None):
    return new_code_cell(
        source, metadata={"tags": list(tags)} if tags else {}, outputs=list(outputs), execution_count=count
    )


def text(source: str, *tags: str):
    return new_markdown_cell(source, metadata={"tags": list(tags)} if tags else {})


def notebook(*cells):
    made = new_notebook(cells=list(cells))
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"
    return made


def written(folder: Path, *cells, name: str = "01_made.ipynb") -> Path:
    path = folder / name
    nbformat.write(notebook(*cells), path)
    return path

"""A chapter with its explorers and what they need, so that a walk through them does not wait for all the rest."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def explorers_only(path: Path) -> None:
    """Leave out, in the notebook at `path`, every code cell that no explorer of it needs."""
    notebook = nbformat.read(path, 4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    needed = {id(code[number]) for number in needed_by_explorers([cell.source for cell in code])}
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type != "code" or id(cell) in needed]
    nbformat.write(notebook, path)


def needed_by_explorers(sources: list[str]) -> list[int]:
    """Numbers, in order and from 0, of the cells that show an explorer or give a name that those cells use.

    Names are looked at wherever they stand, also within functions: rather a cell too many than one too few.
    """
    wanted: set[str] = set()
    found = []
    for number in reversed(range(len(sources))):
        tree = ast.parse(TransformerManager().transform_cell(sources[number]))
        if shows_an_explorer(tree) or wanted.intersection(given(tree)):
            found.append(number)
            wanted.update(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and is_read(node))
    return found[::-1]


def is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def shows_an_explorer(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and ast.unparse(node.value) == "widgets" for node in ast.walk(tree))


def given(tree: ast.AST) -> Iterator[str]:
    """The names that code binds, and those of what it writes into."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield (other or name).split(".")[0]
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                yield from (part.id for part in ast.walk(node.value) if isinstance(part, ast.Name))

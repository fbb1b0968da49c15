"""Sections that a learner may skip: their headings end in "(optional)", and no later section may need their code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode

from helpers.workbook.markdown import unfenced

HEADING = re.compile(r"^(#{2,6}) +(.+?) *#*$", re.MULTILINE)
MARK = "(optional)"


def optional(cells: Sequence[NotebookNode]) -> list[bool]:
    """For each cell whether it belongs to an optional section: up to the next heading of its level or a higher one."""
    found, level = [], 0
    for cell in cells:
        if cell.cell_type == "markdown":
            for marks, title in HEADING.findall(unfenced(cell.source)):
                if level and len(marks) <= level:
                    level = 0
                if title.endswith(MARK) and not level:
                    level = len(marks)
        found.append(level > 0)
    return found


def needed(cells: Sequence[NotebookNode], skipped: Sequence[bool] | None = None) -> Iterator[tuple[int, str]]:
    """Cells, by number from 1, that need a name which only the code of skipped cells defines, and that name.

    `skipped`: for each cell whether it is, by default those of optional sections.
    """
    only_skipped: set[str] = set()
    defined: set[str] = set()
    for number, (cell, is_skipped) in enumerate(zip(cells, skipped or optional(cells), strict=True), 1):
        if cell.cell_type != "code":
            continue
        stored, loaded = names(cell.source)
        if is_skipped:
            only_skipped |= stored - defined
            continue
        yield from ((number, name) for name in sorted((loaded - stored - defined) & only_skipped))
        defined |= stored
        only_skipped -= stored


def names(source: str) -> tuple[set[str], set[str]]:
    """The names that code defines, and those that it reads; parameters count as defined."""
    stored, loaded = set(), set()
    for node in ast.walk(ast.parse(re.sub(r"^\s*[%!].*$", "", source, flags=re.MULTILINE))):
        match node:
            case ast.Name(name, ast.Load()):
                loaded.add(name)
            case ast.Name(name) | ast.FunctionDef(name) | ast.ClassDef(name) | ast.arg(name):
                stored.add(name)
            case ast.alias(name, asname):
                stored.add((asname or name).partition(".")[0])
    return stored, loaded

"""What each chapter holds, in one table: for whoever plans, compares or edits chapters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from helpers.workbook import chapters
from helpers.workbook import run as notebooks
from helpers.workbook import style as notebook_style

HEADS = ("chapter", "seconds", "cells", "code", "words", "words/line", "explorers", "predictions", "exercises")


def table(paths: Sequence[Path], *, run: bool = False) -> str:
    """A row for each chapter; `run` runs them for the seconds, whose column is empty otherwise.

    `code`: code cells; `words/line`: words of prose for each line of code.
    """
    rows = [HEADS, *(_row(path, run) for path in paths)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    lines = []
    for row in rows:
        first, *numbers = row
        cells = [first.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])]
        lines.append("  ".join(cells))
    return "\n".join(lines)


def _row(path: Path, run: bool) -> tuple[str, ...]:
    chapter, page = chapters.read(path), notebook_style.open_page(path)
    seconds = f"{notebooks.run(path).seconds:.1f}" if run else "–"
    return (
        f"{chapter.number} {chapter.title}",
        seconds,
        str(len(page.cells)),
        str(len(page.code())),
        f"{sum(notebook_style.words(source) for _, source in page.markdown()):,}",
        f"{notebook_style.words_per_code_line(page):.1f}",
        str(len(chapter.explorers)),
        str(len(chapter.predictions)),
        str(len(chapter.exercises)),
    )

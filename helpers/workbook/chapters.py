"""The chapters and labs as they stand in their notebooks: title, predictions, exercises, explorers.

Nothing of this is listed anywhere else: what a chapter asks is read from the calls in its cells.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import not_
from pathlib import Path

HERE = Path(__file__).resolve().parents[2] / "notebooks"
PAGES = "[0-9][0-9]*_*.ipynb"
"""Chapters' files: a chapter in two parts has 19_….ipynb and 19b_….ipynb."""
NOT_EXPLORERS = frozenset({"choice", "dropdown", "slider", "steps", "toggle"})


@dataclass(frozen=True)
class Chapter:
    """One notebook: its number and title, the keys of its predictions and exercises in order, its explorers."""

    path: Path
    title: str
    predictions: tuple[str, ...]
    exercises: tuple[str, ...]
    explorers: tuple[str, ...]

    @property
    def number(self) -> str:
        """What its file's name begins with: two digits, and a letter where it is a chapter's second part."""
        return self.path.name.partition("_")[0]

    @property
    def name(self) -> str:
        """What it is called in a list: a lab's title has its number."""
        return f"{self.number} {self.title}" if self.number[0].isdigit() else self.title

    @property
    def place(self) -> str:
        """Where something is in it: "chapter 05", "lab 05"."""
        return f"chapter {self.number}" if self.number[0].isdigit() else f"lab {self.path.name[3:5]}"


def folder() -> Path:
    """The folder of notebooks: where one is at work, else beside the installed helpers."""
    for place in (Path.cwd(), *Path.cwd().parents):
        for candidate in (place, place / "notebooks"):
            if next(candidate.glob(PAGES), None):
                return candidate
    return HERE


def chapters(where: Path | None = None) -> tuple[Chapter, ...]:
    """All chapters of a folder, in order."""
    return tuple(read(path) for path in sorted((where or folder()).glob(PAGES)))


def labs(where: Path | None = None) -> tuple[Chapter, ...]:
    """All labs as learners get them, from the folder `labs` beside the one of the chapters, in order."""
    beside = (where or folder()).resolve().parent / "labs"
    return tuple(read(path) for path in sorted(beside.glob("lab[0-9][0-9]_*/lab[0-9][0-9]_*.ipynb")))


def read(path: Path, skipped: Sequence[bool] = ()) -> Chapter:
    """The chapter or lab at `path`; of `skipped` cells nothing is asked."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources: dict[str, list[str]] = {"markdown": [], "code": []}
    for cell in compress(cells, map(not_, skipped)) if skipped else cells:
        source = cell["source"]
        sources.setdefault(cell["cell_type"], []).append(source if isinstance(source, str) else "".join(source))
    title = re.search(r"^# +(.+?) *$", "\n".join(sources["markdown"]), flags=re.MULTILINE)
    found = [call for source in sources["code"] for call in calls(source)]
    return Chapter(
        path,
        title[1] if title else path.stem,
        tuple(key for name, node in found if name == "predict" and (key := _keyword(node, "key"))),
        tuple(dict.fromkeys(key for name, node in found if name == "check" and (key := _second(node)))),
        tuple(name.removeprefix("widgets.") for name, _ in found if is_explorer(name)),
    )


def is_explorer(call: str) -> bool:
    """Whether a call, by its dotted name, makes an explorer."""
    return call.startswith("widgets.") and call.removeprefix("widgets.") not in NOT_EXPLORERS


def calls(source: str) -> Iterator[tuple[str, ast.Call]]:
    """Every call in a cell, in order, with its dotted name; none where the cell is no plain Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node.func, ast.Name | ast.Attribute):
            yield ast.unparse(node.func), node


def _keyword(node: ast.Call, name: str) -> str | None:
    return next((_text(word.value) for word in node.keywords if word.arg == name), None)


def _second(node: ast.Call) -> str | None:
    return _text(node.args[1]) if len(node.args) > 1 else _keyword(node, "key")


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None

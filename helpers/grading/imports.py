"""What the fork servers import before any job comes: what the cells of a lab and the rows of its exercises import.

PyTorch and scikit-learn take seconds of a CPU to import, and a kernel that dies is started anew.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec

from helpers.checking.exercise import BOOKS, book_folder
from helpers.grading.source import Lab

WHEN_USED = {"torch": "torch._dynamo"}
"""What a package imports when it is first used: `torch.optim` for the first optimiser, in 2.5 s of a CPU."""


def of_lab(lab: Lab) -> tuple[str, ...]:
    """The modules that a lab's cells import, in the author's notebook."""
    return modules(cell.source for cell in lab.cells if cell.is_code and not cell.is_feedback)


def of_exercises(keys: Iterable[str]) -> tuple[str, ...]:
    """The modules that the cases of exercises import, when they are imported or later."""
    books = {key.split(".")[0] for key in keys} & set(BOOKS)
    files = (path for book in books for pattern in ("*.py", "*/cases.py") for path in book_folder(book).glob(pattern))
    return modules(path.read_text(encoding="utf-8") for path in files)


def modules(sources: Iterable[str]) -> tuple[str, ...]:
    """The modules, sorted, that are imported in any of the sources: of other packages, and that are installed."""
    found = {name for source in sources for name in _imported(source)}
    found |= {later for package, later in WHEN_USED.items() if any(_package(name) == package for name in found)}
    return tuple(sorted(name for name in found if find_spec(_package(name)) is not None))


def _imported(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with a magic
        return
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        yield from (name for name in names if _package(name) not in {"helpers", "vgpu", *sys.stdlib_module_names})


def _package(name: str) -> str:
    return name.partition(".")[0]

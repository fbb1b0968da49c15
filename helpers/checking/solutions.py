"""Solutions as text, the ways to be wrong that patch them, and the answers that such text makes.

A chapter's solution stands in its exercise. A lab's is in the lab's source, which learners do not have: there the text
is that of the solution's cell, and the answer is what the cells that are graded hand to `probe`.
"""

from __future__ import annotations

import ast
import json
import linecache
import re
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from helpers.checking.exercise import OWN, Exercise, Way
from helpers.checking.exercise_files import NoWay, replaced

LABS = Path(__file__).resolve().parents[2] / "labs" / "source"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


@cache
def solution_of(task: Exercise) -> str:
    """The solution's text; of a lab, its cell with the lines that mark the region to fill."""
    return _solution_cell(task)["source"] if task.of_a_lab else task.solution


def patched(task: Exercise, way: Way) -> str:
    """The solution with one way to be wrong in it; raises NoWay where a patch does not fit.

    A pair (old, new), or several, replace every `old` by `new`. A text takes the place of the solution: of the whole
    of it if it has the head of a kernel or function, else of the body.
    """
    text = solution_of(task)
    if isinstance(way, str):
        return _with_body(task, text, way)
    try:
        return replaced(text, (way,) if isinstance(way[0], str) else way)
    except NoWay as error:
        raise NoWay(f"{task.key}: the solution {error}") from None


def built(task: Exercise, text: str) -> Any:
    """The answer that `text` makes: a kernel or a function.

    In a lab it may stand on what comes before: cells that are given, and the solutions of earlier exercises.
    """
    if not task.of_a_lab:
        return task.build(text)
    names: dict[str, object] = {"__name__": "answer"}
    own = _solution_cell(task)
    for cell in takewhile(lambda cell: cell is not own, _cells(task.key)):
        if cell["given"] or cell["solution"]:
            _run(cell["source"], f"<{cell['id']}>", names)
    _run(text, f"<{task.key} {hash(text)}>", names)
    return eval(_asked(task.key), names)


def ways(task: Exercise) -> Iterator[tuple[str, str]]:
    """(name of a mistake, text of an answer that makes it), for every way of every mistake."""
    for mistake in task.mistakes:
        for way in mistake.ways:
            yield mistake.name, patched(task, way)


def _with_body(task: Exercise, text: str, body: str) -> str:
    whole = re.search(r"__global__|^(@|def )", body, flags=re.M) is not None
    if task.of_a_lab:
        if whole and task.language == "cuda" and 'r"""' not in body:  # between the quotes of the cell
            return re.sub(r'r"""(.*?)"""', lambda _: f'r"""{body}"""', text, count=1, flags=re.S)
        before, _, rest = text.partition(BEGIN)
        after = rest.partition(END)[2]
        head = before[: before.rindex("\n") + 1]
        return body if whole else f"{head}{body.rstrip()}\n{after.partition(chr(10))[2]}"
    if whole:
        return body
    if task.language == "cuda":
        head = text[: text.index("{", text.index("__global__")) + 1]  # not the bracket of a macro before it
        return f"{head}\n{body}\n}}\n"
    (head,) = re.findall(r"\A.*?^def [^\n]*\n", text, flags=re.M | re.S)
    return f"{head}{body}\n"


@cache
def _cells(key: str) -> tuple[dict, ...]:
    folders = (OWN.parent / "labs" / "source", LABS) if OWN else (LABS,)
    (path,) = (path for folder in folders for path in folder.glob(f"{key.split('.')[0]}_*/*.ipynb"))
    found = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "code":
            free = not (cell["metadata"].get("tags") or marks.get("solution") or marks.get("grade"))
            source = "".join(cell["source"])
            found.append({"id": marks.get("grade_id", ""), "source": source, "given": free, "solution": False} | marks)
    return tuple(found)


def _solution_cell(task: Exercise) -> dict:
    name = re.sub(r"[._]", "-", task.key)
    return next(cell for cell in _cells(task.key) if cell["solution"] and cell["id"] == name)


@cache
def _asked(key: str) -> str:
    """What the lab hands to `probe` for this exercise."""
    for cell in (cell for cell in _cells(key) if cell["grade"]):
        for node in ast.walk(ast.parse(cell["source"])):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "probe":
                expression, name = node.args[:2]
                if ast.literal_eval(name) == key:
                    return ast.unparse(expression)
    raise LookupError(f"no cell is graded for {key}")


def _run(source: str, filename: str, names: dict) -> None:
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)  # Numba reads it there
    exec(compile(source, filename, "exec"), names)

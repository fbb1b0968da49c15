"""What gives a prediction away to somebody who reads the page without running it, on GitHub or on a website.

Such a reader sees the source of every cell and its stored outputs, whatever JupyterLab hides. Only `<details>` stays
closed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode

DETAILS = re.compile(r"<details\b.*?</details>", re.DOTALL)
ANSWER = re.compile(r"The answer is (.+)")
NEXT = re.compile(r"<details>|#|\*\*Exercise")
"""How the text after a revealed answer begins: folded, or about something else."""
HEADING = re.compile(r"^#{2,6} ", re.MULTILINE)


def in_sight(text: str) -> str:
    """Markdown or HTML without what a reader has to open."""
    return DETAILS.sub("", text)


def words(markdown: str) -> str:
    """Markdown in sight without the numbers of lists and exercises, and without formulas."""
    return re.sub(r"^\d+\. |Exercise \d+|\$[^$]+\$", "", in_sight(markdown), flags=re.MULTILINE)


def spoilers(cells: Sequence[NotebookNode]) -> Iterator[tuple[int, str]]:
    """The number of each cell that tells an answer too early, and what to do about it."""
    for at, cell in enumerate(cells):
        call = revealing(cell)
        if call is None:
            continue
        if (len(call.args) > 1 and isinstance(call.args[1], ast.Constant)) or len(call.args) > 2:
            yield at + 1, "its source has the answer: write `answer` and `why` into the chapter's predictions.toml"
        if any(in_sight(_html(output)).strip() for output in cell.outputs):
            yield at + 1, "its stored output isn't folded: run `warpbook notebooks --store`"
        said = _answer(cell)
        for between in range(_asked(cells, at, call) + 1, at):
            if _says(said, _seen(cells[between])):
                yield between + 1, f"the answer, {said!r}, stands between the question and its answer"
        if len(said) > 2:  # one or two digits stand in many outputs by chance
            for later in _before_a_heading(cells, at):
                if _says(said, _seen(cells[later])):
                    yield later + 1, f"its stored output says {said!r}: put a heading between it and the question"
        after = cells[at + 1] if at + 1 < len(cells) else None
        if after is None or after.cell_type != "markdown":
            continue
        if not NEXT.match(after.source):
            yield at + 2, "fold what it says about the answer: begin with <details><summary>Discussion</summary>"
        elif _says(said, words(after.source)):
            yield at + 2, f"the answer, {said!r}, stands in sight"


def revealing(cell: NotebookNode) -> ast.Call | None:
    """The call of `reveal` in a code cell, if there is one."""
    if cell.cell_type != "code" or not re.search(r"^reveal\(", cell.source, re.MULTILINE):
        return None
    for line in ast.parse(cell.source).body:
        match line:
            case ast.Expr(ast.Call(ast.Name("reveal")) as call):
                return call
    return None


def _asked(cells: Sequence[NotebookNode], at: int, call: ast.Call) -> int:
    """The number of the cell that asks what `call`, in cell `at`, reveals; `at` where none does."""
    match call.args:
        case [ast.Constant(str(key)), *_]:
            return next((n for n in range(at - 1, -1, -1) if f'key="{key}"' in cells[n].source), at)
    return at


def _before_a_heading(cells: Sequence[NotebookNode], at: int) -> Iterator[int]:
    """The numbers of the code cells after `at` that a reader sees together with its question."""
    for number in range(at + 1, len(cells)):
        if cells[number].cell_type == "code":
            if "predict" in cells[number].metadata.get("tags", ()):
                return
            yield number
        elif HEADING.search(cells[number].source):
            return


def _says(answer: str, text: str) -> bool:
    """Whether the answer stands in a text as a word or a number, and not as an index; never where none is stored."""
    return bool(answer) and bool(re.search(rf"(?<![\w.,\[]){re.escape(answer)}(?!\w|[.,]\d)", text))


def _seen(cell: NotebookNode) -> str:
    """What a cell shows to a reader of the page: Markdown, or stored outputs."""
    if cell.cell_type == "markdown":
        return words(cell.source)
    return "\n".join(in_sight(_html(output)) for output in getattr(cell, "outputs", ()))


def _html(output: NotebookNode) -> str:
    return output.get("data", {}).get("text/html") or output.get("text", "")


def _answer(cell: NotebookNode) -> str:
    """The answer that a cell shows, as far as its first sentence; empty where nothing is stored."""
    plain = "\n".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
    found = ANSWER.search(plain)
    return re.split(r"\. |\.$", found[1])[0] if found else ""


def early_outputs(cells: Sequence[NotebookNode]) -> Iterator[tuple[int, str]]:
    """The number of each code cell whose output stands between a revealed answer and the text about it."""
    for at, cell in enumerate(cells):
        if revealing(cell) is None:
            continue
        for number, after in enumerate(cells[at + 1 :], at + 2):
            if after.cell_type != "code":
                break
            shown = (_html(output) or output.get("data", {}).get("text/plain", "") for output in after.outputs)
            if any(in_sight(each).strip() for each in shown):
                yield number, "its output comes before the discussion: show it in the cell that reveals, or after text"

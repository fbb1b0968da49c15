"""The pages of the site, as Sphinx reads them: the project's own documents, where they stand in the project.

So all their links hold. Notebooks are changed in three ways: a question becomes a form that the browser remembers, an
explorer becomes an element that loads its drawn states, and the code of a cell that only draws is folded.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
from pathlib import Path
from typing import Any

from helpers.site import front
from helpers.workbook import chapters
from helpers.workbook.run import NOT_STORED, ROOT

DOCUMENTS = (
    "README.md", "CONTRIBUTING.md", "notebooks/README.md", "notebooks/glossary.md", "notebooks/images/*",
    "labs/*.md", "helpers/API.md", "vgpu/*.md", "vgpu/*.svg", "vgpu/hardware/*.md", "vgpu/bench/SPEED.md",
    "vgpu/tests/FUZZING.md", "examples/README.md", "LICENSE*",
)  # fmt: skip
NOTEBOOKS = ("notebooks/*.ipynb", "labs/lab*/*.ipynb")
STATES = "_static/states"  # of the site's root
FOLDED, LEFT_OUT = "hide-input", "remove-input"  # MyST-NB's tags for a cell's code
DRAWS = ("show", "widgets", "figures", "plots")  # what a cell calls that only draws: readers see the picture first
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
_OPTION = " &nbsp;·&nbsp; "
_ASKED = re.compile(r"<b>Predict\.</b> (?P<question>.*?)<br>Your answer: (?P<options>.*?)</div>", re.DOTALL)
_TIMED = '<p class="wb-note">What this cell shows depends on a clock. Run it to see the times of your machine.</p>'
_UNANSWERED = "<details><summary>You haven’t answered yet."


def write(target: Path) -> None:
    """Write the pages into an empty or earlier folder."""
    shutil.rmtree(target, ignore_errors=True)
    for pattern in DOCUMENTS:
        for path in ROOT.glob(pattern):
            _copy(path, target)
    for pattern in NOTEBOOKS:
        for path in sorted(ROOT.glob(pattern)):
            page = json.loads(path.read_text(encoding="utf-8"))
            _prepare(page, path.stem)
            there = target / path.relative_to(ROOT)
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_text(json.dumps(page), encoding="utf-8")
    (target / "index.md").write_text(front.page(), encoding="utf-8")
    _copy_linked(target)


def _copy(path: Path, target: Path) -> None:
    there = target / path.relative_to(ROOT)
    there.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, there)


def _copy_linked(target: Path) -> None:
    """Files of the project that pages link to and that are no pages: readers can download them."""
    for page in [*target.rglob("*.md"), *target.rglob("*.ipynb")]:
        here = ROOT / page.relative_to(target).parent
        for link in set(_LINK.findall(page.read_text(encoding="utf-8"))):
            path = (here / link).resolve()
            if path.is_file() and path.is_relative_to(ROOT) and not (target / path.relative_to(ROOT)).exists():
                _copy(path, target)


# ---------------------------------------------------------------- notebooks


def _prepare(page: dict[str, Any], name: str) -> None:
    explorers = explorer_cells(page)
    page["metadata"].setdefault("language_info", {})["pygments_lexer"] = "ipython3"
    for number, cell in enumerate(page["cells"]):
        if cell["cell_type"] != "code":
            continue
        source, tags = "".join(cell["source"]), cell["metadata"].setdefault("tags", [])
        shown = [each["data"] for each in cell["outputs"] if "text/html" in each.get("data", {})]
        for data in shown:
            html = "".join(data["text/html"])
            data["text/html"] = _form(html, source) if "predict" in tags else _answer(html, source)
        if number in explorers and shown:
            html = shown[-1]["text/html"]
            shown[-1]["text/html"] = f'<div class="wb-explorer" data-states="{STATES}/{name}/{number}">{html}</div>'
        if NOT_STORED in tags and not cell["outputs"]:
            cell["outputs"] = [{"output_type": "display_data", "data": {"text/html": _TIMED}, "metadata": {}}]
        last = _last_call(source)
        if len(_statements(source)) == 1 and (last == "predict" or last.partition(".")[0] in DRAWS):
            tags.append(LEFT_OUT if last == "predict" else FOLDED)


def explorer_cells(page: dict[str, Any]) -> list[int]:
    """The numbers of the cells that end with an explorer, apart from those that show what a clock said."""
    return [
        number
        for number, cell in enumerate(page["cells"])
        if cell["cell_type"] == "code"
        and NOT_STORED not in cell["metadata"].get("tags", ())
        and chapters.is_explorer(_last_call("".join(cell["source"])))
    ]


def _statements(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except SyntaxError:  # a magic
        return []


def _last_call(source: str) -> str:
    """What a cell's last expression calls: `widgets.sectors`; "" where it is no call."""
    last = _statements(source)[-1:]
    match last:
        case [ast.Expr(ast.Call(function))]:
            return ast.unparse(function)
    return ""


def _keys(source: str, function: str) -> list[str]:
    """The keys of the questions that a cell asks or answers by calls of this function, in order."""
    given = ([*node.args[:1], *(word.value for word in node.keywords if word.arg == "key")][-1]
             for name, node in chapters.calls(source) if name == function)  # fmt: skip
    return [str(each.value) for each in given if isinstance(each, ast.Constant)]


def _form(html: str, source: str) -> str:
    """A stored question as a form: radio buttons, or a field for a number."""
    asked, keys = _ASKED.search(html), _keys(source, "predict")
    if asked is None or not keys:
        return html
    options = asked["options"].split(_OPTION)
    fields = "".join(
        f'<label><input type="radio" name="{keys[0]}" value="{option}"> {option}</label>' for option in options
    )
    if len(options) < 2:
        fields = f'<label>Your answer <input name="{keys[0]}" inputmode="decimal" autocomplete="off"></label>'
    return (
        f'<form class="wb-predict" data-key="{keys[0]}"><fieldset><legend><b>Predict.</b> {asked["question"]}</legend>'
        f'{fields}</fieldset><p role="status"></p></form>'
    )


def _answer(html: str, source: str) -> str:
    if not html.startswith(_UNANSWERED):
        return html
    keys = _keys(source, "reveal")
    return html.replace("<details>", f'<details class="wb-answer" data-key="{keys[0]}">', 1) if keys else html

"""The page of all plots and widgets: for each question the picture that answers it, the signature, and the cells.

Pictures are those that the notebooks hold as stored outputs; a plot that only widgets use has the picture of a widget.
"""

from __future__ import annotations

import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from os.path import relpath
from pathlib import Path
from types import CodeType

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from helpers.pictures import plots
from helpers.pictures.contents import ENTRIES, Entry

HERE = Path(__file__).parent
PICTURE = re.compile(r"<(figure|div)\b")


@dataclass(frozen=True)
class Use:
    """A cell of a notebook that calls a plot or a widget: its number from 1, its tags, and its stored HTML."""

    notebook: Path
    cell: int
    tags: tuple[str, ...]
    html: str


def uses(root: Path) -> dict[str, list[Use]]:
    """By name, such as "plots.waves", the cells of chapters and labs that call it, in order."""
    found = defaultdict(list)
    for path in sorted([*root.glob("notebooks/*.ipynb"), *root.glob("labs/source/**/*.ipynb")]):
        for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], start=1):
            if cell["cell_type"] != "code":
                continue
            outputs = ("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])
            html = "".join(html for html in outputs if PICTURE.search(html))
            use = Use(path, number, tuple(cell["metadata"].get("tags", ())), html)
            for name in dict.fromkeys(re.findall(r"\b(?:plots|widgets)\.\w+", "".join(cell["source"]))):
                found[name].append(use)
    return found


def drawn_by(plot: Entry) -> list[str]:
    """The widgets whose function draws this plot, as "widgets.waves"."""
    drawn = plot.function() if plot.kind == "plots" else None
    return [
        f"widgets.{other.name}"
        for other in ENTRIES
        if drawn and other.kind == "widgets" and drawn in _used(other.function().__code__, other.function().__globals__)
    ]


def _used(code: CodeType, names: dict) -> Iterator[object]:
    """The plots that a function uses, and what it uses of its module's names; also within its functions and classes."""
    for name in code.co_names:
        if name in plots.__all__:
            yield getattr(plots, name)
        yield (found := names.get(name))
        if isinstance(found, type) and found.__module__ == names["__name__"]:
            for method in filter(inspect.isfunction, vars(found).values()):
                yield from _used(method.__code__, names)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _used(inner, names)


@dataclass(frozen=True)
class Card:
    """What the page says of one plot or widget."""

    entry: Entry
    name: str
    signature: str
    summary: str
    uses: list[Use]
    widgets: list[str]
    picture: str


def cards(root: Path) -> list[Card]:
    """One for each row of the contents, in their order."""
    used, found = uses(root), []
    for entry in ENTRIES:
        name, function = f"{entry.kind}.{entry.name}", entry.function()
        widgets = drawn_by(entry)
        pictures = (use.html for each in (name, *widgets) for use in used[each] if use.html)
        summary = (inspect.getdoc(function) or "").split("\n\n")[0]
        signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(function)))
        found.append(Card(entry, name, signature, summary, used[name], widgets, next(pictures, "")))
    return found


def write(root: Path, folder: Path) -> Path:
    """Write the page for the notebooks below `root` to `folder`, and give its path."""
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined)
    environment.filters["link"] = lambda path: relpath(path, folder)
    topics = [(topic, list(group)) for topic, group in groupby(cards(root), key=lambda card: card.entry.topic)]
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    page.write_text(environment.get_template("index.j2").render(topics=topics), encoding="utf-8")
    return page

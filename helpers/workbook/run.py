"""Run a notebook from a clean kernel, say what is wrong with what it shows, and store its outputs.

`jupyter execute`, nbval and nbmake let pass much that a reader would call broken: an unknown magic, a warning
on stderr, a figure that a screen reader cannot name. The table `RULES` holds what is looked for here.
"""

from __future__ import annotations

import copy
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]
BUDGET = 90.0
QUIET = {"KINETO_LOG_LEVEL": "99"}
"""For a kernel's environment: some builds of PyTorch write "USDT: …" to stderr when its profiler starts."""
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
MAY_FAIL = "raises-exception"
# nbval's own name, so that one tag serves both: what this cell shows depends on a clock, and is not stored.
NOT_STORED = "nbval-ignore-output"
EXERCISE, VERDICT = "exercise", re.compile(r"✗ .+?: not yet\b")


@dataclass(frozen=True)
class Problem:
    """One thing wrong: the rule's name, the cell's number counted from 1 (None: the notebook), what to do."""

    rule: str
    cell: int | None
    message: str

    def __str__(self) -> str:
        where = "notebook" if self.cell is None else f"cell {self.cell}"
        return f"{where}: {self.rule}: {self.message}"


@dataclass(frozen=True)
class Result:
    """What came of one run: the executed notebook, its problems, and the seconds it took."""

    name: str
    problems: tuple[Problem, ...]
    seconds: float = field(repr=False)
    notebook: NotebookNode = field(repr=False)

    def report(self) -> str:
        verdict = "ok" if not self.problems else f"{len(self.problems)} problem(s)"
        lines = [f"{self.name}: {verdict}, {self.seconds:.1f} s"]
        return "\n  ".join(lines + [str(problem) for problem in self.problems])


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", ()))


# -- figures --------------------------------------------------------------------------------------------


class _Pictures(HTMLParser):
    """Collects the pictures in HTML that have nothing a screen reader could say."""

    def __init__(self) -> None:
        super().__init__()
        self.unnamed: list[str] = []
        self._named_depth = 0  # inside an element that names its whole content
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        has = dict(attributes)
        hidden = has.get("aria-hidden") == "true"
        label = (has.get("aria-label") or "").strip()
        names = hidden or (has.get("role") == "img" and bool(label))
        if tag == "figure" and not names:
            self.unnamed.append('<figure> without role="img" and an aria-label')
        elif tag == "img" and not (has.get("alt") or "").strip() and not (names or self._named_depth):
            self.unnamed.append("<img> without alt")
        elif tag in ("svg", "canvas") and not (names or self._named_depth or label):
            self.unnamed.append(f"<{tag}> outside a named figure")
        if tag not in ("img", "br", "hr", "input", "meta", "link"):
            # A figure that was reported is not reported again for the picture inside it.
            covers = names or tag == "figure"
            self._open.append((tag, covers))
            self._named_depth += covers

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if self._open and self._open[-1][0] == tag:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        while any(name == tag for name, _ in self._open):
            name, covers = self._open.pop()
            self._named_depth -= covers
            if name == tag:
                break


def unnamed_pictures(html: str) -> list[str]:
    """What pictures in `html` a screen reader cannot name; empty when all is well."""
    parser = _Pictures()
    parser.feed(html)
    parser.close()
    return parser.unnamed


# -- the rules ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A code cell as run: its number counted from 1, tags, outputs, and the outputs stored before the run."""

    number: int
    tags: frozenset[str]
    outputs: tuple
    stored: tuple


def errors(cell: Cell) -> Iterator[str]:
    found = [output for output in cell.outputs if output.output_type == "error"]
    if MAY_FAIL in cell.tags:
        if not found:
            yield f"tagged {MAY_FAIL}, yet raised nothing: drop the tag or mend the demonstration"
        return
    for output in found:
        # A cell that was stopped at the budget is reported as that.
        if output.ename != "KeyboardInterrupt":
            yield f"{output.ename}: {output.evalue} (an error that is meant needs the tag {MAY_FAIL})"


def stderr(cell: Cell) -> Iterator[str]:
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr" and "UsageError" not in output.text:
            first = output.text.strip().splitlines() or ["(blank)"]
            yield f"{first[0]!r} on stderr: mend the cause (progress bars: from tqdm.auto import tqdm)"


def magics(cell: Cell) -> Iterator[str]:
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr" and "UsageError" in output.text:
            yield f"{output.text.strip()}: only magics that a bare IPython has"


def alt_text(cell: Cell) -> Iterator[str]:
    for output in cell.outputs:
        data = output.get("data", {})
        html = data.get("text/html", "")
        yield from (f"{what}: draw through helpers.show(figure, alt)" for what in unnamed_pictures(html))
        if WIDGET_VIEW not in data and not html and any(kind.startswith("image/") for kind in data):
            yield "an image output, which JupyterLab shows without alt text: use helpers.show(figure, alt)"


def stored_outputs(cell: Cell) -> Iterator[str]:
    wanted = [output for output in shown(cell) if output.output_type != "error"]
    if NOT_STORED not in cell.tags and wanted and not cell.stored:
        yield "shows something when run, but nothing is stored: run `warpbook notebooks --store` on it and commit"


def shown(cell: Cell) -> list:
    """What a cell leaves to store, without noise, which has a rule of its own."""
    return [output for output in keep(cell.outputs) if output.get("name") != "stderr"]


# From where a name begins only: tried from each letter of a picture's base64, it would take the square of its length.
MACHINE = re.compile(r"\bat 0x[0-9a-f]{6,}|(?<![\w/\\~.-])[\w/\\~.-]*ipykernel_\d+[\w/\\.]*|" + re.escape(str(ROOT)))


def machine(cell: Cell) -> Iterator[str]:
    if NOT_STORED in cell.tags:
        return
    for output in shown(cell):
        found = MACHINE.search("\n".join(texts(output)))
        if found:
            yield f"shows {found[0]!r}, new in every run: give it a fixed repr or tag the cell {NOT_STORED}"


def texts(output: NotebookNode) -> list[str]:
    """What an output says in letters: a stream, an error's message, or plain, HTML and Markdown forms."""
    data = output.get("data", {})
    forms = [data[kind] for kind in ("text/plain", "text/html", "text/markdown") if kind in data]
    return forms + [output[name] for name in ("text", "evalue") if name in output]


@dataclass(frozen=True)
class Rule:
    """One row: the name in the report, and what yields a message for each thing wrong with a cell."""

    name: str
    look: Callable[[Cell], Iterator[str]]


RULES = (
    Rule("error", errors),
    Rule("unknown magic", magics),
    Rule("noise", stderr),
    Rule("alt text", alt_text),
    Rule("missing output", stored_outputs),
    Rule("machine", machine),
)


def examine(before: NotebookNode, after: NotebookNode) -> Iterator[Problem]:
    """The problems of the executed notebook `after`; `before` is the same one as it was stored."""
    for number, (old, new) in enumerate(zip(before.cells, after.cells, strict=True), start=1):
        if new.cell_type != "code":
            continue
        cell = Cell(number, frozenset(tags(new)), tuple(new.outputs), tuple(old.outputs))
        for rule in RULES:
            yield from (Problem(rule.name, number, message) for message in rule.look(cell))
    # What a widget shows is not among the outputs; its HTML is in the state that the kernel reported.
    state = after.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    for model in state.values():
        value = model.get("state", {}).get("value")
        if isinstance(value, str):
            for what in unnamed_pictures(value):
                yield Problem("alt text", None, f"a widget shows {what}")


# -- running and storing --------------------------------------------------------------------------------


def run(
    path: Path | str,
    *,
    budget: float = BUDGET,
    stored: bool = True,
    clock: Callable[[], float] = time.monotonic,
) -> Result:
    """Run the notebook at `path` in a clean kernel, in its own folder, and examine what it shows.

    `budget` is the seconds the whole run may take, the kernel's start included; a cell that alone takes as
    long is interrupted. With `stored=False` a notebook without outputs is no problem (one not committed yet).
    Raises nothing for a broken notebook: all that is wrong is in `Result.problems`.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    path = Path(path)
    before = nbformat.read(path, as_version=4)
    after = copy.deepcopy(before)
    for cell in after.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    after.metadata.pop("widgets", None)
    client = NotebookClient(
        after,
        kernel_name="python3",
        timeout=max(1, round(budget)),
        allow_errors=True,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent.resolve())}},
    )
    problems = []
    started = clock()
    try:
        # A developer's own answers and choices must not get into what is stored.
        environment = {name: value for name, value in os.environ.items() if name != "VGPU_GPU"}
        client.execute(env=QUIET | environment | {"WARPBOOK_STATE": "off"})
    except CellTimeoutError:
        problems.append(Problem("budget", None, f"a cell was stopped after {budget:g} s: make its work smaller"))
    except DeadKernelError:
        problems.append(Problem("error", None, "the kernel died: run the cells by hand to find which one kills it"))
    seconds = clock() - started
    if seconds > budget and not problems:
        problems.append(
            Problem(
                "budget",
                None,
                f"took {seconds:.0f} s, over its budget of {budget:g} s: make the work smaller",
            )
        )
    problems += examine(before, after)
    if not stored:
        problems = [problem for problem in problems if problem.rule != "missing output"]
    return Result(path.name, tuple(problems), seconds, after)


def keep(outputs: Iterable[NotebookNode]) -> list:
    """The outputs worth storing: all but widget views, whose ids are random and whose models do not last.

    What a widget leaves beside its view (its first frame as HTML) stays.
    """
    kept = []
    for output in outputs:
        output = copy.deepcopy(output)
        if "data" in output and WIDGET_VIEW in output.data:
            del output.data[WIDGET_VIEW]
            if set(output.data) <= {"text/plain"}:
                continue
        kept.append(output)
    return kept


def tidy(notebook: NotebookNode) -> NotebookNode:
    """A copy of an executed notebook as it is committed: the same bytes from every run on every machine."""
    notebook = copy.deepcopy(notebook)
    notebook.metadata.pop("widgets", None)
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    # The exact Python version is this machine's affair.
    notebook.metadata["language_info"] = {"name": "python"}
    number = 0
    for cell in notebook.cells:
        for name in ("execution", "collapsed", "scrolled"):
            cell.metadata.pop(name, None)
        if cell.cell_type == "code":
            number += bool(cell.source.strip())
            cell.execution_count = number if cell.source.strip() else None
            cell.outputs = [] if NOT_STORED in tags(cell) else merge_streams(keep(cell.outputs))
            if EXERCISE in tags(cell):
                cell.outputs = [verdict_only(output) for output in cell.outputs]
            for output in cell.outputs:
                output.pop("transient", None)
                if output.output_type == "execute_result":
                    output.execution_count = number
                if output.output_type == "error":
                    # The frames name files of this machine; the last line is what the text speaks of.
                    output.traceback = [f"{output.ename}: {output.evalue}"]
    return notebook


def verdict_only(output: NotebookNode) -> NotebookNode:
    """What `check` says of the code that an exercise begins with, as it is stored: not what is wrong with it."""
    node = type(output)
    found = VERDICT.match(output.get("data", {}).get("text/plain", ""))
    return node({**output, "data": node({"text/plain": found[0]})}) if found else output


def merge_streams(outputs: list) -> list:
    """Neighbouring pieces of one stream as one: where a kernel cuts its text depends on the clock."""
    merged: list = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last and output.output_type == "stream" == last.output_type and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def store(result: Result, path: Path | str) -> None:
    """Write the outputs of a run into the notebook at `path`."""
    import nbformat

    nbformat.write(tidy(result.notebook), Path(path))

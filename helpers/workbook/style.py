"""How a page is built, as a table of rules: each looks at a notebook and says what to do about it.

The numbers come from measuring well-liked workbooks: little prose at a time, a prediction before each result. A chapter
is as long as its ideas need, and a kernel stands in full.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.workbook import glossary
from helpers.workbook.chapters import PAGES
from helpers.workbook.markdown import unfenced
from helpers.workbook.optional import needed
from helpers.workbook.run import EXERCISE, Problem, tags, verdict_only
from helpers.workbook.spoilers import early_outputs, spoilers

if TYPE_CHECKING:
    from nbformat import NotebookNode

FEWEST_CELLS = 20
LONGEST_CELL = 70  # a kernel in full
LONG_CELL = 30  # nine cells in ten stay within it
CELLS_IN_A_ROW = 3
WORDS_IN_A_ROW = 200
MOST_GOALS = 4
STEPS = ("predict", "run", "explain")
CONTENTS = "README.md"
REAL = frozenset(("cp", "cupyx", "cuda", "triton", "tl", "cute"))
"""Imported from `helpers`, and used as the packages whose names they are."""
READERS = frozenset(("check", "reveal"))
"""Take what the lines above them have made, and hide nothing."""
PAGES_OF_THEIR_OWN = {glossary.FILE: "glossary", "your_own_kernel.ipynb": "playground"}
"""Kinds by file name; every other page is a chapter."""


@dataclass(frozen=True)
class Page:
    """A page to look at: its file name, its cells, and the names of all chapters of its folder."""

    name: str
    notebook: NotebookNode
    folder: Path
    names: tuple[str, ...]

    @property
    def cells(self) -> list:
        return self.notebook.cells

    @property
    def kind(self) -> str:
        """ "chapter", or what the page is instead."""
        return PAGES_OF_THEIR_OWN.get(self.name, "chapter")

    @property
    def neighbours(self) -> tuple[str | None, str | None]:
        """The file names of the chapters before and after this one."""
        where = self.names.index(self.name) if self.name in self.names else len(self.names)
        return next(reversed(self.names[:where]), None), next(iter(self.names[where + 1 :]), None)

    def markdown(self) -> list[tuple[int, str]]:
        return [(n, cell.source) for n, cell in enumerate(self.cells, 1) if cell.cell_type == "markdown"]

    def code(self) -> list[tuple[int, str]]:
        return [(n, cell.source) for n, cell in enumerate(self.cells, 1) if cell.cell_type == "code"]


def open_page(path: Path) -> Page:
    """The page at `path`: a notebook, or Markdown, which counts as one cell."""
    import nbformat
    from nbformat.v4 import new_markdown_cell, new_notebook

    names = tuple(sorted(other.name for other in path.parent.glob(PAGES)))
    if path.suffix == ".md":
        made = new_notebook(cells=[new_markdown_cell(path.read_text(encoding="utf-8"))])
    else:
        made = nbformat.read(path, as_version=4)
    return Page(path.name, made, path.parent, names)


# -- reading cells --------------------------------------------------------------------------------------


def headings(source: str, level: int) -> list[str]:
    """The titles of one level in Markdown, those inside fenced code left out."""
    return re.findall(rf"^#{{{level}}} +(.+?) *#*$", unfenced(source), flags=re.MULTILINE)


def code_lines(source: str) -> int:
    """Lines that say something: neither blank nor a comment alone."""
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in source.splitlines())


def words(markdown: str) -> int:
    """Words a reader reads: links by their text; no tables, code, pictures, or lines of navigation and sections."""
    text = re.sub(r"^(\||\[Contents\]\(|\*\*Sections:).*$", "", unfenced(markdown), flags=re.MULTILINE)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"<[^>]+>", "", text))
    return len(re.findall(r"[^\W_][\w'’-]*", text))


def has_picture(markdown: str) -> bool:
    return bool(re.search(r"!\[|<figure|<img|^(```|~~~)|^\|", markdown, flags=re.MULTILINE))


def links(markdown: str) -> list[str]:
    """The addresses of links and pictures in Markdown, without their #part; nothing between backticks is one."""
    plain = re.sub(r"`[^`\n]+`", "", markdown)
    return [address.split("#")[0] for address in re.findall(r"\]\(<?([^)\s>]+)", plain)]


def words_per_code_line(page: Page) -> float:
    """The chapter's ratio of prose to code."""
    return sum(words(source) for _, source in page.markdown()) / max(
        1, sum(code_lines(source) for _, source in page.code())
    )


# -- the rules: each yields (cell number or None, what to do) ---------------------------------------------

Found = Iterator[tuple[int | None, str]]


def file_name(page: Page) -> Found:
    if not re.fullmatch(r"\d\d[b-z]?_[a-z0-9_]+\.ipynb", page.name):
        yield None, "name it NN_short_title.ipynb, so that the chapters stand in order"


def kernel(page: Page) -> Found:
    name = page.notebook.metadata.get("kernelspec", {}).get("name")
    if name != "python3":
        yield None, f"set its kernel to python3 (it is {name!r}): others exist on one machine only"


def cell_ids(page: Page) -> Found:
    if (page.notebook.nbformat, page.notebook.nbformat_minor) < (4, 5):
        yield None, "save it as nbformat 4.5, which gives every cell an id that survives edits"
        return
    ids = [cell.get("id") for cell in page.cells]
    for number, name in enumerate(ids, 1):
        if not name or ids.count(name) > 1:
            yield number, f"give the cell an id of its own (it has {name!r})"


def length(page: Page) -> Found:
    if len(page.cells) < FEWEST_CELLS:
        yield None, f"{len(page.cells)} cells: a chapter has {FEWEST_CELLS} at least"


def one_title(page: Page) -> Found:
    titles = [(number, title) for number, source in page.markdown() for title in headings(source, 1)]
    if not titles or titles[0][0] != 1:
        yield 1, "open with the title: one `# ` heading in the first cell"
    for number, title in titles[1:]:
        yield number, f"make the second title {title!r} a `## ` heading"


def opening(page: Page) -> Found:
    first_code = min((number for number, _ in page.code()), default=len(page.cells) + 1)
    text = "\n".join(source for number, source in page.markdown() if number < first_code)
    for word, pattern in (("goals", r"\bgoals?\b"), ("needs", r"\bneeds?\b"), ("minutes", r"\bminutes?\b")):
        if not re.search(pattern, text, flags=re.IGNORECASE):
            yield 1, f"say the {word} before the first code cell"
    goals = re.search(r"goals?\b.*?\n((?:\s*(?:[-*]|\d+\.) .*\n?(?:  .*\n?)*)+)", text, flags=re.IGNORECASE)
    count = len(re.findall(r"^\s*(?:[-*]|\d+\.) ", goals[1], flags=re.MULTILINE)) if goals else 0
    if count > MOST_GOALS:
        yield 1, f"{count} goals: at most {MOST_GOALS} can be reached in one sitting"


def closing(page: Page) -> Found:
    titles = " ".join(title for _, source in page.markdown() for title in headings(source, 2)).lower()
    for word in ("summary", "exercise", "link"):
        if word not in titles:
            yield None, f"end with a `## ` heading for the {word}{'s' * (word != 'summary')}"


def imports_first(page: Page) -> Found:
    if not page.code():
        return
    number, source = page.code()[0]
    try:
        body = ast.parse(source).body
    except SyntaxError:
        body = []
    if not body or not all(isinstance(line, ast.Import | ast.ImportFrom) for line in body):
        yield number, "let the first code cell hold imports only"


def short_cells(page: Page) -> Found:
    """No aim at a median: plain statements take more lines than a clever one, and are read faster."""
    sizes = [(number, len(source.splitlines())) for number, source in page.code()]
    sizes[:1] = [(number, 0) for number, _ in sizes[:1]]  # imports: however long, they are read at a glance
    for number, size in sizes:
        if size > LONGEST_CELL:
            yield number, f"{size} lines: split it, or move it into helpers/ (at most {LONGEST_CELL})"
    over = sum(size > LONG_CELL for _, size in sizes)
    if over * 10 > len(sizes):
        yield None, f"{over} of {len(sizes)} code cells exceed {LONG_CELL} lines: at most one in ten"


def plain_code(page: Page) -> Found:
    """A cell is plain if half of its lines name no helper. Questions and imports don't count."""
    trees = [tree for _, source in page.code() if (tree := _parsed(source)) is not None]
    imports = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    ours = (node.names for node in imports if (node.module or "").split(".")[0] in ("helpers", "vgpu"))
    helpers = {each.asname or each.name for names in ours for each in names} - REAL - READERS
    named = [[(_names(line) & helpers, size) for line, size in _statements(tree)] for tree in trees[1:]]
    counted = [lines for lines in named if not any("predict" in names for names, _ in lines)]
    plain = sum(map(_half_plain, counted))
    if 2 * plain < len(counted):
        yield (
            None,
            f"{plain} of {len(counted)} code cells are plain Numba, CUDA C, CuPy or PyTorch: let half be at least",
        )


def _half_plain(lines: Sequence[tuple[set[str], int]]) -> bool:
    """Whether half of a cell's lines name no helper."""
    return 2 * sum(size for names, size in lines if not names) >= sum(size for _, size in lines)


def _parsed(source: str) -> ast.Module | None:
    """The tree of a cell; None for a cell that is no Python, such as a file that `%%writefile` writes."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _statements(tree: ast.AST) -> Iterator[tuple[ast.stmt, int]]:
    """The statements that hold no others, at any depth, and their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def rhythm(page: Page) -> Found:
    number = 1
    for kind, group in groupby(page.cells, key=lambda cell: cell.cell_type):
        size = len(list(group))
        if kind == "code" and size > CELLS_IN_A_ROW:
            yield number, f"{size} code cells in a row: say something after {CELLS_IN_A_ROW}"
        number += size


def prose_in_a_row(page: Page) -> Found:
    run = 0
    for number, cell in enumerate(page.cells, 1):
        if cell.cell_type != "markdown" or has_picture(cell.source):
            run = 0
        if cell.cell_type == "markdown":
            run += words(cell.source)
            if run > WORDS_IN_A_ROW:
                yield number, f"{run} words without code or a picture: at most {WORDS_IN_A_ROW}"
                run = 0


def steps(page: Page) -> Found:
    seen = [(number, step) for number, cell in enumerate(page.cells, 1) for step in STEPS if step in tags(cell)]
    for step in STEPS:
        if step not in {name for _, name in seen}:
            yield None, f"tag at least one cell `{step}`: the learner commits, then sees, then is told why"
    open_prediction = None
    for number, step in seen:
        if step == "predict":
            if open_prediction:
                yield open_prediction, "follow the prediction with a cell tagged `run` before the next one"
            open_prediction = number
        elif step == "run":
            open_prediction = None
    if open_prediction:
        yield open_prediction, "follow the prediction with a cell tagged `run`"


def unspoiled(page: Page) -> Found:
    """Nothing settles a prediction before it is made, in any rendering."""
    yield from spoilers(page.cells)
    yield from early_outputs(page.cells)


def skippable(page: Page) -> Found:
    """Whoever skips the optional sections can run all others."""
    for number, name in needed(page.cells):
        yield number, f"it needs {name!r}, which only an optional section defines"


def undiagnosed(page: Page) -> Found:
    """What an exercise's code to start from does wrong, the learner finds out by running it."""
    for number, cell in enumerate(page.cells, 1):
        if EXERCISE in tags(cell) and any(verdict_only(each) != each for each in cell.outputs):
            yield number, "its stored output has a diagnosis: run `warpbook notebooks --store`, which leaves it out"


def navigation_line(page: Page) -> str:
    """The line that leads from a chapter to its neighbours, with their files' names for want of better words."""
    before, after = page.neighbours
    words = lambda name: Path(name).stem[3:].replace("_", " ")
    parts = [f"[Contents]({CONTENTS})"]
    parts += [f"previous: [{words(before)}]({before})"] if before else []
    parts += [f"next: [{words(after)}]({after})"] if after else []
    return " · ".join([*parts, f"[glossary]({glossary.FILE})"])


def navigation(page: Page) -> Found:
    wanted = links(navigation_line(page))
    lines = [[line for line in page.cells[n].source.splitlines() if links(line) == wanted] for n in (0, -1)]
    for number, found in ((1, lines[0]), (len(page.cells), lines[1])):
        if not found:
            yield number, f"lead on, with a line such as: {navigation_line(page)}"
    if all(lines) and lines[0][0] != lines[1][0]:
        yield len(page.cells), f"lead on with the same line as at the top: {lines[0][0]}"


def way_back(page: Page) -> Found:
    if CONTENTS not in links(page.cells[0].source):
        yield 1, f"link to the contents: [Contents]({CONTENTS})"


def glossary_links(page: Page) -> Found:
    anchors = {term.anchor for term in glossary.read(page.folder)}
    for number, source in page.markdown():
        for anchor in re.findall(rf"\]\({re.escape(glossary.FILE)}#([^)]+)\)", source):
            if anchor not in anchors:
                near = difflib.get_close_matches(anchor, anchors, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                yield number, f"mend the link: the glossary has no {anchor!r}{hint}"


def terms_linked(page: Page) -> Found:
    missing = glossary.unlinked(page.markdown(), glossary.read(page.folder))
    if missing:
        listed = ", ".join(f"{use.term.name} (cell {use.cell})" for use in missing)
        yield None, f"link at first use, or let `python -m helpers.workbook.glossary` do it: {listed}"


def entries(page: Page) -> Found:
    text = page.cells[0].source
    names = [term.name for term in glossary.terms(text)]
    for name in names:
        if not re.fullmatch(r"[a-z0-9][a-z0-9 -]*", name):
            yield None, f"write the heading {name!r} in a-z, 0-9, spaces and hyphens, so that links find it"
    for before, after in pairwise(names):
        if before >= after:
            yield None, f"put {after!r} in its alphabetical place, once"
    letters = sorted({name[0] for name in names})
    if re.findall(r"\]\(#([^)]+)\)", text) != letters:
        yield None, f"let the index lead to every letter: {' '.join(letters)}"


def live_links(page: Page) -> Found:
    for number, source in page.markdown():
        for address in links(source):
            if address and not re.match(r"[a-z]+:", address) and not (page.folder / address).exists():
                yield number, f"mend the link: there is no {address}"


def pictures_named(page: Page) -> Found:
    from helpers.workbook.run import unnamed_pictures

    for number, source in page.markdown():
        if re.search(r"!\[\s*\]\(", source) or unnamed_pictures(source):
            yield number, "give the picture alt text that states the finding"


def no_shell(page: Page) -> Found:
    for number, source in page.code():
        if re.search(r"^\s*(!|%%(bash|sh|script)|%(pip|conda|system|sx)\b)", source, flags=re.MULTILINE):
            yield number, "use no shell and install nothing here: it works on one machine only"


def finished(page: Page) -> Found:
    for number, cell in enumerate(page.cells, 1):
        if "TODO" in cell.source:
            yield number, "write what is marked TODO"


def in_order(page: Page) -> Found:
    counts = [cell.execution_count for cell in page.cells if cell.cell_type == "code" and cell.source.strip()]
    if any(counts) and counts != list(range(1, len(counts) + 1)):
        yield None, "store one clean run from top to bottom: `warpbook notebooks --store`"


@dataclass(frozen=True)
class Rule:
    """One row: the rule's name, what yields (cell number or None, what to do) for each breach, the pages it is for."""

    name: str
    look: Callable[[Page], Found]
    kinds: tuple[str, ...] = ("chapter",)


NOTEBOOKS = ("chapter", "playground")
EVERY_PAGE = (*NOTEBOOKS, "glossary")
RULES = (
    Rule("file name", file_name),
    Rule("kernel", kernel, NOTEBOOKS),
    Rule("cell ids", cell_ids, NOTEBOOKS),
    Rule("length", length),
    Rule("one title", one_title, EVERY_PAGE),
    Rule("opening", opening),
    Rule("closing", closing),
    Rule("imports first", imports_first, NOTEBOOKS),
    Rule("short cells", short_cells, NOTEBOOKS),
    Rule("plain code", plain_code, NOTEBOOKS),
    Rule("rhythm", rhythm, NOTEBOOKS),
    Rule("prose in a row", prose_in_a_row, NOTEBOOKS),
    Rule("predict, run, explain", steps),
    Rule("unspoiled", unspoiled),
    Rule("skippable", skippable, NOTEBOOKS),
    Rule("undiagnosed", undiagnosed),
    Rule("navigation", navigation),
    Rule("way back", way_back, ("glossary", "playground")),
    Rule("live links", live_links, EVERY_PAGE),
    Rule("glossary links", glossary_links, EVERY_PAGE),
    Rule("terms linked", terms_linked, NOTEBOOKS),
    Rule("entries", entries, ("glossary",)),
    Rule("pictures named", pictures_named, EVERY_PAGE),
    Rule("no shell", no_shell, NOTEBOOKS),
    Rule("finished", finished, NOTEBOOKS),
    Rule("in order", in_order, NOTEBOOKS),
)


def examine(page: Page, rules: Sequence[Rule] = RULES) -> list[Problem]:
    """Every breach of every rule that holds for this kind of page."""
    held = [rule for rule in rules if page.kind in rule.kinds]
    return [Problem(rule.name, number, message) for rule in held for number, message in rule.look(page)]

"""What an author's notebook has to be, as a table of rules: each looks at a lab and says what to mend."""

from __future__ import annotations

import ast
import builtins
import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from helpers.checking.exercise import Exercise
from helpers.grading import regions
from helpers.grading.source import FREE, GRADED, KINDS, LOCKED, SOLUTION, UNSUPPORTED, Cell, Lab, calls, probes, slug
from helpers.grading.source import parsed as tree_of
from helpers.workbook.run import Problem

RESULTS = "results"
NBGRADER_KEYS = {"grade", "grade_id", "locked", "points", "schema_version", "solution", "task"}
MADE_BY_RELEASE = {"checksum", "cell_type"}  # nbgrader's words in a learner's file, harmless in a source
_POINTS = r"(\d+(?:\.\d+)?) points?"
FOREIGN_MARKS = ("BEGIN MARK SCHEME", "END MARK SCHEME", "AUTOTEST")

Found = Iterator[tuple[int | None, str]]


@dataclass(frozen=True)
class Page:
    """What the rules look at: the lab, and the rows of exercises by their keys."""

    lab: Lab
    exercises: Mapping[str, Exercise]

    def of(self, *kinds: str) -> Iterator[Cell]:
        return (cell for cell in self.lab.cells if cell.kind in kinds)

    def marks(self) -> Iterator[tuple[Cell, Mapping]]:
        """Every cell with nbgrader metadata, and that metadata."""
        for cell in self.lab.cells:
            if "nbgrader" in cell.metadata:
                yield cell, cell.metadata["nbgrader"]


def called(cell: Cell) -> str:
    return f"`{cell.grade_id or cell.id}`"


# -- the file -------------------------------------------------------------------------------------------


def file_name(page: Page) -> Found:
    lab = page.lab
    if not re.fullmatch(r"[a-z]+\d*_[a-z0-9_]+", lab.name):
        yield None, f"name the file like lab05_reduction_and_scan.ipynb (it is {lab.name!r}): ids and folders follow it"
    if lab.path.parent.name != lab.name:
        yield None, f"keep it in a folder of its name, {lab.name}/: nbgrader calls the assignment after the folder"


def format_45(page: Page) -> Found:
    if page.lab.notebook.get("nbformat_minor", 0) < 5:
        yield None, "save it as nbformat 4.5, which gives every cell an id that survives edits"
        return
    counts = Counter(cell.id for cell in page.lab.cells)
    for cell in page.lab.cells:
        if not cell.id or counts[cell.id] > 1:
            yield cell.number, f"give the cell an id of its own (it has {cell.id!r})"


def metadata(page: Page) -> Found:
    about = page.lab.notebook.get("metadata", {})
    if about.get("kernelspec", {}).get("name") != "python3":
        yield None, "set its kernel to python3: others exist on one machine only"
    extra = sorted(set(about) - {"kernelspec", "language_info"})
    if extra:
        yield None, f"remove {', '.join(extra)} from its metadata: `warpbook notebooks --store` does so"


# -- nbgrader's metadata --------------------------------------------------------------------------------


def schema(page: Page) -> Found:
    for cell, marks in page.marks():
        if marks.get("schema_version") != 3:
            yield cell.number, f"schema_version {marks.get('schema_version')!r}: nbgrader 0.9 writes 3"
        for flag in ("grade", "solution", "locked", "task"):
            if not isinstance(marks.get(flag, flag == "task" and False), bool):
                yield cell.number, f"{flag} must be true or false (it is {marks.get(flag)!r})"
        extra = sorted(set(marks) - NBGRADER_KEYS - MADE_BY_RELEASE)
        if extra:
            yield cell.number, f"nbgrader knows no {', '.join(extra)}: remove it from the cell's metadata"
        if cell.kind == FREE:
            yield cell.number, "it is neither graded, solution nor locked: remove its nbgrader metadata"


def kinds(page: Page) -> Found:
    for cell in page.of(UNSUPPORTED):
        yield cell.number, f"it is {KINDS[UNSUPPORTED]}: make it a solution cell or a graded cell"
    for cell in page.of(GRADED, SOLUTION):
        if not cell.is_code:
            yield cell.number, f"a {cell.kind} cell holds code (this one is {cell.cell_type})"
    for cell in page.of(GRADED):
        if cell.metadata["nbgrader"].get("locked") is not True:
            yield cell.number, "lock the graded cell, so that a learner does not change it by chance"
    for cell in page.of(SOLUTION):
        if cell.metadata["nbgrader"].get("locked") is True:
            yield cell.number, "a solution cell can not be locked: the learner writes in it"


def ids(page: Page) -> Found:
    start = page.lab.name.split("_")[0] + "-"
    counts = Counter(page.lab.ids)
    for cell in page.of(SOLUTION, GRADED, LOCKED, UNSUPPORTED):
        name = cell.grade_id
        if not name:
            yield cell.number, "give it a grade_id"
        elif not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_-]+", name):
            yield cell.number, f"write the grade_id {name!r} in A-Z, a-z, 0-9, _ and -: nbgrader takes no other"
        elif counts[name] > 1:
            yield cell.number, f"{counts[name]} cells are called {name!r}: every grade_id stands once"
        elif not name.startswith(start):
            yield cell.number, f"begin the grade_id {name!r} with {start}: the lab is recognised by its cells' ids"


def points(page: Page) -> Found:
    for cell, marks in page.marks():
        value = marks.get("points")
        if cell.kind == GRADED and "points" not in marks:
            yield cell.number, f"say how many points {called(cell)} is worth"
        elif "points" in marks and cell.kind != GRADED:
            yield cell.number, f"points belong to graded cells: remove them from {called(cell)}"
        elif "points" in marks and (isinstance(value, bool) or not isinstance(value, int | float)):
            yield cell.number, f"points are a number (they are {value!r})"
        elif isinstance(value, int | float) and not (math.isfinite(value) and value >= 0):
            yield cell.number, f"points can not be {value}"
    if not any(cell.points for cell in page.of(GRADED)):
        yield None, "no cell is worth points: make one a graded cell"


def points_told(page: Page) -> Found:
    """Learners read of points in the first heading's cell, in an exercise's heading and in its table."""
    cells = page.lab.cells
    text = [cell for cell in cells if not cell.is_code]
    first = next((cell for cell in text if cell.source.startswith("# ")), None)
    if first and (found := re.search(_POINTS, first.source)) and float(found[1]) != page.lab.out_of:
        yield first.number, f"it says {found[0]}, and the graded cells are worth {page.lab.out_of:g}: change the text"
    said = [(cell, found) for cell in text if (found := re.search(rf"^##.*\({_POINTS}\)", cell.source, re.MULTILINE))]
    ends = [*(cell.number for cell, _ in said[1:]), len(cells) + 1]
    for (cell, found), end in zip(said, ends, strict=False):
        worth = [graded.points for graded in page.of(GRADED) if cell.number < graded.number < end]
        if float(found[1]) != sum(worth):
            yield (
                cell.number,
                f"it says {found[1]} points, and its graded cells are worth {sum(worth):g}: change the text",
            )
        for table in (each for each in text if cell.number <= each.number < end and "| points |" in each.source):
            rows = [float(row) for row in re.findall(r"\|\s*(\d+(?:\.\d+)?)\s*\|\s*$", table.source, re.MULTILINE)]
            if rows != worth:
                listed = ", ".join(f"{each:g}" for each in worth)
                yield table.number, f"write the points of its graded cells into its table, in their order: {listed}"


# -- marked regions -------------------------------------------------------------------------------------


def solution_regions(page: Page) -> Found:
    for cell in page.lab.cells:
        found, problem = _regions(cell, regions.SOLUTION)
        if problem:
            yield problem
        elif found and cell.kind != SOLUTION:
            yield cell.number, "a solution stands in a cell that is no solution cell: learners would lack the cell's id"
        elif cell.kind == SOLUTION and not found:
            yield cell.number, "put the solution between ### BEGIN SOLUTION and ### END SOLUTION"
        for region in found:
            if not "".join(cell.source.split("\n")[region.first + 1 : region.last]).strip():
                yield cell.number, f"the solution that begins in line {region.first + 1} is empty"


def hidden_regions(page: Page) -> Found:
    for cell in page.lab.cells:
        found, problem = _regions(cell, regions.HIDDEN)
        if problem:
            yield problem
        elif found and cell.kind != GRADED:
            yield cell.number, "hidden tests belong into graded cells: nbgrader would not put them back here"


def _regions(cell: Cell, mark: regions.Mark) -> tuple[tuple[regions.Region, ...], tuple[int, str] | None]:
    try:
        return regions.regions(cell.source, mark), None
    except regions.Unbalanced as error:
        return (), (cell.number, f"line {error.line}: {error}")


def markers_alone(page: Page) -> Found:
    words = [word for mark in (regions.SOLUTION, regions.HIDDEN) for word in (mark.begin, mark.end)]
    for cell in page.lab.cells:
        strings = _strings(cell.source) if cell.is_code else ()
        for number, line in enumerate(cell.source.split("\n"), 1):
            word = next((word for word in words if word in line), None)
            if not word:
                continue
            inside = any(first < number <= last for first, last in strings)
            wanted = f"{'// ' if inside else ''}### {word}"
            if not re.fullmatch(rf"\s*{'//' if inside else '#'}[\s/#]*{word}\s*", line):
                yield cell.number, f"line {number} vanishes with its marker: write it as `{wanted}`, with nothing else"


def _strings(source: str) -> list[tuple[int, int]]:
    """First and last line of each string that spans several: there CUDA C stands."""
    tree = tree_of(source)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.JoinedStr)] if tree else []
    return [(node.lineno, end) for node in nodes if (end := node.end_lineno or 0) > node.lineno]


def foreign_marks(page: Page) -> Found:
    for cell in page.lab.cells:
        for word in FOREIGN_MARKS:
            if word in cell.source:
                yield cell.number, f"nbgrader acts on {word}, the grader here does not: write it another way"


def python(page: Page) -> Found:
    for cell in page.lab.cells:
        if cell.is_code and cell.source.startswith("%%"):
            if cell.kind in (SOLUTION, GRADED):
                yield cell.number, "write no cell magic here: it hides the code from the grader"
        elif cell.is_code and tree_of(cell.source) is None:
            yield cell.number, "it is no Python"
        elif cell.kind == SOLUTION and not _regions(cell, regions.SOLUTION)[1] and not _stub_fits(cell):
            yield cell.number, f"with {regions.STUB} for the solution it is no Python: mark whole statements"


def _stub_fits(cell: Cell) -> bool:
    return tree_of(regions.replaced(cell.source, regions.SOLUTION, [regions.STUB])) is not None


# -- what is graded -------------------------------------------------------------------------------------


def one_probe(page: Page) -> Found:
    for cell in page.of(GRADED):
        every = calls(cell.source, "probe")
        hidden = [call for call in every if _is_hidden(call, cell)]
        made = [call for call in every if call not in hidden]
        if not made:
            also = " outside the hidden tests, for learners too" if hidden else ": without it nothing is graded"
            yield cell.number, f'call probe(answer, "exercise", "part"){also}'
        elif len(made) > 1:
            yield cell.number, f"{len(made)} calls of probe: one graded cell, one part"
        elif not probes(ast.unparse(made[0])):
            yield cell.number, 'write the call as probe(answer, "exercise", "part"), two texts after the answer'
        elif any(
            [ast.dump(node) for node in call.args] != [ast.dump(node) for node in made[0].args] for call in hidden
        ):
            yield cell.number, "let probe in the hidden tests ask for what it asks for outside: only seed= may differ"
    for cell in page.of(SOLUTION, LOCKED, FREE):
        if calls(cell.source, "probe") and cell.is_code:
            yield cell.number, "probe belongs into graded cells"
        if cell.kind == SOLUTION and calls(cell.source, "check"):
            yield cell.number, "let a locked cell of its own call check: grading would run it here"


def _asked(call: ast.Call) -> tuple[str, ...]:
    return tuple(map(ast.unparse, call.args))


def _is_hidden(call: ast.Call, cell: Cell) -> bool:
    return any(region.first < call.lineno <= region.last for region in _regions(cell, regions.HIDDEN)[0])


def parts(page: Page) -> Found:
    seen: dict[tuple[str, str], int] = {}
    start = page.lab.name.split("_")[0] + "."
    for cell in page.of(GRADED):
        probe = cell.probe
        if probe is None:
            continue
        row = page.exercises.get(probe.exercise)
        if row is None:
            yield cell.number, f"there is no exercise {probe.exercise!r}{_near(probe.exercise, page.exercises)}"
            continue
        if not probe.exercise.startswith(start):
            yield cell.number, f"{probe.exercise!r} is another lab's exercise: those of this one begin with {start}"
        known = (RESULTS, *(budget.label for budget in row.budgets))
        if probe.part not in known:
            listed = ", ".join(map(repr, known))
            yield cell.number, f"{probe.exercise} has no part {probe.part!r}: it has {listed}"
        first = seen.setdefault((probe.exercise, probe.part), cell.number)
        if first != cell.number:
            yield cell.number, f"cell {first} grades {probe.part!r} of {probe.exercise} already"
    for key in page.lab.exercises:
        if key in page.exercises and (key, RESULTS) not in seen:
            yield None, f"no cell grades the results of {key}: speed is worth nothing without them"


def limits(page: Page) -> Found:
    for cell in page.of(GRADED):
        probe = cell.probe
        if probe is None or probe.exercise not in page.exercises:
            continue
        for budget in page.exercises[probe.exercise].budgets:
            for value in _compared(cell.source):
                if budget.label == probe.part and value != budget.at_most:
                    said = f"its exercise's row says {budget.at_most:g}: write one in both"
                    yield cell.number, f"it asserts at most {value:g}, {said}"


def _compared(source: str) -> Iterator[float]:
    """The numbers that a cell compares what was counted with, as in `seen.value <= 2`."""
    for node in ast.walk(tree_of(source) or ast.Module([], [])):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "value":
            given = (each.value for each in node.comparators if isinstance(each, ast.Constant))
            yield from (value for value in given if isinstance(value, int | float))


def _near(key: str, known: Mapping) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def answers(page: Page) -> Found:
    lab = page.lab
    for key in lab.exercises:
        first = next(cell for cell in lab.graded if cell.probe and cell.probe.exercise == key)
        cells = lab.answered_in(key)
        if not cells:
            yield first.number, f"nothing answers {key}: call its solution cell {slug(key)}"
        elif cells[0].number > first.number:
            yield first.number, f"it stands before {called(cells[0])}, which it grades"
    for cell in lab.solutions:
        if cell.grade_id and lab.exercise_of(cell) is None:
            yield cell.number, f"nothing grades {called(cell)}: call it after its exercise, as {slug('lab05.total')}"
    for cell in lab.graded:
        if cell.probe and not cell.grade_id.startswith(slug(cell.probe.exercise) + "-"):
            yield cell.number, f"call it {slug(cell.probe.exercise)}-{slug(cell.probe.part)}, after what it grades"


def names_known(page: Page) -> Found:
    known = set(dir(builtins))
    for cell in page.lab.cells:
        if cell.probe:
            used = {node.id for node in ast.walk(ast.parse(f"({cell.probe.expression})")) if isinstance(node, ast.Name)}
            for name in sorted(used - known):
                yield cell.number, f"probe is given {name!r}, which no cell before it defines"
        if cell.is_code and not cell.is_feedback:
            known |= _bound(cell.source)


def left_out(page: Page) -> Found:
    planned = [cell for cell in page.lab.cells if cell.is_code and not cell.is_feedback]
    known = set(dir(builtins)).union(*(_bound(cell.source) for cell in planned))
    unplanned = set().union(*(_bound(cell.source) for cell in page.lab.cells if cell.is_code and cell.is_feedback))
    for cell in planned:
        used = {node.id for node in ast.walk(tree_of(cell.source) or ast.Module([], [])) if isinstance(node, ast.Name)}
        for name in sorted(used & unplanned - known):
            yield cell.number, f"it uses {name!r} of a cell for feedback or exploring, which grading leaves out"


def _bound(source: str) -> set[str]:
    """The names that a cell may give a value to."""
    found: set[str] = set()
    for node in ast.walk(tree_of(source) or ast.Module([], [])):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def asserts(page: Page) -> Found:
    for cell in page.of(GRADED):
        tree = tree_of(cell.source)
        if tree is None:
            continue
        if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
            yield cell.number, "assert something on what probe returns: else nbgrader gives every answer full marks"
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr) and not cell.source.rstrip().endswith(";"):
            yield cell.number, "it ends in a bare expression, which nbgrader takes for points if it is a number: assert"


@dataclass(frozen=True)
class Rule:
    """One row: the rule's name, and what yields (cell number or None, what to do) for each breach."""

    name: str
    look: Callable[[Page], Found]


RULES = (
    Rule("file name", file_name),
    Rule("cell ids", format_45),
    Rule("notebook metadata", metadata),
    Rule("nbgrader metadata", schema),
    Rule("kinds", kinds),
    Rule("grade ids", ids),
    Rule("points", points),
    Rule("points told", points_told),
    Rule("solutions", solution_regions),
    Rule("hidden tests", hidden_regions),
    Rule("markers alone", markers_alone),
    Rule("other marks", foreign_marks),
    Rule("python", python),
    Rule("one probe", one_probe),
    Rule("parts", parts),
    Rule("limits", limits),
    Rule("answers", answers),
    Rule("names known", names_known),
    Rule("left out", left_out),
    Rule("asserts", asserts),
)


ABOUT_TEXT = ("points told",)
"""Rules on what learners read: breaches are no reason not to grade."""


def examine(lab: Lab, exercises: Mapping[str, Exercise] | None = None) -> list[Problem]:
    """Every breach of every rule; `exercises` are rows by key, default the workbook's."""
    if exercises is None:
        from helpers.checking.exercise import exercises as rows

        exercises = rows()
    page = Page(lab, exercises)
    return [Problem(rule.name, number, message) for rule in RULES for number, message in rule.look(page)]

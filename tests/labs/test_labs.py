"""Every lab: its solution gets all marks, what is given out gets none; and its notebook keeps what it promises."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from helpers.checking import evidence
from helpers.checking.check import check
from helpers.checking.exercise import exercise, exercises
from helpers.checking.probe import RESULTS, parts
from helpers.checking.solutions import built, solution_of
from helpers.grading import judge
from helpers.grading.regions import HIDDEN, SOLUTION, STUB, replaced
from helpers.workbook import run as notebooks

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "labs" / "source").glob("lab*/lab*.ipynb"))
EXERCISES = ROOT / "helpers" / "exercises"
SEEDS = (1, 20261, 987654321)
FULL = 20

every_lab = pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)


def about(lab: Path) -> tuple[Path, ...]:
    """What a run of the lab's notebook hangs on, besides the engine."""
    return (lab, Path(__file__), *EXERCISES.glob(f"{lab.stem.partition('_')[0]}/**/*.*"))


labs_in_turn = pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=pytest.mark.rotating(*about(path))) for path in SOURCES]
)
KEYS = [key for key, row in exercises().items() if row.of_a_lab]
every_exercise = pytest.mark.parametrize("key", KEYS)


# -- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A code cell of an author's notebook: nbgrader's id, its metadata there, its source."""

    grade_id: str
    marks: dict
    source: str

    @property
    def probes(self) -> list[ast.Call]:
        calls = [node for node in ast.walk(ast.parse(self.source)) if isinstance(node, ast.Call)]
        return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "probe"]


@cache
def cells(path: Path) -> tuple[Cell, ...]:
    found = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            marks = cell["metadata"].get("nbgrader", {})
            found.append(Cell(marks.get("grade_id", ""), marks, "".join(cell["source"])))
    return tuple(found)


def graded(path: Path) -> list[Cell]:
    return [cell for cell in cells(path) if cell.marks.get("grade")]


def source_of(key: str) -> Path:
    """The author's notebook that asks for an exercise."""
    start = key.split(".")[0] + "_"
    return next(path for path in SOURCES if path.name.startswith(start))


def stubbed(source: str) -> str:
    """A cell as a learner gets it."""
    return replaced(replaced(source, SOLUTION, [STUB]), HIDDEN)


def judged(key: str, answer, seed: int) -> dict:
    proof = json.loads(json.dumps(evidence.taken(answer, evidence.inputs_of(exercise(key).for_marks(seed)))))
    return judge.answer({"exercise": key, "seed": seed, "evidence": proof})


# -- answers ---------------------------------------------------------------------------------------------------------


def test_there_are_labs():
    assert SOURCES and KEYS


@every_exercise
def test_the_solution_gets_all_marks(key, some):
    for seed in some(SEEDS, 1):
        verdict = judged(key, built(exercise(key), solution_of(exercise(key))), seed)
        assert all(part["right"] for part in verdict.values()), verdict
        assert tuple(verdict) == parts(exercise(key))


@every_exercise
def test_what_is_given_out_gets_no_marks(key):
    source = stubbed(solution_of(exercise(key)))
    assert STUB in source and "SOLUTION" not in source
    answer = built(exercise(key), source)
    assert not check(answer, key).passed
    verdict = judged(key, answer, SEEDS[0])
    assert not any(part["right"] for part in verdict.values()), verdict


# -- rows and notebooks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@every_exercise
def test_drawn_cases_differ_from_the_public_ones_and_are_drawn_again(key, seed):
    row = exercise(key)
    first, second = ([case.name for case in row.with_cases_of(seed).cases()] for _ in range(2))
    assert first == second
    assert set(first) - {case.name for case in row.cases()}


def test_the_page_of_labs_leads_to_every_lab():
    page = ROOT / "labs" / "README.md"
    linked = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in linked if not (page.parent / link).exists()] == []
    assert {f"{path.parent.name}/{path.name}" for path in SOURCES} <= set(linked)


@every_lab
def test_points_add_up(path):
    points = [cell.marks["points"] for cell in graded(path)]
    assert sum(points) == FULL
    asked = [cell.probes[0].args[2].value for cell in graded(path)]
    assert sum(p for p, part in zip(points, asked, strict=True) if part != RESULTS) * 2 >= FULL


@every_lab
def test_each_part_is_graded_once_by_its_own_limit(path):
    rows = {key: exercise(key) for key in KEYS if source_of(key) == path}
    asked = []
    for cell in graded(path):
        (key, part), *others = [tuple(each.value for each in call.args[1:]) for call in cell.probes]
        assert others == [(key, part)], f"{cell.grade_id} has one hidden test of the same part"
        assert [keyword.arg for keyword in cell.probes[1].keywords] == ["seed"]
        limits = {budget.label: budget.at_most for budget in rows[key].budgets}
        wanted = "assert seen.wrong == seen.findings == 0"
        wanted += f" and seen.value <= {limits[part]:g}, seen" if part != RESULTS else ", seen"
        assert [line for line in cell.source.splitlines() if line.startswith("assert")] == [wanted] * 2, cell.grade_id
        asked.append((key, part))
    assert sorted(asked) == sorted((key, part) for key, row in rows.items() for part in parts(row))


@every_lab
def test_what_a_statement_promises_is_what_is_counted(path):
    """The table of a statement has each limit."""
    text = path.read_text(encoding="utf-8")
    cells_of_text = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
    for key in (key for key in KEYS if source_of(key) == path):
        tables = [cell for cell in cells_of_text if "| at most |" in cell and _belongs(cell, key, path)]
        limits = [f"{budget.at_most:g}" for budget in exercise(key).budgets]
        assert len(tables) == 1, key
        found = re.findall(r"^\|[^|]*\|([^|]*)\|[^|]*\|$", tables[0], flags=re.M)[3:]
        assert [each.strip() for each in found] == limits, key


def _belongs(text: str, key: str, path: Path) -> bool:
    raw = json.loads(path.read_text(encoding="utf-8"))["cells"]
    starts = {each: each.replace(".", "-").replace("_", "-") + "-" for each in KEYS}

    def of(cell: dict) -> str:
        """The exercise of a cell: one's name may begin as another's does."""
        return max((each for each in KEYS if cell["id"].startswith(starts[each])), key=len, default="")

    return any("".join(cell["source"]) == text and of(cell) == key for cell in raw)


@every_lab
def test_cells_are_marked_as_nbgrader_marks_them(path):
    raw = json.loads(path.read_text(encoding="utf-8"))
    start = path.stem.split("_")[0] + "-"
    ids = [cell["id"] for cell in raw["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in raw["cells"]:
        marks = cell["metadata"]["nbgrader"]
        assert marks["schema_version"] == 3 and not marks["task"]
        assert marks["grade_id"] == cell["id"] and re.fullmatch(rf"{start}[a-z0-9-]+", cell["id"])
        assert marks["locked"] is not marks["solution"]
        assert ("points" in marks) is marks["grade"]


@every_lab
def test_its_outputs_are_stored_and_none_is_an_error(path):
    raw = json.loads(path.read_text(encoding="utf-8"))
    for cell in raw["cells"]:
        outputs = cell.get("outputs", [])
        assert not any(output["output_type"] == "error" for output in outputs), cell["id"]
        varies = notebooks.NOT_STORED in cell["metadata"].get("tags", [])
        assert outputs or varies or not cell["metadata"]["nbgrader"]["grade"], cell["id"]


@pytest.mark.slow
@labs_in_turn
def test_nbval_finds_the_outputs_that_are_stored(path):
    assert nbval("--nbval", path) == ""


@pytest.mark.exhaustive
def test_nbval_passes_without_comparing_too():
    assert nbval("--nbval-lax", SOURCES[0]) == ""


def nbval(option: str, path: Path) -> str:
    """What pytest says against a lab as an instructor calls it, "" where it passes."""
    command = [sys.executable, "-m", "pytest", option, str(path.parent), "-p", "no:cacheprovider", "-q"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    return "" if done.returncode == 0 else done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.slow
@labs_in_turn
def test_what_is_given_out_runs_and_only_graded_cells_fail(path, tmp_path):
    raw = json.loads(path.read_text(encoding="utf-8"))
    for cell in raw["cells"]:
        cell["source"] = stubbed("".join(cell["source"]))
    given = tmp_path / path.name
    given.write_text(json.dumps(raw), encoding="utf-8")
    fail = {problem.cell for problem in notebooks.run(given, stored=False).problems}
    assert fail == {number for number, cell in enumerate(raw["cells"], 1) if cell["metadata"]["nbgrader"]["grade"]}

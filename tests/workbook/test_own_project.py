"""Another project's chapters and labs: the page that explains them is written into an empty folder, run and marked."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from helpers.checking import books
from helpers.grading.sandbox import SandboxUnavailable, best, view
from helpers.workbook import style

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "labs" / "YOUR_OWN.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`(warpbook_exercises/\S+)`\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
CELLS = re.findall(r"^```python\n(.*?)\n```$", PAGE.partition("The cells of `relu.ipynb`")[2].partition("\n## ")[0],
                   re.MULTILINE | re.DOTALL)  # fmt: skip
LAB_CELLS = re.findall(r"^`(labx-\S+)`, ([\w -]+)(?:, (\d+) points)?\n\n```(\w+)\n(.*?)\n```$", PAGE,
                       re.MULTILINE | re.DOTALL)  # fmt: skip
KINDS = {
    "read-only": {"locked": True, "grade": False, "solution": False},
    "autograded answer": {"locked": False, "grade": False, "solution": True},
    "autograder tests": {"locked": True, "grade": True, "solution": False},
}
LAB = "labs/source/labx_clamp"


def notebook(cells) -> str:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}}))


def lab_cell(name: str, kind: str, points: str, language: str, source: str) -> dict:
    marks = KINDS[kind] | {"grade_id": name, "schema_version": 3, "task": False}
    marks |= {"points": int(points)} if points else {}
    make = new_markdown_cell if language == "markdown" else new_code_cell
    return make(source, id=name, metadata={"nbgrader": marks})


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The folder that the page describes."""
    folder = tmp_path_factory.mktemp("my-course")
    source = folder / LAB / "labx_clamp.ipynb"
    files = {folder / name: text for name, text in FILES.items()}
    files[folder / "relu.ipynb"] = notebook([new_code_cell(cell) for cell in CELLS])
    files[source] = notebook([lab_cell(*row) for row in LAB_CELLS])
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def run(folder: Path, *words: str, status: int = 0, **variables: str) -> str:
    """What `python …` prints in a folder, with this workbook as a package."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "WARPBOOK_STATE": "off"} | variables
    made = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)
    assert made.returncode == status, made.stdout + made.stderr
    return made.stdout + made.stderr


def test_the_page_has_all_files_and_cells(project):
    assert len(FILES) == 8 and len(CELLS) == 5 and len(LAB_CELLS) == 5
    assert sorted(books.names(project / books.FOLDER)) == ["labx", "mine"]


def test_exercises_are_found_around_a_notebook_or_by_the_variable(project, tmp_path):
    below = project / "week 1"
    below.mkdir()
    where = ("-c", "from helpers.checking.exercise import BOOKS; print(BOOKS[-2:])")
    assert "('labx', 'mine')" in run(below, *where)
    assert "('labx', 'mine')" in run(tmp_path, *where, WARPBOOK_EXERCISES=str(project / books.FOLDER))
    assert "mine" not in run(project, *where, WARPBOOK_EXERCISES="off")
    assert "which is no folder" in run(tmp_path, *where, status=1, WARPBOOK_EXERCISES=str(tmp_path / "gone"))


def test_the_course_keeps_the_names_of_its_books(tmp_path):
    (tmp_path / books.FOLDER / "ch04").mkdir(parents=True)
    (tmp_path / books.FOLDER / "ch04" / "__init__.py").touch()
    with pytest.raises(books.BadFolder, match="the course has a book ch04"):
        books.own(tmp_path)


def test_only_the_judge_sees_them(project, monkeypatch):
    monkeypatch.setattr(view, "OWN", project / books.FOLDER)
    for role in view.ROLES:
        shown = [entry.place for entry in view.view(role) if entry.source == str(view.OWN)]
        assert shown == [view.OWN_PLACE] * (role == "judge")


@pytest.mark.slow
def test_mistakes_are_recognised(project):
    assert "fingerprints.json" in run(project, "-m", "helpers.checking.renew", "mine.relu")
    answer = FILES["warpbook_exercises/mine/relu/solution.py"].replace("max(x[i], 0)", "min(x[i], 0)")
    said = "print(check(relu, 'mine.relu'), reveal('mine-threads'))"
    (project / "wrong.py").write_text(f"from helpers import check, cuda, reveal\n\n\n{answer}\n\n{said}")
    said = run(project, "wrong.py")
    assert "not yet — positive elements lost" in said and "The answer is 24." in said


@pytest.mark.slow
def test_an_answer_that_does_not_pass_is_reported(project, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.replace("x[i] if x[i] > 0 else 0", "x[i] if x[i] > 1 else 0"))
    assert "mine.relu: a branch doesn't pass" in run(tmp_path, "-m", "helpers.checking.renew", "mine.relu", status=1)


@pytest.mark.slow
def test_the_chapter_runs_under_nbval(project):
    assert "5 passed" in run(project, "-m", "pytest", "--nbval-lax", "-q", "-p", "no:cacheprovider", "relu.ipynb")


@pytest.mark.slow
def test_a_lab_is_released_and_marked(project):
    assert "wrote" in run(project, "-m", "helpers.cli", "release", LAB)
    handed_out = project / "labs/labx_clamp/labx_clamp.ipynb"
    page = style.open_page(handed_out)
    (answer,) = (cell for cell in page.cells if cell.id == "labx-clamp")
    assert "min(max" not in answer.source
    assert "0 of 5 points" in run(project, "-m", "helpers.cli", "check", str(handed_out), status=1)
    assert "5 of 5 points" in run(project, "-m", "helpers.cli", "check", f"{LAB}/labx_clamp.ipynb")
    assert "fingerprints.json" in run(project, "-m", "helpers.checking.renew", "labx")


@pytest.mark.exhaustive
def test_a_class_is_graded_with_the_exercises_beside_the_lab_and_no_others(project, tmp_path):
    try:
        best()
    except SandboxUnavailable as why:
        pytest.skip(str(why))
    elsewhere = tmp_path / "handed_in"
    elsewhere.mkdir()
    source = project / LAB / "labx_clamp.ipynb"
    (elsewhere / "ann.ipynb").write_text(source.read_text(encoding="utf-8"))
    (elsewhere / "bob.ipynb").write_text(source.read_text(encoding="utf-8").replace("max(x[i], -1)", "x[i]"))
    trap = tmp_path / books.FOLDER / "labx"
    trap.mkdir(parents=True)
    (trap / "__init__.py").write_text("raise SystemExit('this was handed in')")
    said = run(tmp_path, "-m", "helpers.cli", "grade", str(source), "handed_in", "--out", "results", "--workers", "1")
    assert re.search(r"ann +graded +5/5", said) and re.search(r"bob +graded +0/5", said)

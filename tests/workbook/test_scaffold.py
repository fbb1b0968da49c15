"""What `warpbook new` writes: exercises that pass and notebooks that keep the style, but for what is marked TODO."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import helpers.exercises
from helpers import cli
from helpers.checking import exercise as exercises
from helpers.checking.examine import examine
from helpers.checking.renew import computed
from helpers.checking.solutions import built, patched
from helpers.workbook import style
from helpers.workbook.authoring import scaffold
from helpers.workbook.chapters import PAGES

CHAPTERS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob(PAGES))
BEFORE, LAST = (path.name for path in CHAPTERS[-2:])
NUMBER = int(LAST[:2]) + 1
NEW = f"{NUMBER}_texture_memory"


@pytest.fixture
def project(tmp_path, root, monkeypatch):
    """A workbook with two chapters, the names of the others, and no exercise."""
    (tmp_path / "helpers" / "exercises").mkdir(parents=True)
    (tmp_path / "notebooks").mkdir()
    for path in CHAPTERS:
        (tmp_path / "notebooks" / path.name).touch()
    for name in ("README.md", "glossary.md", "images", BEFORE, LAST):
        copy = shutil.copytree if name == "images" else shutil.copy
        copy(root / "notebooks" / name, tmp_path / "notebooks" / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(exercises, "FOLDER", tmp_path / "helpers" / "exercises")
    monkeypatch.setattr(helpers.exercises, "__path__", [str(tmp_path / "helpers" / "exercises")])
    return tmp_path


@pytest.mark.parametrize("language", scaffold.LANGUAGES)
def test_a_new_exercise_passes_and_each_of_its_mistakes_is_known(project, language, capsys):
    book = f"ch9{scaffold.LANGUAGES.index(language)}"  # modules are imported once
    assert cli.main(["new", "exercise", f"{book}.twice", "--language", language]) == 0
    assert f"renew {book}.twice" in capsys.readouterr().out
    task = exercises._read(book, "twice")
    for way in (task.solution, *(way for _, way in task.right)):
        assert examine(built(task, way if way == task.solution else patched(task, way)), task).passed
    assert all(len(prints) == 1 for prints in computed(task).values())
    assert len(task.mistakes) == 4 and "TODO" in task.why


def test_a_new_exercise_of_a_lab_has_drawn_cases_and_no_solution(project):
    cli.main(["new", "exercise", "lab99.twice"])
    task = exercises._read("lab99", "twice")
    assert task.of_a_lab and not task.solution and len(task.with_cases_of(1).cases()) == 3


def test_exercises_are_put_last_however_long_the_order_is(project):
    names = [f"exercise_with_a_long_name_{n}" for n in range(9)]
    for name in names:
        cli.main(["new", "exercise", f"ch98.{name}"])
    text = (project / "helpers" / "exercises" / "ch98" / "__init__.py").read_text()
    found: dict = {}
    exec(text, found)
    assert found["ORDER"] == tuple(names) and max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("key", ["twice", "ch9.twice", "ch98.a-name", "ch98.twice"])
def test_a_name_that_will_not_do_is_refused(project, key, capsys):
    (project / "helpers" / "exercises" / "ch98" / "twice").mkdir(parents=True)
    assert cli.main(["new", "exercise", key]) == 2
    assert "Nothing is written" in capsys.readouterr().err


def test_a_new_chapter_keeps_the_style_but_for_its_todos(project, capsys):
    assert cli.main(["new", "chapter", str(NUMBER), "Texture", "memory"]) == 0
    assert f"-k {NEW}" in capsys.readouterr().out
    page = style.open_page(project / "notebooks" / f"{NEW}.ipynb")
    assert {problem.rule for problem in style.examine(page)} == {"finished"}
    assert page.neighbours == (LAST, None)
    contents = (project / "notebooks" / "README.md").read_text(encoding="utf-8").splitlines()
    row = contents.index(f"| {NUMBER} | [Texture memory]({NEW}.ipynb) | 60 | TODO: in a line | |")
    assert LAST in contents[row - 1]


def test_a_chapter_between_two_is_linked_from_both(project, capsys):
    folder, after = project / "notebooks", f"{NUMBER + 1}{LAST[2:]}"
    (folder / LAST).rename(folder / after)
    before = style.open_page(folder / BEFORE).cells[1:-1]
    cli.main(["new", "chapter", str(NUMBER), "Texture memory"])
    for name in (BEFORE, f"{NEW}.ipynb", after):
        page = style.open_page(folder / name)
        found = {problem.rule for problem in style.examine(page)} - {"live links"}  # the labs aren't here
        assert found <= {"finished"}, name
    assert style.open_page(folder / BEFORE).cells[1:-1] == before
    assert cli.main(["new", "chapter", str(NUMBER), "again"]) == 2

"""What is said of a folder that isn't an exercise: the file, the key, and what to write there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import helpers.exercises
from helpers.checking import exercise as exercises
from helpers.checking.exercise_files import SHEET, BadExercise

KEY = "ch05.transpose"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of an exercise, to be spoilt."""
    book = tmp_path / "ch05"
    shutil.copytree(exercises.FOLDER / "ch05", book, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(exercises, "FOLDER", tmp_path)
    return book / "transpose"


def changed(folder: Path, old: str, new: str, file: str = SHEET) -> None:
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")


def read():
    exercises._read.cache_clear()
    try:
        return exercises._read(*KEY.split("."))
    finally:
        exercises._read.cache_clear()


SPOILT = (
    ("sanitize = true", "sanitise = true", "unknown field `sanitise`", "at the top: title, language, name"),
    ('language = "numba"', 'language = "julia"', "'julia'", "language"),
    ('stretch = "', 'stretched = "', "unknown field `stretched`", "stretch"),
    ("sanitize = true", 'sanitize = "yes"', "Expected `bool`, got `str`", "$.sanitize"),
    ('title = "', 'title = "" = "', SHEET, "line 3"),
    ("[[mistakes]]", "[[mistake]]", "unknown field `mistake`", "[[mistakes]]: name, teach, ways"),
    ('["(32, 33)", "(32, 32)"]', '["(23, 33)", "(32, 32)"]', "solution.py has no '(23, 33)'", "way 1: "),
    ('["(32, 33)", "(32, 32)"]', '["(32, 33)", "(32, 33)"]', "changes nothing", "copy the part"),
    ('["(32, 33)", "(32, 32)"]', '["(32, 33)", "(32, 32)", "x"]', 'a patch is ["old", "new"]', "way 1: "),
    ('["copied_and_not_turned.py"]', '["copied.py"]', "there is no wrong/copied.py", "a patch [old, new]"),
    ('shared = "SHARED_LOADS"', 'shared = "SHARED_READS"', "no budget has the name SHARED_READS", "ch05.budgets"),
    ('"sectors per load request"', '"sectors per load"', "MEASURES in cases.py has no measure", "sectors per load"),
    ("at_most = 4.2\n", "", "write at_most too", "or `shared`"),
)


@pytest.mark.parametrize(("old", "new", "said", "also"), SPOILT, ids=[row[2] for row in SPOILT])
def test_what_is_wrong_is_named(folder, old, new, said, also):
    changed(folder, old, new)
    with pytest.raises(BadExercise, match=re.escape(said)) as refused:
        read()
    assert f"transpose/{SHEET}" in str(refused.value).replace("\\", "/") and also in str(refused.value)


def test_a_folder_without_words_says_how_to_begin(folder):
    (folder / SHEET).unlink()
    with pytest.raises(BadExercise, match="warpbook new exercise"):
        read()


def test_lines_of_words_are_joined_and_shared_budgets_changed(folder):
    changed(folder, 'shared = "SHARED_STORES"', 'shared = "SHARED_STORES"\nat_most = 2')
    changed(folder, "Which element of the tile does a\n", "Which element of the tile\n    does a\n")
    task = read()
    assert "Which element of the tile does a thread store?" in task.hints[0] and "\n" not in task.why
    assert [budget.at_most for budget in task.budgets] == [4.2, 4.2, 1.05, 2]


def test_one_exercise_is_read_without_the_others():
    code = (
        "import sys; from helpers.checking.exercise import exercise, exercises; exercise('ch05.transpose'); "
        "len(exercises()); print(sorted(name for name in sys.modules if name.endswith('.cases')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == f"['{helpers.exercises.__name__}.ch05.transpose.cases']"

"""A learner marks their own lab, without a sandbox and without the author's notebook."""

import json
import subprocess
import sys

import pytest

from helpers.checking.exercise import exercise
from helpers.grading import self_check
from helpers.grading.merged import solved
from helpers.grading.release import as_bytes, released
from tests.grading import small_lab

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def labs(tmp_path_factory):
    """A folder of labs as learners have it."""
    folder = tmp_path_factory.mktemp("labs")
    lab = small_lab.lab()
    path = folder / lab.name / f"{lab.name}.ipynb"
    path.parent.mkdir()
    path.write_bytes(as_bytes(released(lab)))
    return folder


def mine(folder, answers=None, **changes):
    """A learner's notebook: the author's answers but for those given, None for none at all."""
    lab = small_lab.lab()
    notebook = released(lab) if answers is None else solved(lab, answers)
    notebook |= changes
    path = folder / "mine.ipynb"
    path.write_bytes(as_bytes(notebook))
    return path


def test_right_answers_get_all_points_and_are_told_what_decides(tmp_path, labs):
    checked = self_check.check(mine(tmp_path, {}), labs)
    assert checked.passed
    lab = small_lab.lab()
    text = str(checked)
    assert text.startswith(lab.title)
    assert f"{lab.out_of:g} of {lab.out_of:g} points on the public cases." in text
    assert "hidden cases" in text
    for key in small_lab.EXERCISES:
        assert key in text and exercise(key).title in text
    assert max(map(len, text.split("\n"))) <= 101


def test_a_wrong_answer_is_told_its_mistake(tmp_path, labs):
    checked = self_check.check(mine(tmp_path, {small_lab.TOTAL: small_lab.DOES_NOTHING}), labs)
    lost = [mark for mark in checked.marks if mark.outcome != "right"]
    assert {mark.exercise for mark in lost} == {"lab05.total"}
    assert all(mark.why for mark in lost)
    assert "✗ results" in str(checked)


def test_an_error_and_a_crash_cost_only_their_own_question(tmp_path, labs):
    for answer, outcome in (("def total(:", "error"), (small_lab.CRASH, "crash")):
        checked = self_check.check(mine(tmp_path, {small_lab.TOTAL: answer}), labs)
        assert {mark.exercise: mark.outcome for mark in checked.marks} == {
            "lab05.total": outcome, "lab05.logsumexp": "right"
        }  # fmt: skip


def test_the_notebook_in_the_folder_of_labs_is_its_own_reference(tmp_path, labs):
    own = tmp_path / "labs"
    lab = small_lab.lab()
    path = own / lab.name / f"{lab.name}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(as_bytes(released(lab)))
    checked = self_check.check(path, own)
    assert {mark.outcome for mark in checked.marks} == {"missing"}
    path.write_bytes(as_bytes(solved(lab)))
    assert self_check.check(path, own).passed


def test_check_cells_that_a_learner_changed_decide_nothing(tmp_path, labs):
    notebook = json.loads(mine(tmp_path).read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["source"] = ["print('right')"]
    path = tmp_path / "mine.ipynb"
    path.write_text(json.dumps(notebook))
    checked = self_check.check(path, labs)
    assert len(checked.marks) == len(small_lab.lab().graded)
    assert not any(mark.points for mark in checked.marks)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"no notebook", "isn't valid JSON"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": "1",'
         b' "id": "a", "metadata": {}, "outputs": [], "execution_count": null}]}', "no lab"),
    ],
)  # fmt: skip
def test_what_is_no_lab_is_said_so(tmp_path, labs, data, words):
    path = tmp_path / "mine.ipynb"
    path.write_bytes(data)
    with pytest.raises(self_check.NotChecked, match=words):
        self_check.check(path, labs)


def test_a_notebook_that_is_not_there_is_said_so(tmp_path, labs):
    with pytest.raises(self_check.NotChecked, match="can not be checked"):
        self_check.check(tmp_path / "none.ipynb", labs)


def test_the_command_says_by_its_exit_status(tmp_path):
    def status(path):
        line = [sys.executable, "-m", "helpers.cli", "check", str(path)]
        return subprocess.run(line, cwd=small_lab.ROOT, capture_output=True, text=True, timeout=300)

    passed = status(mine(tmp_path, {}))
    assert passed.returncode in (0, 1), passed.stderr  # 1: the lab in the workbook has more exercises than this one
    assert "of 20 points" in passed.stdout
    missing = status(tmp_path / "none.ipynb")
    assert missing.returncode == 2 and "can not be checked" in missing.stderr

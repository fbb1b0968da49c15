"""pytest --nbval with another kernel and another comparison."""

import os

import pytest

from helpers.grading import nbval_plugin
from helpers.grading.marking import Marker
from helpers.grading.policy import Policy
from helpers.grading.sandbox import InfrastructureFault, Run
from helpers.grading.session import Session
from tests.grading.scripted import Kernels, shown, two_questions

RIGHT = {"results": {"right": True, "mistake": None, "why": ""}}
WRONG = {"results": {"right": False, "mistake": "no guard", "why": "Guard it."}}
SHOWN = {f"{name}-results": Run([shown(f"lab99.{name}", "results")], None, "ok", 0.0) for name in ("one", "two")}


@pytest.fixture
def graded(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    return lambda *arguments, **named: run_in(folder, *arguments, **named)


def run_in(folder, table=None, judge=lambda key, evidence, open: RIGHT):
    """What pytest printed, the marks, and the kernels."""
    kernels = Kernels({**SHOWN, **(table or {})})
    marker = Marker(judge, 10_000)
    printed = nbval_plugin.run(two_questions(), Session(kernels, Policy()), marker, str(folder))
    return printed, marker.marks, kernels


def test_every_cell_is_a_test_and_graded_ones_pass_or_fail_by_the_judge(graded):
    printed, marks, kernels = graded(judge=lambda key, evidence, open: RIGHT if key == "lab99.one" else WRONG)
    assert "1 failed, 4 passed" in printed
    assert [(mark.cell, mark.points, mark.outcome) for mark in marks] == [
        ("one-results", 2.0, "right"),
        ("two-results", 0.0, "wrong"),
    ]
    assert kernels.ran == [["imports", "one", "one-results", "two", "two-results"]]


def test_a_crash_in_one_question_keeps_the_marks_of_the_other(graded):
    for answer, lost in (("one", "one-results"), ("two", "two-results")):
        table = {answer: "crash", lost: "error"}
        _, marks, _ = graded(table)
        assert {mark.cell: mark.outcome for mark in marks} == {
            "one-results": "right", "two-results": "right", lost: "crash"
        }  # fmt: skip


def test_a_cell_that_only_raises_fails_no_test(graded):
    printed, marks, _ = graded({"one": "error"})
    assert "5 passed" in printed
    assert sum(mark.points for mark in marks) == 5


def test_the_kernel_is_ended_when_the_notebook_is(graded):
    _, _, kernels = graded()
    assert not kernels.alive


def test_what_fails_beside_the_notebook_is_the_graders_fault(graded):
    def judge(key, evidence, open):
        raise InfrastructureFault("no judge")

    with pytest.raises(InfrastructureFault, match="no judge"):
        graded(judge=judge)

    def broken(key, evidence, open):
        raise ZeroDivisionError("a bug")

    with pytest.raises(InfrastructureFault, match="ZeroDivisionError: a bug"):
        graded(judge=broken)


def test_settings_of_pytest_in_the_shell_and_beside_the_notebook_say_nothing(graded, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only -p nothing.there")
    monkeypatch.setenv("PYTEST_PLUGINS", "nothing.there")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --nothing-there\n")
    (tmp_path / "conftest.py").write_text("raise SystemExit('read')\n")
    printed, marks, _ = graded()
    assert "5 passed" in printed and len(marks) == 2
    assert os.environ["PYTEST_ADDOPTS"] == "--collect-only -p nothing.there"

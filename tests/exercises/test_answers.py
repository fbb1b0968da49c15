"""Every solution passes its exercise; every wrong answer is told its own mistake."""

import importlib.util
from pathlib import Path

import pytest

from helpers.checking.check import check, hint, solution
from helpers.checking.exercise import exercises

_spec = importlib.util.spec_from_file_location("wrong_answers", Path(__file__).with_name("wrong_answers.py"))
wrong_answers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(wrong_answers)

# Those of labs are in tests/labs, and those whose mistakes are known by example in test_by_example.
TABLE = {key: row for key, row in exercises().items() if not row.of_a_lab and not row.by_example}


@pytest.mark.parametrize("key", TABLE)
def test_the_solution_passes(key):
    task = TABLE[key]
    report = check(task.build(task.solution), key)
    assert report.passed, repr(report)


@pytest.mark.parametrize(
    ("key", "text", "mistake"),
    [pytest.param(key, text, mistake, id=f"{key}: {what}") for key, what, text, mistake in wrong_answers.ROWS],
)
def test_a_wrong_answer_is_told_its_mistake(key, text, mistake):
    task = TABLE[key]
    answer = task.build(wrong_answers.source(key, task.language, text))
    report = check(answer, key)
    assert not report.passed
    assert report.mistake == mistake, repr(report)


@pytest.mark.parametrize("key", TABLE)
def test_every_exercise_has_four_wrong_answers_three_hints_and_a_reasoned_solution(key):
    assert sum(row[0] == key for row in wrong_answers.ROWS) >= 4
    assert len({hint(key, stage).text for stage in (1, 2, 3)}) == 3
    assert len(solution(key).why) > 80
    assert TABLE[key].stretch


@pytest.mark.parametrize("key", TABLE)
def test_every_named_mistake_is_met_by_a_wrong_answer(key):
    told = {row[3] for row in wrong_answers.ROWS if row[0] == key}
    inherited = {"no guard"} if key == "ch02.bias" else set()
    assert {mistake.name for mistake in TABLE[key].mistakes} - inherited <= told

"""Right answers by other routes than the solution's pass, and get all marks: those that exercises of labs keep."""

import pytest

from helpers.checking.check import check
from helpers.checking.exercise import exercise, exercises
from helpers.checking.solutions import built, patched
from tests.labs.test_labs import SEEDS, judged

OF_LABS = [task for task in exercises().values() if task.of_a_lab]
ROWS = [(task.key, what, way) for task in OF_LABS for what, way in task.right]
AT_LEAST = 2


@pytest.mark.exhaustive
@pytest.mark.parametrize(("key", "way"), [pytest.param(key, way, id=f"{key}: {what}") for key, what, way in ROWS])
def test_a_right_answer_by_another_route_gets_all_marks(key, way):
    task = exercise(key)
    answer = built(task, patched(task, way))
    report = check(answer, key)
    assert report.passed, repr(report)
    verdict = judged(key, answer, SEEDS[1])
    assert all(part["right"] for part in verdict.values()), verdict


def test_every_exercise_has_right_answers_by_other_routes():
    assert {task.key: len(task.right) for task in OF_LABS if len(task.right) < AT_LEAST} == {}

"""Right answers by other routes than the solution's pass: those that each exercise of a chapter keeps (`right`)."""

import pytest

from helpers.checking.check import check
from helpers.checking.exercise import exercise, exercises
from helpers.checking.solutions import patched

OF_CHAPTERS = [task for task in exercises().values() if not task.of_a_lab]
ROWS = [(task.key, what, way) for task in OF_CHAPTERS for what, way in task.right]
AT_LEAST = 2


@pytest.mark.exhaustive
@pytest.mark.parametrize(("key", "way"), [pytest.param(key, way, id=f"{key}: {what}") for key, what, way in ROWS])
def test_a_right_answer_by_another_route_passes(key, way):
    task = exercise(key)
    report = check(task.build(patched(task, way)), key)
    assert report.passed, repr(report)


def test_every_exercise_has_right_answers_by_other_routes():
    assert {task.key: len(task.right) for task in OF_CHAPTERS if len(task.right) < AT_LEAST} == {}


def test_routes_differ():
    assert len({(key, str(way)) for key, _, way in ROWS}) == len({(key, what) for key, what, _ in ROWS}) == len(ROWS)

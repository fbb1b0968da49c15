"""Right answers by other routes than the solution's pass, and get all marks: a module for each exercise in `right/`.

It has a `KEY` and `ROWS` of (which way, answer). An answer is a patch of the solution's cell, several, or a whole cell.
"""

import importlib.util
from pathlib import Path

import pytest

from helpers.checking.check import check
from helpers.checking.exercise import Way, exercise, exercises
from helpers.checking.solutions import built, patched
from tests.labs.test_labs import SEEDS, judged

RIGHT = Path(__file__).with_name("right")
AT_LEAST = 2


def _rows(path: Path) -> list[tuple[str, str, Way]]:
    spec = importlib.util.spec_from_file_location(f"right_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [(module.KEY, what, way) for what, way in module.ROWS]


ROWS = [row for path in sorted(RIGHT.glob("*/*.py")) for row in _rows(path)]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("key", "way"), [pytest.param(key, way, id=f"{key}: {what}") for key, what, way in ROWS])
def test_a_right_answer_by_another_route_gets_all_marks(key, way):
    task = exercise(key)
    answer = built(task, way if isinstance(way, str) else patched(task, way))
    report = check(answer, key)
    assert report.passed, repr(report)
    verdict = judged(key, answer, SEEDS[1])
    assert all(part["right"] for part in verdict.values()), verdict


def test_every_exercise_has_right_answers_by_other_routes():
    routes = [key for key, _, _ in ROWS]
    few = {key: routes.count(key) for key, task in exercises().items() if task.of_a_lab}
    assert {key: count for key, count in few.items() if count < AT_LEAST} == {}

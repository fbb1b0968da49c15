"""Right answers by other routes than the solution's pass: a module for each chapter in `right/`, with rows of
(key, which way, answer). An answer is a patch of the solution, several patches, or a whole program."""

import importlib.util
from pathlib import Path

import pytest

from helpers.checking.check import check
from helpers.checking.exercise import Way, exercise, exercises
from helpers.checking.solutions import patched

RIGHT = Path(__file__).with_name("right")
AT_LEAST = 2


def _rows(path: Path) -> list[tuple[str, str, Way]]:
    spec = importlib.util.spec_from_file_location(f"right_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ROWS


ROWS = [row for path in sorted(RIGHT.glob("*.py")) for row in _rows(path)]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("key", "way"), [pytest.param(key, way, id=f"{key}: {what}") for key, what, way in ROWS])
def test_a_right_answer_by_another_route_passes(key, way):
    task = exercise(key)
    report = check(task.build(way if isinstance(way, str) else patched(task, way)), key)
    assert report.passed, repr(report)


def test_every_exercise_has_right_answers_by_other_routes():
    routes = [key for key, _, _ in ROWS]
    few = {key: routes.count(key) for key, task in exercises().items() if not task.of_a_lab}
    assert {key: count for key, count in few.items() if count < AT_LEAST} == {}


def test_routes_differ():
    assert len({(key, str(way)) for key, _, way in ROWS}) == len({(key, what) for key, what, _ in ROWS}) == len(ROWS)

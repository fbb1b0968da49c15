"""Right answers by other routes than the solution's pass, and get all marks: a module an exercise in `right/`."""

import importlib.util
from pathlib import Path

import pytest

from helpers.checking.check import check
from helpers.checking.exercise import exercise
from helpers.checking.solutions import built
from tests.labs.test_labs import SEEDS, judged

RIGHT = Path(__file__).with_name("right")
pytestmark = pytest.mark.exhaustive


def _rows(path: Path) -> list[tuple[str, str, str]]:
    """key, which way, solution cell."""
    spec = importlib.util.spec_from_file_location(f"right_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [(module.KEY, what, text) for what, text in module.ROWS]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        pytest.param(key, text, id=f"{key}: {what}")
        for path in sorted(RIGHT.glob("*/*.py"))
        for key, what, text in _rows(path)
    ],
)
def test_a_right_answer_by_another_route_gets_all_marks(key, text):
    answer = built(exercise(key), text)
    report = check(answer, key)
    assert report.passed, repr(report)
    verdict = judged(key, answer, SEEDS[1])
    assert all(part["right"] for part in verdict.values()), verdict

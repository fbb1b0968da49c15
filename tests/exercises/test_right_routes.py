"""Right answers by other routes than the solution's pass: a module a chapter in `right/`, with rows of
(key, which way, source)."""

import importlib.util
from pathlib import Path

import pytest

from helpers.checking.check import check
from helpers.checking.exercise import exercise

RIGHT = Path(__file__).with_name("right")
pytestmark = pytest.mark.exhaustive


def _rows(path: Path) -> list[tuple[str, str, str]]:
    spec = importlib.util.spec_from_file_location(f"right_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ROWS


@pytest.mark.parametrize(
    ("key", "text"),
    [
        pytest.param(key, text, id=f"{key}: {what}")
        for path in sorted(RIGHT.glob("*.py"))
        for key, what, text in _rows(path)
    ],
)
def test_a_right_answer_by_another_route_passes(key, text):
    report = check(exercise(key).build(text), key)
    assert report.passed, repr(report)

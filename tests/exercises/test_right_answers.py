"""A right answer passes, whatever the route: modules in `right/` have `ROWS` of (key, route, whole source)."""

import importlib.util
from pathlib import Path

import pytest

from helpers.check import check
from helpers.exercises import exercise


def _rows(path: Path):
    spec = importlib.util.spec_from_file_location(f"right_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ROWS


ROWS = [row for path in sorted(Path(__file__).with_name("right").glob("*.py")) for row in _rows(path)]


@pytest.mark.parametrize(
    ("key", "source"), [pytest.param(key, source, id=f"{key}: {route}") for key, route, source in ROWS]
)
def test_another_route_passes(key, source):
    report = check(exercise(key).build(source), key)
    assert report.passed, repr(report)

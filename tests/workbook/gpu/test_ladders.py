"""The ladders that `warpbook gpu` times: each program runs, here on the virtual GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.workbook.gpu import ladders

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = dict(ladders.programs(ROOT / "notebooks"))


def about(name: str) -> list[Path]:
    return [*(ROOT / "notebooks").glob(f"{name}.ipynb"), ROOT / "helpers/workbook/gpu/needed.py"]


def test_the_ladders_of_the_course_are_found():
    chapters = {name.partition("_")[0] for name in PROGRAMS}
    assert {"copy", "07", "13", "13b", "14", "16", "17", "17b", "19"} <= chapters


def test_a_copy_has_a_bandwidth():
    (copy,) = ladders.measured(PROGRAMS["copy"], ROOT).values()
    assert copy["seconds"] > 0 and copy["GB/s"] == pytest.approx(2 * 2**18 / copy["seconds"] / 1e9)
    assert copy["GFLOP/s"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.rotating(*about(name))) for name in PROGRAMS if name != "copy"]
)
def test_it_runs_by_itself(name):
    found = ladders.measured(PROGRAMS[name], ROOT)
    assert len(found) > 1 and all(each["seconds"] > 0 for each in found.values())


def test_every_library_is_a_rung():
    there = "\n".join(PROGRAMS.values())
    by_format = {f"PyTorch {backend}" for backend in ("MATH", "FLASH_ATTENTION") if f"SDPBackend.{backend}" in there}
    assert {name for name in ladders.LIBRARIES if name not in there} == by_format


def test_a_program_that_fails_is_reported_by_its_last_line():
    with pytest.raises(ValueError, match="ZeroDivisionError: division by zero"):
        ladders.measured("1 / 0", ROOT)


def test_the_other_ladders_are_timed_all_the_same(monkeypatch, capsys):
    monkeypatch.setattr(ladders, "programs", lambda folder: [("broken", "1 / 0"), ("copy", PROGRAMS["copy"])])
    outcome = ladders.run(ROOT)
    assert outcome.failed == ("broken: ZeroDivisionError: division by zero",)
    assert list(outcome.found["ladders"]) == ["copy"]

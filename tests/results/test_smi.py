"""The gauges: read from a stand-in for nvidia-smi, and honest where there is nothing to read."""

import os
import sys

import pytest

from helpers.results import smi

VALUES = "97, 12, 1024, 81920, 1410, 1410, 1593, 63.25, 400.00, 41, 0x0000000000000004"


@pytest.fixture
def tool(monkeypatch, tmp_path):
    """Make an `nvidia-smi` that prints a text and ends with a status; on a machine that has a GPU, it seems."""
    monkeypatch.setattr(smi, "real_gpu", lambda: True)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def make(text: str, status: int = 0) -> None:
        script = tmp_path / "nvidia-smi"
        script.write_text(f"#!{sys.executable}\nimport sys\nprint({text!r})\nsys.exit({status})\n")
        script.chmod(0o755)

    return make


needs_scripts = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script with a #! line")


@needs_scripts
def test_every_gauge_is_read_as_a_number(tool):
    tool(VALUES)
    found = smi.read()
    assert found["utilization.gpu"] == 97
    assert found["power.draw"] == 63.25
    assert found["clocks_event_reasons.active"] == 4
    assert "measured by nvidia-smi" in repr(found) and "63.25 W" in repr(found)
    assert "63.25 W" in found._repr_html_()


@needs_scripts
def test_what_a_gpu_does_not_report_is_said_to_be_missing(tool):
    tool(VALUES.replace("63.25", "[N/A]"))
    found = smi.read()
    assert found["power.draw"] is None and "not reported" in repr(found)


@needs_scripts
@pytest.mark.parametrize(("text", "status", "words"), [
    ("Field \"power.draw\" is not a valid field to query.", 2, "not a valid field"),
    ("1, 2, 3", 0, "nvidia-smi said"),
])  # fmt: skip
def test_an_answer_that_is_none_is_shown_and_not_guessed(tool, text, status, words):
    tool(text, status)
    found = smi.read()
    assert found.values is None and found["utilization.gpu"] is None
    assert words in repr(found) and repr(found).startswith("Nothing read")


def test_without_a_gpu_nothing_is_read_and_nothing_runs(monkeypatch):
    monkeypatch.setattr(smi, "real_gpu", lambda: False)
    called = []
    found = smi.during(lambda: called.append(1))
    assert not called and found.values is None
    assert "no GPU runs the kernels here" in repr(found)
    assert all(gauge.meaning in found._repr_html_() for gauge in smi.GAUGES)


def test_without_the_tool_it_says_so(monkeypatch):
    monkeypatch.setattr(smi, "real_gpu", lambda: True)
    monkeypatch.setattr(smi.shutil, "which", lambda name: None)
    assert "not on the path" in repr(smi.read())


@needs_scripts
def test_the_gauges_are_read_after_the_work(tool, monkeypatch):
    tool(VALUES)
    now = iter([0.0, 0.5, 1.0, 2.5])
    monkeypatch.setattr(smi.time, "monotonic", lambda: next(now))
    called = []
    assert smi.during(lambda: called.append(1), seconds=2)["utilization.gpu"] == 97
    assert len(called) == 2


def test_an_unknown_gauge_names_those_there_are():
    with pytest.raises(KeyError, match=r"power\.draw"):
        smi.Reading(None, "no GPU")["power"]

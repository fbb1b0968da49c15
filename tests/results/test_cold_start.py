"""The cold start of a process: every stage has a time, and an error of the process is an error here."""

import pytest

from helpers.results import cold_start as module
from helpers.results.cold_start import STAGES, ColdStart, ColdStartError, cold_start


def test_a_fresh_process_is_measured_stage_by_stage():
    found = cold_start()
    assert len(found.seconds) == len(STAGES) and min(found.seconds) > 0
    assert found["compile"] > found["later launches"]


def test_the_ratio_leaves_libraries_out():
    found = ColdStart((100.0, 1.0, 2.0, 3.0, 0.2, 0.1), "virtual GPU")
    assert found.ratio == pytest.approx(60)
    assert "PTX to machine code of this CPU" in found._repr_html_() and "libraries" in repr(found)
    assert "driver makes a context" in ColdStart(found.seconds, "A100")._repr_html_()
    with pytest.raises(KeyError, match="context"):
        found["contexts"]


def test_a_process_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(module, "_PROGRAM", "raise RuntimeError('no such luck')")
    with pytest.raises(ColdStartError, match="no such luck"):
        cold_start()
    monkeypatch.setattr(module, "_PROGRAM", "import sys; sys.exit(3)")
    with pytest.raises(ColdStartError, match="exit 3"):
        cold_start()

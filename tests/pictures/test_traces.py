"""The timeline of a trace: a lane for each kind of work, and a sentence with their shares."""

from __future__ import annotations

import pytest

from helpers import TraceSpan, plots

LANES = {"data": "enumerate(DataLoader)", "forward": "forward"}


def test_the_sentence_holds_the_shares_of_each_lane():
    found = [
        TraceSpan("enumerate(DataLoader)#next", "annotation", 0.0, 0.006),
        TraceSpan("forward", "annotation", 0.006, 0.004),
    ]
    fixed = [TraceSpan("forward", "annotation", 0.0, 0.004), TraceSpan("other", "annotation", 0.0, 1.0)]
    picture = plots.trace_timeline({"as found": found, "fixed": fixed}, LANES, about="measured")
    assert picture.finding == "as found: of 10 ms, data 60%, forward 40%; fixed: of 4 ms, forward 100%."


def test_a_trace_without_such_spans_is_refused():
    with pytest.raises(ValueError, match="no span"):
        plots.trace_timeline({"empty": []}, LANES)

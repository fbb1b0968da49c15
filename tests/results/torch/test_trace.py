"""Spans of a profiler's trace, and the lines of a program that read a value back."""

from __future__ import annotations

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from helpers import readbacks, trace_spans
from helpers.results.torch.trace import read_spans
from vgpu.tools.streams.profiler_lock import exclusive


def test_spans_begin_at_the_first_event_and_are_seconds():
    events = [
        {"name": "late", "cat": "cpu_op", "ts": 3000.0, "dur": 500.0},
        {"name": "step", "cat": "user_annotation", "ts": 1000.0, "dur": 4000.0},
        {"name": "arrow", "cat": "fwdbwd", "ts": 0.0},
    ]
    step, late = read_spans(events)
    assert (step.name, step.kind, step.start, round(step.seconds, 9)) == ("step", "annotation", 0.0, 0.004)
    assert (late.kind, round(late.start, 9), round(late.end, 9)) == ("operator", 0.002, 0.0025)
    assert read_spans([]) == []


def test_a_profile_gives_its_annotations_and_operators():
    with exclusive(), profile(activities=[ProfilerActivity.CPU]) as seen, record_function("forward"):
        torch.ones(8).sum()
    names = {span.name for span in trace_spans(seen)}
    assert "forward" in names and "aten::sum" in names


def test_each_line_that_reads_a_value_is_counted():
    def program():
        loss = torch.ones(3).sum()
        for _ in range(2):
            loss.item()  # twice
        if loss > 1:
            f"{loss:.1f}"  # not to be seen from its name

    found = readbacks(program)
    assert found.total == 4
    assert found.lines == {
        "loss.item()  # twice": 2,
        "if loss > 1:": 1,
        'f"{loss:.1f}"  # not to be seen from its name': 1,
    }
    assert "loss.item()" in repr(found) and "loss.item()" in found._repr_html_()


def test_an_optimisers_own_counters_and_programs_without_reads_are_left_out():
    weight = torch.ones(3, requires_grad=True)
    weight.grad = torch.ones(3)
    adam = torch.optim.Adam([weight], foreach=False)
    found = readbacks(adam.step)
    assert found.total == 0 and "no line" in repr(found) and "No line" in found._repr_html_()
